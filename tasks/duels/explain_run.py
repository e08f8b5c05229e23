"""Explanations of a study's first run: its models are fitted again, and its held-out duels explained."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prefect import task, unmapped
from prefect.cache_policies import NO_CACHE

from data_adapters.table.parquet import read_table
from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.selection import Chosen, fit
from models.records.duel_results import CHOSEN_MODELS, SPLIT_FIRST, KernelModel
from models.scores.duel_splits import Duels, Split
from tasks.duels.explain_duels import check_duels, explain_duels, pooled
from tasks.duels.explanation_results import Explained, write_explanations, write_verdicts
from tasks.duels.explanation_settings import ExplainConfig, check_findings
from tasks.duels.refits import Portion, fit_portion, portions, read_refits
from tasks.duels.scoring import DuelTrial
from tasks.runs.progress import advance
from tasks.runs.run_folder import RunFolder
from tasks.runs.workers import one_blas_thread

REFITTING = "Fit again for intervals"


def explain_run(trial: DuelTrial, config: ExplainConfig, run: RunFolder) -> None:
    """Explain the first run's held-out duels by the models chosen there, and judge the published findings.

    The models are first fitted again to resampled data, in parallel. Without findings there is nothing to fit for.
    Reads `chosen_models.json`. Writes `explanations.parquet`, `explained_duels.parquet`, `explained.json` and
    `findings.json`.
    """
    if config.findings:
        work = portions(trial.folds or 1, config.refits)
        with run.step(REFITTING, total=len(work)):
            fit_again.map(work, unmapped(trial), unmapped(run.results), unmapped(run.work)).result()
    with run.step("Explain what decides"):
        explain(trial, config, run.results, run.work)


@task(name="fit again", cache_policy=NO_CACHE)
def fit_again(portion: Portion, trial: DuelTrial, results: Path, work: Path) -> Path:
    """Fit the models of one split of the first run to resampled data; see `tasks.duels.refits`."""
    one_blas_thread()
    path = fit_trial_again(portion, trial, read_chosen(results), work)
    advance(REFITTING)
    return path


@task(name="explain", cache_policy=NO_CACHE)
def explain(trial: DuelTrial, config: ExplainConfig, results: Path, work: Path) -> None:
    """Explain the first run's held-out duels, and judge the findings from the refits in `work`."""
    one_blas_thread()
    explained = explain_trial(trial, config, read_chosen(results), work if config.findings else None)
    write_explanations(explained, results)
    write_verdicts(config.findings, explained, results, n_items=int(trial.duels().names.max()) + 1)


def read_chosen(results: Path) -> list[Mapping[str, Any]]:
    """The settings that the runs chose."""
    chosen: list[Mapping[str, Any]] = json.loads((results / f"{CHOSEN_MODELS}.json").read_text(encoding="utf-8"))
    return chosen


def fit_trial_again(portion: Portion, trial: DuelTrial, chosen: Sequence[Mapping[str, Any]], work: Path) -> Path:
    """Like `fit_again`, without Prefect."""
    duels = trial.duels()
    split = trial.splits(duels, SPLIT_FIRST, run=0)[portion.split]
    models = {name: _fitted(name, portion.split, chosen, duels, split) for name in _models(trial)}
    return fit_portion(portion, models, duels, split, seed=trial.seed, work=work)


def explain_trial(
    trial: DuelTrial, config: ExplainConfig, chosen: Sequence[Mapping[str, Any]], work: Path | None = None
) -> list[Explained]:
    """Explain the first run's held-out duels, each fold by its own models, and by the refits in `work` if given.

    The models are the utility model and the preference model (the one with contexts, if there is one).
    """
    duels = trial.duels()
    names = _models(trial)
    named = _items_named(trial.table, config)
    parts = []
    for at, split in enumerate(trial.splits(duels, SPLIT_FIRST, run=0)):
        models = {name: _fitted(name, at, chosen, duels, split) for name in names}
        again = None if work is None else read_refits(at, config.refits, models, duels, seed=trial.seed, work=work)
        explained = explain_duels(
            config.kinds,
            models,
            duels,
            split.test,
            most=config.duels,
            settings=config.settings(trial.seed),
            items_named=named,
            refits=again,
        )
        parts.append(explained)
    return pooled(parts) if len(parts) > 1 else parts[0]


def check_explainable(trial: DuelTrial, config: ExplainConfig) -> None:
    """Raise UsageError if a kind has no duels or a finding no explanation; to be called before anything is fitted."""
    duels, named = trial.duels(), _items_named(trial.table, config)
    for split in trial.splits(duels, SPLIT_FIRST, run=0):
        check_duels(config.kinds, duels, split.test, items_named=named)
    contextual = {kind.name for kind in config.kinds if kind.by_contexts}
    explained = {
        (kind.name, model)
        for kind in config.kinds
        for model in _models(trial)
        if kind.name not in contextual or model == "c_gpm"
    }
    check_findings(config.findings, explained)


def _models(trial: DuelTrial) -> tuple[KernelModel, ...]:
    return ("c_gpm" if "c_gpm" in trial.models else "gpm", "upm")


def _fitted(
    name: KernelModel, at: int, chosen: Sequence[Mapping[str, Any]], duels: Duels, split: Split
) -> GPM | CGPM | UPM:
    wanted = {"run": 0, "variant": SPLIT_FIRST, "split": at, "model": name}
    [found] = [each for each in chosen if wanted.items() <= each.items()]
    choice = Chosen(**{field: value for field, value in found.items() if field in Chosen.model_fields})
    model = fit(choice.unfitted(duels), duels, split.train)
    assert isinstance(model, GPM | CGPM | UPM)
    return model


def _items_named(table_folder: Path, config: ExplainConfig) -> dict[str, int]:
    """Rows of items by label, or by id in a table without labels; empty unless some kind names an item.

    Labels of several items are left out.
    """
    if not any(kind.lost_by for kind in config.kinds):
        return {}
    items = read_table(table_folder).items
    labels = items["label" if "label" in items.column_names else "item_id"].to_pylist()
    times = Counter(labels)
    return {label: row for row, label in enumerate(labels) if label is not None and times[label] == 1}
