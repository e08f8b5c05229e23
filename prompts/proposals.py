"""What a proposed feature may not be: one there is already, the answer itself, or a patient's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from models.records.feature_spec import FeatureSpec

QUOTED_WORDS = 6
"""So many words in a row that also stand in a patient's text are a quotation."""

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
    """Why a proposal is not even tried; None if it may be. texts: all that patients wrote or their records hold."""
    if quotes_a_patient(spec, texts):
        return "quotes a patient"
    if _LABEL_IN_NAME.search(spec.name) or any(map(_LABEL_IN_WORDS.search, (spec.instruction, *spec.values))):
        return "leaks the label: it asks for the ranking itself"
    for other in known:
        if _says_the_same(spec, other):
            return f"duplicates {other.name}"
    return None


def quotes_a_patient(spec: FeatureSpec, texts: Iterable[str]) -> bool:
    """Whether words of a patient's text stand in the feature: several in a row, or one that holds digits."""
    said = [_words(part) for part in (spec.name.replace("_", " "), spec.instruction, *spec.values)]
    runs = {run for words in said for run in _runs(words)}
    telling = {word for words in said for word in words if len(word) > 3 and any(map(str.isdigit, word))}
    for text in texts:
        words = _words(text)
        if not telling.isdisjoint(words) or not runs.isdisjoint(_runs(words)):
            return True
    return False


def _says_the_same(spec: FeatureSpec, other: FeatureSpec) -> bool:
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
