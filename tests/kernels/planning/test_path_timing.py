import numpy as np
import pytest

from arcreach.kernels.planning.path_timing import fastest, solve_tridiagonal


def test_tridiagonal_equations_are_solved():
    rng = np.random.default_rng(0)
    lower, upper, right = rng.uniform(-1, 1, 6), rng.uniform(-1, 1, 6), rng.normal(size=(6, 2))
    diagonal = np.full(6, 3.0)
    matrix = np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
    found = right.copy()
    solve_tridiagonal(lower, diagonal.copy(), upper, found)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-14)


def test_a_cap_and_a_constant_acceleration():
    # |y - x| <= 0.5 in every interval, and a cap of 1.2 in the middle.
    rows = np.tile([1.0, 0.5, 0.0], (8, 1, 1))
    caps = np.full(9, 100.0)
    caps[4] = 1.2
    squares = np.empty(9)
    fastest(caps, rows, squares)
    np.testing.assert_allclose(squares, [0.0, 0.5, 1.0, 1.5, 1.2, 1.5, 1.0, 0.5, 0.0], atol=1e-9)


def test_rounding_makes_no_squared_rate_negative():
    # The rows of the second and third intervals allow rest alone, to within rounding.
    slopes = [[1.0, 2.5], [1.0, -3.9], [2.7, 1.3]]
    widths = [[0.8, 0.5], [0.6, 0.1], [0.8, 0.6]]
    squares = np.empty(4)
    fastest(np.full(4, 2.0), np.stack([slopes, widths, np.zeros((3, 2))], axis=-1), squares)
    assert squares.min() == 0.0
    assert squares[1] == pytest.approx(1.0 / 39.0)


@pytest.mark.parametrize("seed", range(3))
def test_linear_programming_finds_no_faster_run(seed):
    linprog = pytest.importorskip("scipy.optimize").linprog
    rng, n = np.random.default_rng(seed), 40
    # A curve of three variables over [0, 1] that turn back several times: p' u + p'' x within limits, both ends.
    s = np.linspace(0.0, 1.0, n)
    waves, phases = rng.uniform(3.0, 15.0, 3), rng.uniform(0.0, 6.0, 3)
    first = np.cos(np.outer(s, waves) + phases)
    second = -waves * np.sin(np.outer(s, waves) + phases)
    step = s[1]
    y = np.concatenate([first[:-1] / (2 * step), first[1:] / (2 * step) + second[1:]], axis=1)
    x = np.concatenate([second[:-1] - first[:-1] / (2 * step), -first[1:] / (2 * step)], axis=1)
    rows = np.stack([-x / y, 1.0 / np.abs(y), np.zeros_like(y)], axis=-1)
    caps, squares = np.full(n, 1.5), np.empty(n)
    fastest(caps, rows, squares)
    sums = y * squares[1:, None] + x * squares[:-1, None]
    assert np.abs(sums).max() <= 1.0 + 1e-8
    matrix = np.zeros((n - 1, 6, n))
    for i in range(n - 1):
        matrix[i, :, i], matrix[i, :, i + 1] = x[i], y[i]
    matrix = matrix.reshape(-1, n)
    bounds = [(0.0, 0.0), *[(0.0, 1.5)] * (n - 2), (0.0, 0.0)]
    best = linprog(-np.ones(n), np.vstack([matrix, -matrix]), np.ones(2 * len(matrix)), bounds=bounds)
    # Where a variable turns back, passes from interval to interval lose what vanishes with the size of the grid.
    assert 0.99 * -best.fun < squares.sum() <= (1.0 + 1e-8) * -best.fun


def test_the_norm_of_a_pair_is_limited():
    # A circle of radius 1: |p'' x + p' u| = sqrt(x² + u²) <= 1, so x = 1 far from rest, and u² = 1 - x² at its start.
    n, step = 400, 0.02
    half = 1.0 / (2.0 * step)
    # In the frame of the tangent: (u, x) = (half (y - x), x), a limit at the start of each interval.
    pair_y, pair_x = np.array([half, 0.0]), np.array([-half, 1.0])
    square = pair_y @ pair_y
    cross = pair_x[0] * pair_y[1] - pair_x[1] * pair_y[0]
    row = [-(pair_x @ pair_y) / square, 1.0 / np.sqrt(square), cross**2 / square]
    squares = np.empty(n)
    fastest(np.full(n, 1.0), np.tile(row, (n - 1, 1, 1)), squares)
    assert squares.max() == pytest.approx(1.0, abs=1e-3)
    u = half * np.diff(squares)
    assert (np.hypot(u, squares[:-1]) <= 1.0 + 1e-9).all()
    # x = sin(2 s) solves x'/2 = sqrt(1 - x²).
    s = step * np.arange(30)
    np.testing.assert_allclose(squares[:30], np.sin(2.0 * s), atol=2.0 * step)
