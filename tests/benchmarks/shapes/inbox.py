"""An inbox of thirty patients: a tree fitted to one inbox, judged on others."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.records.arrays import FloatArray, IntArray
from models.scores.accuracy import accuracies
from models.scores.jackknife import mean_over_patients, over_patients
from models.trees.preference_tree import PreferenceTree
from tasks.messages.ranking_results import tau_of
from tests.benchmarks.shapes.told import Group, Parts, Told, of_difference

PATIENTS, FEATURES, LEVELS = 30, 5, 6
WORTH = np.array([3.0, 1.5, 1.0, 0.0, 0.0])
NOISE = 1.5
STUDIED, DRAWN = 5, 200


def _inbox(rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """The features (30, 5) of the patients, and the pairs of two levels, the more urgent one first."""
    items = rng.integers(3, size=(PATIENTS, FEATURES)).astype(np.float64)
    urgency = items @ WORTH + rng.normal(scale=NOISE, size=PATIENTS)
    level = np.argsort(np.argsort(-urgency)) * LEVELS // PATIENTS
    first, second = np.nonzero(level[:, None] < level[None, :])
    return items, np.stack([first, second], axis=1)


class InboxShape:
    """A tree of all features and one without each of two features, and the inboxes they are judged on."""

    def group(self, seed: int, work: Path) -> Group:
        """Inboxes that are ranked by the same trees."""
        rng = np.random.default_rng(seed)
        items, pairs = _inbox(rng)
        tree = PreferenceTree().fit(items, pairs)
        without = {at: PreferenceTree().fit(np.delete(items, at, axis=1), pairs) for at in (1, FEATURES - 1)}
        found = [self._judged(tree, without, *_inbox(rng), tell=at < STUDIED) for at in range(STUDIED + DRAWN)]
        return Group([told for _, told in found[:STUDIED]], [parts for parts, _ in found])

    def _judged(
        self,
        tree: PreferenceTree,
        without: dict[int, PreferenceTree],
        items: FloatArray,
        pairs: IntArray,
        *,
        tell: bool,
    ) -> tuple[Parts, list[Told]]:
        difference, utility, n = tree.decision_function(items, pairs), tree.predict(items), len(pairs)
        right = accuracies(difference, np.arange(n), n).accuracy
        decided = accuracies(difference, np.arange(n), n).decided
        changes = {}
        for at, other in without.items():
            again = other.decision_function(np.delete(items, at, axis=1), pairs)
            changes[f"change without {'a useful' if at == 1 else 'an irrelevant'} feature"] = (
                accuracies(again, np.arange(n), n).accuracy - right
            )
        # The plainer tree that is right more often on these patients, as a study takes the highest plain model.
        changes["tree minus the highest of two plainer ones"] = -max(
            changes.values(), key=lambda change: float(change.mean())
        )
        parts: Parts = {
            "accuracy": (float(right.mean()), 1.0),
            "decided share": (float(decided.mean()), 1.0),
            "tau-b": (tau_of(utility, pairs), 1.0),
            **{name: (float(change.mean()), 1.0) for name, change in changes.items()},
        }
        if not tell:
            return parts, []
        told = [
            Told(name, found.over, found.lower, found.upper)
            for name, found in (
                ("accuracy", mean_over_patients(right, pairs, PATIENTS)),
                ("decided share", mean_over_patients(decided, pairs, PATIENTS)),
                ("tau-b", over_patients(lambda counts: tau_of(utility, pairs[counts]), pairs, PATIENTS)),
            )
        ]
        told += [of_difference(name, mean_over_patients(change, pairs, PATIENTS)) for name, change in changes.items()]
        return parts, told
