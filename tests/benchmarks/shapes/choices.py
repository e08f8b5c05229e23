"""A choice experiment: respondents with tastes of their own, a tree for each, and one tree for all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.studies.respondent_results import TEST_ACCURACY, USER_ID
from models.scores.accuracy import accuracies
from models.scores.intervals import OTHER_USERS
from models.trees.preference_tree import PreferenceTree, PreferenceTrees
from tasks.respondents.protocols import over_users
from tasks.respondents.summaries import accuracy_differences
from tests.benchmarks.shapes.told import Group, Parts, Told, of_difference

RESPONDENTS, CHOICES, HELD_OUT, ATTRIBUTES = 80, 10, 2, 4
TASTE = np.array([1.2, 0.8, 0.4, 0.0])
SPREAD = 0.8
"""Standard deviation of the respondents' tastes; nobody cares for the last attribute."""


class ChoiceShape:
    """Respondents, their choices between two profiles, and trees that predict the held-out ones."""

    def group(self, seed: int, work: Path) -> Group:
        """One experiment: everything is drawn anew in each."""
        rng = np.random.default_rng(seed)
        n = RESPONDENTS * CHOICES
        profiles = rng.integers(4, size=(2 * n, ATTRIBUTES)).astype(np.float64)
        user = np.repeat(np.arange(RESPONDENTS), CHOICES)
        taste = TASTE + SPREAD * rng.normal(size=(RESPONDENTS, ATTRIBUTES)) * (TASTE > 0)
        ahead = ((profiles[:n] - profiles[n:]) * taste[user]).sum(axis=1)
        left = np.arange(n)
        pairs = np.where((rng.random(n) < expit(ahead))[:, None], np.stack([left, left + n], 1),
                         np.stack([left + n, left], 1))  # fmt: skip
        test = np.tile(np.arange(CHOICES) < HELD_OUT, RESPONDENTS)
        own = self._own(profiles, pairs, user, test)
        pooled = PreferenceTree(max_depth=4).fit(profiles, pairs[~test]).decision_function(profiles, pairs[test])
        scores = {
            "a tree each": own,
            "one tree for all": accuracies(pooled, user[test], RESPONDENTS).accuracy,
            "a tree each, without a useful attribute": self._own(profiles[:, 1:], pairs, user, test),
            "a tree each, without an irrelevant attribute": self._own(profiles[:, :-1], pairs, user, test),
        }
        parts: Parts = {f"accuracy: {name}": (float(each.mean()), 1.0) for name, each in scores.items()}
        told = []
        for name in list(scores)[:2]:
            found = over_users(pd.Series(scores[name]))
            told.append(Told(f"accuracy: {name}", OTHER_USERS, found["lower"], found["upper"]))
        ids = np.arange(RESPONDENTS)
        frames = {name: pd.DataFrame({USER_ID: ids, TEST_ACCURACY: each}) for name, each in scores.items()}
        for name, difference in accuracy_differences(frames).items():
            parts[f"difference: {name}"] = (float(difference.estimate or 0.0), 1.0)
            told.append(of_difference(f"difference: {name}", difference))
        return Group([told], [parts])

    def _own(self, profiles: FloatArray, pairs: IntArray, user: IntArray, test: BoolArray) -> FloatArray:
        """Held-out accuracy of each respondent's own tree, (respondents,)."""
        of_row = np.empty(len(profiles), dtype=np.int64)
        of_row[pairs] = user[:, None]
        order = np.argsort(of_row, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        trees = PreferenceTrees().fit(profiles[order], place[pairs[~test]], of_row[order], n_trees=RESPONDENTS)
        utility = trees.predict(profiles[order], of_row[order])[place[pairs[test]]]
        return accuracies(utility[:, 0] - utility[:, 1], user[test], RESPONDENTS).accuracy
