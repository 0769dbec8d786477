import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError
from arcreach.robots.initial import initial_pose
from arcreach.studio.stage.obstacles import mesh_of
from arcreach.studio.state import obstacles

SHAPES = [
    ar.Sphere((0.1, 0.2, 0.3), 0.05),
    ar.Capsule((0.0, 0.0, 0.0), (0.0, 0.0, 0.4), 0.05),
    ar.Box((0.1, 0.2, 0.3), (0.1, 0.0, 0.2)),
    ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -0.1)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_moved_and_moved_back(shape):
    place = np.array([0.5, -0.2, 0.1])
    moved = obstacles.moved(shape, place)
    assert np.allclose(obstacles.centre_of(moved), place)
    back = obstacles.moved(moved, obstacles.centre_of(shape))
    assert np.allclose(obstacles.centre_of(back), obstacles.centre_of(shape))
    assert obstacles.movable(shape)


@pytest.mark.parametrize("shape", SHAPES[:3], ids=lambda shape: shape.kind)
def test_resized(shape):
    assert obstacles.size_of(obstacles.resized(shape, 0.2)) == pytest.approx(0.2)
    assert obstacles.size_of(SHAPES[3]) is None


def test_a_box_keeps_its_proportions():
    assert obstacles.resized(SHAPES[2], 0.3).size == pytest.approx((0.2, 0.4, 0.6))


def test_changes_make_new_scenes():
    scene = ar.Scene()
    for kind in obstacles.KINDS * 2:
        scene = obstacles.with_new(scene, kind, (0.1, 0.0, 0.1), 0.02)
    assert scene.shape_names == ("ball 1", "block 1", "bar 1", "ball 2", "block 2", "bar 2")
    less = obstacles.without_shape(scene, 0)
    assert less.shape_names[0] == "block 1"
    assert obstacles.with_new(less, "ball", (0.0, 0.0, 0.0), 0.01).shape_names[-1] == "ball 1"
    other = obstacles.with_shape(scene, 1, SHAPES[0])
    assert other[1] == SHAPES[0]
    assert len(other) == 6


def apart(a, b):
    """The distance between two obstacles, by the points of their surfaces."""
    places = [mesh_of(shape, 1.0)[0] + obstacles.centre_of(shape) for shape in (a, b)]
    return np.linalg.norm(places[0][:, None] - places[1][None], axis=2).min()


def test_new_obstacles_stand_beside_each_other_and_beside_the_robot():
    robot = ar.load_robot("three-section")
    q = robot.neutral
    scene = ar.Scene([ar.Sphere((0.05, 0.02, 0.03), 0.01, name="ball 1")])
    for kind in obstacles.KINDS * 4:
        scene = obstacles.with_new_beside(
            scene, kind, robot.reach, lambda one: float(ar.clearance(robot, q, one)) > 0.0
        )
    assert len(scene) == 13
    assert float(ar.clearance(robot, q, scene)) > 0.0
    for i, first in enumerate(scene):
        for second in list(scene)[:i]:
            assert apart(first, second) > 0.0
            assert np.linalg.norm(obstacles.centre_of(first) - obstacles.centre_of(second)) > 0.01


def test_a_new_obstacle_where_nothing_is_free():
    scene = obstacles.with_new_beside(ar.Scene(), "ball", 1.0, lambda one: False)
    assert len(scene) == 1


@pytest.mark.parametrize("name", ["three-section", "ur5"])
def test_the_initial_obstacle_does_not_touch_the_robot(name):
    robot = ar.load_robot(name)
    q = initial_pose(robot)
    scene = obstacles.initial_scene(robot, q)
    assert len(scene) == 1
    assert float(ar.clearance(robot, q, scene)) > 0.0


def test_scenes_of_the_catalogue():
    assert "clutter-20" in obstacles.spatial_scenes()
    with pytest.raises(FileError, match="is not a scene of the catalogue"):
        obstacles.scene_of_catalogue("/etc/passwd")
    far = ar.Scene([ar.Sphere((9.0, 0.0, 0.0), 0.1), ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -9.0))])
    assert obstacles.summary(far, 1.0) == "the scene: 2 obstacles, 1 of them out of the robot's reach of 1000 mm"
    # The floor's centre is far away, the floor is not.
    floor = ar.Scene([ar.Box((20.0, 20.0, 0.1), (8.0, 0.0, -0.1))])
    assert obstacles.summary(floor, 1.0) == "the scene: 1 obstacle"
