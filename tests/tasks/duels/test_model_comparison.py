"""Comparisons of the models of a study of duels, against values worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from models.records.duel_results import ChosenMedians
from models.records.results import MetricRow
from tasks.duels.model_comparison import compare, write_medians


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


def test_models_are_compared_on_the_same_runs_split_first():
    found = compare(runs(), ROWS, "mirrored_first")
    assert (found.best, found.highest) == ("gpm", "gpm")
    assert {(each.other, each.difference, each.standard_error) for each in found.of_highest} == {
        ("upm", 0.1875, 0.0625), ("preference_tree", 0.3125, 0.0625),
    }  # fmt: skip
    [gain] = found.gains
    assert (gain.step, gain.model, gain.other, gain.difference) == ("general_preference", "gpm", "upm", 0.1875)


def test_published_figures_stand_beside_those_of_the_last_protocol():
    found = compare(runs(), ROWS, "mirrored_first")
    assert [(leak.model, leak.difference) for leak in found.leaks] == [("gpm", 0.125), ("upm", 0.25)]
    assert found.most_leaked == "upm"
    assert [(each.model, each.near) for each in found.published] == [("gpm", True), ("upm", False)]
    assert found.published[1].difference == pytest.approx(-0.05)


def test_nothing_published_is_compared_with_nothing():
    found = compare(runs(), ROWS[:2], "split_first")
    assert (found.leaks, found.most_leaked, found.published) == ((), None, ())


def test_a_metric_without_a_value_takes_no_part():
    spoilt = (ROWS[0], ROWS[1], ROWS[2], metric("mirrored_first", "upm", float("nan"), 0.8))
    found = compare(runs(), spoilt, "mirrored_first")
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
