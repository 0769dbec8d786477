import pytest

import arcreach as ar
from arcreach.robots.initial import initial_pose
from arcreach.studio.state.initial import initial_scene


@pytest.mark.parametrize("name", ["three-section", "ur5"])
def test_the_initial_obstacle_does_not_touch_the_robot(name):
    robot = ar.load_robot(name)
    q = initial_pose(robot)
    scene = initial_scene(robot, q)
    assert len(scene) == 1
    assert float(ar.clearance(robot, q, scene)) > 0.0
