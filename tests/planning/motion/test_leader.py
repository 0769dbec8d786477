import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, RobotError, TargetError
from arcreach.planning.motion.motion_check import motion_between


def curve(*parts, points=80):
    """A planar curve from the base on: arcs by curvature and length, one after another."""
    place, angle, rows = np.zeros(3), 0.0, [np.zeros((1, 3))]
    for curvature, length in parts:
        s = np.linspace(0.0, length, points)[1:]
        bend = angle + curvature * s
        if curvature:
            x, z = (np.cos(angle) - np.cos(bend)) / curvature, (np.sin(bend) - np.sin(angle)) / curvature
        else:
            x, z = s * np.sin(angle), s * np.cos(angle)
        rows.append(place + np.stack([x, 0.0 * x, z], axis=1))
        place, angle = rows[-1][-1], bend[-1]
    return np.vstack(rows)


def bezier(*control):
    t = np.linspace(0.0, 1.0, 200)[:, None]
    last = len(control) - 1
    return sum(math.comb(last, i) * t**i * (1.0 - t) ** (last - i) * np.array(p) for i, p in enumerate(control))


# At a scale of 100 mm.
CURVES = {
    "C": curve((10.0, 0.1)),
    "J": curve((0.0, 0.05), (15.0, 0.05)),
    "S": curve((12.0, 0.05), (-12.0, 0.05)),
}
# For three sections of 1 m.
BEZIER = bezier((0.0, 0.0, 0.0), (0.0, 0.0, 1.6), (2.0, 0.0, 1.3))
S_CURVE = bezier((0.0, 0.0, 0.0), (-0.575, 0.0, 0.9), (-1.725, 0.0, -0.1), (-2.3, 0.0, 0.8))
SECTIONS = [ar.Section(1.0, np.pi)] * 3
FREE = ar.Robot([*ar.free_base(8.0), *SECTIONS], name="free")


def inserted():
    """Three extensible sections on a slide: retracted they wait behind the first point of the curve."""
    sections = ar.load_robot("extensible-sections").elements
    return ar.Robot([ar.Prismatic(-0.15, 0.05, name="insertion"), *sections], name="inserted")


def distance_to_curve(points, line):
    """From points to a polygon, by brute force over its sides."""
    sides = np.diff(line, axis=0)
    away = points[:, None] - line[:-1]
    shares = np.clip((away * sides).sum(2) / (sides**2).sum(1), 0.0, 1.0)
    return np.linalg.norm(away - shares[..., None] * sides, axis=2).min(axis=1)


def extended(line):
    """The line goes on along -z, where a guided robot waits."""
    return np.vstack([[0.0, 0.0, -1.0], line])


def mean_deviations(path, line):
    """Mean distance of the inserted part of three unit sections from the curve, at every depth."""
    tail, means = ar.Robot(SECTIONS), []
    before = np.linspace(3.0, 0.0, 601)
    for q, depth in zip(path.q, path.depth, strict=True):
        frame = path.robot.frames(q)[-4]
        body = tail.backbone(q[-6:], 601) @ frame[:3, :3].T + frame[:3, 3]
        means.append(distance_to_curve(body[before <= depth + 1e-12], line).mean())
    return np.array(means)


