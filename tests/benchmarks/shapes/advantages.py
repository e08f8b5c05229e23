"""Two models compared on the same splits of few duels: a general preference model and a utility model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

from models.kernels.gpm import GPM, UPM
from models.records.arrays import FloatArray
from models.scores.advantage import ScoredDuels, auc_advantage
from tests.benchmarks.shapes.told import Group, of_difference

WORTH = np.array([1.2, 1.2, 0.6, 0.0, 0.0])


@dataclass(frozen=True)
class AdvantageShape:
    """Runs with folds that test every duel, or with one held-out part each (folds 1 of `parts`)."""

    n_items: int
    n_duels: int
    runs: int
    parts: int
    every: bool

    def group(self, seed: int, work: Path) -> Group:
        """One data set; everything is drawn anew in each. Items differ in a skill that no feature tells."""
        rng = np.random.default_rng(seed)
        items, skill = rng.normal(size=(self.n_items, 5)), rng.normal(scale=0.8, size=self.n_items)
        first = rng.integers(self.n_items, size=self.n_duels)
        second = (first + rng.integers(1, self.n_items, size=self.n_duels)) % self.n_items
        worth = items @ WORTH + skill
        cycle = items[first, 3] * items[second, 4] - items[second, 3] * items[first, 4]
        wins = rng.random(self.n_duels) < expit(worth[first] - worth[second] + cycle)
        pairs = np.where(wins[:, None], np.stack([first, second], 1), np.stack([second, first], 1))
        scored: dict[str, list[ScoredDuels]] = {"gpm": [], "upm": []}
        trained = []
        for _ in range(self.runs):
            parts = np.array_split(rng.permutation(self.n_duels), self.parts)
            tested = parts if self.every else parts[:1]
            preferences: dict[str, list[FloatArray]] = {name: [] for name in scored}
            for rows in tested:
                train = np.setdiff1d(np.arange(self.n_duels), rows)
                trained.append(len(train))
                for name, model in (("gpm", GPM(lengthscales=2.0, penalty=3e-3)), ("upm", UPM(penalty=3e-3))):
                    preferences[name].append(model.fit(items, pairs[train]).decision_function(items, pairs[rows]))
            for name, of_folds in preferences.items():
                scored[name].append(ScoredDuels(np.concatenate(tested), np.concatenate(of_folds)))
        found = auc_advantage(scored["gpm"], scored["upm"], pairs, trained=float(np.mean(trained)))
        name = f"AUC of one model minus another, {'folds' if self.every else 'held-out parts'}"
        return Group([[of_difference(name, found)]], [{name: (float(found.estimate or 0.0), 1.0)}])


SHAPES = {
    "advantage, chameleon": AdvantageShape(35, 106, runs=3, parts=5, every=True),
    "advantage, tennis": AdvantageShape(40, 300, runs=5, parts=10, every=False),
}
