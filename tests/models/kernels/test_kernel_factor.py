"""Features of a kernel by landmarks: the error of the approximation, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernels.kernel_factor import exact_factor, fixed_landmarks, landmark_factor

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(25, 2))
WEIGHTS = RNG.uniform(0.2, 2.0, size=25) / 25
LANDMARKS = np.array([3, 11, 20, 7])


def kernel(scale: float = 1.0) -> np.ndarray:
    return np.exp(-np.square(POINTS[:, None] - POINTS[None]).sum(axis=2) / (2 * scale**2))


def test_all_items_as_landmarks_are_the_kernel_itself():
    K = kernel()
    order = RNG.permutation(25)
    found = fixed_landmarks(K[:, order], order, WEIGHTS).factor
    np.testing.assert_allclose(found.phi @ found.phi.T, K, atol=1e-6)
    np.testing.assert_allclose(found.spectrum[:10], exact_factor(K, WEIGHTS).spectrum[:10], atol=1e-6)


def test_landmarks_give_the_nystroem_approximation_in_features_that_the_weights_make_orthogonal():
    K = kernel()
    found = fixed_landmarks(K[:, LANDMARKS], LANDMARKS, WEIGHTS)
    inverse = np.linalg.inv(K[np.ix_(LANDMARKS, LANDMARKS)] + 1e-8 * np.eye(4))
    np.testing.assert_allclose(found.factor.phi @ found.factor.phi.T, K[:, LANDMARKS] @ inverse @ K[LANDMARKS])
    spread = found.factor.phi.T @ (WEIGHTS[:, None] * found.factor.phi)
    np.testing.assert_allclose(spread, np.diag(found.factor.spectrum), atol=1e-12)
    assert (np.diff(found.factor.spectrum) <= 0).all()


def test_landmarks_chosen_for_a_kernel_say_the_same_when_they_stay():
    K = kernel()
    chosen = landmark_factor(lambda row: K[:, row], 25, 8, WEIGHTS)
    stay = fixed_landmarks(K[:, chosen.landmarks], chosen.landmarks, WEIGHTS)
    np.testing.assert_allclose(stay.factor.phi @ stay.factor.phi.T, chosen.factor.phi @ chosen.factor.phi.T, atol=1e-5)


def test_landmarks_that_all_but_coincide_leave_finite_features():
    K = kernel(scale=1e6)
    found = fixed_landmarks(K[:, LANDMARKS], LANDMARKS, WEIGHTS).factor
    np.testing.assert_allclose(found.phi @ found.phi.T, K, atol=1e-6)


@pytest.mark.parametrize("symmetric", [True, False])
def test_its_gradients_are_those_of_the_approximation(symmetric):
    """Derivative of sum(M * approximation) by the scale, through K[:, P] and K[P, P]."""
    M = RNG.normal(size=(25, 25))
    M = M + M.T if symmetric else M

    def value(scale: float) -> float:
        phi = fixed_landmarks(kernel(scale)[:, LANDMARKS], LANDMARKS, WEIGHTS).factor.phi
        return float(np.sum(M * (phi @ phi.T)))

    K = kernel()
    by_landmarks, by_among = fixed_landmarks(K[:, LANDMARKS], LANDMARKS, WEIGHTS).gradients(M)
    slope = K * np.square(POINTS[:, None] - POINTS[None]).sum(axis=2)
    found = np.sum(by_landmarks * slope[:, LANDMARKS]) + np.sum(by_among * slope[np.ix_(LANDMARKS, LANDMARKS)])
    assert found == pytest.approx((value(1 + 1e-5) - value(1 - 1e-5)) / 2e-5, rel=1e-5)
