"""Comparisons of the ways of asking: which one is ahead, and what each changed choice does."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa

from models.asking.bandit import favourite_found
from models.records.studies.asking_results import (
    BANDIT,
    CHANGED_FROM,
    CHANGES,
    COMPARED,
    FOUND_SHARE,
    GP_QEUBO,
    MEASURES,
    QUESTION,
    RHO_REGRET,
    TREE_QEUBO,
    TREE_RANDOM,
    TREE_TOP_LEAF,
    WAY,
    AskingCompared,
)
from tasks.runs.results import write_json, write_parquet


def asking_changes(courses: pd.DataFrame) -> pd.DataFrame:
    """How each measure changes with a choice, after `BANDIT` and after all questions: one row a way and question.

    courses: as in `active_learning.parquet`. Columns: base, way, question, and the measures, changed minus base.
    """
    means = {(row[WAY], row[QUESTION]): row for row in courses.to_dict("records")}
    last = int(courses[QUESTION].max())
    rows = [
        {
            "base": base,
            WAY: way,
            QUESTION: question,
            **{name: means[way, question][name] - means[base, question][name] for name in MEASURES},
        }
        for base, ways in CHANGED_FROM.items()
        for way in ways
        for question in dict.fromkeys((BANDIT, last))
    ]
    return pd.DataFrame(rows)


def asking_compared(courses: pd.DataFrame) -> AskingCompared:
    """Compare the ways of asking after `BANDIT` questions; courses as in `active_learning.parquet`."""
    after = courses[courses[QUESTION] == BANDIT].set_index(WAY)
    regret, found = after[RHO_REGRET], after[FOUND_SHARE]
    finds, regrets = (each[TREE_TOP_LEAF] - each[TREE_QEUBO] for each in (found, regret))
    return AskingCompared(
        lower_regret=TREE_TOP_LEAF if regret[TREE_TOP_LEAF] < regret[GP_QEUBO] else GP_QEUBO,
        top_leaf_finds="more" if finds > 0 else "fewer",
        top_leaf_regret="higher" if regrets > 0 else "lower",
        random_ranks_best=bool(regret[TREE_RANDOM] < min(regret[TREE_TOP_LEAF], regret[TREE_QEUBO])),
        bandit=favourite_found(BANDIT + 1),
    )


def compare_courses(results: Path, courses: pd.DataFrame) -> None:
    """Write `asking_changes.parquet` and `asking_compared.json`."""
    changes = pa.Table.from_pandas(asking_changes(courses), preserve_index=False)
    write_parquet(results / f"{CHANGES}.parquet", changes)
    write_json(results / f"{COMPARED}.json", asking_compared(courses).model_dump(mode="json"))
