"""The words and ranges that the parameters of growth take."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from sklearn.utils._param_validation import Interval

from models.numerics.validation import words_of
from models.trees.growth.splits import TieBreak

Straddlers = Literal["discard", "keep"]
CategoriesOf = Literal["region", "pairs"]

LEAST_RATIO = 1e-3
"""Below it, the variance that a leaf shares with all others drowns what is known of their differences."""
GROWTH_CONSTRAINTS: dict[str, list[Any]] = {
    "max_categories": [Interval(Integral, 1, None, closed="left"), None],
    "categories_of": [words_of(CategoriesOf)],
    "straddlers": [words_of(Straddlers)],
    "tie_break": [words_of(TieBreak)],
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
    "min_samples_split": [Interval(Integral, 1, None, closed="left")],
    "min_score": [Interval(Real, 0, 1, closed="both")],
}
"""Valid values of the parameters of `Growth`, in scikit-learn's terms."""


def refuse_old_words(straddlers: object) -> None:
    """Raise ValueError, with the new word, for the words earlier versions used for `straddlers`.

    >>> refuse_old_words("kept")
    Traceback (most recent call last):
    ...
    ValueError: straddlers is now 'discard' or 'keep': write 'keep' for 'kept'
    """
    new = {"discarded": "discard", "kept": "keep"}
    if isinstance(straddlers, str) and straddlers in new:
        raise ValueError(f"straddlers is now 'discard' or 'keep': write {new[straddlers]!r} for {straddlers!r}")


def _in_new_words(straddlers: object) -> object:
    refuse_old_words(straddlers)
    return straddlers


StraddlersSetting = Annotated[Straddlers, BeforeValidator(_in_new_words)]
"""The type of a setting; an old word is refused with the new one."""
