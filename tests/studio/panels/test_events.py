"""Events of clients, and messages to them."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from tests.studio.waiting import until
from tests.studio.wire import client_of

from arcreach.errors import RobotError, SceneError
from arcreach.studio.panels.events import from_client


class Client:
    def __init__(self):
        self.messages = []

    def add_notification(self, title, body, **_):
        self.messages.append(body)


def test_values_that_the_server_writes_are_not_handled():
    called = []
    handler = from_client(called.append)
    asyncio.run(handler(SimpleNamespace(client=None)))
    assert called == []
    event = SimpleNamespace(client=Client())
    asyncio.run(handler(event))
    assert called == [event]


def test_an_error_is_reported_to_the_client():
    def refuse(_):
        raise SceneError("radius = nan is not accepted")

    client = Client()
    asyncio.run(from_client(refuse)(SimpleNamespace(client=client)))
    assert client.messages == ["radius = nan is not accepted"]


def test_a_failure_in_the_queue_is_logged(studio, caplog):
    def fail():
        raise RuntimeError("no luck")

    studio.queue.run(fail)
    until(lambda: "no luck" in caplog.text)


def test_bad_input_is_reported_to_the_client_or_logged(studio, monkeypatch, caplog):
    def refuse(*_):
        raise RobotError("robot = 7 is not accepted")

    monkeypatch.setattr(studio, "set_robot", refuse)
    studio.panels.robot.choose("ur5")
    until(lambda: "robot = 7 is not accepted" in caplog.text)
    caplog.clear()
    with client_of(studio) as client:
        client.set(studio.panels.robot.name, "ur5")
        until(lambda: "robot = 7 is not accepted" in str(client.notifications()))
        assert "robot = 7" not in caplog.text


def test_an_unexpected_error_is_reported_and_logged(studio, monkeypatch, caplog):
    def fail(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr("arcreach.studio.state.robots.parse_robot_upload", fail)
    with client_of(studio) as client:
        client.upload(studio.panels.robot.upload, "deep.toml", b"a")
        until(client.notifications)
        assert client.notifications()[-1]["body"] == "RecursionError: too deep"
        until(lambda: "too deep" in caplog.text)
        monkeypatch.setattr(studio, "pose", fail)
        client.set(studio.panels.sliders.handles[0], 1.0)
        until(lambda: len(client.notifications()) == 2)


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
    panels = studio.panels
    uploads = {"robot": panels.robot.upload, "scene": panels.obstacles.upload, "path": panels.trajectory.upload}
    before = studio.state.request.robot
    with client_of(studio) as client, client_of(studio) as other:
        client.upload(uploads[button], "hostile.txt", content)
        # Another client can go on meanwhile.
        other.set(panels.sliders.handles[0], 21.0)
        until(lambda: studio.q[0] == pytest.approx(np.radians(21.0)))
        until(client.notifications)
        assert client.notifications()[-1]["title"] == "Not accepted"
        assert "hostile.txt" in client.notifications()[-1]["body"]
    assert studio.state.request.robot is before
