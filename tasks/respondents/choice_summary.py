"""What a choice experiment allows to say: how many choices, how many are held out, and gaps to published values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.records.published import gap
from models.records.results import MetricRow
from models.records.studies.respondent_results import (
    ACCURACY,
    CHOICE_SUMMARY,
    DISCARDED,
    TEST,
    ChoiceSummary,
)
from tasks.respondents.protocols import Protocol, read_respondents, split_comparisons
from tasks.respondents.scoring import Trial
from tasks.runs.results import METRICS, write_json


def choice_summary(
    metrics: Sequence[MetricRow], *, users: int, comparisons: int, held_out: int, comparable: bool
) -> ChoiceSummary:
    """What the metrics of a choice experiment allow to say.

    users, comparisons, held_out: how many there are; comparable: whether published values can be compared with.
    """
    accuracy = {row.variant: row.value for row in metrics if (row.metric, row.split) == (ACCURACY, TEST)}
    own = accuracy[DISCARDED]
    gaps = [gap(row.value, row.published) for row in metrics] if comparable else []
    sizes = [abs(each) for each in gaps if each is not None]
    return ChoiceSummary(
        comparisons_each=comparisons / users,
        held_out_each=held_out / users,
        training=comparisons - held_out,
        chance_sd=None if own is None or not held_out else float(np.sqrt(own * (1 - own) * users / held_out)),
        n_published=len(sizes),
        smallest_gap=min(sizes, default=None),
        largest_gap=max(sizes, default=None),
    )


def write_choice_summary(results: Path, trial: Trial, protocol: Protocol, *, comparable: bool) -> None:
    """Write `choice_summary.json` from the metrics of a run and the comparisons that its protocol held out."""
    metrics = METRICS.validate_json((results / "metrics.json").read_bytes())
    respondents = read_respondents(trial.table, trial.users)
    test = split_comparisons(respondents, protocol, trial.seed, trial.test_share).test
    summary = choice_summary(
        metrics,
        users=len(respondents.user_ids),
        comparisons=len(test),
        held_out=int(test.sum()),
        comparable=comparable,
    )
    write_json(results / f"{CHOICE_SUMMARY}.json", summary.model_dump(mode="json"))
