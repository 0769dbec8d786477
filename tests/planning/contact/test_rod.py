"""The elastic second opinion: against the theory of small deflections, and the conditions of an equilibrium."""

import numpy as np
import pytest
from tests.planning.contact.test_plan import plan_scene

import arcreach as ar
from arcreach._text import length
from arcreach.kernels.contact.rod import STATE, Contacts, rod_shape
from arcreach.planning.contact.contact_plan import ContactArc
from arcreach.planning.contact.rod import load_rod
from arcreach.planning.contact.scene import Body, Surroundings

BODY = Body(0.0, 2.0, 100.0, 1e-6, 1e-9)


def one_support(actuated, at=0.6, length=1.0):
    """A straight plan past a corner, whose free end is slightly bent towards it."""
    corner = ar.Polygon([(1e-6, at), (0.3, at - 0.01), (0.3, at + 0.01)])
    first = ContactArc((0.0, 0.0, 0.0), 0.0, at, 1, (1e-6, at), "", "", (1e-6, at, 1e-6))
    return (first, ContactArc(first.end, actuated, length - at)), Surroundings([corner])


@pytest.mark.parametrize("actuated", [1e-3, 1e-2])
def test_small_deflections_are_those_of_a_beam(actuated):
    arcs, around = one_support(actuated)
    shape = load_rod(arcs, around, BODY)
    assert shape.converged
    # A beam with the curvature k, clamped at 0 and held at a: a force N there bends it back by N a^3 / 3 = k a^2 / 2.
    at = 0.6
    push = 1.5 * actuated / at
    assert shape.pushes[0] == pytest.approx(push, rel=1e-3)
    tip = actuated / 2 - push * at**2 * (3 - at) / 6
    assert shape.tip[0] == pytest.approx(tip, rel=1e-3, abs=1e-9)


def test_a_contact_that_would_have_to_pull_is_let_go():
    arcs, around = one_support(-0.5)
    shape = load_rod(arcs, around, BODY)
    assert shape.converged
    assert shape.touched == ()
    # Free, it is an arc of the actuated curvature.
    end = ContactArc((0.0, 0.0, 0.0), -0.5, 1.0).end
    np.testing.assert_allclose(shape.tip, end[:2], atol=1e-7)


def test_steps_of_the_rod_are_of_fourth_order():
    base, empty = np.array([0.3, 0.4, -0.2]), np.zeros(0)
    nothing = Contacts(empty, np.zeros((0, 3)), empty, empty)
    ends = []
    for steps in (4, 8, 16, 512):
        states, rows = np.empty((steps + 1, STATE)), np.empty(3)
        rod_shape(base, np.array([2.0]), nothing, 1.0, steps, states, rows)
        ends.append(states[-1].copy())
    errors = [np.abs(end - ends[-1]).max() for end in ends[:3]]
    assert errors[0] / errors[1] > 10
    assert errors[1] / errors[2] > 10


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["slalom", "pocket", "wedge"])
def test_every_plan_has_a_second_opinion(name):
    scene, plans = plan_scene(name)
    for plan in plans:
        rod, repair = plan.rod, plan.repair
        assert rod.converged
        assert rod.deviation(plan.target) > 1e-3
        assert f"tip {length(rod.deviation(plan.target), 4)} from the target" in str(plan)
        assert repair.converged
        assert repair.deviation(plan.target) < 1e-8
        assert repair.within_limits
        for shape in (rod, repair):
            check_equilibrium(shape, scene)


def check_equilibrium(shape, scene):
    """The rod has its length, touches where it says, is pushed and not pulled, and its free end is an arc."""
    steps = np.diff(shape.line, axis=0)
    assert np.hypot(*steps.T).sum() == pytest.approx(shape.length, rel=1e-3)
    assert all(push > 0 for push in shape.pushes)
    reach = scene.robot.elements[0].radius
    for centre in shape.touched:
        away = np.hypot(*(shape.line - centre).T).min()
        assert away == pytest.approx(reach, abs=1e-5)
    angles = np.unwrap(np.arctan2(steps[-8:, 0], steps[-8:, 1]))
    curvature = np.diff(angles) / np.hypot(*steps[-7:].T)
    np.testing.assert_allclose(curvature, shape.actuation, rtol=1e-3, atol=1e-3)
