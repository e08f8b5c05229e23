"""The index: the latest run of each study, marked if simulated, and made from the run folders alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from models.records.errors import OutputError
from models.records.run_record import UnfinishedRun
from reports.index.page import render_index
from reports.page.blocks import Answer, Figure, Page, Picture, Section, italic
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.provenance import warnings

WriteRun = Callable[..., Path]
SUSHI = "20261130T064500Z-1a2b3c4d"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><g id="axes"><rect width="9" height="9"/></g></svg>'


@pytest.fixture
def runs(write_run: WriteRun, tmp_path: Path) -> Path:
    """A folder with one run, of the sushi study on data that do not count as simulated."""
    folder = tmp_path / "runs"
    (folder / "sushi").mkdir(parents=True)
    write_run().rename(folder / "sushi" / SUSHI)
    for name in ("report.html", "report.pdf"):
        (folder / "sushi" / SUSHI / name).touch()
    return folder


@pytest.fixture
def tea(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same folder with a second run, on simulated data, of a study that only its own module knows."""

    def page(run: FinishedRun) -> Page:
        pictures = [Picture("wide", SVG, 170, "wide"), Picture("accuracy-test", SVG, 84, "a cup")]
        figure = Figure(pictures, "Cups.", "All of them.")
        answer = Answer(["Tea before milk wins " + italic("often") + ".", "And more."])
        marks = warnings(run.record)
        return Page("Tea", "Milk in first?", answer, [Section("Cups", [figure])], warnings=marks)

    module = ModuleType("reports.studies.tea")
    module.__spec__ = ModuleSpec("reports.studies.tea", None)
    module.page = page  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "reports.studies.tea", module)
    run = runs / "tea" / "20261129T030000Z-00000000"
    shutil.copytree(runs / "sushi" / SUSHI, run)
    record = (run / "run.json").read_text("utf-8").replace('"study":"sushi"', '"study":"tea"')
    record = record.replace("2026-11-30T06:45", "2026-11-29T03:00").replace('"simulated":false', '"simulated":true')
    (run / "run.json").write_text(record, "utf-8")
    (run / "report.pdf").unlink()
    return run


def words(html: Path) -> str:
    body = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>", " ", html.read_text("utf-8"))
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_a_study_is_told_by_its_answer_its_main_number_beside_the_published_one_and_its_date(runs: Path) -> None:
    page = words(render_index(runs).html)
    assert "The latest run of one study, on real data. Found minus published, where the two can be compared" in page
    assert "compared: Sushi −0.034 (accuracy)." in page
    assert "Sushi A preference tree for each sushi eater A tree fitted to some of a user’s choices predicts" in page
    assert "0.854 accuracy on held-out data: preference tree, straddlers discarded 0.888 published: dt-pbo" in page
    assert f"Run of 30 November 2026, 06:45 UTC sushi/{SUSHI}" in page


def test_a_new_study_appears_by_its_own_page_with_its_first_small_picture(runs: Path, tea: Path) -> None:
    html = render_index(runs).html
    assert "Tea SIMULATED DATA Milk in first? Tea before milk wins often . Run of 29 November 2026" in words(html)
    assert 'aria-label="a cup"' in html.read_text("utf-8")
    assert 'aria-label="wide"' not in html.read_text("utf-8")


def test_only_the_latest_run_of_a_study_is_shown(runs: Path) -> None:
    shutil.copytree(runs / "sushi" / SUSHI, runs / "sushi" / "20261029T064500Z-1a2b3c4d")
    shutil.copytree(runs / "sushi" / SUSHI, runs / "sushi" / ".partial-20261201T064500Z-1a2b3c4d")
    page = words(render_index(runs).html)
    assert page.count("A preference tree for each sushi eater") == 1
    assert f"sushi/{SUSHI}" in page


def test_links_are_relative_and_lead_to_the_files_there_are(runs: Path, tea: Path) -> None:
    links = re.findall(r'<a href="([^"]+)"', render_index(runs).html.read_text("utf-8"))
    assert links == [f"sushi/{SUSHI}/report.html", f"sushi/{SUSHI}/report.pdf", f"tea/{tea.name}/report.html"]
    assert all((runs / link).is_file() for link in links)


