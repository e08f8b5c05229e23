"""The sushi study from raw files to report, on simulated data: the content of a run folder, and its repetition."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from prefect.client.orchestration import get_client
from prefect.task_runners import ThreadPoolTaskRunner

from flows.cli.main import main
from flows.studies.sushi import SushiConfig, sushi_study
from models.records.errors import RawDataError, UsageError
from models.records.results import MetricRow
from models.records.run_record import RunRecord, UnfinishedRun
from tasks.runs.results import METRICS
from tests.tasks.claims.made_up import unclaimed, unmeasured

USERS, GP_USERS = 30, 2
VARIANTS = ("straddlers_discarded", "straddlers_kept")

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> SushiConfig:
    out = tmp_path_factory.mktemp("runs")
    return SushiConfig(simulated=True, users=USERS, seed=3, questions=9, gp_users=GP_USERS, out=out)


@pytest.fixture(scope="module")
def run_dir(config: SushiConfig, prefect_server: None) -> Path:
    return sushi_study(config)


def _metrics(run_dir: Path) -> tuple[MetricRow, ...]:
    return METRICS.validate_json((run_dir / "results" / "metrics.json").read_bytes())


def test_the_run_folder_holds_everything_and_nothing_half_done(run_dir: Path, config: SushiConfig) -> None:
    assert run_dir.parent == config.out / "sushi"
    assert {path.name for path in run_dir.iterdir()} == {"run.json", "results", "figures", "report.html", "report.pdf"}
    assert {path.name for path in (run_dir / "results").iterdir()} == {
        "data_cards.json",
        "metrics.json",
        "active_learning.parquet",
        "users.parquet",
        "protocols.parquet",
        "example_tree.json",
        "asked_features.parquet",
        "leaving_out.parquet",
        "leaving_out_intervals.parquet",
        "sensitive_features.json",
        "tree_summaries.json",
        "accuracy_differences.json",
        "beside_plain.json",
        "plain_users.parquet",
        "unseen_users.parquet",
        "nearest_protocols.json",
        "protocol_effects.json",
        "asking_changes.parquet",
        "asking_compared.json",
        "gallery.json",
        "gp_users.parquet",
        "history.parquet",
        "history_differences.parquet",
    }
    assert list((run_dir / "figures").glob("*.svg"))
    assert (run_dir / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_run_json_says_what_the_numbers_rest_on(run_dir: Path, config: SushiConfig) -> None:
    record = RunRecord.model_validate_json((run_dir / "run.json").read_bytes())
    assert (record.study, record.run_id, record.seed) == ("sushi", run_dir.name, 3)
    assert SushiConfig.model_validate(record.config) == config
    assert record.simulated
    assert [manifest.name for manifest in record.data] == ["sushi", "sushi_b"]
    assert all(manifest.rows["users"] == USERS for manifest in record.data)
    assert {"prefect", "numpy"} <= record.packages.keys()
    assert [time.step for time in record.seconds] == [
        "Build the tables",
        "Fit two trees to each user",
        "Leave one feature out",
        "Fit a Gaussian process to each user",
        "Fit plain models",
        "Try every protocol",
        "Ask every user",
        "Learn from earlier users",
    ]


def test_metrics_cover_both_variants_and_stand_beside_the_published_values(run_dir: Path) -> None:
    rows = [row for row in _metrics(run_dir) if row.variant in VARIANTS]
    accuracies = [
        (split, name) for split in ("train", "test") for name in ("accuracy", "strict_accuracy", "decided_share")
    ]
    sizes = [("train", "leaves"), ("train", "depth")]
    assert [(row.variant, row.split, row.metric) for row in rows] == [
        (variant, *key) for variant in VARIANTS for key in accuracies + sizes
    ]
    published = {(row.split, row.metric): row.published for row in rows if row.published is not None}
    assert published == {("train", "accuracy"): 0.998, ("test", "accuracy"): 0.888}
    assert all(row.n == USERS for row in rows)


def test_metrics_are_the_means_of_the_users_table(run_dir: Path) -> None:
    users = pd.read_parquet(run_dir / "results" / "users.parquet")
    assert users.groupby("variant")["user_id"].nunique().to_dict() == dict.fromkeys(VARIANTS, USERS)
    for row in _metrics(run_dir):
        if row.variant not in VARIANTS:
            continue
        column = row.metric if row.metric in {"leaves", "depth"} else f"{row.split}_{row.metric}"
        of_variant = users.loc[users["variant"] == row.variant, column]
        assert row.value == pytest.approx(of_variant.mean())
        assert row.sd == pytest.approx(of_variant.std())


def test_earlier_users_help_before_the_first_question(run_dir: Path) -> None:
    regret = {
        row.variant: row.value
        for row in _metrics(run_dir)
        if (row.model, row.metric, row.at) == ("user_tree", "rho_regret", 0)
    }
    ways = [f"{way}_history{rule}" for way in ("with", "without") for rule in ("", "_ask_again")]
    assert set(regret) == {f"{table}_{way}" for table in ("sushi", "sushi_b") for way in ways}
    assert regret["sushi_with_history"] < regret["sushi_without_history"]


def test_the_gaussian_process_is_scored_beside_the_trees(run_dir: Path) -> None:
    found = {
        (row.metric, row.split): row
        for row in _metrics(run_dir)
        if row.variant == "gp" and row.model == "preference_gp"
    }
    assert found["accuracy", "test"].published == 0.895
    assert found["accuracy", "train"].value > 0.95
    assert found["accuracy", "test"].n == USERS


def test_the_curves_of_asking_are_metrics_after_each_question(run_dir: Path) -> None:
    rows = [row for row in _metrics(run_dir) if row.at is not None and row.model != "user_tree"]
    courses = pd.read_parquet(run_dir / "results" / "active_learning.parquet").set_index(["way", "question"])
    assert {row.variant: row.n for row in rows} == {
        "tree_top_leaf": USERS,
        "tree_qeubo": USERS,
        "tree_random": USERS,
        "forest_qeubo": USERS,
        "gp_qeubo": GP_USERS,
    }
    for row in rows:
        assert row.value == courses.loc[(row.variant, row.at), row.metric]
    published = [(row.variant, row.metric, row.at) for row in rows if row.published is not None]
    assert published == [("tree_top_leaf", "found_share", 9), ("gp_qeubo", "found_share", 9)]
    assert "What asking finds" in (run_dir / "report.html").read_text("utf-8")


def test_every_combination_of_the_open_choices_is_tried_once(run_dir: Path) -> None:
    protocols = pd.read_parquet(run_dir / "results" / "protocols.parquet")
    choices = ["straddlers", "split", "tie_break", "encoding", "ratio"]
    assert len(protocols) == 2 * 2 * 3 * 4 * 3
    assert not protocols.duplicated(choices).any()


def test_the_flow_run_keeps_its_metrics_and_a_link_to_the_report(run_dir: Path) -> None:
    with get_client(sync_client=True) as client:
        artifacts = {artifact.key: artifact for artifact in client.read_artifacts()}
    assert (run_dir / "report.html").resolve().as_uri() in str(artifacts["sushi-report"].data)
    rows = json.loads(str(artifacts["sushi-metrics"].data))
    assert [MetricRow(study="sushi", **row) for row in rows] == list(_metrics(run_dir))


@pytest.mark.usefixtures("no_report")
def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_workers(run_dir: Path, config: SushiConfig) -> None:
    with ThreadPoolTaskRunner(max_workers=1) as runner:
        again = sushi_study.with_options(task_runner=runner)(config)
    assert again != run_dir
    for path in (run_dir / "results").iterdir():
        assert (again / "results" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_flow_without_data_fails_with_what_to_do_and_leaves_only_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFSTUDY_RAW", raising=False)
    monkeypatch.setenv("PREFSTUDY_CACHE", str(tmp_path / "cache"))
    with pytest.raises(RawDataError, match="prefstudy data fetch sushi"):
        sushi_study(SushiConfig(out=tmp_path))
    [record] = (tmp_path / "sushi").rglob("*.json")
    assert UnfinishedRun.model_validate_json(record.read_bytes()).outcome == "failed"
    assert [path.name for path in (tmp_path / "sushi").iterdir()] == ["failed"]


def test_an_example_user_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    config = SushiConfig(
        simulated=True, users=5, protocols=False, active_learning=False, example_user="nobody", out=tmp_path
    )
    with pytest.raises(UsageError, match=r"example_user = nobody: this run has no such user\. It has 5"):
        sushi_study(config)


def test_the_command_line_runs_the_study_on_simulated_raw_files_and_says_where_the_report_lies(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With another seed there are other results; beside simulated data, nothing published is shown."""
    monkeypatch.chdir(tmp_path)
    settings = ["--set", "protocols=false", "--set", "active_learning=false", "--set", "seed=4"]
    assert main(["data", "simulate", "sushi", "--users", "20", "--out", "raw"]) == 0
    assert main(["run", "sushi", "--raw", "raw/sushi", "--out", "here", *settings]) == 0
    printed = capsys.readouterr()
    [html] = (tmp_path / "here" / "sushi").glob("*/report.html")
    assert f"HTML     {html.relative_to(tmp_path)}" in printed.out
    assert html.as_uri() in printed.out
    assert "Found" in printed.out
    assert "Published" not in printed.out
    assert "Write the report: done" in printed.err
    assert "Traceback" not in printed.err
    assert html.parent.name.split("-")[1] != run_dir.name.split("-")[1]
    metrics = [run / "results" / "metrics.json" for run in (html.parent, run_dir)]
    assert metrics[0].read_bytes() != metrics[1].read_bytes()


def test_a_report_is_written_again_as_it_was_without_computing(run_dir: Path) -> None:
    html = run_dir / "report.html"
    before = html.read_bytes()
    html.unlink()
    script = (
        "import sys; from flows.cli.main import main; code = main(sys.argv[1:]); assert 'prefect' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script, "report", str(run_dir)], check=True, stdout=subprocess.DEVNULL)
    assert html.read_bytes() == before


def test_every_claim_of_the_paper_is_measured_and_every_published_number_is_a_claim(run_dir: Path) -> None:
    assert unmeasured(run_dir) == {"history_same_end", "history_above_zero"}  # after more questions than asked here
    assert unclaimed(run_dir) == set()
