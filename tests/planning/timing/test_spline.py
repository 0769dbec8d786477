import numpy as np
import pytest

from arcreach.planning.timing.spline import control_through, from_control

interpolate = pytest.importorskip("scipy.interpolate")


@pytest.mark.parametrize("n", [2, 3, 4, 30])
def test_natural_splines_are_those_of_scipy(n):
    rng = np.random.default_rng(n)
    knots = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 1.0, n - 1))])
    points = rng.normal(size=(n, 3))
    spline = from_control(knots, control_through(knots, points))
    reference = interpolate.CubicSpline(knots, points, bc_type="natural")
    at = np.sort(np.concatenate([knots, rng.uniform(0.0, knots[-1], 50)]))
    for order in range(4):
        np.testing.assert_allclose(spline(at, order), reference(at, order), atol=1e-10)


def test_control_points_are_those_of_scipy():
    rng = np.random.default_rng(0)
    knots, control = np.array([0.0, 0.3, 0.4, 1.0, 1.7]), rng.normal(size=(7, 2))
    repeated = np.concatenate([[0.0] * 3, knots, [1.7] * 3])
    reference = interpolate.BSpline(repeated, control, 3)
    at = rng.uniform(0.0, 1.7, 50)
    np.testing.assert_allclose(from_control(knots, control)(at), reference(at), atol=1e-12)
