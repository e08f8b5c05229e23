"""Comparisons of the models of a study of duels, against values worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from models.records.duel_results import ChosenMedians
from models.records.results import MetricRow
from models.scores.advantage import ScoredDuels
from models.scores.discrimination import auc
from tasks.duels.model_comparison import ScoredModels, compare, scored_models_of, write_medians


def runs() -> pd.DataFrame:
    auc = {"gpm": (0.75, 0.875), "upm": (0.5, 0.75), "preference_tree": (0.5, 0.5)}
    rows = [(run, "split_first", model, value) for model, values in auc.items() for run, value in enumerate(values)]
    rows += [(run, "mirrored_first", "upm", 1.0) for run in range(2)]
    rows[0], rows[1] = rows[1], rows[0]  # the runs of one model in another order than those of the others
    return pd.DataFrame(rows, columns=["run", "variant", "model", "auc"])


def metric(variant: str, model: str, value: float | None, published: float | None = None) -> MetricRow:
    return MetricRow(
        study="x", model=model, variant=variant, metric="balanced_accuracy", split="test", value=value,
        published=published,
    )  # fmt: skip


ROWS = (
    metric("split_first", "gpm", 0.75), metric("split_first", "upm", 0.5),
    metric("mirrored_first", "gpm", 0.875, 0.87), metric("mirrored_first", "upm", 0.75, 0.8),
)  # fmt: skip


def scored_duels(**means: float) -> ScoredModels:
    """Preferences for the winners of 200 duels among 40 items in two splits, with the given means."""
    rng = np.random.default_rng(0)
    pairs = np.stack([rng.integers(40, size=200), 40 + rng.integers(40, size=200)], 1)
    halves = np.split(np.arange(200), 2)
    noise = [rng.normal(size=100) for _ in halves]
    means = means or {"gpm": 2.0, "upm": 1.0, "preference_tree": 0.0}
    scored = {
        model: [ScoredDuels(rows, mean + each) for rows, each in zip(halves, noise, strict=True)]
        for model, mean in means.items()
    }
    return ScoredModels(scored, pairs, 800.0)


def test_models_are_compared_on_the_same_tested_duels_split_first():
    found = compare(runs(), scored_duels(), ROWS, "mirrored_first")
    assert found.first_place == ("gpm",)
    assert {each.other: each.difference.outcome for each in found.of_highest} == {
        "upm": "higher", "preference_tree": "higher",
    }  # fmt: skip
    [gain] = found.gains
    assert (gain.step, gain.model, gain.other) == ("general_preference", "gpm", "upm")
    assert gain.difference.outcome == "higher"


def test_an_advantage_is_the_difference_of_the_auc_that_is_reported_with_the_folds_of_a_run_pooled():
    rng = np.random.default_rng(1)
    rows, pairs = np.split(np.arange(60), 3), rng.integers(12, size=(60, 2))
    tested = [
        {name: [ScoredDuels(each, rng.normal(fold * shift, 1.0, 20)) for fold, each in enumerate(rows)]
         for name, shift in (("gpm", 1.0), ("upm", 0.0))}
        for _ in range(2)
    ]  # fmt: skip
    table = pd.DataFrame({"variant": ["split_first"] * 2, "trained": [40.0] * 2})
    pooled = {
        name: [auc(np.concatenate([part.preference for part in run[name]])) for run in tested] for name in tested[0]
    }
    found = scored_models_of(tested, table, pairs).advantage("gpm", "upm")
    assert found.estimate == pytest.approx(np.mean(pooled["gpm"]) - np.mean(pooled["upm"]))


def test_no_model_is_best_alone_where_no_interval_leaves_zero_out():
    near = scored_duels(gpm=1.0, upm=1.0, preference_tree=1.0)
    found = compare(runs(), near, ROWS, "mirrored_first")
    assert found.first_place == ("gpm", "upm", "preference_tree")


def test_nothing_is_concluded_from_one_split():
    one = scored_duels()
    single = one._replace(scored={model: splits[:1] for model, splits in one.scored.items()})
    assert len(compare(runs(), single, ROWS, "mirrored_first").first_place) == 3


def test_published_figures_stand_beside_those_of_the_last_protocol():
    found = compare(runs(), scored_duels(), ROWS, "mirrored_first")
    assert [(leak.model, leak.difference) for leak in found.leaks] == [("gpm", 0.125), ("upm", 0.25)]
    assert found.most_leaked == "upm"
    assert [(each.model, each.near) for each in found.published] == [("gpm", True), ("upm", False)]
    assert found.published[1].difference == pytest.approx(-0.05)


def test_nothing_published_is_compared_with_nothing():
    found = compare(runs(), scored_duels(), ROWS[:2], "split_first")
    assert (found.leaks, found.most_leaked, found.published) == ((), None, ())


def test_a_metric_without_a_value_takes_no_part():
    spoilt = (ROWS[0], ROWS[1], ROWS[2], metric("mirrored_first", "upm", float("nan"), 0.8))
    found = compare(runs(), scored_duels(), spoilt, "mirrored_first")
    assert [leak.model for leak in found.leaks] == ["gpm"]
    assert [each.model for each in found.published] == ["gpm"]


def test_medians_are_of_duels_that_are_split_first(tmp_path: Path):
    chosen = [
        {"run": run, "variant": variant, "split": split, "model": "upm", "validation_loss": 0.5, "lengthscales": 2.0,
         "context_lengthscales": None, "penalty": penalty, "utility": 0.0, "rank": None, "max_depth": None}
        for run, variant, split, penalty in (
            (0, "split_first", 0, 0.1), (0, "split_first", 1, 0.2), (1, "split_first", 0, 0.4),
            (0, "mirrored_first", 0, 9.0),
        )
    ]  # fmt: skip
    write_medians(chosen, tmp_path)
    found = ChosenMedians.model_validate(json.loads((tmp_path / "chosen_medians.json").read_text()))
    assert found.splits == 3
    assert found.models[0].penalty == 0.2
