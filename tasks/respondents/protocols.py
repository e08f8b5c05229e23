"""One tree for each respondent under a protocol: how comparisons are split, items encoded, and trees grown."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table
from models.numerics.hashing import HashArray, hash_texts
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.base import Record
from models.records.features import Encoded
from models.records.results import MetricRow
from models.records.studies.respondent_results import (
    ACCURACIES,
    ACCURACY,
    DEPTH,
    DISCARDED,
    KEPT,
    LEAVES,
    N_USERS,
    TEST,
    TEST_ACCURACY,
    TRAIN,
    TREE_MODEL,
    USER_ID,
)
from models.scores.accuracy import accuracies
from models.scores.holdout import hold_out_items, hold_out_pairs
from models.scores.intervals import OTHER_USERS, mean_interval
from models.trees.growth.options import StraddlersSetting
from models.trees.growth.splits import TieBreak
from models.trees.preference_tree import PreferenceTree, PreferenceTrees
from tasks.tables.encode import CategoricalEncoding, encode

Split = Literal["pair", "item"]
Encoding = Literal["categorical_3", "categorical", "codes", "one_hot"]

TABLE_ENCODINGS: Mapping[Encoding, CategoricalEncoding] = {
    "categorical_3": "categories",
    "categorical": "categories",
    "codes": "codes",
    "one_hot": "one_hot",
}


class Protocol(Record):
    """How trees are grown and scored.

    tie_break: at random by default. With `lowest`, the feature that stands first in the table wins ties, and so the
    features that trees ask about follow the order of its columns.
    encoding: how the tree is given categorical features: as categories, split if a node holds at most three of them
    (categorical_3) or any number (categorical), as code numbers (codes), or as one binary column a level (one_hot).
    max_depth: of a tree, None for any.
    """

    straddlers: StraddlersSetting = "discard"
    split: Split = "pair"
    tie_break: TieBreak = "random"
    encoding: Encoding = "categorical_3"
    ratio: float = 0.25
    max_depth: int | None = None

    @property
    def choices(self) -> dict[str, Any]:
        """The choices that the grid varies; it does not limit the depth."""
        return self.model_dump(exclude={"max_depth"})

    def with_encoding(self, encoding: Encoding) -> Protocol:
        """The same protocol with another encoding of categorical features."""
        return self.model_copy(update={"encoding": encoding})

    @property
    def variant(self) -> str:
        """The name of the variant in the metrics."""
        return DISCARDED if self.straddlers == "discard" else KEPT


def protocol_grid(ratios: tuple[float, ...] = (0.0625, 0.25, 1.0)) -> tuple[Protocol, ...]:
    """All combinations of straddlers, splits, tie rules, encodings and the given ratios."""
    return tuple(
        Protocol(straddlers=straddlers, split=split, tie_break=tie_break, encoding=encoding, ratio=ratio)
        for straddlers, split, tie_break, encoding, ratio in itertools.product(
            ("discard", "keep"),
            ("pair", "item"),
            ("lowest", "widest_gap", "random"),
            ("categorical_3", "categorical", "codes", "one_hot"),
            ratios,
        )
    )


@dataclass(frozen=True, eq=False)
class Respondents:
    """The comparisons of some users; user_keys, a hash of each user's id, seeds what is random about that user."""

    table: PairwiseTable
    encoded: dict[CategoricalEncoding, Encoded]
    users: IntArray
    comparisons: IntArray
    user_ids: tuple[str, ...]
    user_keys: HashArray


def read_respondents(table_folder: Path, users: int | None = None) -> Respondents:
    """Read a table with users from its folder; only the first `users` of them if given."""
    table = read_table(table_folder)
    categorical = [feature.name for feature in table.item_features if feature.kind == "categorical"]
    ways: tuple[CategoricalEncoding, ...] = ("categories", "codes", "one_hot")
    encoded = {way: encode(table, categorical=dict.fromkeys(categorical, way)) for way in ways}
    default = encoded["categories"]
    if default.users is None or default.user_ids is None:
        raise ValueError(f"the table {table.name} has no users, so there is no tree for each of them")
    mine = default.users < (len(default.user_ids) if users is None else users)
    user_ids = tuple(str(user) for user in default.user_ids[:users])
    return Respondents(table, encoded, default.users[mine], default.comparisons[mine], user_ids, hash_texts(user_ids))


