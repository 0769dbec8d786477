"""Draw coordinates and errors of a solve against its iterations, or against its joint steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.elements import ANGLE
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.coordinates import chosen_coordinates, drawn_coordinates, label
from arcreach.figures.drawing.theme import BLUE, GREY, INK, PALE, VERMILION
from arcreach.ik.solution import Solution, Trace
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

SHARES = (0.10, 0.05, 0.01, 0.005)
# Millimetres: heights of the panel of a coordinate, of the errors, of the margin and of a row of the legend; width of
# the labels beside the panels.
PANEL, ERRORS, MARGIN, LEGEND, BESIDE = 23.0, 28.0, 12.0, 6.0, 24.0
# With more coordinates than this, panels are side by side: one below the other would be longer than a page.
MOST_BELOW = 7
# Distinguishes lines without colours.
DASHES = (0, (4, 1))
# Lines where a coordinate settles.
MARK: dict[str, Any] = {"color": GREY, "linewidth": 0.6, "linestyle": (0, (3, 2))}
# Type size of the shares above a panel in points; width of a letter and gap between two texts in millimetres.
NOTE, LETTER, GAP = 6.5, 1.25, 2.0
# Each iteration has a dot if there are at most this many.
DOTS = 40
# The axis ends a little after the last iteration, whose dot would otherwise be cut at the edge of the figure.
SPARE = 1.01
# Smaller errors, in millimetres or degrees, are drawn at this value on the logarithmic axis.
SMALLEST = 1e-9
# A logarithmic axis that spans less than this factor has decimals: it would have few powers of ten.
FEW_DECADES = 25.0
# A cell of the layout without a panel.
EMPTY = -1
# In `joint_steps`: height of a panel of coordinates in millimetres; objectives up to this value, in millimetres or
# degrees, are 0 but for rounding errors.
STEPS, ZERO = 52.0, 1e-6
# Macro-iterations are separated by lines if there are at most this many; more would fill the panels.
MOST_LINES = 60
NAMES_PER_ROW = 4


def settling(values: npt.ArrayLike, share: float) -> int:
    """Return the first iteration from which all values differ from the last by at most `share` of the total change.

    If the first value equals the last, the largest difference from the last replaces the total change.
    """
    distance = np.abs(np.asarray(values, dtype=np.float64) - np.asarray(values, dtype=np.float64)[-1])
    change = distance[0] or distance.max()
    outside = np.flatnonzero(distance > share * change)
    return int(outside[-1]) + 1 if len(outside) else 0


def iterations(
    robot: Robot | SymbolicRobot,
    solution: Solution,
    *,
    coordinates: Sequence[str] | None = None,
    shares: Sequence[float] = SHARES,
    width: theme.Width = theme.TWO_COLUMNS,
) -> theme.Figure:
    """Draw coordinates and errors of a traced solve against its iterations.

    Vertical lines mark where a coordinate settles within each of the `shares` of its total change, see `settling`.
    Rejected steps are pale. A straight section has no direction: that of its next bend is drawn. `coordinates` selects
    some by name; `width` is in millimetres.
    Source: [RGM3] figs. 4-8.
    """
    width = theme.millimetres(width)
    trace = solution.trace
    if trace is None:
        raise MethodError("the solution has no trace; solve with trace=True")
    if solution.robot is not None and solution.robot.coordinates != robot.coordinates:
        other = solution.robot.name
        raise MethodError(f"the solution is one of robot '{other}', not of '{robot.name}'; give the robot of the solve")
    names = chosen_coordinates(robot, coordinates)
    turns = bool(trace.angle_error.any())
    beside = 2 if len(names) > MOST_BELOW and width >= theme.TWO_COLUMNS else 1
    layout: Any = _layout(len(names), 2 if turns else 1, beside)
    heights = [PANEL if row[0] < len(names) else ERRORS for row in layout]
    values = drawn_coordinates(robot, trace.q)
    with theme.drawing(width, MARGIN + sum(heights) + LEGEND) as figure:
        named: dict[Any, Any] = figure.subplot_mosaic(layout, sharex=True, height_ratios=heights, empty_sentinel=EMPTY)
        panels = [named[i] for i in range(len(named))]
        for panel, name in zip(panels, names, strict=False):
            k = robot.coordinates.index(name)
            panel.set_ylabel(label(name, "°" if robot.quantities[k] == ANGLE else "mm"))
            _draw_coordinate(panel, trace, values[:, k], shares, width / beside - BESIDE)
        _draw_position_errors(panels[len(names)], trace)
        if turns:
            _draw_curve(panels[-1], trace, np.degrees(trace.angle_error), BLUE)
            panels[-1].set_ylabel(label("angle error", "°"))
        for i in set(layout[-1]):
            panels[i].set_xlabel("iteration")
        panels[-1].set_xlim(0, SPARE * max(len(trace) - 1, 1))
        theme.whole_ticks(panels[-1].xaxis, width / beside - BESIDE)
        # Error panels are left out: the layout engine ignores alignment, and labels beside wide numbers would be cut.
        figure.align_ylabels(panels[: len(names)])
        shown = [*([panels[0]] if names and "kept" in trace.columns else []), panels[len(names)]]
        handles = [handle for panel in shown for handle in panel.get_legend_handles_labels()[0]]
        if len(names) and len(shares):
            handles.append(theme.handle("within this share of its change", **MARK))
        if handles:
            theme.legend_below(figure, handles)
    return figure


def joint_steps(solution: Solution, *, width: theme.Width = theme.TWO_COLUMNS) -> theme.Figure:
    """Draw coordinates and objectives of a solve by `finite-rotation` against its joint steps.

    The solve needs `trace=True` and `joint_steps=True`. Vertical lines separate macro-iterations, crosses mark steps
    that end at a limit. Logarithmic axes have gaps where an objective is 0 but for rounding errors. `width` is in
    millimetres. Source: [FRD] fig. 9.
    """
    width = theme.millimetres(width)
    trace, robot = solution.trace, solution.robot
    if trace is None or robot is None or "macro_iteration" not in trace.columns:
        raise MethodError("the solution has no joint steps; solve by finite-rotation with trace=True, joint_steps=True")
    kinds = [kind for kind in ("angle", "length") if kind in robot.quantities]
    columns, rows = trace.columns, np.arange(len(trace))
    turns = bool(columns["long_axis_angle"].any() or columns["cross_axis_angle"].any())
    heights = [STEPS] * len(kinds) + [ERRORS] * (2 if turns else 1)
    values = drawn_coordinates(robot, trace.q)
    looks = theme.look(list(robot.coordinates))
    begins = np.flatnonzero(np.diff(columns["macro_iteration"]) > 0) + 0.5
    begins = begins if len(begins) <= MOST_LINES else begins[:0]
    limited = columns["limit"] != 0
    names = robot.dof + (3 if turns else 1) + (len(begins) > 0) + bool(limited.any())
    legend_rows = -(-names // NAMES_PER_ROW)
    with theme.drawing(width, MARGIN + sum(heights) + LEGEND * legend_rows) as figure:
        panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for panel, kind in zip(panels, kinds, strict=False):
            for k, name in enumerate(robot.coordinates):
                if robot.quantities[k] == kind:
                    _draw_steps(panel, rows, values[:, k], {**looks[name], "marker": "", "label": name})
                    hit = limited & (columns["coordinate"] == k)
                    panel.plot(rows[hit], values[hit, k], "x", color=looks[name]["color"], markersize=3.5)
            panel.set_ylabel("coordinate (°)" if kind == ANGLE else "coordinate (mm)")
        errors = panels[len(kinds)]
        _draw_objective(errors, rows, 1e3 * columns["distance"], {"color": INK, "label": "distance"})
        errors.set_ylabel("distance (mm)")
        if turns:
            for name, line in (("long", "-"), ("cross", DASHES)):
                look = {"color": GREY, "linestyle": line, "label": f"{name} axis"}
                _draw_objective(panels[-1], rows, np.degrees(columns[f"{name}_axis_angle"]), look)
            panels[-1].set_ylabel("angle (°)")
        for panel in panels:
            for begin in begins:
                panel.axvline(begin, color=GREY, linewidth=0.4, alpha=0.6)
        panels[-1].set_xlabel("joint step")
        panels[-1].set_xlim(0, SPARE * max(len(trace) - 1, 1))
        figure.align_ylabels(panels)
        handles = [handle for panel in panels for handle in panel.get_legend_handles_labels()[0]]
        if limited.any():
            handles.append(theme.handle("at a limit", color=INK, marker="x", markersize=3.5, linestyle=""))
        if len(begins):
            handles.append(theme.handle("new macro-iteration", color=GREY, marker="|", markersize=9.0, linestyle=""))
        theme.legend_below(figure, handles, NAMES_PER_ROW)
    return figure


def _layout(coordinates: int, errors: int, beside: int) -> list[list[int]]:
    """Return the panel numbers of each row: coordinates first, then errors in rows of their own."""
    numbers = [*range(coordinates), *[EMPTY] * (-coordinates % beside)]
    rows = [numbers[i : i + beside] for i in range(0, len(numbers), beside)]
    last = list(range(coordinates, coordinates + errors))
    return rows + ([last * beside] if errors == 1 else [last] if beside == 2 else [[one] for one in last])


def _kept(trace: Trace) -> npt.NDArray[np.bool_]:
    """Return which rows are accepted steps."""
    flags = trace.columns.get("kept")
    return np.ones(len(trace), dtype=np.bool_) if flags is None else flags > 0.0


def _draw_coordinate(panel: Any, trace: Trace, values: Array, shares: Sequence[float], width: float) -> None:
    """Draw a coordinate in a panel `width` millimetres wide, and mark where it settles, unless it is constant."""
    rows = np.arange(len(values))
    kept = _kept(trace)
    if not kept.all():
        panel.plot(rows, values, color=PALE, linewidth=0.8, label="rejected")
    panel.plot(rows[kept], values[kept], color=BLUE, label="accepted", **_steps(trace))
    panel.margins(y=0.12)
    if np.ptp(values) > 0.0:
        marks = [(int(rows[kept][settling(values[kept], share)]), share) for share in shares]
        _mark(panel, marks, max(len(values) - 1, 1), width)


def _steps(trace: Trace) -> dict[str, Any]:
    """Return the style of curves over iterations: steps, with dots if they are few."""
    dots = {"marker": "o", "markersize": 2.0, "clip_on": False} if len(trace) <= DOTS else {}
    return {"drawstyle": "steps-post", **dots}


def _mark(panel: Any, marks: Sequence[tuple[int, float]], last: int, width: float) -> None:
    """Draw a line for every mark and its share above it; shares whose texts would overlap are joined.

    `last` is the last iteration, at the right end of a panel `width` millimetres wide.
    """
    texts: list[list[tuple[int, float]]] = []
    for row, share in sorted(marks, key=lambda mark: (mark[0], -mark[1])):
        panel.axvline(row, **MARK)
        texts.append([(row, share)])
        while len(texts) > 1 and _extent(texts[-1], last, width)[0] < _extent(texts[-2], last, width)[1] + GAP:
            texts[-2:] = [texts[-2] + texts[-1]]
    for group in texts:
        middle = float(np.mean(_extent(group, last, width)))
        panel.text(
            middle / width * last,
            1.01,
            _shares(group),
            transform=panel.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=NOTE,
            color=GREY,
            clip_on=False,
        )


def _shares(group: Sequence[tuple[int, float]]) -> str:
    return ", ".join(f"{100.0 * share:g}" for _, share in group) + " %"


def _extent(group: Sequence[tuple[int, float]], last: int, width: float) -> tuple[float, float]:
    """Return the left and right end, in millimetres, of a group's text: centred above its lines, within the panel."""
    half = 0.5 * LETTER * len(_shares(group))
    middle = float(np.mean([row for row, _ in group])) / last * width
    middle = min(max(middle, half), width - half)
    return middle - half, middle + half


