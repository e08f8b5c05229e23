"""Comparison of the models of a study of duels: the best one, gains, and distances to published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from models.baselines.beside import Beside, repeated_difference
from models.kernels.selection import Chosen, median_settings
from models.records.arrays import FloatArray
from models.records.duel_results import (
    AUC,
    BALANCED_ACCURACY,
    BASELINES,
    CHOSEN_MEDIANS,
    COMPARISONS,
    GAINS,
    MIRRORED_FIRST,
    SIMPLEST_FIRST,
    SPLIT_FIRST,
    UNSEEN_ITEMS,
    Advantage,
    ChosenMedians,
    Comparisons,
    Distance,
    DuelModel,
    Gain,
    Leak,
    ScoredVariant,
    SplitProtocol,
)
from models.records.results import BESIDE_PLAIN, MetricRow
from models.scores.advantage import best_model, highest_model, paired_difference
from models.scores.comparing import Difference
from tasks.runs.results import write_json

NEAR = 0.02
"""A figure at most this far from the published one counts as reproduced."""
OTHER_DUELS, OTHER_ITEMS = "other duels among the same items", "other items like these"
RULE = (
    "the simplest model that the one of the highest mean AUC exceeds by no more than one standard error over runs "
    "(simplest first: " + ", ".join(SIMPLEST_FIRST) + ")"
)


def write_comparisons(runs: pd.DataFrame, rows: Sequence[MetricRow], last: SplitProtocol, results: Path) -> None:
    """Write `comparisons.json`. runs: as in `runs.parquet`; rows: as in `metrics.json`; last: see `Comparisons`."""
    write_json(results / f"{COMPARISONS}.json", compare(runs, rows, last).model_dump(mode="json"))


def compare(runs: pd.DataFrame, rows: Sequence[MetricRow], last: SplitProtocol) -> Comparisons:
    """Compare the models of a study with each other, on the same runs, and with what was published."""
    scores = _auc_by_model(runs)
    highest = highest_model(scores)
    leaks = _leaks(rows)
    return Comparisons(
        best=best_model(scores, SIMPLEST_FIRST),
        highest=highest,
        rule=RULE,
        of_highest=tuple(_advantage(scores, highest, other) for other in scores if other != highest),
        gains=tuple(_gains(scores)),
        last_protocol=last,
        leaks=leaks,
        most_leaked=max(leaks, key=lambda leak: leak.difference).model if leaks else None,
        published=_distances(rows, last),
        near=NEAR,
    )


def write_medians(chosen: Sequence[Mapping[str, Any]], results: Path) -> None:
    """Write `chosen_medians.json`. chosen: as in `chosen_models.json`; only duels that are split first count."""
    honest = [each for each in chosen if each["variant"] == SPLIT_FIRST]
    settings = [Chosen(**{field: each[field] for field in Chosen.model_fields}) for each in honest]
    medians = ChosenMedians(
        splits=len({(each["run"], each["split"]) for each in honest}),
        models=tuple(median_settings(model, settings) for model in dict.fromkeys(each.model for each in settings)),
    )
    write_json(results / f"{CHOSEN_MEDIANS}.json", medians.model_dump(mode="json"))


def write_beside_plain(runs: pd.DataFrame, results: Path) -> None:
    """Write `beside_plain.json`: on held-out duels, and on items never seen. runs: as in `runs.parquet`."""
    found = [each for variant in (SPLIT_FIRST, UNSEEN_ITEMS) for each in beside_plain(runs, variant)]
    write_json(results / f"{BESIDE_PLAIN}.json", [each.model_dump(mode="json") for each in found])


def beside_plain(runs: pd.DataFrame, variant: ScoredVariant) -> list[Beside]:
    """The highest model beside the highest plain one, by mean AUC; none if either is missing.

    Test parts drawn again and again from the same duels share them, so the variance of the mean has the correction of
    Nadeau and Bengio (2003). No interval is known for folds, nor for items held out.
    """
    scored = runs[runs["variant"] == variant].sort_values("run", kind="stable")
    of_models = {str(model): group for model, group in scored.groupby("model", sort=False)}
    ours, plain = (
        {model: group[AUC].to_numpy(float) for model, group in of_models.items() if (model in BASELINES) == wanted}
        for wanted in (False, True)
    )
    if not ours or not plain:
        return []
    model, other = highest_model(ours), highest_model(plain)
    over = OTHER_ITEMS if variant == UNSEEN_ITEMS else OTHER_DUELS
    differences, group = ours[model] - plain[other], of_models[model]
    difference = Difference(estimate=float(differences.mean()), over=over)
    if variant == SPLIT_FIRST and len(differences) > 1 and (group["splits"] == 1).all():
        difference = repeated_difference(differences, float((group["duels"] / group["trained"]).mean()), over=over)
    return [Beside(variant=variant, model=model, plain=other, difference=difference)]


def _auc_by_model(runs: pd.DataFrame) -> dict[DuelModel, FloatArray]:
    """The AUC of each model but the plain ones in the order of the runs, on duels that are split first."""
    honest = runs[(runs["variant"] == SPLIT_FIRST) & ~runs["model"].isin(BASELINES)].sort_values("run", kind="stable")
    models: list[DuelModel] = honest["model"].unique().tolist()
    return {model: honest.loc[honest["model"] == model, AUC].to_numpy(dtype=np.float64) for model in models}


def _advantage(scores: Mapping[DuelModel, FloatArray], model: DuelModel, other: DuelModel) -> Advantage:
    found = paired_difference(scores[model], scores[other])
    return Advantage(model=model, other=other, difference=found.mean, standard_error=found.standard_error)


def _gains(scores: Mapping[DuelModel, FloatArray]) -> Iterable[Gain]:
    for step, pairs in GAINS.items():
        pair = next((pair for pair in pairs if set(pair) <= scores.keys()), None)
        if pair is not None:
            yield Gain(step=step, **_advantage(scores, *pair).model_dump())


def _leaks(rows: Sequence[MetricRow]) -> tuple[Leak, ...]:
    value = {
        (row.variant, row.model): row.value
        for row in rows
        if row.metric == BALANCED_ACCURACY and row.value is not None and np.isfinite(row.value)
    }
    return tuple(
        Leak(model=model, difference=after - value[SPLIT_FIRST, model])
        for (variant, model), after in value.items()
        if variant == MIRRORED_FIRST and (SPLIT_FIRST, model) in value
    )


def _distances(rows: Sequence[MetricRow], last: SplitProtocol) -> tuple[Distance, ...]:
    return tuple(
        Distance(
            model=row.model,
            found=row.value,
            published=row.published,
            difference=row.value - row.published,
            near=abs(row.value - row.published) <= NEAR,
        )
        for row in rows
        if (row.variant, row.metric) == (last, BALANCED_ACCURACY)
        and row.published is not None
        and row.value is not None
        and np.isfinite(row.value)
    )