def check_tip(path, line, tolerance=1e-6):
    """The tip is on the curve at every depth, and the limits are kept."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    wanted = np.stack([np.interp(path.depth, lengths, column) for column in line.T], axis=1)
    tips = path.robot.tip_pose(path.q)[:, :3, 3]
    assert np.linalg.norm(tips - wanted, axis=1).max() < tolerance
    assert path.robot.within_limits(path.q).all()


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "robot", "most"),
    [
        ("C", "inserted", 1e-3),
        ("J", "inserted", 1e-3),
        ("S", "inserted", 3e-3),
        ("C", "telescopic-sections", 1e-4),
        ("J", "telescopic-sections", 1e-4),
        ("S", "telescopic-sections", 1e-3),
    ],
)
def test_the_body_stays_where_the_tip_has_been(name, robot, most):
    robot = inserted() if robot == "inserted" else ar.load_robot(robot)
    line = CURVES[name]
    path = ar.follow_the_leader(robot, line, points=25)
    assert path.reached
    check_tip(path, line)
    worst = [distance_to_curve(body, extended(line)).max() for body in robot.backbone(path.q, 300)]
    np.testing.assert_allclose(path.body_deviation, worst, atol=2e-5)
    assert max(worst) < most
    assert (path.mean_deviation <= path.body_deviation).all()
    assert (np.diff(path.depth) > 0.0).all()


@pytest.mark.compiled
def test_in_space_and_by_insertion_alone():
    turn = np.linspace(0.0, 1.2, 120)
    line = np.stack([0.05 * (1 - np.cos(turn)), 0.02 * (turn - np.sin(turn)), 0.06 * np.sin(turn)], axis=1)
    robot = ar.Robot([ar.Prismatic(-0.2, 0.0), *ar.load_robot("fixed-sections").elements])
    path = ar.follow_the_leader(robot, line, points=20)
    assert path.reached
    assert path.worst_body_deviation < 2e-3
    assert "off the curve" in str(path)


@pytest.mark.compiled
@pytest.mark.parametrize("line", [BEZIER, S_CURVE], ids=["bezier", "S"])
def test_a_free_base_keeps_the_inserted_body_on_the_curve(line):
    line = line + np.array([0.3, -0.2, 0.1])
    path = ar.follow_the_leader(FREE, line)
    assert path.reached
    check_tip(path, line)
    means = mean_deviations(path, line)
    assert means.mean() / 3.0 < 0.0025
    np.testing.assert_allclose(path.mean_deviation[10:], means[10:], rtol=0.1, atol=2e-4)


@pytest.mark.compiled
def test_steps_of_the_base_are_bounded():
    largest = np.array([0.05] * 3 + [0.1] * 3 + [0.3] * 6)
    path = ar.follow_the_leader(FREE, S_CURVE, max_step=largest)
    assert path.reached
    check_tip(path, S_CURVE)
    assert (np.abs(path.steps[:, :6]) <= largest[:6] + 1e-9).all()
    assert mean_deviations(path, S_CURVE).mean() / 3.0 < 0.0025


@pytest.mark.compiled
def test_slide_and_roll_and_sections_of_every_kind():
    roll = ar.Revolute(lower=-math.inf, upper=math.inf)
    kinds = [
        ar.Section(0.04, 2.0, twist=True),
        ar.Section(0.02, 2.0, stretch=0.03),
        ar.Link((0.0, 0.0, 0.004)),
        ar.Section(0.04, 2.0, length_weights=(1, 2), bend_weights=(2, 1)),
    ]
    path = ar.follow_the_leader(ar.Robot([ar.Prismatic(-0.2, 0.05), roll, *kinds]), CURVES["J"], points=40)
    assert path.reached
    check_tip(path, CURVES["J"])
    assert path.worst_body_deviation < 3e-3


@pytest.mark.compiled
def test_an_arm_carries_the_sections():
    robot = ar.Robot([*ar.load_robot("ur5").elements, *[ar.Section(0.1, np.pi)] * 3])
    line = 0.1 * BEZIER[:, [2, 1, 0]] * [1.0, 1.0, -1.0] + [0.45, 0.1, 0.3]
    path = ar.follow_the_leader(robot, line, points=60)
    assert path.reached
    check_tip(path, line)
    assert path.mean_deviation.mean() / 0.3 < 0.0025


@pytest.mark.compiled
def test_a_closed_curve_ends_where_it_began():
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    line = np.stack([0.8 * np.cos(angle), 0.15 * np.sin(2.0 * angle), 0.8 * np.sin(angle)], axis=1)
    path = ar.follow_the_leader(FREE, line, points=60)
    assert path.reached
    check_tip(path, line)
    turns = (path.q[-1] - path.q[0]) / (2.0 * np.pi)
    np.testing.assert_allclose(turns[3:6], np.round(turns[3:6]), atol=1e-9)
    np.testing.assert_allclose(np.delete(turns, [3, 4, 5]), 0.0, atol=1e-9)
    # The whole body is on the curve, and no step hides a jump.
    assert path.worst_body_deviation < 0.06
    assert path.largest_step < 0.3


@pytest.mark.compiled
def test_pulls_of_tendons_keep_their_limits():
    tendons = [ar.Tendon(0.003, angle, pull_min=-0.0012, pull_max=0.0012) for angle in (0.0, 0.5 * np.pi)]
    robot = ar.Robot([ar.Prismatic(-0.15, 0.05), *[ar.Section(0.05, 2.0, tendons=tendons)] * 2])
    path = ar.follow_the_leader(robot, CURVES["S"], points=20)
    assert robot.within_limits(path.q).all()
    # A bend of 0.6 rad needs a pull of 1.8 mm: the limit is met, and the robot goes on as near as it can.
    assert np.abs(robot.pulls(path.q)).max() > 0.00119
    assert 1e-6 < path.position_error[-1] < 0.01


@pytest.mark.compiled
def test_the_motion_among_obstacles_is_certified():
    ring = [ar.Sphere((0.02 * np.cos(a), 0.02 * np.sin(a), 0.03), 0.01) for a in np.linspace(0, 2 * np.pi, 7)[:-1]]
    path = ar.follow_the_leader(inserted(), CURVES["C"], points=30, scene=ring)
    assert path.reached
    dense = ar.clearance(path.robot, path.sampled(400), ring).distance
    assert 0.0 < path.clearance.min() <= dense.min()
    blocked = ar.follow_the_leader(inserted(), CURVES["C"], points=30, scene=[*ring, ar.Sphere(CURVES["C"][60], 0.004)])
    assert not blocked.reached
    assert ar.Status.COLLISION in blocked.status


@pytest.mark.compiled
def test_a_robot_that_cannot_shorten_says_how_far_it_is_off():
    # Extensible sections alone are 75 mm long at least, and straight then: no C can be followed from its beginning.
    path = ar.follow_the_leader(ar.load_robot("extensible-sections"), CURVES["C"], points=8)
    assert path.depth[0] == pytest.approx(0.075)
    assert not path.reached
    assert path.worst_body_deviation > 1e-3


def test_a_slide_may_point_backwards():
    sections = [ar.Section(0.04, 1.6)] * 3
    forth, back = (ar.Prismatic(*ends) for ends in ((-0.1, 0.0, (0, 0, 1)), (0.0, 0.1, (0, 0, -1))))
    paths = [ar.follow_the_leader(ar.Robot([slide, *sections]), CURVES["C"], points=8) for slide in (forth, back)]
    np.testing.assert_allclose(paths[1].depth, paths[0].depth)
    assert paths[1].reached
    assert paths[1].depth[0] == pytest.approx(0.02)
    with pytest.raises(TargetError, match="can be inserted by 120 mm at most"):
        ar.follow_the_leader(ar.Robot([back, *sections]), curve((0.0, 0.15)))


def test_what_cannot_be_followed_is_named():
    with pytest.raises(MethodError, match="joints before the first"):
        ar.follow_the_leader(ar.load_robot("three-section"), CURVES["C"])
    with pytest.raises(MethodError, match="cannot follow its tip"):
        ar.follow_the_leader(ar.load_robot("ur5"), CURVES["C"])
    robot = ar.load_robot("extensible-sections")
    with pytest.raises(TargetError, match="can be inserted by 150 mm at most"):
        ar.follow_the_leader(robot, curve((0.0, 0.2)))
    with pytest.raises(TargetError, match="at least 75 mm long"):
        ar.follow_the_leader(robot, curve((0.0, 0.05)))
    with pytest.raises(TargetError, match="away from the base"):
        ar.follow_the_leader(robot, CURVES["C"] + [0.01, 0, 0])
    with pytest.raises(TargetError, match="curve"):
        ar.follow_the_leader(robot, [[0, 0, 0]])
    with pytest.raises(TargetError, match="not finite"):
        ar.follow_the_leader(robot, [[0, 0, 0], [0, 0, np.nan]])
    with pytest.raises(TargetError, match="no length"):
        ar.follow_the_leader(robot, np.zeros((3, 3)))
    with pytest.raises(TargetError, match="max_step"):
        ar.follow_the_leader(FREE, BEZIER, max_step=-1.0)
    with pytest.raises(RobotError, match="travel = 0"):
        ar.free_base(0.0)


def test_few_points_as_plain_python():
    robot = ar.Robot([ar.Prismatic(-0.1, 0.05), ar.Section(0.05, 2.0), ar.Section(0.03, 2.0, stretch=0.02)])
    path = ar.follow_the_leader(robot, curve((8.0, 0.06), points=8), points=2)
    assert path.position_error.max() < 1e-4


def test_names_of_elements_do_not_clash_with_the_rigid_body_that_begins_a_search():
    elements = [ar.Prismatic(-0.1, 0.05, name="link-1"), ar.Section(0.05, 2.0, name="tip")]
    ar.follow_the_leader(ar.Robot(elements), curve((8.0, 0.03), points=8), points=2)


@pytest.mark.compiled
def test_steps_that_are_too_large_on_a_closed_curve_are_reported():
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    line = np.stack([1.5 * np.cos(angle), 0.3 * np.sin(2.0 * angle), 1.5 * np.sin(angle) + 3.0], axis=1)
    bound = 0.05
    path = ar.follow_the_leader(FREE, line, points=100, max_step=bound)
    bends = [
        path.q[:, k, None] * np.stack([np.cos(path.q[:, k + 1]), np.sin(path.q[:, k + 1])], axis=1) for k in (6, 8, 10)
    ]
    sizes = [np.abs(path.steps[:, :6]), *(np.linalg.norm(np.diff(bend, axis=0), axis=1)[:, None] for bend in bends)]
    large = np.concatenate([[False], np.hstack(sizes).max(axis=1) > bound * (1.0 + 1e-6)])
    assert large.any()
    assert (path.status[large] == ar.Status.STALLED).all()
    np.testing.assert_array_equal(path.reached_points, ~large)
    # The bound of a lap that keeps it changes nothing.
    assert ar.follow_the_leader(FREE, line, points=100, max_step=0.1).reached


@pytest.mark.compiled
@pytest.mark.parametrize("roll", [[], [ar.Revolute(lower=-3, upper=3)]], ids=["slide", "slide and roll"])
@pytest.mark.parametrize("direction", [0.0, 1.5, 2.5, -1.0])
def test_sections_that_twist_follow_curves_in_every_direction(roll, direction):
    robot = ar.Robot([ar.Prismatic(-0.2, 0.2), *roll, *[ar.Section(0.05, 1.5, twist=True)] * 3])
    turn = np.array([[np.cos(direction), -np.sin(direction), 0], [np.sin(direction), np.cos(direction), 0], [0, 0, 1]])
    line = curve((8.0, 0.12)) @ turn.T
    path = ar.follow_the_leader(robot, line, points=20)
    assert path.reached
    check_tip(path, line)
    assert path.worst_body_deviation < 2e-3


@pytest.mark.compiled
def test_the_clearance_of_a_blocked_motion_is_a_lower_bound():
    arm, line = ar.load_robot("telescopic-sections"), CURVES["C"]
    ball = ar.Sphere(line[48], 0.01)
    path = ar.follow_the_leader(arm, line, points=20, scene=[ball])
    assert path.clearance.min() < -0.01
    for i in range(1, len(path)):
        dense = ar.clearance(arm, motion_between(arm, path.q[i - 1 : i + 1], 50), [ball]).distance
        assert path.clearance[i] <= dense.min()