def test_simulated_data_are_marked_and_compared_with_nothing(runs: Path, tea: Path) -> None:
    rendered = render_index(runs)
    page = words(rendered.html)
    assert page.lstrip().split(" All studies ")[0].endswith("IN PART SIMULATED DATA")
    assert "The latest runs of 2 studies, 1 on real data and 1 on simulated data." in page
    assert page.count("published: dt-pbo") == 1
    assert "compared: Sushi −0.034 (accuracy)." in page
    shutil.rmtree(runs / "sushi")
    alone = words(render_index(runs).html)
    assert "The latest run of one study, on simulated data." in alone
    assert "IN PART" not in alone
    assert "compared" not in alone


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler) is not on this machine")
def test_the_pdf_says_the_same_marked_on_every_page_and_without_links_to_files(
    runs: Path, tea: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pdf = render_index(runs).pdf
    assert capfd.readouterr().err == ""
    text = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    pages = [page for page in text.split("\f") if page.strip()]
    assert all("SIMULATED DATA" in page for page in pages)
    assert "Tea before milk wins" in text
    assert f"sushi/{SUSHI[:16]}" in text
    assert str(runs).encode() not in pdf.read_bytes()


def test_pictures_of_two_studies_do_not_share_ids(runs: Path, tea: Path) -> None:
    html = render_index(runs).html.read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert "tea-accuracy-test-axes" in ids


def test_the_same_runs_give_the_same_bytes_and_nothing_is_left_aside(runs: Path, tea: Path) -> None:
    first = [path.read_bytes() for path in render_index(runs)]
    assert [path.read_bytes() for path in render_index(runs)] == first
    assert {path.name for path in runs.iterdir()} == {"sushi", "tea", "index.html", "index.pdf"}


def test_a_run_that_cannot_be_told_is_named_with_the_reason_and_the_others_are_shown(runs: Path, tea: Path) -> None:
    (runs / "sushi" / SUSHI / "results" / "users.parquet").unlink()
    page = words(render_index(runs).html)
    assert "Milk in first?" in page
    assert f"Not shown sushi sushi/{SUSHI}/results/users.parquet is missing" in page


def unfinished(runs: Path, study: str, started: str, **fields: object) -> None:
    run_id = f"{started}-1a2b3c4d"
    when = datetime.strptime(started, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    record = UnfinishedRun(study=study, run_id=run_id, started=when, config={}, **fields)  # type: ignore[arg-type]
    (runs / study / "failed").mkdir(parents=True, exist_ok=True)
    (runs / study / "failed" / f"{run_id}.json").write_text(record.model_dump_json(), "utf-8")


def test_runs_that_failed_or_were_stopped_are_listed_and_count_as_no_run(runs: Path, tea: Path) -> None:
    unfinished(runs, "sushi", "20261201T064500Z", outcome="failed", reason="OutputError: a <b>full</b> disk")
    unfinished(runs, "poker", "20261202T064500Z", outcome="stopped", reason="KeyboardInterrupt")
    (runs / "sushi" / "failed" / "broken.json").write_text("{", "utf-8")
    page = words(render_index(runs).html)
    assert "The latest runs of 2 studies" in page
    stopped = page.index("poker 2 December 2026, 06:45 stopped KeyboardInterrupt")
    assert page.index("Failed or stopped") < stopped
    assert stopped < page.index("sushi 1 December 2026, 06:45 failed OutputError: a &lt;b&gt;full&lt;/b&gt; disk")


def test_only_the_latest_failed_runs_are_listed_and_the_others_counted(runs: Path) -> None:
    for day in range(1, 24):
        unfinished(runs, "tea", f"202612{day:02}T030000Z", outcome="failed", reason="ServerError")
    page = words(render_index(runs).html)
    assert "23 December 2026" in page
    assert " 3 December 2026" not in page
    assert "3 earlier ones are not shown." in page


def test_a_run_of_an_earlier_format_is_named_with_its_version_and_the_others_are_shown(runs: Path, tea: Path) -> None:
    file = runs / "sushi" / SUSHI / "run.json"
    record = json.loads(file.read_text("utf-8"))
    del record["format"]
    file.write_text(json.dumps(record), "utf-8")
    page = words(render_index(runs).html)
    assert "Milk in first?" in page
    assert "run.json: prefstudy 0.1.0 (commit 0123456789) wrote this run in format 1" in page


def test_a_folder_without_a_run_has_no_index(tmp_path: Path, runs: Path) -> None:
    with pytest.raises(NotARunError, match=rf"{re.escape(str(tmp_path))} holds no run to report\. Run a study first"):
        render_index(tmp_path)
    (runs / "sushi" / SUSHI / "results" / "metrics.json").unlink()
    with pytest.raises(NotARunError, match=r"(?s)holds no run to report.*metrics\.json is missing"):
        render_index(runs)


def test_an_index_that_cannot_be_written_is_an_output_error(runs: Path) -> None:
    (runs / "index.html").mkdir()
    with pytest.raises(OutputError, match="The report cannot be written to"):
        render_index(runs)


def test_a_study_of_ones_own_main_number_shows_it_before_the_two_that_are_compared(runs: Path) -> None:
    metrics = runs / "sushi" / SUSHI / "results" / "metrics.json"
    rows = json.loads(metrics.read_text("utf-8"))
    for row in rows:
        if (row["split"], row["variant"]) == ("test", "straddlers_discarded"):
            row["published"], row["published_source"] = None, None
    metrics.write_text(json.dumps(rows), "utf-8")
    page = words(render_index(runs).html)
    assert "0.854 accuracy, straddlers discarded 0.888 accuracy on held-out data: preference tree, straddlers" in page
    assert "straddlers kept 0.888 published: dt-pbo" in page


def test_simulated_data_of_a_study_that_is_about_them_are_compared(runs: Path, tea: Path) -> None:
    pages = sys.modules["reports.studies.tea"]
    plain = pages.page
    pages.page = lambda run: replace(plain(run), comparable=True)  # type: ignore[attr-defined]
    assert "compared: Sushi −0.034 (accuracy); Tea −0.034 (accuracy)." in words(render_index(runs).html)
