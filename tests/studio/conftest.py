"""A studio on a free port."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import pytest

if importlib.util.find_spec("viser") is None:
    # Without the extra there is no page to test.
    collect_ignore_glob = ["*test_*.py"]

import arcreach as ar
from arcreach.errors import StudioError
from arcreach.studio.app import Studio
from arcreach.studio.state.jog import BASE
from arcreach.studio.state.request import AXIS, NO_METHOD, Tuning
from tests.studio.waiting import settle


@pytest.fixture(scope="session")
def page() -> Iterator[Studio]:
    """One studio for all tests of a process."""
    with Studio(port=0) as studio:
        settle(studio)
        yield studio


@pytest.fixture
def studio(page: Studio) -> Iterator[Studio]:
    """The studio as it is at first."""
    page.player.close()
    page.panels.reset()
    page.panels.jog.frame.value = BASE
    page.state.own_scene = None
    page.set_robot(ar.load_robot("three-section"))
    page.change(aim=AXIS, method="auto", compared=NO_METHOD, avoid=True, tuning=Tuning())
    settle(page)
    with contextlib.suppress(StudioError):
        while True:
            page.state.undo()
    yield page
    page.jobs.cancel()


class Instantly:
    """A background process that returns a given value at once."""

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


@pytest.fixture
def instantly(page: Studio, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Instantly]:
    """Replace the background process of the studio by one that returns a value at once."""

    def replace(value: Any, good: bool = True) -> Instantly:
        work = Instantly(value, good)
        monkeypatch.setattr(page.jobs, "background", work)
        return work

    return replace
