"""One Laplace approximation for every probit model of pairwise comparisons (dt-pbo Eq. 1-4 and 9-10).

With sigma_noise = 1 and f = mean + L v, L L' the prior covariance, the mode minimises
-sum_i c_i log Phi((f_w - f_l) / sqrt 2) + v'v / 2. For the leaves of a tree L = I / sqrt(ratio); for a Gaussian process
L is a Cholesky factor of the kernel matrix. Any number of problems of one size are solved at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import log_ndtr, ndtr

from models.records.arrays import BoolArray, FloatArray, IntArray

Places = IntArray | NDArray[np.int32]

STEP_TOLERANCE = 2e-5  # Newton's method converges quadratically: after such a step the error is below 1e-9
LONG_STEP = 0.25
MAX_STEPS = 100
DENSE_LIMIT = 200  # values in one problem above which the Newton step is solved by conjugate gradients
FAR_TAIL = -30.0  # below it, Phi may underflow
STEP_ACCURACY = 1e-4  # residual of a conjugate-gradient step, as a share of the gradient
OUTWEIGHED = 1e6  # times the prior: from there on, a difference of variances has an error of more than 1e-4 of itself

_SQRT_2 = math.sqrt(2.0)
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Comparisons among m values in each of t problems, with repeated ones counted.

    problem, winner, loser, count: (p,); no pair joins a value with itself. `count_pairs` makes them, with 32-bit
    integers: a fine tree of many comparisons has millions of pairs of leaves.
    """

    n_problems: int
    n_values: int
    problem: Places
    winner: Places
    loser: Places
    count: FloatArray

    def __add__(self, other: Self) -> PairCounts:
        """The sum of two counts of pairs among the same values."""
        n = self.n_values
        keys = [(counts.problem.astype(np.int64) * n + counts.winner) * n + counts.loser for counts in (self, other)]
        distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
        total = _sum_at(place, np.concatenate([self.count, other.count]), len(distinct))
        return PairCounts(self.n_problems, n, *_places(distinct, n), total)

    @property
    def winners(self) -> Places:
        """Positions of the winners in the flattened (t, m) values."""
        return self.problem * self.n_values + self.winner

    @property
    def losers(self) -> Places:
        """Positions of the losers in the flattened (t, m) values."""
        return self.problem * self.n_values + self.loser


def count_pairs(problem: IntArray, winner: IntArray, loser: IntArray, n_problems: int, n_values: int) -> PairCounts:
    """Count each distinct (problem, winner, loser); pairs within one value are left out (dt-pbo section 3.2).

    problem, winner, loser: (n,) integers in [0, n_problems), [0, n_values) and [0, n_values).

    >>> pairs = count_pairs(np.zeros(3, int), np.array([0, 0, 1]), np.array([1, 1, 1]), n_problems=1, n_values=2)
    >>> pairs.winner, pairs.loser, pairs.count
    (array([0], dtype=int32), array([1], dtype=int32), array([2.]))
    """
    apart = winner != loser
    keys = (problem[apart] * n_values + winner[apart]) * n_values + loser[apart]
    keys.sort()
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    counts = np.diff(np.r_[first, len(keys)])
    return PairCounts(n_problems, n_values, *_places(keys.take(first), n_values), counts.astype(np.float64))


def _places(keys: IntArray, n_values: int) -> tuple[Places, Places, Places]:
    """Problem, winner and loser of the keys (problem n_values + winner) n_values + loser."""
    rest, loser = np.divmod(keys, n_values)
    problem, winner = np.divmod(rest, n_values)
    return problem.astype(np.int32), winner.astype(np.int32), loser.astype(np.int32)


def pair_laplacian(pairs: PairCounts, weight: FloatArray) -> FloatArray:
    """The sum over pairs of weight (e_w - e_l)(e_w - e_l)', (t, m, m); Lambda of Eq. 4: count r (z + r) / 2.

    >>> pairs = count_pairs(np.zeros(1, int), np.array([0]), np.array([1]), n_problems=1, n_values=2)
    >>> pair_laplacian(pairs, np.array([0.5]))
    array([[[ 0.5, -0.5],
            [-0.5,  0.5]]])
    """
    m = pairs.n_values
    cells = pairs.winners.astype(np.int64) * m + pairs.loser
    wins = _sum_at(cells, -weight, pairs.n_problems * m * m).reshape(-1, m, m)
    laplacian = wins + np.swapaxes(wins, 1, 2)
    diagonal = np.arange(m)
    laplacian[:, diagonal, diagonal] -= laplacian.sum(axis=2)
    return laplacian


