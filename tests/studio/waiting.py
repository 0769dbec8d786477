"""Wait for something that happens in another thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# Seconds, far longer than anything takes: a loaded machine that compiles must not fail a test.
PATIENCE = 180.0


def until(holds: Callable[[], Any]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def settle(studio: Any) -> None:
    """Wait until the latest request is answered, and the answer drawn."""
    assert studio.settle(PATIENCE)
