import itertools
import sys

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MissingExtraError, RobotError, TargetError
from arcreach.planning.timing.timed import timed


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


def spline_duration(points, speed, acceleration):
    """Return the duration that toppra computes for a cubic spline through points."""
    toppra = pytest.importorskip("toppra")
    pytest.importorskip("toppra.algorithm")
    pytest.importorskip("toppra.constraint")
    places = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    limits = [np.tile([-limit, limit], (points.shape[1], 1)) for limit in (speed, acceleration)]
    kinds = (toppra.constraint.JointVelocityConstraint, toppra.constraint.JointAccelerationConstraint)
    curve = toppra.SplineInterpolator(places, points, bc_type="natural")
    constraints = [kind(limit) for kind, limit in zip(kinds, limits, strict=True)]
    return toppra.algorithm.TOPPRA(constraints, curve).compute_trajectory().duration


def lissajous(n, size=1.0):
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    return size * np.stack([np.sin(angle), np.sin(2.0 * angle)], axis=1)


# toppra warns of what its solver does.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("points", [12, *(pytest.param(n, marks=pytest.mark.compiled) for n in (50, 200))])
def test_many_points_are_passed_as_fast_as_by_a_spline_through_them(points):
    robot = ar.Robot([ar.Revolute(), ar.Link((0.5, 0, 0)), ar.Revolute(), ar.Link((0.4, 0, 0))])
    motion = timed(Rows(robot, lissajous(points)), 1.0, 2.0)
    ratio = motion.duration / spline_duration(lissajous(points), 1.0, 2.0)
    assert 0.98 < ratio < 1.02
    # The motion passes every point.
    dense = timed(Rows(robot, lissajous(points)), 1.0, 2.0, samples=4000).q
    assert max(np.abs(dense - q).max(axis=1).min() for q in lissajous(points)) < 2e-3


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore")
def test_bend_vectors_are_passed_as_fast_as_by_a_spline_through_them():
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    pairs = np.add(lissajous(80, 0.8), (0.05, 0.02))
    q = np.stack([np.hypot(*pairs.T), np.arctan2(pairs[:, 1], pairs[:, 0])], axis=1)
    motion = timed(Rows(robot, q), 1.0, 2.0)
    # The norm of the rate is limited: a spline of many projections has the same limits.
    angle = np.pi * np.arange(40) / 40
    projected = pairs @ np.array([np.cos(angle), np.sin(angle)])
    assert 0.98 < motion.duration / spline_duration(projected, 1.0, 2.0) < 1.02


def test_points_on_a_line_cost_nothing():
    ends = np.array([[0.0, 0.0], [1.12, 0.3]])
    line = ends[0] + np.linspace(0.0, 1.0, 100)[:, None] * (ends[1] - ends[0])
    alone, many = (timed(Rows(arm(), q), 1.0, 2.0).duration for q in (ends, line))
    assert many == pytest.approx(alone, rel=1e-3)
    # Half a second to speed up, as long to slow down, and 0.62 rad at full speed between.
    assert alone == pytest.approx(1.62, rel=5e-3)


def turning():
    """A bending section that turns twice about its base, one that passes by the straight pose, and a slide."""
    robot = ar.Robot([ar.Section(0.1, 2.0), ar.Section(0.1, 2.0, stretch=0.05), ar.Prismatic(0.0, 0.5)])
    share = np.linspace(0.0, 1.0, 60)
    side, off = 0.5 - share, 0.05 + 0.1 * share
    q = np.stack(
        [
            0.6 + 0.3 * share,
            np.remainder(4.0 * np.pi * share + np.pi, 2.0 * np.pi) - np.pi,
            np.hypot(side, off),
            np.arctan2(off, side),
            0.13 + 0.02 * share,
            0.1 + 0.3 * np.sin(3.0 * share),
        ],
        axis=1,
    )
    return Rows(robot, q)


@pytest.mark.compiled
def test_speed_and_acceleration_are_derivatives():
    motion = timed(turning(), 1.0, 2.0, samples=20_001)
    for values, rates, close in (
        (motion.q, motion.speed, 3e-4),
        (motion.smooth, motion.smooth_speed, 3e-4),
        (motion.speed, motion.acceleration, 1e-2),
        (motion.smooth_speed, motion.smooth_acceleration, 1e-2),
    ):
        differences = (values[2:] - values[:-2]) / (motion.times[2:] - motion.times[:-2])[:, None]
        off = np.abs(differences - rates[1:-1]) / np.abs(rates).max(axis=0)
        # An acceleration jumps from one interval of the grid to the next; of speeds every sample counts.
        worst = off.max(axis=0) if close < 1e-3 else np.quantile(off, 0.9, axis=0)
        assert (worst < close).all(), worst


