"""The buttons that save a page."""

import importlib.util
import sys

import pytest
from tests.studio.waiting import until
from tests.studio.wire import client_of


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the extra web")
def test_the_robot_is_saved_as_a_page_that_solves(studio):
    with client_of(studio) as client:
        client.set(studio.panels.view.export, True)
        until(lambda: client.of_type("FileTransferPart"))
        content = b"".join(part["content"] for part in client.of_type("FileTransferPart"))
        assert b"WebAssembly.Module" in content
        assert b"<title>three-section</title>" in content


def test_a_missing_compiler_is_named(studio, monkeypatch):
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with client_of(studio) as client:
        client.set(studio.panels.view.export, True)
        until(client.notifications)
        assert "pip install 'arcreach[web]'" in client.notifications()[0]["body"]
