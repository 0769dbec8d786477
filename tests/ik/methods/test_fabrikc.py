"""Method `fabrikc`: tangents, limits at the end only."""

import math

import numpy as np
import pytest
from tests.ik.methods.test_fabrikx import ROBOTS, TABLE_3_11, arm, easy_targets, targets

import arcreach as ar
from arcreach.ik.methods.fabrikc import METHOD
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target
from arcreach.kernels.chain import layout

ACCEPTED = [name for name, robot in ROBOTS.items() if METHOD.refusal(robot) is None]


def test_accepts_fixed_sections_only():
    assert set(ROBOTS) - set(ACCEPTED) == {"telescopic", "extensible"}
    assert "fixed length" in METHOD.refusal(ROBOTS["extensible"])
    assert "targets of axis" in METHOD.refusal(arm(), layout.POSITION)


def test_accepts_a_section_that_bends_at_its_end():
    robot = ar.Robot([ar.Section(0.1, 1.5, length_weights=(1, 0), bend_weights=(0, 1))] * 3)
    positions, axes = easy_targets(robot)
    assert solve_batch(robot, positions, axes, method="fabrikc").reached.all()


@pytest.mark.parametrize("name", ACCEPTED)
def test_reaches_and_keeps_limits(name):
    robot = ROBOTS[name]
    positions, axes = easy_targets(robot)
    found = solve_batch(robot, positions, axes, method="fabrikc")
    assert robot.within_limits(found.q, 0.0).all()
    assert found.reached.mean() >= 0.6
    poses = robot.tip_pose(found.q)
    off = np.linalg.norm(poses[:, :3, 3] - positions, axis=1)
    assert (off[found.reached] <= 1e-6).all()


@pytest.mark.parametrize("name", ACCEPTED)
def test_unreachable_target(name):
    robot = ROBOTS[name]
    start = robot.sample(2, seed=8)
    far = np.array([[0.3, 0.2, 2.0], [2.0, 0.0, 0.1]])
    axes = np.array([[0.0, 0, 1], [1, 0, 0]])
    found = solve_batch(robot, far, axes, method="fabrikc", start=start, max_iterations=60)
    assert (found.status == Status.OUT_OF_REACH).all()
    assert robot.within_limits(found.q, 0.0).all()


def test_straight_target():
    robot = ROBOTS["links"]
    pose = robot.tip_pose(np.zeros(robot.dof))
    found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), "fabrikc")
    assert found.reached
    np.testing.assert_array_equal(found.q, 0.0)


def test_opposite_axis_stays_finite():
    # The tangents of the last section are parallel and opposed: a bend of pi.
    robot = ar.Robot([ar.Section(0.05, math.pi)] * 3)
    found = solve_batch(robot, [[0, 0, 0.1], [0.03, 0, 0.1]], [[0, 0, -1], [0, 0, -1]], method="fabrikc")
    assert np.isfinite(found.q).all()
    assert robot.within_limits(found.q, 0.0).all()


def test_same_answer_twice_and_in_a_batch():
    robot = ROBOTS["varying"]
    positions, axes = targets(robot, 5)
    batch = solve_batch(robot, positions, axes, method="fabrikc", max_iterations=20)
    for i in range(5):
        one = solve(robot, Target(positions[i], axes[i]), "fabrikc", max_iterations=20)
        np.testing.assert_array_equal(one.q, batch.q[i])
        again = solve(robot, Target(positions[i], axes[i]), "fabrikc", max_iterations=20)
        np.testing.assert_array_equal(one.q, again.q)


def test_trace_has_a_row_per_iteration():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    found = solve(robot, Target(positions[0], axes[0]), "fabrikc", trace=True)
    assert found.reached
    assert len(found.trace) == found.iterations > 1
    np.testing.assert_array_equal(found.trace.q[-1], found.q)


def test_iteration_and_time_limits():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    target = Target(positions[0], axes[0])
    few = solve(robot, target, "fabrikc", max_iterations=2, position_tol=1e-12)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 2)
    short = solve(robot, target, "fabrikc", max_time=1e-9, position_tol=1e-12)
    assert (short.status, short.iterations) == (Status.TIME_LIMIT, 1)


def test_insertion_moves_and_roll_is_kept():
    robot = ROBOTS["base"]
    q = np.array([0.06, 0.4, 0.3, 0.2, 0.4, -1.0, 0.3, 2.0])
    pose = robot.tip_pose(q)
    start = q + np.array([-0.02, 0.0, 0.1, 0.1, -0.1, 0.1, 0.1, -0.1])
    found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), "fabrikc", start=start)
    assert found.reached
    assert found.q[1] == 0.4
    assert found.q[0] != pytest.approx(0.04)


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
