"""Rankability of the duels of a table, beside the published value."""

from __future__ import annotations

from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from models.records.duel_results import ALL_DUELS, CYCLIC_SHARE, NO_MODEL, RANKABILITY, SPEC_R, SpecRInterval
from models.records.results import MetricRow
from models.scores.rankability import dominance, mean_rankability, rankability, spec_r_interval, triads
from models.shap.findings import OTHER_MATCHES
from tasks.duels.read_duels import read_duels
from tasks.runs.results import add_metrics, write_json

OTHER_CONTEXTS = "other tournaments like these"
LEVEL = 0.95
"""Level of SpecR's interval."""


@task(name="measure rankability", cache_policy=NO_CACHE)
def write_rankability(
    study: str, table: Path, published: float | None, results: Path, *, resamples: int, seed: int, by_context: bool
) -> None:
    """Add SpecR and the share of cyclic triads to `metrics.json`, and write `rankability.json`.

    SpecR's sd is its standard error, from n samples. by_context: average SpecR over contexts, such as tournaments, and
    resample contexts; else sample duels. Triads are counted over all duels; n is their number.
    """
    duels = read_duels(table)
    n_items = len(duels.items)
    if by_context:
        found = mean_rankability(duels.comparisons, n_items, duels.context_of, resamples=resamples, seed=seed)
    else:
        found = rankability(duels.comparisons, n_items, resamples=resamples, seed=seed)
    lower, upper = spec_r_interval(found, level=LEVEL)
    over = OTHER_CONTEXTS if by_context else OTHER_MATCHES
    interval = SpecRInterval(spec_r=found.spec_r, lower=lower, upper=upper, level=LEVEL, over=over)
    write_json(results / f"{RANKABILITY}.json", interval.model_dump(mode="json"))
    counted = triads(dominance(duels.comparisons, n_items))
    row = MetricRow(study=study, model=NO_MODEL, variant=ALL_DUELS, metric=SPEC_R, split="all", value=None)
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
                    "metric": CYCLIC_SHARE,
                    "value": counted.share if counted.complete else None,
                    "n": counted.complete,
                }
            ),
        ],
    )
