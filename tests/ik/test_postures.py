"""Without a start, `auto` prefers postures near rest."""

import math

import numpy as np
import pytest

import arcreach as ar


def slide_roll_sections():
    joints = [ar.Prismatic(lower=0.0, upper=0.1), ar.Revolute(lower=-math.pi, upper=math.pi)]
    return ar.Robot([*joints, *(ar.Section(0.1, math.pi / 2) for _ in range(3))])


def total_bend(robot, Q):
    used = [k for k, name in enumerate(robot.coordinates) if not name.endswith(".direction")]
    used = [k for k in used if robot.quantities[k] == "angle"]
    return np.abs(Q - robot.neutral)[:, used].sum(axis=1).mean()


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["position", "axis", "rotation"])
@pytest.mark.parametrize("name", ["slide and roll", "panda"])
def test_the_default_posture_is_near_rest(name, kind):
    robot = ar.load_robot(name) if name == "panda" else slide_roll_sections()
    targets = ar.Targets.from_poses(robot.tip_pose(robot.sample(500, seed=1)), kind)
    found = ar.solve_batch(robot, targets)
    assert found.reached.all()
    from_rest = ar.solve_batch(robot, targets, start=robot.neutral)
    assert total_bend(robot, found.q) <= 1.1 * total_bend(robot, from_rest.q)


def test_the_tip_at_rest_is_reached_at_rest():
    robot = slide_roll_sections()
    target = ar.Target.from_pose(robot.tip_pose(robot.neutral))
    for asked in (target, ar.Target(target.position, target.axis), ar.Target(target.position)):
        assert np.array_equal(ar.solve(robot, asked).q, robot.neutral)


def test_an_arm_that_points_down_does_not_turn_aside():
    arm = ar.load_robot("panda")
    solution = ar.solve(arm, ar.Target([0.5, 0.0, 0.4], axis=[0.0, 0.0, -1.0]))
    assert solution.reached
    assert abs(solution.q[0]) < math.radians(30.0)
