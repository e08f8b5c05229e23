"""qEUBO and the query loop: against simulation, by hand, and for what a user's questions may depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.asking.active_learning import (
    Belief,
    Course,
    Strategy,
    ask_and_learn,
    near_greatest,
    next_pairs,
    ranking_oracle,
    recommend,
)
from models.asking.gp_surrogate import GPSurrogate
from models.asking.qeubo import qeubo
from models.asking.tree_surrogate import TreeSurrogate
from models.numerics.hashing import mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.features import Column, FeatureKind
from models.trees.growth.grow import Growth
from models.trees.preference_tree import PreferenceTree, numeric_columns

COLUMNS = numeric_columns(["a", "b"])
N_ITEMS = 10


def _seeds(n: int) -> np.ndarray:
    return mix(7, np.arange(n))


def _covariance(rng: np.random.Generator, m: int) -> FloatArray:
    root = rng.normal(size=(m, m))
    return root @ root.T / m


def test_qeubo_is_the_expected_utility_of_the_better_one() -> None:
    rng = np.random.default_rng(1)
    mean, covariance = rng.normal(size=3), _covariance(rng, 3)
    first, second = np.triu_indices(3, 1)
    drawn = rng.multivariate_normal(mean, covariance, size=400_000)
    simulated = np.maximum(drawn[:, first], drawn[:, second]).mean(axis=0)
    assert qeubo(mean, covariance, first, second) == pytest.approx(simulated, abs=0.01)


def test_qeubo_is_the_papers_formula_and_does_not_depend_on_who_stands_first() -> None:
    from scipy.stats import norm

    rng = np.random.default_rng(2)
    mean, S = rng.normal(size=(4, 5)), np.stack([_covariance(rng, 5) for _ in range(4)])
    first, second = np.triu_indices(5, 1)
    gap = mean[:, first] - mean[:, second]
    spread = np.sqrt(S[:, first, first] + S[:, second, second] - 2 * S[:, first, second])
    published = gap * norm.cdf(gap / spread) + spread * norm.pdf(gap / spread) + mean[:, second]
    found = qeubo(mean, S, first, second)
    assert found == pytest.approx(published)
    assert (found == qeubo(mean, S, second, first)).all()


def test_qeubo_within_a_leaf_is_its_mean_and_far_apart_the_larger_mean() -> None:
    mean, S = np.array([2.0, 2.0, -60.0]), np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert qeubo(mean, S, np.array([0, 0]), np.array([1, 2])).tolist() == [2.0, 2.0]


def _belief(mean: list[float], group: list[int]) -> Belief:
    leaf_covariance = np.eye(max(group) + 1)
    at = np.array(group)
    return Belief(np.array([mean]), leaf_covariance[at[:, None], at][None], np.array([group]))


NOTHING = np.zeros((1, 0, 2), dtype=np.int64)


def test_the_top_leaf_is_asked_about_while_it_has_two_items() -> None:
    belief = _belief([1.0, 0.0, 1.0, 0.0], [0, 1, 0, 1])
    assert next_pairs(belief, NOTHING, _seeds(1), Strategy()).tolist() == [[0, 2]]
    plain = next_pairs(belief, NOTHING, _seeds(1), Strategy(top_leaf_first=False))[0]
    assert belief.group[0, plain[0]] != belief.group[0, plain[1]]


def test_within_a_pair_of_leaves_each_item_is_as_likely() -> None:
    belief = _belief([0.0] * 5, [0, 0, 1, 1, 1])
    many = Belief(*(np.repeat(part, 6000, axis=0) for part in (belief.mean, belief.covariance, belief.group)))
    empty = np.zeros((6000, 0, 2), dtype=np.int64)
    pairs = next_pairs(many, empty, _seeds(6000), Strategy(top_leaf_first=False))
    counts = np.zeros((5, 5))
    np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    assert counts[:2, 2:].sum() == 6000
    assert counts[:2, 2:] == pytest.approx(1000, abs=120)


def test_a_pair_is_not_asked_again_where_repeats_are_not_wanted() -> None:
    belief = _belief([1.0, 1.0, 0.0], [0, 0, 1])
    answered = np.array([[[1, 0]]])
    assert next_pairs(belief, answered, _seeds(1), Strategy(repeats=True)).tolist() == [[0, 1]]
    assert next_pairs(belief, answered, _seeds(1), Strategy(repeats=False))[0, 1] == 2


def test_one_leaf_without_the_rule_asks_at_random_or_the_first_pair() -> None:
    belief = _belief([0.0] * 4, [0] * 4)
    many = Belief(*(np.repeat(part, 50, axis=0) for part in (belief.mean, belief.covariance, belief.group)))
    empty = np.zeros((50, 0, 2), dtype=np.int64)
    drawn = next_pairs(many, empty, _seeds(50), Strategy(top_leaf_first=False))
    assert len(np.unique(drawn, axis=0)) == 6
    first = next_pairs(many, empty, _seeds(50), Strategy(top_leaf_first=False, one_leaf="first"))
    assert (first == [0, 1]).all()


def test_ties_in_the_recommendation_are_broken_as_asked() -> None:
    belief = _belief([1.0, 1.0, 1.0, 0.0], [0, 0, 0, 1])
    answers = np.array([[[2, 3], [1, 3], [2, 1]]])  # item 0 was never compared
    seeds = _seeds(1)
    assert recommend(belief, answers, seeds, Strategy()).tolist() == [1]
    assert recommend(belief, answers, seeds, Strategy(recommend="most_wins")).tolist() == [2]
    assert recommend(belief, answers, seeds, Strategy(recommend="latest")).tolist() == [1]
    assert recommend(belief, answers[:, :2], seeds, Strategy(recommend="latest")).tolist() == [1]
    assert recommend(belief, answers[:, 1::-1], seeds, Strategy(recommend="latest")).tolist() == [2]
    assert recommend(belief, answers, seeds, Strategy(recommend="random"))[0] in {1, 2}


def test_pairs_are_asked_again_only_after_all_have_been() -> None:
    ranks = np.tile([4, 2, 1, 3], (5, 1))
    items = np.random.default_rng(0).random((5, 4, 2))
    surrogate = TreeSurrogate(items, COLUMNS, _seeds(5))
    course = ask_and_learn(surrogate, ranking_oracle(ranks), _seeds(5), n_questions=9, strategy=Strategy(repeats=False))
    asked = np.sort(course.answers, axis=2)
    for user in range(5):
        assert len(np.unique(asked[:6, user], axis=0)) == 6
        assert len(np.unique(asked[:, user], axis=0)) == 6


def test_means_that_agree_to_the_solvers_precision_share_the_top() -> None:
    assert near_greatest(np.array([[1.0, 1.0 - 1e-9, 1.0 - 1e-6]])).tolist() == [[True, True, False]]
    belief = _belief([1.0 - 1e-9, 1.0, 0.0], [0, 1, 2])
    answers = np.array([[[0, 2], [1, 2]]])
    assert recommend(belief, answers, _seeds(1), Strategy()).tolist() == [0]


def test_an_item_that_was_never_compared_is_not_recommended_until_none_was() -> None:
    belief = _belief([3.0, 1.0, 2.0], [0, 1, 2])
    assert recommend(belief, np.array([[[1, 2]]]), _seeds(1), Strategy()).tolist() == [2]
    assert recommend(belief, NOTHING, _seeds(1), Strategy()).tolist() == [0]


def test_a_ranking_answers_for_the_lower_rank_of_each_users_own() -> None:
    oracle = ranking_oracle([[1, 2, 3], [3, 2, 1]])
    assert oracle(np.array([[0, 2], [0, 2]])).tolist() == [True, False]
    assert oracle(np.array([[2, 1], [2, 1]])).tolist() == [False, True]
    with pytest.raises(ValueError, match=r"ranks must be integers \(users, items\), found int64 \(3,\)"):
        ranking_oracle([1, 2, 3])
    with pytest.raises(ValueError, match="ranks must be integers"):
        ranking_oracle([[0.5, 1.5]])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("acquisition", "qEUBO"),
        ("one_leaf", "last"),
        ("recommend", "most-wins"),
        ("repeats", "no"),
        ("top_leaf_first", 2.0),
    ],
)
def test_a_word_that_no_strategy_knows_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Strategy must be"):
        Strategy(**{name: value})


def test_a_surrogate_that_cannot_be_is_refused() -> None:
    items = np.zeros((2, 3, 2))
    for ratio in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="The 'ratio' parameter of TreeSurrogate must be a float in the range"):
            TreeSurrogate(items, COLUMNS, _seeds(2), ratio=ratio)
    with pytest.raises(ValueError, match="The 'growth' parameter"):
        TreeSurrogate(items, COLUMNS, _seeds(2), growth="random")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"seeds must be integers \(2,\), found float64"):
        TreeSurrogate(items, COLUMNS, np.array([0.1, 0.9]))
    for surrogate in (lambda: TreeSurrogate(items[0], COLUMNS, _seeds(3)), lambda: GPSurrogate(items[0])):
        with pytest.raises(ValueError, match=r"items must be \(users, items, features\), found shape \(3, 2\)"):
            surrogate()
    with pytest.raises(ValueError, match="The 'optimizer' parameter"):
        GPSurrogate(items, optimizer="none")(np.zeros((2, 0, 2), dtype=int))  # type: ignore[arg-type]


def test_a_belief_of_another_shape_or_without_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"found \(1, 2\), \(1, 3, 3\) and \(1, 2\)"):
        Belief(np.zeros((1, 2)), np.zeros((1, 3, 3)), np.zeros((1, 2), dtype=int))
    with pytest.raises(ValueError, match="mean and covariance of a belief must be finite"):
        Belief(np.array([[0.0, np.nan]]), np.zeros((1, 2, 2)), np.zeros((1, 2), dtype=int))
    with pytest.raises(ValueError, match=r"covariance must be \(3, 3\) for this mean, found \(2, 2\)"):
        qeubo(np.zeros(3), np.eye(2), np.array([0]), np.array([1]))


def test_a_loop_that_cannot_be_is_refused_before_or_at_its_first_question() -> None:
    surrogate, ranks = TreeSurrogate(np.random.default_rng(0).random((2, 3, 2)), COLUMNS, _seeds(2)), [[1, 2, 3]] * 2
    oracle, one_item = ranking_oracle(ranks), TreeSurrogate(np.zeros((2, 1, 2)), COLUMNS, _seeds(2))
    with pytest.raises(ValueError, match="The 'n_questions' parameter of ask_and_learn must be an int in the range"):
        ask_and_learn(surrogate, oracle, _seeds(2), n_questions=-1)
    with pytest.raises(ValueError, match="seeds must be integers"):
        ask_and_learn(surrogate, oracle, np.array([0.5, 1.5]), n_questions=1)
    with pytest.raises(ValueError, match="expected one seed per user, found 3 seeds for 2 users"):
        ask_and_learn(lambda answers: surrogate(answers[:2]), oracle, _seeds(3), n_questions=1)
    with pytest.raises(ValueError, match=r"the oracle must return booleans \(2,\), found bool \(2, 1\)"):
        ask_and_learn(surrogate, lambda pairs: oracle(pairs)[:, None], _seeds(2), n_questions=1)
    with pytest.raises(ValueError, match=r"the oracle must return booleans \(2,\), found float64"):
        ask_and_learn(surrogate, lambda pairs: np.array([0.2, 0.9]), _seeds(2), n_questions=1)
    with pytest.raises(ValueError, match="a question needs two items, each user has 1"):
        ask_and_learn(one_item, oracle, _seeds(2), n_questions=1)


def _loop(n_users: int, strategy: Strategy, n_questions: int = 8, seed: int = 0) -> tuple[Course, FloatArray]:
    rng = np.random.default_rng(seed)
    items, utility = rng.normal(size=(n_users, N_ITEMS, 2)), rng.normal(size=(n_users, N_ITEMS))

    def oracle(pairs: IntArray) -> BoolArray:
        liking = np.take_along_axis(utility, pairs, axis=1)
        return np.asarray(liking[:, 0] > liking[:, 1])

    surrogate = TreeSurrogate(items, COLUMNS, _seeds(n_users), Growth(tie_break="random"))
    return ask_and_learn(surrogate, oracle, _seeds(n_users), n_questions=n_questions, strategy=strategy), utility


def test_every_answer_is_the_users_own_and_joins_two_items() -> None:
    course, utility = _loop(40, Strategy())
    winner, loser = course.answers[..., 0], course.answers[..., 1]
    user = np.arange(40)
    assert (utility[user, winner] > utility[user, loser]).all()
    assert course.mean.shape == (9, 40, N_ITEMS)
    assert course.recommended.shape == (9, 40)


@given(st.integers(0, 50))
def test_a_user_is_asked_the_same_whoever_else_is_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, utility = rng.normal(size=(3, 6, 2)), rng.normal(size=(3, 6))

    def course(users: list[int]) -> Course:
        def oracle(pairs: IntArray) -> BoolArray:
            liking = np.take_along_axis(utility[users], pairs, axis=1)
            return np.asarray(liking[:, 0] > liking[:, 1])

        seeds = _seeds(3)[users]
        surrogate = TreeSurrogate(items[users], COLUMNS, seeds, Growth(tie_break="random"))
        return ask_and_learn(surrogate, oracle, seeds, n_questions=5)

    together, alone = course([0, 1, 2]), course([2])
    assert (together.answers[:, 2] == alone.answers[:, 0]).all()
    assert (together.recommended[:, 2] == alone.recommended[:, 0]).all()
    assert together.mean[:, 2] == pytest.approx(alone.mean[:, 0], abs=1e-8)


def test_the_surrogate_is_the_preference_tree_of_each_user() -> None:
    course, _ = _loop(5, Strategy())
    rng = np.random.default_rng(0)
    items = rng.normal(size=(5, N_ITEMS, 2))
    belief = TreeSurrogate(items, COLUMNS, _seeds(5))(course.answers.transpose(1, 0, 2))
    for user in range(5):
        tree = PreferenceTree(COLUMNS).fit(items[user], course.answers[:, user])
        leaf = tree.apply(items[user])
        assert belief.group[user].tolist() == leaf.tolist()
        assert belief.mean[user] == pytest.approx(tree.leaf_mean_[leaf], abs=1e-8)
        # Sum-to-zero conditioning moves every covariance by one constant, so the spread of no difference.
        own, conditioned = belief.covariance[user], tree.leaf_covariance_[leaf[:, None], leaf]
        assert own - own[0, 0] == pytest.approx(conditioned - conditioned[0, 0], abs=1e-7)


def test_asking_finds_the_favourite_far_more_often_than_not_asking() -> None:
    course, utility = _loop(300, Strategy(repeats=False), n_questions=15)
    found = (course.recommended == utility.argmax(axis=1)).mean(axis=1)
    assert found[0] < 0.2
    assert found[15] > 0.8


def test_surrogates_take_lists_and_refuse_other_columns_and_infinite_items() -> None:
    items, columns = [[[0.1], [0.4], [0.9]]], [Column(name="sweet", feature="sweet", kind=FeatureKind.NUMERIC)]
    oracle = ranking_oracle([[3, 2, 1]])
    for surrogate in (TreeSurrogate(items, columns, [7]), GPSurrogate(items)):  # type: ignore[arg-type]
        assert ask_and_learn(surrogate, oracle, [7], n_questions=2).recommended.shape == (3, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 columns are described, items have 1"):
        TreeSurrogate(np.array(items), columns * 2, np.array([7]))
    with pytest.raises(ValueError, match="infinite"):
        TreeSurrogate(np.array(items) * np.inf, columns, np.array([7]))(np.zeros((1, 0, 2), dtype=int))
    with pytest.raises(ValueError, match=r"found shape \(0, 3, 1\)"):
        TreeSurrogate(np.zeros((0, 3, 1)), columns, np.zeros(0, dtype=int))


def test_an_oracle_answers_only_its_own_users_about_ranked_items() -> None:
    oracle = ranking_oracle([[1, 2, 3]])
    for pairs in (np.array([[0, 3]]), np.array([[0, 1], [0, 1]])):
        with pytest.raises(ValueError, match="ranks are of 1 users and 3 items"):
            oracle(pairs)
