"""Characters that steer a terminal, break XML or cannot be seen are found and escaped; all other text is left alone."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.records.plain_text import escaped, unprintable

HOSTILE = {
    "\x00": r"\x00",
    "\x07": r"\x07",
    "\x0b": r"\x0b",
    "\x1b": r"\x1b",
    "\x7f": r"\x7f",
    "\x9b": r"\x9b",
    "\u2028": r"\u2028",
    "\u202e": r"\u202e",
    "\u2066": r"\u2066",
    "\ud800": r"\ud800",
    "\ufdd0": r"\ufdd0",
    "\ufeff": r"\ufeff",
    "\uffff": r"\uffff",
    "\U0010fffe": r"\U0010fffe",
    "\n": r"\n",
    "\t": r"\t",
}


@pytest.mark.parametrize("character", HOSTILE, ids=list(HOSTILE.values()))
def test_a_hostile_character_is_found_and_shown_as_its_escape(character: str) -> None:
    text = f"a{character}b{character}"
    assert unprintable(text) == character
    assert escaped(text) == f"a{HOSTILE[character]}b{HOSTILE[character]}"
    assert escaped(text, allowed=character) == text


def test_the_escape_shows_the_first_of_several() -> None:
    assert unprintable("a\x1b\u202e") == "\x1b"
    assert unprintable("a\n\x1b", allowed="\n") == "\x1b"


@pytest.mark.parametrize(
    "text", ["3* hotel", "茶", "🍣👩‍⚕️🏴\U000e0067\U000e007f", "שלום\u200f!", "می‌خواهم", r"C:\x1b", "a\u00a0b"]
)
def test_text_of_any_language_is_left_alone(text: str) -> None:
    assert unprintable(text) is None
    assert escaped(text) == text


@given(st.text(st.characters()))
def test_what_is_not_forbidden_holds_no_control_character_and_is_valid_xml(text: str) -> None:
    shown = escaped(text)
    assert unprintable(shown) is None
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]
    ElementTree.fromstring(f"<a>{shown.replace('&', '').replace('<', '')}</a>".encode())
