"""Draw contact plans, and below them the shortest path as an elastic rod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.planar import (
    draw_base,
    draw_body,
    draw_candidates,
    draw_obstacles,
    draw_target,
    finish_panel,
)
from arcreach.figures.drawing.theme import BLUE, GREEN, GREY, INK, MM, ORANGE, PURPLE, SKY, VERMILION
from arcreach.planning.contact.contact_plan import FORWARD, ContactPlan, ContactPlans
from arcreach.scenes.planar import Disc

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Colours of the paths, shortest first; the last colour is used for all further paths.
PATHS = (BLUE, VERMILION, PURPLE, ORANGE, SKY)
# Heights in millimetres of a row of panels and of the legend.
ROW, LEGEND = 52.0, 12.0


def contact(plans: Mapping[str, ContactPlans], *, rod: bool = True, width: float = theme.TWO_COLUMNS) -> Figure:
    """Draw the paths found in several scenes side by side; `rod` adds a row with the shortest as an elastic rod.

    `width` is in millimetres.
    """
    if not plans:
        raise MethodError("plans is empty; give at least one scene with its title")
    rows = 2 if rod and any(len(found) for found in plans.values()) else 1
    columns = 4 if width >= theme.TWO_COLUMNS else 2
    with theme.style():
        figure = theme.new_figure(width, rows * ROW + LEGEND * 4 / columns)
        panels = figure.subplots(rows, len(plans), squeeze=False, sharex="col", sharey="col")
        for column, (title, found) in enumerate(plans.items()):
            _draw_paths(panels[0, column], found)
            count = f"{len(found)} solution{'' if len(found) == 1 else 's'}"
            finish_panel(panels[0, column], f"{title}: {count}")
            if rows == 2:
                _draw_rod(panels[1, column], found)
            panels[-1, column].set_xlabel("x (mm)")
        for panel in panels[:, 0]:
            panel.set_ylabel("z (mm)")
        # At the width of one column the legend does not fit at the usual font size.
        size = 8.0 if columns == 4 else 7.0
        figure.legend(handles=_legend(rows == 2), loc="outside lower center", ncols=columns, fontsize=size)
        theme.settle(figure)
    return figure


def contact_motion(plan: ContactPlan, *, moments: int = 6, width: float = theme.TWO_COLUMNS) -> Figure:
    """Draw the body as it grows along a path, in a row of `moments` panels."""
    if moments < 2:
        raise MethodError(f"moments = {moments} is not accepted; give 2 or more")
    with theme.style():
        line = plan.line()
        low, high = _extent(plan)
        height = width / moments * (high[1] - low[1]) / (high[0] - low[0])
        figure = theme.new_figure(width, float(np.clip(height, 20.0, 90.0)) + 6.0)
        panels = figure.subplots(1, moments, sharex=True, sharey=True)
        for panel, frame in zip(panels, plan.frames(moments), strict=True):
            draw_obstacles(panel, plan.surroundings.obstacles)
            panel.plot(*(line * MM).T, color=GREY, linewidth=0.5, linestyle=(0, (2, 2)), zorder=2.0)
            draw_body(panel, frame, plan.body.radius, BLUE)
            draw_base(panel)
            draw_target(panel, plan.target)
            grown = float(np.hypot(*np.diff(frame, axis=0).T).sum())
            finish_panel(panel, f"{grown * MM:.0f} mm")
            panel.set_axis_off()
        theme.settle(figure)
    return figure


def _extent(plan: ContactPlan) -> tuple[Array, Array]:
    """Return the corners of the bounding box of a plan and its obstacles."""
    points = [plan.line(), np.array([plan.target])]
    for shape in plan.surroundings.obstacles:
        if isinstance(shape, Disc):
            points.append(np.array(shape.centre) + shape.radius * np.array([[-1.0, -1.0], [1.0, 1.0]]))
        else:
            points.append(np.array(shape.points))
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


def _draw_scene(panel: Any, found: ContactPlans) -> None:
    draw_obstacles(panel, found.surroundings.obstacles)
    draw_base(panel)
    draw_target(panel, found.target)


def _draw_paths(panel: Any, found: ContactPlans) -> None:
    _draw_scene(panel, found)
    draw_candidates(panel, found)
    for i in reversed(range(len(found))):
        colour = PATHS[min(i, len(PATHS) - 1)]
        draw_body(panel, found[i].line(), found.body.radius, colour, zorder=3.0 if i else 3.5)
        for arc in found[i].arcs[:-1]:
            assert arc.contact is not None
            marker = "^" if arc.kind == FORWARD else "v"
            panel.plot(
                arc.contact[0] * MM,
                arc.contact[1] * MM,
                marker,
                markersize=4.5,
                markerfacecolor="white",
                markeredgecolor=colour,
                markeredgewidth=0.9,
                zorder=5.0,
            )


def _draw_rod(panel: Any, found: ContactPlans) -> None:
    _draw_scene(panel, found)
    if not len(found):
        finish_panel(panel, "")
        return
    plan = found[0]
    panel.plot(*(plan.line() * MM).T, color=BLUE, linewidth=0.8, alpha=0.6, zorder=3.0)
    panel.plot(*(plan.rod.line * MM).T, color=INK, linestyle=(0, (4, 1.5)), zorder=3.2)
    if plan.repair.converged:
        panel.plot(*(plan.repair.line * MM).T, color=GREEN, zorder=3.1)
    away = plan.rod.deviation(plan.target) * MM
    text = f"rod {away:.0f} mm off" if plan.rod.converged else "no equilibrium of the rod"
    finish_panel(panel, text)


def _legend(rod: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    hollow: dict[str, Any] = {
        "linestyle": "none",
        "markerfacecolor": "white",
        "markeredgecolor": INK,
        "markersize": 4.5,
    }
    handles = [
        Line2D([], [], color=BLUE, label="shortest path"),
        Line2D([], [], color=VERMILION, label="longer paths"),
        Line2D([], [], marker="^", label="forward-blocking contact", **hollow),
        Line2D([], [], marker="v", label="backward-blocking contact", **hollow),
        Line2D([], [], color=GREEN, marker=".", markersize=3.5, linestyle="none", label="possible contact"),
    ]
    if rod:
        handles += [
            Line2D([], [], color=INK, linestyle=(0, (4, 1.5)), label="elastic rod, same actuation"),
            Line2D([], [], color=GREEN, label="elastic rod, repaired"),
        ]
    return handles
