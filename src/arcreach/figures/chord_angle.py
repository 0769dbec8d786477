"""Draw the chord angle of sections against their bend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach.elements import Section
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.robots.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 721
PANEL, LEGEND = 52.0, 16.0
# First bend that is drawn, in radians: at rest the ratio k is 0 / 0.
FIRST = 1e-4


def chord_angle(sections: Mapping[str, Section], *, width: float = theme.TWO_COLUMNS) -> Figure:
    """Draw the ratio k = bend / chord angle, and the chord angle, against the bend of named sections.

    Bends run from 0 to `bend_max`. A dot marks the critical bend, at which the chord angle is largest: a section that
    bends further reaches no new direction. `width` is in millimetres. Source: [K22] figs. 2.2, 2.3.
    """
    if not sections:
        raise MethodError("sections is empty; give at least one section by name")
    from matplotlib.ticker import MultipleLocator

    looks = {name: {**look, "marker": ""} for name, look in theme.look(list(sections)).items()}
    with theme.style():
        figure = theme.new_figure(width, PANEL + LEGEND)
        panels = figure.subplots(1, 2)
        for name, section in sections.items():
            _draw(panels, Robot([section]), section.bend_max, looks[name])
        panels[0].set_ylabel("ratio k = θ / α")
        panels[1].set_ylabel("chord angle α (°)")
        for panel in panels:
            panel.set_xlabel("bend θ (°)")
            panel.set_xlim(0.0, max(np.degrees(section.bend_max) for section in sections.values()))
            panel.xaxis.set_major_locator(MultipleLocator(60.0))
        panels[1].yaxis.set_major_locator(MultipleLocator(60.0))
        theme.legend_below(figure, looks, 2)
        theme.settle(figure)
    return figure


def _draw(panels: Any, robot: Robot, bend_max: float, look: dict[str, Any]) -> None:
    bends = np.linspace(FIRST, bend_max, POINTS)
    q = np.zeros((POINTS, robot.dof))
    q[:, 0] = bends
    q[:, 2:] = robot.upper[2:]
    tips = robot.tip_pose(q)[:, :3, 3]
    # Unwrapped, because atan2 jumps where the chord angle reaches half a turn, as it does at a bend of a full turn.
    angles = np.unwrap(np.arctan2(tips[:, 0], tips[:, 2]))
    panels[0].plot(np.degrees(bends), bends / angles, **look)
    panels[1].plot(np.degrees(bends), np.degrees(angles), **look)
    critical = int(np.argmax(angles))
    if critical < POINTS - 1:
        dot = {"marker": "o", "color": look["color"], "markersize": 4.0, "linestyle": ""}
        panels[0].plot(np.degrees(bends[critical]), bends[critical] / angles[critical], **dot)
        panels[1].plot(np.degrees(bends[critical]), np.degrees(angles[critical]), **dot)
