"""The interval of SpecR."""

from __future__ import annotations

import pytest

from models.scores.rankability import Rankability, spec_r_interval


@pytest.mark.parametrize(("level", "deviations"), [(0.95, 1.959964), (0.6826895, 1.0)])
def test_the_interval_of_spec_r_is_as_many_standard_deviations_as_its_level_says(level: float, deviations: float):
    low, high = spec_r_interval(Rankability(spec_r=0.3, sd=0.02), level=level)
    assert (0.3 - low, high - 0.3) == pytest.approx((0.02 * deviations, 0.02 * deviations), rel=1e-6)
