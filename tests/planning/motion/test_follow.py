"""Following a path: continuity, the box near singular configurations, the published rules, bad input."""

import numpy as np
import pytest
from tests import reference

import arcreach as ar
from arcreach.errors import Interrupted, MethodError, TargetError
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION
from arcreach.planning.motion.path import DETOUR, INSERTED
from arcreach.planning.motion.tracker import interpolate_target

THREE_DEGREES = np.radians(3.0)


def tilted(poses, angle):
    """The poses with the tip turned a little about its x axis."""
    tilt = np.eye(3)
    tilt[1:, 1:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    turned = poses.copy()
    turned[:, :3, :3] = poses[:, :3, :3] @ tilt
    return turned


def wrist_path(robot, tilt=0.0):
    """A PUMA's wrist through q5 = 0, or with a tilt beside it."""
    shares = np.linspace(-1.0, 1.0, 101)
    q = np.array([0.3, 0.6, -0.9, 0.4, 0.0, 0.5]) + np.outer(shares, [0.2, 0.1, 0.1, 0.0, 0.4, 0.1])
    return tilted(robot.tip_pose(q), tilt), q[0]


def beside_the_first_axis():
    """Positions in steps of 2 cm that pass 5 cm beside the first axis of the arm of seven joints."""
    y = np.arange(-1.0, 1.001, 0.02)
    return np.stack([np.full_like(y, 8.0), y, np.full_like(y, 0.05)], axis=1)


def check(robot, path, position_tol=1e-6, angle_tol=1e-6):
    """Check the claims of a path by forward kinematics."""
    poses = robot.tip_pose(path.q)
    off = np.linalg.norm(poses[:, :3, 3] - path.targets.positions, axis=1)
    np.testing.assert_allclose(off, path.position_error, atol=1e-12)
    assert robot.within_limits(path.q).all()
    assert (off[path.reached_points] <= position_tol).all()
    assert (path.angle_error[path.reached_points] <= angle_tol).all()


@pytest.mark.compiled
@pytest.mark.parametrize("tilt", [0.0, 1e-7, 3e-5, 1e-4, 5e-4, 1e-3, 0.02])
def test_a_wrist_passes_its_singular_configuration_in_small_steps(tilt):
    robot = ar.load_robot("puma-560")
    poses, start = wrist_path(robot, tilt)
    path = ar.follow(robot, poses, start=start, angle_tol=1e-6, max_step=THREE_DEGREES)
    check(robot, path)
    assert path.reached
    assert path.largest_step <= THREE_DEGREES + 1e-12
    assert np.array_equal(path.waypoint[path.waypoint != INSERTED], np.arange(len(poses)))


@pytest.mark.compiled
def test_without_a_box_the_wrist_flips():
    robot = ar.load_robot("puma-560")
    poses, start = wrist_path(robot, 1e-3)
    path = ar.follow(robot, poses, start=start, angle_tol=1e-6)
    assert path.reached
    assert path.largest_step > np.radians(45.0)
    assert (path.waypoint == np.arange(len(poses))).all()


@pytest.mark.compiled
@pytest.mark.parametrize("max_step", [None, THREE_DEGREES])
def test_auto_passes_beside_the_first_axis(max_step):
    robot = ar.load_robot("era-like")
    points = beside_the_first_axis()
    turns = np.tile(np.eye(3), (len(points), 1, 1))
    path = ar.follow(robot, points, rotations=turns, angle_tol=1e-6, max_step=max_step)
    check(robot, path)
    assert path.reached
    assert path.largest_step < THREE_DEGREES


@pytest.mark.compiled
def test_the_finite_rotation_method_turns_the_first_joint_and_a_box_stops_it():
    """The published example: a step of 2 cm at 5 cm from the axis is a turn of atan(2 / 5) = 21.8°."""
    robot = ar.load_robot("era-like")
    points = beside_the_first_axis()
    start = ar.solve(robot, ar.Target(points[0], rotation=np.eye(3))).q
    call = {"start": start, "method": "finite-rotation", "position_tol": 1e-4}
    plain = ar.follow(robot, points, **call)
    assert plain.reached
    assert np.degrees(plain.largest_step) == pytest.approx(np.degrees(np.arctan(0.02 / 0.05)), abs=0.1)
    turns = np.tile(np.eye(3), (len(points), 1, 1))
    assert ar.follow(robot, points, rotations=turns, **call).largest_step > np.radians(20.0)
    for rotations in (None, turns):
        ruled = ar.follow(robot, points, rotations=rotations, max_step=np.radians(2.5), **call)
        check(robot, ruled, 1e-4, 1e-3)
        assert ruled.reached
        assert ruled.largest_step < THREE_DEGREES


@pytest.mark.compiled
def test_of_the_published_rules_one_cures_this_passage():
    """Holding the first joint does; limits on the wrist change nothing here, where the wrist is not the cause."""
    robot = ar.load_robot("era-like")
    points = beside_the_first_axis()
    start = ar.solve(robot, ar.Target(points[0], rotation=np.eye(3))).q
    turns = np.tile(np.eye(3), (len(points), 1, 1))
    call = {"rotations": turns, "start": start, "method": "finite-rotation", "position_tol": 1e-4}
    held = ar.follow(robot, points, hold={"shoulder-roll": 1.5}, **call)
    assert held.reached
    assert held.largest_step < THREE_DEGREES
    narrow = np.radians(80.0)
    limits = {"wrist-pitch": (-narrow, narrow), "wrist-yaw": (-narrow, narrow)}
    limited = ar.follow(robot, points, limits=limits, **call)
    assert limited.reached
    assert limited.largest_step > np.radians(20.0)


def planar_arm(joints=2):
    elements = []
    for _ in range(joints):
        elements += [ar.Revolute(axis=(0, 0, 1), lower=-3.0, upper=3.0), ar.Link(translation=(1, 0, 0))]
    return ar.Robot(elements, name="planar")


@pytest.mark.compiled
def test_a_box_that_is_too_small_is_reported():
    """Two links that must fold through a half turn where the target passes by their base."""
    robot = planar_arm()
    points = np.array([[0.4, -0.002, 0], [0.002, -0.002, 0], [0.002, 0.4, 0]])
    path = ar.follow(robot, points, start=[1.2, -2.7], max_step=np.radians(0.5))
    check(robot, path)
    assert np.abs(path.steps).max() <= np.radians(0.5) + 1e-12
    assert path.deviation[0] > 1e-3
    assert not path.reached
    assert "largest deviation" in str(path)


def test_waypoints_out_of_reach_are_marked_and_not_cut():
    robot = planar_arm()
    path = ar.follow(robot, [[1.9, 0.1, 0], [2.5, 0, 0], [1.9, -0.1, 0]], max_step=0.5)
    assert path.reached_points.tolist()[0]
    assert path.reached_points.tolist()[-1]
    lost = path.waypoint == 1
    assert not path.reached_points[lost].any()
    assert len(path) < 12


@pytest.mark.compiled
def test_sections_keep_the_box():
    robot = ar.load_robot("three-section")
    ends = robot.sample(2, seed=1)
    q = ends[0] + np.linspace(0, 1, 9)[:, None] * (ends[1] - ends[0])
    poses = robot.tip_pose(q)
    path = ar.follow(robot, poses[:, :3, 3], axes=poses[:, :3, 2], start=q[0], max_step=0.05)
    check(robot, path, angle_tol=1e-3)
    assert path.reached
    bend = path.q[:, 0::2, None] * np.stack([np.cos(path.q[:, 1::2]), np.sin(path.q[:, 1::2])], axis=2)
    assert np.linalg.norm(np.diff(bend, axis=0), axis=2).max() <= 0.05 + 1e-9
    assert np.abs(path.steps[:, 0::2]).max() <= 0.05 + 1e-9
    assert (path.waypoint == INSERTED).any()


@pytest.mark.compiled
def test_a_held_joint_and_the_box_together():
    robot = ar.load_robot("ur5-bending-tool")
    q = robot.sample(1, seed=5)[0]
    moved = robot.clip(q + 0.05)
    poses = robot.tip_pose(q + np.linspace(0, 1, 4)[:, None] * (moved - q))
    name = robot.coordinates[0]
    path = ar.follow(robot, poses[:, :3, 3], start=q, max_step=0.01, hold={name: 10.0})
    assert np.abs(path.steps[1:, 0]).max() == 0.0
    sections = [k for k, coordinate in enumerate(robot.coordinates) if coordinate.endswith(".bend")]
    assert np.abs(path.steps[:, sections]).max() <= 0.01 + 1e-9


def test_only_auto_bounds_the_steps_of_sections():
    robot = ar.load_robot("three-section")
    with pytest.raises(MethodError, match="max_step bounds sections with method 'auto' only"):
        ar.follow(robot, [[0.0, 0.02, 0.08]], method="lm", max_step=0.01)


def test_the_joint_beside_whose_axis_the_tip_passes_is_held():
    robot = planar_arm(3)
    y = np.linspace(-0.3, 0.3, 31)
    points = np.stack([np.full_like(y, 0.02), y, 0 * y], axis=1)
    plain = ar.follow(robot, points, start=[0.3, 1.8, 2.0])
    held = ar.follow(robot, points, start=[0.3, 1.8, 2.0], hold={"revolute-1": 0.2})
    inside = np.linalg.norm(points[:-1], axis=1) < 0.2
    assert np.abs(held.steps[inside, 0]).max() == 0.0
    assert np.abs(plain.steps[inside, 0]).max() > 0.0


def test_other_limits_for_a_path():
    robot = planar_arm(3)
    points = np.array([[1.5, 0.5, 0], [1.5, -0.5, 0]])
    path = ar.follow(robot, points, limits={"revolute-2": (0.2, 1.0)})
    assert path.reached
    assert ((path.q[:, 1] >= 0.2) & (path.q[:, 1] <= 1.0)).all()
    assert path.robot is robot


def test_a_timed_motion_keeps_the_limits_of_its_path():
    robot = planar_arm(3)
    q = np.array([[0.1 * k, 0.9 if k // 2 % 2 else 0.3, -1.0] for k in range(8)])
    path = ar.follow(robot, robot.tip_pose(q), start=q[0], limits={"revolute-2": (0.3, 0.9)})
    np.testing.assert_allclose(path.q, q, atol=1e-4)
    motion = path.timed(1.0, 2.0)
    assert motion.robot is robot
    assert motion.q[:, 1].min() >= 0.3 - 1e-12
    assert motion.q[:, 1].max() <= 0.9 + 1e-12


def test_three_kinds_of_waypoints():
    robot = planar_arm()
    points = np.array([[1.5, 0.1, 0], [1.5, 0.2, 0]])
    by_points = ar.follow(robot, points)
    by_targets = ar.follow(robot, [ar.Target(point) for point in points])
    np.testing.assert_array_equal(by_points.q, by_targets.q)
    poses = robot.tip_pose(by_points.q)
    by_poses = ar.follow(robot, poses)
    np.testing.assert_allclose(by_poses.q, by_points.q, atol=1e-2)
    assert by_poses.reached


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"waypoints": []}, TargetError, "waypoints"),
        ({"waypoints": [[1, 2]]}, TargetError, "positions has the shape (1, 2)"),
        ({"waypoints": np.zeros((2, 3, 3))}, TargetError, "waypoints has the shape (2, 3, 3)"),
        ({"waypoints": "there"}, TargetError, "waypoints = 'there'"),
        ({"waypoints": [[1, 0, np.nan]]}, TargetError, "nan"),
        ({"waypoints": [ar.Target([1, 0, 0]), [1, 0, 0]]}, TargetError, "targets[1]"),
        ({"waypoints": [ar.Target([1, 0, 0]), ar.Target([1, 0, 0], axis=[0, 0, 1])]}, TargetError, "of one kind"),
        ({"max_step": 0.0}, TargetError, "max_step = 0.0"),
        ({"max_step": [0.1, 0.1, 0.1]}, TargetError, "max_step"),
        ({"hold": {"elbow": 0.1}}, TargetError, "give one of revolute-1, revolute-2"),
        ({"hold": {"revolute-1": -1.0}}, TargetError, "hold['revolute-1'] = -1.0"),
        ({"limits": {"elbow": (0, 1)}}, TargetError, "limits names 'elbow'"),
        ({"limits": {"revolute-1": (1, 0)}}, TargetError, "give (lower, upper)"),
        ({"limits": {"revolute-1": (0, 9)}}, TargetError, "beyond the robot's own"),
        ({"limits": {"revolute-1": 1}}, TargetError, "limits['revolute-1'] = 1"),
        ({"limits": [1]}, TargetError, "limits = [1]"),
        ({"hold": 3}, TargetError, "hold = 3"),
        ({"max_step": True}, TargetError, "max_step = True"),
        ({"method": "nonsense"}, MethodError, "nonsense"),
        ({"method": "fabrikx"}, MethodError, "cannot serve"),
        ({"max_step": 0.1, "seed": 3}, MethodError, "seed has no meaning"),
        ({"max_iterations": -1}, TargetError, "max_iterations = -1"),
        ({"bogus": 3}, MethodError, "option 'bogus'"),
        ({"robot": "planar"}, MethodError, "robot = 'planar'"),
        ({"start": [0.0]}, ValueError, "start has the shape (1,)"),
    ],
)
def test_bad_input(change, error, words):
    call = {"robot": planar_arm(), "waypoints": [[1.5, 0, 0]]} | change
    with pytest.raises(error) as caught:
        ar.follow(call.pop("robot"), call.pop("waypoints"), **call)
    assert words in str(caught.value)


