"""Reading features out of messages, and asking which of two messages comes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from models.records.arrays import FloatArray
from models.records.feature_spec import FeatureSpec
from prompts.answers import Judgement, value_in
from prompts.conversation import Conversation
from prompts.questions import ask_for_feature, ask_which_is_more_urgent
from tasks.messages.inbox import Inbox


class Judged(NamedTuple):
    """The answers of a model asked about every pair directly, in both orders.

    difference: (n,) right answers minus wrong ones: 2 if both are right, -2 if both are wrong, 0 if they differ.
    first_share: how often it chose the message shown first; missing: questions without an answer.
    """

    difference: FloatArray
    first_share: float | None
    missing: int


def extract_features(conversation: Conversation, inbox: Inbox, specs: Sequence[FeatureSpec]) -> dict[str, list[Any]]:
    """The value of each feature for each patient; one request for each pair of the two, patient by patient."""
    asked = [
        (subject, patient, spec) for subject, patient in zip(inbox.ids, inbox.patients, strict=True) for spec in specs
    ]
    answers = conversation.ask([ask_for_feature(*question) for question in asked])
    values: dict[str, list[Any]] = {spec.name: [] for spec in specs}
    for (_, _, spec), answer in zip(asked, answers, strict=True):
        values[spec.name].append(None if answer is None else value_in(answer, spec))
    return values


def judge_pairs(conversation: Conversation, inbox: Inbox) -> Judged:
    """Ask about every pair of the inbox in both orders which message comes first (dt-pbo Table 1, pure LLM)."""
    winners, losers = inbox.comparisons.T
    shown = np.concatenate([np.stack([winners, losers], 1), np.stack([losers, winners], 1)])
    answers = conversation.ask([_judgement_of(inbox, first, second) for first, second in shown.tolist()])
    chose_first = np.array([np.nan if answer is None else _chooses_first(answer) for answer in answers])
    known = chose_first[~np.isnan(chose_first)]
    votes = np.nan_to_num(2 * chose_first - 1)  # 1 for the one shown first, -1 for the other, 0 for no answer
    right_way, turned = np.split(votes, 2)
    return Judged(
        difference=right_way - turned,
        first_share=float(known.mean()) if len(known) else None,
        missing=len(chose_first) - len(known),
    )


def _judgement_of(inbox: Inbox, first: int, second: int) -> Any:
    subject = f"{inbox.ids[first]}_{inbox.ids[second]}"
    return ask_which_is_more_urgent(subject, inbox.patients[first], inbox.patients[second])


def _chooses_first(answer: Any) -> bool:
    assert isinstance(answer, Judgement)
    return answer.more_urgent == "first"