def log_normal_cdf(z: FloatArray) -> FloatArray:
    """Log Phi(z), as exact as the objective needs: an absolute error of 1e-16 where Phi is near one.

    >>> log_normal_cdf(np.array([-40.0])).round(2)
    array([-804.61])
    """
    log_phi: FloatArray = log_ndtr(z) if z.min(initial=0.0) < FAR_TAIL else np.log(ndtr(z))
    return log_phi


def probit_terms(z: FloatArray, log_phi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First derivative r of log Phi at z and minus the second, r (z + r), from z and log Phi(z); finite in any tail.

    >>> z = np.array([0.0])
    >>> [term.round(3) for term in probit_terms(z, log_normal_cdf(z))]
    [array([0.798]), array([0.637])]
    """
    ratio = np.exp(-0.5 * z * z - _LOG_SQRT_2PI - log_phi)
    return ratio, np.clip(ratio * (z + ratio), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class _Point:
    """A trial v of every problem, (t, r), with z and log Phi(z) of the pairs, (p,), and the objectives, (t,)."""

    v: FloatArray
    z: FloatArray
    log_phi: FloatArray
    objective: FloatArray


@dataclass(frozen=True, eq=False)
class _Problem:
    """The comparisons, the factor L and the prior mean of all problems, and the steps of Newton's method."""

    pairs: PairCounts
    factor: float | FloatArray
    mean: FloatArray

    @cached_property
    def winners(self) -> Places:
        return self.pairs.winners

    @cached_property
    def losers(self) -> Places:
        return self.pairs.losers

    def values(self, v: FloatArray) -> FloatArray:
        return self.mean + self.apply(v)

    def apply(self, v: FloatArray) -> FloatArray:
        """L v: (t, r) -> (t, m)."""
        if isinstance(self.factor, float):
            return v * self.factor
        product: FloatArray = np.einsum("...mr,...r->...m", self.factor, v)
        return product

    def apply_transposed(self, f: FloatArray) -> FloatArray:
        """L' f: (t, m) -> (t, r)."""
        if isinstance(self.factor, float):
            return f * self.factor
        product: FloatArray = np.einsum("...mr,...m->...r", self.factor, f)
        return product

    def at(self, v: FloatArray) -> _Point:
        f = self.values(v).ravel()
        z = (f.take(self.winners) - f.take(self.losers)) / _SQRT_2
        log_phi = log_normal_cdf(z)
        prior: FloatArray = np.einsum("tr,tr->t", v, v)
        weighted = self.pairs.count * log_phi
        loss = -(weighted.sum(keepdims=True) if len(v) == 1 else _sum_at(self.pairs.problem, weighted, len(v)))
        return _Point(v, z, log_phi, loss + 0.5 * prior)

    def gradient(self, v: FloatArray, ratio: FloatArray) -> FloatArray:
        pull = self.pairs.count * ratio / _SQRT_2
        net = _sum_at(self.losers, pull, self.mean.size) - _sum_at(self.winners, pull, self.mean.size)
        return v + self.apply_transposed(net.reshape(self.mean.shape))

    def hessian(self, weight: FloatArray) -> FloatArray:
        """I + L' Lambda L, (t, r, r)."""
        inner = pair_laplacian(self.pairs, 0.5 * self.pairs.count * weight)
        if isinstance(self.factor, float):
            inner *= self.factor**2
        else:
            inner = np.swapaxes(self.factor, -1, -2) @ inner @ self.factor
        diagonal = np.arange(inner.shape[-1])
        inner[:, diagonal, diagonal] += 1.0
        return inner

    def newton_step(self, gradient: FloatArray, weight: FloatArray) -> FloatArray:
        if isinstance(self.factor, float) and self.pairs.n_values > DENSE_LIMIT:
            return self._sparse_steps(gradient, weight)
        return np.asarray(np.linalg.solve(self.hessian(weight), gradient[..., None])[..., 0])

    @cached_property
    def rows(self) -> tuple[IntArray | slice, IntArray]:
        """Order of the pairs by (winner, loser), and where each winner's pairs begin: a compressed sparse matrix."""
        starts = np.append(0, np.cumsum(np.bincount(self.winners, minlength=self.mean.size)))
        keys = self.winners.astype(np.int64) * self.mean.size + self.losers
        if (keys[1:] >= keys[:-1]).all():
            return slice(None), starts
        return np.argsort(keys, kind="stable"), starts

    def _sparse_steps(self, gradient: FloatArray, weight: FloatArray) -> FloatArray:
        """The Newton step by conjugate gradients, preconditioned by the diagonal; L = factor * I."""
        order, starts = self.rows
        size = self.mean.size
        w = (0.5 * self.pairs.count * weight * np.square(self.factor))[order]
        wins = csr_array((w, self.losers[order], starts), shape=(size, size))
        losses = wins.T
        diagonal = 1.0 + np.asarray(wins.sum(axis=0)) + np.asarray(wins.sum(axis=1))
        hessian = LinearOperator((size, size), matvec=lambda x: diagonal * x - wins @ x - losses @ x, dtype=np.float64)
        jacobi = LinearOperator((size, size), matvec=lambda x: x / diagonal, dtype=np.float64)
        step, _ = cg(hessian, gradient.ravel(), rtol=STEP_ACCURACY, maxiter=10 * size, M=jacobi)
        return np.asarray(step).reshape(gradient.shape)


def _sum_at(places: Places, weights: FloatArray, size: int) -> FloatArray:
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64, copy=False)


