import math

import numpy as np
import pytest
from tests.planning.contact.test_plan import ROBOT, box, plan_scene

import arcreach as ar
from arcreach.planning.contact.candidates import every_edge, tangent_arcs
from arcreach.planning.contact.contact_plan import BACKWARD, PlanarArc, SearchArc
from arcreach.planning.contact.scene import Surroundings, body_of

BODY = body_of(ROBOT, 0.01)
SHELF = ar.Wall([(-0.03, 0.06), (0.11, 0.06)], "shelf")


def test_arcs_touch_an_edge_inside_and_curve_away_from_it():
    rng = np.random.default_rng(3)
    around = Surroundings([SHELF, box(0.2, 0.3, 0.0, 0.1)])
    edges = every_edge(around)
    assert len(edges) == 2 + 4
    touched = 0
    for _ in range(200):
        pose = (*rng.uniform(-0.1, 0.4, 2), rng.uniform(-np.pi, np.pi))
        for edge in edges:
            for side, curvature, length in tangent_arcs(pose, edge, BODY):
                x, z, angle = PlanarArc(pose, curvature, length).end
                normal = np.array(edge.normal)
                tangent = np.array([math.sin(angle), math.cos(angle)])
                assert tangent @ normal == pytest.approx(0.0, abs=1e-9)
                assert normal @ (np.array([x, z]) - edge.start) == pytest.approx(BODY.radius, abs=1e-9)
                assert side * curvature < 0.0
                # The obstacle lies on the side that `side` names.
                assert side * np.array([math.cos(angle), -math.sin(angle)]) @ normal == pytest.approx(-1.0, abs=1e-9)
                point = edge.contact((x, z, angle), BODY)
                assert around.obstacles[edge.obstacle].distance(point) == pytest.approx(0.0, abs=1e-9)
                touched += 1
    assert touched > 100


@pytest.mark.parametrize("given", [True, False])
def test_walls_are_passed_by_leaning_on_their_inside(given):
    scene, found = plan_scene("walls", automatic=not given, edges=not given)
    assert len(found) == 3
    edges = [np.array(wall.points[i : i + 2]) for wall in scene.obstacles for i in range(len(wall.points) - 1)]
    for plan in found:
        assert math.dist(plan.tip, scene.target) < 1e-9
        assert abs(plan.clearance) < 1e-9
        # Checked again by points: nowhere nearer to a wall than the radius of the body.
        line = plan.line(4000)
        for a, b in edges:
            share = np.clip((line - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            away = np.hypot(*(line - a - share[:, None] * (b - a)).T)
            assert away.min() > plan.body.radius - 1e-7
        corners = {corner for wall in scene.obstacles for corner in wall.convex_corners}
        inside = [arc for arc in plan.arcs[:-1] if arc.contact not in corners]
        assert inside
        assert all(arc.kind == BACKWARD for arc in inside)
    # Corners alone do not lead there.
    assert not len(ar.plan_contact(scene.robot, scene.target, scene.obstacles, bend_radius=scene.bend_radius))


def test_a_trace_holds_the_arcs_that_were_discarded_and_why():
    scene, found = plan_scene("pocket", trace=True)
    _, plain = plan_scene("pocket")
    assert not plain.search
    assert [plan.arcs for plan in plain] == [plan.arcs for plan in found]
    body, around = found.body, found.surroundings
    first = [arc for arc in found.search if arc.round == 1]
    # Two arcs to every corner, and one to the target.
    assert len(first) == 2 * len(scene.contacts) + 1
    ends = {tuple(np.round(arc.end, 12)) for arc in found.search if arc.outcome == SearchArc.KEPT}
    for arc in found.search:
        free = around.arc_gap(arc.start, arc.curvature, arc.length) >= body.radius - body.slack
        if arc.outcome in (SearchArc.KEPT, SearchArc.OBSTACLE):
            assert free == (arc.outcome == SearchArc.KEPT)
            assert abs(arc.curvature) <= body.sharpest
        assert arc.round == 1 or tuple(np.round(arc.start, 12)) in ends
    # Every arc of a solution was tried and kept.
    kept = {(arc.start, arc.curvature) for arc in found.search if arc.outcome == SearchArc.KEPT}
    assert all((arc.start, arc.curvature) in kept for plan in found for arc in plan.arcs)


def test_a_line_through_a_wall_is_inside_it_by_its_distance_from_the_end():
    around = Surroundings([SHELF])
    line = np.stack([np.full(101, 0.1), np.linspace(0.0, 0.1, 101)], axis=1)
    gaps, which = around.line_gaps(line)
    assert gaps.min() == pytest.approx(-0.01)
    assert which[int(np.argmin(gaps))] == 0
    free, _ = around.line_gaps(line + np.array([0.02, 0.0]))
    assert free.min() == pytest.approx(0.01)


@pytest.mark.compiled
def test_a_rod_leans_on_an_edge_like_on_a_flat_wall():
    scene, found = plan_scene("walls")
    repair = found[0].repair
    assert repair.converged
    assert math.dist(repair.tip, scene.target) < 1e-8
    assert found.surroundings.line_gaps(repair.line)[0].min() > found.body.radius - 1e-4 * repair.length
    # The first contacts of the second path: a corner, and the inside of the ceiling.
    rod = found[1].rod
    assert not rod.converged
    for point in rod.touched:
        assert min(wall.distance(point) for wall in scene.obstacles) < 1e-5
