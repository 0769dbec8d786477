import math
from dataclasses import replace

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import RobotError, SceneError, TargetError
from arcreach.files import load_planar_scene
from arcreach.planning.contact.grasp import LARGEST_WRAP, enclosing_circle

ONE = ar.Robot([ar.Section(length=0.0, stretch=0.5, bend_max=2 * np.pi, radius=0.003)])
TWO = ar.Robot(
    [
        ar.Section(length=0.05, stretch=0.15, bend_max=np.pi, radius=0.003),
        ar.Section(length=0.02, stretch=0.18, bend_max=2 * np.pi, radius=0.003),
    ]
)
GROWING = ar.Section(length=0.0, stretch=0.18, bend_max=2 * np.pi, radius=0.003)
THREE = ar.Robot([TWO.elements[0], GROWING, ar.Section(length=0.06, bend_max=2 * np.pi, radius=0.003)])
DISC = ar.Disc((0.04, 0.14), 0.03, "ball")


def part():
    pytest.importorskip("shapely")
    return ar.Polygon([(0.03, 0.11), (0.06, 0.105), (0.08, 0.13), (0.062, 0.16), (0.03, 0.155)], "part")


def check_grasp(plan, obstacles, robot):
    """Everything a grasp promises, computed anew."""
    assert plan.wrap_angle >= math.pi - 1e-9
    everything = [plan.object, *obstacles]
    radius = max(section.radius for section in robot.elements)
    for frame in plan.frames(points=400):
        assert min(shape.distance(point) for shape in everything for point in frame) >= radius - 1e-8
    wrapped = plan.line(2000)
    away = np.hypot(*(wrapped - plan.centre).T)
    on_circle = np.isclose(away, plan.object_radius + radius, atol=1e-9)
    share = plan.wrap_angle * (plan.object_radius + radius) / plan.length
    assert on_circle.mean() == pytest.approx(share, abs=2e-3)
    if plan.q is not None:
        assert all(robot.within_limits(q) for q in plan.q)
        np.testing.assert_allclose(robot.tip_pose(plan.q[-1])[[0, 2], 3], plan.tip, atol=1e-12)
        for q, frame in zip(plan.q, plan.frames(points=2), strict=True):
            np.testing.assert_allclose(robot.tip_pose(q)[[0, 2], 3], frame[-1], atol=1e-12)


@pytest.mark.parametrize("robot", [ONE, TWO, THREE], ids=["one", "two", "three"])
def test_a_convex_polygon_is_grasped(robot):
    target = part()
    post = ar.Disc((-0.05, 0.2), 0.01)
    bend_radius = 0.02 if robot is ONE else None
    plans = ar.plan_grasp(robot, target, [post], bend_radius=bend_radius)
    assert len(plans) >= 1, plans.refusals
    lengths = [plan.length for plan in plans]
    assert lengths == sorted(lengths)
    for plan in plans:
        check_grasp(plan, [post], robot)
        assert abs(plan.clearance) < 1e-9
        assert plan.touched