def _problem(pairs: PairCounts, factor: float | FloatArray, mean: FloatArray | None) -> _Problem:
    if np.ndim(factor) == 0:
        factor = float(factor)
        if not 0 < factor < math.inf:
            raise ValueError(f"factor must be a positive finite number or a matrix, found {factor}")
    elif np.shape(factor)[-2] != pairs.n_values or not np.isfinite(factor).all():
        raise ValueError(f"factor must be a finite matrix of {pairs.n_values} rows, found shape {np.shape(factor)}")
    shape = (pairs.n_problems, pairs.n_values)
    return _Problem(pairs, factor, np.zeros(shape) if mean is None else np.broadcast_to(mean, shape))


def laplace_mode(pairs: PairCounts, factor: float | FloatArray, mean: FloatArray | None = None) -> FloatArray:
    """The values f of greatest posterior density, (t, m): the minimiser of dt-pbo Eq. 3, by Newton's method.

    factor: L, a number for L = factor * I, or (m, r) or (t, m, r); mean: the prior mean, (m,) or (t, m), zero if None.
    The objective is convex; a step is halved until the objective falls.
    Raises ValueError for a factor that is not positive and finite.

    >>> pairs = count_pairs(np.zeros(1, int), np.array([0]), np.array([1]), n_problems=1, n_values=2)
    >>> laplace_mode(pairs, factor=2.0).round(3)
    array([[ 0.751, -0.751]])
    """
    problem = _problem(pairs, factor, mean)
    width = pairs.n_values if isinstance(problem.factor, float) else problem.factor.shape[-1]
    point = problem.at(np.zeros((pairs.n_problems, width)))
    for _ in range(MAX_STEPS):
        ratio, weight = probit_terms(point.z, point.log_phi)
        step = -problem.newton_step(problem.gradient(point.v, ratio), weight)
        point = _line_search(problem, point, step)
        if np.abs(step).max(initial=0.0) < STEP_TOLERANCE:
            break
    return problem.values(point.v)


