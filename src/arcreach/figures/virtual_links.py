"""Draw one iteration of a FABRIK method step by step: tangents and chords of the sections, as virtual links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import BLUE, GREY, MM, ORANGE, PALE, VERMILION
from arcreach.ik.solution import Solution, Trace
from arcreach.robots.robot import Robot

START, JOINT, END = range(3)
# With more sections than this, only whole stages are drawn.
MOST_SECTIONS = 4
PANEL, LEGEND = 52.0, 16.0  # millimetres
BODY_POINTS = 40
# Length of the line along the target's axis, and largest distance of drawn joints, as shares of the reach.
AXIS, FARTHEST = 0.16, 1.5
CHORD: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (3, 1.5))}


class _Step(NamedTuple):
    """One panel: `links` (sections, START to END, xyz), the sections moved so far, and q if bodies are drawn."""

    title: str
    links: Array
    moved: range
    q: Array | None = None


def virtual_links(solution: Solution, *, iteration: int = 1, width: theme.Width = theme.TWO_COLUMNS) -> theme.Figure:
    """Draw an iteration of `fabrikc`, `fabrikx` or `chords` from a solution with a trace, section by section.

    The first row is forward reaching, tip to base; the second backward reaching, base to tip, with the bodies of the
    sections. Points are projected onto the upright plane in which they spread most. `width` is in millimetres.
    Source: [K22] figs. 1.5, 2.7; [K22a] figs. 2, 3.
    """
    width = theme.millimetres(width)
    trace, robot = solution.trace, solution.robot
    if trace is None or not trace.links or not isinstance(robot, Robot):
        raise MethodError("solution has no virtual links; give one of fabrikc, fabrikx or chords with trace=True")
    last = len(trace) - 1
    if isinstance(iteration, bool) or not isinstance(iteration, int) or not 1 <= iteration <= last:
        accepted = f"give 1 to {last}, the iterations of this solve" if last else "this solve has no iteration"
        raise MethodError(f"iteration = {iteration!r} is not accepted; {accepted}")
    rows = _steps(trace, iteration)
    plane, name = _plane(rows)
    with theme.drawing(width, len(rows) * PANEL + LEGEND) as figure:
        columns = max(map(len, rows))
        panels = figure.subplots(len(rows), columns, squeeze=False, sharex=True, sharey=True)
        for line, steps in zip(panels, rows, strict=True):
            for panel, step in zip(line, steps, strict=False):
                _draw(panel, step, robot, plane)
                _draw_target(panel, solution, robot.reach, plane)
                panel.set_title(theme.title_lines(step.title, width / columns), loc="left")
                panel.set_aspect("equal")
                panel.margins(0.12)
            line[0].set_ylabel("z (mm)")
        lengths = list(map(len, rows))
        for (i, k), panel in np.ndenumerate(panels):
            panel.axison = k < lengths[i]
            # The lowest panel of a column has the numbers.
            if k >= max(lengths[i + 1 :], default=0):
                panel.tick_params(labelbottom=True)
                panel.set_xlabel(theme.title_lines(f"{name} (mm)", width / columns))
        theme.legend_below(figure, _legend(rows), 4)
    return figure


def _steps(trace: Trace, k: int) -> list[list[_Step]]:
    """Return the steps of iteration k, one list per row of panels."""
    before = trace.links.get("adjusted", trace.links["backward"])[k - 1]
    # Points that were not adjusted are those of the previous backward stage.
    before = np.where(np.isnan(before), trace.links["backward"][k - 1], before)
    forward, backward = trace.links["forward"][k], trace.links["backward"][k]
    n = len(before)
    start = _Step("start" if k == 1 else f"iteration {k - 1}", before, range(0), trace.q[k - 1] if k == 1 else None)
    if n > MOST_SECTIONS:
        whole = range(n)
        rows = [[start, _Step("forward", forward, whole), _Step("backward", backward, whole, trace.q[k])]]
    else:
        reached = [
            _Step(f"forward: section {i + 1}", _joined(before, forward, i), range(i, n)) for i in reversed(range(n))
        ]
        placed = [
            _Step(f"backward: section {i + 1}", _joined(backward, forward, i + 1), range(i + 1), trace.q[k])
            for i in range(n)
        ]
        rows = [[start, *reached], placed]
    adjusted = trace.links.get("adjusted")
    if adjusted is not None and np.isfinite(adjusted[k, :, END]).all():
        rows[-1].append(_Step("points rotated", adjusted[k], range(n)))
    return rows


def _joined(proximal: Array, distal: Array, first: int) -> Array:
    """Return the links of `proximal` up to section `first`, exclusive, and those of `distal` from it on."""
    return np.concatenate([proximal[:first], distal[first:]])


def _plane(rows: list[list[_Step]]) -> tuple[Array, str]:
    """Return the horizontal unit vector (3,) along which points spread most, and its name."""
    base = rows[0][0].links[0, START]
    points = np.concatenate([step.links[:, (START, END)].reshape(-1, 3) for steps in rows for step in steps]) - base
    points = points[np.isfinite(points).all(axis=1)]
    x, y = np.linalg.svd(points[:, :2])[2][0]
    along = np.array([x, y, 0.0])
    # Point towards the side of the mean point.
    along *= 1.0 if (points @ along).sum() >= 0.0 else -1.0
    return along, "x" if abs(along[0]) > 1.0 - 1e-9 else "horizontal"


def _flat(points: Array, plane: Array) -> Array:
    """Return points (..., 3) as (..., 2) in millimetres: along `plane`, and up."""
    return np.stack([points @ plane, points[..., 2]], axis=-1) * MM


def _draw(panel: Any, step: _Step, robot: Robot, plane: Array) -> None:
    links = step.links.copy()
    # A bend of nearly half a turn has tangents that meet far away.
    far = np.linalg.norm(links[:, JOINT] - links[:, START], axis=1) > FARTHEST * robot.reach
    links[far, JOINT] = np.nan
    flat = _flat(links, plane)
    for i, section in enumerate(flat):
        colour, order = (BLUE, 3.0) if i in step.moved else (PALE, 2.0)
        panel.plot(*section[[START, END]].T, color=colour, zorder=order, **CHORD)
        panel.plot(*section.T, color=colour, linewidth=1.1, zorder=order)
        panel.plot(*section[JOINT], "s", color=colour, markersize=3.2, zorder=order + 0.2)
        panel.plot(*section[[START, END]].T, "o", **theme.hollow(colour, 3.2, 0.9), zorder=order + 0.3)
    for i, (a, b) in enumerate(zip(flat[:-1, END], flat[1:, START], strict=True)):
        if (i in step.moved) == (i + 1 in step.moved):
            # Rigid links between sections.
            panel.plot(*np.array([a, b]).T, color=GREY, linewidth=0.8, zorder=1.5)
    if step.q is not None:
        _draw_bodies(panel, step.q, step.moved, robot, plane)


def _draw_bodies(panel: Any, q: Array, moved: range, robot: Robot, plane: Array) -> None:
    """Draw the bodies of the sections moved so far, or of all of them at the start."""
    frames = robot.frames(q)
    sections = [(i, one, k) for i, (one, k) in enumerate(robot.indexed_elements()) if isinstance(one, Section)]
    for n, (i, section, k) in enumerate(sections):
        if moved and n not in moved:
            continue
        own = Robot([section])
        line = own.backbone(q[k : k + own.dof], BODY_POINTS) @ frames[i][:3, :3].T + frames[i][:3, 3]
        panel.plot(*_flat(line, plane).T, color=ORANGE, linewidth=1.6, zorder=2.5)


def _draw_target(panel: Any, solution: Solution, reach: float, plane: Array) -> None:
    target = solution.target
    if target is None:
        return
    point = _flat(np.asarray(target.position), plane)
    panel.plot(*point, "o", **theme.hollow(VERMILION, 6.5, face="none"), zorder=4.0)
    if target.kind == "axis":
        tip = _flat(np.asarray(target.position) + AXIS * reach * np.asarray(target.axis), plane)
        panel.plot(*np.array([point, tip]).T, color=VERMILION, linewidth=0.9, zorder=1.8)


def _legend(rows: list[list[_Step]]) -> list[Any]:
    tangents = bool(np.isfinite(rows[0][0].links[:, JOINT]).any())
    dot = {"marker": "o", "linestyle": "none"}
    handles = [
        theme.handle("chord", color=BLUE, **CHORD),
        theme.handle("start and end of a section", **dot, **theme.hollow(BLUE, 3.2)),
        theme.handle("not yet moved in this stage", color=PALE, **({} if tangents else CHORD)),
        theme.handle("body", color=ORANGE, linewidth=1.6),
        theme.handle("target and its axis", **dot, **theme.hollow(VERMILION, 6.5)),
    ]
    if tangents:
        handles[:0] = [
            theme.handle("tangent", color=BLUE),
            theme.handle("joint of the tangents", color=BLUE, marker="s", markersize=3.2, linestyle="none"),
        ]
    return handles