def _draw_curve(
    panel: Any, trace: Trace, values: Array, colour: str, title: str | None = None, line: Any = "-"
) -> None:
    """Draw the error of accepted steps on a logarithmic axis."""
    kept = _kept(trace)
    rows = np.arange(len(trace))[kept]
    style = {"color": colour, "label": title, "linestyle": line, **_steps(trace)}
    panel.plot(rows, np.maximum(values[kept], SMALLEST), **style)
    _set_log(panel)


def _set_log(panel: Any) -> None:
    """Make the ordinate logarithmic, with decimals if it spans few powers of ten."""
    panel.set_yscale("log")
    low, high = panel.get_ylim()
    if high < FEW_DECADES * low:
        theme.plain_log_axis(panel.yaxis)


def _draw_position_errors(panel: Any, trace: Trace) -> None:
    curves = {"largest component": VERMILION, "mean component": BLUE}
    columns = [trace.columns.get("largest_error"), trace.columns.get("mean_error")]
    if columns[0] is None:
        # A single curve needs no name: the axis has it.
        _draw_curve(panel, trace, 1e3 * trace.position_error, VERMILION)
    else:
        for (title, colour), values in zip(curves.items(), columns, strict=True):
            if values is not None:
                _draw_curve(panel, trace, 1e3 * values, colour, title, DASHES if colour == BLUE else "-")
    panel.set_ylabel(label("position error", "mm"))


def _draw_steps(panel: Any, rows: Any, values: Any, look: dict[str, Any]) -> None:
    panel.plot(rows, values, drawstyle="steps-post", **look)


def _draw_objective(panel: Any, rows: Any, values: Array, look: dict[str, Any]) -> None:
    """Draw an objective on a logarithmic axis, with gaps where it is 0."""
    _draw_steps(panel, rows, np.where(values > ZERO, values, np.nan), look)
    _set_log(panel)
