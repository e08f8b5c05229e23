"""Progress messages through `logging`: a terminal, Prefect's log and a test all receive the same ones.

A log record carries `step` (its name) and one of `total` (the step begins; None if its length is unknown), `advance`
(the number of further parts done) and `seconds` (the step has ended).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from models.records.run_record import StepTime

LOGGER = logging.getLogger("prefstudy")


@contextmanager
def step(name: str, *, total: int | None = None, into: list[StepTime] | None = None) -> Iterator[None]:
    """Log the start and end of a step of `total` parts, and append its time to `into`."""
    LOGGER.info("%s", name, extra={"step": name, "total": total})
    start = time.perf_counter()
    yield
    taken = StepTime(step=name, seconds=round(time.perf_counter() - start, 3))
    if into is not None:
        into.append(taken)
    LOGGER.info("%s: done in %.1f s", name, taken.seconds, extra={"step": name, "seconds": taken.seconds})


def advance(name: str, by: int = 1) -> None:
    """Log that `by` more parts of the step `name` are done."""
    LOGGER.info("%s: %d more", name, by, extra={"step": name, "advance": by})
