"""What fitted Gaussian processes believe about any points, and how these beliefs change from place to place."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from models.gaussian.difference_evidence import ComparedPoints, difference_covariance
from models.gaussian.difference_laplace import average_curvature
from models.gaussian.stationary import KernelName, correlations, squared_distances
from models.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class DifferenceBelief:
    """The posteriors of t processes. theta: (t, d + 1); pull: (t, n) and reduction: (t, n, n), see `DifferenceFit`.

    >>> from models.gaussian.difference_laplace import fit_differences
    >>> points, theta = ComparedPoints(np.array([[[0.2]]]), np.array([[[0.8]]])), np.log([[0.5, 4.0]])
    >>> fit = fit_differences(difference_covariance("rbf", points, theta))
    >>> belief = DifferenceBelief("rbf", points, theta, fit.pull, fit.reduction)
    >>> belief.mean(np.array([[[0.2], [0.8]]])).round(2)
    array([[ 0.55, -0.55]])
    """

    kernel: KernelName
    points: ComparedPoints
    theta: FloatArray
    pull: FloatArray
    reduction: FloatArray

    def of(self, problems: IntArray) -> DifferenceBelief:
        """The beliefs of some problems."""
        if len(problems) == len(self.theta):
            return self
        return replace(
            self,
            points=self.points.of(problems),
            theta=self.theta[problems],
            pull=self.pull[problems],
            reduction=self.reduction[problems],
        )

    def with_average_curvature(self) -> DifferenceBelief:
        """The same means, with covariances from curvatures averaged over the belief: see `average_curvature`."""
        reduction = np.empty_like(self.reduction)
        for one in range(len(reduction)):
            alone = self.of(np.array([one]))
            prior = difference_covariance(self.kernel, alone.points, alone.theta)
            mode = (prior @ alone.pull[..., None])[..., 0]
            reduction[one] = average_curvature(prior, mode, alone.reduction)[0]
        return replace(self, reduction=reduction)

    @property
    def variance(self) -> FloatArray:
        """The prior variance of a utility, (t,)."""
        return np.asarray(np.exp(self.theta[:, -1]))

    @property
    def scales(self) -> FloatArray:
        """The length scales, (t, d)."""
        return np.asarray(np.exp(self.theta[:, :-1]))

    def cross(self, places: FloatArray) -> FloatArray:
        """Prior covariance of the utilities at places (t, c, d) and the differences, (t, c, n)."""
        won, lost = (
            correlations(self.kernel, squared_distances(places, own, self.scales))
            for own in (self.points.winners, self.points.losers)
        )
        return np.asarray(self.variance[:, None, None] * (won - lost))

    def mean(self, places: FloatArray) -> FloatArray:
        """Mean utility at places (t, c, d), (t, c)."""
        return np.asarray((self.cross(places) @ self.pull[..., None])[..., 0])

    def at(self, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (t, c) and covariance (t, c, c) of the utilities at places (t, c, d)."""
        cross = self.cross(places)
        prior = correlations(self.kernel, squared_distances(places, places, self.scales))
        covariance = self.variance[:, None, None] * prior - cross @ self.reduction @ np.swapaxes(cross, 1, 2)
        return np.asarray((cross @ self.pull[..., None])[..., 0]), covariance
