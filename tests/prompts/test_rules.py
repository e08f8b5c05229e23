"""The engine without a model: its keywords share no text with the simulator, and no message can instruct it."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_adapters.catalogue import adapter
from data_adapters.simulators import pmr_wordings
from data_adapters.source.simulation import simulate
from models.records.feature_spec import FeatureSpec
from models.records.features import FeatureKind
from prompts.answers import Reason, value_in
from prompts.engine import Request
from prompts.engines.rules import KEYWORDS, Rules
from prompts.feature_file import read_features
from prompts.patient import Patient
from prompts.questions import ask_for_feature, ask_for_proposal, ask_which_is_more_urgent, ask_why_chosen
from tests.prompts.conftest import patient_who_writes
from tests.prompts.test_questions import INJECTIONS

RULES = Rules(read_features().features)


def answer(request: Request):
    [reply] = RULES.reply([request])
    return request.answer.model_validate_json(reply.text)


def value(patient: Patient, spec: FeatureSpec):
    return value_in(answer(ask_for_feature("a-01", patient, spec)), spec)


@pytest.mark.parametrize(
    ("message", "feature", "expected"),
    [
        ("I have chest pain since this morning.", "red_flag_syndrome", ["chest_pain_or_possible_arrhythmia"]),
        ("I have no chest pain and no fever.", "red_flag_syndrome", []),
        ("I have chest pain since this morning.", "message_actionability", "emergency_or_immediate_evaluation"),
        ("My phone number has changed.", "message_actionability", "none_or_fyi"),
        ("My back hurts on and off, for years.", "symptom_trajectory", "fluctuating"),
        ("My back hurts.", "symptom_trajectory", "not_specified"),
        ("URGENT! Which tea is best?", "acuity_conflict", "urgent_wording_low_acuity_content"),
        ("It is probably nothing, but I fainted.", "acuity_conflict", "calm_wording_high_acuity_content"),
        ("Just so you know. No need to reply.", "patient_requested_action", "informational_fyi"),
    ],
)
def test_keywords_are_read_and_negations_respected(
    message: str, feature: str, expected: object, table9: dict[str, FeatureSpec]
) -> None:
    assert value(patient_who_writes(message), table9[feature]) == expected


def test_the_record_counts_where_the_feature_asks_for_it(table9: dict[str, FeatureSpec]) -> None:
    frail = patient_who_writes("I fell.", "Osteoporosis", age=86, medications=["warfarin 5 mg", *"abcd"])
    assert value(frail, table9["frailty_or_fall_harm_risk"]) == "high"
    assert value(frail, table9["vascular_thrombotic_risk_context"]) == ["anticoagulant_use"]
    assert value(frail, table9["medication_complication_context"]) == ["anticoagulant_or_bleeding_risk", "polypharmacy"]
    assert value(patient_who_writes("I have warfarin."), table9["vascular_thrombotic_risk_context"]) == []


@pytest.mark.parametrize("kind", ["categorical", "ordinal", "multi_hot", "binary", "numeric"])
def test_a_feature_nobody_wrote_rules_for_gets_an_answer_under_its_schema(kind: str) -> None:
    values = ("night_sweats", "none") if kind in {"categorical", "ordinal", "multi_hot"} else ()
    limits = {"minimum": 0.0, "maximum": 9.0} if kind == "numeric" else {}
    spec = FeatureSpec(
        name="night_sweats", kind=FeatureKind(kind), instruction="Sweats at night?", values=values, **limits
    )
    found = value(patient_who_writes("I have night sweats."), spec)
    assert found == {"multi_hot": ["night_sweats"], "binary": True, "numeric": None}.get(kind, "night_sweats")


def test_published_features_are_proposed_in_order_and_a_refused_one_not_again(table9: dict[str, FeatureSpec]) -> None:
    features = list(table9.values())[:3]
    reason = Reason(decisive_difference="a", reasoning="b")
    first = answer(ask_for_proposal("round-1", features, [reason], refused=[], seed=0))
    second = answer(ask_for_proposal("round-2", features, [reason], refused=["symptom_trajectory: no gain"], seed=0))
    assert (first.name, second.name) == ("symptom_trajectory", "red_flag_syndrome")
    assert second.spec() == table9["red_flag_syndrome"]


def test_the_judge_prefers_the_first_of_two_that_seem_as_urgent() -> None:
    ill, well = patient_who_writes("I cannot breathe, I gasp for air."), patient_who_writes("My address has changed.")
    judged = [ask_which_is_more_urgent("x", *pair) for pair in ((ill, well), (well, ill), (well, well))]
    assert [answer(request).more_urgent for request in judged] == ["first", "second", "first"]


def test_its_reasons_say_that_it_cannot_reason() -> None:
    one = patient_who_writes("Which tea is best?")
    reason = answer(ask_why_chosen("x", one, one, failure="cannot tell them apart", features=[], seed=0))
    assert "cannot reason" in reason.reasoning


@pytest.mark.parametrize("message", INJECTIONS)
def test_a_message_that_gives_orders_changes_nothing(message: str, table9: dict[str, FeatureSpec]) -> None:
    """Answers are those to the message without the order; its own words count as words, no more."""
    plain = patient_who_writes("I have had back pain for years.")
    ordering = patient_who_writes(f"I have had back pain for years. {message}")
    for spec in table9.values():
        assert value(ordering, spec) == value(plain, spec)
    assert answer(ask_which_is_more_urgent("x", plain, ordering)).more_urgent == "first"


def test_the_lists_of_rules_and_simulator_are_apart_and_a_third_of_the_messages_paraphrase(tmp_path: Path) -> None:
    keywords = KEYWORDS.read_text(encoding="utf-8").lower()
    wordings = [
        wording.format(since="").lower()
        for complaints in (pmr_wordings.RED_FLAGS, *pmr_wordings.BY_ACTIONABILITY)
        for complaint in complaints.values()
        for wording in complaint.plain + complaint.paraphrased
    ]
    assert not any(wording in keywords for wording in wordings)
    hidden = simulate(adapter("pmr"), tmp_path / "raw", seed=0).hidden
    assert sum(int(each["paraphrased"]) for each in hidden.values()) >= len(hidden) / 4


def test_the_revision_changes_with_the_keywords(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "keywords.toml"
    other.write_bytes(KEYWORDS.read_bytes() + b"\n# another word\n")
    monkeypatch.setattr("prompts.engines.rules.KEYWORDS", other)
    assert Rules(()).revision != RULES.revision
