"""Steps of the shape fit at corners of the limits."""

import numpy as np

import arcreach as ar
from arcreach.kernels.solver.bounds import HELD
from arcreach.kernels.solver.shape_fit import bounded_step, make_fit
from arcreach.kernels.solver.shape_squares import Body


def test_a_block_that_crosses_a_second_bound_is_held():
    robot = ar.Robot([ar.Section(0.1, 2.0, stretch=0.05)])
    model = robot.model.for_kernels()
    fit = make_fit(model, Body(np.zeros(1, np.int64), np.ones(1), np.ones(1), 0.1, 1.0, 0.0, np.ones(3)), robot.dof)
    # At the largest bend and length, the free step leaves the limit of the length only; without its part along the
    # length it would also leave that of the bend.
    fit.here.H[:] = ((1.0, 0.0, 0.5), (0.0, 1.0, 0.0), (0.5, 0.0, 1.0))
    fit.here.g[:] = -0.15, 0.0, -0.45
    bounded_step(model, np.array([2.0, 0.0, 1.0]), 0.0, fit)
    assert fit.codes[0] == HELD
    np.testing.assert_allclose(fit.x, 0.0, atol=1e-6)
