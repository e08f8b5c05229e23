"""Limits of trees chosen on training choices: how deep a tree may grow, and how many categories it may split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from models.numerics.hashing import mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.studies.respondent_results import EACH, POOLED, TriedLimits, TunedLimits
from models.scores.accuracy import accuracies
from tasks.respondents.protocols import (
    Encoding,
    Protocol,
    Respondents,
    fit_pooled,
    fit_split,
    split_comparisons,
    utility_differences,
)

FOLDS = 3
"""Folds of the training choices; each respondent's choices are in all of them."""
DEPTHS: tuple[int | None, ...] = (1, 2, 3, 4, 6, 8, None)
"""Depth limits to try, the smallest trees first: of equals, the first is taken."""
ENCODINGS: tuple[Encoding, ...] = ("categorical_3", "categorical")
"""Encodings to try for the trees of single respondents."""


def tune(
    respondents: Respondents,
    protocol: Protocol,
    pooled: Protocol | None,
    *,
    seed: int,
    test_share: float,
    depths: Sequence[int | None] = DEPTHS,
) -> TunedLimits:
    """Choose the limits of each respondent's tree, the same for all, and of one tree for all.

    A choice that the protocol holds out takes no part. For each candidate, the other training choices are predicted in
    turn, fold by fold; the highest accuracy of all these predictions wins. pooled: the tree for all, with its own
    encoding; None if its depth is given.
    """
    test = split_comparisons(respondents, protocol, seed, test_share).test
    own = [
        (candidate, _accuracy_of_each(respondents, candidate, test, seed=seed, test_share=test_share))
        for candidate in _with_depths([protocol.with_encoding(encoding) for encoding in ENCODINGS], depths)
    ]
    of_all = [] if pooled is None else _tried_pooled(respondents, pooled, ~test, seed=seed, depths=depths)
    return TunedLimits(folds=FOLDS, each=tuple(_tried(EACH, *found) for found in own), pooled=tuple(of_all))


def tuned(protocol: Protocol, tried: Sequence[TriedLimits]) -> Protocol:
    """The protocol with the limits of the highest accuracy, the first of equals."""
    best = max(tried, key=lambda each: each.accuracy)
    return Protocol.model_validate({**protocol.model_dump(), "encoding": best.encoding, "max_depth": best.max_depth})


def tune_pooled(
    respondents: Respondents,
    protocol: Protocol,
    train: BoolArray,
    *,
    seed: int,
    depths: Sequence[int | None] = DEPTHS,
) -> Protocol:
    """The protocol of one tree for all with the depth chosen on the choices in `train` (n,)."""
    return tuned(protocol, _tried_pooled(respondents, protocol, train, seed=seed, depths=depths))


def _tried_pooled(
    respondents: Respondents, protocol: Protocol, train: BoolArray, *, seed: int, depths: Sequence[int | None]
) -> list[TriedLimits]:
    return [
        _tried(POOLED, each, _accuracy_of_pooled(respondents, each, train, seed=seed))
        for each in _with_depths([protocol], depths)
    ]


def _with_depths(protocols: Iterable[Protocol], depths: Sequence[int | None]) -> Iterable[Protocol]:
    return (protocol.model_copy(update={"max_depth": depth}) for protocol in protocols for depth in depths)


def _tried(tree: str, protocol: Protocol, accuracy: float) -> TriedLimits:
    return TriedLimits(tree=tree, encoding=protocol.encoding, max_depth=protocol.max_depth, accuracy=accuracy)


def _folds(respondents: Respondents, seed: int) -> IntArray:
    """The fold of each comparison (n,): by its respondent and its two items, so that repeats stay together."""
    pairs, owner = respondents.comparisons, respondents.user_keys[respondents.users]
    lot = mix(mix(mix(seed + 1, owner), pairs.min(axis=1)), pairs.max(axis=1))
    return np.asarray(lot % np.uint64(FOLDS), dtype=np.int64)


def _accuracy_of_each(
    respondents: Respondents, protocol: Protocol, test: BoolArray, *, seed: int, test_share: float
) -> float:
    split = split_comparisons(respondents, protocol, seed, test_share)
    fold, predicted = _folds(respondents, seed), np.zeros(len(test))
    for at in range(FOLDS):
        inner = replace(split, test=test | (fold == at))
        trees, _ = fit_split(respondents, protocol, inner, seed=seed)
        differences = utility_differences(respondents, protocol, split, trees)
        predicted[fold == at] = differences[fold == at]
    return _accuracy(predicted[~test])


def _accuracy_of_pooled(respondents: Respondents, protocol: Protocol, train: BoolArray, *, seed: int) -> float:
    fold, predicted = _folds(respondents, seed), np.zeros(len(train))
    for at in range(FOLDS):
        rows = train & (fold != at)
        if rows.any():
            _, differences = fit_pooled(respondents, protocol, rows, seed=seed)
            predicted[fold == at] = differences[fold == at]
    return _accuracy(predicted[train])


def _accuracy(differences: FloatArray) -> float:
    """The accuracy over all choices; one half if there are none, as nothing is then known."""
    return float(accuracies(differences).accuracy[0]) if len(differences) else 0.5
