import itertools
import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import RobotError, SceneError, TargetError
from arcreach.files import load_planar_scene
from arcreach.kernels.contact import arcs as contact_arcs
from arcreach.planning.contact.contact_plan import BACKWARD, FORWARD, PlanarArc, touches_itself
from arcreach.planning.contact.scene import Surroundings

SCENES = ("slalom", "pocket", "wedge")
SOLUTIONS = {"slalom": 2, "pocket": 2, "wedge": 1}
CONTACTS = {"slalom": 8, "pocket": 6, "wedge": 5}
KINDS = {
    "slalom": [(BACKWARD, BACKWARD), (BACKWARD,)],
    "pocket": [(BACKWARD, BACKWARD), (BACKWARD, FORWARD)],
    "wedge": [(FORWARD,)],
}
ROBOT = ar.Robot([ar.Section(length=0.0, stretch=0.5, bend_max=2 * np.pi, radius=0.002)])


def plan_scene(name, automatic=False, **options):
    scene = load_planar_scene(name)
    contacts = None if automatic else scene.contacts
    found = ar.plan_contact(
        scene.robot, scene.target, scene.obstacles, contacts, bend_radius=scene.bend_radius, **options
    )
    return scene, found


@pytest.fixture(scope="module")
def found():
    return {name: plan_scene(name) for name in SCENES}


def box(left, right, low, high, name="box"):
    return ar.Polygon([(left, low), (right, low), (right, high), (left, high)], name)


def random_arc(rng):
    pose = (*rng.uniform(-1, 1, 2), rng.uniform(-np.pi, np.pi))
    length = rng.uniform(0.1, 3)
    curvature = rng.choice([0.0, 1e-13, 1e-9, *(rng.uniform(-1, 1, 6) * 2 * np.pi / length)])
    return pose, float(curvature), length


def test_distances_of_arcs_agree_with_many_points():
    rng = np.random.default_rng(1)
    for _ in range(150):
        pose, curvature, length = random_arc(rng)
        line = PlanarArc(pose, curvature, length).points(np.linspace(0, length, 1500))
        a, b = rng.uniform(-2, 2, (2, 2))
        along = a + np.linspace(0, 1, 400)[:, None] * (b - a)
        points = np.hypot(*(line[:, None] - along[None]).transpose(2, 0, 1)).min()
        arc = contact_arcs.Arc(*pose, curvature, length)
        exact = contact_arcs.arc_segment_distance(arc, (*a, *b))
        assert exact <= points + 1e-9
        # Half a spacing on either line is what sampling can miss.
        assert points - exact < 0.5 * (length / 1499 + math.dist(a, b) / 399) + 1e-9
        sampled = np.hypot(*(line - a).T).min()
        exact = contact_arcs.arc_point_distance(arc, *a)
        assert -1e-9 < sampled - exact < 0.5 * length / 1499 + 1e-9


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_tangent_arcs_touch_the_ball_at_their_end_on_the_right_side(side):
    rng = np.random.default_rng(2)
    touched = 0
    for _ in range(200):
        u, w, radius = *rng.uniform(-1, 1, 2), rng.uniform(0, 0.4)
        curvature, length = contact_arcs.tangent_arc(u, w, radius, side)
        if u * u + w * w <= radius * radius:
            assert math.isinf(length)
            continue
        arc = PlanarArc((0.0, 0.0, 0.0), curvature, length)
        x, z, angle = arc.end
        normal = np.array([math.cos(angle), -math.sin(angle)])
        np.testing.assert_allclose([x, z] + side * radius * normal, [u, w], atol=1e-9)
        # Nowhere before is it nearer.
        whole = contact_arcs.Arc(0.0, 0.0, 0.0, curvature, length)
        assert contact_arcs.arc_point_distance(whole, u, w) >= radius - 1e-9
        touched += 1
    assert touched > 100


