"""Draw single sections: bodies at several bends with the curve of the tip, and the chord angle against the bend."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import GREEN, GREY, MM
from arcreach.robots.robot import Robot

POINTS, CURVE, BENDS = 240, 201, 721
PANEL, LEGEND = 62.0, 14.0  # millimetres
ANGLE_PANEL, ANGLE_LEGEND = 52.0, 16.0
# Range of the colour map in use: its last colours are too pale on white.
DARKEST, BRIGHTEST = 0.0, 0.85
# First bend that is drawn, in radians: at rest the ratio k is 0 / 0.
FIRST = 1e-4


def section_bodies(
    sections: Mapping[str, Section],
    *,
    largest: float = math.radians(100.0),
    step: float = math.radians(10.0),
    width: theme.Width = theme.TWO_COLUMNS,
) -> theme.Figure:
    """Draw sections by name side by side, at bends from 0 to `largest` in steps of `step` radians, at full length.

    The curve of the tip is the workspace of a section in its bending plane. Dots are the ends of sub-arcs.
    `width` is in millimetres. Source: [K22] fig. 3.14.
    """
    width = theme.millimetres(width)
    if not sections:
        raise MethodError("sections is empty; give at least one section by name")
    for name, section in sections.items():
        if not 0.0 < step <= largest <= section.bend_max * (1.0 + 1e-9):
            raise MethodError(
                f"largest = {largest!r} and step = {step!r} are not accepted for '{name}'; give 0 < step <= largest <= "
                f"{section.bend_max:.6g}, its bend_max"
            )
    bends = np.arange(0.0, largest + 1e-9, step)
    with theme.drawing(width, PANEL + LEGEND) as figure:
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        colours = colormaps["viridis"](np.linspace(DARKEST, BRIGHTEST, len(bends)))
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
        shades = ScalarMappable(scale, ListedColormap(colours))
        bar = figure.colorbar(shades, ax=panels, ticks=degrees[::2], label="bend (°)", pad=0.01)
        bar.outline.set_visible(False)
        handles = [
            theme.handle("workspace curve of the tip", color=GREEN, linewidth=1.6),
            theme.handle("ends of sub-arcs", color=GREY, marker=".", linestyle="none"),
        ]
        theme.legend_below(figure, handles)
    return figure


def chord_angle(sections: Mapping[str, Section], *, width: theme.Width = theme.TWO_COLUMNS) -> theme.Figure:
    """Draw the ratio k = bend / chord angle, and the chord angle, against the bend of named sections.

    Bends run from 0 to `bend_max`. A dot marks the critical bend, at which the chord angle is largest: a section that
    bends further reaches no new direction. `width` is in millimetres. Source: [K22] figs. 2.2, 2.3.
    """
    width = theme.millimetres(width)
    if not sections:
        raise MethodError("sections is empty; give at least one section by name")
    from matplotlib.ticker import MultipleLocator

    looks = theme.look(list(sections), marker="")
    with theme.drawing(width, ANGLE_PANEL + ANGLE_LEGEND) as figure:
        panels = figure.subplots(1, 2)
        for name, section in sections.items():
            _draw_angles(panels, Robot([section]), section.bend_max, looks[name])
        panels[0].set_ylabel("ratio k = θ / α")
        panels[1].set_ylabel("chord angle α (°)")
        for panel in panels:
            panel.set_xlabel("bend θ (°)")
            panel.set_xlim(0.0, max(np.degrees(section.bend_max) for section in sections.values()))
            panel.xaxis.set_major_locator(MultipleLocator(60.0))
        panels[1].yaxis.set_major_locator(MultipleLocator(60.0))
        theme.legend_below(figure, looks, 2)
    return figure


def _draw(panel: Any, section: Section, bends: Array, colours: Any) -> None:
    robot = Robot([section])
    shares = np.cumsum(section.length_weights) / np.sum(section.length_weights)
    joints = np.round(shares * (POINTS - 1)).astype(int)
    for q, colour in zip(_bent(robot, bends), colours, strict=True):
        line = robot.backbone(q, POINTS)[:, [0, 2]] * MM
        panel.plot(*line.T, color=colour, linewidth=0.9)
        panel.plot(*line[joints].T, ".", color=GREY, markersize=2.0, zorder=3.0)
    tips = robot.tip_pose(_bent(robot, np.linspace(0.0, bends[-1], CURVE)))
    panel.plot(*(tips[:, [0, 2], 3] * MM).T, color=GREEN, linewidth=1.6, zorder=2.5)


def _bent(robot: Robot, bends: Array) -> Array:
    """Return configurations (n, dof) of one section at full length with bends (n,) towards x."""
    q = np.tile(robot.upper, (len(bends), 1))
    q[:, 0], q[:, 1] = bends, 0.0
    return q


def _draw_angles(panels: Any, robot: Robot, bend_max: float, look: dict[str, Any]) -> None:
    bends = np.linspace(FIRST, bend_max, BENDS)
    tips = robot.tip_pose(_bent(robot, bends))[:, :3, 3]
    # Unwrapped, because atan2 jumps where the chord angle reaches half a turn, as it does at a bend of a full turn.
    angles = np.unwrap(np.arctan2(tips[:, 0], tips[:, 2]))
    panels[0].plot(np.degrees(bends), bends / angles, **look)
    panels[1].plot(np.degrees(bends), np.degrees(angles), **look)
    critical = int(np.argmax(angles))
    if critical < BENDS - 1:
        dot = {"marker": "o", "color": look["color"], "markersize": 4.0, "linestyle": ""}
        panels[0].plot(np.degrees(bends[critical]), bends[critical] / angles[critical], **dot)
        panels[1].plot(np.degrees(bends[critical]), np.degrees(angles[critical]), **dot)
