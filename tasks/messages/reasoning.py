"""The questions of one search round: why each hard comparison came out as it did, and which feature to add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from models.records.feature_spec import FeatureSpec
from models.records.studies.message_results import Trace
from prompts.answers import Proposal, Reason
from prompts.conversation import Conversation
from prompts.questions import ask_for_proposal, ask_why_chosen
from tasks.messages.hard_comparisons import FAILURES, Hard
from tasks.messages.inbox import Inbox, Values


class Reasoned(NamedTuple):
    """The comparisons a model reasoned about, and the reasons it gave; a comparison without an answer has none."""

    traces: tuple[Trace, ...]
    reasons: list[Reason]


def ask_why(
    conversation: Conversation,
    inbox: Inbox,
    chosen: Sequence[Hard],
    specs: Sequence[FeatureSpec],
    values: Values,
    *,
    seed: int,
) -> Reasoned:
    """Ask why the first message of each hard comparison came first, showing the features of both."""
    requests = []
    for row, kind in chosen:
        winner, loser = inbox.comparisons[row].tolist()
        shown = [
            {
                "name": spec.name,
                "preferred": _in_words(values[spec.name][winner]),
                "other": _in_words(values[spec.name][loser]),
            }
            for spec in specs
        ]
        requests.append(
            ask_why_chosen(
                f"{inbox.ids[winner]}_{inbox.ids[loser]}",
                inbox.patients[winner],
                inbox.patients[loser],
                failure=FAILURES[kind],
                features=shown,
                seed=seed,
            )
        )
    answers = conversation.ask(requests)
    keys = conversation.traces(requests)
    traces = tuple(
        Trace(comparison=request.subject, kind=each.kind, request=key)
        for request, each, key in zip(requests, chosen, keys, strict=True)
    )
    return Reasoned(traces, [answer for answer in answers if isinstance(answer, Reason)])


def propose(
    conversation: Conversation,
    number: int,
    specs: Sequence[FeatureSpec],
    reasons: Sequence[Reason],
    *,
    refused: Sequence[str],
    seed: int,
) -> FeatureSpec | str:
    """The feature that the model proposes in round `number`, or a sentence on why there is none."""
    request = ask_for_proposal(f"round-{number}", specs, reasons, refused=refused, seed=seed)
    [answer] = conversation.ask([request])
    if not isinstance(answer, Proposal):
        return "no answer under the schema"
    try:
        return answer.spec()
    except ValidationError as error:
        # Only the type of the error: pydantic's message would quote the proposal.
        return f"cannot be a feature: {error.errors(include_input=False, include_url=False)[0]['type']}"


def _in_words(value: Any) -> str:
    if value is None:
        return "not known"
    return (", ".join(value) or "none") if isinstance(value, list) else str(value)
