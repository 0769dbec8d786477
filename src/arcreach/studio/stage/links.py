"""The virtual links of a FABRIK method in the scene, after the forward and the backward stage of an iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.studio.stage import colours

# In reaches of the robot.
THICKNESS = 0.006
COLOURS = {"forward": colours.VERMILION, "backward": colours.BASE}


class DrawnLinks:
    """Tangents, or chords where there are none, as line segments of one colour per stage."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.drawn: dict[str, Any] = {}

    def draw(self, links: Mapping[str, Array], scale: float) -> None:
        """Show links (sections, 3, 3) in metres by stage in place of the previous ones; NaN are left out."""
        for handle in self.drawn.values():
            handle.remove()
        self.drawn = {}
        for stage, colour in COLOURS.items():
            segments = link_segments(links[stage]) if stage in links else np.empty((0, 2, 3), np.float32)
            if len(segments):
                self.drawn[stage] = self._server.scene.add_line_segments(
                    f"/links/{stage}", scale * segments, colour, thickness=THICKNESS
                )


def link_segments(links: Array) -> npt.NDArray[np.float32]:
    """Return tangents, or chords where there are none, as segments (k, 2, 3)."""
    tangents = np.concatenate([links[:, :2], links[:, 1:]])
    segments = links[:, ::2] if np.isnan(links[:, 1]).any() else tangents
    return np.asarray(segments[np.isfinite(segments).all(axis=(1, 2))], np.float32)
