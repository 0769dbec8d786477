"""Following a path among obstacles: six tubes, detours, and waypoints that are left out."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError, MethodError, SceneError, TargetError
from arcreach.files import catalogue_waypoints
from arcreach.ik.solution import Status
from arcreach.planning.motion.motion_check import motion_between
from arcreach.planning.motion.path import DETOUR
from arcreach.scenes.tubes import tube

TUBES = ("tube-offset", "tube-angled", "tube-curved", "tube-side", "tube-angled-3d", "tube-curved-3d")
ARM = ar.load_robot("inserted-three-section")


def sampled(path, scene):
    """The least distance of the body from capsules, by sampling the motion and the body."""
    least = np.inf
    for q in motion_between(ARM, path.q, 60):
        body = ARM.backbone(q, 120)
        for wall in scene:
            a, b = np.array(wall.a), np.array(wall.b)
            share = np.clip((body - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            least = min(least, np.linalg.norm(body - a - share[:, None] * (b - a), axis=1).min() - wall.radius)
    return least - ARM.elements[-1].radius


@pytest.mark.compiled
@pytest.mark.parametrize("asked", ["axis", "position"])
@pytest.mark.parametrize("name", TUBES)
def test_into_a_tube(name, asked):
    scene, waypoints = ar.load_scene(name), catalogue_waypoints(name)
    axes = waypoints[:, 3:] if asked == "axis" else None
    path = ar.follow(ARM, waypoints[:, :3], axes=axes, scene=scene, position_tol=1e-5, angle_tol=1e-2)
    given = path.waypoint >= 0
    assert path.waypoint[given].tolist() == list(range(13))
    assert path.reached
    tips = ARM.tip_pose(path.q[given])
    np.testing.assert_allclose(tips[:, :3, 3], waypoints[:, :3], atol=1e-5)
    assert ARM.within_limits(path.q).all()
    assert (path.clearance >= 0.0).all()
    assert sampled(path, scene) >= path.clearance.min() - 1e-9


@pytest.mark.compiled
def test_a_detour_around_an_obstacle():
    """A ball is on the straight line of the tip: the path leaves the line and returns to it."""
    robot = ar.load_robot("extensible-sections")
    points = np.array([[-0.05, 0.0, 0.1], [0.05, 0.0, 0.1]])
    ball = ar.Sphere((0.0, 0.0, 0.1), 0.02)
    path = ar.follow(robot, points, scene=[ball])
    assert path.reached
    assert (path.waypoint == DETOUR).any()
    assert path.clearance.min() >= 0.0
    for q in motion_between(robot, path.q, 200):
        assert np.linalg.norm(robot.backbone(q, 200) - ball.centre, axis=1).min() > 0.023 - 1e-6


@pytest.mark.compiled
def test_a_waypoint_in_an_obstacle_is_left_out():
    points = np.array([[0.0, 0.0, 0.12], [0.02, 0.0, 0.13], [0.0, 0.01, 0.125]])
    scene = [ar.Sphere(points[1], 0.005)]
    path = ar.follow(ARM, points, scene=scene)
    assert path.reached_points.tolist()[0]
    assert path.reached_points.tolist()[-1]
    lost = np.flatnonzero(path.waypoint == 1)
    assert path.status[lost].tolist() == [Status.COLLISION]
    np.testing.assert_array_equal(path.q[lost[0]], path.q[lost[0] - 1])
    assert path.clearance.min() >= 0.0


@pytest.mark.compiled
def test_steps_are_bounded_among_obstacles_too():
    scene, waypoints = ar.load_scene("tube-curved"), catalogue_waypoints("tube-curved")
    path = ar.follow(ARM, waypoints[:, :3], axes=waypoints[:, 3:], scene=scene, max_step=0.06, angle_tol=1e-2)
    assert path.reached
    straight = [k for k, name in enumerate(ARM.coordinates) if not name.endswith(".direction")]
    assert np.abs(path.steps[:, straight]).max() <= 0.06 + 1e-9


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"margin": -1}, TargetError, "margin = -1"),
        ({"scene": [ar.Sphere((0, 0, 0), 0.01)]}, SceneError, "contains the base"),
        ({"hold": {"insertion": 0.1}}, MethodError, "hold by distances has no meaning with a scene"),
    ],
)
def test_bad_input(change, error, words):
    call = {"scene": [ar.Sphere((1, 1, 1), 0.1)]} | change
    with pytest.raises(error) as caught:
        ar.follow(ARM, [[0.0, 0.0, 0.12]], **call)
    assert words in str(caught.value)


def test_walls_of_a_tube():
    line = np.array([[0, 0, 0], [0, 0, 0.1], [0, 0, 0.2]])
    walls = tube(line, 0.01, 0.002, sides=4)
    assert len(walls) == 8
    for wall in walls:
        assert np.hypot(*np.array(wall.a)[:2]) == pytest.approx(0.012)
    channel = tube(line, 0.01, 0.002, sides=2)
    assert len(channel) == 4
    assert {round(wall.a[1], 12) for wall in channel} == {0.0}
    for bad in ({"centre_line": [[0, 0, 0]]}, {"sides": 1}, {"up": (0, 0, 1)}):
        with pytest.raises(SceneError, match=f"{next(iter(bad))} = "):
            tube(**{"centre_line": line, "inner_radius": 0.01, "wall_radius": 0.002} | bad)


def test_waypoints_of_the_catalogue():
    with pytest.raises(FileError, match="tube-offset"):
        catalogue_waypoints("clutter-20")


@pytest.mark.compiled
def test_a_first_waypoint_that_is_blocked_is_waited_for():
    points = np.array([[0.02, 0.0, 0.13], [0.0, 0.0, 0.12], [0.0, 0.01, 0.125]])
    path = ar.follow(ARM, points, scene=[ar.Sphere(points[0], 0.005)])
    assert path.status.tolist()[:2] == [Status.COLLISION, Status.REACHED]
    assert path.reached_points[1:].all()
    np.testing.assert_array_equal(path.q[0], path.q[1])
    assert path.position_error[0] > 1e-3
    assert path.clearance.min() >= 0.0


@pytest.mark.compiled
def test_a_waypoint_that_a_detour_refuses_is_left_out(monkeypatch):
    """Planners read the grid of a mesh, by which a waypoint close to it may not be free."""

    def refuse(*_, **__):
        raise TargetError("target lies too close to obstacle 'mesh-1'")

    monkeypatch.setattr("arcreach.planning.motion.collision_free_tracker.plan", refuse)
    robot = ar.load_robot("extensible-sections")
    path = ar.follow(robot, [[-0.05, 0.0, 0.1], [0.05, 0.0, 0.1]], scene=[ar.Sphere((0.0, 0.0, 0.1), 0.02)])
    assert path.status[[0, -1]].tolist() == [Status.REACHED, Status.COLLISION]


@pytest.mark.compiled
def test_errors_are_those_of_each_waypoint_where_none_can_be_reached():
    arm, inside = ar.load_robot("three-section"), np.array([0.03, 0.0, 0.09])
    points = np.array([inside, [1.0, 0.0, 0.0], inside, [0.9, 0.0, 0.0]])
    for rows in (points, points[:3], points[:1]):
        path = ar.follow(arm, rows, scene=[ar.Sphere(inside, 0.012)])
        expected = [Status.COLLISION, Status.OUT_OF_REACH, Status.COLLISION, Status.OUT_OF_REACH]
        assert path.status.tolist() == expected[: len(rows)]
        tips = arm.tip_pose(path.q)[:, :3, 3]
        np.testing.assert_allclose(path.position_error, np.linalg.norm(tips - rows, axis=1), atol=1e-12)


@pytest.mark.compiled
def test_a_bound_holds_across_half_a_turn_and_on_a_detour():
    robot = ar.load_robot("extensible-sections")
    ball = ar.Sphere((0.0, 0.0, 0.1), 0.02)
    path = ar.follow(robot, [[-0.05, 0.0, 0.1], [0.05, 0.0, 0.1]], scene=[ball], max_step=0.1)
    assert path.reached
    assert (path.waypoint == DETOUR).any()
    assert np.abs(path.steps[:, 0::3]).max() <= 0.1 + 1e-9
    # A circle about the base axis: the directions of all sections cross half a turn, and no step is large for it.
    angle = np.linspace(2.8, 3.5, 8)
    ring = np.stack([0.03 * np.cos(angle), 0.03 * np.sin(angle), np.full(8, 0.11)], axis=1)
    around = ar.follow(robot, ring, scene=[ar.Sphere((1.0, 0.0, 0.0), 0.1)], max_step=0.3)
    assert around.reached
    assert not (around.waypoint == DETOUR).any()


@pytest.mark.compiled
def test_a_timed_path_stays_free():
    scene, waypoints = ar.load_scene("tube-offset"), catalogue_waypoints("tube-offset")
    path = ar.follow(ARM, waypoints[:, :3], axes=waypoints[:, 3:], scene=scene, position_tol=1e-5, angle_tol=1e-2)
    timed = path.timed(1.0, 2.0)
    assert timed.clearance is not None
    assert timed.clearance >= 0.0
    assert float(np.min(ar.clearance(ARM, timed.q, scene).distance)) >= -1e-6
    assert len(path.sampled(50)) == 50


def test_a_base_that_stands_elsewhere():
    mounted = ar.Robot([ar.Link((0, 0, 1)), ar.Section(0.1, 1.0, radius=0.005)])
    target = ar.Target([0.0, 0.0, 1.1])
    assert ar.solve(mounted, target, scene=[ar.Sphere((0, 0, 0), 0.1)]).reached
    with pytest.raises(SceneError, match="contains the base"):
        ar.solve(mounted, target, scene=[ar.Sphere((0, 0, 1), 0.01)])
    with pytest.raises(SceneError, match="touches the base"):
        ar.solve(mounted, target, scene=[ar.HalfSpace((0, 0, 1), (0, 0, 1))])


@pytest.mark.compiled
def test_small_steps_alone_need_no_detour():
    """Far from the only obstacle, a path in small steps stays on its line, with and without a port."""
    far = [ar.Sphere((3.0, 0.0, 0.0), 0.1)]
    points = np.array([[0.0, 0.0, 0.13], [0.03, 0.0, 0.12]])
    path = ar.follow(ARM, points, scene=far, max_step=0.005)
    assert path.reached
    assert (path.waypoint != DETOUR).all()
    tips = ARM.tip_pose(path.q)[:, :3, 3]
    np.testing.assert_allclose(np.cross(tips - points[0], points[1] - points[0]), 0.0, atol=1e-7)
    port = ar.Port([0.0, 0.0, 0.07], radius=1e-3)
    assert ar.follow(ARM, points, scene=far, max_step=5e-4, through=port).reached


@pytest.mark.compiled
def test_a_port_is_not_blamed_for_an_obstacle():
    points = np.array([[-0.03, 0.0, 0.12], [0.03, 0.0, 0.12]])
    port = ar.Port([0.0, 0.0, 0.07], radius=1e-3)
    assert ar.follow(ARM, points, through=port).reached
    path = ar.follow(ARM, points, through=port, scene=[ar.Box(size=(0.004, 0.4, 0.2), centre=(0.0, 0.0, 0.2))])
    assert path.status[path.waypoint == 1].tolist() == [Status.COLLISION]


@pytest.mark.compiled
def test_the_roll_of_a_tip_is_sampled_though_no_point_moves():
    arm = ar.Robot([ar.Link((0.0, 0.0, 0.4)), ar.Revolute(axis=(0.0, 0.0, 1.0)), ar.Revolute(axis=(0.0, 0.0, 1.0))])
    found = ar.plan(arm, [0.0, 0.0], goal=[1.0, -0.5], scene=[ar.Sphere((2.0, 0.0, 0.0), 0.1)])
    np.testing.assert_allclose(found.sampled(3), [[0.0, 0.0], [0.5, -0.25], [1.0, -0.5]], atol=1e-12)


@pytest.mark.compiled
def test_a_robot_that_stays_in_a_collision_has_the_same_clearance_at_every_point():
    arm, inside = ar.load_robot("three-section"), np.array([0.03, 0.0, 0.09])
    ball = ar.Sphere(inside, 0.012)
    path = ar.follow(arm, np.array([inside, [1.0, 0.0, 0.0], inside]), scene=[ball])
    assert (path.q == path.q[0]).all()
    assert path.clearance[0] < 0.0
    np.testing.assert_allclose(path.clearance, path.clearance[0], atol=1e-12)
    assert (path.clearance <= ar.clearance(arm, path.q, [ball]).distance).all()
