"""The page as a whole, by a visitor who speaks viser's wire format."""

import asyncio
import http.client
import logging
import socket
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MissingExtraError, RobotError
from arcreach.ik.method import Method, Outcome, _methods, register
from arcreach.kernels.chain.layout import STALLED
from arcreach.studio import colours
from arcreach.studio.app import Studio
from arcreach.studio.opening import first_pose
from arcreach.studio.shelf import drawable, has_body
from arcreach.studio.wish import NO_METHOD, POSITION
from tests.studio.conftest import send_file, settle, slide, until, visitor

pytestmark = pytest.mark.usefixtures("fresh")


GOOD = b'name = "mine"\n[[elements]]\nkind = "section"\nlength = "50 mm"\nbend_max = "90 deg"\n'


def test_first_sight(studio):
    result = studio.answer.results[0]
    assert result.reached
    assert result.status == "reached"
    assert len(studio.scene) == 1
    assert np.allclose(studio.stage.target_pose, studio.desk.wish.pose)
    assert np.allclose(studio.desk.wish.robot.tip_pose(studio.q)[:3, 3], studio.stage.target_pose[:3, 3], atol=1e-6)
    assert studio.url == f"http://127.0.0.1:{studio.port}"


def test_dragged_and_followed(studio):
    robot = studio.desk.wish.robot
    with visitor(studio) as client:
        goal = robot.tip_pose(robot.clip(studio.q * 0.9))
        from arcreach.studio.rotations import quaternion

        client.drag("/target", tuple(studio.stage.scale * goal[:3, 3]), tuple(quaternion(goal[:3, :3])))
        until(lambda: np.allclose(studio.answer.wish.pose, goal, atol=1e-9) and studio.desk.settled)
    tip = robot.tip_pose(studio.q)
    assert np.allclose(tip[:3, 3], goal[:3, 3], atol=2e-6)
    assert tip[:3, 2] @ goal[:3, 2] == pytest.approx(1.0, abs=1e-6)
    assert studio.answer.results[0].status == "reached"


@pytest.mark.compiled
def test_dragged_out_of_reach(studio):
    studio.change(aim=POSITION)
    with visitor(studio) as client:
        client.drag("/target", (0.0, 0.0, 1.5))
        until(lambda: studio.answer.results[0].status.startswith("out of reach"))
    short = 0.5 * studio.desk.wish.robot.reach * 1e3
    assert studio.answer.results[0].status == f"out of reach, {short:.0f} mm short"
    # As far as it goes, towards the target.
    assert studio.desk.wish.robot.tip_pose(studio.q)[2, 3] > 0.95 * studio.desk.wish.robot.reach


def test_a_slider_sets_the_pose_and_takes_the_target_along(studio):
    with visitor(studio) as client:
        slide(client, studio.sliders.handles[0], 12.5)
        until(lambda: studio.q[0] == pytest.approx(np.radians(12.5)))
        settle(studio)
    assert studio.answer.results[0].status == "set by hand"
    assert np.allclose(studio.stage.target_pose, studio.desk.wish.robot.tip_pose(studio.q), atol=1e-9)


def test_a_slider_shows_what_was_solved(studio):
    robot = studio.desk.wish.robot
    goal = robot.tip_pose(np.array([0.3, 0.2, 0.4, -0.5, 0.6, 1.0]))
    studio.aim_at(goal)
    until(lambda: studio.answer.wish.pose is goal)
    settle(studio)
    shown = [handle.value for handle in studio.sliders.handles]
    assert np.allclose(np.radians(shown), studio.q, atol=np.radians(0.051))


def test_values_the_server_writes_are_no_wishes(studio):
    before = studio.desk.wish.revision
    studio.sliders.handles[0].value = 3.0
    studio.choices.method.value = "dls"
    time.sleep(0.1)
    assert studio.desk.wish.revision == before


def test_an_obstacle_turns_red_and_grey_again(studio):
    middle = studio.desk.wish.robot.backbone(studio.q, 11)[6]
    studio.pose(studio.q)
    settle(studio)
    with visitor(studio) as client:
        for axis in range(3):
            slide(client, studio.obstacles_tab.places[axis], 1e3 * float(middle[axis]))
        until(lambda: studio.stage.red == {0})
        assert tuple(studio.stage.obstacles[0].color) == colours.VERMILION
        assert studio.answer.results[0].clearance < 0.0
        slide(client, studio.obstacles_tab.places[0], -100.0)
        until(lambda: not studio.stage.red)
        assert tuple(studio.stage.obstacles[0].color) == colours.OBSTACLE


