"""Draw sections at several bends, and the curve that the tip describes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import GREEN, GREY, MM
from arcreach.robots.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS, CURVE = 240, 201
PANEL, LEGEND = 62.0, 14.0  # millimetres
# Range of the colour map in use: its last colours are too pale on white.
DARKEST, BRIGHTEST = 0.0, 0.85


def section_bodies(
    sections: Mapping[str, Section],
    *,
    largest: float = math.radians(100.0),
    step: float = math.radians(10.0),
    width: float = theme.TWO_COLUMNS,
) -> Figure:
    """Draw sections by name side by side, at bends from 0 to `largest` in steps of `step` radians, at full length.

    The curve of the tip is the workspace of a section in its bending plane. Dots are the ends of sub-arcs.
    `width` is in millimetres. Source: [K22] fig. 3.14.
    """
    if not sections:
        raise MethodError("sections is empty; give at least one section by name")
    for name, section in sections.items():
        if not 0.0 < step <= largest <= section.bend_max * (1.0 + 1e-9):
            raise MethodError(
                f"largest = {largest!r} and step = {step!r} are not accepted for '{name}'; give 0 < step <= largest <= "
                f"{section.bend_max:.6g}, its bend_max"
            )
    bends = np.arange(0.0, largest + 1e-9, step)
    with theme.style():
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap, Normalize

        colours = colormaps["viridis"](np.linspace(DARKEST, BRIGHTEST, len(bends)))
        figure = theme.new_figure(width, PANEL + LEGEND)
        panels = figure.subplots(1, len(sections), squeeze=False, sharex=True, sharey=True)[0]
        for panel, (name, section) in zip(panels, sections.items(), strict=True):
            _draw(panel, section, bends, colours)
            panel.set_title(name, loc="left")
            panel.set_xlabel("x (mm)")
            panel.set_aspect("equal")
        panels[0].set_ylabel("z (mm)")
        degrees = np.degrees(bends)
        half = 0.5 * float(np.degrees(step))
        scale = Normalize(degrees[0] - half, degrees[-1] + half)
        bar = figure.colorbar(
            _mappable(scale, ListedColormap(colours)), ax=panels, ticks=degrees[::2], label="bend (°)", pad=0.01
        )
        bar.outline.set_visible(False)
        _legend(figure)
        theme.settle(figure)
    return figure


def _mappable(scale: Any, colours: Any) -> Any:
    from matplotlib.cm import ScalarMappable

    return ScalarMappable(scale, colours)


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=GREEN, linewidth=1.6, label="workspace curve of the tip"),
        Line2D([], [], color=GREY, marker=".", linestyle="none", label="ends of sub-arcs"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)


def _draw(panel: Any, section: Section, bends: Array, colours: Any) -> None:
    robot = Robot([section])
    shares = np.cumsum(section.length_weights) / np.sum(section.length_weights)
    joints = np.round(shares * (POINTS - 1)).astype(int)
    for bend, colour in zip(bends, colours, strict=True):
        line = robot.backbone(_bent(robot, bend), POINTS)[:, [0, 2]] * MM
        panel.plot(*line.T, color=colour, linewidth=0.9)
        panel.plot(*line[joints].T, ".", color=GREY, markersize=2.0, zorder=3.0)
    tips = robot.tip_pose(np.array([_bent(robot, bend) for bend in np.linspace(0.0, bends[-1], CURVE)]))
    panel.plot(*(tips[:, [0, 2], 3] * MM).T, color=GREEN, linewidth=1.6, zorder=2.5)


def _bent(robot: Robot, bend: float) -> Array:
    """Return the configuration of one section at full length with a bend towards x."""
    return np.concatenate([[bend, 0.0], robot.upper[2:]])
