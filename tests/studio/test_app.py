"""The page as a whole, with a client that speaks viser's wire format."""

import asyncio
import contextlib
import http.client
import logging
import socket
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from viser.transforms import SO3
from websockets.exceptions import ConnectionClosed

import arcreach as ar
from arcreach.errors import TargetError
from arcreach.ik.method import Method, Outcome, register, unregister
from arcreach.kernels.chain.layout import STALLED
from arcreach.robots.initial import initial_pose
from arcreach.studio.app import Studio
from arcreach.studio.state.answer import solve_request
from arcreach.studio.state.request import POSITION
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of


def test_the_first_view(studio):
    result = studio.answer.results[0]
    assert result.reached
    assert result.status == "reached"
    assert len(studio.scene) == 1
    assert np.allclose(studio.stage.target.pose, studio.state.request.pose)
    assert np.allclose(studio.state.request.robot.tip_pose(studio.q)[:3, 3], studio.stage.target.pose[:3, 3], atol=1e-6)
    assert studio.url == f"http://127.0.0.1:{studio.port}"


def test_the_robot_follows_a_drag(studio):
    robot = studio.state.request.robot
    with client_of(studio) as client:
        goal = robot.tip_pose(robot.clip(studio.q * 0.9))
        client.drag("/target", studio.stage.scale * goal[:3, 3], SO3.from_matrix(goal[:3, :3]).wxyz)
        until(lambda: np.allclose(studio.answer.request.pose, goal, atol=1e-9) and studio.state.settled)
    tip = robot.tip_pose(studio.q)
    assert np.allclose(tip[:3, 3], goal[:3, 3], atol=2e-6)
    assert tip[:3, 2] @ goal[:3, 2] == pytest.approx(1.0, abs=1e-6)
    assert studio.answer.results[0].status == "reached"


@pytest.mark.compiled
def test_a_drag_out_of_reach(studio):
    studio.change(aim=POSITION)
    with client_of(studio) as client:
        client.drag("/target", (0.0, 0.0, 1.5))
        until(lambda: studio.answer.results[0].status.startswith("out of reach"))
    short = 0.5 * studio.state.request.robot.reach * 1e3
    assert studio.answer.results[0].status == f"out of reach, {short:.0f} mm short"
    # The robot is stretched towards the target.
    assert studio.state.request.robot.tip_pose(studio.q)[2, 3] > 0.95 * studio.state.request.robot.reach


def test_the_ball_of_the_target_is_dragged(studio):
    before = studio.stage.target.pose[:3, 3]
    place = np.asarray(studio.stage.target.handle.position)
    (callback,) = (entry.callback for entry in studio.stage.target.ball._impl.drag_cb)
    for phase, end in (("start", place), ("update", np.add(place, (0.0, 0.0, -0.1))), ("end", place)):
        asyncio.run(callback(SimpleNamespace(phase=phase, client_id=7, start_position=place, end_position=end)))
    settle(studio)
    moved = studio.state.request.pose[:3, 3] - before
    assert np.allclose(moved, [0.0, 0.0, -0.1 * studio.state.request.robot.reach])
    # A drag without a start moves nothing.
    late = SimpleNamespace(phase="update", client_id=8, start_position=place, end_position=place + 1.0)
    asyncio.run(callback(late))
    assert np.allclose(studio.state.request.pose[:3, 3] - before, moved)


def test_a_slow_method_does_not_delay_the_sliders_or_the_page():
    started, finish = threading.Event(), threading.Event()

    def slow(problem):
        started.set()
        finish.wait()
        outcome = Outcome.empty(problem)
        outcome.q[:], outcome.status[:], outcome.iterations[:], outcome.seconds[:] = problem.start, STALLED, 1, 10.0
        return outcome

    register(Method("slow", "waits", "derived", slow))
    try:
        with Studio(port=0) as studio:
            settle(studio)
            studio.change(method="slow")
            assert started.wait(60.0)
            assert not studio.state.settled
            # The method runs until `finish` is set, however long the following takes.
            with client_of(studio) as client:
                for value in (10.0, 20.0, 30.0):
                    client.set(studio.panels.sliders.handles[0], value)
                    until(lambda value=value: studio.q[0] == pytest.approx(np.radians(value)))
                connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60.0)
                connection.request("GET", "/")
                assert connection.getresponse().status == 200
                connection.close()
            finish.set()
    finally:
        finish.set()
        unregister("slow")


def test_a_late_answer_is_dropped(studio):
    stale = solve_request(studio.state.change(q=np.zeros(6)), np.zeros(6))
    studio.pose(initial_pose(studio.state.request.robot))
    settle(studio)
    shown = studio.answer
    studio._show(stale)
    assert studio.answer is shown


def test_two_clients_see_the_same(studio):
    with client_of(studio) as one, client_of(studio) as other:
        one.set(studio.panels.sliders.handles[1], 77.0)
        uuid = studio.panels.sliders.handles[1]._impl.uuid

        def told():
            return any(
                message["uuid"] == uuid and message["updates"].get("value") == 77.0
                for message in other.of_type("GuiUpdateMessage")
            )

        until(told)
        other.drag("/target", (0.2, 0.1, 0.8))
        until(lambda: any(m["name"] == "/target" for m in one.of_type("SetPositionMessage")))
        assert told()