@dataclass(frozen=True, eq=False)
class SplitComparisons:
    """Comparisons between rows, where each item of each user is a row of its own; test: which are held out."""

    user_of_row: IntArray
    item_of_row: IntArray
    comparisons: IntArray
    test: BoolArray


def _held_out(respondents: Respondents, protocol: Protocol, seed: int, test_share: float) -> BoolArray:
    hold_out = hold_out_pairs if protocol.split == "pair" else hold_out_items
    return hold_out(respondents.comparisons, respondents.users, respondents.user_keys, share=test_share, seed=seed)


def split_comparisons(respondents: Respondents, protocol: Protocol, seed: int, test_share: float) -> SplitComparisons:
    """The comparisons, with a mark on those that a protocol holds out; the same for every model."""
    users, comparisons = respondents.users, respondents.comparisons
    test = _held_out(respondents, protocol, seed, test_share)
    n_items = len(respondents.table.items)
    keys = users[:, None] * n_items + comparisons
    rows = np.unique(keys)
    user_of_row, item_of_row = np.divmod(rows, n_items)
    return SplitComparisons(user_of_row, item_of_row, np.searchsorted(rows, keys), test)


def _tree_parameters(protocol: Protocol) -> dict[str, Any]:
    return {
        "straddlers": protocol.straddlers,
        "tie_break": protocol.tie_break,
        "ratio": protocol.ratio,
        "max_depth": protocol.max_depth,
        "max_categories": 3 if protocol.encoding == "categorical_3" else None,
    }


@dataclass(frozen=True, eq=False)
class FittedRows:
    """What each user's tree was fitted to: items (m, d), comparisons (n, 2) rows of items, tree_of_item (m,).

    seeds: of each tree's random tie rule, (t,).
    """

    items: FloatArray
    comparisons: IntArray
    tree_of_item: IntArray
    seeds: list[int]


def fit_trees(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float = 0.2) -> PreferenceTrees:
    """Fit each user's tree to her training comparisons, the trees in the order of `respondents.user_ids`."""
    return fit_with_rows(respondents, protocol, seed=seed, test_share=test_share)[0]


def fit_with_rows(
    respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float = 0.2
) -> tuple[PreferenceTrees, FittedRows]:
    """Fit each user's tree as `fit_trees` does, and return also what it was fitted to."""
    return fit_split(respondents, protocol, split_comparisons(respondents, protocol, seed, test_share), seed=seed)


def fit_split(
    respondents: Respondents, protocol: Protocol, split: SplitComparisons, *, seed: int
) -> tuple[PreferenceTrees, FittedRows]:
    """Fit each user's tree to the comparisons that a split does not hold out, and return what it was fitted to."""
    encoded = respondents.encoded[TABLE_ENCODINGS[protocol.encoding]]
    known = _rows_known_in_training(split, protocol)
    place = np.cumsum(known) - 1
    keys = respondents.user_keys.astype(np.int64)
    rows = FittedRows(
        encoded.items[split.item_of_row][known],
        place[split.comparisons[~split.test]],
        split.user_of_row[known],
        [seed + key for key in keys.tolist()],
    )
    trees = PreferenceTrees(encoded.columns, random_state=seed, **_tree_parameters(protocol)).fit(
        rows.items, rows.comparisons, rows.tree_of_item, n_trees=len(respondents.user_ids), seeds=keys
    )
    return trees, rows


