"""Start the viser server so that only this machine can use the page, unless others are allowed.

By default viser listens to the whole network, accepts pages of any origin, takes another port if one is in use, and
opens a public tunnel for any client. Here it gets a socket that is bound already, requests of other origins are
refused, and tunnels are disabled.

viser has no public hook for the socket, for checks of requests, or for checks of incoming messages. These parts use its
private names: `_websock_server`, `_messages`, and the handlers and tables of `gui` for updates and uploads.
"""

from __future__ import annotations

import contextlib
import errno
import io
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from operator import index
from typing import Any, SupportsIndex
from urllib.parse import urlsplit

from arcreach._checks import shown
from arcreach._extras import require
from arcreach.errors import StudioError
from arcreach.studio.page import TITLE, add_headers
from arcreach.studio.state.devices import Devices
from arcreach.studio.state.uploads import LARGEST_UPLOAD, too_large

LOOPBACK = "127.0.0.1"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
HIGHEST_PORT = 65535
# The default port of each scheme, which a URL may omit.
DEFAULT_PORTS = {"http": 80, "https": 443}
# Path of the web socket over which the script of the page sends an operator's inputs.
JOG_PATH = "/jog"
# Largest message of a client in bytes; uploads arrive in parts of half a million.
LARGEST_MESSAGE = 4_000_000
# Most uploads of one client at the same time; a person has one.
MOST_UPLOADS = 2
# Longest text of an input in characters.
LONGEST_TEXT = 200
# Upper bound of numbers from a client; all values on the page, in millimetres or degrees, are far smaller.
HUGE = 1e12

# viser looks up websockets' `serve` when it starts: only one studio at a time may replace it.
_starting = threading.Lock()


def bound_socket(host: str, port: int, allow_remote: bool) -> socket.socket:
    """Return a socket bound to exactly this address; a port in use is an error."""
    if isinstance(port, bool) or not isinstance(port, SupportsIndex) or not 0 <= index(port) <= HIGHEST_PORT:
        raise StudioError(
            f"port = {shown(port)} is not accepted; give a whole number from 0 (any free one) to {HIGHEST_PORT}"
        )
    if not isinstance(host, str):
        raise StudioError(f"host = {shown(host)} is not accepted; give a name or an address as text")
    if not allow_remote and not is_loopback(host):
        raise StudioError(f"host = '{host}' lets other machines in; allow them with --allow-remote, or leave it out")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Without this option the port of a studio that was just closed stays in use for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # With this option another studio can bind the same port until this socket listens.
        listener.listen()
    except (OSError, UnicodeError) as error:
        listener.close()
        # An unknown name or an address of another machine: another port would not help.
        if not isinstance(error, OSError) or isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise StudioError(
                f"host = {shown(host)} is not an address of this machine; give {LOOPBACK}, or one of its own addresses"
            ) from None
        raise StudioError(f"port {port} of {host} cannot be used ({error.strerror}); give another by --port") from None
    return listener


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only."""
    address = _numeric(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _numeric(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a numeric address; None for a name, which a name server can redirect."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


class Guard:
    """Refuses requests that name another host or come from a page of another origin.

    A page of another site in the same browser can send requests here, but cannot choose these headers.
    """

    def __init__(self, port: int, allow_remote: bool = False) -> None:
        self.port, self.allow_remote = port, allow_remote

    def refusal(self, headers: Mapping[str, str]) -> str | None:
        """Return why a request with these headers is refused; None if it is served."""
        host = headers.get("Host", "")
        if not self._knows(host):
            return f"host {host!r} is not served here"
        origin = headers.get("Origin")
        # Browsers send no Origin header when they open a page, and other programs send none at all.
        if origin is not None and not self._same(origin, host):
            return f"origin {origin!r} is not served here"
        return None

    def _knows(self, host: str) -> bool:
        name, port = split_host(host)
        if name is None or (DEFAULT_PORTS["http"] if port is None else port) != self.port:
            return False
        # No name server can redirect a numeric address, and a loopback address is always this machine.
        return is_loopback(name) or (self.allow_remote and (_numeric(name) is not None or name in own_names()))

    def _same(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        mine, (theirs, port) = split_host(host)[0], split_host(parts.netloc)
        # An origin without a port has the default port of its scheme.
        if (DEFAULT_PORTS.get(parts.scheme) if port is None else port) != self.port:
            return False
        # The loopback names all mean this machine.
        return mine == theirs or (mine in LOCAL_NAMES and theirs in LOCAL_NAMES)


def split_host(text: str) -> tuple[str | None, int | None]:
    """Return the name and the port of a Host header, None for an omitted port; (None, None) if it is malformed."""
    try:
        parts = urlsplit(f"//{text}")
        name, port = parts.hostname, parts.port
    except ValueError:
        return None, None
    plain = parts.netloc == text and "@" not in text and not parts.path
    return (name, port) if name and plain else (None, None)


def own_names() -> set[str]:
    """Return the names of this machine."""
    name = socket.gethostname().lower()
    return {name, name.partition(".")[0], f"{name.partition('.')[0]}.local"}


def start_server(listener: socket.socket, guard: Guard, devices: Devices) -> Any:
    """Start a viser server on this socket, behind this guard, without tunnels; `devices` receives operators' inputs."""
    host, port = listener.getsockname()[:2]
    with contextlib.ExitStack() as undone:
        undone.callback(listener.close)
        viser = require("viser")
        with _starting, _guarded(listener, guard, devices) as served, quiet():
            server = viser.ViserServer(host=host, port=port, label=TITLE, verbose=False)
        undone.callback(stop_server, server)
        # A viser that does not call `serve` would listen elsewhere, without the guard.
        if not served or server.get_port() != port:
            raise StudioError(
                f"viser {viser.__version__} did not take the guarded port {port}; install the version that the extra "
                "studio names: pip install 'arcreach[studio]'"
            )
        # The handlers of viser call these methods when a client asks for a tunnel.
        server.request_share_url = lambda verbose=True: None
        server.disconnect_share_url = lambda: None
        cap_uploads(server)
        check_values(server)
        undone.pop_all()
    return server


