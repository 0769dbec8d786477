"""viser's wire format, spoken without a browser."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import viser
import zstandard
from websockets.sync.client import connect as open_socket

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (2.0, -2.0, 1.0),
    "image_height": 600,
    "image_width": 800,
    "fov": 0.7,
    "near": 0.01,
    "far": 100.0,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}


class Visitor:
    """One connection: sends messages by their fields, and keeps what it is sent."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.messages: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def send(self, **fields: Any) -> None:
        self._socket.send(msgspec.msgpack.encode(fields))

    def drag(self, name: str, position: Iterable[float], wxyz: Iterable[float] = (1.0, 0.0, 0.0, 0.0)) -> None:
        place, turn = tuple(map(float, position)), tuple(map(float, wxyz))
        self.send(type="TransformControlsUpdateMessage", name=name, wxyz=turn, position=place, owner="")

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in list(self.messages) if message["type"] == kind]

    def _listen(self) -> None:
        decompress = zstandard.ZstdDecompressor()
        with contextlib.suppress(Exception):
            for raw in self._socket:
                size = int.from_bytes(raw[8:16], "little")
                window = msgspec.msgpack.decode(decompress.decompress(raw[16 : 16 + size]))
                self.messages.extend(window["messages"])


@contextlib.contextmanager
def connect(studio: Any, headers: dict[str, str]) -> Iterator[Visitor]:
    host = f"127.0.0.1:{studio.port}"
    before = set(studio.server.get_clients())
    with open_socket(
        f"ws://{host}",
        subprotocols=[f"viser-v{viser.__version__}"],
        additional_headers=headers,
        max_size=None,
        close_timeout=0.2,
    ) as socket:
        visitor = Visitor(socket)
        visitor.send(**CAMERA)
        from tests.studio.conftest import until

        until(lambda: set(studio.server.get_clients()) - before)
        yield visitor
