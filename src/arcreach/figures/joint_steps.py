"""Draw the joint steps of a solve by finite rotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach.elements import ANGLE
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.coordinates import drawn_coordinates
from arcreach.figures.drawing.theme import GREY, INK
from arcreach.ik.solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Millimetres: heights of the panels of coordinates and objectives, of the margin and of a row of the legend.
PANEL, OBJECTIVE, MARGIN, LEGEND = 52.0, 28.0, 12.0, 6.0
# Millimetres or degrees: smaller objectives are drawn here on the logarithmic axis.
SMALLEST = 1e-6
# Lines are drawn for at most this many macro-iterations; more would fill the panels.
MOST_LINES = 60
NAMES_PER_ROW = 4


def joint_steps(solution: Solution, *, width: float = theme.TWO_COLUMNS) -> Figure:
    """Draw coordinates and objectives of a solve by `finite-rotation` against its joint steps.

    The solve needs `trace=True` and `joint_steps=True`. Vertical lines separate macro-iterations, crosses mark steps
    that end at a limit. `width` is in millimetres. Source: [FRD] fig. 9.
    """
    trace, robot = solution.trace, solution.robot
    if trace is None or robot is None or "macro_iteration" not in trace.columns:
        raise MethodError("the solution has no joint steps; solve by finite-rotation with trace=True, joint_steps=True")
    kinds = [kind for kind in ("angle", "length") if kind in robot.quantities]
    columns, rows = trace.columns, np.arange(len(trace))
    turns = bool(columns["long_axis_angle"].any() or columns["cross_axis_angle"].any())
    heights = [PANEL] * len(kinds) + [OBJECTIVE] * (2 if turns else 1)
    values = drawn_coordinates(robot, trace.q)
    looks = theme.look(list(robot.coordinates))
    with theme.style():
        lines = -(-(robot.dof + (2 if turns else 0)) // NAMES_PER_ROW)
        figure = theme.new_figure(width, MARGIN + sum(heights) + LEGEND * lines)
        panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for panel, kind in zip(panels, kinds, strict=False):
            for k, name in enumerate(robot.coordinates):
                if robot.quantities[k] == kind:
                    _draw(panel, rows, values[:, k], {**looks[name], "marker": "", "label": name})
                    hit = (columns["coordinate"] == k) & (columns["limit"] != 0)
                    panel.plot(rows[hit], values[hit, k], "x", color=looks[name]["color"], markersize=3.5)
            panel.set_ylabel("coordinate (°)" if kind == ANGLE else "coordinate (mm)")
        errors = panels[len(kinds)]
        _draw(errors, rows, np.maximum(1e3 * columns["distance"], SMALLEST), {"color": INK})
        errors.set_ylabel("distance (mm)")
        errors.set_yscale("log")
        if turns:
            for name, look in (("long", {"color": INK}), ("cross", {"color": GREY, "linestyle": (0, (4, 1))})):
                angle = np.maximum(np.degrees(columns[f"{name}_axis_angle"]), SMALLEST)
                _draw(panels[-1], rows, angle, {**look, "label": f"{name} axis"})
            panels[-1].set_ylabel("angle (°)")
            panels[-1].set_yscale("log")
        begins = np.flatnonzero(np.diff(columns["macro_iteration"]) > 0) + 0.5
        for panel in panels:
            for begin in begins if len(begins) <= MOST_LINES else ():
                panel.axvline(begin, color=GREY, linewidth=0.4, alpha=0.6)
        panels[-1].set_xlabel("joint step")
        panels[-1].set_xlim(0, max(len(trace) - 1, 1))
        figure.align_ylabels(panels)
        handles = [handle for panel in panels for handle in panel.get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=NAMES_PER_ROW)
        theme.settle(figure)
    return figure


def _draw(panel: Any, rows: Any, values: Any, look: dict[str, Any]) -> None:
    panel.plot(rows, values, drawstyle="steps-post", **look)