@pytest.mark.compiled
def test_limits_are_kept_all_along():
    speed, acceleration = np.array([1.0, 9.0, 0.7, 9.0, 0.02, 0.2]), np.array([2.0, 9.0, 1.0, 9.0, 0.1, 0.5])
    for samples in (50, 20_000):
        motion = timed(turning(), speed, acceleration, samples=samples)
        for rates, limits in ((motion.smooth_speed, speed), (motion.smooth_acceleration, acceleration)):
            norms = np.column_stack([np.hypot(*rates[:, :2].T), np.hypot(*rates[:, 2:4].T), np.abs(rates[:, 4:])])
            shares = norms / limits[[0, 2, 4, 5]]
            assert (shares <= 1.0 + 1e-9).all()
            assert shares.max() > 0.99
        # The rate of a bend is no more than that of its bend vector.
        assert (np.abs(motion.speed[:, [0, 2, 4, 5]]) <= speed[[0, 2, 4, 5]] * (1.0 + 1e-6)).all()
        assert motion.robot.within_limits(motion.robot.clip(motion.q)).all()


def test_directions_do_not_jump():
    path = turning()
    motion = timed(path, 1.0, 2.0, samples=2000)
    assert np.abs(np.diff(motion.q[:, [1, 3]], axis=0)).max() < 0.1
    # Twice around from the first direction.
    assert motion.q[-1, 1] - motion.q[0, 1] == pytest.approx(4.0 * np.pi)
    np.testing.assert_allclose(path.robot.tip_pose(motion.q[-1]), path.robot.tip_pose(path.q[-1]), atol=1e-9)
    # Few samples, too, count the turns.
    assert timed(path, 1.0, 2.0, samples=3).q[-1, 1] == pytest.approx(motion.q[-1, 1])


def test_through_the_straight_pose_the_pair_is_smooth():
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    motion = timed(Rows(robot, [[1.0, 0.3], [0.0, 0.0], [1.0, 0.3 - np.pi]]), 1.0, 2.0, samples=501)
    along = motion.smooth @ (np.cos(0.3), np.sin(0.3))
    np.testing.assert_allclose(motion.smooth @ (-np.sin(0.3), np.cos(0.3)), 0.0, atol=1e-9)
    assert np.abs(np.diff(along)).max() < 0.01
    assert motion.q[:, 0].min() < 5e-3
    # It does not stop, and from rest it begins in the direction it bends to.
    assert motion.duration == pytest.approx(2.5, rel=5e-3)
    from_rest = timed(Rows(robot, [[0.0, 0.0], [1.0, 2.0]]), 1.0, 2.0)
    np.testing.assert_allclose(from_rest.q[:, 1], 2.0)
    np.testing.assert_allclose(from_rest.speed[:, 1], 0.0, atol=1e-9)


def test_a_rate_gives_samples_per_second():
    motion = timed(turning(), 1.0, 2.0, rate=125)
    np.testing.assert_allclose(np.diff(motion.times), 1.0 / 125.0)
    np.testing.assert_allclose(motion.smooth_speed[[0, -1]], 0.0, atol=1e-6)
    fastest = timed(turning(), 1.0, 2.0).duration
    assert fastest <= motion.duration < fastest + 1.0 / 125.0
    assert (np.hypot(*motion.smooth_speed[:, :2].T) <= 1.0 + 1e-9).all()


def test_a_path_along_a_limit_stays_inside_without_a_stop():
    robot = ar.Robot([ar.Revolute(lower=-1.0, upper=1.0), ar.Link((0.1, 0, 0)), ar.Section(0.1, 1.0)])
    q = np.array([[0.0, 0.5, 0.0], [1.0, 1.0, 0.1], [1.0, 1.0, 0.8], [1.0, 1.0, 1.6], [0.2, 0.3, 2.0]])
    motion = timed(Rows(robot, q), 1.0, 2.0, samples=5000)
    assert not motion.stops
    assert robot.within_limits(robot.clip(motion.q), 0.0).all()
    # Nothing is clipped: where the motion is at a limit, its speed across it is zero.
    differences = (motion.q[2:] - motion.q[:-2]) / (motion.times[2:] - motion.times[:-2])[:, None]
    np.testing.assert_allclose(differences, motion.speed[1:-1], atol=1e-2)


