"""Functions as decision makers: the scale of their noise, and regret."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from models.asking.box.loop import BoxCourse
from models.benchmarks.decision_maker import decision_maker, regret, utility_scale
from models.benchmarks.functions import BenchmarkFunction, benchmark_function
from models.numerics.hashing import mix


def test_the_scale_of_a_line_is_the_median_distance_of_two_uniform_points() -> None:
    # |x - x'| of two uniform numbers has the distribution function 1 - (1 - d)^2, so its median is 1 - 1/sqrt(2).
    line = BenchmarkFunction("line", "x", lambda x: 3.0 * x[..., 0], np.zeros(1), np.ones(1), np.ones((1, 1)))
    assert utility_scale(line) == pytest.approx(3 * (1 - 2**-0.5), rel=0.03)


def test_noise_makes_the_answers_of_the_papers_probit() -> None:
    """P(A preferred to B) = Phi((u(A) - u(B)) / (r scale)), dt-pbo F.6."""
    branin = benchmark_function("branin")
    pair = np.array([[0.2, 0.9], [0.5, 0.3]])
    gap = float(branin(pair[0]) - branin(pair[1]))
    for r in (0.5, 2.0):
        lots = mix(5, np.arange(40_000))[None]
        answers = decision_maker(branin, noise_ratio=r)(np.tile(pair, (1, 40_000, 1, 1)), lots)
        assert answers.mean() == pytest.approx(ndtr(gap / (r * utility_scale(branin))), abs=0.01)


def test_regret_is_zero_at_every_maximiser_and_positive_elsewhere() -> None:
    branin = benchmark_function("branin")
    points = np.concatenate([branin.maximisers, [[0.5, 0.5]]])[None]
    course = BoxCourse(points, np.arange(4)[:, None], np.ones((4, 1, 4), dtype=bool), np.zeros(4))
    assert regret(course, branin)[:3] == pytest.approx(0, abs=1e-5)
    assert regret(course, branin)[3] > 10


@pytest.mark.parametrize("r", [-1.0, float("nan"), float("inf")])
def test_noise_that_is_no_standard_deviation_is_refused(r: float) -> None:
    with pytest.raises(ValueError, match="noise must be a standard deviation"):
        decision_maker(benchmark_function("branin"), noise_ratio=r)