def score_protocol(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float = 0.2) -> pd.DataFrame:
    """Fit each user's tree to her training comparisons and score it on them and on the held-out ones.

    Returns one row for each user: user_id, accuracy, strict_accuracy and decided_share of both parts, leaves, depth.
    """
    trees = fit_trees(respondents, protocol, seed=seed, test_share=test_share)
    split = split_comparisons(respondents, protocol, seed, test_share)
    scores = accuracies_of_users(respondents, utility_differences(respondents, protocol, split, trees), split.test)
    return pd.DataFrame({**scores, LEAVES: trees.n_leaves_, DEPTH: trees.depth_})


def utility_differences(
    respondents: Respondents, protocol: Protocol, split: SplitComparisons, trees: PreferenceTrees
) -> FloatArray:
    """The utility of winner minus loser of every comparison (n,), by the tree of its user."""
    items = respondents.encoded[TABLE_ENCODINGS[protocol.encoding]].items[split.item_of_row]
    utility = trees.predict(items, split.user_of_row)[split.comparisons]
    return np.asarray(utility[:, 0] - utility[:, 1])


def score_pooled(
    respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float = 0.2
) -> tuple[PreferenceTree, pd.DataFrame]:
    """Fit one tree to the training comparisons of all users, and score it on each user's comparisons.

    Holds out the same comparisons of each user as `score_protocol` does.
    """
    test = _held_out(respondents, protocol, seed, test_share)
    tree, difference = fit_pooled(respondents, protocol, ~test, seed=seed)
    scores = accuracies_of_users(respondents, difference, test)
    return tree, pd.DataFrame({**scores, LEAVES: tree.n_leaves_, DEPTH: tree.depth_})


def fit_pooled(
    respondents: Respondents, protocol: Protocol, train: BoolArray, *, seed: int
) -> tuple[PreferenceTree, FloatArray]:
    """One tree fitted to the comparisons in `train` (n,), and the utility of winner minus loser of all of them (n,)."""
    encoded = respondents.encoded[TABLE_ENCODINGS[protocol.encoding]]
    seen, pairs = np.unique(respondents.comparisons, return_inverse=True)
    items, pairs = encoded.items[seen], pairs.reshape(respondents.comparisons.shape)
    tree = PreferenceTree(encoded.columns, random_state=seed, **_tree_parameters(protocol))
    return tree, tree.fit(items, pairs[train]).decision_function(items, pairs)


def accuracies_of_users(respondents: Respondents, difference: FloatArray, test: BoolArray) -> dict[str, Any]:
    """Columns with the accuracies of each user, from the predicted difference of each comparison (n,)."""
    scores: dict[str, Any] = {USER_ID: respondents.user_ids}
    for part, rows in ((TRAIN, ~test), (TEST, test)):
        found = accuracies(difference[rows], respondents.users[rows], len(respondents.user_ids))
        scores |= {f"{part}_{name}": values for name, values in zip(ACCURACIES, found, strict=True)}
    return scores


def _rows_known_in_training(split: SplitComparisons, protocol: Protocol) -> BoolArray:
    """The rows a tree may see, (m,): all of them, or those of training comparisons if items are held out."""
    known = np.full(len(split.user_of_row), protocol.split == "pair")
    known[split.comparisons[~split.test]] = True
    return known


def summarise_protocol(protocol: Protocol, scores: pd.DataFrame) -> dict[str, Any]:
    """A protocol with its means over users: one row of `protocols.parquet`."""
    means: dict[str, Any] = {}
    for part, name in itertools.product((TRAIN, TEST), ACCURACIES):
        means[f"{part}_{name}"] = float(scores[f"{part}_{name}"].mean())
        if name == ACCURACY:
            means[f"{part}_{name}_sd"] = float(scores[f"{part}_{name}"].std())
    size = {name: float(scores[name].mean()) for name in (LEAVES, DEPTH)}
    return {**protocol.choices, **means, **size, N_USERS: len(scores)}


