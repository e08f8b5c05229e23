"""Checks of a proposed feature: it may not repeat a known one, ask for the ranking, hold markup or quote a patient."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from models.records.feature_spec import FeatureSpec
from prompts.as_data import special_token

QUOTED_WORDS = 6
"""Number of consecutive words shared with a patient's text that count as a quotation."""

_LABEL_IN_NAME = re.compile(
    r"urgen|priorit|(^|_)rank|acuity(_(level|score|class|rank))?$|triage_(level|score|category|class)|pair_label"
    r"|(^|_)(preferred|chosen|winner|label)(_|$)"
)
_LABEL_IN_WORDS = re.compile(
    r"\b(urgency|priority|triage|acuity) (level|rank|ranking|score|class|category)\b|\bhow urgent\b|\brank(ed|ing)?\b"
    r"|\b(pair|true|gold) label\b|\bwhich of the (two|patients)\b|\bother (patient|message)\b"
    r"|\b(was|is|be) (chosen|preferred|answered first)\b|\bclinicians?'? (choice|preferred|chose)\b",
    re.IGNORECASE,
)
_FILLERS = {
    "a",
    "an",
    "and",
    "of",
    "or",
    "the",
    "is",
    "has",
    "present",
    "patient",
    "type",
    "status",
    "level",
    "context",
}


def reason_to_refuse(spec: FeatureSpec, known: Sequence[FeatureSpec], texts: Iterable[str]) -> str | None:
    """Why a proposal is rejected without a trial; None if it may be tried. texts: all messages and records.

    >>> from prompts.feature_file import read_features
    >>> first, second, *_ = read_features().features
    >>> reason_to_refuse(first, [first, second], texts=[]), reason_to_refuse(first, [second], texts=[])
    ('duplicates patient_requested_action', None)
    """
    if quotes_a_patient(spec, texts):
        return "quotes a patient"
    if any(map(special_token, (spec.instruction, *spec.values))):
        return "holds markup: a tag or a special token of a chat template"
    if _LABEL_IN_NAME.search(spec.name) or any(map(_LABEL_IN_WORDS.search, (spec.instruction, *spec.values))):
        return "leaks the label: it asks for the ranking itself"
    for other in known:
        if _is_duplicate(spec, other):
            return f"duplicates {other.name}"
    return None


def quotes_a_patient(spec: FeatureSpec, texts: Iterable[str]) -> bool:
    """Whether the feature shares `QUOTED_WORDS` consecutive words, or a word with digits, with a patient's text.

    >>> spec = FeatureSpec(name="fever", kind="binary", instruction="Does the patient burn up every single night now?")
    >>> quotes_a_patient(spec, ["Help, I burn up every single night now."])
    True
    """
    own_words = [_words(part) for part in (spec.name.replace("_", " "), spec.instruction, *spec.values)]
    runs = {run for words in own_words for run in _runs(words)}
    with_digits = {word for words in own_words for word in words if len(word) > 3 and any(map(str.isdigit, word))}
    for text in texts:
        words = _words(text)
        if not with_digits.isdisjoint(words) or not runs.isdisjoint(_runs(words)):
            return True
    return False


def _is_duplicate(spec: FeatureSpec, other: FeatureSpec) -> bool:
    mine, theirs = (_stems(each.name) for each in (spec, other))
    values = {value.lower() for value in spec.values}
    same_values = len(values) > 1 and values == {value.lower() for value in other.values}
    return mine == theirs or same_values


def _stems(name: str) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in name.split("_") if word not in _FILLERS)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + QUOTED_WORDS]) for at in range(len(words) - QUOTED_WORDS + 1)}