def test_a_timed_motion_says_that_its_path_misses_waypoints():
    robot = ar.load_robot("three-section")
    near = robot.tip_pose([[0.4, k, 0.3, k, 0.2, k] for k in (0.5, 1.0)])[:, :3, 3]
    path = ar.follow(robot, [*near, [0.0, 0.5, 0.1]])
    assert not path.reached
    motion = path.timed(1.0, 4.0)
    assert not motion.reached
    assert str(motion).endswith("the path does not reach every waypoint")
    whole = ar.follow(robot, near).timed(1.0, 4.0)
    assert whole.reached
    assert "waypoint" not in str(whole)


def test_between_two_targets():
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = np.array(
            [np.concatenate([reference.random_rotation(rng).ravel(), rng.normal(size=3)]) for _ in range(2)]
        )
        middle = interpolate_target(*rows, ROTATION, 0.5)
        turn = middle[:9].reshape(3, 3)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
        first, last = (row[:9].reshape(3, 3) for row in rows)
        np.testing.assert_allclose(turn @ first.T, last @ turn.T, atol=1e-9)
        np.testing.assert_allclose(middle[9:], rows[:, 9:].mean(axis=0))
        np.testing.assert_allclose(interpolate_target(*rows, ROTATION, 1.0), rows[1], atol=1e-9)
        axis = interpolate_target(*rows, AXIS, 0.25)[2:9:3]
        assert np.linalg.norm(axis) == pytest.approx(1.0)
        whole, part = (np.arccos(np.clip(rows[0, 2:9:3] @ z, -1, 1)) for z in (rows[1, 2:9:3], axis))
        assert part == pytest.approx(0.25 * whole, abs=1e-7)
        assert (interpolate_target(*rows, POSITION, 0.5)[9:] == middle[9:]).all()


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), [[0.6, 0.0, 0.8]]]))
def test_half_a_turn_has_a_middle(axis):
    half = 2.0 * np.outer(axis, axis) - np.eye(3)
    first, last = np.zeros(12), np.zeros(12)
    first[:9], last[:9] = np.eye(3).ravel(), half.ravel()
    turn = interpolate_target(first, last, ROTATION, 0.5)[:9].reshape(3, 3)
    np.testing.assert_allclose(turn @ turn, half, atol=1e-12)
    opposite = first.copy()
    opposite[8] = -1.0
    assert interpolate_target(first, opposite, AXIS, 0.5)[8] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.compiled
