"""Tolerances, and variant and options of the chosen method."""

import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar
from arcreach.studio.state.request import POSITION, Tuning


def test_options_reach_the_method_and_can_be_undone(studio):
    studio.set_robot(ar.load_robot("ur5"))
    studio.change(method="finite-rotation")
    settle(studio)
    inputs = studio.panels.tuning
    assert list(inputs.options) == ["cross_axis", "long_axis", "precision"]
    with client_of(studio) as client:
        client.set(inputs.options["precision"], "flo")
        until(lambda: "precision = 'flo' is not accepted" in studio.answer.results[0].status)
        client.set(inputs.options["precision"], "float32")
        client.set(inputs.variant, "published")
        until(lambda: studio.state.request.tuning.variant == "published")
        settle(studio)
        tuning = studio.state.request.tuning
        assert tuning.arguments("finite-rotation", False)["precision"] == "float32"
        assert tuning.arguments("finite-rotation", True)["joint_steps"] is True
        assert "precision" not in tuning.arguments("jacobian", True)
        studio.undo()
        settle(studio)
        assert inputs.variant.value == "default"
        # Another method has other options, and keeps its defaults.
        studio.change(method="ccd")
        settle(studio)
        assert inputs.options == {}
        assert studio.answer.results[0].status == "reached"
        client.set(inputs.position, 10.0)
        client.set(inputs.angle, 5.0)
        until(lambda: studio.state.request.tuning.angle_tol == pytest.approx(np.radians(5.0)))
        assert studio.state.request.tuning.position_tol == pytest.approx(0.01)
        settle(studio)
    assert inputs.position.value == 10.0
    studio.reset()
    settle(studio)
    assert studio.state.request.tuning == Tuning()
    assert inputs.position.value == 0.001


def test_auto_takes_a_preferred_posture(studio):
    robot = ar.load_robot("three-section")
    studio.set_robot(robot)
    studio.change(aim=POSITION)
    studio.aim_at(robot.tip_pose(np.array([1.2, 0.0, -1.2, 0.0, 0.6, 1.0])))
    settle(studio)
    before = studio.q
    inputs = studio.panels.tuning
    with client_of(studio) as client:
        client.set(inputs.options["prefer"], "rest")
        until(lambda: studio.state.request.tuning.options.get("prefer") == "rest")
        settle(studio)
        assert studio.answer.results[0].reached
        assert np.sum(studio.q[::2] ** 2) < np.sum(before[::2] ** 2)
        client.set(inputs.options["prefer"], "straight")
        until(lambda: "prefer = 'straight' is not known" in studio.answer.results[0].status)
    studio.reset()
    settle(studio)


def test_a_tolerance_ends_a_solve_earlier(studio):
    studio.aim_at(studio.state.request.robot.tip_pose(studio.q * 0.8))
    iterations = []
    for tolerance in (1e-9, 1e-3):
        studio.change(method="dls", tuning=Tuning(tolerance, 0.1))
        settle(studio)
        studio.jobs.replay(playing=False)
        until(lambda: studio.player.animation is not None)
        (result,) = studio.player.animation.traced
        assert result.position_error < tolerance
        iterations.append(result.iterations)
        studio.player.close()
    assert iterations[1] < iterations[0]
