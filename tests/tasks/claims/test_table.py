"""All declared claims, the table over a folder of runs, and the two places that show it."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.main import app, main
from models.records.studies.claims import ClaimResult
from reports.index.claims_in_markdown import claims_in_markdown
from reports.page.finished_run import NotARunError
from tasks.claims.declared import Judged, NotTestable
from tasks.claims.index import write_index
from tasks.claims.table import declared, judge_claims
from tests.reports.conftest import write

PAPERS = {"dt-pbo", "pref-shap"}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a run of the sushi study on data that do not count as simulated."""
    folder = tmp_path / "runs"
    (folder / "sushi").mkdir(parents=True)
    write(tmp_path / "run").rename(folder / "sushi" / "20261130T064500Z-1a2b3c4d")
    return folder


def of_sushi(results: tuple[ClaimResult, ...]) -> dict[str, ClaimResult]:
    return {result.claim: result for result in results if result.study == "sushi"}


def test_every_claim_has_a_name_of_its_own_a_place_in_a_paper_and_words_that_stand_alone() -> None:
    results = judge_claims(Path("nowhere"))
    assert [name for name, n in Counter(result.claim for result in results).items() if n > 1] == []
    assert {result.paper for result in results} == PAPERS
    assert [result.claim for result in results if not re.search(r", .*\w", result.source)] == []
    assert [result.words for result in results if not re.fullmatch(r"[A-ZÖ0-9].*[.]", result.words)] == []
    repeated = Counter((result.words, result.source, result.study) for result in results)
    assert [words for words, n in repeated.items() if n > 1] == []


def test_what_is_not_testable_says_why_and_everything_else_says_how_it_is_tested() -> None:
    for of in declared():
        for claim in of.claims:
            assert not isinstance(claim.test, NotTestable) or claim.test.reason
            assert not isinstance(claim.test, Judged) or claim.words == claim.test.finding.claim
    results = judge_claims(Path("nowhere"))
    assert {result.tested == "" for result in results if result.status == "not_testable"} == {True}
    assert [result.claim for result in results if result.status != "not_testable" and not result.tested] == []


def test_without_a_run_only_what_needs_none_has_a_result() -> None:
    results = judge_claims(Path("nowhere"))
    assert {result.status for result in results if result.study is not None} == {"not_run", "not_testable"}
    assert {result.found for result in results if result.study is not None} == {None}
    [largest] = [result for result in results if result.claim == "other/largest_regret"]
    assert (largest.status, largest.reason) == ("another_protocol", "predictions without ties")


def test_the_numbers_of_the_latest_run_decide(runs: Path) -> None:
    found = of_sushi(judge_claims(runs))
    test = found["sushi/table_1_preference_tree_test"]
    assert (test.published, test.run) == (0.888, "sushi/20261130T064500Z-1a2b3c4d")
    assert test.found is not None
    assert test.status != "not_run"


def test_a_run_that_cannot_be_read_is_no_run(runs: Path) -> None:
    (runs / "sushi" / "20261130T064500Z-1a2b3c4d" / "results" / "metrics.json").write_text("{", "utf-8")
    assert {result.status for result in of_sushi(judge_claims(runs)).values()} == {"not_run", "not_testable"}


def test_the_index_shows_every_claim_and_a_file_holds_the_same(runs: Path) -> None:
    rendered = write_index(runs)
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", rendered.html.read_text("utf-8")))
    written = json.loads((runs / "claims.json").read_text("utf-8"))
    results = judge_claims(runs)
    assert [each["claim"] for each in written] == [result.claim for result in results]
    assert f"Of {len(results)} claims:" in page
    for result in results:
        assert result.status == "not_run" or html.escape(result.words) in page.replace("&#39;", "&#x27;")
    assert "Claims of pref-shap that the latest runs did not test: chameleon (9)" in page


def test_a_folder_without_a_run_has_neither_index_nor_claims(tmp_path: Path) -> None:
    with pytest.raises(NotARunError):
        write_index(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_document_has_a_line_for_each_claim_and_text_is_never_markup(runs: Path) -> None:
    results = judge_claims(runs)
    odd = results[0].model_copy(update={"words": "A | b *c* <d>\n# e.", "reason": "`f`", "status": "not_testable"})
    text = claims_in_markdown([odd, *results[1:]])
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| Claim |")]
    assert len(lines) == len(results)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {7}
    assert r"A \| b \*c\* \<d\> \# e." in text
    assert r"not testable here: \`f\`" in text


def test_the_command_counts_the_claims_and_writes_the_document(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "claims.md"
    shown = CliRunner().invoke(app, ["claims", str(runs), "--write", str(out)])
    assert shown.exit_code == 0
    assert re.search(r"Not run\s+\d+\s+\d+", shown.output)
    assert out.read_text("utf-8") == claims_in_markdown(judge_claims(runs))


def test_a_document_that_cannot_be_written_is_told_in_one_line(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["claims", str(runs), "--write", str(tmp_path)]) == 1
    assert "cannot be written" in capsys.readouterr().err