def test_progress_is_reported_after_every_waypoint():
    robot = ar.load_robot("three-section")
    q = robot.sample(1, seed=0)[0]
    points = np.linspace(robot.tip_pose(q)[:3, 3], robot.tip_pose(q + 0.05)[:3, 3], 6)
    for options in ({}, {"max_step": 0.02}, {"scene": [ar.Sphere((1, 0, 0), 0.1)]}):
        told = []
        path = ar.follow(robot, points, start=q, progress=lambda *one: told.append(one), **options)  # noqa: B023
        assert path.reached
        assert told == [(k, 6) for k in range(7)]


@pytest.mark.compiled
def test_an_interrupt_gives_the_path_so_far():
    robot = ar.load_robot("three-section")
    q = robot.sample(1, seed=0)[0]
    points = np.linspace(robot.tip_pose(q)[:3, 3], robot.tip_pose(q + 0.05)[:3, 3], 6)

    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        ar.follow(robot, points, start=q, progress=stop)
    path = caught.value.result
    assert isinstance(caught.value, Interrupted)
    np.testing.assert_array_equal(path.q, ar.follow(robot, points[:3], start=q).q)


@pytest.mark.compiled
def test_waypoints_in_millimetres_get_a_hint_and_people_can_read_it():
    robot = ar.load_robot("three-section")
    path = ar.follow(robot, [[20, 10, 92], [21, 10, 92]])
    assert str(path).endswith("positions are metres: were millimetres meant?")
    assert "largest deviation 94.8 m; " in str(path)
    assert repr(path) == f"<Path: {path}>"
    assert "0 of 2 points reached (2 waypoints, 0 inserted)" in str(path)
    assert ar.follow(robot, [[0.02, 0.01, 0.092]]).hint == ""
    assert "1 of 1 point reached (1 waypoint, 0 inserted)" in str(ar.follow(robot, [[0.02, 0.01, 0.092]]))


