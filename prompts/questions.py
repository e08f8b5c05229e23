"""The four questions of a study. Each has a versioned template and a schema for its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel

from models.records.feature_spec import FeatureSpec
from prompts.answers import Judgement, Proposal, Reason, extraction_of
from prompts.as_data import as_json, as_line
from prompts.engine import Message, Request, Sampling, schema_of
from prompts.patient import Patient

VERSIONS = {"extract_feature": "1", "why_chosen": "1", "propose_feature": "1", "more_urgent": "1"}
"""The version of each template in use. A new wording gets a new file and version; the ledger keeps the old answers."""

READING = Sampling(temperature=0.0, max_tokens=512)
REASONING = Sampling(temperature=0.6, top_p=0.95, max_tokens=4096, thinking=True)


def ask_for_feature(subject: str, patient: Patient, spec: FeatureSpec) -> Request:
    """What is the value of this feature for this patient?

    >>> from prompts.feature_file import read_features
    >>> spec = read_features().features[0]
    >>> request = ask_for_feature("a-01", Patient(message="My back hurts."), spec)
    >>> request.template, [message.role for message in request.messages], request.schema["required"]
    ('extract_feature', ['system', 'user'], ['value'])
    """
    filled = {"patient": patient, "spec": spec}
    return _request("extract_feature", subject, filled, extraction_of(spec), READING)


def ask_why_chosen(
    subject: str, preferred: Patient, other: Patient, *, failure: str, features: Sequence[Mapping[str, str]], seed: int
) -> Request:
    """Why did the first patient come before the second? features: for each, its name and both patients' values.

    >>> ill, well = Patient(message="I fainted."), Patient(message="All is well.")
    >>> ask_why_chosen("a-01_a-02", ill, well, failure="same_leaf", features=[], seed=0).template
    'why_chosen'
    """
    filled = {"preferred": preferred, "other": other, "failure": failure, "features": list(features)}
    return _request("why_chosen", subject, filled, Reason, REASONING.model_copy(update={"seed": seed}))


def ask_for_proposal(
    subject: str,
    features: Sequence[FeatureSpec],
    reasons: Sequence[Reason],
    *,
    refused: Sequence[str],
    seed: int,
) -> Request:
    """Which one feature would explain these choices? refused: earlier proposals that were rejected, with the reason.

    >>> from prompts.feature_file import read_features
    >>> request = ask_for_proposal("round-1", read_features().starting, [], refused=[], seed=0)
    >>> request.template, request.schema["title"]
    ('propose_feature', 'Proposal')
    """
    filled = {"features": list(features), "reasons": list(reasons), "refused": list(refused)}
    return _request("propose_feature", subject, filled, Proposal, REASONING.model_copy(update={"seed": seed}))


def ask_which_is_more_urgent(subject: str, first: Patient, second: Patient) -> Request:
    """Which of two patients must be answered first?

    >>> request = ask_which_is_more_urgent("a-01_a-02", Patient(message="All is well."), Patient(message="I fainted."))
    >>> request.template, request.schema["required"]
    ('more_urgent', ['more_urgent'])
    """
    return _request("more_urgent", subject, {"first": first, "second": second}, Judgement, READING)


def _request(
    template: str, subject: str, filled: Mapping[str, Any], answer: type[BaseModel], sampling: Sampling
) -> Request:
    version = VERSIONS[template]
    source = _environment().get_template(f"{template}.{version}.j2")
    shown = {**{name: _plain(value) for name, value in filled.items()}, "schema": schema_of(answer)}
    context = source.new_context(shown)
    messages = tuple(
        Message(role=role, content="".join(source.blocks[role](context)).strip()) for role in ("system", "user")
    )
    return Request(template, version, subject, messages, answer, sampling, filled)


@cache
def _environment() -> Environment:
    # The messages are plain text, not HTML. Data is inserted with one of these filters, also where a model wrote it.
    environment = Environment(loader=PackageLoader("prompts"), undefined=StrictUndefined, autoescape=False)
    environment.filters |= {
        "as_data": partial(as_json, indent=1),
        "as_schema": partial(as_json, ensure_ascii=True),
        "as_line": as_line,
    }
    return environment


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_plain(each) for each in value] if isinstance(value, list) else value
