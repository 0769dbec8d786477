"""The scene as one HTML file that works offline, with a caption and the frames of an animation."""

from __future__ import annotations

import html
from collections.abc import Callable

from arcreach._text import count
from arcreach.studio.page import titled
from arcreach.studio.panels.results import table_of
from arcreach.studio.stage.stage import Stage
from arcreach.studio.state.answer import Answer
from arcreach.studio.state.request import POSITION

# Largest number of frames in the file: each holds all vertices of the robot.
MOST_FRAMES = 150
CAPTION = (
    "position:fixed;left:16px;top:16px;z-index:10;width:min(18rem,calc(100vw - 80px));max-height:40vh;overflow:auto;"
    "padding:8px 0;border-radius:6px;background:rgba(255,255,255,0.9);box-shadow:0 0 8px rgba(0,0,0,0.15);"
    "color:#222;font:14px/1.4 system-ui,sans-serif;pointer-events:none"
)


def saved_page(stage: Stage, title: str, caption: str, frames: int, rate: float, draw: Callable[[int], None]) -> str:
    """Return the scene as HTML, without the target's handles; `draw` draws each frame of the animation.

    The caller holds the lock of the stage, and redraws the scene afterwards.
    """
    step = max(1, -(-frames // MOST_FRAMES))
    with stage.target.without_handles():
        serializer = stage.server.get_scene_serializer()
        for frame in range(0, frames, step):
            draw(frame)
            serializer.insert_sleep(step / rate)
        page = titled(str(serializer.as_html()), title)
    body, end, after = page.rpartition("</body>")
    return f'{body}<div data-arcreach="caption" style="{CAPTION}">{caption}</div>{end}{after}'


def caption_of(name: str, answer: Answer, animation: str) -> str:
    """Return the robot's name, the target and the table of results as HTML; all text in it is escaped."""
    request = answer.request
    # The option z writes rounded negative zeros without a sign.
    x, y, z = (f"{1e3 * value:z.1f}".replace("-", "−") for value in request.pose[:3, 3])
    lines = [f"<b>{html.escape(name)}</b>", f"target {x}, {y}, {z} mm"]
    if request.aim != POSITION:
        lines.append("axis " + ", ".join(f"{value:z.3f}".replace("-", "−") for value in request.pose[:3, 2]))
    if len(request.scene):
        lines.append(count(len(request.scene), "obstacle"))
    if animation:
        lines.append(html.escape(animation))
    return f'<div style="padding:0 12px">{"<br>".join(lines)}</div>{table_of(answer)}'