def metric_rows(study: str, variant: str, scores: pd.DataFrame, *, model: str = TREE_MODEL) -> tuple[MetricRow, ...]:
    """The rows of `metrics.json` of one variant: mean, standard deviation over users, and the mean's interval."""
    measured = [(name, part, f"{part}_{name}") for part in (TRAIN, TEST) for name in ACCURACIES]
    measured += [(LEAVES, TRAIN, LEAVES), (DEPTH, TRAIN, DEPTH)]
    return tuple(
        MetricRow(
            study=study,
            model=model,
            variant=variant,
            metric=metric,
            split=part,
            value=float(scores[column].mean()),
            sd=float(scores[column].std()),
            n=int(scores[column].count()),
            **over_users(scores[column], share=metric in ACCURACIES),
        )
        for metric, part, column in measured
    )


def over_users(values: pd.Series[float], *, share: bool) -> dict[str, Any]:
    """The interval of the mean of one value a user over other users, as fields of a metric.

    There is none for a single user, or where all have the same value: then nothing shows how far others vary.
    share: whether the values are shares, so that no mean is below 0 or above 1.
    """
    known = values.dropna().to_numpy(float)
    if len(known) < 2 or np.ptp(known) == 0:
        return {}
    found = mean_interval(known.mean(keepdims=True), known.std(ddof=1, keepdims=True), np.array([len(known)]))
    lower, upper = found.within(0.0, 1.0) if share else found
    return {"lower": float(lower[0]), "upper": float(upper[0]), "over": OTHER_USERS}


def typical_user(scores: pd.DataFrame) -> str:
    """The first user with a tree of median size whose test accuracy is nearest to the median."""
    size, accuracy = scores[LEAVES].to_numpy(), scores[TEST_ACCURACY].to_numpy()
    usual = np.flatnonzero(size == np.sort(size)[len(size) // 2])
    # Written accuracies are rounded, which must not decide between two that are equally far on either side.
    nearest = np.nanargmin(np.round(np.abs(accuracy[usual] - np.nanmedian(accuracy)), 9))
    return str(scores[USER_ID].iloc[int(usual[nearest])])


def example_trees(
    respondents: Respondents, protocols: Mapping[str, Protocol], user_id: str, *, seed: int, test_share: float = 0.2
) -> dict[str, Any]:
    """One user's trees under some protocols, with her items by preference: the document `example_tree.json`.

    Raises ValueError if there is no such user.
    """
    if user_id not in respondents.user_ids:
        raise ValueError(f"there is no user {user_id!r} among the {len(respondents.user_ids)} users of this run")
    user = respondents.user_ids.index(user_id)
    labels = respondents.table.items["label"].to_pylist()
    ids = respondents.table.items["item_id"].to_pylist()
    mine = respondents.comparisons[respondents.users == user]
    wins = np.bincount(mine[:, 0], minlength=len(labels))
    seen = np.unique(mine)
    ranking = seen[np.argsort(-wins[seen], kind="stable")]
    trees: dict[str, Any] = {}
    for variant, protocol in protocols.items():
        encoded = respondents.encoded[TABLE_ENCODINGS[protocol.encoding]]
        split = split_comparisons(respondents, protocol, seed, test_share)
        rows = np.flatnonzero(split.user_of_row == user)
        train = split.comparisons[(respondents.users == user) & ~split.test] - rows[0]
        items = encoded.items[split.item_of_row[rows]]
        own_seed = seed + int(respondents.user_keys[user].astype(np.int64))
        tree = PreferenceTree(encoded.columns, random_state=own_seed, **_tree_parameters(protocol)).fit(items, train)
        leaf = tree.apply(items)
        in_leaf = [[labels[item] for item in split.item_of_row[rows][leaf == at]] for at in range(tree.n_leaves_)]
        trees[variant] = {**tree.to_dict(), "leaf_items": in_leaf}
    return {
        USER_ID: user_id,
        "ranking": [labels[item] for item in ranking],
        "items": {"ids": [ids[item] for item in seen], "labels": [labels[item] for item in seen]},
        "trees": trees,
    }
