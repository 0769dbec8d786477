"""Seeds: where the starts of a search come from."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.robots.seeds import seed_variables

TURN = 2.0 * math.pi


@pytest.mark.parametrize(
    ("lower", "upper", "first", "last"),
    [
        (-0.5, 1.0, -0.5, 1.0),
        (-TURN, TURN, -math.pi, math.pi),
        (-math.inf, math.inf, -math.pi, math.pi),
        (1.0, 1.0 + 3.0 * TURN, 1.0 + TURN, 1.0 + 2.0 * TURN),
    ],
    ids=["less than a turn", "two turns", "continuous", "three turns"],
)
def test_seeds_of_a_joint_fill_its_limits_or_one_turn(lower, upper, first, last):
    robot = ar.Robot([ar.Revolute(axis=(0.0, 1.0, 0.0), lower=lower, upper=upper), ar.Link((0.0, 0.0, 0.3))])
    seeds = seed_variables(robot.model, 1024, 0)[:, 0]
    assert first <= seeds.min() < first + 0.02 * (last - first)
    assert last - 0.02 * (last - first) < seeds.max() <= last


def test_limits_of_two_turns_cost_hardly_more_than_none():
    arm = ar.load_robot("ur5")
    continuous = arm.with_limits(dict.fromkeys(arm.coordinates, (-math.inf, math.inf)))
    poses = arm.tip_pose(arm.sample(3000, seed=3))
    rotations = np.ascontiguousarray(poses[:, :3, :3])
    steps = [ar.solve_batch(robot, poses[:, :3, 3], rotations=rotations).iterations for robot in (arm, continuous)]
    assert steps[0].mean() < 1.1 * steps[1].mean()
