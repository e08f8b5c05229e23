"""The report of a finished run: figures, one HTML page, and one PDF of the same content."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from models.records.errors import OutputError
from models.records.whole_file import whole_file
from reports.page.blocks import Page
from reports.page.finished_run import FinishedRun, NotARunError, open_run
from reports.page.glyphs import warning_of, with_warning
from reports.page.html import standalone_svg, to_html
from reports.page.pdf import write_pdf

LOGGER = logging.getLogger("prefstudy")


class Rendered(NamedTuple):
    """The files of a report."""

    html: Path
    pdf: Path


def render(run_dir: Path) -> Rendered:
    """Write `figures/*.svg`, `report.html` and `report.pdf` of the run in `run_dir`, reading only that folder.

    Each file appears whole or not at all. The same folder always gives the same bytes.

    Raises NotARunError if the folder holds no run of this format or lacks a result, OutputError if writing fails.
    """
    run = open_run(run_dir)
    page = page_of(run)(run)
    with _output_to(run_dir):
        (run_dir / "figures").mkdir(exist_ok=True)
        for picture in page.pictures:
            with whole_file(run_dir / "figures" / f"{picture.name}.svg") as aside:
                aside.write_text(standalone_svg(picture), "utf-8")
    return write_page(page, run_dir, "report", created=run.record.started)


def write_page(page: Page, folder: Path, name: str, *, created: datetime) -> Rendered:
    """Write a page as `<name>.html` and `<name>.pdf`, each whole or not at all. Raises OutputError if that fails.

    If no font here has some of its characters, the page names them, and so does one warning in the log.
    """
    html = to_html(page)
    if warning := warning_of(page, html):
        LOGGER.warning("%s", warning)
        html = to_html(with_warning(page, warning))
    rendered = Rendered(folder / f"{name}.html", folder / f"{name}.pdf")
    with _output_to(folder):
        with whole_file(rendered.html) as aside:
            aside.write_text(html, "utf-8")
        with whole_file(rendered.pdf) as aside:
            write_pdf(html, aside, title=page.title, created=created)
    return rendered


def page_of(run: FinishedRun) -> Callable[[FinishedRun], Page]:
    """The function `page` of the module `reports.studies.<study>`. Raises NotARunError if there is none."""
    study = run.record.study
    module = (
        import_module(f"reports.studies.{study}")
        if study.isidentifier() and find_spec(f"reports.studies.{study}")
        else None
    )
    page: Callable[[FinishedRun], Page] | None = getattr(module, "page", None)
    if page is None:
        raise NotARunError(f"{run.path / 'run.json'}: there is no report page for a study {study!r}.")
    return page


@contextmanager
def _output_to(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise OutputError(f"The report cannot be written to {folder}: {problem.strerror or problem}.") from problem
