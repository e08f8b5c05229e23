"""Numbers and names as a reader meets them: rounded to what they can bear, and without a program's spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence

MISSING = "–"


def fixed(value: float | None, decimals: int) -> str:
    """The value with so many decimals; a dash if there is none."""
    return MISSING if value is None else f"{value:,.{decimals}f}".replace("-", "−")


def share(value: float | None) -> str:
    """A share between 0 and 1, to three decimals."""
    return fixed(value, 3)


def points(difference: float | None) -> str:
    """A difference of two shares in percentage points, signed, to one decimal."""
    return MISSING if difference is None else change(100 * difference)


def change(difference: float) -> str:
    """A signed difference, to one decimal; what rounds to nothing has no sign."""
    text = f"{difference:+,.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


def spaced(name: str) -> str:
    """A name from the data as words: `minor_group` is minor group, and `types=Fire` is types: Fire."""
    return re.sub(r"(?<=\w)=(?=\w)", ": ", name.replace("_", " "))


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))
