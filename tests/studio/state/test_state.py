"""Requests and answers, undo and reset."""

import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar
from arcreach.errors import StudioError
from arcreach.robots.initial import initial_pose
from arcreach.studio.state import state as module
from arcreach.studio.state.answer import Answer
from arcreach.studio.state.request import AXIS, NO_METHOD, POSE
from arcreach.studio.state.robots import RobotEntry
from arcreach.studio.state.state import State


@pytest.fixture(scope="module")
def state():
    return State(RobotEntry("three-section", ar.load_robot("three-section")), None)


def test_every_change_is_later(state):
    first = state.request
    second = state.change(method="dls")
    assert second.revision == first.revision + 1
    assert (second.method, first.method) == ("dls", "auto")
    assert state.request is second


def test_an_earlier_answer_is_not_shown_after_a_later_one(state):
    early, late = (Answer(state.change(), state.answer.results) for _ in range(2))
    assert not state.settled
    assert state.accept(early)
    assert not state.settled
    assert state.accept(late)
    assert state.settled
    assert not state.accept(early)
    assert state.answer is late


def test_an_animation_does_not_overrule_the_user(state):
    latest = state.change(method="dls")
    assert state.change_unless(lambda: True, method="ccd") is None
    assert state.request is latest


def test_undo_restores_step_by_step(studio, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.0)
    robot, q, scene = studio.state.request.robot, studio.q.copy(), studio.scene
    studio.aim_at(robot.tip_pose(q * 0.8))
    settle(studio)
    reached, pose = studio.q.copy(), studio.state.request.pose
    studio.panels.obstacles.add_obstacle("block")
    settle(studio)
    studio.set_aim(POSE)
    studio.change(compared="dls")
    settle(studio)
    studio.set_robot(ar.load_robot("ur5"))
    settle(studio)
    studio.undo()
    settle(studio)
    assert studio.state.request.robot is robot
    assert studio.panels.robot.name.value == "three-section"
    assert studio.panels.method.compared.value == "dls"
    assert len(studio.answer.results) == 2
    studio.undo()
    assert studio.panels.method.compared.value == studio.state.request.compared == NO_METHOD
    studio.undo()
    assert studio.panels.target.aim.value == studio.state.request.aim == AXIS
    assert len(studio.scene) == 2
    studio.undo()
    settle(studio)
    assert studio.scene == scene
    assert studio.state.own_scene is None
    assert np.array_equal(studio.state.request.pose, pose)
    assert np.allclose(studio.q, reached, atol=1e-9)
    studio.undo()
    settle(studio)
    assert np.allclose(studio.q, q, atol=1e-6)
    assert np.allclose(studio.stage.target.pose, robot.tip_pose(q), atol=1e-9)


def test_a_drag_is_one_step(studio):
    before = studio.state.request
    for share in np.linspace(1.0, 0.9, 20):
        studio.aim_at(studio.state.request.robot.tip_pose(studio.q * share))
    assert studio.state.undo().request is before


def test_nothing_to_undo(studio):
    with client_of(studio) as client:
        client.set(studio.panels.steps, "Undo")
        until(lambda: any("nothing to undo" in props["body"] for props in client.notifications()))
    with pytest.raises(StudioError, match="nothing to undo"):
        studio.undo()


def test_reset_shows_the_first_view_and_can_be_undone(studio):
    robot = studio.state.request.robot
    studio.panels.obstacles.add_obstacle("bar")
    studio.change(compared="dls", avoid=False)
    studio.panels.obstacles.avoid.value = False
    studio.pose(robot.neutral)
    settle(studio)
    with client_of(studio) as client:
        client.set(studio.panels.steps, "Reset")
        until(lambda: len(studio.scene) == 1)
        settle(studio)
    request = studio.state.request
    assert np.allclose(studio.q, initial_pose(robot), atol=1e-6)
    assert (request.aim, request.method, request.compared, request.avoid) == (AXIS, "auto", NO_METHOD, True)
    assert studio.panels.obstacles.avoid.value
    studio.undo()
    settle(studio)
    assert len(studio.scene) == 2
    assert not studio.state.request.avoid
    assert np.allclose(studio.q, robot.neutral)