def test_obstacles_are_added_sized_and_removed(studio):
    with visitor(studio) as client:
        for kind in ("block", "bar", "ball"):
            client.send(
                type="GuiUpdateMessage", uuid=studio.obstacles_tab.add._impl.uuid, updates={"value": kind}
            )  # fmt: skip
            until(lambda kind=kind: studio.scene.shape_names[-1].startswith(kind))
            settle(studio)
        assert len(studio.stage.obstacles) == 4
        assert studio.obstacles_tab.choice.value == "ball 2"
        slide(client, studio.obstacles_tab.size, 5.0)
        until(lambda: studio.scene[3].radius == pytest.approx(0.005))
        slide(client, studio.obstacles_tab.choice, "block 1")
        until(lambda: studio.obstacles_tab.chosen == 1)
        slide(client, studio.obstacles_tab.remove, True)
        until(lambda: len(studio.scene) == 3)
        settle(studio)
    assert [name.split()[0] for name in studio.scene.shape_names] == ["ball", "bar", "ball"]
    assert len(studio.stage.obstacles) == 3


def drag(handle, *moves):
    """The events of a visitor who takes a thing at a point beside its centre and moves it."""
    (callback,) = (entry.callback for entry in handle._impl.drag_cb)
    taken = np.add(handle.position, (0.01, 0.0, 0.0))
    places = [taken, *(taken + np.asarray(move) for move in moves), taken + np.asarray(moves[-1])]
    for phase, place in zip(["start", *["update"] * len(moves), "end"], places, strict=True):
        asyncio.run(callback(SimpleNamespace(phase=phase, client_id=7, start_position=taken, end_position=place)))


def test_an_obstacle_is_dragged(studio):
    centre = np.array(studio.scene[0].centre)
    drag(studio.stage.obstacles[0], (0.2, 0.0, 0.0), (0.5, 0.0, 0.0))
    settle(studio)
    moved = np.array(studio.scene[0].centre) - centre
    assert np.allclose(moved, [0.5 * studio.desk.wish.robot.reach, 0.0, 0.0])


def test_the_ball_of_the_target_is_dragged(studio):
    before = studio.stage.target_pose[:3, 3]
    place = np.asarray(studio.stage.target.position)
    (callback,) = (entry.callback for entry in studio.stage.ball._impl.drag_cb)
    for phase, end in (("start", place), ("update", np.add(place, (0.0, 0.0, -0.1))), ("end", place)):
        asyncio.run(callback(SimpleNamespace(phase=phase, client_id=7, start_position=place, end_position=end)))
    settle(studio)
    moved = studio.desk.wish.pose[:3, 3] - before
    assert np.allclose(moved, [0.0, 0.0, -0.1 * studio.desk.wish.robot.reach])
    # Without a beginning there is nothing in the hand.
    late = SimpleNamespace(phase="update", client_id=8, start_position=place, end_position=place + 1.0)
    asyncio.run(callback(late))
    assert np.allclose(studio.desk.wish.pose[:3, 3] - before, moved)


def test_methods_are_compared_on_the_same_target(studio):
    with visitor(studio) as client:
        slide(client, studio.choices.method, "dls")
        slide(client, studio.choices.compared, "jacobian")
        until(lambda: [result.method for result in studio.answer.results] == ["dls", "jacobian"])
        settle(studio)
        assert all(mesh.visible for mesh in studio.stage.ghost._meshes)
        assert [label.text for label in studio.stage.labels] == ["dls", "jacobian"]
        slide(client, studio.choices.compared, NO_METHOD)
        until(lambda: len(studio.answer.results) == 1)
        settle(studio)
    assert not any(mesh.visible for mesh in studio.stage.ghost._meshes)


def test_only_methods_that_can_are_offered(studio):
    with visitor(studio) as client:
        slide(client, studio.choices.method, "fabrikc")
        until(lambda: studio.desk.wish.method == "fabrikc")
        slide(client, studio.choices.aim, POSITION)
        until(lambda: studio.desk.wish.aim == POSITION)
        settle(studio)
    assert "fabrikc" not in studio.choices.method.options
    assert (studio.desk.wish.method, studio.choices.method.value) == ("auto", "auto")
    assert studio.answer.results[0].reached


def test_iterations_are_replayed(studio):
    studio.change(method="dls", compared="jacobian-transpose", aim=POSITION)
    settle(studio)
    with visitor(studio) as client:
        slide(client, studio.trajectory.replay, True)
        until(lambda: studio.films.player.film is not None)
        film = studio.films.player.film
        assert len(film) > 1
        until(lambda: studio.films.player.moment > 0)
        slide(client, studio.trajectory.pause, True)
        until(lambda: not studio.films.player.playing)
        slide(client, studio.trajectory.moment, 0)
        until(lambda: np.array_equal(studio.q, film.q[0]))
        assert studio.answer.results[0].status.startswith("iteration 0 of ")
        assert np.array_equal(studio.answer.results[1].q, film.ghost[0])
        slide(client, studio.trajectory.close, True)
        until(lambda: studio.films.player.film is None)
    assert not studio.trajectory.close.visible


