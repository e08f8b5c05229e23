"""Comparisons of the ways of asking, paired over the users that both ways asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from models.asking.bandit import favourite_found
from models.records.studies.asking_results import (
    BANDIT,
    BASE,
    CHANGED_FROM,
    CHANGES,
    COMPARED,
    COMPARED_WITH,
    DIFFERENCE,
    FOUND_SHARE,
    MEASURE,
    QUESTION,
    RHO_REGRET,
    TOP1_ERROR,
    WAY,
    AskingCompared,
)
from models.records.studies.respondent_results import USER_ID
from models.scores.comparing import mean_difference
from models.scores.intervals import OTHER_USERS
from tasks.asking.ways_of_asking import FOUND
from tasks.runs.results import write_json, write_parquet

OF_USER: Mapping[str, str] = {RHO_REGRET: RHO_REGRET, TOP1_ERROR: TOP1_ERROR, FOUND_SHARE: FOUND}
"""For each measure, the column of one user's value."""


def paired_differences(
    judged: pd.DataFrame, base: pd.DataFrame, questions: Iterable[int], *, over: str = OTHER_USERS
) -> list[dict[str, Any]]:
    """Each measure of one way of asking minus that of another: a row a measure and question, with its interval.

    judged, base: a row for each user and question, as `ask` returns it; users that only one of them has are left out.
    """
    both = judged.merge(base, on=[USER_ID, QUESTION], suffixes=("", "_base"))
    rows = []
    for question in questions:
        after = both[both[QUESTION] == question]
        for measure, column in OF_USER.items():
            difference = mean_difference(
                after[column].to_numpy(float) - after[f"{column}_base"].to_numpy(float), over=over
            )
            fields = {name: getattr(difference, name) for name in DIFFERENCE}
            rows.append({QUESTION: question, MEASURE: measure, **fields})
    return rows


def asking_changes(judged: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How each way of asking differs from the one it is compared with, after `BANDIT` and after all questions.

    judged: for each way a row for each user and question. Columns: way, base, question, measure, and the difference.
    """
    last = max(int(each[QUESTION].max()) for each in judged.values())
    questions = tuple(dict.fromkeys((BANDIT, last)))
    return pd.DataFrame(
        [
            {WAY: way, BASE: base, **row}
            for compared in (CHANGED_FROM, COMPARED_WITH)
            for base, ways in compared.items()
            for way in ways
            for row in paired_differences(judged[way], judged[base], questions)
        ]
    )


def compare_courses(results: Path, judged: Mapping[str, pd.DataFrame]) -> None:
    """Write `asking_changes.parquet` and `asking_compared.json`."""
    changes = pa.Table.from_pandas(asking_changes(judged), preserve_index=False)
    write_parquet(results / f"{CHANGES}.parquet", changes)
    compared = AskingCompared(bandit=favourite_found(BANDIT + 1))
    write_json(results / f"{COMPARED}.json", compared.model_dump(mode="json"))
