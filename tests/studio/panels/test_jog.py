"""The Jog tab: a page holds an axis, and the robot moves; motions are recorded, played and saved."""

import json
import time

import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import arcreach as ar
from arcreach.planning.motion.path_csv import parse_path
from arcreach.studio.player.jogging import PERIOD
from arcreach.studio.state.request import POSITION


def operator(studio):
    """Connect as the script of the page does."""
    return connect(f"ws://127.0.0.1:{studio.port}/jog", close_timeout=0.2)


def tip(studio):
    return studio.state.request.robot.tip_pose(studio.q)


def test_a_tap_is_a_step_and_holding_moves_on(studio):
    before = tip(studio)
    with operator(studio) as page:
        page.send(json.dumps({"step": [0, 0, 1, 0, 0, 0]}))
        until(lambda: tip(studio)[2, 3] > before[2, 3] + 1e-4)
        settle(studio)
        step = (tip(studio) - before)[:3, 3]
        assert np.allclose(step, [0.0, 0.0, 1e-3 * studio.panels.jog.step.value[0]], atol=1e-6)

        def moved_on():
            page.send(json.dumps({"held": [0, 0, 0.5, 0, 0, 0]}))
            return tip(studio)[2, 3] > before[2, 3] + 4e-3 and " Hz" in studio.panels.jog.text.content

        until(moved_on)
        page.send(json.dumps({"held": [0] * 6}))
        until(lambda: studio.jogging.rate == 0.0)
    settle(studio)
    moved = (tip(studio) - before)[:3, 3] - step
    assert moved[2] > 2e-3
    assert abs(moved[:2]).max() < 0.1 * moved[2]
    # The target follows, and one undo brings all of it back.
    assert np.allclose(studio.stage.target.pose, tip(studio))
    studio.undo()
    settle(studio)
    assert np.allclose(tip(studio)[:3, 3], before[:3, 3], atol=1e-5)


def test_the_speed_limit_is_kept(studio):
    with client_of(studio) as client, operator(studio) as page:
        client.set(studio.panels.jog.speed, [10.0, 0.0])
        client.set(studio.panels.jog.frame, "tool")
        until(lambda: studio.jogging.settings.frame == "tool")
        before, began = tip(studio), time.monotonic()
        while time.monotonic() < began + 0.4:
            page.send(json.dumps({"held": [0, 0, -1, 1, 1, 1]}))
            time.sleep(0.03)
        page.send(json.dumps({}))
        until(lambda: studio.jogging.rate == 0.0)
        lasted = time.monotonic() - began
    settle(studio)
    way = before[:3, :3].T @ (tip(studio) - before)[:3, 3]
    assert way[2] < -1e-4
    # Ten millimetres per second, along the tool; the speed of turns is zero.
    assert np.linalg.norm(way) < 0.0102 * lasted
    assert studio.panels.jog.frame.value == "tool"


def test_a_held_joint_stays_and_another_robot_has_none(studio):
    studio.set_robot(ar.load_robot("ur5"))
    settle(studio)
    q = studio.q.copy()
    tab = studio.panels.jog
    with client_of(studio) as client, operator(studio) as page:
        client.set(tab.boxes[0], True)
        until(lambda: studio.state.request.held == {0})
        page.send(json.dumps({"step": [0, 0, -1, 0, 0, 0]}))
        until(lambda: not np.array_equal(studio.q, q))
        until(lambda: studio.jogging.rate == 0.0)
        settle(studio)
    assert studio.q[0] == q[0]
    assert not np.array_equal(studio.q[1:], q[1:])
    # A solve of the target holds it too; five joints do not reach every axis.
    studio.change(aim=POSITION)
    pose = tip(studio)
    pose[2, 3] -= 0.05
    studio.aim_at(pose)
    until(lambda: np.allclose(tip(studio)[:3, 3], pose[:3, 3], atol=2e-6))
    assert studio.q[0] == q[0]
    studio.set_robot(ar.load_robot("two-section"))
    assert studio.state.request.held == frozenset()
    assert len(tab.boxes) == studio.state.request.robot.dof


