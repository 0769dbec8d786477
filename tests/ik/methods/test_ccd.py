"""Method `ccd`: never backwards, within limits, position alone or with orientation."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.ik.methods.ccd import METHOD, WEIGHT, half_reach
from arcreach.ik.solution import Status
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION

LOOSE = {"position_tol": 1e-3, "angle_tol": 1e-2}

MIXED = ar.Robot(
    [
        ar.Prismatic(-0.2, 0.3, (1, 0, 0)),
        ar.Link((0, 0, 0.2)),
        ar.Revolute((0, 0, 1), -2.5, 2.5),
        ar.Revolute((0, 1, 0), -1.8, 1.8),
        ar.Parallelogram((0, 0, 0.3), (0, 1, 0), -1.2, 1.2),
        ar.Revolute((0, 1, 0), -2.0, 2.0),
        ar.Link((0, 0, 0.2)),
        ar.Revolute((0, 0, 1), -math.inf, math.inf),
        ar.Revolute((0, 1, 0), -2.0, 2.0),
        ar.Revolute((0, 0, 1), -3.0, 3.0),
        ar.Link((0.02, 0, 0.1)),
    ],
    name="mixed",
)
ROBOTS = [MIXED, ar.load_robot("ur5"), ar.load_robot("puma-560")]


def target(robot, mode, seed):
    pose = robot.tip_pose(robot.sample(1, seed)[0])
    if mode == POSITION:
        return ar.Target(pose[:3, 3])
    return ar.Target(pose[:3, 3], axis=pose[:3, 2]) if mode == AXIS else ar.Target.from_pose(pose)


def misfit(robot, Q, wanted):
    """The sum that sweeps make smaller, by the public forward kinematics."""
    poses = robot.tip_pose(Q)
    total = ((poses[:, :3, 3] - wanted.position) ** 2).sum(axis=1) / half_reach(robot) ** 2
    if wanted.kind == "axis":
        total += WEIGHT * 2 * (1 - poses[:, :3, 2] @ wanted.axis)
    elif wanted.kind == "rotation":
        total += WEIGHT * 2 * (3 - (poses[:, :3, :3] * wanted.rotation).sum(axis=(1, 2)))
    return total


@pytest.mark.parametrize("mode", [POSITION, AXIS, ROTATION])
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_a_sweep_never_makes_it_worse(robot, mode):
    for seed in range(5):
        wanted = target(robot, mode, seed)
        found = ar.solve(
            robot, wanted, "ccd", start=robot.sample(1, 50 + seed)[0], trace=True, max_iterations=20, position_tol=1e-9
        )
        values = misfit(robot, found.trace.q, wanted)
        assert len(values) > 1
        assert values[-1] < values[0]
        assert (np.diff(values) <= 1e-12).all()


def test_reaches_positions():
    for robot in ROBOTS:
        poses = robot.tip_pose(robot.sample(10, seed=3))
        found = ar.solve_batch(robot, poses[:, :3, 3], method="ccd", start=robot.sample(10, seed=4), position_tol=1e-3)
        assert found.reached.sum() >= 7
        assert robot.within_limits(found.q, 0.0).all()


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "least"), [("ur5", 0.8), ("iiwa-14", 0.8), ("arm-8r", 0.7), ("puma-560", 0.35)])
def test_reaches_whole_poses(name, least):
    robot = ar.load_robot(name)
    poses = robot.tip_pose(robot.sample(300, seed=21))
    start = robot.sample(300, seed=22)
    found = ar.solve_batch(robot, poses[:, :3, 3], rotations=poses[:, :3, :3], method="ccd", start=start, **LOOSE)
    assert found.reached.mean() >= least


def test_refuses_what_bends():
    assert "section" in METHOD.refusal(ar.load_robot("three-section"))
    with pytest.raises(ar.MethodError, match="it accepts: none"):
        ar.solve(MIXED, ar.Target([0, 0, 0.5]), "ccd", precision="float32")


def test_limits_of_effort():
    wanted = target(MIXED, ROTATION, 1)
    few = ar.solve(MIXED, wanted, "ccd", max_iterations=2, position_tol=1e-12)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 2)
    short = ar.solve(MIXED, wanted, "ccd", max_time=1e-9, position_tol=1e-12)
    assert (short.status, short.iterations) == (Status.TIME_LIMIT, 0)
    traced = ar.solve(MIXED, wanted, "ccd", max_iterations=3, position_tol=1e-12, trace=True)
    assert len(traced.trace) == 4
    np.testing.assert_array_equal(traced.trace.q[-1], traced.q)


def test_a_pose_that_cannot_be_reached_stalls():
    # The position is within reach, but the arm cannot point down there.
    robot = ar.Robot([ar.Revolute((0, 1, 0), -0.5, 0.5), ar.Link((0, 0, 0.5)), ar.Revolute((0, 1, 0), -0.5, 0.5)])
    found = ar.solve(robot, ar.Target([0.0, 0.0, 0.5], axis=[0, 0, -1]), "ccd")
    assert found.status == Status.STALLED


def test_a_robot_without_length_turns_its_axis():
    robot = ar.Robot([ar.Revolute((0, 0, 1)), ar.Revolute((0, 1, 0))])
    pose = robot.tip_pose([0.7, 1.1])
    found = ar.solve(robot, ar.Target.from_pose(pose), "ccd", start=[0.0, 0.1])
    assert found.reached