@pytest.mark.parametrize("curvature", [0.0, 1e-9, -1e-9, 1e-6])
def test_an_arc_that_is_nearly_straight_is_at_the_distance_of_a_line(curvature):
    arc = contact_arcs.Arc(0.0, 0.0, 0.0, curvature, 1.0)
    away = contact_arcs.arc_segment_distance(arc, (0.3, -1.0, 0.3, 2.0))
    assert away == pytest.approx(0.3, abs=1e-6)
    assert contact_arcs.arc_segment_distance(arc, (-1.0, 0.5, 1.0, 0.5)) == 0.0


@pytest.mark.parametrize("name", SCENES)
def test_given_contacts_give_the_stated_solutions(found, name):
    scene, plans = found[name]
    assert len(scene.contacts) == CONTACTS[name]
    assert len(plans) == SOLUTIONS[name]
    assert plans.complete
    assert [plan.kinds for plan in plans] == KINDS[name]
    assert all(len(plan.contacts) >= 1 for plan in plans)


@pytest.mark.parametrize("name", SCENES)
def test_automatic_candidates_find_at_least_as_much(found, name):
    _, plans = found[name]
    _, more = plan_scene(name, automatic=True)
    assert len(more) >= len(plans)
    ways = [plan.contacts for plan in more]
    assert all(plan.contacts in ways for plan in plans)


@pytest.mark.parametrize("name", SCENES)
def test_without_the_rule_no_path_is_lost_and_others_are_found(found, name):
    _, plans = found[name]
    _, free = plan_scene(name, rule=False)
    # In the pocket both paths already bend towards what they touch.
    assert len(free) >= len(plans) + (name != "pocket")
    ways = [plan.contacts for plan in free]
    assert all(plan.contacts in ways for plan in plans)
    for plan in plans:
        for before, after in itertools.pairwise(plan.arcs):
            assert before.side * (after.curvature - before.curvature) > 0


def check_plan(plan, scene):
    """Everything a plan promises, computed anew."""
    # Forward kinematics of a chain of sections, one for each arc.
    sections = ar.Robot([ar.Section(arc.length, 2 * np.pi) for arc in plan.arcs])
    q = [value for arc in plan.arcs for value in (abs(arc.curvature) * arc.length, np.pi * (arc.curvature < 0))]
    np.testing.assert_allclose(sections.tip_pose(np.array(q))[[0, 2], 3], scene.target, atol=1e-9)
    section = scene.robot.elements[0]
    assert section.length <= plan.length <= section.length + section.stretch
    assert all(abs(arc.curvature) * scene.bend_radius <= 1 + 1e-9 for arc in plan.arcs)
    # No penetration at many points; touching where it says so.
    gaps = [min(shape.distance(point) for shape in scene.obstacles) for point in plan.line(3000)]
    assert min(gaps) >= section.radius - 1e-8
    assert abs(plan.clearance) < 1e-9 or not plan.contacts
    for arc in plan.arcs[:-1]:
        assert math.dist(arc.contact, arc.end[:2]) == pytest.approx(section.radius, abs=1e-9)
        assert min(shape.distance(arc.contact) for shape in scene.obstacles) == pytest.approx(0, abs=1e-12)
        x, z, angle = arc.end
        aside = (arc.contact[0] - x) * math.cos(angle) - (arc.contact[1] - z) * math.sin(angle)
        assert aside * arc.side > 0


@pytest.mark.parametrize("name", SCENES)
def test_plans_are_free_exact_and_within_limits(found, name):
    scene, plans = found[name]
    lengths = [plan.length for plan in plans]
    assert lengths == sorted(lengths)
    for plan in plans:
        check_plan(plan, scene)


@pytest.mark.compiled
def test_clutter_has_a_path_of_four_contacts():
    scene, plans = plan_scene("clutter", max_solutions=3)
    assert len(scene.obstacles) == 28
    assert len(plans[0].contacts) == 4
    for plan in plans:
        check_plan(plan, scene)


def test_the_body_follows_its_leader(found):
    _, plans = found["slalom"]
    frames = plans[0].frames(count=7, points=50)
    whole = plans[0].line(20000)
    assert len(frames) == 7
    np.testing.assert_allclose(frames[-1][-1], plans[0].tip, atol=1e-12)
    for frame in frames:
        away = np.hypot(*(frame[:, None] - whole[None]).transpose(2, 0, 1)).min(axis=1)
        assert away.max() < 1e-5
    with pytest.raises(TargetError, match="count = 0"):
        plans[0].frames(0)