def test_the_body_keeps_the_entry_point(studio):
    tab, robot = studio.panels.jog, studio.state.request.robot
    studio.change(aim=POSITION)
    settle(studio)
    with client_of(studio) as client, operator(studio) as page:
        client.set(tab.entry, True)
        until(lambda: studio.state.request.port is not None)
        settle(studio)
        assert tab.point.visible
        client.set(tab.radius, 1.0)
        until(lambda: studio.state.request.port.radius == 1e-3)
        settle(studio)
        port = studio.state.request.port
        assert np.allclose(port.point, robot.backbone(studio.q, 3)[1], atol=1e-5)
        assert studio.stage.port.handle is not None
        before = tip(studio)[:3, 3]
        for k in range(1, 5):
            page.send(json.dumps({"step": [0, -1, 0, 0, 0, 0]}))
            until(lambda k=k: tip(studio)[1, 3] < before[1] - 8e-4 * k)
        until(lambda: studio.jogging.rate == 0.0)
        settle(studio)
        assert port.passage(robot, studio.q).kept[0]
        # A drag passes it too.
        pose = tip(studio)
        pose[:3, 3] = before
        studio.aim_at(pose)
        until(lambda: np.allclose(tip(studio)[:3, 3], before, atol=2e-6))
        assert port.passage(robot, studio.q).kept[0]
        # At the tip nothing lets it go on.
        client.set(tab.point, (1e3 * before).tolist())
        until(lambda: np.allclose(studio.state.request.port.point, before))
        settle(studio)

        def stopped():
            page.send(json.dumps({"step": [1, 0, 0, 0, 0, 0]}))
            return "stopped" in tab.text.content

        until(stopped)
        until(lambda: studio.devices.next_step() is None)
        until(lambda: studio.jogging.rate == 0.0)
        settle(studio)
        assert studio.state.request.port.passage(robot, studio.q).kept[0]
        client.set(tab.radius, 0.0)
        until(lambda: any("radius" in props["body"] for props in client.notifications()))
    studio.undo()
    studio.set_robot(robot)
    assert studio.state.request.port is None
    assert not tab.entry.value
    assert studio.stage.port.handle is None


def test_undo_restores_the_entry_point_and_what_is_held(studio):
    port = ar.Port((0.01, 0.0, 0.05), radius=2e-3)
    studio.change(port=port, held=frozenset({2, 3}))
    studio.set_robot(ar.load_robot("ur5"))
    studio.undo()
    settle(studio)
    tab, request = studio.panels.jog, studio.state.request
    assert (request.port, request.held) == (port, {2, 3})
    assert [k for k, box in tab.boxes.items() if box.value] == [2, 3]
    assert (tab.entry.value, tab.point.value, tab.radius.value) == (True, (10.0, 0.0, 50.0), 2.0)


def test_record_play_and_save(studio):
    tab, robot = studio.panels.jog, studio.state.request.robot
    with client_of(studio) as client, operator(studio) as page:
        client.set(tab.motion, "Play")
        until(lambda: any("there is no recording" in props["body"] for props in client.notifications()))
        first = studio.q.copy()
        client.set(tab.motion, "Record")
        until(lambda: studio.jogging.recording)
        assert "Stop" in tab.motion.options
        began = time.monotonic()

        def moved_on():
            page.send(json.dumps({"held": [0, 0, -1, 0, 0, 0]}))
            return not np.array_equal(studio.jogging.recorded[-1:], first[None])

        until(moved_on)
        page.send(json.dumps({}))
        until(lambda: not studio.devices.axes().any())
        settle(studio)
        last = studio.q.copy()
        until(lambda: np.array_equal(studio.jogging.recorded[-1], last))
        client.set(tab.motion, "Stop")
        until(lambda: not studio.jogging.recording)
        recorded = studio.jogging.recorded
        assert np.array_equal(recorded[0], first)
        assert len(recorded) * PERIOD == pytest.approx(time.monotonic() - began, abs=1.0)
        client.set(tab.motion, "Save")
        until(lambda: client.of_type("FileTransferPart"))
        text = bytes(client.of_type("FileTransferPart")[0]["content"]).decode()
        assert np.array_equal(parse_path(text, "motion.csv", robot).q, recorded)
        client.set(tab.motion, "Play")
        until(lambda: studio.player.animation is not None and studio.player.frame > 0)
        assert studio.player.animation.rate == 1.0 / PERIOD
        until(lambda: not studio.player.playing)
        until(lambda: np.array_equal(studio.q, last))
    studio.player.close()


def test_a_message_that_is_not_understood_ends_the_connection(studio):
    before = studio.q
    with operator(studio) as page:
        page.send("anything")
        with pytest.raises(ConnectionClosed):
            page.recv(timeout=10.0)
    with pytest.raises(Exception, match="403"):
        connect(f"ws://127.0.0.1:{studio.port}/jog", additional_headers={"Origin": "http://evil.example"})
    assert studio.q is before
