"""A studio on a free port, a raw visitor, and a browser where there is one."""

from __future__ import annotations

import contextlib
import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

if importlib.util.find_spec("viser") is None:
    # Without the extra there is no page to test.
    collect_ignore_glob = ["test_*.py"]

import arcreach as ar
from arcreach.studio.app import Studio
from arcreach.studio.wish import AXIS, NO_METHOD


def until(holds: Callable[[], Any], seconds: float = 60.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with Studio(port=0) as page:
        until(lambda: page.desk.settled, 300.0)
        yield page


def settle(studio: Studio) -> None:
    """Wait until the latest wish is answered, and the answer drawn."""
    assert studio.settle(180.0)


@pytest.fixture
def fresh(studio: Studio) -> Iterator[None]:
    """The first sight again, whatever was done before."""
    studio.films.close_film()
    studio.choices.method.value, studio.choices.compared.value = "auto", NO_METHOD
    studio.own_scene = None
    studio.set_robot(ar.load_robot("three-section"))
    studio.choices.aim.value = AXIS
    studio.set_aim(AXIS)
    studio.change(method="auto", compared=NO_METHOD, avoid=True)
    settle(studio)
    yield
    studio.films.cancel()


def slide(client: Any, handle: Any, value: Any) -> None:
    """Set a control as a visitor does."""
    client.send(type="GuiUpdateMessage", uuid=handle._impl.uuid, updates={"value": value})


def send_file(client: Any, button: Any, name: str, content: bytes) -> None:
    """Send a file by a button as a visitor does."""
    uuid = button._impl.uuid
    client.send(
        type="FileTransferStartUpload", source_component_uuid=uuid, transfer_uuid=name, filename=name,
        mime_type="text/plain", part_count=1, size_bytes=len(content),
    )  # fmt: skip
    client.send(type="FileTransferPart", source_component_uuid=uuid, transfer_uuid=name, part_index=0, content=content)


class Instantly:
    """Long work that is done at once."""

    def __init__(self, value: Any, good: bool = True) -> None:
        self.value, self.good = value, good
        self.asked: list[Any] = []

    def start(self, task: str, arguments: Any, done: Callable[[Any], None], failed: Callable[[Any], None]) -> int:
        self.asked.append((task, arguments))
        (done if self.good else failed)(self.value)
        return 1

    def cancel(self) -> bool:
        return True

    def stop(self) -> None:
        pass


@contextlib.contextmanager
def visitor(studio: Studio, **headers: str) -> Iterator[Any]:
    """A raw websocket client that viser counts as connected: it has told where its camera is."""
    from tests.studio.wire import connect

    with connect(studio, headers) as connection:
        yield connection
