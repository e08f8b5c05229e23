"""How a text is spelled: ids that could be taken for others, and texts as an error shows them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from models.records.plain_text import escaped

IN_PROSE = "\n\r\t"
"""Characters that a long text may have, and a name may not."""
SHOWN = 80
"""Characters of a text that an error shows."""

NOT_A_NUMBER = frozenset({
    "nan", "NaN", "NAN", "-nan", "inf", "Inf", "INF", "-inf", "-Inf", "-INF", "+inf", "Infinity", "-Infinity", "<NA>",
    "NaT",
})  # fmt: skip
"""What programs write for a missing or an infinite number."""
SHEET_ERRORS = frozenset({"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!"})
"""What a spreadsheet shows in place of a value."""


def quoted(text: str) -> str:
    r"""The beginning of a text in quotes, with control characters as escapes.

    >>> quoted("a\x1bb")
    "'a\\x1bb'"
    """
    shown = repr(text[:SHOWN])
    return escaped(f"{shown} ..." if len(text) > SHOWN else shown)


def unfit_name(text: str) -> str | None:
    """What an id or a label would have to be and is not; None for one that is fine.

    >>> unfit_name(" 1")
    'without a space at its ends'
    """
    if text != text.strip():
        return "without a space at its ends"
    if text in NOT_A_NUMBER or text in SHEET_ERRORS:
        return "not the mark of a missing number, an infinite one or an error"
    return None


def same_looks(texts: Iterable[str]) -> set[str]:
    r"""The texts of which another one has the same letters in another Unicode form.

    >>> sorted(map(ascii, same_looks(["caf\u00e9", "cafe\u0301", "tea"])))
    ["'caf\\xe9'", "'cafe\\u0301'"]
    """
    forms: dict[str, set[str]] = {}
    for text in set(texts):
        if not text.isascii():
            forms.setdefault(unicodedata.normalize("NFC", text), set()).add(text)
    return {text for spellings in forms.values() if len(spellings) > 1 for text in spellings}


def other_form(text: str, known: Iterable[str]) -> str | None:
    r"""The known text that has the same letters in another Unicode form, None if there is none.

    >>> other_form("cafe\u0301", ["tea", "caf\u00e9"]) == "caf\u00e9"
    True
    """
    if text.isascii():
        return None
    plain = unicodedata.normalize("NFC", text)
    return next((each for each in known if each != text and unicodedata.normalize("NFC", each) == plain), None)
