"""A client that speaks viser's wire format, without a browser."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import viser
import zstandard
from websockets.sync.client import connect

from tests.studio.waiting import until

CAMERA: dict[str, Any] = {
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


class Client:
    """One connection: sends messages by their fields, and keeps the messages it receives."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.messages: list[dict[str, Any]] = []
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def send(self, **fields: Any) -> None:
        self.socket.send(msgspec.msgpack.encode(fields))

    def set(self, handle: Any, value: Any) -> None:
        """Set an input as a user does."""
        self.send(type="GuiUpdateMessage", uuid=handle._impl.uuid, updates={"value": value})

    def drag(self, name: str, position: Iterable[float], wxyz: Iterable[float] = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Move transform controls."""
        position, wxyz = tuple(map(float, position)), tuple(map(float, wxyz))
        self.send(type="TransformControlsUpdateMessage", name=name, wxyz=wxyz, position=position, owner="")

    def upload(self, button: Any, name: str, content: bytes) -> None:
        """Send a file by an upload button."""
        self.announce(button, name, len(content))
        self.send_part(button, name, content)

    def announce(self, button: Any, transfer: str, size: int, name: str = "", parts: int = 1) -> None:
        self.send(
            type="FileTransferStartUpload",
            source_component_uuid=button._impl.uuid,
            transfer_uuid=transfer,
            filename=name or transfer,
            mime_type="text/plain",
            part_count=parts,
            size_bytes=size,
        )

    def send_part(self, button: Any, transfer: str, content: bytes) -> None:
        self.send(
            type="FileTransferPart",
            source_component_uuid=button._impl.uuid,
            transfer_uuid=transfer,
            part_index=0,
            content=content,
        )

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in list(self.messages) if message["type"] == kind]

    def notifications(self) -> list[dict[str, Any]]:
        """Return the notifications received: their `title` and `body`."""
        return [message["props"] for message in self.of_type("NotificationShowMessage")]

    def _listen(self) -> None:
        decompress = zstandard.ZstdDecompressor()
        with contextlib.suppress(Exception):
            for raw in self.socket:
                size = int.from_bytes(raw[8:16], "little")
                window = msgspec.msgpack.decode(decompress.decompress(raw[16 : 16 + size]))
                self.messages.extend(window["messages"])


@contextlib.contextmanager
def client_of(studio: Any, camera: dict[str, Any] = CAMERA, **headers: str) -> Iterator[Client]:
    """Connect a client to a studio; viser counts it as connected after its first camera message."""
    before = set(studio.server.get_clients())
    with connect(
        f"ws://127.0.0.1:{studio.port}",
        subprotocols=[f"viser-v{viser.__version__}"],
        additional_headers=headers,
        max_size=None,
        close_timeout=0.2,
    ) as socket:
        client = Client(socket)
        client.send(**camera)
        until(lambda: set(studio.server.get_clients()) - before)
        yield client
