"""The chosen models are explained on held-out duels, and the findings are judged."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.kernels.selection import Tuning
from models.records.errors import UsageError
from tasks.duels.explain_run import check_explainable, explain, explain_trial, fit_again, fit_trial_again
from tasks.duels.explanation_results import VERDICTS
from tasks.duels.published_findings import SYNTHETIC, TENNIS
from tasks.duels.refits import portions
from tasks.duels.scoring import DuelTrial, score_models

CONFIG = SYNTHETIC.model_copy(update={"duels": 40, "refits": 3})


def trial(folder, name: str, items: int, **more: object) -> DuelTrial:
    source = adapter(name)
    simulate(source, folder / "raw", seed=0, users=items)
    [table] = build(source, locate(source, folder / "raw", allow_unpinned=True))
    tuning = Tuning(rank=None, steps=4, lengthscales=(2.0,), penalties=(1e-3,), inner_folds=2)
    return DuelTrial(table=write_table(table, folder), tuning=tuning, seed=0, **more)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory) -> DuelTrial:
    return trial(tmp_path_factory.mktemp("synthetic"), "synthetic", 60, models=("gpm", "upm"))


def test_a_run_explains_what_it_held_out_by_the_models_it_chose(synthetic, tmp_path):
    scores = score_models(synthetic, 0, "split_first")
    (tmp_path / "chosen_models.json").write_text(json.dumps(scores.chosen), "utf-8")
    for portion in portions(1, CONFIG.refits):
        fit_again.fn(portion, synthetic, tmp_path, tmp_path)
    explain.fn(synthetic, CONFIG, tmp_path, tmp_path)
    duels = pq.read_table(tmp_path / "explained_duels.parquet").to_pandas()
    assert duels.groupby(["kind", "model"]).size().to_dict() == {
        ("a_and_b", "gpm"): 40, ("a_and_b", "upm"): 40, ("all", "gpm"): 40, ("all", "upm"): 40,
    }  # fmt: skip
    verdicts = {verdict.finding.name: verdict for verdict in VERDICTS.validate_json(_bytes(tmp_path / "findings.json"))}
    assert list(verdicts) == [finding.name for finding in CONFIG.findings]
    assert verdicts["ab_first"].value > 1
    assert verdicts["higher_wins"].value > 0
    assert verdicts["ab_first"].refits == 3
    assert all(verdict.matches is not None and verdict.items is not None for verdict in verdicts.values())
    first = [_bytes(tmp_path / name) for name in ("explanations.parquet", "findings.json")]
    for portion in reversed(portions(1, CONFIG.refits)):
        fit_again.fn(portion, synthetic, tmp_path, tmp_path)
    explain.fn(synthetic, CONFIG, tmp_path, tmp_path)
    assert [_bytes(tmp_path / name) for name in ("explanations.parquet", "findings.json")] == first


def _bytes(path) -> bytes:
    return path.read_bytes()


def test_what_cannot_be_explained_is_refused_before_anything_is_fitted(synthetic):
    check_explainable(synthetic, CONFIG)
    [kind] = [kind for kind in CONFIG.kinds if kind.between is not None]
    nobody = kind.model_copy(update={"between": None, "lost_by": "nobody"})
    with pytest.raises(UsageError, match="there is no item named 'nobody'"):
        check_explainable(synthetic, CONFIG.model_copy(update={"kinds": (nobody,), "findings": ()}))
    others = tuple(other for other in CONFIG.kinds if other != kind)
    with pytest.raises(UsageError, match=f"explaining.findings, ab_first: nothing explains {kind.name} by gpm"):
        check_explainable(synthetic, CONFIG.model_copy(update={"kinds": others}))
    few = synthetic.model_copy(update={"test_share": 5e-4, "seed": 2})
    with pytest.raises(UsageError, match="held-out duels is of this kind"):
        check_explainable(few, CONFIG)


def test_every_fold_is_explained_by_its_own_models(synthetic):
    in_folds = synthetic.model_copy(update={"folds": 3})
    scores = score_models(in_folds, 0, "split_first")
    explained = explain_trial(in_folds, CONFIG.model_copy(update={"kinds": CONFIG.kinds[:1]}), scores.chosen)
    assert [(one.name, one.model, len(one.explanation.values)) for one in explained] == [
        ("all", "gpm", 120), ("all", "upm", 120),
    ]  # fmt: skip


def test_refits_of_all_folds_are_pooled_and_a_turned_duel_is_seen_from_its_other_side(synthetic, tmp_path):
    in_folds = synthetic.model_copy(update={"folds": 3})
    chosen = score_models(in_folds, 0, "split_first").chosen
    for portion in portions(3, CONFIG.refits):
        fit_trial_again(portion, in_folds, chosen, tmp_path)
    config = CONFIG.model_copy(update={"kinds": CONFIG.kinds[:1]})
    gpm, upm = explain_trial(in_folds, config, chosen, tmp_path)
    for one in (gpm, upm):
        assert one.matches.number == one.items.number == CONFIG.refits
        assert one.matches.weights.shape == (3, len(one.explanation.values))
        for again in one.matches.explanations:
            sides = np.sign(again.data[:, 0] * one.explanation.data[:, 0])
            np.testing.assert_allclose(again.data[:, 1:4], sides[:, None] * one.explanation.data[:, 1:4])
        assert all((again.data[:, :4] == one.explanation.data[:, :4]).all() for again in one.items.explanations)
    turned = [(again.data[:, 0] != gpm.explanation.data[:, 0]) for again in gpm.matches.explanations]
    assert 0 < np.mean(turned) < 0.5, "the fitted probabilities favour what happened"


def test_matches_with_contexts_are_explained_by_the_model_that_knows_them(tmp_path):
    tennis = trial(tmp_path, "tennis", 40, models=("c_gpm", "gpm", "upm"))
    scores = score_models(tennis, 0, "split_first")
    explained = explain_trial(tennis, TENNIS.without_losses(), scores.chosen)
    assert [(one.name, one.model, one.of) for one in explained] == [
        ("all", "c_gpm", "items"), ("all", "upm", "items"), ("environment", "c_gpm", "contexts"),
    ]  # fmt: skip
    assert all(np.isfinite(one.explanation.values).all() for one in explained)
