"""Numbers and names as text for readers: rounded, and without underscores."""

from __future__ import annotations

import re
from collections.abc import Sequence

MISSING = "–"


def between(lower: float | None, upper: float | None, decimals: int = 3) -> str:
    """An interval, `0.700 to 0.750`; a dash if there is none.

    >>> between(0.7, 0.75)
    '0.700 to 0.750'
    """
    if lower is None or upper is None:
        return MISSING
    return f"{fixed(lower, decimals)} to {fixed(upper, decimals)}"


def fixed(value: float | None, decimals: int) -> str:
    """The value with a number of decimals; a dash if it is None. Zero after rounding has no sign.

    >>> fixed(-1234.5, 1), fixed(-0.004, 2)
    ('−1,234.5', '0.00')
    """
    return MISSING if value is None else f"{value:z,.{decimals}f}".replace("-", "−")


def percent(value: float | None, decimals: int) -> str:
    """A share between 0 and 1 in percent; a dash if it is None.

    It is rounded as a share, so that the same number rounds the same way as a share and in percent.

    >>> percent(0.385, 0), f"{0.385:.2f}"
    ('39%', '0.39')
    """
    return MISSING if value is None else f"{fixed(100 * round(value, decimals + 2), decimals)}%"


def share(value: float | None) -> str:
    """A share between 0 and 1, to three decimals; to more if it would round to 0 or 1 and is neither.

    >>> share(0.8936), share(0.99984), share(0.0), share(1.0)
    ('0.894', '0.9998', '0.000', '1.000')
    """
    if value is None:
        return MISSING
    return fixed(value, max(decimals_to_tell(value, 3), decimals_to_tell(1 - value, 3)))


def decimals_to_tell(value: float, decimals: int) -> int:
    """The decimals with which a value does not round to zero: at least so many, and at most three more.

    >>> decimals_to_tell(0.25, 1), decimals_to_tell(0.02, 1), decimals_to_tell(0.0, 1), decimals_to_tell(1e-9, 1)
    (1, 2, 1, 4)
    """
    enough = (more for more in range(decimals, decimals + 3) if abs(round(value, more)) > 0)
    return decimals if value == 0 else next(enough, decimals + 3)


def capital(text: str) -> str:
    """The text with its first letter as a capital, as at the start of a sentence.

    >>> capital("set A, no pair asked twice")
    'Set A, no pair asked twice'
    """
    return text[:1].upper() + text[1:]


def points(difference: float | None) -> str:
    """A difference of two shares in percentage points, signed, to one decimal."""
    return MISSING if difference is None else change(100 * difference)


def change(difference: float) -> str:
    """A signed difference, to one decimal; zero after rounding has no sign.

    >>> change(0.26), change(-0.04)
    ('+0.3', '0.0')
    """
    text = f"{difference:+,.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


def small(text: str) -> str:
    """The text with its first letter small, as after a colon.

    >>> small("The tree has a higher accuracy.")
    'the tree has a higher accuracy.'
    """
    return text[:1].lower() + text[1:]


def spaced(name: str) -> str:
    """A name from the data as words.

    >>> spaced("minor_group"), spaced("types=Fire")
    ('minor group', 'types: Fire')
    """
    return re.sub(r"(?<=\w)=(?=\w)", ": ", name.replace("_", " "))


def listed(words: Sequence[str]) -> str:
    """The words as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))
