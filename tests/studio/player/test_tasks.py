import numpy as np
import pytest

import arcreach as ar
from arcreach.studio.player import tasks


def test_a_contact_plan_is_drawn_upright():
    motion = tasks.contact_motion("wedge")
    assert len(motion.lines) == tasks.FRAMES
    end = motion.lines[-1][-1]
    assert np.allclose(end[[0, 2]], motion.target, atol=1e-6)
    assert np.array_equal(end[1], 0.0)
    assert len(motion.contacts) > 0
    assert f"with {len(motion.contacts)} contact" in motion.text
    assert len(motion.polygons) + len(motion.discs) > 0


@pytest.mark.compiled
def test_a_motion_keeps_clear_all_along():
    robot = ar.load_robot("three-section")
    goal = robot.clip(np.array([0.9, 0.2, 0.9, 0.2, 0.5, 0.2]))
    scene = ar.Scene([ar.Sphere((0.035, 0.0, 0.075), 0.012)])
    start = robot.clip(np.array([0.9, 2.8, 0.9, 2.8, 0.5, 2.8]))
    pose = robot.tip_pose(goal)
    Q, text = tasks.plan_motion(robot, start, ar.Target(pose[:3, 3]), scene)
    assert len(Q) == tasks.FRAMES
    assert np.allclose(Q[0], start)
    assert np.allclose(robot.tip_pose(Q[-1])[:3, 3], pose[:3, 3], atol=2e-6)
    assert float(np.min(ar.clearance(robot, Q, scene).distance)) > 0.0
    assert "certified clearance" in text


@pytest.mark.compiled
def test_a_target_out_of_reach_has_no_plan():
    robot = ar.load_robot("three-section")
    scene = ar.Scene([ar.Sphere((0.5, 0.0, 0.0), 0.01)])
    Q, text = tasks.plan_motion(robot, robot.neutral, ar.Target((0.0, 0.0, 0.5)), scene)
    assert len(Q) == 0
    assert "out of reach" in text


@pytest.mark.compiled
def test_branches_reach_the_target():
    robot = ar.load_robot("ur5")
    pose = robot.tip_pose(robot.sample(1, seed=3)[0])
    found = tasks.all_branches(robot, ar.Target.from_pose(pose), robot.neutral)
    assert 2 <= len(found) <= tasks.MOST_BRANCHES
    for q in found:
        assert np.allclose(robot.tip_pose(q), pose, atol=1e-5)


def test_the_branches_that_differ_most_are_chosen():
    robot = ar.Robot([ar.Revolute(), ar.Link((1.0, 0.0, 0.0))])
    many = [np.array([angle]) for angle in (0.0, 0.01, 0.02, 3.0, 1.5, 0.03)]
    chosen = tasks.most_different(robot, many, 3)
    assert [q[0] for q in chosen] == [0.0, 3.0, 1.5]
    assert tasks.most_different(robot, many[:2], 3) == many[:2]


def test_walls_are_drawn_as_thin_slabs():
    motion = tasks.contact_motion("walls")
    assert len(motion.polygons) == 4
    for corners in motion.polygons:
        a, b, c, d = corners
        area = 0.5 * (np.linalg.det([b - a, c - a]) + np.linalg.det([c - a, d - a]))
        assert area == pytest.approx(np.linalg.norm(b - a) * tasks.WALL * 0.45)


def test_the_reach_map_has_positions_that_are_reached(monkeypatch):
    monkeypatch.setattr(tasks, "REACH_CELLS", 4)
    monkeypatch.setattr(tasks, "REACH_DIRECTIONS", 4)
    robot = ar.load_robot("three-section")
    positions, share = tasks.map_reach(robot)
    assert len(positions) == len(share) > 0
    assert set(share) <= {0.25, 0.5, 0.75, 1.0}
    assert ar.solve_batch(robot, positions).reached.all()
