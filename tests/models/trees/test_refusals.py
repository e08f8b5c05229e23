"""Trees refuse invalid parameters, row numbers and calls, and name what is valid."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from models.numerics.validation import check_integers, check_rows
from models.records.features import Column, FeatureKind
from models.trees.editing import merge, move_threshold, pin_order
from models.trees.forest import PreferenceForest
from models.trees.growth.grow import Growth
from models.trees.growth.growing_tree import GrowingTree
from models.trees.preference_tree import PreferenceTree, PreferenceTrees
from models.trees.user_tree import UserTree

ITEMS = np.array([[1.0], [2.0], [3.0], [6.0]])
UPWARD = np.array([[3, 0], [2, 1], [3, 2], [1, 0]])


def fit_tree(**options: Any) -> PreferenceTree:
    return PreferenceTree(**options).fit(ITEMS, UPWARD)


def fit_trees(**options: Any) -> PreferenceTrees:
    return PreferenceTrees(**options).fit(ITEMS, UPWARD, np.zeros(4, dtype=int))


def fit_forest(**options: Any) -> PreferenceForest:
    return PreferenceForest(n_trees=2, **options).fit(ITEMS, UPWARD)


def fit_batches(**options: Any) -> PreferenceTree:
    return PreferenceTree(**options).fit_batches(ITEMS, [UPWARD])


@pytest.mark.parametrize("make", [fit_tree, fit_trees, fit_forest, fit_batches, Growth])
@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({"straddlers": "discarded"}, "straddlers is now 'discard' or 'keep': write 'discard' for 'discarded'"),
        ({"straddlers": "kept"}, "straddlers is now 'discard' or 'keep': write 'keep' for 'kept'"),
        ({"straddlers": "drop"}, "a str among {'discard', 'keep'}"),
        ({"tie_break": "nonsense"}, "a str among {'lowest', 'widest_gap', 'random'}"),
        ({"categories_of": "x"}, "a str among {'region', 'pairs'}"),
        ({"max_depth": -5}, "an int in the range [0, inf) or None"),
        ({"max_depth": 2.0}, "an int in the range [0, inf) or None"),
        ({"max_categories": 0}, "an int in the range [1, inf) or None"),
        ({"min_samples_split": 0}, "an int in the range [1, inf)"),
        ({"min_score": -0.1}, "a float in the range [0.0, 1.0]"),
        ({"min_score": np.nan}, "a float in the range [0.0, 1.0]"),
    ],
)
def test_growth_refuses_what_is_not_valid_and_names_what_is(
    make: Callable[..., object], options: dict[str, object], valid: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(valid)):
        make(**options)


@pytest.mark.parametrize("make", [fit_tree, fit_trees, fit_forest, fit_batches])
@pytest.mark.parametrize(
    "options", [{"ratio": ratio} for ratio in (0.0, -1.0, np.nan, np.inf, "small")] + [{"random_state": 0.5}]
)
def test_fitting_refuses_a_ratio_or_a_seed_that_is_not_valid(
    make: Callable[..., object], options: dict[str, object]
) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Preference(Trees?|Forest) must be"):
        make(**options)


@pytest.mark.parametrize("make", [fit_tree, fit_trees, fit_batches])
def test_a_seed_makes_the_random_tie_rule_repeatable_and_none_draws_a_new_one(make: Callable[..., Any]) -> None:
    def first_threshold(random_state: object) -> float:
        tree = make(tie_break="random", random_state=random_state)
        nodes = tree.trees_.nodes_of(0) if isinstance(tree, PreferenceTrees) else tree.nodes_
        return float(nodes[0].threshold)

    assert len({first_threshold(7) for _ in range(5)}) == 1
    assert {first_threshold(None) for _ in range(60)} == {1.5, 2.5, 4.5}
    state = np.random.RandomState(3)
    assert {first_threshold(state) for _ in range(60)} == {1.5, 2.5, 4.5}
    assert first_threshold(np.random.RandomState(3)) == first_threshold(np.random.RandomState(3))


def test_a_tree_of_a_random_state_is_written_without_it() -> None:
    tree = fit_tree(random_state=np.random.RandomState(3))
    document = tree.to_dict()
    assert document["parameters"]["random_state"] is None
    assert (PreferenceTree.from_dict(document).predict(ITEMS) == tree.predict(ITEMS)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: PreferenceTree().apply(ITEMS),
        lambda: PreferenceTree().predict(ITEMS),
        lambda: PreferenceTree().decision_function(ITEMS, UPWARD),
        lambda: PreferenceTree().predict_proba(ITEMS, UPWARD),
        lambda: PreferenceTree().accuracies(ITEMS, UPWARD),
        lambda: PreferenceTree().score(ITEMS, UPWARD),
        lambda: PreferenceTree().to_text(),
        lambda: PreferenceTree().to_dict(),
        lambda: PreferenceTree().leaf_covariance_,
        lambda: PreferenceTrees().predict(ITEMS, [0, 0, 0, 0]),
        lambda: UserTree().apply(ITEMS),
        lambda: move_threshold(PreferenceTree(), 0, 1.0, ITEMS, UPWARD),
        lambda: merge(PreferenceTree(), 0, ITEMS, UPWARD),
        lambda: pin_order(PreferenceTree(), 0, 1, ITEMS, UPWARD),
    ],
)
def test_a_tree_that_was_not_fitted_says_so(call: Callable[[], object]) -> None:
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        call()


ROWS = [
    ([0.9, 0.0], r"rows must be integers \(2,\), found float64 \(2,\)"),
    ([0.0, 1.0], r"rows must be integers \(2,\), found float64 \(2,\)"),
    ([True, False], r"rows must be integers \(2,\), found bool \(2,\)"),
    ([0], r"rows must be integers \(2,\), found int64 \(1,\)"),
    ([[0, 1]], r"rows must be integers \(2,\), found int64 \(1, 2\)"),
    ([], r"rows must be integers \(2,\), found float64 \(0,\)"),
    ([0, -1], r"rows: 1 rows outside 0\.\.2, the first five at \[1\]"),
    ([3, 0], r"rows: 1 rows outside 0\.\.2, the first five at \[0\]"),
]


@pytest.mark.parametrize(("values", "complaint"), ROWS)
def test_rows_are_integers_of_the_right_shape_that_exist(values: list, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        check_rows(values, "rows", n_rows=3, n=2)


def test_valid_rows_come_back_as_they_are() -> None:
    assert check_rows(np.array([2, 0], dtype=np.uint8), "rows", n_rows=3).tolist() == [2, 0]
    assert check_rows([], "rows", n_rows=3).tolist() == []
    assert check_integers([-3, 5], "seeds").tolist() == [-3, 5]


@pytest.mark.parametrize("rows", [[0, 0, 0, 0.9], [0, 0, 0], [0, 0, 0, -1], [False] * 4])
def test_trees_of_items_are_whole_numbers_from_zero(rows: list) -> None:
    with pytest.raises(ValueError, match="tree_of_item"):
        PreferenceTrees().fit(ITEMS, UPWARD[:0], rows)
    trees = fit_trees()
    with pytest.raises(ValueError, match="tree_of_item"):
        trees.predict(ITEMS, rows)


def test_trees_refuse_a_tree_that_was_not_fitted_other_seeds_and_other_columns() -> None:
    with pytest.raises(ValueError, match=r"tree_of_item: 4 rows outside 0\.\.0"):
        fit_trees().predict(ITEMS, [1, 1, 1, 1])
    with pytest.raises(ValueError, match=r"tree_of_item: 2 rows outside 0\.\.0"):
        PreferenceTrees().fit(ITEMS, UPWARD[:0], [0, 0, 1, 1], n_trees=1)
    with pytest.raises(ValueError, match=r"'n_trees' parameter of PreferenceTrees\.fit"):
        PreferenceTrees().fit(ITEMS, UPWARD, [0, 0, 0, 0], n_trees=1.5)
    for seeds in ([0.5], [1, 2]):
        with pytest.raises(ValueError, match=r"seeds must be integers \(1,\)"):
            PreferenceTrees().fit(ITEMS, UPWARD, [0, 0, 0, 0], seeds=seeds)
    with pytest.raises(ValueError, match="items have 2 columns, the model was fitted with 1"):
        fit_trees().predict(np.zeros((1, 2)), [0])


@pytest.mark.parametrize("options", [{"max_depth": -1}, {"max_depth": None}, {"min_users": 0}, {"min_users": 1.5}])
def test_the_user_tree_refuses_limits_that_are_not_valid(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"parameter of UserTree must be an int in the range"):
        UserTree(**options).fit(ITEMS, [[0, 1]], [0])


@pytest.mark.parametrize("users", [[0.9], [True], [0, 1], [-1], [4]])
def test_users_are_rows_of_their_features(users: list) -> None:
    with pytest.raises(ValueError, match="users"):
        UserTree().fit(ITEMS, [[0, 1]], users)


def test_the_user_tree_refuses_items_that_are_no_whole_numbers() -> None:
    with pytest.raises(ValueError, match="comparisons must be integers"):
        UserTree().fit(ITEMS, [[0.9, 0.1]], [0])


@pytest.mark.parametrize("number", [0.0, 0.9, True, -1, 99])
def test_edits_refuse_numbers_that_name_no_node_or_leaf(number: Any) -> None:
    tree = fit_tree()
    with pytest.raises(ValueError, match="there is no node"):
        merge(tree, number, ITEMS, UPWARD)
    with pytest.raises(ValueError, match="there is no leaf"):
        pin_order(tree, number, 1, ITEMS, UPWARD)


@pytest.mark.parametrize("threshold", [np.nan, np.inf])
def test_a_moved_threshold_is_finite(threshold: float) -> None:
    with pytest.raises(ValueError, match="a threshold is a finite number"):
        move_threshold(fit_tree(), 0, threshold, ITEMS, UPWARD)


@pytest.mark.parametrize(
    ("points", "options", "complaint"),
    [
        (np.zeros((4, 1)), {"tie_break": "first"}, r"parameter of GrowingTree must be a str among \{'lowest'"),
        (np.zeros((4, 1)), {"max_depth": -1}, "parameter of GrowingTree must be an int"),
        (np.zeros((4, 1)), {"seed": 0.5}, "seed must be integers"),
        (np.zeros((3, 1)), {}, "two rows per pair"),
        (np.zeros((4, 1), dtype=int), {}, "two rows per pair"),
        (np.zeros((4, 4))[:, ::2], {}, "two rows per pair"),
    ],
)
def test_a_growing_tree_refuses_points_it_cannot_share_and_rules_it_does_not_know(
    points: np.ndarray, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        GrowingTree(points, **options)


def test_a_growing_tree_takes_its_pairs_in_order() -> None:
    tree = GrowingTree(np.array([[0.9], [0.1], [0.8], [0.6]]))
    for pair in (1, -1, 0.5):
        with pytest.raises(ValueError, match="the next pair is number 0 of 2"):
            tree.add(pair)
    tree.add(0)
    tree.add(1)
    with pytest.raises(ValueError, match="the next pair is number 2 of 2"):
        tree.add(2)


@pytest.mark.parametrize("options", [{"n_trees": 0}, {"n_trees": 2.5}, {"leaves_from": "x"}, {"leaves_from": ["all"]}])
def test_a_forest_refuses_what_is_not_valid_by_name(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=f"The '{name}' parameter of PreferenceForest must be"):
        PreferenceForest(**options).fit(ITEMS, UPWARD)


def test_a_forest_repeats_with_a_seed_and_draws_a_new_one_without() -> None:
    def utilities(random_state: Any) -> tuple[float, ...]:
        return tuple(fit_forest(random_state=random_state).predict(ITEMS))

    assert utilities(-3) == utilities(-3)
    assert utilities(np.random.RandomState(3)) == utilities(np.random.RandomState(3))
    assert len({utilities(None) for _ in range(20)}) > 1
    forest = fit_forest(random_state=None)
    assert len({str(forest.to_tree().nodes_) for _ in range(20)}) == 1


def test_parameters_set_after_the_fit_change_no_prediction() -> None:
    tree, forest = fit_tree(), fit_forest()
    expected = fit_tree().predict_proba(ITEMS, UPWARD), forest.predict_proba(ITEMS, UPWARD), forest.covariance(ITEMS)
    tree.set_params(ratio=9.0)
    forest.set_params(ratio=9.0, n_trees=5)
    found = tree.predict_proba(ITEMS, UPWARD), forest.predict_proba(ITEMS, UPWARD), forest.covariance(ITEMS)
    assert [values.tolist() for values in found] == [values.tolist() for values in expected]


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        (np.zeros((4, 0)), "items must have a column at least"),
        (ITEMS * 1e200, r"items hold values beyond 1e\+150"),
        (ITEMS * 1j, "items must be real numbers"),
    ],
)
def test_items_without_columns_complex_ones_and_ones_that_overflow_are_refused(
    items: np.ndarray, complaint: str
) -> None:
    for model in (PreferenceTree(), PreferenceForest(n_trees=2)):
        with pytest.raises(ValueError, match=complaint):
            model.fit(items, UPWARD)


def test_columns_that_are_no_descriptions_are_refused() -> None:
    with pytest.raises(ValueError, match="columns must hold Column records, found 'x'"):
        PreferenceTree(["x"]).fit(ITEMS, UPWARD)  # type: ignore[list-item]


@pytest.mark.parametrize("value", [0.5, -1.0, 1e12])
def test_an_item_with_a_category_that_is_no_code_has_no_utility(value: float) -> None:
    kind = (Column(name="kind", feature="kind", kind=FeatureKind.CATEGORICAL),)
    odd, complaint = np.array([[0.0], [value]]), "column kind: a categorical column holds whole numbers from zero"
    codes = np.array([[0.0], [1.0], [2.0], [1.0]])
    tree, forest = PreferenceTree(kind).fit(codes, UPWARD), PreferenceForest(kind, n_trees=2).fit(codes, UPWARD)
    trees, users = PreferenceTrees(kind).fit(codes, UPWARD, [0] * 4), UserTree(kind).fit(codes, [[0, 1]], [0])
    for refused in (
        lambda: tree.predict(odd),
        lambda: forest.predict(odd),
        lambda: trees.predict(odd, [0, 0]),
        lambda: users.apply(odd),
        lambda: UserTree(kind).fit(odd, [[0, 1]], [0]),
    ):
        with pytest.raises(ValueError, match=complaint):
            refused()


@pytest.mark.parametrize("model", [PreferenceTree(), PreferenceForest()])
def test_a_single_number_is_no_matrix_of_items(model: PreferenceTree | PreferenceForest) -> None:
    with pytest.raises(NotFittedError):
        model.predict_proba(5.0, UPWARD)
    for method in ("predict_proba", "decision_function"):
        with pytest.raises(ValueError, match="items must be a matrix"):
            getattr(clone(model).fit(ITEMS, UPWARD), method)(5.0, UPWARD)


def test_parameters_of_numpy_types_are_written_as_plain_numbers() -> None:
    document = fit_tree(max_depth=np.int64(3), ratio=np.float32(0.25)).to_dict()
    assert json.loads(json.dumps(document))["parameters"]["max_depth"] == 3


@pytest.mark.parametrize("point", [np.nan, -0.1, 1.1])
def test_a_growing_tree_refuses_points_outside_the_cube(point: float) -> None:
    with pytest.raises(ValueError, match="the points of pair 0 must lie in the unit cube"):
        GrowingTree(np.array([[0.5], [point]])).add(0)


@pytest.mark.parametrize("threshold", [None, "1"])
def test_a_moved_threshold_is_a_number(threshold: Any) -> None:
    with pytest.raises(ValueError, match="a threshold is a finite number"):
        move_threshold(fit_tree(), 0, threshold, ITEMS, UPWARD)