def stop_server(server: Any) -> None:
    """Stop a viser server without its message."""
    with quiet():
        server.stop()


@contextlib.contextmanager
def _guarded(listener: socket.socket, guard: Guard, devices: Devices) -> Iterator[list[socket.socket]]:
    """Replace websockets' `serve` within the block, so that it uses our socket and the guard.

    Yield a list to which each call of `serve` appends the socket.
    """
    import websockets.asyncio.server as serving

    original = serving.serve
    served: list[socket.socket] = []

    def serve(handler: Any, host: str, port: int, *, process_request: Callable[..., Any], **options: Any) -> Any:
        def guarded(connection: Any, request: Any) -> Any:
            reason = guard.refusal(request.headers)
            if reason is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
            response = process_request(connection, request)
            return None if response is None else add_headers(response)

        async def routed(connection: Any) -> None:
            await (_hear(connection, devices) if connection.request.path == JOG_PATH else handler(connection))

        served.append(listener)
        options["max_size"] = LARGEST_MESSAGE
        return original(routed, sock=listener, process_request=guarded, **options)

    serving.serve = serve  # type: ignore[assignment, misc]
    try:
        yield served
    finally:
        serving.serve = original  # type: ignore[misc]


async def _hear(connection: Any, devices: Devices) -> None:
    """Pass an operator's inputs to the devices until the connection ends or a message is not valid."""
    from websockets.exceptions import ConnectionClosed

    source = id(connection)
    try:
        with contextlib.suppress(ConnectionClosed):
            async for message in connection:
                if not devices.hear(source, message):
                    await connection.close(1003, "not understood")
                    break
    finally:
        devices.forget(source)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the messages of viser: the command prints the address."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def check_values(server: Any) -> None:
    """Ignore clients' updates, except updates of an input's value that `possible` accepts."""
    from viser import _messages

    gui = server.gui

    async def update(client_id: Any, message: Any) -> None:
        handle = gui._gui_input_handle_from_uuid.get(message.uuid)
        if handle is not None and set(message.updates) == {"value"} and possible(handle, message.updates["value"]):
            await gui._handle_gui_updates(client_id, message)

    server._websock_server.unregister_handler(_messages.GuiUpdateMessage)
    server._websock_server.register_handler(_messages.GuiUpdateMessage, update)


def possible(handle: Any, value: Any) -> bool:
    """Return whether an input can have a value: one of its options, a short text, or as many numbers as it has now."""
    options, now = getattr(handle, "options", None), handle.value
    if options is not None:
        return value in options
    if isinstance(now, tuple):
        return isinstance(value, (list, tuple)) and len(value) == len(now) and all(map(_is_number, value))
    if isinstance(now, str):
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    return isinstance(value, bool) if isinstance(now, bool) else _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < HUGE


def cap_uploads(server: Any) -> None:
    """Refuse uploads that are announced as too large or are too many at a time, and parts beyond the announced size."""
    from viser import _messages

    gui, websocket = server.gui, server._websock_server

    def start(client_id: Any, message: Any) -> None:
        current = [state for state in gui._current_file_upload_states.values() if state["client_id"] == client_id]
        if not 0 <= message.size_bytes <= LARGEST_UPLOAD:
            refuse(client_id, message, too_large(message.filename, message.size_bytes))
        elif len(current) >= MOST_UPLOADS:
            refuse(client_id, message, "an upload is in progress already; wait for its end")
        else:
            gui._handle_file_transfer_start(client_id, message)

    def part(client_id: Any, message: Any) -> None:
        state = gui._current_file_upload_states.get(message.transfer_uuid)
        if state is None or state["client_id"] != client_id:
            return
        if state["transferred_bytes"] + len(message.content) > state["total_bytes"]:
            gui._current_file_upload_states.pop(message.transfer_uuid, None)
            return
        gui._handle_file_transfer_part(client_id, message)

    def refuse(client_id: Any, message: Any, text: str) -> None:
        client = server.get_clients().get(client_id)
        if client is None:
            return
        client.add_notification("File not accepted", text, color="red", auto_close_seconds=None)
        # The page shows a progress bar until all bytes are acknowledged.
        client._websock_connection.queue_message(
            _messages.FileTransferPartAck(
                message.source_component_uuid, message.transfer_uuid, message.size_bytes, message.size_bytes
            )
        )

    for kind, handler in ((_messages.FileTransferStartUpload, start), (_messages.FileTransferPart, part)):
        websocket.unregister_handler(kind)
        websocket.register_handler(kind, handler)
