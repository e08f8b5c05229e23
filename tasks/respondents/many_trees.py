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

from models.records.arrays import FloatArray, IntArray
from models.records.features import FeatureKind
from models.records.studies.respondent_results import (
    ASKED,
    ASKED_FEATURES,
    FEATURE,
    FIRST,
    GALLERY,
    N_USERS,
    POOLED_TREE,
    POSSIBLE,
    SENSITIVE_FEATURES,
    SUPPORT,
    USER_ID,
    SensitiveFeature,
)
from models.trees.preference_tree import PreferenceTree, PreferenceTrees
from models.trees.support import split_support
from tasks.respondents.protocols import (
    FittedRows,
    Protocol,
    Respondents,
    example_trees,
    fit_trees,
    fit_with_rows,
    read_respondents,
)
from tasks.respondents.scoring import Trial
from tasks.runs.results import write_json, write_parquet

SHOWN = 4
"""Number of trees in the gallery."""
BOOTSTRAPS, MOST_SUPPORTED = 100, 100
"""Bootstraps of each tree's first question, and the most trees whose first question is drawn again."""


def asked_features(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float) -> pd.DataFrame:
    """The share of users' trees that ask about each feature: one row for each feature of the items.

    feature; asked: share of the trees with a split on it; first: share of the trees whose first question is about it;
    possible: share of the trees that could ask about it; support: the share of bootstraps of a user's choices that ask
    about the same feature first, mean over (some of) the trees that do; missing if none does, or if straddlers are
    kept; users: number of trees. The shares do not depend on the order of the columns if ties are broken at random.
    """
    fitted, rows = fit_with_rows(respondents, protocol, seed=seed, test_share=test_share)
    names = [feature.name for feature in respondents.table.item_features]
    of_column = np.array([names.index(column.feature) for column in fitted.columns_])
    trees, n_users = fitted.trees_, len(respondents.user_ids)
    splits = np.flatnonzero(trees.column >= 0)
    asks = np.zeros((n_users, len(names)), dtype=bool)
    asks[trees.tree[splits], of_column[trees.column[splits]]] = True
    roots = trees.column[:n_users]
    asked_first = np.where(roots >= 0, of_column[roots], -1)
    first = np.bincount(asked_first[asked_first >= 0], minlength=len(names)) / n_users
    possible = possible_to_ask(fitted, rows, names)
    support = _first_support(fitted, rows, asked_first, len(names), seed)
    return pd.DataFrame(
        {
            FEATURE: names,
            ASKED: asks.mean(axis=0),
            FIRST: first,
            POSSIBLE: possible,
            SUPPORT: support,
            N_USERS: n_users,
        }
    )


def possible_shares(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float) -> dict[str, float]:
    """By feature, the share of the users' trees that could ask about it."""
    fitted, rows = fit_with_rows(respondents, protocol, seed=seed, test_share=test_share)
    names = [feature.name for feature in respondents.table.item_features]
    return dict(zip(names, possible_to_ask(fitted, rows, names).tolist(), strict=True))


def possible_to_ask(fitted: PreferenceTrees, rows: FittedRows, names: Sequence[str]) -> FloatArray:
    """The share of the trees that could ask about each feature, (f,).

    A tree could if at one of its splits the items differ in one of the feature's columns, and if that is categorical,
    have no more categories than a split may have.
    """
    trees = fitted.trees_
    could = np.zeros((len(trees.n_leaves), len(names)), dtype=bool)
    node = np.asarray(trees.node_of(rows.items, rows.tree_of_item))
    while (node >= 0).any():
        node = np.where(node >= 0, trees.parent[np.maximum(node, 0)], -1)
        inside = np.flatnonzero(node >= 0)
        for at, column in enumerate(fitted.columns_):
            known = inside[~np.isnan(rows.items[inside, at])]
            held = np.unique(np.stack([node[known], rows.items[known, at]]), axis=1)[0].astype(np.int64)
            different = np.bincount(held, minlength=len(trees.tree))
            most = fitted.max_categories if column.kind is FeatureKind.CATEGORICAL else None
            able = np.flatnonzero((different > 1) & (different <= (most or len(rows.items))))
            could[trees.tree[able], names.index(column.feature)] = True
    return np.asarray(could.mean(axis=0))


def _first_support(
    fitted: PreferenceTrees, rows: FittedRows, first: IntArray, n_features: int, seed: int
) -> FloatArray:
    """Mean bootstrap support of the first questions about each feature, (f,); NaN where there are none.

    first: (t,) the feature of each tree's first question, -1 if it asks nothing. Of more than MOST_SUPPORTED trees, as
    many are taken in even steps.
    """
    mean = np.full(n_features, np.nan)
    asking = np.flatnonzero(first >= 0)
    if fitted.straddlers != "discard" or not len(asking):
        return mean
    some = asking[np.unique(np.linspace(0, len(asking) - 1, min(MOST_SUPPORTED, len(asking))).round().astype(int))]
    owner = rows.tree_of_item[rows.comparisons[:, 0]]
    stump = {**fitted.get_params(), "max_depth": 1}
    support = []
    for user in some.tolist():
        own = np.flatnonzero(rows.tree_of_item == user)
        pairs = np.searchsorted(own, rows.comparisons[owner == user])
        tree = PreferenceTree(**{**stump, "random_state": rows.seeds[user]}).fit(rows.items[own], pairs)
        support.append(split_support(tree, rows.items[own], pairs, n_bootstraps=BOOTSTRAPS, seed=seed)[0].feature)
    for feature in np.unique(first[some]).tolist():
        mean[feature] = np.mean(np.array(support)[first[some] == feature])
    return mean


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
    shares = {
        name: share if possible else None
        for name, share, possible in zip(asked[FEATURE], asked[ASKED].tolist(), asked[POSSIBLE].tolist(), strict=True)
    }
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
