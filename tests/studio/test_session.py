"""A visitor's session: type a target, take steps back, change robots and tips, load, save and play files."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError
from arcreach.ik.method import Method, Outcome, _methods, register
from arcreach.kernels.chain.layout import STALLED
from arcreach.studio import history, scenes
from arcreach.studio.app import Studio
from arcreach.studio.opening import first_pose
from arcreach.studio.safety import StudioError
from arcreach.studio.wish import AXIS, NO_METHOD, POSE, POSITION
from tests.studio.conftest import Instantly, send_file, settle, slide, until, visitor

pytestmark = pytest.mark.usefixtures("fresh")

FORK = b"""<robot name="fork"><link name="base"/><link name="arm"/><link name="left"/><link name="right"/>
<link name="eye"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<origin xyz="0 0 0.2"/><limit lower="-1" upper="1"/></joint>
<joint name="a" type="revolute"><parent link="arm"/><child link="left"/><axis xyz="0 1 0"/>
<origin xyz="0.3 0 0"/><limit lower="-1" upper="1"/></joint>
<joint name="b" type="revolute"><parent link="arm"/><child link="right"/><axis xyz="0 1 0"/>
<origin xyz="0.1 0 0.1"/><limit lower="-2" upper="2"/></joint>
<joint name="c" type="fixed"><parent link="right"/><child link="eye"/><origin xyz="0 0 0.1"/></joint></robot>"""
ONE_JOINT = b'name = "hinge"\n[[elements]]\nkind = "revolute"\n'


def told(client):
    return [message["props"] for message in client.of_type("NotificationShowMessage")]


def test_a_target_is_typed(studio):
    goal = studio.desk.wish.robot.tip_pose(studio.q * 0.9)
    with visitor(studio) as client:
        slide(client, studio.choices.target.position, [round(1e3 * float(x), 1) for x in goal[:3, 3]])
        slide(client, studio.choices.target.axis, goal[:3, 2].tolist())
        until(lambda: np.allclose(studio.answer.wish.pose[:3, 2], goal[:3, 2], atol=1e-6) and studio.desk.settled)
    assert np.allclose(studio.answer.wish.pose[:3, 3], goal[:3, 3], atol=6e-5)
    assert np.allclose(studio.stage.target_pose, studio.desk.wish.pose)
    assert studio.answer.results[0].status == "reached"


def test_the_numbers_follow_the_target_and_the_axis_stays_as_it_was_typed(studio):
    inputs = studio.choices.target
    studio.pose(studio.q * 0.5)
    settle(studio)
    assert np.allclose(inputs.position.value, 1e3 * studio.desk.wish.pose[:3, 3], atol=0.051)
    assert np.allclose(inputs.axis.value, studio.desk.wish.pose[:3, 2], atol=0.0051)
    with visitor(studio) as client:
        slide(client, inputs.axis, [0.0, 3.0, 3.0])
        until(lambda: studio.answer.wish.pose[1, 2] == pytest.approx(np.sqrt(0.5)))
        settle(studio)
        assert tuple(inputs.axis.value) == (0.0, 3.0, 3.0)
        slide(client, inputs.axis, [0.0, 0.0, 0.0])
        until(lambda: any("axis = (0, 0, 0)" in props["body"] for props in told(client)))
        slide(client, studio.choices.aim, POSITION)
        until(lambda: not inputs.axis.visible)
    assert not studio.stage.arrow.visible


def test_undo_goes_back_step_by_step(studio, monkeypatch):
    monkeypatch.setattr(history, "PAUSE", 0.0)
    robot, q, scene = studio.desk.wish.robot, studio.q.copy(), studio.scene
    studio.aim_at(robot.tip_pose(q * 0.8))
    settle(studio)
    reached, pose = studio.q.copy(), studio.desk.wish.pose
    studio.editor.add_obstacle("block")
    settle(studio)
    studio.set_aim(POSE)
    studio.change(compared="dls")
    settle(studio)
    studio.set_robot(ar.load_robot("ur5"))
    settle(studio)
    studio.history.undo()
    settle(studio)
    assert studio.desk.wish.robot is robot
    assert studio.choices.robot.value == "three-section"
    assert studio.choices.compared.value == "dls"
    assert len(studio.answer.results) == 2
    studio.history.undo()
    assert studio.choices.compared.value == studio.desk.wish.compared == NO_METHOD
    studio.history.undo()
    assert studio.choices.aim.value == studio.desk.wish.aim == AXIS
    assert len(studio.scene) == 2
    studio.history.undo()
    settle(studio)
    assert studio.scene == scene
    assert studio.own_scene is None
    assert np.array_equal(studio.desk.wish.pose, pose)
    assert np.allclose(studio.q, reached, atol=1e-9)
    studio.history.undo()
    settle(studio)
    assert np.allclose(studio.q, q, atol=1e-6)
    assert np.allclose(studio.stage.target_pose, robot.tip_pose(q), atol=1e-9)


def test_a_drag_is_one_step(studio):
    studio.history.note("before")
    count = len(studio.history)
    for share in np.linspace(1.0, 0.9, 20):
        studio.aim_at(studio.desk.wish.robot.tip_pose(studio.q * share))
    assert len(studio.history) == count + 1


def test_nothing_is_left_to_undo(studio):
    with visitor(studio) as client:
        while len(studio.history):
            studio.history.undo()
        settle(studio)
        slide(client, studio.choices.steps, "Undo")
        until(lambda: any("nothing to undo" in props["body"] for props in told(client)))
    with pytest.raises(StudioError, match="nothing to undo"):
        studio.history.undo()


def test_reset_is_the_first_sight_and_can_be_undone(studio):
    robot = studio.desk.wish.robot
    studio.editor.add_obstacle("bar")
    studio.change(compared="dls", avoid=False)
    studio.obstacles_tab.avoid.value = False
    studio.pose(robot.neutral)
    settle(studio)
    with visitor(studio) as client:
        slide(client, studio.choices.steps, "Reset")
        until(lambda: len(studio.scene) == 1)
        settle(studio)
    wish = studio.desk.wish
    assert np.allclose(studio.q, first_pose(robot), atol=1e-6)
    assert (wish.aim, wish.method, wish.compared, wish.avoid) == (AXIS, "auto", NO_METHOD, True)
    assert studio.obstacles_tab.avoid.value
    studio.history.undo()
    settle(studio)
    assert len(studio.scene) == 2
    assert not studio.desk.wish.avoid
    assert np.allclose(studio.q, robot.neutral)


def test_own_obstacles_stay_when_the_robot_changes_and_the_page_says_so(studio):
    first = studio.scene
    studio.set_robot(ar.load_robot("two-section"))
    assert studio.scene != first
    studio.editor.add_obstacle("ball")
    own = studio.scene
    settle(studio)
    with visitor(studio) as client:
        slide(client, studio.choices.robot, "ur5")
        until(lambda: studio.desk.wish.robot.name == "ur5")
        until(lambda: any("keeps its 2 obstacles" in props["body"] for props in told(client)))
    assert studio.scene == own


def test_what_was_said_of_the_last_robot_is_gone(studio, monkeypatch):
    work = Instantly("no path: walls", good=False)
    monkeypatch.setattr(studio.films, "background", work)
    with visitor(studio) as client:
        studio.films.plan()
        until(lambda: "no path: walls" in studio.trajectory.text.content)
        send_file(client, studio.choices.upload, "bad.toml", b"nonsense")
        until(lambda: told(client))
        studio.choose_robot("ur5")
        until(lambda: studio.desk.wish.robot.name == "ur5")
        until(lambda: client.of_type("RemoveNotificationMessage"))
        shown, removed = (
            client.of_type(kind)[0]["uuid"] for kind in ("NotificationShowMessage", "RemoveNotificationMessage")
        )
    assert shown == removed
    assert studio.trajectory.text.content == ""
    studio.films.mark_start()
    assert "begins here" in studio.trajectory.text.content
    studio.set_robot(ar.load_robot("three-section"))
    assert studio.trajectory.text.content == ""
    assert not studio.trajectory.cancel.visible


def test_the_tip_of_a_forked_robot_is_chosen_on_the_page(studio):
    with visitor(studio) as client:
        assert not studio.choices.tip.visible
        send_file(client, studio.choices.upload, "fork.urdf", FORK)
        until(lambda: studio.desk.wish.robot.name == "fork")
        settle(studio)
        tip = studio.choices.tip
        assert tip.visible
        # Ends of the chain first; the arm itself can be one too.
        assert tuple(tip.options) == ("left", "eye", "right", "arm")
        assert tip.value == "left"
        until(lambda: any("its tip is left" in props["body"] for props in told(client)))
        slide(client, tip, "eye")
        until(lambda: studio.desk.wish.robot.coordinates == ("turn", "b"))
        settle(studio)
        assert (studio.choices.robot.value, tip.value, tip.visible) == ("fork", "eye", True)
        studio.history.undo()
        settle(studio)
        assert studio.desk.wish.robot.coordinates == ("turn", "a")
        assert tip.value == "left"
        slide(client, studio.choices.robot, "ur5")
        until(lambda: not tip.visible)
    with pytest.raises(FileError, match="tip = 'moon' is no link"):
        studio.shelf.set_tip("fork", "moon")


def test_a_robot_of_one_joint(studio):
    with visitor(studio) as client:
        send_file(client, studio.choices.upload, "hinge.toml", ONE_JOINT)
        until(lambda: told(client))
        assert "reach of 0 m; give it a link" in told(client)[-1]["body"]
        slide_file = ONE_JOINT.replace(b"revolute", b"prismatic") + b'lower = 0.0\nupper = "50 mm"\n'
        send_file(client, studio.choices.upload, "slide.toml", slide_file.replace(b"hinge", b"slide"))
        until(lambda: studio.desk.wish.robot.name == "slide", 20.0)
        settle(studio)
    assert len(studio.sliders.handles) == 1


def test_a_robot_too_large_for_the_page_is_refused(studio):
    joints = b"".join(
        b'[[elements]]\nkind = "revolute"\n[[elements]]\nkind = "link"\ntranslation = [0, 0, 1]\n' for _ in range(101)
    )
    with visitor(studio) as client:
        send_file(client, studio.choices.upload, "long.toml", b'name = "long"\n' + joints)
        until(lambda: told(client), 30.0)
        assert "101 coordinates" in told(client)[-1]["body"]
    assert studio.choices.robot.value == studio.name == "three-section"


def test_what_fails_unforeseen_is_told_and_logged(studio, monkeypatch, caplog):
    def fail(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr("arcreach.studio.shelf.robot_of_upload", fail)
    with visitor(studio) as client:
        send_file(client, studio.choices.upload, "deep.toml", b"a")
        until(lambda: told(client))
        assert told(client)[-1]["body"] == "RecursionError: too deep"
        until(lambda: "too deep" in caplog.text)
        monkeypatch.setattr(studio, "_slid", fail)
        monkeypatch.setattr(studio.sliders, "_moved", fail)
        slide(client, studio.sliders.handles[0], 1.0)
        until(lambda: len(told(client)) == 2)


def refuse(problem):
    raise ar.MethodError("refusing serves no target")


def test_a_method_that_refuses_shows_no_ghost(studio):
    register(Method("refusing", "refuses", "derived", refuse))
    try:
        studio.change(compared="refusing")
        settle(studio)
        assert "serves no target" in studio.answer.results[1].status
        assert not any(mesh.visible for mesh in studio.stage.ghost._meshes)
        assert not any(label.visible for label in studio.stage.labels)
    finally:
        del _methods["refusing"]
        studio.change(compared=NO_METHOD)


def slow(problem):
    """Better at the second look, which has more time."""
    budget = problem.max_time
    outcome = Outcome.empty(problem)
    q = first_pose(problem.robot) * (0.5 if budget < 0.1 else 0.9)
    outcome.q[:], outcome.status[:], outcome.iterations[:], outcome.seconds[:] = q, STALLED, 3, budget
    return outcome


def test_the_chart_shows_what_the_table_says(studio):
    register(Method("slow", "is better at the second look", "derived", slow))
    try:
        studio.change(method="slow")
        settle(studio)
        until(lambda: studio.answer.results[0].seconds > 0.1, 20.0)
        time.sleep(0.1)
        result = studio.answer.results[0]
        assert studio.chart.last == (1e3 * result.position_error, 1e3 * result.seconds)
    finally:
        del _methods["slow"]
        studio.change(method="auto")


def test_a_scene_is_saved_and_loaded(studio, tmp_path):
    for kind in ("block", "bar"):
        studio.editor.add_obstacle(kind)
    own = studio.scene
    with visitor(studio) as client:
        slide(client, studio.obstacles_tab.save, True)
        until(lambda: client.of_type("FileTransferPart"))
        content = b"".join(part["content"] for part in client.of_type("FileTransferPart"))
        (tmp_path / "scene.toml").write_bytes(content)
        assert ar.load_scene(tmp_path / "scene.toml") == own
        studio.history.reset()
        assert studio.scene != own
        send_file(client, studio.obstacles_tab.upload, "scene.toml", content)
        until(lambda: studio.scene == own)
        until(lambda: any("3 obstacles" in props["body"] for props in told(client)))
        slide(client, studio.obstacles_tab.scene, "clutter-20")
        until(lambda: len(studio.scene) == 20)
        until(lambda: studio.obstacles_tab.scene.value == "choose …")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'[[obstacles]]\nkind = "mesh"\npath = "/etc/passwd"\n',
            "obstacles[0].path = '/etc/passwd' is not accepted on the page",
        ),
        (b'[[obstacles]]\nkind = "sphere"\ncentre = [0, 0, 1]\nradius = -1\n', "radius"),
        (b'[[obstacles]]\nkind = "sphere"\ncentre = [0, 0, 1]\nradius = 1\n' * 301, "at most 300"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_bad_scene_is_refused(studio, content, said):
    before = studio.scene
    with visitor(studio) as client:
        send_file(client, studio.obstacles_tab.upload, "scene.toml", content)
        until(lambda: told(client))
        assert said in told(client)[-1]["body"]
    assert studio.scene is before


def test_scenes_of_the_catalogue():
    assert "clutter-20" in scenes.offered()
    with pytest.raises(FileError, match="is no scene of the catalogue"):
        scenes.of_catalogue("/etc/passwd")
    far = ar.Scene([ar.Sphere((9.0, 0.0, 0.0), 0.1), ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -9.0))])
    assert scenes.described(far, 1.0) == "the scene: 2 obstacles, 1 of them out of the robot's reach of 1000 mm"


def test_a_path_file_is_played(studio, tmp_path):
    robot = studio.desk.wish.robot
    Q = np.linspace(robot.neutral, studio.q, 40)
    Q[-1, 0] = robot.upper[0] + 0.5
    names = ",".join(robot.coordinates)
    rows = "\n".join(",".join(map(repr, row.tolist())) for row in Q)
    with visitor(studio) as client:
        send_file(client, studio.trajectory.upload, "my path.csv", f"{names}\n{rows}\n".encode())
        until(lambda: studio.films.player.film is not None)
        film = studio.films.player.film
        assert np.array_equal(film.q, Q)
        assert film.title == "my path.csv"
        assert "40 points" in film.text
        assert "1 point outside the limits" in film.text
        until(lambda: studio.films.player.moment > 1)
        studio.films.pause()
        send_file(client, studio.trajectory.upload, "other.csv", b"a,b\n1,2\n")
        until(lambda: told(client))
        assert "other.csv: its first line lacks the coordinate" in told(client)[-1]["body"]


def test_a_path_as_the_library_writes_it_is_played(studio, tmp_path):
    robot = studio.desk.wish.robot
    points = robot.tip_pose(np.linspace(studio.q * 0.9, studio.q, 5))[:, :3, 3]
    path = ar.follow(robot, points, start=studio.q * 0.9)
    path.to_csv(tmp_path / "path.csv")
    with visitor(studio) as client:
        send_file(client, studio.trajectory.upload, "path.csv", Path(tmp_path / "path.csv").read_bytes())
        until(lambda: studio.films.player.film is not None)
    assert np.allclose(studio.films.player.film.q, path.q)


def test_the_saved_page_carries_target_name_and_numbers(studio):
    studio.change(compared="dls")
    settle(studio)
    page = studio.as_html()
    x, y, z = 1e3 * studio.desk.wish.pose[:3, 3]
    assert "<title>three-section – arcreach studio</title>" in page
    caption = page[page.index('data-arcreach="caption"') :]
    for text in (
        "<b>three-section</b>",
        f"target {x:.1f}, {y:.1f}, {z:.1f} mm",
        "1 obstacle",
        "auto: reached",
        "dls",
        "clearance",
    ):
        assert text in caption
    names = {message["name"] for message in scene_messages(studio)}
    # Gone again from the page itself.
    assert not any(name.startswith("/saved-target") for name in names)
    assert studio.stage.target.visible


def scene_messages(studio):
    with visitor(studio) as client:
        until(lambda: client.of_type("MeshMessage"))
        time.sleep(0.2)
        return [
            message for message in client.messages if "name" in message and message["type"] != "RemoveSceneNodeMessage"
        ]


def test_a_button_whose_package_is_missing_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "ompl", None)
    with Studio(port=0) as page:
        tab = page.trajectory
        assert tab.plan.disabled
        assert "arcreach[plan]" in tab.plan.hint
        said = [handle.content for handle in html_of(page) if "missing" in handle.content]
        assert said
        assert "planning a motion needs ompl" in said[0]
        # Also after other work.
        tab.show_work("Planning contacts …")
        tab.show_work(None)
        assert tab.plan.disabled
        assert not tab.contact.disabled


def html_of(page):
    from viser import GuiHtmlHandle

    containers = page.server.gui._container_handle_from_uuid.values()
    children = [child for container in containers for child in container._children.values()]
    return [child for child in children if isinstance(child, GuiHtmlHandle)]


@pytest.mark.compiled
def test_the_first_replay_plays(studio):
    """As the page opens, with its obstacle and the method auto."""
    with visitor(studio) as client:
        slide(client, studio.trajectory.replay, True)
        until(lambda: studio.trajectory.text.content)
    assert not studio.trajectory.play.disabled


def test_an_obstacle_smaller_than_the_robot_suggests_keeps_its_size(studio):
    studio.set_scene(ar.Scene([ar.Sphere((0.1, 0.0, 0.0), 0.0004)]))
    studio.set_robot(ar.load_robot("ur5"))
    settle(studio)
    assert studio.obstacles_tab.size.min <= studio.obstacles_tab.size.value == 0.4


@pytest.mark.parametrize(
    ("button", "content"),
    [
        ("robot", b"a." * 40_000 + b"b = 1\n"),
        ("robot", b"a = " + b"[" * 40_000),
        ("robot", b'[[elements]]\nkind = "revolute"\n' * 60_000),
        ("robot", b"<robot>" + b"<link>" * 40_000),
        ("scene", b"obstacles." * 40_000 + b"b = 1\n"),
        ("path", b"section-1.bend," * 100_000 + b"\n"),
    ],
    ids=["keys", "brackets", "joints", "tags", "scene", "columns"],
)
def test_a_file_made_to_block_the_page_is_refused_by_name(studio, button, content):
    uploads = {"robot": studio.choices.upload, "scene": studio.obstacles_tab.upload, "path": studio.trajectory.upload}
    before = studio.desk.wish.robot
    with visitor(studio) as client, visitor(studio) as other:
        send_file(client, uploads[button], "hostile.txt", content)
        # Somebody else goes on meanwhile.
        slide(other, studio.sliders.handles[0], 21.0)
        until(lambda: studio.q[0] == pytest.approx(np.radians(21.0)))
        until(lambda: told(client))
        assert told(client)[-1]["title"] == "Not accepted"
        assert "hostile.txt" in told(client)[-1]["body"]
    assert studio.desk.wish.robot is before
