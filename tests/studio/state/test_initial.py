import numpy as np
import pytest

import arcreach as ar
from arcreach.robots.robot import Robot
from arcreach.studio.state.initial import initial_pose, initial_scene

NAMES = [name for name in ar.catalogue() if isinstance(ar.load_robot(name), Robot)]


@pytest.mark.parametrize("name", NAMES)
def test_the_initial_pose_is_within_limits_and_bent(name):
    robot = ar.load_robot(name)
    q = initial_pose(robot)
    assert robot.within_limits(q)
    assert np.array_equal(q, initial_pose(robot))
    assert np.linalg.norm(robot.tip_pose(q)[:2, 3]) > 0.1 * robot.reach


@pytest.mark.parametrize("name", ["three-section", "ur5"])
def test_the_initial_obstacle_does_not_touch_the_robot(name):
    robot = ar.load_robot(name)
    q = initial_pose(robot)
    scene = initial_scene(robot, q)
    assert len(scene) == 1
    assert float(ar.clearance(robot, q, scene)) > 0.0
