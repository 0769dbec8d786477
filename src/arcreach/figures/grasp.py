"""Draw a grasp: the approach and the wrap around the object, and the final shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach.figures.drawing import theme
from arcreach.figures.drawing.planar import FILL, draw_base, draw_body, draw_obstacles, finish_panel
from arcreach.figures.drawing.theme import BLUE, COLOURS, GREY, MM, ORANGE, VERMILION
from arcreach.planning.contact.contact_plan import line_of
from arcreach.planning.contact.grasp_plan import GraspPlan, arcs_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OBJECT = "#F7E3B5"
# Number of moments of the motion drawn in the first panel.
SHAPES = 9
HEIGHT = 72.0


def grasp(plan: GraspPlan, *, title: str = "", width: float = theme.TWO_COLUMNS) -> Figure:
    """Draw the motion of a grasp and the final shape by sections, side by side; `width` is in millimetres."""
    with theme.style():
        figure = theme.new_figure(width, HEIGHT)
        moving, held = figure.subplots(1, 2, sharex=True, sharey=True)
        for panel in (moving, held):
            _draw_scene(panel, plan)
            panel.set_xlabel("x (mm)")
        _draw_motion(moving, plan)
        _draw_grasp(held, plan)
        finish_panel(moving, f"{title}: approach and wrap" if title else "approach and wrap")
        finish_panel(held, f"wrap {math.degrees(plan.wrap_angle):.0f}°, body {plan.length * MM:.0f} mm")
        moving.set_ylabel("z (mm)")
        figure.legend(handles=_legend(plan), loc="outside lower center", ncols=5)
        theme.settle(figure)
    return figure


def _draw_scene(panel: Any, plan: GraspPlan) -> None:
    from matplotlib.patches import Circle

    draw_obstacles(panel, [shape for shape in plan.surroundings.obstacles if shape != plan.object], FILL, GREY)
    draw_obstacles(panel, [plan.object], OBJECT, ORANGE)
    centre = (plan.centre[0] * MM, plan.centre[1] * MM)
    style: dict[str, Any] = {"fill": False, "edgecolor": GREY, "linewidth": 0.6, "linestyle": (0, (2, 2))}
    panel.add_patch(Circle(centre, plan.object_radius * MM, zorder=2.0, **style))
    draw_base(panel)


def _draw_motion(panel: Any, plan: GraspPlan) -> None:
    frames = plan.frames()
    chosen = np.unique(np.linspace(0, len(frames) - 1, SHAPES).round().astype(int))
    for i, k in enumerate(chosen):
        alpha = 0.25 + 0.75 * i / (len(chosen) - 1)
        last = k == len(frames) - 1
        if last:
            draw_body(panel, frames[k], plan.radius, BLUE, zorder=4.0)
        else:
            panel.plot(*(frames[k] * MM).T, color=BLUE, linewidth=0.7, alpha=alpha, zorder=3.0)


def _colours(plan: GraspPlan) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(len(plan.pieces))]


def _draw_grasp(panel: Any, plan: GraspPlan) -> None:
    for arc, colour in zip(arcs_of(plan.pieces), _colours(plan), strict=True):
        draw_body(panel, line_of([arc], 100), plan.radius, colour, zorder=4.0)
    touched = np.array(plan.touched).reshape(-1, 2) * MM
    panel.plot(*touched.T, "o", markersize=3.5, markerfacecolor="white", markeredgecolor=VERMILION, zorder=6.0)


def _legend(plan: GraspPlan) -> list[Any]:
    from matplotlib.lines import Line2D

    several = plan.q is not None
    names = []
    for i in range(len(plan.pieces)):
        part = "approach" if i < len(plan.approach) else "wrap"
        names.append(f"section {i + 1}, {part}" if several else part)
    handles = [Line2D([], [], color=c, label=name) for c, name in zip(_colours(plan), names, strict=True)]
    handles.append(Line2D([], [], color=GREY, linewidth=0.6, linestyle=(0, (2, 2)), label="smallest enclosing circle"))
    hollow: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "markeredgecolor": VERMILION}
    return [*handles, Line2D([], [], marker="o", markersize=3.5, label="touched", **hollow)]