@pytest.mark.parametrize("name", SCENES)
def test_a_robot_of_several_sections_passes_the_contacts_without_touching(found, name):
    for plan in found[name][1]:
        robot, q = plan.sectioned()
        assert len(robot.elements) == len(plan.arcs)
        assert robot.within_limits(q)
        line = robot.backbone(q, 400)
        np.testing.assert_allclose(line[:, 1], 0.0, atol=1e-12)
        np.testing.assert_allclose(line[-1, [0, 2]], plan.tip, atol=1e-9)
        gaps, _ = plan.surroundings.point_gaps(line[:, [0, 2]])
        assert gaps.min() - robot.elements[0].radius > 0.05 * plan.body.radius
        # It passes the contacts, at the distance of the planned body.
        for contact in plan.contacts:
            away = np.hypot(*(line[:, [0, 2]] - contact).T).min()
            assert away == pytest.approx(plan.body.radius, abs=plan.length / 400)
        with pytest.raises(ar.RobotError, match="the gap along the path"):
            plan.sectioned(2.0 * plan.body.radius)


def test_a_free_target_needs_no_contact():
    (plan,) = ar.plan_contact(ROBOT, (0.05, 0.2), [box(0.3, 0.4, 0, 0.1)], max_solutions=1)
    assert plan.contacts == ()
    assert plan.clearance > 0.1
    assert ar.plan_contact(ROBOT, ar.Target([0.05, 0, 0.2]), [])[0].length == pytest.approx(plan.length)


def test_a_disc_is_touched_on_both_sides():
    disc = ar.Disc((0.0, 0.1), 0.03, "post")
    plans = ar.plan_contact(ROBOT, (0, 0.22), [disc], bend_radius=0.01)
    assert len(plans) == 2
    assert plans[0].length == pytest.approx(plans[1].length)
    assert {plan.arcs[0].side for plan in plans} == {1, -1}
    (given,) = {len(ar.plan_contact(ROBOT, (0, 0.22), [disc], [(0.03, 0.1)], bend_radius=0.01))}
    assert given == 2
    for plan in plans:
        assert math.dist(plan.contacts[0], disc.centre) == pytest.approx(0.03)


def test_limits_of_the_robot_end_the_search():
    scene, _ = plan_scene("wedge")
    shortest = ar.Robot([ar.Section(length=0.0, stretch=0.19, bend_max=2 * np.pi, radius=0.002)])
    assert len(ar.plan_contact(shortest, scene.target, scene.obstacles, bend_radius=0.02)) == 0
    assert len(ar.plan_contact(scene.robot, scene.target, scene.obstacles, bend_radius=0.06)) == 0
    long = ar.Robot([ar.Section(length=0.25, stretch=0.2, bend_max=2 * np.pi, radius=0.002)])
    assert all(plan.length >= 0.25 for plan in ar.plan_contact(long, scene.target, scene.obstacles, bend_radius=0.02))
    none = ar.plan_contact(scene.robot, scene.target, scene.obstacles, bend_radius=0.02, max_contacts=0)
    assert len(none) == 0
    assert not none.complete


def test_a_body_that_lies_on_itself_is_seen():
    loop = [PlanarArc((0.0, 0.0, 0.0), 10.0, 2 * np.pi / 10.0)]
    assert touches_itself(loop, 0.01)
    half = [PlanarArc((0.0, 0.0, 0.0), 10.0, np.pi / 10.0)]
    assert not touches_itself(half, 0.01)


def test_same_call_same_answer(found):
    _, plans = found["pocket"]
    _, again = plan_scene("pocket")
    assert [plan.arcs for plan in plans] == [plan.arcs for plan in again]


