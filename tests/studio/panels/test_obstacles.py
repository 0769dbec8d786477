"""The obstacles tab and obstacles that are dragged."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar
from arcreach.studio.stage import colours


def test_an_obstacle_turns_red_and_grey_again(studio):
    middle = studio.state.request.robot.backbone(studio.q, 11)[6]
    studio.pose(studio.q)
    settle(studio)
    with client_of(studio) as client:
        for axis in range(3):
            client.set(studio.panels.obstacles.position[axis], 1e3 * float(middle[axis]))
        until(lambda: studio.stage.obstacles.red == {0})
        assert tuple(studio.stage.obstacles.handles[0].color) == colours.VERMILION
        assert studio.answer.results[0].clearance < 0.0
        client.set(studio.panels.obstacles.position[0], -100.0)
        until(lambda: not studio.stage.obstacles.red)
        assert tuple(studio.stage.obstacles.handles[0].color) == colours.OBSTACLE


def test_obstacles_are_added_sized_and_removed(studio):
    with client_of(studio) as client:
        for kind in ("block", "bar", "ball"):
            client.set(studio.panels.obstacles.add, kind)
            until(lambda kind=kind: studio.scene.shape_names[-1].startswith(kind))
            settle(studio)
        assert len(studio.stage.obstacles.handles) == 4
        assert studio.panels.obstacles.choice.value == "ball 2"
        client.set(studio.panels.obstacles.size, 5.0)
        until(lambda: studio.scene[3].radius == pytest.approx(0.005))
        client.set(studio.panels.obstacles.choice, "block 1")
        until(lambda: studio.panels.obstacles.chosen == 1)
        client.set(studio.panels.obstacles.remove, True)
        until(lambda: len(studio.scene) == 3)
        settle(studio)
    assert [name.split()[0] for name in studio.scene.shape_names] == ["ball", "bar", "ball"]
    assert len(studio.stage.obstacles.handles) == 3


def drag(handle, *moves):
    """Send the events of a drag that grabs an obstacle beside its centre."""
    (callback,) = (entry.callback for entry in handle._impl.drag_cb)
    taken = np.add(handle.position, (0.01, 0.0, 0.0))
    places = [taken, *(taken + np.asarray(move) for move in moves), taken + np.asarray(moves[-1])]
    for phase, place in zip(["start", *["update"] * len(moves), "end"], places, strict=True):
        asyncio.run(callback(SimpleNamespace(phase=phase, client_id=7, start_position=taken, end_position=place)))


def test_an_obstacle_is_dragged(studio):
    centre = np.array(studio.scene[0].centre)
    drag(studio.stage.obstacles.handles[0], (0.2, 0.0, 0.0), (0.5, 0.0, 0.0))
    settle(studio)
    moved = np.array(studio.scene[0].centre) - centre
    assert np.allclose(moved, [0.5 * studio.state.request.robot.reach, 0.0, 0.0])


def test_a_scene_is_saved_and_loaded(studio, tmp_path):
    for kind in ("block", "bar"):
        studio.panels.obstacles.add_obstacle(kind)
    own = studio.scene
    with client_of(studio) as client:
        client.set(studio.panels.obstacles.save, True)
        until(lambda: client.of_type("FileTransferPart"))
        content = b"".join(part["content"] for part in client.of_type("FileTransferPart"))
        (tmp_path / "scene.toml").write_bytes(content)
        assert ar.load_scene(tmp_path / "scene.toml") == own
        studio.reset()
        assert studio.scene != own
        client.upload(studio.panels.obstacles.upload, "scene.toml", content)
        until(lambda: studio.scene == own)
        until(lambda: any("3 obstacles" in props["body"] for props in client.notifications()))
        client.set(studio.panels.obstacles.scene, "clutter-20")
        until(lambda: len(studio.scene) == 20)
        until(lambda: studio.panels.obstacles.scene.value == "choose …")


def test_a_tiny_obstacle_keeps_its_size(studio):
    studio.set_scene(ar.Scene([ar.Sphere((0.1, 0.0, 0.0), 0.0004)]))
    studio.set_robot(ar.load_robot("ur5"))
    settle(studio)
    assert studio.panels.obstacles.size.min <= studio.panels.obstacles.size.value == 0.4
