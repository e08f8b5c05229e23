"""The engine `rules`: keyword rules instead of a model. The demo uses it, and every model must beat it."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from models.records.base import Record
from models.records.feature_spec import FeatureSpec
from models.records.features import FeatureKind
from prompts.answers import Judgement, Proposal, Reason
from prompts.engine import Reply, Request
from prompts.patient import Patient

KEYWORDS = Path(__file__).with_name("keywords.toml")
VERSION = "1"
"""Increase it whenever a rule in this module changes."""

NEGATED = r"(?<!\w)(?:no|not|without|denies|never)\s(?:a\s|any\s)?$"
MANY_MEDICINES = 5
OLD, VERY_OLD = 65, 80
Finder = Callable[[Patient], Any]


class RulesSettings(Record):
    """Settings of the engine without a model; there are none."""

    kind: Literal["rules"] = "rules"


class Rules:
    """Answers by keywords, and proposes the published features one after the other.

    >>> from prompts.feature_file import read_features
    >>> from prompts.questions import ask_which_is_more_urgent
    >>> calm, ill = Patient(message="My address has changed."), Patient(message="I cannot breathe.")
    >>> [reply] = Rules(read_features().features).reply([ask_which_is_more_urgent("a-01_a-02", calm, ill)])
    >>> reply.text
    '{"more_urgent":"second"}'
    """

    model = "keyword rules"

    def __init__(self, published: Sequence[FeatureSpec]) -> None:
        self.published = tuple(published)
        self.revision = f"{VERSION}-{hashlib.sha256(KEYWORDS.read_bytes()).hexdigest()[:8]}"
        self._answers: dict[str, Callable[[Mapping[str, Any]], BaseModel | dict[str, Any]]] = {
            "extract_feature": lambda filled: {"value": _answer_to(filled["spec"], filled["patient"])},
            "why_chosen": _reason,
            "propose_feature": self._propose,
            "more_urgent": _judge,
        }

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """An answer to each request. The same request always gets the same answer."""
        return [Reply(text=self._text(request), finish_reason="stop") for request in requests]

    def close(self) -> None:
        """Do nothing: there is nothing to free."""

    def _text(self, request: Request) -> str:
        answer = self._answers[request.template](request.filled)
        fields = answer.model_dump() if isinstance(answer, BaseModel) else answer
        return request.answer.model_validate(fields).model_dump_json(by_alias=True)

    def _propose(self, filled: Mapping[str, Any]) -> Proposal:
        """The first published feature that is neither in use nor refused; the last one if there is none."""
        taken = {spec.name for spec in filled["features"]} | {line.split(":")[0] for line in filled["refused"]}
        spec = next((spec for spec in self.published if spec.name not in taken), self.published[-1])
        return Proposal(
            name=spec.name,
            kind=spec.kind.value,
            instruction=spec.instruction,
            values=list(spec.values),
            minimum=spec.minimum,
            maximum=spec.maximum,
        )


# ------------------------------------------------------------------------------------------- reading


def _answer_to(spec: FeatureSpec, patient: Patient) -> Any:
    """The value of a feature, in the form of its schema."""
    finder = _FINDERS.get(spec.name)
    value = finder(patient) if finder else None
    if spec.kind is FeatureKind.MULTI_HOT:
        held = value if value is not None else _found(spec.name, patient) | _named(spec, patient)
        return {label: label in held for label in spec.values}
    if spec.kind is FeatureKind.BINARY:
        return bool(_named(spec, patient))
    if spec.kind is FeatureKind.NUMERIC:
        return None
    if value in spec.values:
        return value
    held = _found(spec.name, patient) | _named(spec, patient)
    return next((label for label in spec.values if label in held), _fallback(spec))


def _fallback(spec: FeatureSpec) -> str:
    """The value if no keyword is found: the lowest level, the one named not_, no_ or none, or else the last."""
    if spec.kind is FeatureKind.ORDINAL:
        return spec.values[0]
    return next((label for label in spec.values if label.startswith(("not_", "no_", "none"))), spec.values[-1])


def _named(spec: FeatureSpec, patient: Patient) -> set[str]:
    """For a feature without keywords: the values whose words all occur in the message or the record."""
    if spec.name in _keywords() or spec.name in _FINDERS:
        return set()
    text = " ".join(patient.texts).lower()
    labels = spec.values or (spec.name,)
    return {label for label in labels if all(word in text for word in re.split(r"[_\W]+", label.lower()) if word)}


@lru_cache(maxsize=4096)
def _found(feature: str, patient: Patient) -> frozenset[str]:
    """The values of a feature whose keywords occur in the message or the record."""
    record = "\n".join(entry.lower() for entry in patient.texts[1:])
    texts = {"message": patient.message.lower(), "record": record}
    return frozenset(
        value
        for part, values in _keywords().get(feature, {}).items()
        for value, patterns in values.items()
        if any(_occurs(pattern, texts[part]) for pattern in patterns)
    )


def _occurs(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a keyword occurs in a text without a negation before it."""
    return any(
        not re.search(NEGATED, text[max(match.start() - 15, 0) : match.start()]) for match in pattern.finditer(text)
    )


