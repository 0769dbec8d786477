"""Method `fabrikc`: sections that bend at their end, table 3.11."""

import pytest
from tests.ik.methods.test_fabrikx import TABLE_3_11
from tests.ik.test_fabrik_chain import easy_targets, targets

import arcreach as ar
from arcreach.ik.solve import solve_batch


def test_accepts_a_section_that_bends_at_its_end():
    robot = ar.Robot([ar.Section(0.1, 1.5, length_weights=(1, 0), bend_weights=(0, 1))] * 3)
    positions, axes = easy_targets(robot)
    assert solve_batch(robot, positions, axes, method="fabrikc").reached.all()


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("number", "printed", "iterations"),
    [(1, 78.5, 197), (2, 79.5, 188), (3, 75.8, 183), (4, 73.4, 180), (5, 70.0, 120)],
)
def test_table_3_11(number, printed, iterations):
    robot = ar.load_robot(f"variable-curvature-{number}")
    positions, axes = targets(robot, 4000, seed=100 + number)
    found = solve_batch(robot, positions, axes, method="fabrikc", max_iterations=iterations, **TABLE_3_11)
    assert robot.within_limits(found.q, 0.0).all()
    assert 100 * found.reached.mean() == pytest.approx(printed, abs=5.0)
