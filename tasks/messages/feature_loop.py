"""The search for features (dt-pbo section 4.2 and G.2): a language model proposes one, a tree decides whether it stays.

Each round fits a tree, finds the comparisons it gets wrong, asks the model why they came out so, and asks it for one
feature. The feature is read from all messages, kept if validation accuracy does not fall, and features that have become
harmful are pruned. The second inbox is never read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from models.numerics.hashing import hash_texts, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.card import counted
from models.records.errors import UsageError
from models.records.feature_spec import FeatureSpec
from models.records.studies.message_results import Round
from models.scores.holdout import hold_out_items, hold_out_pairs
from models.trees.preference_tree import PreferenceTree
from prompts.conversation import BudgetSpentError, Conversation
from prompts.proposals import quotes_a_patient, reason_to_refuse
from tasks.messages.hard_comparisons import FAILURES, choose_in_turn, hard_comparisons
from tasks.messages.inbox import Inbox
from tasks.messages.reading_messages import extract_features
from tasks.messages.reasoning import ask_why, propose
from tasks.messages.settings import LoopSettings, TreeSettings

MOST_MISSING = 0.5
WITHHELD = "withheld"
ROUNDING = 1e-12


class Search(NamedTuple):
    """The features found, their values in the inbox, the rounds, and why the search ended."""

    specs: tuple[FeatureSpec, ...]
    values: dict[str, list[Any]]
    rounds: tuple[Round, ...]
    ended: str


@dataclass
class _Loop:
    """The state of the search: the features so far with their values, and the proposals that were not taken."""

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
        """The tree of the training comparisons under these features, and the encoded items."""
        encoded = self.inbox.encoded(specs, self.values)
        return self.tree.grow(encoded.items, encoded.columns, self.inbox.comparisons[~self.validation]), encoded.items

    def score(self, specs: Sequence[FeatureSpec]) -> float:
        """Accuracy of that tree on the validation comparisons."""
        tree, items = self.fit(specs)
        return tree.score(items, self.inbox.comparisons[self.validation])

    def run_round(self, number: int) -> Round | None:
        """One round; None if the tree gets every training comparison right."""
        tree, items = self.fit(self.specs)
        hard = hard_comparisons(tree, items, self.inbox.comparisons, np.flatnonzero(~self.validation))
        if not hard:
            return None
        chosen = choose_in_turn(hard, self._lots(number), self.settings.pairs)
        seed = self.seed + number
        traces, reasons = ask_why(self.conversation, self.inbox, chosen, self.specs, self.values, seed=seed)
        counts = {kind: sum(each.kind == kind for each in hard) for kind in FAILURES}
        before = self.score(self.specs)
        proposal = propose(self.conversation, number, self.specs, reasons, refused=self.refused, seed=seed)
        outcome = self._consider(proposal, before)
        return Round(number=number, hard=counts, traces=traces, before=before, **outcome)

    def _lots(self, number: int) -> IntArray:
        """A random number for each comparison, drawn from its id, the seed and the round."""
        ids = self.inbox.table.comparisons["comparison_id"].to_pylist()
        return mix(mix(self.seed, number), hash_texts(ids)).astype(np.int64)

    def _consider(self, proposal: FeatureSpec | str, before: float) -> dict[str, Any]:
        """Refuse, drop or keep a proposal. Returns the fields of the round that record the verdict.

        A proposal is checked before its values are read, and the values before a tree is fitted to them.
        """
        if isinstance(proposal, str):
            return {"proposal": None, "verdict": "refused", "reason": proposal}
        if quotes_a_patient(proposal, self.inbox.texts):
            self.refused.append(f"{WITHHELD}: quotes a patient")
            return {"proposal": None, "verdict": "refused", "reason": "quotes a patient; the proposal is withheld"}
        reason = reason_to_refuse(proposal, self.specs, ())
        if reason is None:
            found = extract_features(self.conversation, self.inbox, [proposal])
            reason = _reason_unusable(found[proposal.name])
        if reason is not None:
            self.refused.append(f"{proposal.name}: {reason}")
            return {"proposal": proposal, "verdict": "refused", "reason": reason}
        return self._keep_or_drop(proposal, found, before)

    def _keep_or_drop(self, proposal: FeatureSpec, found: dict[str, list[Any]], before: float) -> dict[str, Any]:
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
        """Drop features, the least useful first, while the rule allows it; one always stays. Yields their names."""
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
            f"loop.validation_share = {settings.validation_share:g} keeps {validation.sum():,} of "
            f"{counted(len(validation), 'comparisons')} for validation. Choose a share that leaves some for validation "
            f"and some for training."
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
    """Which comparisons of an inbox are kept for validation, (n,)."""
    hold_out = hold_out_items if settings.split == "patient" else hold_out_pairs
    one_owner = np.zeros(len(inbox.comparisons), dtype=np.int64)
    return hold_out(
        inbox.comparisons, one_owner, hash_texts([inbox.table.name]), share=settings.validation_share, seed=seed
    )


def _reason_unusable(values: Sequence[Any]) -> str | None:
    """Why a tree cannot use the values of a feature; None if it can."""
    known = [str(value) for value in values if value is not None]
    if len(known) < MOST_MISSING * len(values):
        return f"no usable values: {len(values) - len(known)} of {len(values)} are missing"
    return "no usable values: they are all the same" if len(set(known)) < 2 else None
