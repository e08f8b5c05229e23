r"""Characters that no file, page or terminal should hold: found where data is read, escaped where text is shown.

They steer a terminal, turn the reading direction, break XML or cannot be seen, so two different labels look the same.
"""

from __future__ import annotations

import re
from functools import cache

# Control characters (C0, DEL, C1), line and paragraph separators, embeddings, overrides and isolates of the reading
# direction, the byte order mark within a text, surrogates without their partner, and the 66 non-characters of Unicode.
_FORBIDDEN = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufdd0-\ufdef" + "".join(
    f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)


@cache
def _pattern(allowed: str) -> re.Pattern[str]:
    spared = f"(?![{re.escape(allowed)}])" if allowed else ""
    return re.compile(f"{spared}[{_FORBIDDEN}]")


def unprintable(text: str, allowed: str = "") -> str | None:
    r"""The first forbidden character of a text, None if there is none.

    allowed: characters that this text may hold although they are forbidden elsewhere, such as "\n\t" in a message.

    >>> unprintable("plain café 茶 🍣") is None
    True
    >>> unprintable("a\x1b[31m")
    '\x1b'
    >>> unprintable("two\nlines", allowed="\n\t") is None
    True
    """
    found = _pattern(allowed).search(text)
    return found.group() if found else None


def escaped(text: str, allowed: str = "") -> str:
    r"""The text with each forbidden character as its escape, such as \x1b or \u202e; all else is unchanged.

    >>> print(escaped("evil\x1b[31m \u202e"))
    evil\x1b[31m \u202e
    >>> print(escaped("two\nlines"))
    two\nlines
    """
    return _pattern(allowed).sub(_as_escape, text)


def _as_escape(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
