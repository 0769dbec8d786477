import sys

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MissingExtraError, TargetError
from arcreach.planning.motions import SmoothSpace
from arcreach.planning.timing import timed

pytest.importorskip("toppra")
# toppra says by a warning what its solver does.
pytestmark = pytest.mark.filterwarnings("ignore")


class Rows:
    """The least that can be timed: a robot and its configurations."""

    def __init__(self, robot, q):
        self.robot, self.q = robot, np.asarray(q, dtype=float)


def arm():
    return ar.Robot([ar.Revolute((0, 0, 1)), ar.Link((0.5, 0, 0)), ar.Prismatic(0.0, 0.5)])


def test_a_straight_motion_is_as_fast_as_its_limits_allow():
    path = Rows(arm(), [[0.0, 0.0], [2.0, 0.1]])
    motion = timed(path, 1.0, 2.0)
    # The turn decides: it speeds up for half a second, goes on at 1 rad/s, and slows down as it began.
    assert motion.duration == pytest.approx(2.5, rel=5e-3)
    assert (np.abs(motion.speed) <= 1.0 + 1e-9).all()
    assert (np.abs(motion.acceleration) <= 2.0 + 1e-9).all()
    np.testing.assert_allclose(motion.q[[0, -1]], path.q, atol=1e-9)
    np.testing.assert_allclose(motion.speed[[0, -1]], 0.0, atol=1e-6)
    assert (np.diff(motion.times) > 0.0).all()
    assert not motion.stops
    # Twice as fast and four times as hard: half of the time.
    assert timed(path, 2.0, 8.0).duration == pytest.approx(0.5 * motion.duration, rel=1e-3)


def test_each_coordinate_has_its_own_limit():
    path = Rows(arm(), [[0.0, 0.0], [1.0, 0.4], [0.2, 0.1]])
    speed, acceleration = np.array([2.0, 0.05]), np.array([4.0, 0.2])
    motion = timed(path, speed, acceleration)
    assert (np.abs(motion.speed) <= speed * (1 + 1e-9)).all()
    assert (np.abs(motion.acceleration) <= acceleration * (1 + 1e-9)).all()
    # The slide has 0.7 m to go at 0.05 m/s.
    assert motion.duration > 13.0


def test_speeds_are_those_of_the_motion():
    path = Rows(arm(), [[0.0, 0.0], [1.0, 0.4], [0.2, 0.1]])
    motion = timed(path, 1.0, 2.0, samples=2001)
    differences = np.gradient(motion.q, motion.times, axis=0)
    np.testing.assert_allclose(differences[1:-1], motion.speed[1:-1], atol=5e-3)


@pytest.mark.compiled
def test_corners_are_rounded_or_stopped_at():
    robot = ar.load_robot("extensible-sections")
    path = Rows(robot, robot.sample(4, seed=1))
    through, stopping = timed(path, 1.0, 2.0), timed(path, 1.0, 2.0, stops=True)
    assert through.duration < stopping.duration
    assert stopping.stops
    assert "stops at every point" in str(stopping)
    for motion in (through, stopping):
        assert robot.within_limits(motion.q).all()
        assert (np.abs(motion.speed) <= 1.0 + 1e-9).all()
        assert (np.abs(motion.acceleration) <= 2.0 + 1e-9).all()
    for q in path.q:
        assert np.abs(robot.tip_pose(stopping.q) - robot.tip_pose(q)).max(axis=(1, 2)).min() < 1e-9
    space = SmoothSpace(robot)
    speed = np.gradient(space.variables(through.q), through.times, axis=0)
    # The bend vector's parts, and the length by its stretch.
    assert np.abs(speed[:, :2]).max() <= 1.02


@pytest.mark.compiled
def test_a_plan_is_certified_again():
    pytest.importorskip("ompl")
    robot, scene = ar.load_robot("three-section"), ar.load_scene("clutter-20")
    plan = ar.plan(robot, robot.neutral, ar.Target([-0.048, -0.0193, 0.079]), scene)
    assert len(plan) > 2
    for stops in (False, True):
        motion = plan.timed(1.0, 2.0, stops=stops)
        assert 0.0 < motion.clearance <= ar.clearance(robot, motion.q, scene).distance.min()
        np.testing.assert_allclose(robot.tip_pose(motion.q[-1]), robot.tip_pose(plan.q[-1]), atol=1e-9)


def test_bad_limits_and_paths_are_named():
    path = Rows(arm(), [[0.0, 0.0], [1.0, 0.1]])
    with pytest.raises(TargetError, match="max_speed"):
        timed(path, 0.0, 1.0)
    with pytest.raises(TargetError, match="max_acceleration"):
        timed(path, 1.0, [1.0, 2.0, 3.0])
    with pytest.raises(TargetError, match="samples"):
        timed(path, 1.0, 1.0, samples=1)
    with pytest.raises(TargetError, match="no length"):
        timed(Rows(arm(), [[0.0, 0.0], [0.0, 0.0]]), 1.0, 1.0)


def test_times_stand_in_the_first_column(tmp_path):
    motion = timed(Rows(arm(), [[0.0, 0.0], [1.0, 0.1]]), 1.0, 2.0, samples=11)
    motion.to_csv(tmp_path / "motion.csv")
    table = np.genfromtxt(tmp_path / "motion.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["time"], motion.times)
    assert len(table.dtype.names) == 3


def test_without_toppra_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "toppra", None)
    with pytest.raises(MissingExtraError, match=r"arcreach\[plan\]"):
        timed(Rows(arm(), [[0.0, 0.0], [1.0, 0.1]]), 1.0, 1.0)
