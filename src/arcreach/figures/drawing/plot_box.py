"""The box around a 3D plot: a floor and two far walls with grids, and numbers along three edges."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from arcreach._text import LENGTHS
from arcreach._typing import Array
from arcreach.figures.drawing.canvas import Canvas
from arcreach.figures.drawing.theme import INK

GRID, EDGE = "#E4E4E4", "#BDBDBD"
# Approximate number of grid steps along the longest side.
STEPS = 5.0
# A unit is used if the longest side measures at least this many of it.
LEAST = 2.0
# Free space around the content, as a share of the longest side.
SPARE = 0.07
# Smallest lengths of the sides in grid steps: around a straight robot there is room for numbers and the frames' arrows.
NARROWEST = (2.2, 2.2, 1.0)
# Typographic points: length of a tick, distance from an edge to its numbers, width and height of a digit, and distance
# from the numbers to the title, also beside the vertical edge.
TICK, NUMBER, DIGIT, HEIGHT, TITLE, TITLE_BESIDE = 2.5, 5.0, 5.0, 8.0, 5.0, 7.0
# Half the length of a title, in digits.
HALF_TITLE = 3.6


class PlotBox:
    """A box around points (n, 3) in metres, with its floor at the lowest point; grid lines are at round numbers."""

    def __init__(self, points: Array) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        longest = float((high - low).max())
        self.step = round_step(longest / STEPS)
        self.unit = next((unit for unit in LENGTHS if longest >= LEAST * unit[0]), LENGTHS[-1])
        # Free space at the sides and above.
        spare = np.maximum(SPARE * longest, 0.5 * (self.step * np.array(NARROWEST) - (high - low)))
        self.low = low - spare * (1.0, 1.0, 0.0)
        self.high = high + spare

    @property
    def corners(self) -> Array:
        """The eight corners (8, 3)."""
        return np.array(list(itertools.product(*zip(self.low, self.high, strict=True))))

    def ticks(self, axis: int) -> Array:
        """Return the positions of the grid lines along an axis, at least two, from which the scale can be read."""
        step = self.step
        while True:
            first, last = np.ceil(self.low[axis] / step - 1e-6), np.floor(self.high[axis] / step + 1e-6)
            if last > first:
                # Adding 0.0 removes a negative zero.
                return np.asarray(step * np.arange(first, last + 1.0) + 0.0)
            # A short side has finer lines. 0.39 leads from 5 to 2, from 2 to 1 and from 1 to 0.5.
            step = round_step(0.39 * step)

    def draw(self, panel: Any, canvas: Canvas) -> None:
        """Draw the floor, the two far walls and the numbers."""
        # Along each axis: the side of the box towards the viewer, and the far side, where the walls are drawn.
        near = np.where(canvas.axes[2] > 0.0, self.high, self.low)
        far = np.where(canvas.axes[2] > 0.0, self.low, self.high)
        faces = [(0, 1, 2, self.low[2]), (1, 2, 0, far[0]), (0, 2, 1, far[1])]
        for first, second, fixed, value in faces:
            self._grid(panel, canvas, first, second, fixed, value)
        # Numbers are drawn at the near edges of the floor and at the leftmost vertical edge.
        away = np.sign(near - far)
        self._numbers(panel, canvas, 0, (0.0, near[1], self.low[2]), (0.0, away[1], 0.0))
        self._numbers(panel, canvas, 1, (near[0], 0.0, self.low[2]), (away[0], 0.0, 0.0))
        posts = [((near[0], far[1], 0.0), (away[0], 0.0, 0.0)), ((far[0], near[1], 0.0), (0.0, away[1], 0.0))]
        self._numbers(panel, canvas, 2, *min(posts, key=lambda post: float(canvas.project(post[0])[0])))

    def _grid(self, panel: Any, canvas: Canvas, first: int, second: int, fixed: int, value: float) -> None:
        for along, across in ((first, second), (second, first)):
            for tick in (*self.ticks(across), self.low[across], self.high[across]):
                line = np.zeros((2, 3))
                line[:, fixed], line[:, across] = value, tick
                line[:, along] = self.low[along], self.high[along]
                edge = tick in (self.low[across], self.high[across])
                style = {"color": EDGE if edge else GRID, "linewidth": 0.6 if edge else 0.5}
                panel.plot(*canvas.project(line)[:, :2].T, zorder=0.2 if edge else 0.1, solid_capstyle="round", **style)

    def _numbers(self, panel: Any, canvas: Canvas, axis: int, at: tuple[float, ...], away: tuple[float, ...]) -> None:
        """Draw an edge of the box with its ticks, numbers and title, which are offset in the direction `away`."""
        edge = np.tile(np.array(at, dtype=float), (2, 1))
        edge[:, axis] = self.low[axis], self.high[axis]
        ends = canvas.project(edge)[:, :2]
        panel.plot(*ends.T, color=INK, linewidth=0.6, zorder=0.4, solid_capstyle="round")
        out = canvas.project(away)[:2]
        if axis == 2:
            # Beside a vertical edge numbers are level with their ticks.
            out[1] = 0.0
        out = out / max(float(np.hypot(*out)), 1e-9)
        centred = {"ha": "center", "va": "center"}
        widest = 0
        for tick in self.ticks(axis):
            point = edge[0].copy()
            point[axis] = tick
            place = canvas.project(point)[:2]
            text = f"{tick / self.unit[0]:.10g}".replace("-", "\N{MINUS SIGN}")
            widest = max(widest, len(text))
            line = {"arrowstyle": "-", "color": INK, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0}
            panel.annotate("", place, TICK * out, textcoords="offset points", arrowprops=line)
            # Texts are wider than high and need more space sideways.
            offset = NUMBER + abs(out[0]) * 0.5 * DIGIT * len(text) + abs(out[1]) * 0.5 * HEIGHT
            panel.annotate(text, place, offset * out, textcoords="offset points", **centred)
        turned = 90.0 if axis == 2 else 0.0
        offset = NUMBER + (abs(out[0]) * DIGIT * widest + abs(out[1]) * HEIGHT)
        offset += TITLE_BESIDE if axis == 2 else TITLE + abs(out[0]) * HALF_TITLE * DIGIT
        name = f"{'xyz'[axis]} ({self.unit[1]})"
        panel.annotate(name, ends.mean(axis=0), offset * out, textcoords="offset points", rotation=turned, **centred)


def round_step(size: float) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is not below a size."""
    power = 10.0 ** math.floor(math.log10(size)) if size > 0.0 else 1e-3
    return next((factor * power for factor in (1.0, 2.0, 5.0) if factor * power >= size), 10.0 * power)