@pytest.mark.parametrize("robot", [ONE, TWO], ids=["one", "two"])
def test_a_disc_is_grasped_without_shapely(robot, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shapely", None)
    plans = ar.plan_grasp(robot, DISC, bend_radius=0.02 if robot is ONE else None)
    assert len(plans) >= 1
    for plan in plans:
        check_grasp(plan, [], robot)
    with pytest.raises(ar.MissingExtraError, match=r"arcreach\[plan\]"):
        ar.plan_grasp(ONE, ar.Polygon([(0.03, 0.1), (0.06, 0.1), (0.05, 0.14)]))


@pytest.mark.parametrize("x", [-0.04, 0.04])
def test_twisting_sections_turn_the_base_of_the_next(x):
    robot = ar.Robot([replace(section, twist=True) for section in TWO.elements])
    plans = ar.plan_grasp(robot, ar.Disc((x, 0.14), 0.03))
    assert len(plans) >= 1
    for plan in plans:
        check_grasp(plan, [], robot)


@pytest.mark.parametrize("name", ["grasp-one", "grasp-two"])
def test_scenes_that_come_along(name):
    pytest.importorskip("shapely")
    scene = load_planar_scene(name)
    plans = ar.plan_grasp(scene.robot, scene.object, scene.obstacles, bend_radius=scene.bend_radius)
    assert len(plans) == 2
    assert {plan.side for plan in plans} == {1, -1}
    for plan in plans:
        check_grasp(plan, [shape for shape in scene.obstacles if shape != scene.object], scene.robot)


def test_the_enclosing_circle_is_the_smallest():
    shape = part()
    centre, radius = enclosing_circle(shape)
    away = [math.dist(centre, point) for point in shape.points]
    assert max(away) == pytest.approx(radius)
    rng = np.random.default_rng(0)
    for step in rng.normal(size=(50, 2)):
        moved = np.array(centre) + 1e-3 * step
        assert max(math.dist(moved, point) for point in shape.points) > radius - 1e-9


def test_a_longer_wrap_touches_more():
    target = part()
    plans = [ar.plan_grasp(ONE, target, wrap=wrap, bend_radius=0.02)[0] for wrap in (math.pi, 5.5)]
    assert plans[1].wrap_angle == pytest.approx(5.5)
    assert set(plans[0].touched) <= set(plans[1].touched)
    assert len(plans[1].touched) >= 2


def test_an_obstacle_beside_the_object_forces_the_body_to_follow_its_own_line():
    free = ar.plan_grasp(ONE, DISC, bend_radius=0.02)
    straight_on = next(plan for plan in free if plan.side == 1).moments[11]
    tangent = np.array(free[0].frames()[11][-1])
    assert straight_on[1][0] == 0.0
    plans = ar.plan_grasp(ONE, DISC, [ar.Disc(tuple(tangent), 0.004)], bend_radius=0.02)
    followed = [plan for plan in plans if plan.motion == "follow"]
    assert followed
    for plan in plans:
        check_grasp(plan, [ar.Disc(tuple(tangent), 0.004)], ONE)


def test_what_is_not_possible_says_why():
    short = ar.Robot([ar.Section(length=0.0, stretch=0.2, bend_max=2 * np.pi)])
    plans = ar.plan_grasp(short, DISC, bend_radius=0.02)
    assert len(plans) == 0
    assert all("m of body are needed" in line for line in plans.refusals)
    stiff = ar.plan_grasp(ONE, DISC, bend_radius=0.05)
    assert len(stiff) == 0
    assert all("a bend radius of" in line for line in stiff.refusals)
    walled = ar.plan_grasp(ONE, DISC, [ar.Polygon([(-0.3, 0.05), (0.3, 0.05), (0.3, 0.06), (-0.3, 0.06)])])
    assert len(walled) == 0
    fixed = ar.plan_grasp(ar.Robot([ar.Section(0.05, 1.0)] * 2), ar.Disc((0.0, 0.09), 0.01))
    assert len(fixed) == 0
    assert fixed.refusals
    assert "not possible" in str(fixed)


def test_a_refusal_names_what_prevents_the_grasp():
    # The object touches the line of the base from behind: the tangent arc on its side would be straight, backwards.
    for sections in (1, 2):
        robot = ar.Robot([ar.Section(length=0.0, stretch=0.5, bend_max=2 * np.pi)] * sections)
        plans = ar.plan_grasp(robot, ar.Disc((0.02 + 1e-6 * robot.reach, -0.1), 0.02))
        missing = [line for line in plans.refusals if "no arc from the base" in line]
        assert missing == ["object on the right: no arc from the base touches it"]
        assert not any("inf" in line for line in plans.refusals)
    # Wrapped with its shortest length, this body would go around the object more than once.
    long = ar.Robot([ar.Section(length=0.4, stretch=0.1, bend_max=2 * np.pi, radius=0.003)])
    for line in ar.plan_grasp(long, DISC, bend_radius=0.02).refusals:
        assert line.endswith("the shortest body, 0.4 m, would wrap by more than 350°")
    # The largest wrap does not need a longer body than there is; rounding must not say so.
    for x in (0.04, 0.05, 0.0637, 0.071, 0.09):
        plans = ar.plan_grasp(ONE, ar.Disc((x, 0.14), 0.03), wrap=LARGEST_WRAP, bend_radius=0.02)
        assert all(line.endswith("the body would touch itself") for line in plans.refusals)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((ONE, "cup"), {}, SceneError, "object = 'cup'"),
        ((ONE, ar.Disc((0, 0.01), 0.02)), {}, SceneError, "covers the base"),
        ((ONE, ar.Disc((0, 2), 0.02)), {}, TargetError, "at most 0.5 m long"),
        ((ONE, DISC), {"wrap": 1.0}, TargetError, "wrap = 1.0"),
        ((ONE, DISC), {"wrap": math.nan}, TargetError, "wrap"),
        ((TWO, DISC), {"bend_radius": 0.02}, TargetError, "bend_radius"),
        ((ONE, DISC, [ar.Disc((0, 0), 0.01, "plug")]), {}, SceneError, "'plug' covers the base"),
        ((ar.load_robot("ur5"), DISC), {}, RobotError, "sections alone"),
        ((None, DISC), {}, RobotError, "robot = None"),
    ],
)
def test_bad_input_is_refused_before_planning(arguments, options, error, words):
    with pytest.raises(error, match=words):
        ar.plan_grasp(*arguments, **options)
