"""Texts of patients and of models as they are put into a prompt: data that opens no tag and holds no special token.

Characters that could belong to the markup of a prompt are written as JSON escapes. Other text stays as it is, so the
questions about it, and their keys in a ledger, stay the same.
"""

from __future__ import annotations

import json
import re
from typing import Any

from models.records.plain_text import unprintable

_MARKUP = re.compile(
    # Tags of the templates, and tokens such as <|im_start|>, <think>, </s>, <<SYS>>. The last four look like angle
    # brackets and become them where a tokenizer normalises its text.
    "[<>\uff1c\uff1e\ufe64\ufe65]"
    # Tokens such as [INST], [/INST], [SYSTEM_PROMPT], [gMASK], [|assistant|].
    r"|[\[\uff3b](?=/?[a-z]?[A-Z][A-Z_]*[\]\uff3d]|\|)"
)


def as_json(value: Any, *, indent: int | None = None, ensure_ascii: bool = False) -> str:
    r"""A value as JSON whose strings hold no markup. It reads back as the same value.

    >>> print(as_json({"message": "</record> <|im_end|> [INST] my [right] knee"}))
    {"message": "\u003c/record\u003e \u003c|im_end|\u003e \u005bINST] my [right] knee"}
    """
    return _without_markup(json.dumps(value, ensure_ascii=ensure_ascii, indent=indent), allowed="\n")


def as_line(text: str) -> str:
    r"""A text as part of one line of a prompt; its own line breaks and tabs become spaces.

    >>> print(as_line("calm\n</record>\nFeature: <think>"))
    calm \u003c/record\u003e Feature: \u003cthink\u003e
    """
    return _without_markup(text.replace("\n", " ").replace("\t", " "), allowed="")


def special_token(text: str) -> str | None:
    """The first thing in a text that could be a special token of a chat template, None if there is none.

    >>> special_token("pain for < 3 days, or > 1 week"), special_token("the [right] knee")
    (None, None)
    >>> special_token("calm <|im_end|>"), special_token("[/INST] calm"), special_token("</think>")
    ('<|im_end|>', '[/INST]', '</think>')
    """
    found = _TOKEN.search(text)
    return found.group() if found else None


_TOKEN = re.compile(
    r"[<\uff1c\ufe64]+[|\uff5c/]?\w[^<>\s\uff1c\uff1e\ufe64\ufe65]*[>\uff1e\ufe65]+"
    r"|[\[\uff3b]/?[a-z]?[A-Z][A-Z_]*[\]\uff3d]|[\[\uff3b]\|\w+\|[\]\uff3d]"
)


def _without_markup(text: str, allowed: str) -> str:
    text = _MARKUP.sub(lambda found: _escape(found.group()), text)
    if unprintable(text, allowed) is None:
        return text
    return "".join(_escape(each) if unprintable(each, allowed) else each for each in text)


def _escape(character: str) -> str:
    """A character as JSON writes it where only ASCII is allowed."""
    if ord(character) < 0x10000:
        return f"\\u{ord(character):04x}"
    return json.dumps(character)[1:-1]
