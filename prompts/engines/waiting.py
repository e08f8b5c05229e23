"""How long to wait before a server is asked again."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds before the first retry, and most before a later one, where the server asks for nothing."""
LONGEST_ASKED_FOR = 600.0
"""Longest time, in seconds, that a server may ask to wait."""


def pause_before(retry: int, asked_for: float | None) -> float | None:
    """Seconds to wait before a retry (0, 1, ...); None if the server asks to wait for too long.

    >>> [pause_before(retry, None) for retry in range(6)]
    [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    >>> pause_before(0, 45.0), pause_before(0, 86_400.0)
    (45.0, None)
    """
    if asked_for is None:
        return min(FIRST_PAUSE * 2.0**retry, LONGEST_PAUSE)
    return None if asked_for > LONGEST_ASKED_FOR else asked_for


def seconds_asked_for(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the header Retry-After, a number or a date; None if there is none or it means nothing.

    >>> seconds_asked_for({"retry-after": "45"}), seconds_asked_for({"retry-after": "soon"}), seconds_asked_for({})
    (45.0, None, None)
    """
    said = headers.get("retry-after")
    if said is None:
        return None
    try:
        seconds = float(said)
    except ValueError:
        date = parsedate_tz(said)
        try:
            seconds = math.nan if date is None else mktime_tz(date) - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(seconds) else max(seconds, 0.0)
