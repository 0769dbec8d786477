"""Errors in section 2.5 of [K22], and how arcreach corrects them; see docs/errata.md."""

import itertools
import math

import numpy as np
import pytest
from tests.planning.contact.test_plan import BACKWARD, plan_scene
from tests.planning.contact.test_rod import BODY, one_support

from arcreach.kernels.contact.arcs import ARC_COLUMNS, CURVATURE, LENGTH, Bounds, Obstacles, onward_arcs, tangent_arc
from arcreach.planning.contact.contact_plan import PlanarArc
from arcreach.planning.contact.rod import load_rod


def test_k22_contact_tree_one_point_has_many_tangents():
    # Two paths to one ball, by either side of another: the arcs that continue to a third point differ.
    onward = []
    for side in (1.0, -1.0):
        first = PlanarArc((0.0, 0.0, 0.0), *tangent_arc(0.0, 0.1, 0.02, side))
        x, z, angle = first.end
        u, w = _seen(first.end, (0.0, 0.2))
        second = PlanarArc((x, z, angle), *tangent_arc(u, w, 0.001, 1.0))
        u, w = _seen(second.end, (0.1, 0.3))
        onward.append(tangent_arc(u, w, 0.0, 1.0))
        np.testing.assert_allclose(math.dist(second.end[:2], (0.0, 0.2)), 0.001, atol=1e-12)
    assert abs(onward[0][0] - onward[1][0]) > 1.0


def _seen(pose, point):
    dx, dz = point[0] - pose[0], point[1] - pose[1]
    return dx * math.cos(pose[2]) - dz * math.sin(pose[2]), dx * math.sin(pose[2]) + dz * math.cos(pose[2])


def test_k22_contact_backward_is_said_twice():
    # A backward-blocking contact holds the part before it against straightening: the obstacle lies outside the bend.
    _, plans = plan_scene("slalom")
    for plan in plans:
        for before, after in itertools.pairwise(plan.arcs):
            if before.kind == BACKWARD:
                assert before.side * before.curvature < 0
                # Pushed on, body and actuation turn the other way: towards the obstacle.
                assert before.side * (after.curvature - before.curvature) > 0


def test_k22_contact_rule_is_not_stated():
    # From a contact with the obstacle on the side +1 the rule keeps arcs that bend more to that side, and drops others.
    pose, balls = np.array([0.0, 0.0, 0.0]), np.array([[0.1, 0.2, 0.001], [-0.1, 0.2, 0.001]])
    nothing = Obstacles(np.zeros((0, 4)), np.zeros((0, 3)))
    arcs = np.empty((4, ARC_COLUMNS))
    counts = []
    for rule in (True, False):
        n = onward_arcs(pose, np.array([0.5, 1.0]), balls, nothing, Bounds(1e-6, 1e-12, 100.0, 10.0, rule), arcs)
        counts.append(n)
        if rule:
            assert (arcs[:n, CURVATURE] > 0.5).all()
            assert (arcs[:n, LENGTH] > 0.2).all()
    assert counts == [2, 4]


@pytest.mark.parametrize("actuated", [0.01, 1.0])
def test_k22_contact_jump_needs_a_moment(actuated):
    arcs, around = one_support(actuated)
    jump = arcs[1].curvature - arcs[0].curvature
    shape = load_rod(arcs, around, BODY)
    steps = np.diff(shape.line, axis=0)
    angles = np.arctan2(steps[:, 0], steps[:, 1])
    middles = 0.5 * (np.hypot(*steps[1:].T) + np.hypot(*steps[:-1].T))
    curvature = np.diff(angles) / middles
    # The rod's curvature has no jump anywhere, and its part before the contact is not the straight line of the plan.
    assert np.abs(np.diff(curvature)).max() < 0.15 * abs(jump)
    assert np.abs(shape.line[:, 0]).max() > 1e-3 * actuated
    assert math.dist(shape.tip, arcs[-1].end[:2]) > 0.05 * actuated * 0.4