def test_the_time_of_a_path_does_not_count_compiling(monkeypatch):
    from arcreach._jit import tell_compiling

    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)

    def seconds(compiles):
        def progress(done, total):
            nonlocal now
            now += 1.0
            if compiles:
                tell_compiling()
            now += 10.0

        points = np.array([[1.5, 0.1, 0], [1.4, 0.2, 0], [1.4, 0.3, 0]])
        return ar.follow(planar_arm(), points, start=[0.5, -1.0], progress=progress).seconds

    # Ten for each of the three points.
    assert seconds(compiles=False) - seconds(compiles=True) == 30.0


@pytest.mark.compiled
def test_a_port_is_kept_between_the_points():
    robot = ar.load_robot("ur5-bending-tool")
    q = np.radians([200.0, -80, 80, -90, -90, 0, 20, 0, 20, 0, 20, 0])
    line = robot.backbone(q, 1000)
    port, tip = ar.Port(line[930], radius=5e-4), line[-1]
    waypoints = tip + np.array([[0.0, 0.0, 0.0], [0.03, 0.0, 0.0], [0.03, 0.03, -0.02]])
    path = ar.follow(robot, waypoints, start=q, through=port)
    assert path.reached
    assert "of the port" in str(path)
    assert (path.waypoint == INSERTED).any()
    assert port.passage(robot, path.q).kept.all()
    dense = port.passage(robot, path.sampled(2000)).distance
    assert dense.max() <= path.port_distance.max() <= port.radius


