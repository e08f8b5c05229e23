"""The studies of duels from raw files to report, on small simulated data."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from prefect import flow

from flows.studies.synthetic import SyntheticConfig, synthetic_study
from models.kernels.selection import Tuning
from models.records.run_record import RunRecord
from reports.duels.study import duel_page
from reports.page.finished_run import open_run
from reports.page.html import to_html
from tasks.duels.study import DuelConfig, study_duels
from tasks.runs.results import METRICS
from tests.tasks.claims.made_up import unclaimed, unmeasured

SMALL = Tuning(rank=60, steps=2, inner_folds=2, lengthscales=(2.0,), penalties=(1e-2,), depths=(2, 3))
STUDIES = ("synthetic", "pokemon", "chameleon", "tennis")

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module", params=STUDIES)
def run_dir(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> Path:
    module = importlib.import_module(f"flows.studies.{request.param}")
    small = module.DEMO.model_copy(
        update={
            "out": tmp_path_factory.mktemp("runs"),
            "items": 30,
            "runs": 2,
            "unseen_runs": 1,
            "resamples": 5,
            "tuning": SMALL,
            "explaining": module.DEMO.explaining.model_copy(update={"duels": 20, "refits": 3}),
        }
    )
    folder: Path = getattr(module, f"{request.param}_study")(small)
    return folder


def test_each_model_is_scored_as_is_honest_and_the_published_ones_as_was_published(run_dir: Path):
    rows = METRICS.validate_json((run_dir / "results" / "metrics.json").read_bytes())
    honest = {row.model for row in rows if row.variant == "split_first"}
    published = {row.model for row in rows if row.published is not None and row.metric == "balanced_accuracy"}
    assert {"upm", "preference_tree"} < honest
    assert published == {row.model for row in rows if row.variant == "mirrored_first"} == {"upm", *published}
    last = "as_published" if run_dir.parent.name == "pokemon" else "mirrored_first"
    assert {row.variant for row in rows if row.published is not None} == {last, "all_duels"}
    runs = {"unseen_items": 1}
    assert all(row.n == runs.get(row.variant, 2) and 0 <= row.value <= 1 for row in rows if row.metric == "auc")
    for variant in ("split_first", "unseen_items"):
        assert {"coin", "difference_logit", "boosting"} < {row.model for row in rows if row.variant == variant}
    assert {row.metric for row in rows if row.variant == "all_duels"} == {"spec_r", "cyclic_share"}


def test_the_report_answers_first_and_says_what_the_published_figure_is(run_dir: Path):
    page = (run_dir / "report.html").read_text()
    text = re.sub(r"<[^>]+>", " ", page)
    assert "Of this study’s models, the" in text
    assert "SIMULATED DATA" in text
    assert "mirror image is then in training" in text
    assert "SpecR" in text
    assert (run_dir / "report.pdf").read_bytes().startswith(b"%PDF")
    record = RunRecord.model_validate_json((run_dir / "run.json").read_bytes())
    assert record.simulated


def test_chosen_models_are_kept_for_each_split(run_dir: Path):
    chosen = [
        each
        for name in ("chosen_models", "chosen_baselines")
        for each in json.loads((run_dir / "results" / f"{name}.json").read_text())
    ]
    runs = pd.read_parquet(run_dir / "results" / "runs.parquet")
    assert {(each["run"], each["variant"], each["model"]) for each in chosen} == set(
        runs[["run", "variant", "model"]].itertuples(index=False, name=None)
    )


@pytest.mark.usefixtures("no_report")
def test_the_same_settings_give_the_same_bytes(tmp_path: Path):
    config = SyntheticConfig(
        items=30, runs=2, unseen_runs=1, resamples=3, tuning=SMALL, explaining=SyntheticConfig().explaining.model_copy(
            update={"duels": 20, "refits": 3}
        ),
    )  # fmt: skip
    folders = [synthetic_study(config.model_copy(update={"out": tmp_path / name})) for name in "ab"]
    names = {path.name for path in (folders[0] / "results").iterdir()}
    assert {"metrics.json", "runs.parquet", "chosen_models.json"} <= names
    for name in sorted(names):
        assert (folders[0] / "results" / name).read_bytes() == (folders[1] / "results" / name).read_bytes(), name


@pytest.mark.parametrize("folds", [None, 3])
def test_a_study_of_items_and_comparisons_needs_nothing_but_a_name(tmp_path: Path, folds: int | None):
    config = DuelConfig(
        simulated=True, items=20, runs=1, unseen_runs=1, folds=folds, resamples=5, tuning=SMALL, out=tmp_path
    )
    run_dir = flow(study_duels)("synthetic", config)
    chosen = json.loads((run_dir / "results" / "chosen_models.json").read_text())
    first = [each for each in chosen if each["variant"] == "split_first" and each["split"] == 0]
    assert [each["model"] for each in first] == ["gpm", "upm", "preference_tree"]
    assert {each["split"] for each in chosen} == set(range(folds or 1))
    run = open_run(run_dir)
    page = duel_page(run)
    assert (page.study, page.title) == ("Synthetic", run.record.data[0].title)
    assert "What decides it" not in [section.heading for section in page.sections]
    text = re.sub(r"<[^>]+>", " ", to_html(page)).casefold()
    assert "published" not in text.replace("published_protocol = yes", "")


def test_the_report_says_what_the_results_say_and_computes_no_claim(run_dir: Path, tmp_path: Path):
    copy = Path(shutil.copytree(run_dir, tmp_path / "copy"))
    replace = {
        "comparisons.json": {
            "first_place": ["preference_tree"],
            "gains": [],
            "of_highest": [],
            "near": 1.0,
        },
        "rankability.json": {"lower": 0.111, "upper": 0.888},
    }
    for name, update in replace.items():
        path = copy / "results" / name
        found = json.loads(path.read_text()) | update
        if name == "comparisons.json":
            found["published"] = [each | {"near": True, "found": 0.123} for each in found["published"]]
        path.write_text(json.dumps(found))
    page = duel_page(open_run(copy))
    text = " ".join(re.sub(r"<[^>]+>", " ", to_html(page)).split())
    assert "Of this study’s models, the preference tree has the highest AUC on held-out" in text
    assert "points of AUC (" not in text
    assert "95% interval of 0.111 to 0.888" in text
    assert "the models here have 0.123 and 0.123" in text
    assert "no figure is more than 100 points from the published one" in text


def test_every_claim_of_the_paper_is_measured_and_every_published_number_is_a_claim(run_dir: Path) -> None:
    of_a_player = {"shorter", "clay", "indoors"} if run_dir.parent.name == "tennis" else set()
    assert unmeasured(run_dir) == of_a_player  # nobody simulated is called Novak Djokovic
    assert unclaimed(run_dir) == set()
