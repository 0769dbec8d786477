"""The solver's residual and Jacobian against the exact kinematics."""

import math

import numpy as np
import pytest
from tests import reference

import arcreach as ar
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION
from arcreach.kernels.solver.contexts import Goal
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.kernels.solver.variables import to_front


def residual(robot, v, target, mode):
    model = robot.model.for_kernels()
    e, J, local = np.empty(6), np.zeros((len(v), 6)), np.empty(12)
    to_front(model, mode, target, local)
    errors = evaluate(model, Goal(local, mode, 0.0, 0.0), v, e, J)
    return e, J, errors


def units(robot):
    """Units of the variables in the columns of J."""
    values = np.ones(robot.model.variables)
    for element in robot.model.moving:
        last = element["variable"] + element["width"] - (1 if element["stretch"] > 0.0 else 0)
        values[element["variable"] : last] = element["unit"]
    return values


def row_of(pose):
    return np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])


def variables(robot, q):
    return robot.model.to_variables([q])[0]


def random_cases(count, seed):
    rng = np.random.default_rng(seed)
    while count:
        robot = reference.random_robot(rng)
        if robot.dof:
            count -= 1
            yield robot, robot.sample(1, rng)[0], rng


def test_variables_and_coordinates_are_the_same_configuration():
    for robot, q, _ in random_cases(100, 0):
        back = robot.model.to_coordinates([variables(robot, q)])[0]
        np.testing.assert_allclose(robot.tip_pose(back), robot.tip_pose(q), atol=1e-13)
        assert robot.within_limits(back, tolerance=1e-15)


@pytest.mark.parametrize("mode", [POSITION, AXIS, ROTATION])
def test_errors_are_those_of_the_exact_kinematics(mode):
    for robot, q, rng in random_cases(60, 1):
        goal = robot.tip_pose(robot.sample(1, rng)[0])
        _, _, (distance2, angle) = residual(robot, variables(robot, q), row_of(goal), mode)
        tip = robot.tip_pose(q)
        assert math.sqrt(distance2) == pytest.approx(np.linalg.norm(tip[:3, 3] - goal[:3, 3]), abs=1e-12)
        if mode == AXIS:
            cross = np.linalg.norm(np.cross(tip[:3, 2], goal[:3, 2]))
            assert angle == pytest.approx(math.atan2(cross, tip[:3, 2] @ goal[:3, 2]), abs=1e-7)
        if mode == ROTATION:
            turn = tip[:3, :3].T @ goal[:3, :3]
            cosine = min(max((np.trace(turn) - 1) / 2, -1.0), 1.0)
            assert math.cos(angle) == pytest.approx(cosine, abs=1e-12)


@pytest.mark.parametrize("mode", [POSITION, AXIS, ROTATION])
@pytest.mark.parametrize("straight", [False, True])
def test_jacobian_is_the_change_of_the_pose_seen_from_the_tip(mode, straight):
    step = 1e-6
    for robot, q, _ in random_cases(40, 2):
        if straight:
            q[reference.bend_indices(robot)] = 0.0
        v = variables(robot, q)
        here = row_of(robot.tip_pose(q))
        _, J, _ = residual(robot, v, here, mode)
        for k in range(len(v)):
            ahead, behind = v.copy(), v.copy()
            ahead[k] += step
            behind[k] -= step
            # At its own pose the residual of a moved tip is minus the motion, up to second order.
            change = (residual(robot, behind, here, mode)[0] - residual(robot, ahead, here, mode)[0]) / (2 * step)
            np.testing.assert_allclose(J[k] / units(robot)[k], change, atol=2e-6)


@pytest.mark.parametrize("mode", [AXIS, ROTATION])
def test_an_opposite_orientation_still_pulls(mode):
    robot = ar.Robot([ar.Section(0.1, math.pi)] * 3)
    goal = np.eye(4)
    goal[:3, :3] = np.diag([1.0, -1.0, -1.0])
    goal[:3, 3] = robot.tip_pose(robot.neutral)[:3, 3]
    e, _, (_, angle) = residual(robot, np.zeros(6), row_of(goal), mode)
    assert angle == pytest.approx(math.pi)
    assert np.linalg.norm(e[3:]) == pytest.approx(math.pi * robot.model.weight)