def test_a_connection_that_is_cut_changes_nothing(studio):
    with client_of(studio) as client:
        client.set(studio.panels.sliders.handles[0], 31.0)
        until(lambda: studio.q[0] == pytest.approx(np.radians(31.0)))
        # As when a cable is pulled: without a closing message.
        client.socket.socket.shutdown(socket.SHUT_RDWR)
    with client_of(studio) as client:
        until(lambda: client.of_type("MeshMessage"))
        client.set(studio.panels.sliders.handles[0], 32.0)
        until(lambda: studio.q[0] == pytest.approx(np.radians(32.0)))
        assert studio.state.request.robot.within_limits(studio.q)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "GuiUpdateMessage", "uuid": "nobody", "updates": {"value": 1.0}},
        {"type": "GuiUpdateMessage", "uuid": "{slider}", "updates": {"value": float("nan")}},
        {"type": "GuiUpdateMessage", "uuid": "{slider}", "updates": {"value": 1e300}},
        {"type": "GuiUpdateMessage", "uuid": "{slider}", "updates": {"update_cb": []}},
        {"type": "GuiUpdateMessage", "uuid": "{size}", "updates": {"value": -5.0}},
        {"type": "GuiUpdateMessage", "uuid": "{robot}", "updates": {"value": "../../etc/passwd"}},
        {"type": "GuiUpdateMessage", "uuid": "{method}", "updates": {"value": "no such method"}},
        {"type": "GuiUpdateMessage", "uuid": "{aim}", "updates": {"value": "the moon"}},
        {"type": "GuiUpdateMessage", "uuid": "{scene}", "updates": {"value": "../../etc/passwd"}},
        {
            "type": "TransformControlsUpdateMessage",
            "name": "/target",
            "owner": "",
            "wxyz": [0.0, 0.0, 0.0, 0.0],
            "position": [float("nan"), 0.0, 1e300],
        },
        {"type": "NoSuchMessage"},
        {"type": "GuiUpdateMessage"},
    ],
)
def test_a_hostile_message_harms_nobody(studio, fields, caplog):
    panels = studio.panels
    inputs = {
        "{slider}": panels.sliders.handles[0],
        "{size}": panels.obstacles.size,
        "{robot}": panels.robot.name,
        "{method}": panels.method.method,
        "{aim}": panels.target.aim,
        "{scene}": panels.trajectory.scene,
    }
    fields = {**fields}
    if fields.get("uuid") in inputs:
        fields["uuid"] = inputs[fields["uuid"]]._impl.uuid
    with caplog.at_level(logging.CRITICAL), client_of(studio) as hostile:
        hostile.send(**fields)
        # Messages of one client arrive in their order; a bad one may also have ended the connection.
        with contextlib.suppress(ConnectionError, ConnectionClosed):
            hostile.set(panels.sliders.handles[4], 11.0)
    with client_of(studio) as client:
        client.set(panels.sliders.handles[2], 22.0)
        until(lambda: studio.q[2] == pytest.approx(np.radians(22.0)))
    settle(studio)
    assert studio.state.request.robot.within_limits(studio.q)
    assert len(studio.panels.sliders.handles[0]._impl.update_cb) == 1


def test_view_options(studio):
    studio.set_view(frames=True, workspace=True, tubes=False)
    assert studio.stage.workspace is not None
    assert studio.stage.backbone.visible
    assert studio.stage.frames.visible
    assert not studio.stage.robot.visible
    studio.aim_at(studio.state.request.robot.tip_pose(studio.q * 0.95))
    settle(studio)
    studio.set_view(frames=False, workspace=False, tubes=True)
    assert studio.stage.workspace is None
    assert not studio.stage.backbone.visible
    assert studio.stage.robot.visible


def test_the_reach_map_is_shown_for_one_robot(studio, instantly):
    instantly((np.array([[0.0, 0.0, 0.1], [0.02, 0.0, 0.08]]), np.array([1.0, 0.25])))
    studio.set_view(reach=True)
    until(lambda: studio.stage.reach is not None)
    drawn = studio.stage.reach
    np.testing.assert_allclose(drawn.points[1], studio.stage.scale * np.array([0.02, 0.0, 0.08]), rtol=1e-3)
    # Darker where more directions are reached.
    assert drawn.colors[0].sum() < drawn.colors[1].sum()
    studio.set_view(reach=False)
    assert studio.stage.reach is None
    studio.set_view(reach=True)
    until(lambda: studio.stage.reach is not None)
    studio.set_robot(ar.load_robot("two-section"))
    assert studio.stage.reach is None
    assert not studio.panels.view.boxes["reach"].value


def test_changes_from_python_are_shown_by_the_inputs(studio):
    port = ar.Port(tuple(studio.state.request.robot.backbone(studio.q, 3)[1]), radius=0.01)
    studio.change(method="dls", compared="jacobian", avoid=False, port=port, held=frozenset({1}))
    panels = studio.panels
    assert (panels.method.method.value, panels.method.compared.value) == ("dls", "jacobian")
    assert not panels.obstacles.avoid.value
    assert panels.jog.entry.value
    np.testing.assert_allclose(panels.jog.point.value, 1e3 * np.array(port.point), atol=1e-3)
    assert [k for k, box in panels.jog.boxes.items() if box.value] == [1]
    # The method stays where it accepts the aim.
    studio.set_aim(POSITION)
    assert panels.target.aim.value == POSITION
    assert studio.state.request.method == "dls"


def test_an_aim_that_does_not_exist(studio):
    with pytest.raises(TargetError, match="aim = 'the moon'"):
        studio.set_aim("the moon")


def test_a_scene_is_kept_for_every_robot():
    scene = ar.Scene([ar.Box((0.02, 0.02, 0.02), (0.1, 0.0, 0.0)), ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -0.1))])
    with Studio(ar.load_robot("two-section"), scene, port=0) as page:
        assert page.scene == scene
        assert len(page.stage.obstacles.handles) == 2
        page.set_robot(ar.load_robot("three-section"))
        assert page.scene == scene
