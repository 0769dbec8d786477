"""Coordinates and errors of a search against its iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import MethodError
from arcreach.figures import _style
from arcreach.figures._style import BLUE, GREY, PALE, VERMILION
from arcreach.ik.solution import Solution, Trace
from arcreach.robots.elements import ANGLE
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

SHARES = (0.10, 0.05, 0.01, 0.005)
# Millimetres of paper for a panel of one coordinate, for the errors, and for what stands around them.
PANEL, ERRORS, MARGIN = 22.0, 30.0, 14.0
# Millimetres of paper for a legend below narrow panels.
LEGEND = 9.0
# Beside their colours, so that lines can be told apart without them.
DASHES = (0, (4, 1))
# Marks nearer than this, in millimetres of paper, would be written over each other.
CLOSEST = 9.0
# Zero has no place on a logarithmic axis: what is exact is drawn at this many millimetres or degrees.
SMALLEST = 1e-9


def settling(values: npt.ArrayLike, share: float) -> int:
    """The iteration from which on values stay within `share` of their way, from the first to the last, of the last.

    Where the way is zero, the largest distance from it counts in its place.
    """
    distance = np.abs(np.asarray(values, dtype=np.float64) - np.asarray(values, dtype=np.float64)[-1])
    way = distance[0] or distance.max()
    outside = np.flatnonzero(distance > share * way)
    return int(outside[-1]) + 1 if len(outside) else 0


def iterations(
    robot: Robot | SymbolicRobot,
    solution: Solution,
    *,
    coordinates: Sequence[str] | None = None,
    shares: Sequence[float] = SHARES,
    width: float = _style.TWO_COLUMNS,
) -> Figure:
    """Coordinates and position errors of a traced solve against its iterations.

    Vertical lines mark where a coordinate has come within each of the `shares` of its way to its last value, and stays
    there. Steps that were tried and taken back are pale. `coordinates` chooses some by name; `width` is in millimetres.
    Source: [RGM3] figs. 4-8.
    """
    trace = solution.trace
    if trace is None:
        raise MethodError("the solution has no trace; solve with trace=True")
    names = robot.coordinates if coordinates is None else tuple(coordinates)
    for name in names:
        if name not in robot.coordinates:
            raise MethodError(f"coordinate '{name}' is not one of the robot's: {', '.join(robot.coordinates)}")
    turns = bool(trace.angle_error.any())
    heights = [PANEL] * len(names) + [ERRORS] * (2 if turns else 1)
    with _style.style():
        below = 0.0 if width >= _style.TWO_COLUMNS else LEGEND
        figure = _style.new_figure(width, MARGIN + sum(heights) + below)
        panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for panel, name in zip(panels, names, strict=False):
            _draw_coordinate(panel, robot, trace, name, shares, CLOSEST / width * len(trace))
        _draw_position_errors(panels[len(names)], trace)
        if turns:
            _draw_curve(panels[-1], trace, np.degrees(trace.angle_error), BLUE)
            panels[-1].set_ylabel("angle error (°)")
        panels[-1].set_xlabel("iteration")
        panels[-1].set_xlim(0, max(len(trace) - 1, 1))
        panels[-1].xaxis.get_major_locator().set_params(integer=True)
        figure.align_ylabels(panels)
        _draw_legends(figure, panels[0] if names and "kept" in trace.columns else None, panels[len(names)], width)
        _style.settle(figure)
    return figure


def _draw_legends(figure: Figure, kept: Any, errors: Any, width: float) -> None:
    """Say what lines are: inside the panels, or below them where the panels are narrow."""
    panels = [(panel, place) for panel, place in ((kept, "lower right"), (errors, "upper right")) if panel is not None]
    if width >= _style.TWO_COLUMNS:
        for panel, place in panels:
            panel.legend(loc=place, ncols=2)
        return
    handles = [handle for panel, _ in panels for handle in panel.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)


def _kept(trace: Trace) -> npt.NDArray[np.bool_]:
    """The rows at which the search stood; the others it tried and took back."""
    flags = trace.columns.get("kept")
    return np.ones(len(trace), dtype=np.bool_) if flags is None else flags > 0.0


def _draw_coordinate(
    panel: Any, robot: Robot | SymbolicRobot, trace: Trace, name: str, shares: Sequence[float], closest: float
) -> None:
    k = robot.coordinates.index(name)
    angle = robot.quantities[k] == ANGLE
    values = np.degrees(trace.q[:, k]) if angle else 1e3 * trace.q[:, k]
    rows = np.arange(len(values))
    kept = _kept(trace)
    if not kept.all():
        panel.plot(rows, values, color=PALE, linewidth=0.8, label="tried and taken back")
    panel.plot(rows[kept], values[kept], color=BLUE, drawstyle="steps-post", label="kept")
    panel.set_ylabel(f"{name} ({'°' if angle else 'mm'})")
    panel.margins(y=0.12)
    _mark(panel, [(int(rows[kept][settling(values[kept], share)]), share) for share in shares], closest)


def _mark(panel: Any, marks: Sequence[tuple[int, float]], closest: float) -> None:
    """Draw a line for every mark and write its share above it; those of lines that are close are written together."""
    groups: list[list[tuple[int, float]]] = []
    for row, share in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
        panel.axvline(row, color=GREY, linewidth=0.6, linestyle=(0, (3, 2)))
        if groups and row - groups[-1][-1][0] < closest:
            groups[-1].append((row, share))
        else:
            groups.append([(row, share)])
    for group in groups:
        text = ", ".join(f"{100.0 * share:g}" for _, share in group)
        place = float(np.mean([row for row, _ in group]))
        # At the left end a text in the middle of its lines would stand over the numbers of the axis.
        side = "left" if place < closest else "center"
        panel.text(
            place, 1.01, f"{text} %", transform=panel.get_xaxis_transform(), ha=side, va="bottom", fontsize=6.5,
            color=GREY, clip_on=False,
        )  # fmt: skip


def _draw_curve(
    panel: Any, trace: Trace, values: Array, colour: str, label: str | None = None, line: Any = "-"
) -> None:
    """Draw an error on a logarithmic axis, where the search stood."""
    kept = _kept(trace)
    rows = np.arange(len(trace))[kept]
    style = {"color": colour, "label": label, "linestyle": line, "drawstyle": "steps-post"}
    panel.plot(rows, np.maximum(values[kept], SMALLEST), **style)
    panel.set_yscale("log")


def _draw_position_errors(panel: Any, trace: Trace) -> None:
    curves = {"largest component": VERMILION, "mean component": BLUE}
    columns = [trace.columns.get("largest_error"), trace.columns.get("mean_error")]
    if columns[0] is None:
        curves, columns = {"distance": VERMILION}, [trace.position_error]
    for (label, colour), values in zip(curves.items(), columns, strict=True):
        if values is not None:
            _draw_curve(panel, trace, 1e3 * values, colour, label, DASHES if colour == BLUE else "-")
    panel.set_ylabel("position error (mm)")
