"""The benchmark study from its config to its report: the content of a run, its repetition, and its resumption."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from flows.studies.benchmark import benchmark_study
from models.records.run_record import RunRecord
from reports.page.finished_run import open_run
from tasks.benchmark import kept, workers
from tasks.benchmark.plan import BenchmarkConfig
from tasks.claims.judging import judge_claim
from tasks.claims.studies.benchmark import CLAIMS
from tasks.runs.results import METRICS

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkConfig:
    """Two functions, two models, two runs, two questions."""
    out = tmp_path_factory.mktemp("runs")
    return BenchmarkConfig.model_validate(
        {"functions": ["branin", "levy"], "models": ["tree", "forest"], "runs": 2, "initial": 5, "questions": 2,
         "comparisons": 10, "ratios": [1.0], "depths": [2, 6], "forest": {"n_trees": 2}, "seed": 3, "out": out}
    )  # fmt: skip


@pytest.fixture(scope="module")
def run_dir(config: BenchmarkConfig, prefect_server: None) -> Path:
    return benchmark_study(config)


def words(run_dir: Path) -> str:
    page = (run_dir / "report.html").read_text("utf-8")
    body = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>", " ", page)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


def same_results(one: Path, other: Path) -> None:
    names = {path.name for path in (one / "results").iterdir()}
    assert names == {path.name for path in (other / "results").iterdir()}
    for name in names:
        assert (one / "results" / name).read_bytes() == (other / "results" / name).read_bytes(), name


def test_the_run_folder_holds_everything_and_times_stand_in_the_record_alone(run_dir: Path) -> None:
    assert {path.name for path in run_dir.iterdir()} == {"run.json", "results", "figures", "report.html", "report.pdf"}
    assert {path.name for path in (run_dir / "results").iterdir()} == {
        "data_cards.json", "metrics.json", "regret_courses.parquet", "final_regrets.parquet", "regret_gaps.parquet",
        "surface_ranks.parquet", "surface_agreement.parquet", "ruggedness.parquet",
    }  # fmt: skip
    record = RunRecord.model_validate_json((run_dir / "run.json").read_bytes())
    assert (record.data, record.simulated) == ((), False)
    assert {(each.function, each.model) for each in record.courses} == {
        (function, model) for function in ("branin", "levy") for model in ("tree", "forest")
    }
    assert all(each.seconds[-1] > 0 for each in record.courses)
    assert "seconds" not in (run_dir / "results" / "metrics.json").read_text("utf-8")


def test_the_report_says_that_there_is_no_data_and_what_was_not_run(run_dir: Path) -> None:
    said = words(run_dir)
    assert "Functions, no data" in said
    assert "SIMULATED" not in said
    assert "These parts of the paper were not run" in said
    for heading in ("Regret after each question", "Time beside regret", "Ratio of noise to prior", "Depth of the tree"):
        assert heading in said
    assert {path.stem for path in (run_dir / "figures").iterdir()} == {
        "regret-branin", "regret-levy", "surface-branin", "surface-levy", "times", "setting-ratio", "setting-depth"
    }  # fmt: skip


def test_a_stopped_run_goes_on_from_its_cells_and_comes_to_the_same_results(
    run_dir: Path, config: BenchmarkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = kept.folder_of_cells(config)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in sorted(folder.iterdir())[::2]:
        path.unlink()
    left = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 1)
    again = benchmark_study(config)
    assert {path.name for path in folder.iterdir()} == set(before)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.name in left} == left
    same_results(run_dir, again)


def test_another_folder_and_one_process_give_the_same_bytes(
    run_dir: Path, config: BenchmarkConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 1)
    same_results(run_dir, benchmark_study(config.model_copy(update={"out": tmp_path})))


def test_the_claims_about_the_models_of_the_run_have_results(run_dir: Path) -> None:
    run = open_run(run_dir)
    found = {claim.name: judge_claim(claim, CLAIMS, run) for claim in CLAIMS.claims}
    assert found["depth_levy"].status == "not_run"  # after 200 questions; this run asks two
    assert found["faster_above_gp"].status == "not_run"  # a model that did not run
    rows = METRICS.validate_json((run_dir / "results" / "metrics.json").read_bytes())
    assert {row.variant for row in rows if row.metric == "regret_gap"} >= {
        "branin_against_forest", "levy_depth_6_against_tree_depth_none", "levy_ratio_1_against_tree_ratio_0.25"
    }  # fmt: skip
