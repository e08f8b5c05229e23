"""The results of a run of the benchmark study, read for its page, and its names in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from models.benchmarks.functions import FUNCTIONS, benchmark_function
from models.records.studies.benchmark_results import (
    BASE,
    BASE_SETTING,
    CONVERGENCE,
    ESTIMATE,
    FIGURES,
    FINAL_REGRET,
    FUNCTION,
    GAPS,
    IN_SDS,
    IN_SDS_LOWER,
    IN_SDS_UPPER,
    LOWER,
    MODEL,
    MODELS,
    OVER,
    PART,
    SETTING,
    UPPER,
    variant,
)
from models.scores.comparing import Difference
from reports.page.blocks import Picture
from reports.page.finished_run import FinishedRun, Found
from reports.page.wording import MISSING, fixed

SHORT: Mapping[str, str] = {
    "tree": "tree", "forest": "forest", "gp": "GP", "skew_gp": "SkewGP", "random_pairs": "random"
}  # fmt: skip
"""The models as labels of lines and columns."""
LOOKS: Mapping[str, int] = {model: look for look, model in enumerate(MODELS)}
"""The place of each model in the looks of lines."""
_KEYS = (PART, FUNCTION, MODEL, SETTING, BASE, BASE_SETTING)
_GAP, _GAP_IN_SDS = (ESTIMATE, LOWER, UPPER), (IN_SDS, IN_SDS_LOWER, IN_SDS_UPPER)


class Results:
    """The functions and models of a run, its final regrets, and the differences between them."""

    def __init__(self, run: FinishedRun) -> None:
        """Read the run. Raises NotARunError if its results are missing or malformed."""
        config = run.record.config
        self.run = run
        self.functions: tuple[str, ...] = tuple(name for name in FUNCTIONS if name in config["functions"])
        self.models: tuple[str, ...] = tuple(name for name in MODELS if name in config["models"])
        self.runs, self.questions = int(config["runs"]), int(config["questions"])
        self._parts = {*config["parts"], *(FIGURES if config["everything"] else ())}
        self._found = {(row.model, row.variant): row for row in run.metrics if row.metric == FINAL_REGRET}
        self._gaps = self._read_gaps()

    def _read_gaps(self) -> dict[tuple[str, ...], dict[str, Any]]:
        """The differences by part, function, model, setting, base and setting of the base."""
        if not (self.run.path / "results" / f"{GAPS}.parquet").is_file():
            return {}
        rows = self.run.table(GAPS, (*_KEYS, *_GAP, *_GAP_IN_SDS, OVER)).to_dict("records")
        return {tuple(str(row[key]) for key in _KEYS): {str(name): row[name] for name in row} for row in rows}

    def has(self, part: str) -> bool:
        """Whether the run has a part."""
        return part in self._parts

    def regret(self, function: str, model: str, part: str = CONVERGENCE, setting: str = "") -> Found | None:
        """The mean final regret of a model on a function; None if the run does not have it."""
        row = self._found.get((model, variant(function, part, setting)))
        if row is None or row.value is None:
            return None
        return Found(row.value, row.sd, row.n, None, None, row.lower, row.upper, row.over)

    def gap(
        self,
        function: str,
        model: str,
        base: str,
        *,
        part: str = CONVERGENCE,
        setting: str = "",
        base_setting: str = "",
        in_sds: bool = False,
    ) -> Difference | None:
        """The final regret of a model minus that of another, or the other way round; None if the run lacks both."""
        one, other = (model, setting), (base, base_setting)
        for first, second, turned in ((one, other, False), (other, one, True)):
            row = self._gaps.get((part, function, *first, *second))
            if row is not None:
                names = _GAP_IN_SDS if in_sds else _GAP
                value, lower, upper = (None if pd.isna(row[name]) else float(row[name]) for name in names)
                found = Difference(estimate=value, lower=lower, upper=upper, over=str(row[OVER]))
                return found.reversed if turned else found
        return None


def title(function: str, n_dimensions: int | None = None) -> str:
    """The name of a function as the paper writes it, with its dimensions."""
    return benchmark_function(function, n_dimensions).title


def plain_title(function: str) -> str:
    """The name of a function without its dimensions."""
    return title(function).rpartition(" ")[0]


def number(value: float | None) -> str:
    """A regret or a time, to three significant digits or to a whole number.

    >>> number(0.01234), number(1234.56), number(0.0), number(0.00001)
    ('0.0123', '1,235', '0', '<0.0001')
    """
    if value is None or pd.isna(value):
        return MISSING
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        return "<0.0001" if value > 0 else "0"
    if abs(value) >= 100:
        return fixed(value, 0)
    digits = next(decimals for decimals in range(7) if abs(value) * 10**decimals >= 100 or decimals == 6)
    return fixed(value, min(digits, 4))


def in_text(difference: Difference | None) -> str:
    """A difference in standard deviations with its interval, `0.8 (0.1 to 1.5)`; a dagger where zero lies outside."""
    if difference is None or difference.estimate is None:
        return MISSING
    text = fixed(difference.estimate, 1)
    if difference.lower is None or difference.upper is None:
        return text
    mark = "†" if difference.outcome in {"higher", "lower"} else ""
    return f"{text}{mark} ({fixed(difference.lower, 1)} to {fixed(difference.upper, 1)})"


def in_pairs(pictures: Sequence[Picture]) -> list[list[Picture]]:
    """Pictures two by two, as figures show them side by side."""
    return [list(pictures[at : at + 2]) for at in range(0, len(pictures), 2)]