def test_signed_gaps_of_points():
    rng = np.random.default_rng(3)
    around = Surroundings([box(-1, 0, -1, 0), ar.Disc((1, 1), 0.5), box(1, 2, -2, -1)])
    points = rng.uniform(-3, 3, (300, 2))
    gaps, which = around.point_gaps(points)
    for point, gap, k in zip(points, gaps, which, strict=True):
        away = [shape.distance(point) for shape in around.obstacles]
        assert max(gap, 0) == pytest.approx(min(away), abs=1e-12)
        assert away[k] == min(away)
    assert around.point_gaps(np.array([[-0.5, -0.4]]))[0][0] == pytest.approx(-0.4)
    assert around.point_gaps(np.array([[1.0, 1.1]]))[0][0] == pytest.approx(-0.4)


WALL = box(-0.05, 0.05, 0.1, 0.12, "wall")
L_SHAPE = ar.Polygon([(0.05, 0.1), (0.1, 0.1), (0.1, 0.12), (0.06, 0.12), (0.06, 0.2), (0.05, 0.2)])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((ROBOT, (0, 0.2), [box(-1, 1, -1, 0.05, "floor")]), {}, SceneError, "base .* inside obstacle 'floor'"),
        ((ROBOT, (0, 0.2), [box(0.001, 1, 0, 0.05, "near")]), {}, SceneError, "base .* 1 mm from"),
        ((ROBOT, (0, 0.11), [WALL]), {}, TargetError, "target .* inside obstacle 'wall'"),
        ((ROBOT, (0, 0.7), [WALL]), {}, TargetError, "at most 0.5 m long"),
        ((ROBOT, (0, 0), [WALL]), {}, TargetError, "base itself"),
        ((ROBOT, (0, 0.2), [WALL], [(0.2, 0.2)]), {}, SceneError, "lies on no obstacle"),
        ((ROBOT, (0, 0.2), [L_SHAPE], [(0.06, 0.12)]), {}, SceneError, "concave corner of 'polygon-1'"),
        ((ROBOT, (0, 0.2), [WALL], [(0, 0.11)]), {}, SceneError, "lies on no obstacle"),
        ((ROBOT, (0, 0.2), [WALL], [(0, math.nan)]), {}, SceneError, r"contacts\[0\]"),
        ((ROBOT, (0, 0.2), [WALL], 5), {}, SceneError, "contacts = 5"),
        ((ROBOT, (0, 0.2), ["wall"]), {}, SceneError, r"obstacles\[0\]"),
        ((ROBOT, (0, 0.1, 0.2), [WALL]), {}, TargetError, "outside the plane"),
        ((ROBOT, "ab", [WALL]), {}, TargetError, "target = 'ab'"),
        ((ROBOT, (0, math.inf), [WALL]), {}, TargetError, "target"),
        ((ROBOT, ar.Target([0, 0, 0.2], axis=[0, 0, 1]), [WALL]), {}, TargetError, "orientation"),
        ((ROBOT, (0, 0.2), [WALL]), {"max_time": 0}, TargetError, "max_time"),
        ((ROBOT, (0, 0.2), [WALL]), {"max_solutions": 0}, TargetError, "max_solutions"),
        ((ROBOT, (0, 0.2), [WALL]), {"bend_radius": -1}, TargetError, "bend_radius"),
        ((ROBOT, (0, 0.2), [WALL]), {"rule": "yes"}, RobotError, "rule"),
        ((ROBOT, (0, 0.2), [WALL]), {"edges": 1}, RobotError, "edges"),
        ((ROBOT, (0, 0.2), [WALL]), {"trace": None}, RobotError, "trace"),
        ((ar.load_robot("three-section"), (0, 0.2), [WALL]), {}, RobotError, "3 of them sections"),
        ((ar.load_robot("ur5"), (0, 0.2), [WALL]), {}, RobotError, "one planar section"),
        ((ar.Robot([ar.Section(0.3, 3.0)]), (0, 0.2), [WALL]), {}, RobotError, "stretch"),
        (("arm", (0, 0.2), [WALL]), {}, RobotError, "robot = 'arm'"),
    ],
)
def test_bad_input_is_refused_before_planning(arguments, options, error, words):
    with pytest.raises(error, match=words):
        ar.plan_contact(*arguments, **options)
