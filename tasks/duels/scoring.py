"""Models of duels scored over several runs, splits before mirroring and after it, beside what was published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.records.arrays import BoolArray, FloatArray
from models.records.base import Record
from models.records.results import MetricRow
from models.scores.accuracy import accuracies
from models.scores.discrimination import auc, balanced_accuracy, log_loss
from tasks.duels.models import PLAIN, Chosen, DuelModel, Tuning, choose, fit, preference, probability
from tasks.duels.splits import Duels, Split, SplitProtocol, hold_out, in_folds, read_duels
from tasks.runs.progress import advance
from tasks.runs.results import write_json, write_metrics, write_parquet
from tasks.runs.workers import one_blas_thread

SCORING = "Choose, fit and score"

METRICS = ("auc", "accuracy", "balanced_accuracy", "log_loss")


class DuelTrial(Record):
    """What models are scored on, and how.

    models: scored on duels that are split first; mirrored: those scored as was published too. published_table: has also
    the duels that were published and never had an outcome.
    folds: of a cross-validation, which keeps no duels for validation; None holds out one part for it and one to test.
    leave_out, sides: see `tasks.duels.splits.read_duels`.
    """

    table: Path
    published_table: Path | None = None
    models: tuple[DuelModel, ...]
    mirrored: tuple[DuelModel, ...] = ()
    tuning: Tuning
    seed: int
    folds: int | None = None
    validation_share: float = 0.1
    test_share: float = 0.1
    leave_out: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()

    def duels(self, protocol: SplitProtocol = "split_first") -> Duels:
        """The duels of the table, or of the published one."""
        table = self.published_table if protocol == "as_published" else self.table
        if table is None:
            raise ValueError("this trial has no published table")
        return read_duels(table, leave_out=self.leave_out, sides=self.sides)

    def splits(self, duels: Duels, protocol: SplitProtocol, run: int) -> list[Split]:
        """The splits of a run: one, or one a fold."""
        seed = self.seed + run
        if self.folds is not None:
            return in_folds(duels, protocol, self.folds, seed=seed)
        shares = {"validation_share": self.validation_share, "test_share": self.test_share}
        return [hold_out(duels, protocol, seed=seed, **shares)]


class Published(NamedTuple):
    """A value of the paper's Table 3, and its model."""

    model: str
    value: float


class RunScores(NamedTuple):
    """Rows of `runs.parquet`, and what was chosen in each split, of one run under one protocol."""

    rows: list[dict[str, Any]]
    chosen: list[dict[str, Any]]


@task(name="score a run", cache_policy=NO_CACHE)
def score_run(run: int, protocol: SplitProtocol, trial: DuelTrial) -> RunScores:
    """Choose, fit and score every model in each split of a run; the tested duels of its folds are pooled."""
    one_blas_thread()
    found = score_models(trial, run, protocol)
    advance(SCORING)
    return found


def score_models(trial: DuelTrial, run: int, protocol: SplitProtocol) -> RunScores:
    """As `score_run` does, without Prefect."""
    duels = trial.duels(protocol)
    splits = trial.splits(duels, protocol, run)
    rows, chosen = [], []
    found: dict[tuple[DuelModel, int], Chosen] = {}
    kinds = trial.models if protocol == "split_first" else trial.mirrored
    for kind in sorted(kinds, key=lambda kind: kind in PLAIN):
        scores: list[FloatArray] = []
        chances: list[FloatArray] = []
        for number, split in enumerate(splits):
            plain = found.get((PLAIN.get(kind, kind), number))
            choice = choose(kind, duels, split, trial.tuning, seed=trial.seed + run, plain=plain)
            found[kind, number] = choice
            model = fit(choice.unfitted(duels), duels, split.train)
            scores.append(preference(model, duels, split.test))
            chances.append(probability(model, duels, split.test))
            chosen.append({"run": run, "variant": protocol, "split": number, **choice.model_dump(mode="json")})
        left_wins = np.concatenate([split.left_wins for split in splits])
        measured = measure(np.concatenate(scores), np.concatenate(chances), left_wins)
        rows.append({"run": run, "variant": protocol, "model": kind, **measured, "duels": len(left_wins)})
    return RunScores(sorted(rows, key=lambda row: kinds.index(row["model"])), chosen)


def measure(scores: FloatArray, chances: FloatArray, left_wins: BoolArray) -> dict[str, float]:
    """The metrics of tested duels (n,): preferences for the winner, probabilities of what happened, and sides."""
    return {
        "auc": auc(scores),
        "accuracy": float(accuracies(scores).accuracy[0]),
        "balanced_accuracy": balanced_accuracy(scores, left_wins),
        "log_loss": log_loss(chances),
    }


def write_scores(study: str, runs: Iterable[RunScores], published: Sequence[Published], results: Path) -> None:
    """Write `runs.parquet`, a row a run, protocol and model; `chosen_models.json`; and `metrics.json`.

    What was published as test AUC stands beside the balanced accuracy after mirroring, which is what it is, of the data
    that were published where they were scored.
    """
    found = list(runs)
    scores = pd.DataFrame([row for run in found for row in run.rows])
    write_parquet(results / "runs.parquet", pa.Table.from_pandas(scores, preserve_index=False))
    write_json(results / "chosen_models.json", [chosen for run in found for chosen in run.chosen])
    known = dict(published)
    leaking = "as_published" if "as_published" in set(scores["variant"]) else "mirrored_first"
    rows = []
    for (variant, model), group in scores.groupby(["variant", "model"], sort=False):
        for metric in METRICS:
            is_published = variant == leaking and metric == "balanced_accuracy" and model in known
            rows.append(
                MetricRow(
                    study=study, model=str(model), variant=str(variant), metric=metric, split="test",
                    value=float(group[metric].mean()), sd=_sd(group[metric]), n=len(group),
                    published=known[str(model)] if is_published else None,
                    published_source="pref-shap, Table 3 (its test AUC)" if is_published else None,
                )
            )  # fmt: skip
    write_metrics(results / "metrics.json", rows)


def _sd(values: pd.Series[float]) -> float | None:
    return float(values.std()) if len(values) > 1 else None
