"""The page as the browser gets it, and the values that a visitor may send."""

import gzip
import http.client
from pathlib import Path

import pytest

from arcreach.studio import page, safety
from arcreach.studio.app import Studio
from arcreach.studio.safety import Guard, StudioError
from tests.studio.conftest import slide, until, visitor


def fetched(studio, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=10.0)
    connection.request("GET", "/", headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


@pytest.mark.parametrize("compressed", [False, True])
def test_the_page_has_our_title_and_no_frame_around_it(studio, compressed):
    response, body = fetched(studio, **({"Accept-Encoding": "gzip"} if compressed else {}))
    text = (gzip.decompress(body) if compressed else body).decode()
    assert "<title>arcreach studio</title>" in text
    assert "<title>Viser</title>" not in text
    assert int(response.headers["Content-Length"]) == len(body)
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Content-Security-Policy"] == "frame-ancestors 'none'"


def test_viser_still_writes_what_is_replaced():
    import viser

    client = Path(viser.__file__).parent / "client"
    assert "<title>Viser</title>" in (client / "build" / "index.html").read_text(encoding="utf-8")
    sheet = (client / "src" / "ControlPanel" / "BottomPanel.tsx").read_text(encoding="utf-8")
    assert 'maxHeight: "60%"' in sheet
    assert sheet.count('width: "20em"') == 2


def test_a_title_is_escaped():
    assert page.titled("<title>Viser</title>", "<script>") == "<title>&lt;script&gt;</title>"


@pytest.mark.parametrize("port", [80, 8080])
def test_an_origin_without_a_port_is_a_page_on_port_80(port):
    refusal = Guard(port).refusal({"Host": f"127.0.0.1:{port}", "Origin": "http://127.0.0.1"})
    assert (refusal is None) == (port == 80)
    assert Guard(port).refusal({"Host": f"127.0.0.1:{port}", "Origin": f"ftp://127.0.0.1:{port + 1}"}) is not None
    # A browser leaves out the port of a host only where it is 80.
    assert (Guard(port).refusal({"Host": "127.0.0.1"}) is None) == (port == 80)


def test_a_page_on_port_80_gets_no_websocket(studio):
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus, match="403"), visitor(studio, Origin="http://127.0.0.1"):
        pass


def test_a_server_that_is_not_guarded_is_ended(monkeypatch):
    """As if viser served by another function than the one that is guarded."""
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
        ("choices", "robot", "../../etc/passwd"),
        ("choices", "method", "no such method"),
        ("choices", "compared", 7),
        ("choices", "aim", None),
        ("trajectory", "scene", ["wedge"]),
        ("obstacles_tab", "size", float("nan")),
        ("obstacles_tab", "size", "12"),
        ("obstacles_tab", "avoid", "yes"),
        ("obstacles_tab", "add", "moon"),
    ],
)
def test_a_value_that_the_page_does_not_offer_changes_nothing(studio, panel, name, value):
    handle = getattr(getattr(studio, panel), name)
    before, wish = handle.value, studio.desk.wish
    with visitor(studio) as one, visitor(studio) as other:
        slide(one, handle, value)
        # Messages of one visitor come in their order: after this one the other was dealt with.
        slide(one, studio.choices.view["frames"], not studio.choices.view["frames"].value)
        frames = studio.choices.view["frames"]._impl.uuid
        until(lambda: any(message["uuid"] == frames for message in other.of_type("GuiUpdateMessage")))
        told = [m["updates"] for m in other.of_type("GuiUpdateMessage") if m["uuid"] == handle._impl.uuid]
        assert {"value": value} not in told
    assert handle.value == before
    assert studio.desk.wish is wish


def test_numbers_and_switches():
    class Handle:
        def __init__(self, value):
            self._impl = type("Impl", (), {"value": value, "props": None})()

    assert safety.possible(Handle(1.0), 2)
    assert safety.possible(Handle((1.0, 2.0)), [1, 2.5])
    assert safety.possible(Handle(False), True)
    for now, value in ((1.0, True), (1.0, 1e300), (1.0, 10**400), ((1.0, 2.0), [1.0]), ((1.0,), ["1"]), (False, 1)):
        assert not safety.possible(Handle(now), value)
