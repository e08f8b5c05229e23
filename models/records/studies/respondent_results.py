"""Results about respondents' trees: names that its writers and readers share, and records of its conclusions."""

from __future__ import annotations

from models.records.base import Record

TREE_MODEL, GP_MODEL, FOREST_MODEL = "preference_tree", "preference_gp", "preference_forest"
DISCARDED, KEPT = "straddlers_discarded", "straddlers_kept"
"""The variants of a respondent's tree."""

POOLED, GP = "pooled", "gp"
"""The variants of one tree for all respondents, and of a Gaussian process for each."""

COIN, MAJORITY, DIFFERENCE_LOGIT, COVARIATE_LOGIT = "coin", "majority", "difference_logit", "covariate_logit"
PLAIN_MODELS = (COIN, MAJORITY, DIFFERENCE_LOGIT, COVARIATE_LOGIT)
"""Plain models of all respondents, which are also variants of metrics: a coin; what most respondents chose from the
same two items; logistic regression on differences of attributes; the same with respondents' covariates."""

TRAIN, TEST = "train", "test"
UNSEEN_USERS = "unseen_users"
"""Split of metrics: all choices of respondents of whom no model has seen any."""
SPLITS = (TRAIN, TEST)
ACCURACY, STRICT_ACCURACY, DECIDED_SHARE = "accuracy", "strict_accuracy", "decided_share"
ACCURACIES = (ACCURACY, STRICT_ACCURACY, DECIDED_SHARE)
LEAVES, DEPTH = "leaves", "depth"
"""Measures of a tree, which are metrics and columns of results."""

USER_ID, VARIANT, N_USERS = "user_id", "variant", "users"
"""Columns: a user, the variant of the user's tree, and a number of users."""

TRAIN_ACCURACY, TEST_ACCURACY, TEST_STRICT_ACCURACY, TEST_DECIDED_SHARE = (
    "train_accuracy", "test_accuracy", "test_strict_accuracy", "test_decided_share",
)  # fmt: skip
"""Columns: an accuracy on training or on held-out choices."""

STRADDLERS, SPLIT, TIE_BREAK, ENCODING, RATIO = "straddlers", "split", "tie_break", "encoding", "ratio"
"""The choices of a protocol, which are columns of `protocols.parquet`."""

USERS = "users"
PROTOCOLS = "protocols"
NEAREST_PROTOCOLS = "nearest_protocols"
PROTOCOL_EFFECTS = "protocol_effects"
LEFT_OUT = "leaving_out"
LEFT_OUT_INTERVALS = "leaving_out_intervals"
ASKED_FEATURES = "asked_features"
SENSITIVE_FEATURES = "sensitive_features"
EXAMPLE_TREE = "example_tree"
GALLERY = "gallery"
POOLED_TREE = "pooled_tree"
TREE_SUMMARIES = "tree_summaries"
ACCURACY_DIFFERENCES = "accuracy_differences"
CHOICE_SUMMARY = "choice_summary"
GP_USERS = "gp_users"
PLAIN_USERS, UNSEEN_TABLE = "plain_users", "unseen_users"
"""Files of results, without their ending."""

REMOVED, TRAIN_DELTA, TEST_DELTA = "removed", "train_delta", "test_delta"
ESTIMATE, LOWER, UPPER = "estimate", "lower", "upper"
"""Columns of the tables of trees without one feature. DELTA_ACCURACY: their metric."""
DELTA_ACCURACY = "delta_accuracy"
FEATURE, ASKED, FIRST, POSSIBLE, SUPPORT = "feature", "asked", "first", "possible", "support"
"""Columns of the table of the features that trees ask about."""

Level = str | float
"""A level of a choice of the protocol."""

EFFECT_MEASURES = (TRAIN_ACCURACY, TEST_ACCURACY, TEST_STRICT_ACCURACY, LEAVES)
"""The columns of `protocols.parquet` whose changes are reported."""


class NearestProtocol(Record):
    """The protocol of one variant that is nearest to the published accuracies.

    distance: the larger of its two differences to them; among: number of protocols of the variant that were tried.
    """

    variant: str
    choices: dict[str, Level]
    train_accuracy: float
    test_accuracy: float
    leaves: float
    among: int
    distance: float


class NearestProtocols(Record):
    """The published accuracies, the nearest protocol of each variant, and the variants that reproduce them.

    train, test, source: None, and nothing is near, if the data is simulated or nothing was published.
    others_tried: whether a variant was tried under more than one protocol.
    """

    train: float | None = None
    test: float | None = None
    source: str | None = None
    nearest: tuple[NearestProtocol, ...] = ()
    reproducing: tuple[str, ...] = ()
    others_tried: bool = False


class ProtocolEffect(Record):
    """The mean change of each measure when one choice takes `level` instead of `reference`, over pairs of protocols."""

    choice: str
    level: Level
    reference: Level
    pairs: int
    change: dict[str, float]


class ProtocolEffects(Record):
    """The effects of all choices tried, and the position of the one best for test accuracy, straddlers excluded."""

    effects: tuple[ProtocolEffect, ...]
    best_other: int | None


class TreeSummary(Record):
    """The trees of one variant over the users.

    unscored_test, unscored_train: users without any held-out, or any training comparison; medians are over users.
    tied_share: of held-out comparisons; without_ties: accuracy on those that are not tied, None if all are.
    """

    users: int
    scored: int
    unscored_test: int
    unscored_train: int
    median_accuracy: float | None
    median_leaves: float
    tied_share: float | None
    without_ties: float | None


class SensitiveFeature(Record):
    """Whether trees depend on a sensitive feature: share of the users' trees, and the tree for all (None: no tree).

    asked: None if no tree could ask about it.
    """

    feature: str
    asked: float | None
    in_pooled_tree: bool | None


class ChoiceSummary(Record):
    """Conclusions from a choice experiment.

    comparisons_each, held_out_each: comparisons of a respondent, and how many of them are held out, on average.
    training: comparisons of all respondents that are not held out.
    chance_sd: standard deviation of a respondent's held-out accuracy if each choice were predicted with one chance.
    smallest_gap, largest_gap: of the absolute differences to the published values, None if nothing was published.
    """

    comparisons_each: float
    held_out_each: float
    training: int
    chance_sd: float | None
    n_published: int
    smallest_gap: float | None
    largest_gap: float | None
