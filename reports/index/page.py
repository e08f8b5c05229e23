"""The index: the result of the latest run of each study, with a picture and links to its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pydantic import ValidationError

from models.records.published import gap
from models.records.results import MetricRow
from models.records.run_record import UnfinishedRun
from models.records.studies.claims import ClaimResult
from reports.index.claims import claims_section
from reports.page import style
from reports.page.blocks import (
    Answer,
    Block,
    Column,
    Definitions,
    Digest,
    KeyNumber,
    Link,
    Page,
    Picture,
    Row,
    Section,
    Table,
)
from reports.page.finished_run import FinishedRun, NotARunError, latest_runs, open_run
from reports.page.provenance import facts
from reports.page.render import Rendered, page_of, write_page
from reports.page.wording import MISSING, share, spaced

NAME = "index"
MOST_UNFINISHED = 20
REPORTS: Mapping[str, str] = {"report.html": "Report", "report.pdf": "PDF"}
WORDS: Mapping[str, str] = {
    "auc": "AUC",
    "rho_regret": "ρ-regret",
    "spec_r": "SpecR",
    "gpm": "GPM",
    "c_gpm": "C-GPM",
    "upm": "UPM",
    "preference_forest": "forest",
    "preference_gp": "Gaussian process",
    "llm_judge": "language model",
    "train": "training data",
    "test": "held-out data",
}


class Comparison(NamedTuple):
    """A metric, the value found, the published value, and found minus published."""

    row: MetricRow
    found: float
    published: float
    difference: float


class Shown(NamedTuple):
    """The latest run of a study, and its page."""

    run: FinishedRun
    page: Page


def render_index(folder: Path, *, claims: Sequence[ClaimResult] = ()) -> Rendered:
    """Write `index.html` and `index.pdf` over the latest run of each study in `folder`, reading nothing else.

    claims: results for the published claims, paper by paper; without any, the index has no section of them.

    A run whose report cannot be made is listed with the reason, and so are runs that failed or were stopped. The same
    runs always give the same bytes.

    Raises NotARunError if no run can be shown, OutputError if `folder` cannot be written to.
    """
    shown: dict[str, Shown] = {}
    refused: dict[str, str] = {}
    for name, run_dir in latest_runs(folder).items():
        try:
            run = open_run(run_dir)
            shown[name] = Shown(run, page_of(run)(run))
        except NotARunError as problem:
            refused[name] = str(problem)
    if not shown:
        reasons = "".join(f"\n{reason}" for reason in refused.values())
        raise NotARunError(f"{folder} holds no run to report. Run a study first: prefstudy run STUDY{reasons}")
    newest = max(run.record.started for run, _ in shown.values())
    return write_page(_page(tuple(shown.values()), refused, _unfinished(folder), claims), folder, NAME, created=newest)


def _unfinished(folder: Path) -> list[UnfinishedRun]:
    """The runs that failed or were stopped, the latest first. Records that cannot be read are left out."""
    runs = []
    for path in folder.glob("*/failed/*.json"):
        with suppress(OSError, ValidationError):
            runs.append(UnfinishedRun.model_validate_json(path.read_bytes()))
    return sorted(runs, key=lambda run: (run.started, run.study, run.run_id), reverse=True)


def _page(
    shown: Sequence[Shown],
    refused: Mapping[str, str],
    unfinished: Sequence[UnfinishedRun],
    claims: Sequence[ClaimResult],
) -> Page:
    sections = [Section("", [_digest(run, page) for run, page in shown])]
    if claims:
        sections.append(claims_section(claims))
    if refused:
        failed: list[Block] = [Definitions(tuple(refused.items()))]
        sections.append(Section("Not shown", failed))
    if unfinished:
        sections.append(Section("Failed or stopped", [_unfinished_table(unfinished)]))
    return Page(
        study="All studies",
        title="What the latest run of each study found",
        facts=[_dates([run.record.started for run, _ in shown])],
        warnings=_warnings(shown),
        answer=Answer(list(_answer(shown))),
        sections=sections,
    )


def _unfinished_table(runs: Sequence[UnfinishedRun]) -> Table:
    more = len(runs) - MOST_UNFINISHED
    note = "Their records are in STUDY/failed/RUN-ID.json. They hold no results."
    return Table(
        "Runs without results, the latest first.",
        [Column(header, "left") for header in ("Study", "Started", "Outcome", "Reason")],
        [
            Row((spaced(run.study), f"{run.started:%-d %B %Y, %H:%M}", run.outcome, run.reason or MISSING))
            for run in runs[:MOST_UNFINISHED]
        ],
        note=f"{note} {more} earlier ones are not shown." if more > 0 else note,
    )


def _dates(started: Sequence[datetime]) -> str:
    first, last = (f"{day:%-d %B %Y}" for day in (min(started), max(started)))
    return f"Runs of {first}" + (f" to {last}" if last != first else "")


def _warnings(shown: Sequence[Shown]) -> tuple[str, ...]:
    """The warnings of all studies; IN PART marks one that does not hold for every study."""
    marks = [page.warnings for _, page in shown]
    return tuple(
        mark if all(mark in of_one for of_one in marks) else f"IN PART {mark}"
        for mark in dict.fromkeys(mark for of_one in marks for mark in of_one)
    )


def _answer(shown: Sequence[Shown]) -> Iterator[str]:
    simulated = sum(run.record.simulated for run, _ in shown)
    data = {0: "on real data", len(shown): "on simulated data"}.get(
        simulated, f"{len(shown) - simulated} on real data and {simulated} on simulated data"
    )
    yield f"{f'The latest runs of {len(shown)} studies' if len(shown) > 1 else 'The latest run of one study'}, {data}."
    differences = [
        f"{page.study} {each.difference:+.3f} ({_words(each.row.metric)})".replace("-", "−")
        for run, page in shown
        for each in _comparisons(run, page)[:1]
    ]
    if differences:
        yield f"Found minus published, where the two can be compared: {'; '.join(differences)}."


def _digest(run: FinishedRun, page: Page) -> Digest:
    cover = _cover(page)
    files = {name: word for name, word in REPORTS.items() if (run.path / name).is_file()}
    where = f"{run.path.parent.name}/{run.path.name}"
    return Digest(
        study=page.study,
        title=page.title,
        found=page.answer.sentences[0],
        numbers=_numbers(run, page),
        # Two studies may give a picture the same name.
        picture=cover and replace(cover, name=f"{run.record.study}-{cover.name}"),
        facts=(facts(run.record)[0], where),
        links=[Link(word, quote(f"{where}/{name}")) for name, word in files.items()],
        warnings=page.warnings,
    )


def _cover(page: Page) -> Picture | None:
    """The picture that a page names as its cover; otherwise the first of half width or less; otherwise the first."""
    named = [picture for picture in page.pictures if picture.name == page.cover]
    small = [picture for picture in page.pictures if picture.width <= style.HALF_WIDTH]
    return next(iter([*named, *small, *page.pictures]), None)


def _numbers(run: FinishedRun, page: Page) -> list[KeyNumber]:
    """The main number of a study, a found number and its published one; three numbers if nothing was published."""
    comparisons = _comparisons(run, page)
    if not comparisons:
        return list(page.answer.numbers[:3])
    row, value, published, _ = comparisons[0]
    label = f"{_words(row.metric)} on {_words(row.split)}: {_words(row.model)}, {_words(row.variant)}"
    found = KeyNumber(share(value), label)
    own = [number for number in page.answer.numbers[:1] if number.value != found.value]
    return [*own, found, KeyNumber(share(published), f"published: {row.published_source}")]


def _comparisons(run: FinishedRun, page: Page) -> list[Comparison]:
    """Found values with their published ones, held-out data first; empty if the data cannot be compared."""
    if not (page.comparable if page.comparable is not None else not run.record.simulated):
        return []
    both = [
        Comparison(row, row.value, row.published, difference)
        for row in run.metrics
        if row.value is not None
        and row.published is not None
        and (difference := gap(row.value, row.published)) is not None
    ]
    return sorted(both, key=lambda comparison: comparison.row.split != "test")


def _words(name: str) -> str:
    return WORDS.get(name, spaced(name))