def test_another_robot(studio):
    with visitor(studio) as client:
        slide(client, studio.choices.robot, "ur5")
        until(lambda: studio.desk.wish.robot.name == "ur5")
        settle(studio)
    assert len(studio.sliders.handles) == 6
    assert "ccd" in studio.choices.method.options
    assert "fabrikc" not in studio.choices.method.options
    assert studio.stage.scale == pytest.approx(1.0 / studio.desk.wish.robot.reach)


def test_a_method_that_the_next_robot_does_not_know_is_left(studio):
    studio.choices.method.value = "fabrikc"
    studio.set_robot(ar.load_robot("ur5"))
    assert studio.choices.method.value == "auto"


def test_a_robot_file_is_loaded(studio):
    with visitor(studio) as client:
        send_file(client, studio.choices.upload, "mine.toml", GOOD)
        until(lambda: studio.desk.wish.robot.name == "mine")
        settle(studio)
        until(lambda: client.of_type("NotificationShowMessage"))
    assert studio.choices.robot.value == "mine"
    assert len(studio.sliders.handles) == 2
    studio.choose_robot("three-section")
    until(lambda: studio.desk.wish.robot.name == "three-section")
    studio.choose_robot("mine")
    until(lambda: studio.desk.wish.robot.name == "mine")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bad.toml", GOOD.replace(b"90 deg", b"-90 deg"), "bend_max"),
        ("zip.toml", b"PK\x03\x04....", "zip archive"),
        ("../../../tmp/x.toml", b"not toml at all", "x.toml: is not valid TOML"),
        ("<script>.toml", b"\xff\xff", "is not UTF-8"),
    ],
)
def test_a_bad_file_is_refused_and_the_page_goes_on(studio, name, content, said):
    before = studio.desk.wish.robot
    with visitor(studio) as client:
        send_file(client, studio.choices.upload, name, content)
        until(lambda: client.of_type("NotificationShowMessage"))
        assert said in str(client.of_type("NotificationShowMessage")[-1])
        slide(client, studio.sliders.handles[0], 20.0)
        until(lambda: studio.q[0] == pytest.approx(np.radians(20.0)))
    assert studio.desk.wish.robot is before


def test_a_robot_called_like_one_of_the_catalogue_does_not_replace_it(studio):
    with visitor(studio) as client:
        send_file(client, studio.choices.upload, "mine.toml", GOOD.replace(b"mine", b"ur5"))
        until(lambda: studio.desk.wish.robot.dof == 2)
    assert studio.choices.robot.value == "my robot"
    studio.choose_robot("ur5")
    until(lambda: studio.desk.wish.robot.dof == 6)


def slow(problem):
    time.sleep(10.0)
    outcome = Outcome.empty(problem)
    outcome.q[:], outcome.status[:], outcome.iterations[:], outcome.seconds[:] = problem.start, STALLED, 1, 10.0
    return outcome


@pytest.fixture
def slow_method():
    register(Method("slow", "sleeps", "derived", slow))
    yield "slow"
    del _methods["slow"]


def test_a_method_that_runs_ten_seconds_does_not_hold_up_the_sliders(slow_method):
    with Studio(port=0) as page:
        settle(page)
        page.change(method=slow_method)
        time.sleep(0.1)
        assert not page.desk.settled
        with visitor(page) as client:
            for value in (10.0, 20.0, 30.0):
                slide(client, page.sliders.handles[0], value)
                until(lambda value=value: page.q[0] == pytest.approx(np.radians(value)), 4.0)
            connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=4.0)
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
            connection.close()


def test_an_answer_that_comes_late_is_dropped(studio):
    from arcreach.studio.solving import answer

    stale = answer(studio.desk.change(q=np.zeros(6)), np.zeros(6))
    studio.pose(first_pose(studio.desk.wish.robot))
    settle(studio)
    shown = studio.answer
    studio.show(stale)
    assert studio.answer is shown


