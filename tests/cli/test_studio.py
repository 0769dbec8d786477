"""`arcreach studio` as a command."""

import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

from arcreach.cli.app import app
from arcreach.cli.commands import studio as command
from arcreach.errors import ArcreachError

pytest.importorskip("viser", reason="the extra studio is not installed")


def run(*words):
    return CliRunner().invoke(app, ["studio", *words])


@pytest.fixture
def visited(monkeypatch):
    """Do not wait for Ctrl-C: look at the page, and end."""
    opened = []
    monkeypatch.setattr(command.webbrowser, "open", opened.append)
    monkeypatch.setattr(command, "wait", lambda: None)
    return opened


def test_the_address_is_printed_and_opened(visited):
    result = run("two-section", "--port", "0")
    assert result.exit_code == 0
    assert "two-section is at http://127.0.0.1:" in result.output
    assert visited[0].startswith("http://127.0.0.1:")
    assert "warning" not in result.output


def test_a_remote_address_prints_a_warning(visited):
    result = run("two-section", "--port", "0", "--host", "0.0.0.0", "--allow-remote", "--no-browser")
    assert result.exit_code == 0
    assert "warning: everybody who can connect to this machine" in result.output
    assert visited == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no-such-robot",), "neither a robot of the catalogue nor a file"),
        (("librergm3-matrix",), "no body to draw"),
        (("two-section", "--scene", "no-such-scene"), "neither a scene"),
        (("two-section", "--port", "70000"), "port = 70000"),
        (("two-section", "--host", "0.0.0.0", "--port", "0"), "--allow-remote"),
    ],
)
def test_bad_input(visited, words, said):
    result = run(*words)
    assert isinstance(result.exception, ArcreachError)
    assert said in str(result.exception)


def test_another_loopback_address(visited):
    result = run("two-section", "--port", "0", "--host", "127.0.0.2")
    if "no address of this machine" in str(result.exception):
        pytest.skip("this machine has 127.0.0.1 only")
    assert result.exit_code == 0
    assert "is at http://127.0.0.2:" in result.output


@pytest.mark.compiled
def test_a_process_of_its_own_ends_with_ctrl_c():
    import signal

    line = [
        sys.executable,
        "-u",
        "-c",
        "from arcreach.cli import main; main()",
        "studio",
        "--port",
        "0",
        "--no-browser",
    ]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        try:
            said = server.stdout.readline()
            url = said.split(" is at ")[1].split(" ")[0]
            with urllib.request.urlopen(url, timeout=10.0) as page:
                assert b"<html" in page.read().lower()
            server.send_signal(signal.SIGINT)
            assert server.wait(20.0) == 0
        finally:
            server.kill()
