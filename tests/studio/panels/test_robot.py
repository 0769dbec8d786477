"""The inputs for the robot: the catalogue, files and tips."""

import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar

GOOD = b'name = "mine"\n[[elements]]\nkind = "section"\nlength = "50 mm"\nbend_max = "90 deg"\n'
FORK = b"""<robot name="fork"><link name="base"/><link name="arm"/><link name="left"/><link name="right"/>
<link name="eye"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<origin xyz="0 0 0.2"/><limit lower="-1" upper="1"/></joint>
<joint name="a" type="revolute"><parent link="arm"/><child link="left"/><axis xyz="0 1 0"/>
<origin xyz="0.3 0 0"/><limit lower="-1" upper="1"/></joint>
<joint name="b" type="revolute"><parent link="arm"/><child link="right"/><axis xyz="0 1 0"/>
<origin xyz="0.1 0 0.1"/><limit lower="-2" upper="2"/></joint>
<joint name="c" type="fixed"><parent link="right"/><child link="eye"/><origin xyz="0 0 0.1"/></joint></robot>"""


def test_a_robot_of_the_catalogue(studio):
    with client_of(studio) as client:
        client.set(studio.panels.robot.name, "ur5")
        until(lambda: studio.state.request.robot.name == "ur5")
        settle(studio)
    assert len(studio.panels.sliders.handles) == 6
    assert "ccd" in studio.panels.method.method.options
    assert "fabrikc" not in studio.panels.method.method.options
    assert studio.stage.scale == pytest.approx(1.0 / studio.state.request.robot.reach)


def test_a_robot_file_is_loaded(studio):
    with client_of(studio) as client:
        client.upload(studio.panels.robot.upload, "../<script>.toml", GOOD.replace(b"90 deg", b"90 dag"))
        until(client.notifications)
        assert client.notifications()[0]["body"].startswith("<script>.toml: elements[0].bend_max = '90 dag'")
        assert studio.panels.robot.name.value == studio.state.entry.name == "three-section"
        client.upload(studio.panels.robot.upload, "mine.toml", GOOD)
        until(lambda: studio.state.request.robot.name == "mine")
        settle(studio)
        until(lambda: len(client.notifications()) == 2)
    assert studio.panels.robot.name.value == "mine"
    assert len(studio.panels.sliders.handles) == 2
    studio.panels.robot.choose("three-section")
    until(lambda: studio.state.request.robot.name == "three-section")
    studio.panels.robot.choose("mine")
    until(lambda: studio.state.request.robot.name == "mine")


def test_a_robot_with_a_name_of_the_catalogue_does_not_replace_it(studio):
    with client_of(studio) as client:
        client.upload(studio.panels.robot.upload, "mine.toml", GOOD.replace(b"mine", b"ur5"))
        until(lambda: studio.state.request.robot.dof == 2)
    assert studio.panels.robot.name.value == "my robot"
    studio.panels.robot.choose("ur5")
    until(lambda: studio.state.request.robot.dof == 6)


def test_the_tip_of_a_branched_robot_is_chosen(studio):
    with client_of(studio) as client:
        assert not studio.panels.robot.tip.visible
        client.upload(studio.panels.robot.upload, "fork.urdf", FORK)
        until(lambda: studio.state.request.robot.name == "fork")
        settle(studio)
        tip = studio.panels.robot.tip
        assert tip.visible
        # Ends of chains first; the arm itself can be the tip too.
        assert tuple(tip.options) == ("left", "eye", "right", "arm")
        assert tip.value == "left"
        until(lambda: any("its tip is left" in props["body"] for props in client.notifications()))
        client.set(tip, "eye")
        until(lambda: studio.state.request.robot.coordinates == ("turn", "b"))
        settle(studio)
        assert (studio.panels.robot.name.value, tip.value, tip.visible) == ("fork", "eye", True)
        studio.undo()
        settle(studio)
        assert studio.state.request.robot.coordinates == ("turn", "a")
        assert tip.value == "left"
        client.set(studio.panels.robot.name, "ur5")
        until(lambda: not tip.visible)


def test_a_tip_that_is_refused_changes_nothing(studio):
    with client_of(studio) as client:
        client.upload(studio.panels.robot.upload, "fork.urdf", FORK)
        until(lambda: studio.state.request.robot.name == "fork")
        studio.pose(studio.state.request.robot.upper)
        settle(studio)
        before = studio.state.request
        studio.panels.robot._choose_tip("nowhere", next(iter(studio.server.get_clients().values())))
        until(lambda: any("tip = 'nowhere'" in props["body"] for props in client.notifications()))
        settle(studio)
    assert studio.state.request is before
    assert studio.panels.robot.tip.value == "left"


def test_changed_obstacles_are_kept_for_the_next_robot(studio):
    first = studio.scene
    studio.set_robot(ar.load_robot("two-section"))
    assert studio.scene != first
    studio.panels.obstacles.add_obstacle("ball")
    own = studio.scene
    settle(studio)
    with client_of(studio) as client:
        client.set(studio.panels.robot.name, "ur5")
        until(lambda: studio.state.request.robot.name == "ur5")
        until(lambda: any("keeps its 2 obstacles" in props["body"] for props in client.notifications()))
    assert studio.scene == own


def test_messages_about_the_last_robot_are_removed(studio, instantly):
    instantly("no path: walls", good=False)
    with client_of(studio) as client:
        studio.jobs.plan()
        until(lambda: "no path: walls" in studio.panels.trajectory.text.content)
        client.upload(studio.panels.robot.upload, "bad.toml", b"nonsense")
        until(client.notifications)
        studio.panels.robot.choose("ur5")
        until(lambda: studio.state.request.robot.name == "ur5")
        until(lambda: client.of_type("RemoveNotificationMessage"))
        shown, removed = (
            client.of_type(kind)[0]["uuid"] for kind in ("NotificationShowMessage", "RemoveNotificationMessage")
        )
    assert shown == removed
    assert studio.panels.trajectory.text.content == ""
    studio.jobs.mark_start()
    assert "begins here" in studio.panels.trajectory.text.content
    studio.set_robot(ar.load_robot("three-section"))
    assert studio.panels.trajectory.text.content == ""
    assert not studio.panels.trajectory.cancel.visible
