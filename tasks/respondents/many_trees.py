"""The features that the trees of many users ask about, and a gallery of some trees (dt-pbo, G.3 and G.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.records.studies.respondent_results import (
    ASKED,
    ASKED_FEATURES,
    FEATURE,
    FIRST,
    GALLERY,
    N_USERS,
    POOLED_TREE,
    SENSITIVE_FEATURES,
    USER_ID,
    SensitiveFeature,
)
from tasks.respondents.protocols import Protocol, Respondents, example_trees, fit_trees, read_respondents
from tasks.respondents.scoring import Trial
from tasks.runs.results import write_json, write_parquet

SHOWN = 4
"""Number of trees in the gallery."""


def asked_features(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float) -> pd.DataFrame:
    """The share of users' trees that ask about each feature: one row for each feature of the items.

    feature; asked: share of the trees with a split on it; first: share of the trees whose first question is about it;
    users: number of trees.
    """
    fitted = fit_trees(respondents, protocol, seed=seed, test_share=test_share)
    names = [feature.name for feature in respondents.table.item_features]
    of_column = np.array([names.index(column.feature) for column in fitted.columns_])
    trees, n_users = fitted.trees_, len(respondents.user_ids)
    splits = np.flatnonzero(trees.column >= 0)
    asks = np.zeros((n_users, len(names)), dtype=bool)
    asks[trees.tree[splits], of_column[trees.column[splits]]] = True
    roots = trees.column[:n_users]
    first = np.bincount(of_column[roots[roots >= 0]], minlength=len(names)) / n_users
    return pd.DataFrame({FEATURE: names, ASKED: asks.mean(axis=0), FIRST: first, N_USERS: n_users})


def gallery(
    respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float, shown: int = SHOWN
) -> dict[str, Any]:
    """Trees of some users, in even steps from the smallest to the largest tree that asks anything."""
    sizes = fit_trees(respondents, protocol, seed=seed, test_share=test_share).n_leaves_
    by_size = np.argsort(sizes, kind="stable")[(sizes == 1).sum() :]
    places = np.unique(np.linspace(0, len(by_size) - 1, min(shown, len(by_size))).round().astype(int))
    users = [respondents.user_ids[by_size[place]] for place in places]
    trees = [
        example_trees(respondents, {"tree": protocol}, user, seed=seed, test_share=test_share)["trees"]["tree"]
        for user in users
    ]
    return {"trees": [{USER_ID: user, "tree": tree} for user, tree in zip(users, trees, strict=True)]}


def sensitive_features(
    asked: pd.DataFrame, sensitive: Sequence[str], pooled: Mapping[str, Any] | None
) -> list[SensitiveFeature]:
    """Whether the users' trees, and the one for all, depend on each sensitive feature that the items have.

    asked: as `asked_features` returns it; pooled: the document of the tree for all, None if there is none.
    """
    shares = dict(zip(asked[FEATURE], asked[ASKED].tolist(), strict=True))
    splits = [] if pooled is None else [node["column"] for node in pooled["nodes"] if node["column"] is not None]
    used = {pooled["columns"][at][FEATURE] for at in splits} if pooled is not None else set()
    return [
        SensitiveFeature(feature=name, asked=shares[name], in_pooled_tree=None if pooled is None else name in used)
        for name in sensitive
        if name in shares
    ]


@task(name="describe trees", cache_policy=NO_CACHE)
def describe_trees(trial: Trial, protocol: Protocol, results: Path, sensitive: Sequence[str] = ()) -> None:
    """Write the features that trees ask about to `asked_features.parquet`, and some trees to `gallery.json`.

    sensitive: features for which `sensitive_features.json` says whether trees depend on them.
    """
    respondents = read_respondents(trial.table, trial.users)
    asked = asked_features(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
    write_parquet(results / f"{ASKED_FEATURES}.parquet", pa.Table.from_pandas(asked, preserve_index=False))
    file = results / f"{POOLED_TREE}.json"
    pooled = json.loads(file.read_text("utf-8")) if file.is_file() else None
    depends = [each.model_dump(mode="json") for each in sensitive_features(asked, sensitive, pooled)]
    write_json(results / f"{SENSITIVE_FEATURES}.json", depends)
    write_json(
        results / f"{GALLERY}.json", gallery(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
    )