@pytest.mark.compiled
def test_a_timed_motion_passes_the_port():
    robot = ar.load_robot("ur5-bending-tool")
    q = np.radians([200.0, -80, 80, -90, -90, 0, 20, 0, 20, 0, 20, 0])
    line = robot.backbone(q, 1000)
    port, tip = ar.Port(line[930], radius=5e-4), line[-1]
    corners = tip + 0.02 * np.array([[0, 0, 0], [3, 0, 0], [3, 3, -2], [0, 3, 0], [0, 0, 0]])
    path = ar.follow(robot, corners, start=q, through=port)
    assert path.reached
    motion = path.timed(1.0, 2.0, samples=1000)
    assert port.passage(robot, robot.clip(motion.q)).kept.all()
    assert motion.clearance is None


@pytest.mark.compiled
def test_a_waypoint_off_the_port_is_left_out():
    robot, port = ar.load_robot("inserted-three-section"), ar.Port([0.0, 0.0, 0.07], radius=1e-3)
    path = ar.follow(robot, [[0.03, 0.0, 0.12], [0.06, 0.0, 0.03]], through=port)
    assert path.status.tolist() == [ar.Status.REACHED, ar.Status.PORT_MISSED]
    assert port.passage(robot, path.q).kept.all()
    with pytest.raises(MethodError, match="hold"):
        ar.follow(robot, [[0.03, 0.0, 0.12]], through=port, hold={"insertion": 0.1})


