import numpy as np
import pytest

import arcreach as ar
from arcreach.robots.initial import initial_pose
from arcreach.robots.robot import Robot

NAMES = [name for name in ar.catalogue() if isinstance(ar.load_robot(name), Robot)]


@pytest.mark.parametrize("name", NAMES)
def test_the_initial_pose_is_within_limits_and_bent(name):
    robot = ar.load_robot(name)
    q = initial_pose(robot)
    assert robot.within_limits(q)
    assert np.array_equal(q, initial_pose(robot))
    assert np.linalg.norm(robot.tip_pose(q)[:2, 3]) > 0.1 * robot.reach


@pytest.mark.filterwarnings("error")
def test_a_robot_without_length_has_an_initial_pose():
    robot = ar.Robot([ar.Revolute()])
    assert robot.within_limits(initial_pose(robot))
