"""Small motions of the tip, judged by forward kinematics."""

import numpy as np
import pytest

import arcreach as ar
from arcreach._geometry import rotation_vector
from arcreach.robots.initial import initial_pose
from arcreach.studio.state.jog import BASE, TOOL, jogged
from arcreach.studio.state.request import AXIS, POSE, POSITION

FREE = np.zeros(6, bool)


@pytest.mark.parametrize("frame", [BASE, TOOL])
@pytest.mark.parametrize("axis", range(6))
def test_an_arm_moves_along_and_about_every_axis(frame, axis):
    robot = ar.load_robot("ur5")
    q = initial_pose(robot)
    before = robot.tip_pose(q)
    motion = np.zeros(6)
    motion[axis] = 0.003
    after = robot.tip_pose(jogged(robot, q, motion, frame, POSE, FREE))
    axes = before[:3, :3] if frame == TOOL else np.eye(3)
    assert np.allclose(axes.T @ (after - before)[:3, 3], motion[:3], atol=1e-6)
    assert np.allclose(axes.T @ rotation_vector(after[:3, :3] @ before[:3, :3].T), motion[3:], atol=1e-5)


def test_a_straight_robot_moves_aside():
    robot = ar.load_robot("three-section")
    q = robot.neutral
    for _ in range(5):
        q = jogged(robot, q, np.array([0.0, 1e-3, 0.0, 0.0, 0.0, 0.0]), BASE, POSITION, FREE)
    moved = (robot.tip_pose(q) - robot.tip_pose(robot.neutral))[:3, 3]
    assert moved[1] == pytest.approx(5e-3, rel=0.01)
    assert abs(moved[0]) < 1e-5


def test_the_axis_is_kept_where_the_aim_asks_for_it():
    robot = ar.load_robot("three-section")
    q = initial_pose(robot)
    motion = np.array([0.0, 0.0, -1e-3, 0.0, 0.0, 0.0])
    kept, free = (robot.tip_pose(jogged(robot, q, motion, BASE, aim, FREE)) for aim in (AXIS, POSITION))
    z = robot.tip_pose(q)[:3, 2]
    assert np.linalg.norm(np.cross(z, kept[:3, 2])) < 1e-3 < np.linalg.norm(np.cross(z, free[:3, 2]))


@pytest.mark.parametrize("held", [(0,), (1,), (0, 1), (2, 5)])
def test_held_coordinates_stay(held):
    robot = ar.load_robot("three-section")
    q, mask = initial_pose(robot), np.isin(np.arange(6), held)
    moved = q
    for _ in range(4):
        moved = jogged(robot, moved, np.array([0.0, -1e-3, 0.0, 0.0, 0.0, 0.0]), BASE, POSITION, mask)
    assert np.array_equal(moved[mask], q[mask])
    way = (robot.tip_pose(moved) - robot.tip_pose(q))[:3, 3]
    assert way[1] == pytest.approx(-4e-3, rel=0.05)


@pytest.mark.parametrize("radius", [1e-3, 2e-2])
def test_the_body_stays_within_a_port(radius):
    robot = ar.load_robot("three-section")
    q = initial_pose(robot)
    port = ar.Port(tuple(robot.backbone(q, 3)[1]), radius=radius)
    before, motion = robot.tip_pose(q)[:3, 3], np.array([0.0, -1e-3, 0.0, 0.0, 0.0, 0.0])
    free = moved = q
    for _ in range(8):
        free = jogged(robot, free, motion, BASE, POSITION, FREE)
        moved = jogged(robot, moved, motion, BASE, POSITION, FREE, port)
        assert port.passage(robot, moved).kept[0]
    # It comes near the requested position.
    assert np.allclose(robot.tip_pose(moved)[:3, 3] - before, 8.0 * motion[:3], atol=2e-3)
    # Without the port it would have left it.
    assert port.passage(robot, free).kept[0] == (radius > 1e-2)


def test_a_motion_that_leaves_the_port_is_refused():
    robot = ar.load_robot("three-section")
    q = robot.neutral
    # Nothing of the body is beyond the tip of a straight robot.
    port = ar.Port(tuple(robot.tip_pose(q)[:3, 3]), radius=1e-3)
    for _ in range(6):
        before, q = q, jogged(robot, q, np.array([1e-3, 0.0, -2e-4, 0.0, 0.0, 0.0]), BASE, POSITION, FREE, port)
        assert port.passage(robot, q).kept[0]
    assert q is before


def test_a_body_that_misses_the_port_comes_nearer():
    robot = ar.load_robot("three-section")
    q = initial_pose(robot)
    port = ar.Port(tuple(robot.backbone(q, 3)[1] + [2e-3, 0.0, 0.0]), radius=5e-4)
    assert not port.passage(robot, q).kept[0]
    for _ in range(8):
        q = jogged(robot, q, np.array([0.0, 0.0, -1e-3, 0.0, 0.0, 0.0]), BASE, POSITION, FREE, port)
    assert port.passage(robot, q).kept[0]


def test_at_the_end_of_the_reach_nothing_jumps():
    robot = ar.load_robot("three-section")
    q = robot.clip(robot.neutral + 1e-3)
    for _ in range(40):
        before, q = q, jogged(robot, q, np.array([0.0, 0.0, 2e-3, 0.0, 0.0, 0.0]), BASE, POSITION, FREE)
        assert robot.within_limits(q)
        assert np.linalg.norm(robot.backbone(q, 9) - robot.backbone(before, 9), axis=1).max() < 0.05 * robot.reach
    # From there it follows motions back.
    tip = robot.tip_pose(q)[:3, 3]
    back = robot.tip_pose(jogged(robot, q, np.array([1e-3, 0.0, 0.0, 0.0, 0.0, 0.0]), BASE, POSITION, FREE))[:3, 3]
    assert np.linalg.norm(back - tip) < 3e-3