@cache
def _keywords() -> dict[str, dict[str, dict[str, list[re.Pattern[str]]]]]:
    document = tomllib.loads(KEYWORDS.read_text(encoding="utf-8"))
    return {
        feature: {
            part: {value: [re.compile(pattern) for pattern in patterns] for value, patterns in values.items()}
            for part, values in parts.items()
        }
        for feature, parts in document.items()
    }


# ------------------------------------------------------------------------------------------- weighing


def _actionability(patient: Patient) -> str:
    """Emergency for a warning sign or a sudden start; otherwise by the duration and by what the patient asks for."""
    cues = _found("cues", patient)
    asked = _found("patient_requested_action", patient)
    if _found("red_flag_syndrome", patient) or "begun_within_hours" in cues:
        return "emergency_or_immediate_evaluation"
    if cues & {"begun_within_two_days", "acute_problem"} or "same_day_call_or_reply" in asked:
        return "same_day_triage_or_call"
    if cues & {"begun_months_ago", "asks_for_a_visit"}:
        return "schedule_routine_visit_or_labs"
    if cues & {"begun_within_weeks", "asks_for_advice"}:
        return "asynchronous_advice"
    return "none_or_fyi"


def _acuity_conflict(patient: Patient) -> str:
    cues, level = _found("cues", patient), _ACTIONABILITY.index(_actionability(patient))
    if "urgent_tone" in cues and level <= 1:
        return "urgent_wording_low_acuity_content"
    if "calm_tone" in cues and level >= 4:
        return "calm_wording_high_acuity_content"
    if "resolved" in _found("symptom_trajectory", patient) and _found("vascular_thrombotic_risk_context", patient):
        return "resolved_event_but_high_risk_history"
    return "none"


def _infection_risk(patient: Patient) -> frozenset[str]:
    fever = "systemic_febrile_illness" in _found("red_flag_syndrome", patient)
    old = patient.age is not None and patient.age >= OLD
    return _found("infection_risk_context", patient) | ({"older_age_with_fever"} if fever and old else set())


def _medicines(patient: Patient) -> frozenset[str]:
    many = len(patient.medications) >= MANY_MEDICINES
    return _found("medication_complication_context", patient) | ({"polypharmacy"} if many else set())


def _frailty(patient: Patient) -> str:
    """One step each for old age, a frail record, a medicine with a risk of falls, and a complaint that suggests one."""
    flags = _found("red_flag_syndrome", patient)
    steps = [
        patient.age is not None and patient.age >= VERY_OLD,
        "frail" in _found("cues", patient),
        "sedating_or_fall_risk_medication" in _found("medication_complication_context", patient),
        bool(flags & {"significant_fall_or_trauma", "syncope_or_near_syncope", "acute_neuromuscular_weakness"}),
    ]
    return ("none", "mild", "moderate", "high")[min(sum(steps), 3)]


def _uncertainty(patient: Patient) -> str:
    level = _ACTIONABILITY.index(_actionability(patient))
    return "high" if level >= 4 else "moderate" if level >= 2 else "low"


_ACTIONABILITY = (
    "none_or_fyi",
    "asynchronous_advice",
    "schedule_routine_visit_or_labs",
    "same_day_triage_or_call",
    "emergency_or_immediate_evaluation",
)
_FINDERS: Mapping[str, Finder] = {
    "message_actionability": _actionability,
    "acuity_conflict": _acuity_conflict,
    "infection_risk_context": _infection_risk,
    "medication_complication_context": _medicines,
    "frailty_or_fall_harm_risk": _frailty,
    "diagnostic_uncertainty": _uncertainty,
}


def _urgency(patient: Patient) -> int:
    """Urgency score of a patient: first the actionability of the message, then the number of risks in the record."""
    context = ("vascular_thrombotic_risk_context", "infection_risk_context")
    return 10 * _ACTIONABILITY.index(_actionability(patient)) + sum(len(_found(name, patient)) for name in context)


def _judge(filled: Mapping[str, Any]) -> Judgement:
    """The more urgent of two patients. The first wins a tie, a position bias that the judge's report must show."""
    return Judgement(more_urgent="first" if _urgency(filled["first"]) >= _urgency(filled["second"]) else "second")


def _reason(filled: Mapping[str, Any]) -> Reason:
    preferred, other = (_actionability(filled[name]) for name in ("preferred", "other"))
    return Reason(
        decisive_difference=f"by keywords, {preferred} against {other}",
        reasoning="The rules compare keywords and cannot reason.",
    )
