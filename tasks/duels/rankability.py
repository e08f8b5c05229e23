"""How near the duels of a table are to a ranking, beside what was published."""

from __future__ import annotations

from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from models.records.results import MetricRow
from models.scores.rankability import dominance, mean_rankability, rankability, triads
from tasks.duels.splits import read_duels
from tasks.runs.results import add_metrics

MODEL = "none"
"""Rankability is of the data, whatever model is fitted to it."""


@task(name="measure rankability", cache_policy=NO_CACHE)
def write_rankability(
    study: str, table: Path, published: float | None, results: Path, *, resamples: int, seed: int, by_context: bool
) -> None:
    """Add SpecR and the share of cyclic triads to `metrics.json`; sd is that of the bootstrap, n its size.

    by_context: the mean SpecR of the duels of each context, such as a tournament, over contexts resampled; else of all
    duels, resampled. Triads are counted over all duels: their row's n is how many there are.
    """
    duels = read_duels(table)
    n_items = len(duels.items)
    if by_context:
        found = mean_rankability(duels.comparisons, n_items, duels.context_of, resamples=resamples, seed=seed)
    else:
        found = rankability(duels.comparisons, n_items, resamples=resamples, seed=seed)
    counted = triads(dominance(duels.comparisons, n_items))
    row = MetricRow(study=study, model=MODEL, variant="all_duels", metric="spec_r", split="all", value=None)
    add_metrics(
        results / "metrics.json",
        [
            row.model_copy(
                update={
                    "value": found.spec_r,
                    "sd": found.sd,
                    "n": resamples,
                    "published": published,
                    "published_source": None if published is None else "pref-shap, Table 3",
                }
            ),
            row.model_copy(
                update={
                    "metric": "cyclic_share",
                    "value": counted.share if counted.complete else None,
                    "n": counted.complete,
                }
            ),
        ],
    )
