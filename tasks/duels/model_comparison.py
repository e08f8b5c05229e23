"""Comparison of the models of a study of duels: the best one, gains, and distances to published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from models.baselines.beside import Beside
from models.kernels.selection import Chosen, median_settings
from models.records.arrays import FloatArray, IntArray
from models.records.duel_results import (
    AUC,
    BALANCED_ACCURACY,
    BASELINES,
    CHOSEN_MEDIANS,
    COMPARISONS,
    GAINS,
    MIRRORED_FIRST,
    SPLIT_FIRST,
    UNSEEN_ITEMS,
    ChosenMedians,
    DuelModel,
    ScoredVariant,
    SplitProtocol,
)
from models.records.results import BESIDE_PLAIN, MetricRow
from models.scores.advantage import ScoredDuels, auc_advantage, highest_model
from models.scores.comparing import Difference, first_place
from models.scores.duel_comparisons import Advantage, Comparisons, Distance, Gain, Leak
from tasks.runs.results import write_json

NEAR = 0.02
"""A figure at most this far from the published one counts as reproduced."""
OTHER_ITEMS = "other items like these"


class ScoredModels(NamedTuple):
    """What all models of a study preferred in the duels that each run tested.

    scored: by model, one entry for each run, with the duels of its folds pooled, as in the AUC that is reported.
    pairs: (m, 2) the two items of every duel. trained: mean number of training duels in a split.
    """

    scored: Mapping[str, Sequence[ScoredDuels]]
    pairs: IntArray
    trained: float

    def advantage(self, model: str, other: str) -> Difference:
        """How much the AUC of a model exceeds that of another, with its interval."""
        return auc_advantage(self.scored[model], self.scored[other], self.pairs, trained=self.trained)


def scored_models_of(
    tested: Iterable[Mapping[str, Sequence[ScoredDuels]]], runs: pd.DataFrame, pairs: IntArray
) -> ScoredModels:
    """All runs together. tested: of each run, as `RunScores` holds it; runs: as in `runs.parquet`."""
    scored: dict[str, list[ScoredDuels]] = {}
    for run in tested:
        for model, splits in run.items():
            rows, preferences = (np.concatenate(each) for each in zip(*splits, strict=True))
            scored.setdefault(model, []).append(ScoredDuels(rows, preferences))
    return ScoredModels(scored, pairs, float(runs.loc[runs["variant"] == SPLIT_FIRST, "trained"].mean()))


def write_comparisons(
    runs: pd.DataFrame, tested: ScoredModels, rows: Sequence[MetricRow], last: SplitProtocol, results: Path
) -> None:
    """Write `comparisons.json`. runs: as in `runs.parquet`; rows: as in `metrics.json`; last: see `Comparisons`."""
    write_json(results / f"{COMPARISONS}.json", compare(runs, tested, rows, last).model_dump(mode="json"))


def compare(runs: pd.DataFrame, tested: ScoredModels, rows: Sequence[MetricRow], last: SplitProtocol) -> Comparisons:
    """Compare the models of a study with each other, on the same tested duels, and with what was published."""
    scores = _auc_by_model(runs)
    highest = highest_model(scores)
    leads = {other: tested.advantage(highest, other) for other in scores if other != highest}
    first = tuple(first_place(highest, leads))
    leaks = _leaks(rows)
    return Comparisons(
        first_place=first,
        of_highest=tuple(Advantage(model=highest, other=other, difference=lead) for other, lead in leads.items()),
        gains=tuple(_gains(scores, tested)),
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


def write_beside_plain(runs: pd.DataFrame, tested: ScoredModels, results: Path) -> None:
    """Write `beside_plain.json`: on held-out duels, and on items never seen. runs: as in `runs.parquet`."""
    found = [each for variant in (SPLIT_FIRST, UNSEEN_ITEMS) for each in beside_plain(runs, tested, variant)]
    write_json(results / f"{BESIDE_PLAIN}.json", [each.model_dump(mode="json") for each in found])


def beside_plain(runs: pd.DataFrame, tested: ScoredModels, variant: ScoredVariant) -> list[Beside]:
    """The highest model beside the highest plain one, by mean AUC; none if either is missing.

    No interval over other items is calibrated, so nothing is concluded about items never seen.
    """
    scored = runs[runs["variant"] == variant].sort_values("run", kind="stable")
    of_models = {str(model): group[AUC].to_numpy(float) for model, group in scored.groupby("model", sort=False)}
    ours, plain = (
        {model: auc for model, auc in of_models.items() if (model in BASELINES) == wanted} for wanted in (False, True)
    )
    if not ours or not plain:
        return []
    model, other = highest_model(ours), highest_model(plain)
    if variant == SPLIT_FIRST:
        difference = tested.advantage(model, other)
    else:
        difference = Difference(estimate=float((ours[model] - plain[other]).mean()), over=OTHER_ITEMS)
    return [Beside(variant=variant, model=model, plain=other, difference=difference)]


def _auc_by_model(runs: pd.DataFrame) -> dict[DuelModel, FloatArray]:
    """The AUC of each model but the plain ones in the order of the runs, on duels that are split first."""
    honest = runs[(runs["variant"] == SPLIT_FIRST) & ~runs["model"].isin(BASELINES)].sort_values("run", kind="stable")
    models: list[DuelModel] = honest["model"].unique().tolist()
    return {model: honest.loc[honest["model"] == model, AUC].to_numpy(dtype=np.float64) for model in models}


def _gains(scores: Mapping[DuelModel, FloatArray], tested: ScoredModels) -> Iterable[Gain]:
    for step, pairs in GAINS.items():
        pair = next((pair for pair in pairs if set(pair) <= scores.keys()), None)
        if pair is not None:
            model, other = pair
            yield Gain(step=step, model=model, other=other, difference=tested.advantage(model, other))


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
