"""The scene as one HTML file that needs no network; a film in it plays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

# Frames of a film that are kept: every one of them holds all points of the robot.
MOST_FRAMES = 150


def as_html(server: Any, hidden: Iterable[Any], moments: int, rate: float, draw: Callable[[int], None]) -> str:
    """The scene as it stands, without what is only for the hand, and with the moments of a film drawn by `draw`.

    The moments are drawn inside one atomic step: visitors see where it ends, which must be where it began.
    """
    handles = list(hidden)
    visible = [handle.visible for handle in handles]
    step = max(1, -(-moments // MOST_FRAMES))
    try:
        for handle in handles:
            handle.visible = False
        serializer = server.get_scene_serializer()
        for moment in range(0, moments, step):
            draw(moment)
            serializer.insert_sleep(step / rate)
        return str(serializer.as_html())
    finally:
        for handle, was in zip(handles, visible, strict=True):
            handle.visible = was
