"""Duels of known preferences: as many as the chameleons', of the synthetic rule, and of tennis cut small."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.selection import fit
from models.records.arrays import FloatArray, IntArray
from models.records.duel_results import KernelModel
from models.records.features import Column, FeatureKind
from models.scores.duel_splits import Duels, Split, hold_out
from models.scores.rankability import Rankability, dominance, mean_rankability, rankability, spec_r, spec_r_interval
from models.shap.explanation import ShapSettings
from models.shap.findings import Finding, judge, quotient_of
from tasks.duels.explain_duels import explain_duels, pooled
from tasks.duels.explanation_results import Explained
from tasks.duels.explanation_settings import DuelKind
from tasks.duels.published_findings import SYNTHETIC
from tasks.duels.refits import Model, fit_portion, portions, read_refits
from tests.benchmarks.shapes.told import Group, Parts, Told

REFITS = 10
"""Half as many as in the studies, to save time. Fewer refits make the intervals wider, not less often right."""
STUDIED, DRAWN = 4, 16
"""Data sets of a group that are studied with intervals, and data sets that only tell the truth."""
SETTINGS = ShapSettings(jobs=1)
_SAID = {"source": "simulated", "claim": "known"}


def numbers(*names: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(Column(name=name, feature=name, kind=FeatureKind.NUMERIC) for name in names)


@dataclass(frozen=True, eq=False)
class DuelShape:
    """A kind of duels, the models fitted to them with fixed settings, and the findings that are judged.

    items: draws the features (n, d) and what else decides (n,). chance: the probability that the first of each pair
    (m, 2) wins in its context (m,). held_out: the share of duels that are explained by a model fitted to the
    others; if None, all are explained by a model fitted to all. per_tournament: duels of one context.
    """

    n_items: int
    n_duels: int
    columns: tuple[Column, ...]
    contexts: FloatArray
    context_columns: tuple[Column, ...]
    items: Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]
    chance: Callable[[FloatArray, FloatArray, IntArray, IntArray], FloatArray]
    models: Mapping[KernelModel, Model]
    kinds: tuple[DuelKind, ...]
    findings: tuple[Finding, ...]
    held_out: float | None = None
    per_tournament: int | None = None

    def group(self, seed: int, work: Path) -> Group:
        """Some data sets among the same items."""
        rng = np.random.default_rng(seed)
        items, else_ = self.items(rng, self.n_items)
        drawn = [self._parts(self._duels(rng, items, else_), work, refits=0)[0] for _ in range(DRAWN)]
        studied = [self._parts(self._duels(rng, items, else_), work, refits=REFITS) for _ in range(STUDIED)]
        return Group([told for _, told in studied], [*drawn, *(parts for parts, _ in studied)])

    def _duels(self, rng: np.random.Generator, items: FloatArray, else_: FloatArray) -> tuple[Duels, IntArray]:
        first = rng.integers(self.n_items, size=self.n_duels)
        pairs = np.stack([first, (first + rng.integers(1, self.n_items, size=self.n_duels)) % self.n_items], axis=1)
        at_once = self.per_tournament or 1
        tournament = np.arange(self.n_duels) // at_once
        context = rng.integers(len(self.contexts), size=tournament[-1] + 1)[tournament]
        wins = rng.random(self.n_duels) < self.chance(items, else_, pairs, context)
        duels = Duels(
            items=items, columns=self.columns, comparisons=np.where(wins[:, None], pairs, pairs[:, ::-1]),
            left_wins=wins, keys=rng.integers(2**63, size=self.n_duels).astype(np.uint64), contexts=self.contexts,
            context_columns=self.context_columns, context_of=context,
        )  # fmt: skip
        return duels, tournament

    def _parts(self, drawn: tuple[Duels, IntArray], work: Path, *, refits: int) -> tuple[Parts, list[Told]]:
        """The numbers of one data set, and its intervals if there are refits."""
        duels, tournament = drawn
        explained = {(one.name, one.model): one for one in self._explained(duels, work, refits)}
        parts: Parts = {}
        told = []
        for finding in self.findings:
            one = explained[finding.explained, finding.model]
            numerator, denominator = quotient_of(finding, one.explanation, None)
            name = f"{finding.statistic}: {finding.name}"
            parts[name] = float(numerator), float(denominator)
            verdict = judge(finding, one.explanation, matches=one.matches, items=one.items, n_items=self.n_items)
            told += [
                Told(name, bounds.over, bounds.lower, bounds.upper, finding.threshold)
                for bounds in (verdict.matches, verdict.items)
                if bounds is not None
            ]
        found = self._ranked(duels, tournament, resamples=100 if refits else 2)
        parts["SpecR"] = found.spec_r, 1.0
        if refits:
            over = "other matches among the same items" if self.per_tournament is None else "other tournaments"
            told.append(Told("SpecR", over, *spec_r_interval(found)))
        return parts, told

    def _ranked(self, duels: Duels, tournament: IntArray, *, resamples: int) -> Rankability:
        if self.per_tournament is not None:
            return mean_rankability(duels.comparisons, self.n_items, tournament, resamples=resamples, seed=0)
        if resamples > 2:
            return rankability(duels.comparisons, self.n_items, resamples=resamples, seed=0)
        return Rankability(spec_r(dominance(duels.comparisons, self.n_items)), 0.0)

    def _explained(self, duels: Duels, work: Path, refits: int) -> list[Explained]:
        parts = []
        for at, split in enumerate(self._splits(duels)):
            models = {name: fit(model, duels, split.train) for name, model in self.models.items()}
            again = None
            if refits:
                for portion in portions(1, refits):
                    fit_portion(portion._replace(split=at), models, duels, split, seed=0, work=work)
                again = read_refits(at, refits, models, duels, seed=0, work=work)
            parts.append(
                explain_duels(self.kinds, models, duels, split.test, most=1_000, settings=SETTINGS, refits=again)
            )
        return pooled(parts)

    def _splits(self, duels: Duels) -> list[Split]:
        if self.held_out is not None:
            return [hold_out(duels, "split_first", validation_share=0.0, test_share=self.held_out, seed=0)]
        rows = np.arange(self.n_duels)
        return [Split(rows, rows[:0], rows, duels.left_wins)]


# ------------------------------------------------------------------------------------------- the shapes

_WORTH = np.array([1.2, 1.2, 0.6, 0.0, 0.0])


def _utility(items: FloatArray, else_: FloatArray, pairs: IntArray, context: IntArray) -> FloatArray:
    worth = items @ _WORTH
    return np.asarray(expit(worth[pairs[:, 0]] - worth[pairs[:, 1]]))


def _finding(name: str, statistic: str, *players: str, threshold: float, **more: object) -> Finding:
    return Finding.model_validate(
        {**_SAID, "name": name, "statistic": statistic, "players": players, "threshold": threshold,
         "explained": "all", **more}
    )  # fmt: skip


ALL = (DuelKind(name="all", title="All"),)
CHAMELEON = DuelShape(
    n_items=35,
    n_duels=106,
    columns=numbers("casque", "patch", "jaw", "tail", "length"),
    contexts=np.zeros((1, 0)),
    context_columns=(),
    items=lambda rng, n: (rng.normal(size=(n, 5)), np.zeros(n)),
    chance=_utility,
    models={"gpm": GPM(numbers("casque", "patch", "jaw", "tail", "length"), lengthscales=2.0, penalty=3e-3)},
    kinds=ALL,
    findings=(
        _finding("two equal features", "importance_ratio", "casque", rivals=("patch",), threshold=1),
        _finding("two strong against the rest", "importance_ratio", "casque", "patch", threshold=1),
        _finding("strong feature", "importance_share", "casque", threshold=0.2),
        _finding("irrelevant feature", "importance_share", "tail", threshold=0.2, side="below"),
        _finding("strong feature", "larger_favoured", "casque", threshold=0),
        _finding("irrelevant feature", "larger_favoured", "tail", threshold=0),
        _finding("two equal features", "evenness", "casque", "patch", threshold=0.8),
        _finding("irrelevant feature", "mean_value", "tail", threshold=0.05, side="below"),
    ),
)

_COVARIATES = ("within", "between_ab", "between_ac", "between_bc")
_SYNTHETIC_COLUMNS = (
    *numbers(*_COVARIATES),
    Column(name="cluster", feature="cluster", kind=FeatureKind.CATEGORICAL, levels=("A", "B", "C")),
)
_DECIDES = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])


def _synthetic_items(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    return np.column_stack([rng.normal(size=(n, 4)), np.arange(n) % 3]), np.zeros(n)


def _by_rule(items: FloatArray, else_: FloatArray, pairs: IntArray, context: IntArray) -> FloatArray:
    cluster = items[pairs, 4].astype(np.int64)
    column = _DECIDES[cluster[:, 0], cluster[:, 1]]
    return (items[pairs[:, 0], column] > items[pairs[:, 1], column]).astype(np.float64)


_SCALES = {**dict.fromkeys(_COVARIATES, 4.0), "cluster": 0.5}
SYNTHETIC_SHAPE = DuelShape(
    n_items=45,
    n_duels=200,
    columns=_SYNTHETIC_COLUMNS,
    contexts=np.zeros((1, 0)),
    context_columns=(),
    items=_synthetic_items,
    chance=_by_rule,
    models={
        "gpm": GPM(_SYNTHETIC_COLUMNS, lengthscales=_SCALES, penalty=1e-4),
        "upm": UPM(_SYNTHETIC_COLUMNS, lengthscales=_SCALES, penalty=1e-3),
    },
    kinds=SYNTHETIC.kinds,
    findings=SYNTHETIC.findings,
    held_out=0.2,
)

_PLAYER = numbers("height", "weight", "birth_year", "turned_pro")
_PLACE = (
    Column(name="surface", feature="surface", kind=FeatureKind.CATEGORICAL, levels=("grass", "clay")),
    Column(name="roof", feature="roof", kind=FeatureKind.CATEGORICAL, levels=("outdoor", "indoor")),
)
_PLACES = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def _tennis(items: FloatArray, skill: FloatArray, pairs: IntArray, context: IntArray) -> FloatArray:
    clay = _PLACES[context, 0] == 1
    ahead = items[pairs[:, 0]] - items[pairs[:, 1]]
    known = np.where(clay, 0.2 * ahead[:, 0], 0.8 * ahead[:, 0]) - np.where(clay, 0.8 * ahead[:, 2], 0.2 * ahead[:, 2])
    return np.asarray(expit(known + skill[pairs[:, 0]] - skill[pairs[:, 1]]))


TENNIS_SHAPE = DuelShape(
    n_items=40,
    n_duels=200,
    columns=_PLAYER,
    contexts=_PLACES,
    context_columns=_PLACE,
    items=lambda rng, n: (rng.normal(size=(n, 4)), rng.normal(scale=0.7, size=n)),
    chance=_tennis,
    models={
        "c_gpm": CGPM(
            _PLAYER, _PLACE, lengthscales=2.0, context_lengthscales=1.5, penalty=1e-3, tolerance=1e-4
        ),
        "upm": UPM(_PLAYER, lengthscales=2.0, penalty=1e-3),
    },
    kinds=(*ALL, DuelKind(name="environment", title="Where", by_contexts=True)),
    findings=(
        _finding("taller", "larger_favoured", "height", model="c_gpm", threshold=0),
        _finding("older", "larger_favoured", "birth_year", model="c_gpm", threshold=0, side="below"),
        _finding("irrelevant feature", "larger_favoured", "weight", model="c_gpm", threshold=0),
        _finding("irrelevant feature, utility model", "larger_favoured", "weight", model="upm", threshold=0),
        _finding("height against weight", "importance_ratio", "height", rivals=("weight",), model="c_gpm", threshold=1),
        _finding("height", "importance_share", "height", model="c_gpm", threshold=0.25),
        _finding(
            "where it is played", "mean_value", "surface", "roof", model="c_gpm", threshold=0.05, side="below",
            explained="environment",
        ),
        _finding("roof", "mean_value", "roof", model="c_gpm", threshold=0.0, explained="environment"),
    ),
    held_out=0.2,
    per_tournament=8,
)  # fmt: skip

SHAPES: dict[str, DuelShape] = {"chameleon": CHAMELEON, "synthetic": SYNTHETIC_SHAPE, "tennis": TENNIS_SHAPE}
