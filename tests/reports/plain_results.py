"""Made-up results of plain models beside the trees of a run."""

from __future__ import annotations

import json
from pathlib import Path

from models.baselines.beside import Beside
from models.records.results import BESIDE_PLAIN, MetricRow
from models.records.studies.respondent_results import (
    ACCURACIES,
    COIN,
    DIFFERENCE_LOGIT,
    GP,
    POOLED,
    TEST,
    UNSEEN_USERS,
)
from models.scores.comparing import Difference
from models.scores.intervals import OTHER_USERS

ACCURACY = {
    (COIN, TEST): 0.5, (COIN, UNSEEN_USERS): 0.5,
    (DIFFERENCE_LOGIT, TEST): 0.64, (DIFFERENCE_LOGIT, UNSEEN_USERS): 0.63,
    (POOLED, UNSEEN_USERS): 0.62,
}  # fmt: skip


def plain_metrics() -> list[MetricRow]:
    return [
        MetricRow(
            study="sushi", model=model, variant=model, metric=metric, split=split, value=value, sd=0.1, n=400,
            lower=value - 0.01, upper=value + 0.01, over=OTHER_USERS,
        )
        for (model, split), value in ACCURACY.items()
        for metric in ACCURACIES
    ]  # fmt: skip


def write_beside(results: Path) -> None:
    """Our best model is well above the logit on held-out choices, and not shown to differ on users never seen."""
    found = [
        Beside(
            variant=TEST, model=GP, plain=DIFFERENCE_LOGIT,
            difference=Difference(estimate=0.25, lower=0.23, upper=0.27, over=OTHER_USERS),
        ),
        Beside(
            variant=UNSEEN_USERS, model=POOLED, plain=DIFFERENCE_LOGIT,
            difference=Difference(estimate=0.01, lower=-0.01, upper=0.03, over=OTHER_USERS),
        ),
    ]  # fmt: skip
    document = [each.model_dump(mode="json") for each in found]
    (results / f"{BESIDE_PLAIN}.json").write_text(json.dumps(document), "utf-8")
