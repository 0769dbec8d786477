"""Eigenvalues and linear equations of small symmetric matrices against LAPACK."""

import numpy as np
import pytest

from arcreach.kernels.math.linalg import diagonalize, factor_downhill, solve_downhill


def spectrum(A):
    """Eigenvalues in ascending order and their vectors, by `diagonalize`."""
    D, V = A.copy(), np.empty_like(A)
    diagonalize(D, V)
    order = np.argsort(np.diag(D))
    return np.diag(D)[order], V[:, order]


def assert_diagonalized(A):
    values, V = spectrum(A)
    size = max(abs(A).max(), 1e-300)
    np.testing.assert_allclose(values, np.linalg.eigh(A)[0], rtol=0, atol=1e-14 * len(A) * size)
    np.testing.assert_allclose(V.T @ V, np.eye(len(A)), rtol=0, atol=1e-13)
    np.testing.assert_allclose(V @ np.diag(values) @ V.T, A, rtol=0, atol=1e-13 * len(A) * size)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_random(n, scale):
    rng = np.random.default_rng(n)
    for _ in range(20):
        A = rng.normal(size=(n, n)) * scale
        assert_diagonalized(A + A.T)


def turned(values, seed=0):
    """A symmetric matrix with these eigenvalues."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    A = Q @ np.diag(values) @ Q.T
    return 0.5 * (A + A.T)


@pytest.mark.parametrize(
    "values",
    [
        [0, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 0, 0, 0],
        [2, 2, 1e-9, 1e-9, 0, 0],
        [1, 1 + 1e-12, 1 - 1e-12, 1e-15, 0, 0],
        [1e6, 1, 1e-6, 1e-12, 0, 0],
        [-1, 1, -1, 1, 0, 2],
    ],
)
def test_repeated_small_and_zero_eigenvalues(values):
    for seed in range(5):
        assert_diagonalized(turned(np.array(values, float), seed))


@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-9, 1e-20, 1e-320, 1.0])
def test_nearly_diagonal(off):
    A = np.diag([3.0, 2.0, 2.0, 1.0, 0.0, 0.0])
    A[0, 5] = A[5, 0] = A[1, 2] = A[2, 1] = A[4, 5] = A[5, 4] = off
    assert_diagonalized(A)


def test_a_jacobian_without_its_orientation_rows():
    J = np.random.default_rng(3).normal(size=(6, 7))
    J[3:] = 0.0
    values, _ = spectrum(J @ J.T)
    np.testing.assert_allclose(values[:3], 0.0, atol=1e-15)
    np.testing.assert_allclose(np.sqrt(values[3:]), np.linalg.svd(J[:3])[1][::-1], rtol=1e-12)


def test_matrices_that_are_not_finite_end():
    A = np.full((6, 6), np.nan)
    diagonalize(A, np.empty((6, 6)))
    assert np.isnan(A).any()


def downhill(A, b):
    """The step for the gradient b; only the lower triangle of A is given."""
    given, x = np.tril(A) + np.triu(np.full_like(A, np.nan), 1), b.copy()
    factor_downhill(given, len(b))
    solve_downhill(given, len(b), x)
    return x


@pytest.mark.parametrize("n", [1, 2, 6, 9])
def test_equations_of_a_positive_definite_matrix(n):
    b = np.random.default_rng(n).normal(size=n)
    A = turned(np.linspace(0.1, 3.0, n))
    np.testing.assert_allclose(downhill(A, b), np.linalg.solve(A, b), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_step_of_an_indefinite_matrix_leads_downhill(seed):
    b = np.random.default_rng(seed).normal(size=4)
    A = turned([-2.0, -0.01, 0.5, 3.0], seed)
    assert downhill(A, b) @ b > 0.01 * (b @ b)


def test_a_direction_without_curvature_has_no_infinite_step():
    x = downhill(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 1.0]))
    np.testing.assert_allclose(x, [1.0, 0.0], atol=1e-12)