def test_points_that_repeat_are_passed_once():
    q = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.1], [1.0 + 1e-9, 0.1], [2.0, 0.3], [2.0, 0.3 + 1e-9], [2.0, 0.3]])
    motion, clean = (timed(Rows(arm(), rows), 1.0, 2.0) for rows in (q, q[[0, 2, 6]]))
    assert motion.duration == pytest.approx(clean.duration, rel=1e-6)
    np.testing.assert_allclose(motion.q[-1], q[-1], atol=1e-9)


def test_stops_keep_to_the_sides():
    robot = arm()
    path = Rows(robot, [[0.0, 0.0], [1.0, 0.1], [1.2, 0.4]])
    through, stopping = timed(path, 1.0, 2.0), timed(path, 1.0, 2.0, stops=True, samples=2000)
    assert (through.stops, stopping.stops) == (0, 1)
    assert through.duration < stopping.duration
    assert "stops at 1 point" in str(stopping)
    assert "stops" not in str(through)
    assert np.abs(stopping.q - path.q[1]).max(axis=1).min() < 1e-4
    # Every sample lies on one of the two sides.
    off = []
    for a, b in itertools.pairwise(path.q):
        share = np.clip((stopping.q - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        off.append(np.abs(a + share[:, None] * (b - a) - stopping.q).max(axis=1))
    assert np.min(off, axis=0).max() < 1e-9


@pytest.mark.compiled
def test_a_plan_is_certified_again():
    robot, scene = ar.load_robot("three-section"), ar.load_scene("clutter-20")
    plan = ar.plan(robot, robot.neutral, ar.Target([-0.048, -0.0193, 0.079]), scene)
    assert len(plan) > 2
    smooth, stopping = plan.timed(1.0, 2.0), plan.timed(1.0, 2.0, stops=True, samples=2000)
    assert not smooth.stops
    assert stopping.stops == len(plan) - 2
    assert smooth.duration < 0.75 * stopping.duration
    for motion in (smooth, stopping):
        assert motion.clearance <= ar.clearance(robot, motion.q, scene).distance.min()
        assert motion.clearance > 0.85 * plan.clearance
        np.testing.assert_allclose(robot.tip_pose(motion.q[-1]), robot.tip_pose(plan.q[-1]), atol=1e-9)


def portal(points, sphere):
    """Return a path of a short body on two slides through points (n, 2), beside a sphere."""
    robot = ar.Robot(
        [ar.Prismatic(-1.0, 1.0, axis=(1, 0, 0)), ar.Prismatic(-1.0, 1.0, axis=(0, 1, 0)), ar.Section(0.01, 0.1)]
    )
    path = Rows(robot, np.pad(points, ((0, 0), (0, 2))))
    path.scene = ar.Scene([sphere])
    return path


STAIRS = [[0.0, 0.0], [0.4, 0.0], [0.4, 0.4], [0.8, 0.4], [0.8, 0.8]]


@pytest.mark.compiled
@pytest.mark.parametrize(("gap", "stops", "kept"), [(0.01, 1, 0.85), (0.1, 0, 0.5), (1.0, 0, 0.9)])
def test_where_no_curve_is_free_the_robot_stops_and_only_there(monkeypatch, gap, stops, kept):
    # Without points of the straight segments the spline leaves the first one by 5 cm, towards the sphere.
    monkeypatch.setattr("arcreach.planning.timing.smooth_curve.FINEST", 0)
    path = portal(STAIRS, ar.Sphere((0.2, -0.02 - gap, 0.0), 0.02))
    motion = timed(path, 1.0, 2.0)
    assert motion.stops == stops
    assert kept * gap < motion.clearance <= ar.clearance(path.robot, motion.q, path.scene).distance.min()


@pytest.mark.compiled
def test_corners_elsewhere_do_not_stop_a_motion_close_to_an_obstacle():
    gap = 5e-5
    corners = [[0.05 * k, 0.4 * (k % 2)] for k in range(17)]
    path = portal([[-0.8, 0.0], [-0.4, 0.0], *corners], ar.Sphere((-0.6, -0.02 - gap, 0.0), 0.02))
    motion = timed(path, 1.0, 2.0)
    assert motion.stops == 0
    assert 0.5 * gap < motion.clearance <= ar.clearance(path.robot, motion.q, path.scene).distance.min()


def test_bad_limits_and_paths_are_named():
    path = Rows(arm(), [[0.0, 0.0], [1.0, 0.1]])
    with pytest.raises(TargetError, match="max_speed"):
        timed(path, 0.0, 1.0)
    with pytest.raises(TargetError, match="max_acceleration"):
        timed(path, 1.0, [1.0, 2.0, 3.0])
    for speed in (np.inf, [1.0, np.inf], np.nan):
        with pytest.raises(TargetError, match=r"max_speed = .* give one finite number above 0 or 2 "):
            timed(path, speed, 1.0)
    with pytest.raises(TargetError, match="max_jerk"):
        timed(path, 1.0, 1.0, max_jerk=-1.0)
    for samples in (1, 10_000_001):
        with pytest.raises(TargetError, match=f"samples = {samples} is not accepted"):
            timed(path, 1.0, 1.0, samples=samples)
    with pytest.raises(TargetError, match="rate"):
        timed(path, 1.0, 1.0, rate=0.0)
    with pytest.raises(TargetError, match=r"at most .* samples per second"):
        timed(path, 1.0, 1.0, rate=1e12)
    with pytest.raises(RobotError, match="stops = None is not accepted"):
        timed(path, 1.0, 1.0, stops=None)
    with pytest.raises(TargetError, match="samples and rate"):
        timed(path, 1.0, 1.0, samples=10, rate=10.0)
    with pytest.raises(TargetError, match="coincide"):
        timed(Rows(arm(), [[0.0, 0.0], [0.0, 0.0]]), 1.0, 1.0)


@pytest.mark.compiled
def test_a_motion_that_is_not_free_says_so():
    motion = timed(portal([[-0.4, 0.0], [0.4, 0.0]], ar.Sphere((0.0, 0.0, 0.0), 0.02)), 1.0, 2.0)
    assert motion.clearance == -np.inf
    assert str(motion).endswith("not free of obstacles")


def test_times_stand_in_the_first_column(tmp_path):
    motion = timed(Rows(arm(), [[0.0, 0.0], [1.0, 0.1]]), 1.0, 2.0, samples=11)
    motion.to_csv(tmp_path / "motion.csv")
    table = np.genfromtxt(tmp_path / "motion.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["time"], motion.times)
    assert len(table.dtype.names) == 3


def test_samples_follow_the_duration():
    path = Rows(arm(), [[0.0, 0.0], [2.0, 0.1]])
    # A long motion has 100 samples per second, a short one 100 in all.
    slow, fast = timed(path, 0.1, 2.0), timed(path, 100.0, 1000.0)
    assert 0.0099 < slow.times[1] <= 0.01
    assert slow.duration > 20.0
    assert len(fast) == 100
    assert fast.duration < 0.2
    # No rate is so low that only the start is left.
    assert timed(path, 1.0, 2.0, rate=1e-10).q[:, 0].tolist() == [0.0, 2.0]


def test_a_path_that_turns_back_keeps_the_limits():
    # At the turn the derivative of the curve is zero.
    motion = timed(Rows(arm(), [[0.0, 0.1], [1.0, 0.3], [0.0, 0.1]]), 1.0, 2.0, samples=1000)
    # Twice from rest to rest over 1 rad, at 2 rad/s2 and 1 rad/s.
    assert motion.duration == pytest.approx(3.0, rel=1e-2)
    assert (np.abs(motion.speed) <= 1.0 + 1e-9).all()
    assert (np.abs(motion.acceleration) <= 2.0 + 1e-9).all()
    assert np.abs(motion.q - [1.0, 0.3]).max(axis=1).min() < 1e-2


@pytest.mark.compiled
@pytest.mark.parametrize("routing", [{}, {"rate": 20.0}, {"discs": 5}], ids=["channel", "helical", "discs"])
def test_tendons_keep_their_speeds(routing):
    tendons = [ar.Tendon(0.005, angle, speed_max=0.004, **routing) for angle in (0.0, 2.1, 4.2)]
    robot = ar.Robot([ar.Section(0.1, 2.0, tendons=tendons), *turning().robot.elements[1:]])
    motion = timed(Rows(robot, turning().q), 5.0, 50.0, samples=20_000)
    speeds = np.abs(np.diff(robot.pulls(motion.q), axis=0)) / motion.times[1]
    assert 0.999 * 0.004 < speeds.max() <= 0.004 * (1.0 + 1e-6)


def jerks(motion):
    """Return jerks of the smooth variables by differences: norms of bend vectors, others alone."""
    rates = np.diff(motion.smooth_acceleration, axis=0) / motion.times[1]
    return np.column_stack([np.hypot(*rates[:, :2].T), np.hypot(*rates[:, 2:4].T), np.abs(rates[:, 4:])])


@pytest.mark.compiled
def test_a_limit_of_jerk_is_kept_along_a_curve():
    pytest.importorskip("ruckig")
    fastest, motion = timed(turning(), 1.0, 2.0), timed(turning(), 1.0, 2.0, max_jerk=10.0, samples=50_000)
    assert fastest.duration < motion.duration < 1.3 * fastest.duration
    assert 0.8 * 10.0 < jerks(motion).max() <= 10.0 * (1.0 + 1e-6)
    for rates, limit in ((motion.smooth_speed, 1.0), (motion.smooth_acceleration, 2.0)):
        norms = np.column_stack([np.hypot(*rates[:, :2].T), np.hypot(*rates[:, 2:4].T), np.abs(rates[:, 4:])])
        assert norms.max() <= limit * (1.0 + 1e-6)
    # It is the same curve, passed at another pace.
    ends = [np.abs(motion.smooth - point).max(axis=1).min() for point in fastest.smooth[::10]]
    assert max(ends) < 1e-3


def test_a_limit_of_jerk_is_kept_where_a_phase_passes_a_whole_piece_of_the_curve():
    pytest.importorskip("ruckig")
    robot = ar.Robot([ar.Revolute(lower=-3.0, upper=3.0), ar.Link((0.1, 0.0, 0.0))])
    # Two of the points are close together: the third derivative of the spline is large between them.
    turns = [-0.0297, 0.0158, 0.01591, 0.0313, -0.0265, -0.0325, 0.0278]
    motion = timed(Rows(robot, np.c_[turns]), 0.13, 0.83, max_jerk=5.0, samples=20_001)
    jerk = np.diff(motion.acceleration[:, 0]) / motion.times[1]
    assert 0.9 * 5.0 < np.abs(jerk).max() <= 5.0 * (1.0 + 1e-6)


def test_with_a_limit_of_jerk_a_straight_motion_is_the_fastest():
    pytest.importorskip("ruckig")
    far, near = Rows(arm(), [[0.0, 0.0], [2.0, 0.1]]), Rows(arm(), [[0.0, 0.0], [0.1, 0.05]])
    # Seven phases: 0.2 s to full acceleration, 0.3 s at it, 0.2 s to none, then at 1 rad/s, and back.
    assert timed(far, 1.0, 2.0, max_jerk=10.0).duration == pytest.approx(2.7)
    # Four phases: the limits of speed and acceleration are not reached.
    assert timed(near, 1.0, 2.0, max_jerk=10.0).duration == pytest.approx(4.0 * (0.1 / 20.0) ** (1.0 / 3.0))
    stopping = timed(Rows(arm(), [[0.0, 0.0], [2.0, 0.1], [1.9, 0.15]]), 1.0, 2.0, max_jerk=10.0, stops=True)
    assert stopping.duration == pytest.approx(2.7 + 4.0 * (0.1 / 20.0) ** (1.0 / 3.0))
    differences = np.diff(stopping.acceleration, axis=0) / stopping.times[1]
    assert np.abs(differences).max() <= 10.0 * (1.0 + 1e-6)


def test_without_ruckig_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ruckig", None)
    path = Rows(arm(), [[0.0, 0.0], [1.0, 0.1]])
    assert timed(path, 1.0, 1.0).duration > 0.0
    with pytest.raises(MissingExtraError, match=r"arcreach\[ruckig\]"):
        timed(path, 1.0, 1.0, max_jerk=10.0)


def test_acceleration_is_limited_also_inside_the_phases_of_a_jerk_limited_motion():
    pytest.importorskip("ruckig")
    robot = ar.Robot([ar.Prismatic(0.0, 0.1), ar.Section(0.05, 1.5), ar.Section(0.05, 1.5)])
    motion = timed(Rows(robot, robot.sample(6, seed=7)), 2.0, 1.0, max_jerk=10.0, samples=4000)
    bends = motion.smooth_acceleration[:, 1:].reshape(-1, 2, 2)
    assert np.linalg.norm(bends, axis=2).max() <= 1.0
