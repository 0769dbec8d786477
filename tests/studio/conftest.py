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

from arcreach.studio.app import Studio


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


@contextlib.contextmanager
def visitor(studio: Studio, **headers: str) -> Iterator[Any]:
    """A raw websocket client that viser counts as connected: it has told where its camera is."""
    from tests.studio.wire import connect

    with connect(studio, headers) as connection:
        yield connection
