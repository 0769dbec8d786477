"""The page as the browser receives it."""

import gzip
import http.client
from pathlib import Path

import pytest

from arcreach.studio.page import titled


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


def test_viser_has_the_texts_that_are_replaced():
    import viser

    client = Path(viser.__file__).parent / "client"
    assert "<title>Viser</title>" in (client / "build" / "index.html").read_text(encoding="utf-8")
    sheet = (client / "src" / "ControlPanel" / "BottomPanel.tsx").read_text(encoding="utf-8")
    assert 'maxHeight: "60%"' in sheet
    assert sheet.count('width: "20em"') == 2


def test_a_title_is_escaped():
    assert titled("<title>Viser</title>", "<script>") == "<title>&lt;script&gt;</title>"
