"""Differences of final regrets, paired over runs: all models share the first questions of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from models.records.arrays import FloatArray
from models.records.results import MetricRow
from models.records.studies.benchmark_results import (
    ALL_FUNCTIONS,
    BASE,
    BASE_SETTING,
    BEST,
    CONVERGENCE,
    DEPTH,
    DIMENSIONS,
    ESTIMATE,
    FINAL_REGRET,
    FUNCTION,
    GAP,
    GAP_IN_SDS,
    GAPS,
    IN_SDS,
    IN_SDS_LOWER,
    IN_SDS_UPPER,
    KERNELS,
    LOWER,
    MODEL,
    NOISE,
    OTHER_FUNCTIONS,
    OTHER_STARTS,
    OVER,
    PART,
    RATIO,
    REGRET,
    RUN,
    SETTING,
    SMOOTH,
    STUDY,
    TREE,
    UNLIMITED,
    UPPER,
    WITHOUT_SMOOTH,
    against,
    variant,
)
from models.scores.comparing import Difference, mean_difference
from models.scores.jackknife import difference_in_sds
from tasks.benchmark.plan import BenchmarkConfig
from tasks.benchmark.summaries import over_runs
from tasks.runs.results import write_metrics, write_parquet

ASKED = "asked"
"""The split of all metrics here: what was found by asking."""


class Compared(NamedTuple):
    """The regret of a model in a setting minus that of another, as it is and in standard deviations.

    base_setting: `BEST` for the setting of the base with the lowest mean.
    """

    part: str
    function: str
    model: str
    setting: str
    base: str
    base_setting: str
    gap: Difference
    in_sds: Difference

    @property
    def name(self) -> str:
        """The variant of its metrics."""
        return against(
            variant(self.function, self.part, self.setting), variant(self.base, self.part, self.base_setting)
        )


class _Regrets:
    """Final regrets of all cells, by run."""

    def __init__(self, finals: pd.DataFrame) -> None:
        keys = [PART, FUNCTION, MODEL, SETTING]
        self._of: dict[tuple[str, ...], FloatArray] = {
            tuple(map(str, key)): rows.sort_values(RUN)[REGRET].to_numpy(np.float64)
            for key, rows in finals.groupby(keys, sort=False)
        }

    def cells(self, part: str) -> list[tuple[str, str, str]]:
        """Function, model and setting of each cell of a part."""
        return [(key[1], key[2], key[3]) for key in self._of if key[0] == part]

    def of(self, part: str, function: str, model: str, setting: str = "") -> FloatArray:
        """The regret of each run."""
        if setting == BEST:
            candidates = [each for each in self.cells(part) if each[:2] == (function, model)]
            return min((self._of[part, *each] for each in candidates), key=lambda found: float(found.mean()))
        return self._of[part, function, model, setting]

    def compared(self, part: str, function: str, one: tuple[str, str], other: tuple[str, str]) -> Compared:
        """One model and setting against another."""
        first, second = self.of(part, function, *one), self.of(part, function, *other)
        return Compared(
            part, function, *one, *other, mean_difference(first - second, over=OTHER_STARTS),
            difference_in_sds(first, second, over=OTHER_STARTS),
        )  # fmt: skip


def compare(config: BenchmarkConfig, finals: pd.DataFrame) -> list[Compared]:
    """The comparisons that the report and the claims lean on. finals: a row for each run of a cell."""
    regrets = _Regrets(finals)
    single = [*_models(regrets), *_kernels(regrets), *_settings(config, regrets)]
    return [*single, *_over_functions(single)]


def write_comparisons(config: BenchmarkConfig, finals: pd.DataFrame, results: Path) -> None:
    """Write `regret_gaps.parquet` and `metrics.json`. finals: see `compare`."""
    compared = compare(config, finals) if len(finals) else []
    if compared:
        rows = [_row(each) for each in compared]
        write_parquet(results / f"{GAPS}.parquet", pa.Table.from_pandas(pd.DataFrame(rows), preserve_index=False))
    # A cell that serves two parts under the same name is one metric.
    rows_once = dict.fromkeys([*_found(config, finals), *_gaps(config, compared)])
    write_metrics(results / "metrics.json", list(rows_once))


def _models(regrets: _Regrets) -> Iterator[Compared]:
    """Every two models on every function, in every dimension, and under every noise."""
    for part in (CONVERGENCE, DIMENSIONS, NOISE):
        cells = regrets.cells(part)
        for at, (function, model, setting) in enumerate(cells):
            for other_function, other, other_setting in cells[at + 1 :]:
                if (function, setting) == (other_function, other_setting):
                    yield regrets.compared(part, function, (model, setting), (other, setting))


def _kernels(regrets: _Regrets) -> Iterator[Compared]:
    """The tree against each kernel of the processes, and against the one with the lowest regret."""
    cells = regrets.cells(KERNELS)
    for function in dict.fromkeys(function for function, model, _ in cells if model == TREE):
        for other, kernel in [(model, kernel) for name, model, kernel in cells if name == function and model != TREE]:
            yield regrets.compared(KERNELS, function, (TREE, ""), (other, kernel))
        for other in dict.fromkeys(model for name, model, _ in cells if name == function and model != TREE):
            yield regrets.compared(KERNELS, function, (TREE, ""), (other, BEST))


def _settings(config: BenchmarkConfig, regrets: _Regrets) -> Iterator[Compared]:
    """Each ratio against the usual one, each limit of depth against none."""
    for part, base in ((RATIO, f"{config.tree.ratio:g}"), (DEPTH, UNLIMITED)):
        for function, model, setting in regrets.cells(part):
            if setting != base:
                yield regrets.compared(part, function, (model, setting), (model, base))


def _over_functions(single: Sequence[Compared]) -> Iterator[Compared]:
    """The mean over functions of each comparison in standard deviations, with its interval over other functions."""
    alike: dict[tuple[str, str, str, str, str], list[Compared]] = {}
    for each in single:
        alike.setdefault((each.part, each.model, each.setting, each.base, each.base_setting), []).append(each)
    for (part, model, setting, base, base_setting), found in alike.items():
        for group, left_out in ((ALL_FUNCTIONS, ()), (WITHOUT_SMOOTH, SMOOTH)):
            sds = [each.in_sds.estimate for each in found if each.function not in left_out]
            known = np.array([each for each in sds if each is not None])
            nothing = Difference(estimate=None, over=OTHER_FUNCTIONS)
            gap = mean_difference(known, over=OTHER_FUNCTIONS)
            yield Compared(part, group, model, setting, base, base_setting, nothing, gap)


def _row(each: Compared) -> dict[str, object]:
    return {
        PART: each.part, FUNCTION: each.function, MODEL: each.model, SETTING: each.setting, BASE: each.base,
        BASE_SETTING: each.base_setting, ESTIMATE: each.gap.estimate, LOWER: each.gap.lower, UPPER: each.gap.upper,
        IN_SDS: each.in_sds.estimate, IN_SDS_LOWER: each.in_sds.lower, IN_SDS_UPPER: each.in_sds.upper,
        OVER: each.in_sds.over,
    }  # fmt: skip


def _found(config: BenchmarkConfig, finals: pd.DataFrame) -> Iterator[MetricRow]:
    """The mean final regret of each cell."""
    if not len(finals):
        return
    for (part, function, model, setting), rows in finals.groupby([PART, FUNCTION, MODEL, SETTING], sort=False):
        about = {name: float(value[0]) for name, value in over_runs(rows[REGRET].to_numpy(np.float64)[None]).items()}
        yield MetricRow(
            study=STUDY, model=str(model), variant=variant(str(function), str(part), str(setting)), metric=FINAL_REGRET,
            split=ASKED, at=config.questions, value=about["mean"], sd=about["sd"], n=len(rows), lower=about["lower"],
            upper=about["upper"], over=OTHER_STARTS,
        )  # fmt: skip


def _gaps(config: BenchmarkConfig, compared: Sequence[Compared]) -> Iterator[MetricRow]:
    for each in compared:
        for metric, found in ((GAP, each.gap), (GAP_IN_SDS, each.in_sds)):
            if found.estimate is not None:
                yield MetricRow(
                    study=STUDY, model=each.model, variant=each.name, metric=metric, split=ASKED, at=config.questions,
                    value=found.estimate, lower=found.lower, upper=found.upper, over=found.over,
                )  # fmt: skip
