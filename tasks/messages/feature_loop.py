"""The loop of dt-pbo section 4.2 and G.2: a language model proposes a feature, a tree decides whether it stays.

Extract features, fit, find the comparisons the tree gets wrong, ask why, propose one feature, extract it, keep it if
validation does not fall, prune, and again. The second inbox is never looked at here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, ValidationError

from models.numerics.hashing import hash_texts, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.base import Record
from models.records.card import counted
from models.records.errors import UsageError
from models.records.feature_spec import FeatureSpec
from models.records.features import Column
from models.scores.accuracy import TIE_TOLERANCE
from models.scores.holdout import hold_out_items, hold_out_pairs
from models.trees.preference_tree import PreferenceTree
from models.trees.splits import TieBreak
from prompts.answers import Proposal, Reason
from prompts.conversation import BudgetSpentError, Conversation
from prompts.proposals import quotes_a_patient, reason_to_refuse
from prompts.questions import ask_for_proposal, ask_why_chosen
from tasks.messages.inbox import Inbox
from tasks.messages.reading_messages import extract_features

HardKind = Literal["same_leaf", "same_value", "reversed"]
FAILURES: dict[HardKind, str] = {
    "same_leaf": "cannot tell them apart",
    "same_value": "finds differences, but values both alike",
    "reversed": "puts the second before the first",
}
"""The three kinds of hard comparison, and how a model is told of them."""
MOST_MISSING = 0.5
WITHHELD = "withheld"
ROUNDING = 1e-12


class LoopSettings(Record):
    """How features are searched for."""

    rounds: int = Field(default=12, ge=0, description="rounds at most; each proposes one feature")
    pairs: int = Field(default=12, ge=1, description="hard comparisons a round that the model reasons about")
    validation_share: float = Field(default=0.25, gt=0, lt=1, description="share of INBOX_A kept for validation")
    split: Literal["patient", "pair"] = Field(
        default="patient", description="what is kept: all pairs of some patients, or some pairs"
    )
    acceptance: Literal["not_worse", "better"] = Field(
        default="not_worse", description="what a new feature must do to the validation accuracy"
    )
    pruning: Literal["harmful", "useless", "never"] = Field(
        default="harmful",
        description="which features are dropped after a round: those without which validation rises, also those "
        "without which it does not fall, or none",
    )


class TreeSettings(Record):
    """How the tree over the features is grown."""

    tie_break: TieBreak = Field(default="lowest", description="which of two splits of the same score is taken")
    ratio: float = Field(default=0.25, gt=0, description="sigma_noise^2 / sigma_prior^2 of the leaf values")
    max_categories: int | None = Field(
        default=3, ge=1, description="categories in a node up to which a categorical feature is split; any if not set"
    )

    def grow(
        self, items: FloatArray, columns: Sequence[Column], comparisons: IntArray, *, max_depth: int | None = None
    ) -> PreferenceTree:
        """The tree of comparisons (n, 2) among items (m, d); items in none of them are not looked at."""
        seen, rows = np.unique(comparisons, return_inverse=True)
        tree = PreferenceTree(columns, max_depth=max_depth, **self.model_dump())
        return tree.fit(items[seen], rows.reshape(comparisons.shape))


class Trace(Record):
    """A hard comparison that was reasoned about. request: under which the ledger has the reasoning."""

    comparison: str
    kind: HardKind
    request: str


class Round(Record):
    """One round: what was hard, what was proposed, and what became of it. Values are validation accuracies."""

    number: int
    hard: dict[HardKind, int]
    traces: tuple[Trace, ...]
    proposal: FeatureSpec | None
    verdict: Literal["kept", "dropped", "refused"]
    reason: str
    before: float
    after: float | None = None
    pruned: tuple[str, ...] = ()


class Search(NamedTuple):
    """What the loop found: features, their values in the inbox, its rounds, and why it ended."""

    specs: tuple[FeatureSpec, ...]
    values: dict[str, list[Any]]
    rounds: tuple[Round, ...]
    ended: str


class Hard(NamedTuple):
    """A comparison the tree gets wrong: its row, and how."""

    row: int
    kind: HardKind


@dataclass
class _Loop:
    """The state of the search: the features so far with their values, and what was proposed and not taken."""

    inbox: Inbox
    conversation: Conversation
    settings: LoopSettings
    tree: TreeSettings
    seed: int
    specs: list[FeatureSpec]
    values: dict[str, list[Any]]
    validation: BoolArray
    refused: list[str] = field(default_factory=list)

    def fit(self, specs: Sequence[FeatureSpec]) -> tuple[PreferenceTree, FloatArray]:
        """The tree of the training comparisons under these features, and the items it sees."""
        encoded = self.inbox.encoded(specs, self.values)
        return self.tree.grow(encoded.items, encoded.columns, self.inbox.comparisons[~self.validation]), encoded.items

    def score(self, specs: Sequence[FeatureSpec]) -> float:
        """Accuracy of that tree on the validation comparisons."""
        tree, items = self.fit(specs)
        return tree.score(items, self.inbox.comparisons[self.validation])

    def run_round(self, number: int) -> Round | None:
        """One round; None if the tree gets no training comparison wrong."""
        tree, items = self.fit(self.specs)
        rows = np.flatnonzero(~self.validation)
        hard = hard_comparisons(tree, items, self.inbox.comparisons, rows)
        if not hard:
            return None
        chosen = _in_turn(hard, self._lot(number), self.settings.pairs)
        traces, reasons = self._ask_why(number, chosen)
        counts = {kind: sum(each.kind == kind for each in hard) for kind in FAILURES}
        before = self.score(self.specs)
        proposal = self._propose(number, reasons)
        outcome = self._try(proposal, before)
        return Round(number=number, hard=counts, traces=traces, before=before, **outcome)

    def _lot(self, number: int) -> IntArray:
        """A lasting random number for each comparison, another one each round."""
        ids = self.inbox.table.comparisons["comparison_id"].to_pylist()
        return mix(mix(self.seed, number), hash_texts(ids)).astype(np.int64)

    def _ask_why(self, number: int, chosen: Sequence[Hard]) -> tuple[tuple[Trace, ...], list[Reason]]:
        requests = []
        for row, kind in chosen:
            winner, loser = self.inbox.comparisons[row].tolist()
            shown = [
                {"name": spec.name, "preferred": _said(self.values[spec.name][winner]),
                 "other": _said(self.values[spec.name][loser])}
                for spec in self.specs
            ]  # fmt: skip
            requests.append(
                ask_why_chosen(
                    f"{self.inbox.ids[winner]}_{self.inbox.ids[loser]}",
                    self.inbox.patients[winner],
                    self.inbox.patients[loser],
                    failure=FAILURES[kind],
                    features=shown,
                    seed=self.seed + number,
                )
            )
        answers = self.conversation.ask(requests)
        keys = self.conversation.traces(requests)
        traces = tuple(
            Trace(comparison=request.subject, kind=each.kind, request=key)
            for request, each, key in zip(requests, chosen, keys, strict=True)
        )
        return traces, [answer for answer in answers if isinstance(answer, Reason)]

    def _propose(self, number: int, reasons: Sequence[Reason]) -> FeatureSpec | str:
        """The feature the model proposes, or why it proposed none."""
        request = ask_for_proposal(
            f"round-{number}", self.specs, reasons, refused=self.refused, seed=self.seed + number
        )
        [answer] = self.conversation.ask([request])
        if not isinstance(answer, Proposal):
            return "no answer under the schema"
        try:
            return answer.spec()
        except ValidationError as error:
            # Not in pydantic's words, which would quote the proposal.
            return f"cannot be a feature: {error.errors(include_input=False, include_url=False)[0]['type']}"

    def _try(self, proposal: FeatureSpec | str, before: float) -> dict[str, Any]:
        """What becomes of a proposal: the fields of its round."""
        if isinstance(proposal, str):
            return {"proposal": None, "verdict": "refused", "reason": proposal}
        if quotes_a_patient(proposal, self.inbox.texts):
            self.refused.append(f"{WITHHELD}: quotes a patient")
            return {"proposal": None, "verdict": "refused", "reason": "quotes a patient; the proposal is withheld"}
        reason = reason_to_refuse(proposal, self.specs, ())
        if reason is None:
            found = extract_features(self.conversation, self.inbox, [proposal])
            reason = _unusable(found[proposal.name])
        if reason is not None:
            self.refused.append(f"{proposal.name}: {reason}")
            return {"proposal": proposal, "verdict": "refused", "reason": reason}
        return self._weigh(proposal, found, before)

    def _weigh(self, proposal: FeatureSpec, found: dict[str, list[Any]], before: float) -> dict[str, Any]:
        self.values |= found
        after = self.score([*self.specs, proposal])
        change = f"validation accuracy from {before:.3f} to {after:.3f}"
        kept = after > before + ROUNDING or (self.settings.acceptance == "not_worse" and after > before - ROUNDING)
        if not kept:
            self.refused.append(f"{proposal.name}: {change}")
            return {"proposal": proposal, "verdict": "dropped", "reason": change, "after": after}
        self.specs.append(proposal)
        pruned = tuple(self._prune(after))
        self.refused += [f"{name}: pruned" for name in pruned]
        return {"proposal": proposal, "verdict": "kept", "reason": change, "after": after, "pruned": pruned}

    def _prune(self, score: float) -> Iterator[str]:
        """Drop the feature without which validation is best, again and again, as long as the rule allows it."""
        while self.settings.pruning != "never" and len(self.specs) > 1:
            without = [self.score([*self.specs[:at], *self.specs[at + 1 :]]) for at in range(len(self.specs))]
            worst = int(np.argmax(without))
            gain = without[worst] - score
            if gain < -ROUNDING or (self.settings.pruning == "harmful" and gain <= ROUNDING):
                return
            score = without[worst]
            yield self.specs.pop(worst).name


def search_features(
    conversation: Conversation,
    inbox: Inbox,
    start: Sequence[FeatureSpec],
    *,
    settings: LoopSettings,
    tree: TreeSettings,
    seed: int,
) -> Search:
    """Start from some features of an inbox and let the model propose more, round by round.

    Raises UsageError if no comparison is left to fit or to validate, and BudgetSpentError if the budget does not even
    allow reading the features to start from.
    """
    validation = validation_pairs(inbox, settings, seed)
    if settings.rounds and not 0 < validation.sum() < len(validation):
        raise UsageError(
            f"loop.validation_share = {settings.validation_share:g}: that keeps {validation.sum():,} of "
            f"{counted(len(validation), 'comparisons')} for validation. Some have to be, and some not."
        )
    values = extract_features(conversation, inbox, start)
    loop = _Loop(inbox, conversation, settings, tree, seed, list(start), values, validation)
    rounds: list[Round] = []
    ended = f"all {settings.rounds} rounds were run"
    try:
        for number in range(1, settings.rounds + 1):
            finished = loop.run_round(number)
            if finished is None:
                ended = "the tree gets no training comparison wrong"
                break
            rounds.append(finished)
    except BudgetSpentError as spent:
        ended = str(spent)
    return Search(tuple(loop.specs), {spec.name: loop.values[spec.name] for spec in loop.specs}, tuple(rounds), ended)


def validation_pairs(inbox: Inbox, settings: LoopSettings, seed: int) -> BoolArray:
    """Which comparisons of an inbox are for validation, (n,)."""
    hold_out = hold_out_items if settings.split == "patient" else hold_out_pairs
    nobody = np.zeros(len(inbox.comparisons), dtype=np.int64)
    return hold_out(
        inbox.comparisons, nobody, hash_texts([inbox.table.name]), share=settings.validation_share, seed=seed
    )


def hard_comparisons(tree: PreferenceTree, items: FloatArray, comparisons: IntArray, rows: IntArray) -> list[Hard]:
    """The comparisons among `rows` that a tree gets wrong or leaves open (dt-pbo G.2, i to iii)."""
    leaf = tree.apply(items)[comparisons[rows]]
    value = tree.predict(items)[comparisons[rows]]
    gap = value[:, 0] - value[:, 1]
    same_leaf, same_value = leaf[:, 0] == leaf[:, 1], np.abs(gap) <= TIE_TOLERANCE
    kinds = np.select([same_leaf, same_value, gap < 0], ["same_leaf", "same_value", "reversed"], default="")
    return [Hard(row, kind) for row, kind in zip(rows.tolist(), kinds.tolist(), strict=True) if kind]


def _in_turn(hard: Sequence[Hard], lot: IntArray, most: int) -> list[Hard]:
    """Up to so many hard comparisons: the kinds take turns, each in the order of the lots."""
    drawn = sorted(hard, key=lambda each: int(lot[each.row]))
    of_kind = [[each for each in drawn if each.kind == kind] for kind in FAILURES]
    return [each for each in chain.from_iterable(zip_longest(*of_kind)) if each is not None][:most]


def _unusable(values: Sequence[Any]) -> str | None:
    """Why a feature's values are of no use to a tree; None if they are."""
    known = [str(value) for value in values if value is not None]
    if len(known) < MOST_MISSING * len(values):
        return f"no usable values: {len(values) - len(known)} of {len(values)} are missing"
    return "no usable values: they are all the same" if len(set(known)) < 2 else None


def _said(value: Any) -> str:
    if value is None:
        return "not known"
    return (", ".join(value) or "none") if isinstance(value, list) else str(value)
