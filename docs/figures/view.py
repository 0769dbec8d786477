"""Colours, fonts and an orthographic view, shared by the drawings of the documentation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch

# Colours of Okabe and Ito, distinguishable with colour blindness; the axes x, y, z use the first three.
VERMILION, GREEN, BLUE = "#D55E00", "#009E73", "#0072B2"
SKY, ORANGE, PURPLE = "#56B4E9", "#E69F00", "#CC79A7"
INK, GREY, STEEL, GROUND, PLANE = "#222222", "#777777", "#B5B5B5", "#E9E9E9", "#DCEBF5"
AXIS_COLOURS = (VERMILION, GREEN, BLUE)

plt.rcParams.update(
    {
        "font.family": "sans-serif",
        "font.sans-serif": ["Arial", "Helvetica", "DejaVu Sans"],
        "font.size": 8.5,
        "mathtext.fontset": "dejavusans",
    }
)


class View:
    """Orthographic projection to 2D axes, from an azimuth and elevation in degrees."""

    def __init__(self, axes: plt.Axes, azimuth: float, elevation: float) -> None:
        a, e = math.radians(azimuth), math.radians(elevation)
        right = (-math.sin(a), math.cos(a), 0.0)
        up = (-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e))
        self.axes = axes
        self.screen = np.array([right, up])
        axes.set_aspect("equal")
        axes.axis("off")

    def __call__(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(points, dtype=float) @ self.screen.T

    def line(self, points: np.ndarray, **style: object) -> None:
        self.axes.plot(*self(points).T, solid_capstyle="round", **style)

    def fill(self, points: np.ndarray, colour: str, **style: object) -> None:
        self.axes.fill(*self(points).T, facecolor=colour, **({"edgecolor": "none"} | style))

    def arrow(self, start: np.ndarray, end: np.ndarray, colour: str, width: float = 1.3, zorder: float = 6) -> None:
        patch = FancyArrowPatch(
            self(start),
            self(end),
            arrowstyle="-|>,head_length=4,head_width=1.8",
            color=colour,
            linewidth=width,
            shrinkA=0,
            shrinkB=0,
            joinstyle="miter",
            zorder=zorder,
        )
        self.axes.add_patch(patch)

    def text(self, point: np.ndarray, text: str, offset: tuple[float, float] = (0, 0), **style: object) -> None:
        style = {"ha": "center", "va": "center", "color": INK, "zorder": 9} | style
        self.axes.annotate(text, self(point), offset, textcoords="offset points", annotation_clip=False, **style)

    def leader(self, point: np.ndarray, text: str, offset: tuple[float, float], **style: object) -> None:
        line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 0}
        self.text(point, text, offset, arrowprops=line, **style)

    def frame(
        self, pose: np.ndarray, size: float, names: Sequence[str] = (), offsets: Sequence[tuple[float, float]] = ()
    ) -> None:
        origin = pose[:3, 3]
        tips = origin + size * pose[:3, :3].T
        for tip, colour in zip(tips, AXIS_COLOURS, strict=True):
            self.arrow(origin, tip, colour)
        for tip, colour, name, offset in zip(tips, AXIS_COLOURS, names, offsets, strict=False):
            self.text(tip, name, offset, color=colour)
        self.axes.plot(*self(origin), "o", color=INK, markersize=3, zorder=7)

    def window(self, left: float, right: float, bottom: float, top: float) -> None:
        self.axes.set_xlim(left, right)
        self.axes.set_ylim(bottom, top)
