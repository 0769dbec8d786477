import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of
from viser.transforms import SO3

import arcreach as ar
from arcreach.studio.panels.target import turned_to
from arcreach.studio.state.request import POSE, POSITION


def test_a_target_is_typed(studio):
    goal = studio.state.request.robot.tip_pose(studio.q * 0.9)
    with client_of(studio) as client:
        client.set(studio.panels.target.position, [round(1e3 * float(x), 1) for x in goal[:3, 3]])
        client.set(studio.panels.target.axis, goal[:3, 2].tolist())
        until(lambda: np.allclose(studio.answer.request.pose[:3, 2], goal[:3, 2], atol=1e-6) and studio.state.settled)
    assert np.allclose(studio.answer.request.pose[:3, 3], goal[:3, 3], atol=6e-5)
    assert np.allclose(studio.stage.target.pose, studio.state.request.pose)


def test_the_numbers_follow_the_target_and_the_axis_stays_as_it_was_typed(studio):
    inputs = studio.panels.target
    studio.pose(studio.q * 0.5)
    settle(studio)
    assert np.allclose(inputs.position.value, 1e3 * studio.state.request.pose[:3, 3], atol=0.051)
    assert np.allclose(inputs.axis.value, studio.state.request.pose[:3, 2], atol=0.0051)
    with client_of(studio) as client:
        client.set(inputs.axis, [0.0, 3.0, 3.0])
        until(lambda: studio.answer.request.pose[1, 2] == pytest.approx(np.sqrt(0.5)))
        settle(studio)
        assert tuple(inputs.axis.value) == (0.0, 3.0, 3.0)
        client.set(inputs.axis, [0.0, 0.0, 0.0])
        until(lambda: any("axis = (0, 0, 0)" in props["body"] for props in client.notifications()))
        client.set(studio.panels.target.aim, POSITION)
        until(lambda: not inputs.axis.visible)
    assert not studio.stage.target.arrow.visible


def test_euler_angles_are_typed_and_their_convention_is_named(studio):
    inputs = studio.panels.target
    with client_of(studio) as client:
        client.set(inputs.aim, POSE)
        until(lambda: inputs.angles.visible and not inputs.axis.visible)
        for convention, angles in (("ZYX", (20.0, -35.5, 110.0)), ("zxz", (-10.0, 40.0, 5.25))):
            client.set(inputs.convention, convention)
            client.set(inputs.angles, angles)
            wanted = ar.Target.from_euler((0.0, 0.0, 0.0), np.radians(angles), convention).rotation
            until(lambda wanted=wanted: np.allclose(studio.answer.request.pose[:3, :3], wanted, atol=1e-9))
            until(lambda angles=angles: tuple(inputs.angles.value) == angles)
        # Another convention shows the same rotation.
        client.set(inputs.convention, "XYZ")
        until(lambda: tuple(inputs.angles.value) != angles)
        shown = ar.Target.from_euler((0.0, 0.0, 0.0), np.radians(inputs.angles.value), "XYZ").rotation
        assert np.allclose(shown, wanted, atol=3e-4)
        client.set(inputs.convention, "ZYX")
    settle(studio)


@pytest.mark.parametrize(
    "axis", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8), (1.0, 0.0, 0.0), (0.0, 1e-9, -1.0)]
)
def test_turned_to_an_axis(axis):
    start = SO3(np.array([0.9, 0.1, -0.3, 0.2])).as_matrix()
    goal = start @ np.array(axis)
    for rotation, wanted in ((start, goal / np.linalg.norm(goal)), (np.eye(3), np.array(axis) / np.linalg.norm(axis))):
        turned = turned_to(rotation, wanted)
        assert np.allclose(turned.T @ turned, np.eye(3), atol=1e-9)
        assert np.linalg.det(turned) == pytest.approx(1.0)
        assert np.allclose(turned[:, 2], wanted, atol=1e-9)
    # By the smallest angle: the y axis stays.
    assert np.allclose(turned_to(np.eye(3), np.array([0.6, 0.0, 0.8]))[:, 1], (0.0, 1.0, 0.0))
