"""Results about patients' messages: names that its writers and readers share, and the records in its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from models.records.base import Record
from models.records.feature_spec import FeatureSpec

JUDGE_MODEL = "llm_judge"
WHOLE, READABLE, BOTH_ORDERS = "all_features", "readable", "both_orders"
"""The variants: the tree, the tree cut short, and the model asked about each pair in both orders."""

COIN, START_FEATURES, SINGLE_FEATURE, TEXT_LOGIT = "coin", "start_features", "single_feature", "text_logit"
PLAIN_VARIANTS = (COIN, START_FEATURES, SINGLE_FEATURE, TEXT_LOGIT)
"""Plain models beside the tree: a coin; a tree over the features given at the start; one over the single feature that
is best on the first inbox; logistic regression on differences of the messages' weighted words."""

TREE, READABLE_TREE = "tree", "readable_tree"
SEARCH, FEATURES, WORTH, CONVERSATION = "search", "features", "feature_worth", "conversation"
COMPARABILITY = "comparability"
CHOSEN_SINGLE = "chosen_single"
RANKING, FEATURE_VALUES, EXTRACTION_ACCURACY = "ranking", "feature_values", "extraction_accuracy"
"""Files of results, without their ending."""

SPLIT, ITEM_ID, RANK, CLINICIANS_RANK, UTILITY, SD, LEAF, REASON = (
    "split", "item_id", "rank", "clinicians_rank", "utility", "sd", "leaf", "reason",
)  # fmt: skip
"""Columns of the ranking; the values of the features share the first two."""

RANK_CORRELATION, FIRST_SHARE, UNANSWERED = "rank_correlation", "first_share", "missing"
"""Metrics: Kendall's tau-b, and how often the model asked directly chose the first message, or did not answer."""

MOST_MISSING = 0.05
"""A report opens with it if more than this share of the requests of one template is without an answer."""

WORDINGS = ("all", "plain", "paraphrased")
"""The simulated messages over which the accuracy of reading is measured."""

HardKind = Literal["same_leaf", "same_value", "reversed"]
"""How a tree fails on a comparison: both items in one leaf, in two leaves of one value, or in the wrong order."""


Obstacle = Literal["simulated", "unpinned", "other_model"]
"""Why the published values are not comparable: simulated messages, other files, or answers of another model."""


class Comparability(Record):
    """Whether the published values may be compared with those found: only without any obstacle."""

    obstacles: tuple[Obstacle, ...]

    @property
    def comparable(self) -> bool:
        """Whether there is no obstacle."""
        return not self.obstacles


class Trace(Record):
    """A hard comparison that a model reasoned about, and the ledger key of its reasoning."""

    comparison: str
    kind: HardKind
    request: str


class Round(Record):
    """One round of the search: the hard comparisons, the proposal, and the verdict on it.

    hard: number of hard comparisons of each kind; before, after: validation accuracies; pruned: features dropped then.
    """

    number: int
    hard: dict[HardKind, int]
    traces: tuple[Trace, ...]
    proposal: FeatureSpec | None
    verdict: Literal["kept", "dropped", "refused"]
    reason: str
    before: float
    after: float | None = None
    pruned: tuple[str, ...] = ()


class SearchRounds(Record):
    """All rounds of a search, and why it ended."""

    ended: str
    rounds: tuple[Round, ...]


class FoundFeature(Record):
    """A feature of the tree, the round that brought it (None: given at the start), and its missing values by split.

    constant: whether all values known in the first inbox are the same, so that the tree cannot use it.
    """

    spec: FeatureSpec
    round: int | None
    missing: Mapping[str, int]
    constant: bool = False


class FeatureWorth(Record):
    """The tree without one feature: its accuracy by split, and the change; published: changes, where there are any.

    lower, upper: the 95% interval over other patients of the change on the inbox that the tree was not fitted to; None
    where none is known.
    """

    feature: str
    accuracy: Mapping[str, float]
    change: Mapping[str, float]
    published: Mapping[str, float]
    lower: float | None = None
    upper: float | None = None


class ChosenSingle(Record):
    """The single feature whose tree is best on the first inbox."""

    feature: str


class TemplateCount(Record):
    """How often one template was asked: requests, refused answers, requests without an answer, and tokens.

    reasons: why some of the missing ones will never be answered, and how many those are.
    """

    template: str
    requests: int
    refused: int
    missing: int
    tokens: int
    reasons: Mapping[str, int] = Field(default_factory=dict)


class AskedModel(Record):
    """The model of a run, and what it was asked. unreliable: templates of which more than `MOST_MISSING` is missing."""

    model: str
    revision: str
    templates: tuple[TemplateCount, ...]
    unreliable: tuple[str, ...] = ()