def _line_search(problem: _Problem, start: _Point, step: FloatArray) -> _Point:
    """Halve the step of each problem until its objective does not rise; a step that never helps is not taken."""
    limit = start.objective + 1e-12 * np.abs(start.objective)
    # Far from the mode, where the probit likelihood is flatter than its parabola, Newton's step falls short.
    length = np.where(np.abs(step).max(axis=1) > LONG_STEP, 2.0, 1.0)
    while True:
        point = problem.at(start.v + length[:, None] * step)
        rises: BoolArray = ~(point.objective <= limit) & (length > 0)
        if not rises.any():
            return point
        length[rises] = np.where(length[rises] > 1e-6, length[rises] / 2, 0.0)


def laplace_covariance(pairs: PairCounts, f: FloatArray, factor: float | FloatArray) -> FloatArray:
    """Posterior covariance at the mode f (t, m): L (I + L' Lambda L)^-1 L' (dt-pbo Eq. 4 and 10), (t, m, m).

    Raises ValueError for a factor that is not positive and finite.

    >>> pairs = count_pairs(np.zeros(1, int), np.array([0]), np.array([1]), n_problems=1, n_values=2)
    >>> laplace_covariance(pairs, laplace_mode(pairs, factor=2.0), factor=2.0).round(2)
    array([[[2.83, 1.17],
            [1.17, 2.83]]])
    """
    problem = _problem(pairs, factor, None)
    flat = f.ravel()
    z = (flat[pairs.winners] - flat[pairs.losers]) / _SQRT_2
    _, weight = probit_terms(z, log_normal_cdf(z))
    inverse = np.linalg.inv(problem.hessian(weight))
    L = problem.factor
    return np.asarray(inverse * L**2 if isinstance(L, float) else L @ inverse @ np.swapaxes(L, -1, -2))


def negative_log_posterior(pairs: PairCounts, f: FloatArray, factor: float) -> tuple[float, FloatArray]:
    """Objective of dt-pbo Eq. 10 for one problem with L = factor * I, up to a constant, and its gradient, (m,).

    >>> pairs = count_pairs(np.zeros(1, int), np.array([0]), np.array([1]), n_problems=1, n_values=2)
    >>> value, gradient = negative_log_posterior(pairs, np.zeros(2), factor=2.0)
    >>> round(value, 3), gradient.round(3)
    (0.693, array([-0.564,  0.564]))
    """
    problem = _problem(pairs, factor, None)
    point = problem.at(f[None] / factor)
    ratio, _ = probit_terms(point.z, point.log_phi)
    return float(point.objective[0]), problem.gradient(point.v, ratio)[0] / factor


def condition_on_zero_sum(covariance: FloatArray, ratio: float) -> FloatArray:
    """Posterior covariance of the leaves given sum f = 0: Sigma_post - 11' / (ratio m) (dt-pbo Proposition 2).

    >>> condition_on_zero_sum(np.diag([4.0, 4.0]), ratio=0.25)
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return np.asarray(covariance - 1.0 / (ratio * covariance.shape[-1]))


def zero_sum_covariance(pairs: PairCounts, f: FloatArray, ratio: float) -> FloatArray:
    """Posterior covariance at the mode f (m,) of one problem with L = I / sqrt(ratio), given sum f = 0: (m, m).

    Where the comparisons outweigh the prior by far, the variance that all values share drowns that of their
    differences. Lambda 1 = 0, so a stronger prior on the sum alone changes nothing but this shared variance.

    >>> pairs = count_pairs(np.zeros(1, int), np.array([0]), np.array([1]), n_problems=1, n_values=2)
    >>> zero_sum_covariance(pairs, np.zeros(2), ratio=0.25).round(2)
    array([[ 0.56, -0.56],
           [-0.56,  0.56]])
    """
    z = (f[pairs.winner] - f[pairs.loser]) / _SQRT_2
    _, weight = probit_terms(z, log_normal_cdf(z))
    [known] = pair_laplacian(pairs, 0.5 * pairs.count * weight)
    if known.diagonal().max(initial=0.0) <= OUTWEIGHED * ratio:
        posterior = laplace_covariance(pairs, f[None], float(1.0 / np.sqrt(ratio)))[0]
        return condition_on_zero_sum(posterior, ratio)
    m = len(known)
    strength = float(np.trace(known)) / m
    return np.asarray(np.linalg.inv(known + ratio * np.eye(m) + strength / m) - 1.0 / (m * (ratio + strength)))
