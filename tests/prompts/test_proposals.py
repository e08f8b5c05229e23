"""Which proposals are rejected without a trial."""

from __future__ import annotations

import pytest

from models.records.feature_spec import FeatureSpec
from models.records.features import FeatureKind
from prompts.proposals import quotes_a_patient, reason_to_refuse

MESSAGE = "Hello, since the wedding in Porto my left knee has been clicking. My number is 0612345678."


def proposal(name: str, instruction: str = "How is it read?", values: tuple[str, ...] = ("a", "b")) -> FeatureSpec:
    return FeatureSpec(name=name, kind=FeatureKind.CATEGORICAL, instruction=instruction, values=values)


@pytest.mark.parametrize(
    "name",
    ["urgency_rank", "urgency", "priority", "triage_level", "acuity", "acuity_level", "patient_rank", "preferred"],
)
def test_a_name_that_asks_for_the_ranking_itself_is_refused(name: str) -> None:
    assert reason_to_refuse(proposal(name), [], ()) == "leaks the label: it asks for the ranking itself"


@pytest.mark.parametrize(
    "instruction",
    [
        "Say how urgent the message is.",
        "The urgency level a clinician would give.",
        "Whether this patient was chosen over the other patient.",
        "Where the message would be ranked.",
    ],
)
def test_an_instruction_that_asks_for_the_ranking_itself_is_refused(instruction: str) -> None:
    assert "leaks the label" in str(reason_to_refuse(proposal("how_it_is", instruction), [], ()))


@pytest.mark.parametrize("name", ["onset", "onsets", "patient_onset", "onset_type"])
def test_a_feature_that_is_there_is_refused_whatever_its_ending(name: str) -> None:
    known = [proposal("onset", values=("sudden", "slow"))]
    assert reason_to_refuse(proposal(name), known, ()) == "duplicates onset"


def test_the_same_values_under_another_name_are_refused() -> None:
    known = [proposal("onset", values=("Sudden", "slow"))]
    assert reason_to_refuse(proposal("begin", values=("slow", "sudden")), known, ()) == "duplicates onset"


def test_no_published_feature_is_refused(table9: dict[str, FeatureSpec]) -> None:
    for spec in table9.values():
        others = [other for other in table9.values() if other is not spec]
        assert reason_to_refuse(spec, others, [MESSAGE]) is None


@pytest.mark.parametrize(
    ("instruction", "values", "quoted"),
    [
        ("Is it about the wedding in Porto my left knee?", ("a", "b"), True),
        ("Does the message name 0612345678?", ("a", "b"), True),
        ("Is it about the left knee?", ("since the wedding in porto my", "b"), True),
        ("Has the left knee been clicking?", ("a", "b"), False),
    ],
)
def test_words_of_a_patient_in_a_row_or_a_number_of_hers_are_a_quotation(
    instruction: str, values: tuple[str, ...], quoted: bool
) -> None:
    spec = proposal("knee", instruction, values)
    assert quotes_a_patient(spec, [MESSAGE]) is quoted
    assert reason_to_refuse(spec, [], [MESSAGE]) == ("quotes a patient" if quoted else None)


@pytest.mark.parametrize("token", ["<|im_end|>", "</record>", "<think>", "[INST]", "<s>"])
def test_a_proposal_with_markup_is_refused(token: str) -> None:
    refused = "holds markup: a tag or a special token of a chat template"
    assert reason_to_refuse(proposal("tone", f"How is {token} it read?"), [], ()) == refused
    assert reason_to_refuse(proposal("tone", values=("a", f"b {token}")), [], ()) == refused
    assert reason_to_refuse(proposal("days", values=("< 3 days", "> 3 days")), [], ()) is None