@pytest.mark.compiled
@pytest.mark.parametrize("scene", [None, [ar.Sphere((-0.15, 0.0, 0.0), 0.02)]], ids=["free", "scene"])
def test_limits_of_a_continuous_joint_keep_the_direction_of_its_turn(scene, tmp_path):
    link = ar.Link((0.1, 0.0, 0.0))
    robot = ar.Robot([ar.Revolute(lower=-np.inf, upper=np.inf), link, ar.Revolute((0, 1, 0), -1, 1), link])
    q = np.array([[2.5, 0.2], [-2.5, 0.2], [-2.0, 0.2]])
    limits = {"revolute-1": (-3.0, 3.0)}
    path = ar.follow(robot, robot.tip_pose(q)[:, :3, 3], start=q[0], scene=scene, limits=limits)
    assert path.reached
    assert path.waypoint.tolist() == [0, DETOUR, 1, 2]
    np.testing.assert_allclose(path.q[path.waypoint >= 0], q, atol=1e-5)
    check(robot, path)
    path.to_csv(tmp_path / "path.csv")
    for one in (path, ar.Path.from_csv(tmp_path / "path.csv", robot)):
        for motion in (one.sampled(101), one.timed(1.0, 1.0).q):
            assert np.abs(motion[:, 0]).max() <= 3.0
            assert np.abs(motion[:, 0]).min() < 0.1
    # The caller's mapping is not kept.
    limits["revolute-1"] = (0.0, 0.1)
    assert path.limits == {"revolute-1": (-3.0, 3.0)}


@pytest.mark.compiled
def test_limits_of_a_continuous_joint_and_a_held_section():
    turn = ar.Revolute(lower=-np.inf, upper=np.inf)
    robot = ar.Robot([turn, ar.Section(0.1, 1.5), ar.Revolute((0, 1, 0), -1, 1), ar.Link((0.1, 0.0, 0.0))])
    q = np.array([[2.5, 0.5, 0.0, 0.2], [-2.5, 0.5, 0.0, 0.2]])
    limits = {"revolute-1": (-3.0, 3.0)}
    path = ar.follow(robot, robot.tip_pose(q)[:, :3, 3], start=q[0], limits=limits, hold=["section-1"])
    assert path.reached
    np.testing.assert_allclose(path.q[:, 0], [2.5, 0.0, -2.5], atol=1e-5)
    np.testing.assert_allclose(path.q[:, 1], 0.5, atol=1e-12)
