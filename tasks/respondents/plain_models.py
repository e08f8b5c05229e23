"""Plain models of respondents' choices, on the choices held out from each and on respondents never seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from models.baselines.beside import Beside
from models.baselines.coin import Coin
from models.baselines.difference_logit import DifferenceLogit
from models.baselines.majority_choice import MajorityChoice
from models.numerics.hashing import mix
from models.records.arrays import BoolArray, FloatArray
from models.records.features import Column, FeatureKind
from models.records.results import BESIDE_PLAIN, MetricRow
from models.records.studies.respondent_results import (
    ACCURACIES,
    ACCURACY,
    COIN,
    COVARIATE_LOGIT,
    DECIDED_SHARE,
    DIFFERENCE_LOGIT,
    GP,
    GP_USERS,
    MAJORITY,
    PLAIN_MODELS,
    POOLED,
    TEST,
    TEST_ACCURACY,
    TREE_MODEL,
    UNSEEN_USERS,
    USER_ID,
    USERS,
    VARIANT,
)
from models.scores.accuracy import accuracies
from models.scores.comparing import mean_difference
from models.scores.intervals import OTHER_USERS
from tasks.respondents.protocols import Protocol, Respondents, fit_pooled, split_comparisons
from tasks.respondents.tuning import tune_pooled
from tasks.runs.results import write_json
from tasks.tables.encode import encode_users

GROUPS = 3
"""Groups of respondents; the choices of each are predicted by models of the other groups."""
STRENGTH = 1.0
"""Strength of the logistic regressions (scikit-learn's C); with so many choices it hardly matters."""
MOST_LEVELS = 12
"""Categorical covariates with more levels than this take no part: each level has a coefficient for every attribute."""

Scores = Mapping[str, pd.DataFrame]
"""By model: a row for each user, with the accuracies."""


def score_held_out(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float) -> Scores:
    """The accuracies of each user under each plain model, on the comparisons that the protocol holds out."""
    test = split_comparisons(respondents, protocol, seed, test_share).test
    return _by_user(respondents, _predicted(respondents, ~test), test)


def score_unseen(respondents: Respondents, protocol: Protocol, *, tuned: bool, seed: int) -> Scores:
    """The accuracies of each user under models of the users in other groups; one tree for all is one of these models.

    tuned: whether the depth of that tree is chosen, on the choices that it is fitted to.

    Groups are of equal size, up to one user, and depend on the seed and the users' keys.
    """
    keys = respondents.user_keys
    group = np.empty(len(keys), dtype=np.int64)
    group[np.argsort(mix(seed, keys), kind="stable")] = np.arange(len(keys)) % GROUPS
    difference: dict[str, FloatArray] = {}
    for at in range(GROUPS):
        tested = group[respondents.users] == at
        if tested.any() and not tested.all():
            of_all = tune_pooled(respondents, protocol, ~tested, seed=seed) if tuned else protocol
            _, of_tree = fit_pooled(respondents, of_all, ~tested, seed=seed)
            for name, values in {POOLED: of_tree, **_predicted(respondents, ~tested)}.items():
                difference.setdefault(name, np.zeros(len(tested)))[tested] = values[tested]
    return _by_user(respondents, difference, np.ones(len(respondents.users), dtype=bool))


def plain_metrics(study: str, held_out: Scores, unseen: Scores) -> list[MetricRow]:
    """The rows of `metrics.json`: mean and standard deviation over users."""
    return [
        MetricRow(
            study=study,
            model=TREE_MODEL if name == POOLED else name,
            variant=name,
            metric=metric,
            split=split,
            value=float(found[metric].mean()),
            sd=float(found[metric].std()),
            n=int(found[metric].count()),
        )
        for split, scores in ((TEST, held_out), (UNSEEN_USERS, unseen))
        for name, found in scores.items()
        for metric in ACCURACIES
    ]


def write_beside(results: Path, held_out: Scores, unseen: Scores) -> None:
    """Write `beside_plain.json`: on held-out choices, all models of the run; on respondents never seen, one tree.

    Reads `users.parquet` and `gp_users.parquet`. The differences are paired over users.
    """
    users = pd.read_parquet(results / f"{USERS}.parquet")
    own = {str(variant): found.set_index(USER_ID)[TEST_ACCURACY] for variant, found in users.groupby(VARIANT)}
    own[GP] = pd.read_parquet(results / f"{GP_USERS}.parquet").set_index(USER_ID)[TEST_ACCURACY]
    found = [_beside(TEST, own, _accuracy(held_out)), _beside(UNSEEN_USERS, *_apart(_accuracy(unseen)))]
    write_json(results / f"{BESIDE_PLAIN}.json", [each.model_dump(mode="json") for each in found if each is not None])


def _accuracy(scores: Scores) -> dict[str, pd.Series[float]]:
    return {name: found.set_index(USER_ID)[ACCURACY] for name, found in scores.items()}


def _apart(by_model: Mapping[str, pd.Series[float]]) -> tuple[dict[str, pd.Series[float]], dict[str, pd.Series[float]]]:
    """Models of ours, and plain ones."""
    own = {name: values for name, values in by_model.items() if name not in PLAIN_MODELS}
    return own, {name: values for name, values in by_model.items() if name in PLAIN_MODELS}


def _beside(split: str, own: Mapping[str, pd.Series[float]], plain: Mapping[str, pd.Series[float]]) -> Beside | None:
    if not own or not plain:
        return None
    model, other = (max(scores, key=lambda name: float(scores[name].mean())) for scores in (own, plain))
    paired = np.asarray(own[model].sub(plain[other]), dtype=np.float64)
    return Beside(variant=split, model=model, plain=other, difference=mean_difference(paired, over=OTHER_USERS))


def _predicted(respondents: Respondents, train: BoolArray) -> dict[str, FloatArray]:
    """The preference for the winner of every comparison (n,), by models fitted to those in `train` (n,)."""
    encoded = respondents.encoded["categories"]
    items, pairs, names = encoded.items, respondents.comparisons, np.arange(len(encoded.items))
    logit = DifferenceLogit(encoded.columns, strength=STRENGTH).fit(items, pairs[train])
    found = {
        COIN: Coin().decision_function(items, pairs),
        MAJORITY: MajorityChoice().fit(names, pairs[train]).decision_function(names, pairs),
        DIFFERENCE_LOGIT: logit.decision_function(items, pairs),
    }
    users, columns = _covariates(respondents)
    if columns:
        users_of = respondents.users
        with_users = DifferenceLogit(encoded.columns, columns, strength=STRENGTH)
        with_users.fit(items, pairs[train], users, users_of[train])
        found[COVARIATE_LOGIT] = with_users.decision_function(items, pairs, users, users_of)
    return found


def _covariates(respondents: Respondents) -> tuple[FloatArray, tuple[Column, ...]]:
    """The users' features (u, e) with their columns, without features of many levels."""
    if respondents.table.users is None:
        return np.zeros((0, 0)), ()
    users, columns = encode_users(respondents.table)
    kept = [at for at, column in enumerate(columns) if not _has_many_levels(column)]
    return users[: len(respondents.user_ids), kept], tuple(columns[at] for at in kept)


def _has_many_levels(column: Column) -> bool:
    return column.kind is FeatureKind.CATEGORICAL and len(column.levels or ()) > MOST_LEVELS


def _by_user(respondents: Respondents, difference: Mapping[str, FloatArray], tested: BoolArray) -> Scores:
    """Without the majority's choice if none of the tested comparisons was made in training: it then says nothing."""
    found = {}
    for name, values in difference.items():
        by_user = accuracies(values[tested], respondents.users[tested], len(respondents.user_ids))
        scores = pd.DataFrame({USER_ID: respondents.user_ids, **dict(zip(ACCURACIES, by_user, strict=True))})
        if name != MAJORITY or float(scores[DECIDED_SHARE].max()) > 0:
            found[name] = scores
    return found
