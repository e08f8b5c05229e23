"""Competition ranks: by hand, with ties to the solver's precision, along the last axis."""

from __future__ import annotations

import numpy as np
import pytest

from models.scores.accuracy import TIE_TOLERANCE
from models.scores.ranks import competition_ranks


def test_ranks_are_1224_and_the_greatest_is_first() -> None:
    assert competition_ranks([3.0, 7.0, 7.0, 9.0]).tolist() == [4, 2, 2, 1]
    assert competition_ranks([0.0, 0.0, 0.0]).tolist() == [1, 1, 1]


def test_a_difference_within_the_tolerance_is_a_tie_and_one_above_is_not() -> None:
    assert competition_ranks([1.0, 1.0 + 0.9 * TIE_TOLERANCE, 0.0]).tolist() == [1, 1, 3]
    assert competition_ranks([1.0, 1.0 + 1.1 * TIE_TOLERANCE, 0.0]).tolist() == [2, 1, 3]


def test_each_row_is_ranked_by_itself_and_counts_may_be_whole_numbers() -> None:
    values = np.array([[[5, 1, 5], [0, 2, 1]]])
    assert competition_ranks(values).tolist() == [[[1, 3, 1], [3, 1, 2]]]


def test_what_is_not_a_number_has_no_rank() -> None:
    with pytest.raises(ValueError, match="utility must hold numbers to rank, found 2 NaN"):
        competition_ranks([np.nan, 1.0, np.nan])


def test_a_single_number_has_no_rank() -> None:
    with pytest.raises(ValueError, match="utility must be numbers"):
        competition_ranks(5.0)
