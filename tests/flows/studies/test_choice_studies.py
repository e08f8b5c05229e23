"""The studies of choice experiments from raw files to report: a tree for each respondent, one for all, and the page."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from data_adapters.choice.mapping_file import SHIPPED
from flows.cli.main import main
from flows.studies.bela import BelaConfig, bela_study
from flows.studies.conjoint import conjoint_study
from models.records.results import MetricRow
from models.records.run_record import RunRecord
from models.trees.preference_tree import PreferenceTree
from tasks.respondents.tree_study import ChoiceConfig
from tasks.runs.results import METRICS
from tests.tasks.claims.made_up import unclaimed, unmeasured

RESPONDENTS = 60

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> Path:
    return bela_study(BelaConfig(simulated=True, users=RESPONDENTS, seed=3, out=tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def real_run_dir(tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> Path:
    raw = os.environ.get("PREFSTUDY_RAW")
    if not raw or not (Path(raw) / "standins").is_dir():
        pytest.skip("PREFSTUDY_RAW has no real choice experiment")
    place = Path(raw) / "standins" / "ride2016_dce"
    config = ChoiceConfig(raw=place, mapping=SHIPPED / "ride2016.toml", out=tmp_path_factory.mktemp("runs"))
    return conjoint_study(config)


def metrics(run_dir: Path) -> tuple[MetricRow, ...]:
    return METRICS.validate_json((run_dir / "results" / "metrics.json").read_bytes())


def value(run_dir: Path, metric: str, variant: str, split: str) -> float:
    found = {row.value for row in metrics(run_dir) if (row.metric, row.variant, row.split) == (metric, variant, split)}
    assert len(found) == 1
    return found.pop() or 0.0


def words(run_dir: Path) -> str:
    page = (run_dir / "report.html").read_text("utf-8")
    body = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>", " ", page)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


def test_the_run_folder_holds_everything_and_nothing_half_done(run_dir: Path) -> None:
    assert {path.name for path in run_dir.iterdir()} == {"run.json", "results", "figures", "report.html", "report.pdf"}
    assert {path.name for path in (run_dir / "results").iterdir()} == {
        "metrics.json",
        "users.parquet",
        "example_tree.json",
        "pooled_tree.json",
        "asked_features.parquet",
        "leaving_out.parquet",
        "leaving_out_intervals.parquet",
        "sensitive_features.json",
        "tree_summaries.json",
        "accuracy_differences.json",
        "beside_plain.json",
        "plain_users.parquet",
        "unseen_users.parquet",
        "choice_summary.json",
        "gallery.json",
        "gp_users.parquet",
        "data_cards.json",
    }
    assert {path.name for path in (run_dir / "figures").iterdir()} >= {
        "tree.svg",
        "tree-large.svg",
        "tree-pooled.svg",
        "asked-features.svg",
        "tree-1.svg",
    }


def test_the_report_tells_what_trees_ask_about_and_what_each_feature_is_worth(run_dir: Path) -> None:
    said = words(run_dir)
    assert "respondents’ trees ask about" in said
    assert "Leaving one feature out" in said
    left_out = {row.variant for row in metrics(run_dir) if row.metric == "delta_accuracy"}
    asked = pd.read_parquet(run_dir / "results" / "asked_features.parquet")
    assert left_out == set(asked["feature"])


def test_every_published_value_stands_beside_what_was_found_for_its_tree(run_dir: Path) -> None:
    published = [
        (row.variant, row.split, row.published_source, row.published)
        for row in metrics(run_dir)
        if row.published is not None
    ]
    assert published == [
        ("straddlers_discarded", "train", "dt-pbo, Table 2", 0.97),
        ("straddlers_discarded", "train", "dt-pbo, Table 12", 0.99),
        ("straddlers_discarded", "test", "dt-pbo, Table 2", 0.63),
        ("straddlers_discarded", "test", "dt-pbo, Table 12", 0.55),
        ("straddlers_kept", "train", "dt-pbo, Table 2", 1.0),
        ("straddlers_kept", "test", "dt-pbo, Table 2", 0.60),
        ("gp", "train", "dt-pbo, Table 12", 1.0),
        ("gp", "test", "dt-pbo, Table 12", 0.55),
    ]


def test_two_of_18_choices_are_held_out_or_one_of_few(run_dir: Path) -> None:
    users = pd.read_parquet(run_dir / "results" / "users.parquet")
    assert (users["test_accuracy"].dropna() * 4 % 1 == 0).all()


def test_one_tree_for_all_has_a_size_and_no_spread_of_it(run_dir: Path) -> None:
    [leaves] = [row for row in metrics(run_dir) if (row.metric, row.variant) == ("leaves", "pooled")]
    tree = (run_dir / "results" / "pooled_tree.json").read_text()
    assert (leaves.sd, leaves.n) == (None, 1)
    assert leaves.value == PreferenceTree.from_dict(json.loads(tree)).n_leaves_
    assert value(run_dir, "depth", "pooled", "train") <= 4


def test_one_tree_for_all_predicts_simulated_women_better_than_a_tree_each(run_dir: Path) -> None:
    """The women share three tastes, and sixteen choices of one woman are few."""
    assert value(run_dir, "accuracy", "pooled", "test") > value(run_dir, "accuracy", "straddlers_discarded", "test")


def test_the_report_of_simulated_data_shows_the_published_values_as_not_comparable(run_dir: Path) -> None:
    page = words(run_dir)
    assert page.lstrip().split(" BELA ")[0].endswith("SIMULATED DATA")
    assert "what was published about people is not comparable" in page
    assert "Not comparable: these data are simulated" in page
    assert re.search(r"dt-pbo, Table 12 straddlers discarded \d\.\d{3} 0\.990 – \d\.\d{3} 0\.550 –", page)
    assert "Why they differ" not in page


@pytest.mark.usefixtures("no_report")
def test_the_same_seed_gives_the_same_bytes(run_dir: Path) -> None:
    record = RunRecord.model_validate_json((run_dir / "run.json").read_bytes())
    again = bela_study(BelaConfig.model_validate(record.config))
    for path in (run_dir / "results").iterdir():
        assert (again / "results" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_real_experiment_goes_through_by_its_mapping(real_run_dir: Path) -> None:
    record = RunRecord.model_validate_json((real_run_dir / "run.json").read_bytes())
    [manifest] = record.data
    assert not record.simulated
    assert not record.unpinned
    assert (manifest.name, manifest.rows["users"], manifest.rows["comparisons"]) == ("conjoint", 210, 2_899)
    assert manifest.adapter_version.startswith("1, mapping ride2016.toml ")
    page = words(real_run_dir)
    assert "Treatment of perinatal depression" in page
    assert "SIMULATED" not in page
    assert "573 comparisons: the opt-out was chosen" in page


def test_real_women_prefer_treatments_that_cost_less_and_work(real_run_dir: Path) -> None:
    """The pooled tree asks about cost first; the paper reports that women disliked cost and valued efficacy."""
    tree = PreferenceTree.from_dict(json.loads((real_run_dir / "results" / "pooled_tree.json").read_text()))
    root = tree.nodes_[0]
    assert tree.columns_[root.column or 0].name == "cost"
    assert root.score < 0
    assert value(real_run_dir, "accuracy", "pooled", "test") > 0.7


def test_a_choice_experiment_of_ones_own_runs_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapping = str(SHIPPED / "conjoint.toml")
    raw, out = tmp_path / "conjoint", tmp_path / "runs"
    assert main(["data", "simulate", "conjoint", "--mapping", mapping, "--users", "30", "--out", str(tmp_path)]) == 0
    (raw / "SIMULATED.json").unlink()
    assert main(["data", "check", "conjoint", "--raw", str(raw), "--mapping", mapping]) == 0
    assert " own " in capsys.readouterr().out
    assert main(["run", "conjoint", "--raw", str(raw), "--mapping", mapping, "--out", str(out)]) == 0
    [found] = (out / "conjoint").iterdir()
    record = RunRecord.model_validate_json((found / "run.json").read_bytes())
    assert not record.unpinned
    page = words(found)
    assert "UNPINNED" not in page
    assert "Known oddity" not in page, "how many rows one's own file has is not odd"
    assert page.count("own data: no published file to compare with") == 1


def test_a_mapping_that_cannot_be_meant_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.toml").write_text('title = "Tea"\ncitaton = "Nobody"\n')
    assert main(["run", "conjoint", "--raw", str(tmp_path), "--mapping", str(tmp_path / "my.toml")]) == 2
    assert "citaton: there is no such setting. Did you mean citation?" in capsys.readouterr().err
    assert main(["run", "sushi", "--simulated", "--mapping", str(tmp_path / "my.toml")]) == 2


def test_every_claim_of_the_paper_is_measured_and_every_published_number_is_a_claim(run_dir: Path) -> None:
    assert unmeasured(run_dir) == set()
    assert unclaimed(run_dir) == set()
