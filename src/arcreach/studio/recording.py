"""The scene as one HTML file that needs no network: the robot, its target, its name and numbers; a film in it plays."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable, Iterator

import numpy as np

from arcreach.studio import colours, words
from arcreach.studio.page import titled
from arcreach.studio.panels.results import table_of
from arcreach.studio.solving import Answer
from arcreach.studio.stage import Stage
from arcreach.studio.tube import arrow_mesh
from arcreach.studio.wish import POSITION

# Frames of a film that are kept: every one of them holds all points of the robot.
MOST_FRAMES = 150
SAVED = "/saved-target"
CAPTION = (
    "position:fixed;left:16px;top:16px;z-index:10;width:min(18rem,calc(100vw - 80px));max-height:40vh;overflow:auto;"
    "padding:8px 0;border-radius:6px;background:rgba(255,255,255,0.9);box-shadow:0 0 8px rgba(0,0,0,0.15);"
    "color:#222;font:14px/1.4 system-ui,sans-serif;pointer-events:none"
)


def as_html(stage: Stage, title: str, caption: str, moments: int, rate: float, draw: Callable[[int], None]) -> str:
    """The scene as it stands, without what is only for the hand, and with the moments of a film drawn by `draw`.

    The moments are drawn inside one atomic step: visitors see where it ends, which must be where it began.
    """
    step = max(1, -(-moments // MOST_FRAMES))
    with _fixed_target(stage):
        serializer = stage.server.get_scene_serializer()
        for moment in range(0, moments, step):
            draw(moment)
            serializer.insert_sleep(step / rate)
        page = titled(str(serializer.as_html()), title)
    body, end, after = page.rpartition("</body>")
    return f'{body}<div data-arcreach="caption" style="{CAPTION}">{caption}</div>{end}{after}'


@contextlib.contextmanager
def _fixed_target(stage: Stage) -> Iterator[None]:
    """While the page is written: ball and arrow of the target, without the handles to drag it by."""
    scene, target = stage.server.scene, stage.target
    if not target.visible:
        yield
        return
    target.visible = False
    scene.add_frame(SAVED, show_axes=False, wxyz=target.wxyz, position=target.position)
    scene.add_icosphere(f"{SAVED}/ball", float(stage.ball.scale), colours.VERMILION, cast_shadow=False)
    if stage.arrow.visible:
        points, faces = arrow_mesh(1.0)
        scene.add_mesh_simple(
            f"{SAVED}/axis", float(stage.arrow.scale) * points, faces, color=colours.VERMILION, cast_shadow=False
        )
    try:
        yield
    finally:
        scene.remove_by_name(SAVED)
        target.visible = True


def caption_of(name: str, answer: Answer, film: str) -> str:
    """Name, target and numbers of what is shown, as HTML; every text in it is escaped."""
    wish = answer.wish
    x, y, z = (f"{1e3 * value:.1f}".replace("-", "−") for value in wish.pose[:3, 3])
    lines = [f"<b>{html.escape(name)}</b>", f"target {x}, {y}, {z} mm"]
    if wish.aim != POSITION:
        lines.append("axis " + ", ".join(f"{value:.3f}".replace("-", "−") for value in np.add(wish.pose[:3, 2], 0.0)))
    if len(wish.scene):
        lines.append(words.counted(len(wish.scene), "obstacle"))
    if film:
        lines.append(html.escape(film))
    return f'<div style="padding:0 12px">{"<br>".join(lines)}</div>{table_of(answer)}'