def test_two_visitors_see_the_same(studio):
    with visitor(studio) as one, visitor(studio) as other:
        slide(one, studio.sliders.handles[1], 77.0)
        uuid = studio.sliders.handles[1]._impl.uuid

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
    with visitor(studio) as client:
        slide(client, studio.sliders.handles[0], 31.0)
        until(lambda: studio.q[0] == pytest.approx(np.radians(31.0)))
        # As when a cable is pulled: no word of farewell.
        client._socket.socket.shutdown(socket.SHUT_RDWR)
    with visitor(studio) as client:
        until(lambda: client.of_type("MeshMessage"))
        slide(client, studio.sliders.handles[0], 32.0)
        until(lambda: studio.q[0] == pytest.approx(np.radians(32.0)))
        assert studio.desk.wish.robot.within_limits(studio.q)


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
            "type": "TransformControlsUpdateMessage", "name": "/target", "owner": "",
            "wxyz": [0.0, 0.0, 0.0, 0.0], "position": [float("nan"), 0.0, 1e300],
        },
        {"type": "NoSuchMessage"},
        {"type": "GuiUpdateMessage"},
    ],
)  # fmt: skip
def test_a_hostile_message_harms_nobody(studio, fields, caplog):
    inputs = {
        "{slider}": studio.sliders.handles[0], "{size}": studio.obstacles_tab.size, "{robot}": studio.choices.robot,
        "{method}": studio.choices.method, "{aim}": studio.choices.aim, "{scene}": studio.trajectory.scene,
    }  # fmt: skip
    fields = {**fields}
    if fields.get("uuid") in inputs:
        fields["uuid"] = inputs[fields["uuid"]]._impl.uuid
    with caplog.at_level(logging.CRITICAL), visitor(studio) as hostile:
        hostile.send(**fields)
        time.sleep(0.1)
    with visitor(studio) as client:
        slide(client, studio.sliders.handles[2], 22.0)
        until(lambda: studio.q[2] == pytest.approx(np.radians(22.0)))
    settle(studio)
    assert studio.desk.wish.robot.within_limits(studio.q)
    assert len(studio.sliders.handles[0]._impl.update_cb) == 1


def test_view_options(studio):
    studio.set_view(frames=True, workspace=True, tubes=False)
    until(lambda: studio.stage._workspace is not None and studio.stage._line is not None)
    assert studio.stage._frames.visible
    assert not any(mesh.visible for mesh in studio.stage.robot._meshes)
    studio.aim_at(studio.desk.wish.robot.tip_pose(studio.q * 0.95))
    settle(studio)
    studio.set_view(frames=False, workspace=False, tubes=True)
    until(lambda: studio.stage._workspace is None)
    settle(studio)
    until(lambda: all(mesh.visible for mesh in studio.stage.robot._meshes))


def test_a_scene_is_kept_for_every_robot():
    scene = ar.Scene([ar.Box((0.02, 0.02, 0.02), (0.1, 0.0, 0.0)), ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -0.1))])
    with Studio(ar.load_robot("two-section"), scene, port=0) as page:
        assert page.scene == scene
        assert len(page.stage.obstacles) == 2
        page.set_robot(ar.load_robot("three-section"))
        assert page.scene == scene


def test_a_failure_of_an_errand_is_logged(studio, caplog):
    done = threading.Event()

    def fail():
        try:
            raise RuntimeError("no luck")
        finally:
            done.set()

    studio.errand(fail)
    assert done.wait(5.0)
    until(lambda: "no luck" in caplog.text)


def test_what_an_errand_refuses_is_told_or_logged(studio, monkeypatch, caplog):
    def refuse(*_):
        raise RobotError("robot = 7 is not accepted")

    monkeypatch.setattr(studio, "set_robot", refuse)
    studio.choose_robot("ur5")
    until(lambda: "robot = 7 is not accepted" in caplog.text, 10.0)
    caplog.clear()
    with visitor(studio) as client:
        slide(client, studio.choices.robot, "ur5")
        until(lambda: "robot = 7 is not accepted" in str(client.of_type("NotificationShowMessage")), 10.0)
        assert "robot = 7" not in caplog.text
        monkeypatch.setattr(studio, "_set_view", refuse)
        count = len(client.of_type("NotificationShowMessage"))
        slide(client, studio.choices.view["frames"], True)
        until(lambda: len(client.of_type("NotificationShowMessage")) > count, 10.0)
    studio.choices.view["frames"].value = False


def test_a_robot_that_needs_another_package_is_left_out(monkeypatch):
    def missing(name):
        raise MissingExtraError("sympy", "symbolic", "a matrix")

    assert has_body("ur5")
    assert not has_body("librergm3-matrix")
    monkeypatch.setattr("arcreach.studio.shelf.catalogue_robot", missing)
    assert not has_body("librergm3-matrix")


def test_robots_without_a_body_or_a_joint():
    with pytest.raises(RobotError, match="no body"):
        drawable(ar.load_robot("librergm3-matrix"))
    with pytest.raises(RobotError, match="nothing to move"):
        drawable(ar.Robot([ar.Link((0.0, 0.0, 1.0))], name="stick"))
