"""The server: addresses, origins, tunnels, uploads and values, tested against a running one."""

import http.client
import logging
import socket
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from arcreach.errors import MissingExtraError, StudioError
from arcreach.studio import server
from arcreach.studio.app import Studio
from arcreach.studio.server import Guard, bound_socket, is_loopback, split_host
from arcreach.studio.state.devices import Devices
from arcreach.studio.state.uploads import LARGEST_UPLOAD
from tests.studio.waiting import until
from tests.studio.wire import client_of


def status_of(studio: Studio, path: str = "/", **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=10.0)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{studio.port}", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    code = connection.getresponse().status
    connection.close()
    return code


UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["page", "websocket"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "localhost@evil.example"])
def test_a_foreign_host_gets_403(studio, host, upgrade):
    assert status_of(studio, Host=host.format(port=studio.port), **upgrade) == 403


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["page", "websocket"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://", "http://[", ""])
def test_a_foreign_origin_gets_403(studio, origin, upgrade):
    assert status_of(studio, Origin=origin, **upgrade) == 403


def test_our_own_pages_are_served(studio):
    assert status_of(studio) == 200
    for name in ("127.0.0.1", "localhost"):
        own = f"{name}:{studio.port}"
        assert status_of(studio, Host=own, Origin=f"http://{own}") == 200
        assert status_of(studio, Host=own, Origin=f"http://{own}", **UPGRADE) == 101


def test_no_file_outside_the_page_is_served(studio):
    for path in ("/../../_viser.py", "/%2e%2e/%2e%2e/_viser.py", "/..%5c..%5c_viser.py", "//etc/passwd"):
        assert status_of(studio, path) == 404


def test_only_the_loopback_is_listened_to(studio):
    assert studio.host == "127.0.0.1"
    own = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in own - {"127.0.0.1"}:
        if address.startswith("127."):
            continue
        with socket.socket() as other:
            other.settimeout(2.0)
            assert other.connect_ex((address, studio.port)) != 0


def listening_addresses(port: int) -> set[str]:
    """The addresses at which something listens on a port, from the kernel's own table."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as file:
            for line in file.readlines()[1:]:
                local, _, state = line.split()[1:4]
                if state == "0A" and int(local.rsplit(":", 1)[1], 16) == port:
                    found.add(local.rsplit(":", 1)[0])
    return found


@pytest.mark.skipif(not __import__("os").path.exists("/proc/net/tcp"), reason="needs Linux's table of sockets")
def test_nothing_listens_elsewhere(studio):
    # 127.0.0.1 as the kernel writes it.
    assert listening_addresses(studio.port) == {"0100007F"}


def test_another_address_must_be_allowed():
    with pytest.raises(StudioError, match="--allow-remote"):
        bound_socket("0.0.0.0", 0, allow_remote=False)
    listener = bound_socket("0.0.0.0", 0, allow_remote=True)
    assert listener.getsockname()[0] == "0.0.0.0"
    listener.close()


def test_a_port_that_is_taken_is_an_error(studio):
    with pytest.raises(StudioError, match=f"port {studio.port} of 127.0.0.1 cannot be used"):
        Studio(port=studio.port)
    assert status_of(studio) == 200


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "192.0.2.1"])
def test_a_wrong_host_is_named(host):
    with pytest.raises(StudioError, match=f"host = '{host}' is not an address of this machine") as caught:
        bound_socket(host, 0, allow_remote=True)
    assert "--port" not in str(caught.value)


def test_a_host_of_another_type():
    with pytest.raises(StudioError, match="host = 5 is not accepted"):
        Studio(host=5, port=0)


def test_a_listener_is_closed_where_no_server_starts(monkeypatch):
    import viser

    def fail(**_):
        raise RuntimeError("no server")

    monkeypatch.setattr(viser, "ViserServer", fail)
    listener = bound_socket("127.0.0.1", 0, allow_remote=False)
    with pytest.raises(RuntimeError, match="no server"):
        server.start_server(listener, Guard(listener.getsockname()[1]), Devices())
    assert listener.fileno() == -1


@pytest.mark.parametrize("part", ["State", "Panels", "Player"])
def test_a_page_that_fails_to_open_frees_its_port(monkeypatch, part):
    made = []
    start = server.start_server

    def started(listener, *rest):
        made.append((listener.getsockname()[1], start(listener, *rest)))
        return made[0][1]

    def fail(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr(server, "start_server", started)
    monkeypatch.setattr(f"arcreach.studio.app.{part}", fail)
    with pytest.raises(RuntimeError, match="no luck"):
        Studio(port=0)
    # The port is free again.
    until(lambda: free(made[0][0]))


def free(port: int) -> bool:
    with socket.socket() as other:
        other.settimeout(2.0)
        return other.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("port", [-1, 65536, 10**9, "x", 80.5, None, True])
def test_a_bad_port(port):
    with pytest.raises(StudioError, match="port = "):
        bound_socket("127.0.0.1", port, allow_remote=False)


def test_requests_for_a_tunnel_do_nothing(studio, monkeypatch):
    opened = []
    monkeypatch.setattr("viser._viser.ViserTunnel", lambda *a, **k: opened.append(a))
    calls = {name: Mock(wraps=getattr(studio.server, name)) for name in ("request_share_url", "disconnect_share_url")}
    for name, call in calls.items():
        monkeypatch.setattr(studio.server, name, call)
    with client_of(studio) as client:
        client.send(type="ShareUrlRequest")
        client.send(type="ShareUrlDisconnect")
        until(lambda: all(call.called for call in calls.values()))
        assert client.of_type("ShareUrlUpdated") == []
    assert studio.server.request_share_url() is None
    assert opened == []


def test_a_file_too_large_is_refused_before_it_is_sent(studio):
    states, button = studio.server.gui._current_file_upload_states, studio.panels.robot.upload
    with client_of(studio) as client:
        client.announce(button, "large", 100_000_000, "../../huge.toml")
        until(client.notifications)
        assert client.notifications()[0]["body"] == "huge.toml: has 100.0 MB; at most 2 MB are accepted"
        client.send_part(button, "large", b"x" * 100_000)
        # Messages arrive in their order: the part was handled before this file.
        client.upload(button, "bad.toml", b"nonsense")
        until(lambda: len(client.notifications()) == 2)
        assert "large" not in states


def test_more_than_was_announced_is_dropped(studio):
    states, robot = studio.server.gui._current_file_upload_states, studio.state.request.robot
    with client_of(studio) as client:
        client.announce(studio.panels.robot.upload, "liar", 10, parts=100)
        until(lambda: "liar" in states)
        client.send_part(studio.panels.robot.upload, "liar", b"x" * 100_000)
        until(lambda: "liar" not in states)
    assert studio.state.request.robot is robot


def test_many_uploads_at_once_are_refused(studio):
    states = studio.server.gui._current_file_upload_states
    with client_of(studio) as client:
        for i in range(20):
            client.announce(studio.panels.robot.upload, f"many-{i}", LARGEST_UPLOAD)
        until(lambda: len(client.notifications()) == 20 - server.MOST_UPLOADS)
        assert sum(name.startswith("many-") for name in states) == server.MOST_UPLOADS
    until(lambda: not any(name.startswith("many-") for name in states))


def test_a_message_too_large_ends_the_connection(studio, caplog):
    with caplog.at_level(logging.CRITICAL), client_of(studio) as client:
        client.socket.send(b"x" * (server.LARGEST_MESSAGE + 1))
        client.thread.join(60.0)
        assert not client.thread.is_alive()
    assert status_of(studio) == 200


def test_no_field_of_the_page_takes_a_path(studio):
    from viser import GuiTextHandle

    handles = studio.server.gui._gui_input_handle_from_uuid.values()
    # Options of methods are values, which `option_values` reads.
    options = list(studio.panels.tuning.options.values())
    assert [handle for handle in handles if isinstance(handle, GuiTextHandle)] == options


def test_the_guard_of_a_page_for_others():
    guard = Guard(8080, allow_remote=True)
    own = socket.gethostname()
    assert guard.refusal({"Host": "192.168.1.7:8080"}) is None
    assert guard.refusal({"Host": f"{own}:8080", "Origin": f"http://{own}:8080"}) is None
    assert guard.refusal({"Host": "evil.example:8080"}) is not None
    assert guard.refusal({"Host": "192.168.1.7:8080", "Origin": "http://evil.example"}) is not None
    assert Guard(8080).refusal({"Host": "192.168.1.7:8080"}) is not None


def test_every_loopback_address_is_this_machine():
    guard = Guard(8080)
    assert guard.refusal({"Host": "127.0.0.2:8080", "Origin": "http://127.0.0.2:8080"}) is None
    assert guard.refusal({"Host": "[::1]:8080"}) is None
    # Another program may have a page there.
    assert guard.refusal({"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.2:8080"}) is not None
    assert guard.refusal({"Host": "127.0.0.2.evil.example:8080"}) is not None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("localhost:80", ("localhost", 80)),
        ("[::1]:80", ("::1", 80)),
        ("a", ("a", None)),
        ("a:b", (None, None)),
        ("", (None, None)),
        ("u@a", (None, None)),
        ("a/b", (None, None)),
    ],
)
def test_hosts(text, parts):
    assert split_host(text) == parts


def test_loopback():
    assert is_loopback("127.0.0.1")
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("example.org")


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(MissingExtraError, match=r"arcreach\[studio\]"):
        Studio()


@pytest.mark.parametrize("port", [80, 8080])
def test_an_origin_without_a_port_is_a_page_on_port_80(port):
    refusal = Guard(port).refusal({"Host": f"127.0.0.1:{port}", "Origin": "http://127.0.0.1"})
    assert (refusal is None) == (port == 80)
    assert Guard(port).refusal({"Host": f"127.0.0.1:{port}", "Origin": f"ftp://127.0.0.1:{port + 1}"}) is not None
    # A browser leaves out the port of a host only where it is 80.
    assert (Guard(port).refusal({"Host": "127.0.0.1"}) is None) == (port == 80)


def test_a_page_on_port_80_gets_no_websocket(studio):
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus, match="403"), client_of(studio, Origin="http://127.0.0.1"):
        pass


def test_a_server_without_the_guard_is_stopped(monkeypatch):
    """A viser that serves by another function than the one that is replaced."""
    import viser
    import websockets.asyncio.server as serving

    original, ports = serving.serve, []

    class Unguarded(viser.ViserServer):
        def __init__(self, **options):
            serving.serve = original
            super().__init__(**options)
            ports.append(self.get_port())

    monkeypatch.setattr(viser, "ViserServer", Unguarded)
    with pytest.raises(StudioError, match="did not take the guarded port"):
        Studio(port=0)
    assert ports
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", ports[0], timeout=5.0).connect()


@pytest.mark.parametrize(
    ("panel", "name", "value"),
    [
        ("robot", "name", "../../etc/passwd"),
        ("method", "method", "no such method"),
        ("method", "compared", 7),
        ("target", "aim", None),
        ("trajectory", "scene", ["wedge"]),
        ("obstacles", "size", float("nan")),
        ("obstacles", "size", "12"),
        ("obstacles", "avoid", "yes"),
        ("obstacles", "add", "moon"),
    ],
)
def test_a_value_that_the_page_does_not_offer_changes_nothing(studio, panel, name, value):
    handle = getattr(getattr(studio.panels, panel), name)
    before, request = handle.value, studio.state.request
    with client_of(studio) as one, client_of(studio) as other:
        one.set(handle, value)
        # Messages of one client arrive in their order: after this one the first was handled.
        one.set(studio.panels.view.boxes["frames"], not studio.panels.view.boxes["frames"].value)
        frames = studio.panels.view.boxes["frames"]._impl.uuid
        until(lambda: any(message["uuid"] == frames for message in other.of_type("GuiUpdateMessage")))
        told = [m["updates"] for m in other.of_type("GuiUpdateMessage") if m["uuid"] == handle._impl.uuid]
        assert {"value": value} not in told
    assert handle.value == before
    assert studio.state.request is request


def test_numbers_and_switches():
    def handle(value):
        return SimpleNamespace(value=value)

    assert server.possible(handle(1.0), 2)
    assert server.possible(handle((1.0, 2.0)), [1, 2.5])
    assert server.possible(handle(False), True)
    for now, value in ((1.0, True), (1.0, 1e300), (1.0, 10**400), ((1.0, 2.0), [1.0]), ((1.0,), ["1"]), (False, 1)):
        assert not server.possible(handle(now), value)
