"""The forest as a surrogate of asking: users do not touch one another, and favourites are found."""

from __future__ import annotations

import numpy as np
import pytest

from models.asking.active_learning import Strategy, ask_and_learn, ranking_oracle
from models.asking.forest_surrogate import ForestSurrogate
from models.asking.tree_surrogate import TreeSurrogate
from models.numerics.hashing import mix
from models.trees.growth.grow import Growth
from models.trees.preference_tree import numeric_columns

COLUMNS = numeric_columns(["a", "b", "c"])
NEVER_TWICE = Strategy(top_leaf_first=False, repeats=False)


def users(n: int, n_items: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Items of each user, and how each user ranks them: by a linear utility with some noise."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(n, n_items, 3))
    utility = items[..., 0] - 0.7 * items[..., 1] + 0.3 * rng.normal(size=(n, n_items))
    return items, 1 + (utility[:, None, :] > utility[:, :, None]).sum(axis=2)


def test_nearly_every_favourite_is_found_in_20_questions() -> None:
    items, ranks = users(60)
    seeds = mix(0, np.arange(60))
    course = ask_and_learn(
        ForestSurrogate(items, COLUMNS, seeds), ranking_oracle(ranks), seeds, n_questions=20, strategy=NEVER_TWICE
    )
    found = (course.recommended == ranks.argmin(axis=1)).mean(axis=1)
    assert found[20] > 0.9
    assert found[20] > found[9] > found[3]


def test_a_user_depends_on_her_own_answers_and_seed_alone() -> None:
    items, ranks = users(5)
    seeds = mix(1, np.arange(5))
    together = ask_and_learn(
        ForestSurrogate(items, COLUMNS, seeds), ranking_oracle(ranks), seeds, n_questions=6, strategy=NEVER_TWICE
    )
    alone = ask_and_learn(
        ForestSurrogate(items[2:3], COLUMNS, seeds[2:3]), ranking_oracle(ranks[2:3]), seeds[2:3], n_questions=6,
        strategy=NEVER_TWICE,
    )  # fmt: skip
    assert alone.answers[:, 0].tolist() == together.answers[:, 2].tolist()
    assert alone.mean[:, 0] == pytest.approx(together.mean[:, 2], abs=1e-7)


def test_beliefs_are_symmetric_and_uncertain_where_nothing_was_asked() -> None:
    items, _ = users(3)
    surrogate = ForestSurrogate(items, COLUMNS, mix(2, np.arange(3)))
    nothing = surrogate(np.zeros((3, 0, 2), dtype=np.int64))
    assert (nothing.mean == 0).all()
    assert nothing.covariance == pytest.approx(np.full((3, 10, 10), 4.0))
    asked = surrogate(np.array([[[0, 1], [2, 3]]] * 3))
    assert asked.covariance == pytest.approx(np.swapaxes(asked.covariance, 1, 2))
    assert np.linalg.eigvalsh(asked.covariance).min() > -1e-9
    assert (asked.mean[:, 0] > asked.mean[:, 1]).all()


def test_answers_are_weighted_as_a_poisson_bootstrap_says() -> None:
    # A stump on one pair: a tree that draws the answer splits, one that does not has a single leaf and mean zero.
    items = np.tile(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), (400, 1, 1))
    surrogate = ForestSurrogate(items, COLUMNS, mix(3, np.arange(400)), n_trees=5)
    belief = surrogate(np.array([[[1, 0]]] * 400))
    split = ForestSurrogate(items[:1], COLUMNS, mix(3, np.arange(1)), growth=Growth(max_depth=1)).ratio
    one_split = TreeSurrogate(items[:1], COLUMNS, np.array([0]), ratio=split)(np.array([[[1, 0]]])).mean[0, 1]
    assert belief.mean[:, 1].mean() / one_split == pytest.approx(1 - np.exp(-1), abs=0.04)


@pytest.mark.parametrize("wrong", [{"n_trees": 0}, {"ratio": 0.0}, {"growth": "random"}])
def test_settings_that_cannot_be_are_refused_by_name(wrong: dict[str, object]) -> None:
    items, _ = users(2)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ForestSurrogate(items, COLUMNS, mix(4, np.arange(2)), **wrong)  # type: ignore[arg-type]


def test_items_columns_and_seeds_that_do_not_fit_are_refused_as_a_tree_refuses_them() -> None:
    items, _ = users(2)
    with pytest.raises(ValueError, match=r"2 columns are described, items have 3"):
        ForestSurrogate(items, COLUMNS[:2], mix(5, np.arange(2)))
    with pytest.raises(ValueError, match="seeds"):
        ForestSurrogate(items, COLUMNS, mix(5, np.arange(3)))
    with pytest.raises(ValueError, match="infinite"):
        ForestSurrogate(np.full((2, 3, 3), np.inf), COLUMNS, mix(5, np.arange(2)))(np.zeros((2, 0, 2), dtype=np.int64))
