"""Scores of models of duels over several runs, with duels split before and after mirroring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.baselines.selection import ChosenBaseline, DuelBaseline, choose_baseline
from models.kernels.selection import Chosen, Tuning, choose, fit, inner_folds, preference, probability
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.base import Record
from models.records.duel_results import (
    ACCURACY,
    AS_PUBLISHED,
    AUC,
    BALANCED_ACCURACY,
    BASELINES,
    BY_NAME,
    CHOSEN_BASELINES,
    CHOSEN_MODELS,
    LOG_LOSS,
    METRICS,
    MIRRORED_FIRST,
    PLAIN,
    RUNS,
    SPLIT_FIRST,
    UNSEEN_ITEMS,
    BaselineModel,
    DuelModel,
    ScoredVariant,
    SplitProtocol,
)
from models.records.published import Published, beside_published
from models.records.results import MetricRow
from models.scores.accuracy import accuracies
from models.scores.advantage import ScoredDuels
from models.scores.discrimination import auc, balanced_accuracy, log_loss
from models.scores.duel_splits import Duels, Split, hold_out, in_folds
from models.scores.item_splits import hold_out_items
from tasks.duels.model_comparison import scored_models_of, write_beside_plain, write_comparisons, write_medians
from tasks.duels.read_duels import read_duels
from tasks.runs.progress import advance
from tasks.runs.results import write_json, write_metrics, write_parquet
from tasks.runs.workers import one_blas_thread

SCORING = "Choose, fit and score"
BASELINE_FOLDS = 3
"""Inner folds in which the settings of plain models are chosen if there are no validation duels."""


class DuelTrial(Record):
    """The data that models are scored on, and the settings of the scoring.

    models: scored on duels that are split first and, like the plain models, on duels between items held out.
    mirrored: models that are also scored under the published protocols.
    published_table: a table that also has the duels that were published without an outcome.
    folds: number of folds of a cross-validation without validation rows; None holds out a validation and a test part.
    item_groups: number of groups of items, of which one is held out, or each in turn with folds.
    leave_out, sides: see `tasks.duels.read_duels.read_duels`.
    """

    table: Path
    published_table: Path | None = None
    models: tuple[DuelModel, ...]
    mirrored: tuple[DuelModel, ...] = ()
    tuning: Tuning
    seed: int
    folds: int | None = None
    item_groups: int = 3
    validation_share: float = 0.1
    test_share: float = 0.1
    leave_out: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()

    def duels(self, variant: ScoredVariant = SPLIT_FIRST) -> Duels:
        """The duels of the table, or of the published one under `as_published`."""
        table = self.published_table if variant == AS_PUBLISHED else self.table
        if table is None:
            raise ValueError("this trial has no published table")
        return read_duels(table, leave_out=self.leave_out, sides=self.sides)

    def splits(self, duels: Duels, protocol: SplitProtocol, run: int) -> list[Split]:
        """The splits of a run: one, or one for each fold."""
        seed = self.seed + run
        if self.folds is not None:
            return in_folds(duels, protocol, self.folds, seed=seed)
        shares = {"validation_share": self.validation_share, "test_share": self.test_share}
        return [hold_out(duels, protocol, seed=seed, **shares)]

    def scored_models(self, variant: ScoredVariant) -> tuple[DuelModel, ...]:
        """The models scored under a variant, without the plain ones."""
        return self.mirrored if variant in {MIRRORED_FIRST, AS_PUBLISHED} else self.models

    def baselines(self, duels: Duels, variant: ScoredVariant) -> tuple[BaselineModel, ...]:
        """The plain models scored under a variant: none as published, none by name if the items were not seen."""
        if variant not in {SPLIT_FIRST, UNSEEN_ITEMS}:
            return ()
        return tuple(
            kind
            for kind in BASELINES
            if not (kind in BY_NAME and variant == UNSEEN_ITEMS)
            and not (kind == "by_name_and_context" and not duels.context_columns)
        )

    def parts(self, duels: Duels, variant: ScoredVariant, run: int) -> list[Part]:
        """The splits of a run, with the duels on which settings are chosen in each."""
        seed = self.seed + run
        if variant == UNSEEN_ITEMS:
            by_items = hold_out_items(duels, self.item_groups, in_turn=self.folds is not None, seed=seed)
            return [Part(each.split, each.choosing) for each in by_items]
        found = []
        for split in self.splits(duels, variant, run):
            inner = list(inner_folds(split.train, BASELINE_FOLDS, seed))
            found.append(Part(split, [(split.train, split.validation)] if len(split.validation) else inner))
        return found


class Part(NamedTuple):
    """A split of the duels; for the choice of settings, rows to fit and rows to try."""

    split: Split
    choosing: Sequence[tuple[IntArray, IntArray]]


class RunScores(NamedTuple):
    """One run under one variant: rows of `runs.parquet`, and the settings chosen in each split.

    tested: by model, the tested duels of each split; empty where duels are mirrored before the split.
    """

    rows: list[dict[str, Any]]
    chosen: list[dict[str, Any]]
    chosen_baselines: list[dict[str, Any]]
    tested: dict[str, list[ScoredDuels]]


@task(name="score a run", cache_policy=NO_CACHE)
def score_run(run: int, variant: ScoredVariant, trial: DuelTrial) -> RunScores:
    """Choose, fit and score every model in each split of a run; the tested duels of its folds are pooled."""
    one_blas_thread()
    found = score_models(trial, run, variant)
    advance(SCORING)
    return found


def score_models(trial: DuelTrial, run: int, variant: ScoredVariant) -> RunScores:
    """Like `score_run`, without Prefect. No rows if no duel can be tested, as where items held out never met."""
    duels = trial.duels(variant)
    parts = trial.parts(duels, variant, run)
    if not parts:
        return RunScores([], [], [], {})
    found: dict[tuple[str, int], Chosen] = {}
    tested: dict[str, list[_Tested]] = {}
    kinds = trial.scored_models(variant)
    for kind in sorted(kinds, key=lambda kind: kind in PLAIN):
        for number, part in enumerate(parts):
            choice = _choose(kind, duels, part, trial, run, variant, found.get((PLAIN.get(kind, kind), number)))
            found[kind, number] = choice
            model, test = fit(choice.unfitted(duels), duels, part.split.train), part.split.test
            tested.setdefault(kind, []).append(_Tested(preference(model, duels, test), probability(model, duels, test)))
    plain: dict[tuple[str, int], ChosenBaseline] = {}
    beside = trial.baselines(duels, variant)
    for name in beside:
        for number, part in enumerate(parts):
            plain[name, number] = choose_baseline(name, duels, part.choosing)
            baseline, test = DuelBaseline(plain[name, number], duels).fit(part.split.train), part.split.test
            tested.setdefault(name, []).append(_Tested(baseline.preference(test), baseline.probability(test)))
    left_wins = np.concatenate([part.split.left_wins for part in parts])
    sizes = {
        "duels": len(left_wins),
        "trained": sum(len(part.split.train) for part in parts) / len(parts),
        "splits": len(parts),
    }
    rows = [
        {"run": run, "variant": variant, "model": each, **_pooled(tested[each], left_wins), **sizes}
        for each in (*kinds, *beside)
    ]
    where = {"run": run, "variant": variant}
    return RunScores(
        rows,
        [{**where, "split": number, **each.model_dump(mode="json")} for (_, number), each in found.items()],
        [{**where, "split": number, **each.model_dump(mode="json")} for (_, number), each in plain.items()],
        _scored(tested, parts) if variant == SPLIT_FIRST else {},
    )


def _scored(tested: Mapping[str, Sequence[_Tested]], parts: Sequence[Part]) -> dict[str, list[ScoredDuels]]:
    return {
        model: [ScoredDuels(part.split.test, each.preference) for part, each in zip(parts, of_model, strict=True)]
        for model, of_model in tested.items()
    }


class _Tested(NamedTuple):
    """Preferences for the winners of n tested duels, (n,), and their probabilities, (n,)."""

    preference: FloatArray
    probability: FloatArray


def _pooled(tested: Sequence[_Tested], left_wins: BoolArray) -> dict[str, float]:
    preferences, chances = (np.concatenate(each) for each in zip(*tested, strict=True))
    return measure(preferences, chances, left_wins)


def _choose(
    kind: DuelModel,
    duels: Duels,
    part: Part,
    trial: DuelTrial,
    run: int,
    variant: ScoredVariant,
    plain: Chosen | None,
) -> Chosen:
    """The settings of a model; for items held out, those that are best for other items held out."""
    seed = trial.seed + run
    if variant != UNSEEN_ITEMS:
        return choose(kind, duels, part.split, trial.tuning, seed=seed, plain=plain)
    if trial.folds is not None:
        return choose(kind, duels, part.split, trial.tuning, seed=seed, plain=plain, parts=part.choosing)
    [(fitted, tried)] = part.choosing
    inner = Split(fitted, tried, part.split.test, part.split.left_wins)
    return choose(kind, duels, inner, trial.tuning, seed=seed, plain=plain)


def measure(scores: FloatArray, chances: FloatArray, left_wins: BoolArray) -> dict[str, float]:
    """The metrics of n tested duels.

    scores: (n,) preference for the winner. chances: (n,) probability that the winner wins. left_wins: (n,) its side.
    """
    return {
        AUC: auc(scores),
        ACCURACY: float(accuracies(scores).accuracy[0]),
        BALANCED_ACCURACY: balanced_accuracy(scores, left_wins),
        LOG_LOSS: log_loss(chances),
    }


def write_scores(
    study: str, runs: Iterable[RunScores], pairs: IntArray, published: Sequence[Published], results: Path
) -> None:
    """Write the scores of a study and what was chosen for them. pairs: (m, 2) the two items of every duel.

    The files are `runs.parquet`, `chosen_models.json`, `chosen_baselines.json`, `metrics.json`,
    `comparisons.json`, `beside_plain.json` and `chosen_medians.json`.

    A published balanced accuracy without a variant is reported beside the variant nearest to the published protocol.
    """
    found = list(runs)
    scores = pd.DataFrame([row for run in found for row in run.rows])
    chosen = [each for run in found for each in run.chosen]
    write_parquet(results / f"{RUNS}.parquet", pa.Table.from_pandas(scores, preserve_index=False))
    write_json(results / f"{CHOSEN_MODELS}.json", chosen)
    write_json(results / f"{CHOSEN_BASELINES}.json", [each for run in found for each in run.chosen_baselines])
    variants = set(scores["variant"])
    nearest: tuple[SplitProtocol, ...] = (AS_PUBLISHED, MIRRORED_FIRST, SPLIT_FIRST)
    last = next(each for each in nearest if each in variants)
    rows = beside_published(_metrics(study, scores), [_with_variant(each, last) for each in published])
    write_metrics(results / "metrics.json", rows)
    tested = scored_models_of((run.tested for run in found), scores, pairs)
    write_comparisons(scores, tested, rows, last, results)
    write_beside_plain(scores, tested, results)
    write_medians(chosen, results)


def _metrics(study: str, scores: pd.DataFrame) -> list[MetricRow]:
    return [
        MetricRow(
            study=study, model=str(model), variant=str(variant), metric=metric, split="test",
            value=float(group[metric].mean()), sd=_sd(group[metric]), n=len(group),
        )
        for (variant, model), group in scores.groupby(["variant", "model"], sort=False)
        for metric in METRICS
    ]  # fmt: skip


def _with_variant(published: Published, last: SplitProtocol) -> Published:
    if published.metric != BALANCED_ACCURACY or published.variant is not None or last == SPLIT_FIRST:
        return published
    return published.model_copy(update={"variant": last})


def _sd(values: pd.Series[float]) -> float | None:
    return float(values.std()) if len(values) > 1 else None
