"""Draw coordinates along paths, one column per path, with the size of every step below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arcreach import _text
from arcreach._checks import shown
from arcreach._typing import Array
from arcreach.elements import ANGLE, LENGTH
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.coordinates import chosen_coordinates, drawn_coordinates, tip_travel
from arcreach.figures.drawing.theme import GREY, INK, MM
from arcreach.planning.motion.path import ConfigurationPath, Path
from arcreach.planning.timing.timed import Timed
from arcreach.robots.robot import Robot

# Heights in millimetres of the coordinates of one quantity, of the steps, of the margin and of a row of the legend;
# width of the labels beside the panels.
COORDINATES, STEPS, MARGIN, LEGEND, BESIDE = 44.0, 26.0, 8.0, 5.0, 18.0
NAMES_PER_ROW = 4
# Smaller steps, in degrees or millimetres, are drawn at this value on the logarithmic axis.
SMALLEST_STEP = 1e-3
# Number of markers on a line, and number of points of the motion of a plan.
MARKS, POINTS = 6, 300
# A section bent by less, in degrees, or one that turns further from point to point, has no direction worth drawing.
STRAIGHT, TURN = 1.0, 90.0


def joint_paths(
    paths: Mapping[str, ConfigurationPath | Timed] | ConfigurationPath | Timed,
    *,
    coordinates: Sequence[str] | None = None,
    width: theme.Width = theme.TWO_COLUMNS,
) -> theme.Figure:
    """Draw the coordinates of a `Path`, `Plan` or `Timed`, or of several side by side under their titles.

    Angles and lengths have a panel each. A `Path` is drawn against the number of the waypoint, with inserted points
    between two, and its largest steps below; a `Plan` against the path of its tip; a `Timed` against time. Several are
    of one kind and one robot. The line of a direction has gaps where its section is bent by less than 1° or passes the
    straight pose, where directions jump while the body hardly moves. `coordinates` selects some by name; `width` is in
    millimetres. Source: [FRD] fig. 7.
    """
    width = theme.millimetres(width)
    drawn = _checked(paths)
    first = next(iter(drawn.values()))
    robot = first.robot
    names = chosen_coordinates(robot, coordinates)
    kinds = [kind for kind in (ANGLE, LENGTH) if any(_quantity(robot, name) == kind for name in names)]
    looks = theme.look(names)
    heights = [COORDINATES] * len(kinds) + [STEPS] * isinstance(first, Path)
    rows = max(math.ceil(len(names) / NAMES_PER_ROW), 2)
    with theme.drawing(width, sum(heights) + MARGIN + LEGEND * rows) as figure:
        panels = figure.subplots(
            len(heights), len(drawn), sharex="col", sharey="row", height_ratios=heights, squeeze=False
        )
        for column, (title, path) in zip(panels.T, drawn.items(), strict=True):
            label, abscissae, Q = _motion(path)
            for panel, kind in zip(column, kinds, strict=False):
                own = {name: look for name, look in looks.items() if _quantity(robot, name) == kind}
                _draw_coordinates(panel, robot, abscissae, Q, own)
            if isinstance(path, Path):
                _draw_steps(column[-1], path, abscissae)
                theme.whole_ticks(column[-1].xaxis, width / len(drawn) - BESIDE)
            column[0].set_title(title)
            column[-1].set_xlabel(label)
        for panel, kind in zip(panels[:, 0], kinds, strict=False):
            panel.set_ylabel("angles (°)" if kind == ANGLE else "lengths (mm)")
        if isinstance(first, Path):
            panels[-1, 0].set_ylabel(f"largest step ({'°' if ANGLE in robot.quantities else 'mm'})")
            theme.plain_log_axis(panels[-1, 0].yaxis)
        figure.align_ylabels(panels[:, 0])
        theme.legend_below(figure, looks, NAMES_PER_ROW)
    return figure


def _checked(paths: Any) -> dict[str, ConfigurationPath | Timed]:
    """Return paths of one kind and one robot by title, which is empty for a single path."""
    drawn = dict(paths) if isinstance(paths, Mapping) else {"": paths}
    if not drawn:
        raise MethodError("paths is empty; give at least one path with its title")
    for path in drawn.values():
        if not isinstance(path, (ConfigurationPath, Timed)):
            accepted = "a Path, a Plan or a Timed, or several by title"
            raise MethodError(f"paths = {shown(paths)} is not accepted; give {accepted}")
        if not isinstance(path, Path) and len(path) < 2:
            raise MethodError(f"the path has {_text.count(len(path), 'point')}; give at least 2")
    if len({(_kind(path), path.robot.coordinates) for path in drawn.values()}) > 1:
        raise MethodError("paths differ in kind or coordinates; give a Path, a Plan or a Timed each, of one robot")
    return drawn


def _kind(path: ConfigurationPath | Timed) -> type:
    return next(kind for kind in (Path, Timed, ConfigurationPath) if isinstance(path, kind))


def _quantity(robot: Robot, name: str) -> str:
    return robot.quantities[robot.coordinates.index(name)]


def _motion(path: ConfigurationPath | Timed) -> tuple[str, Array, Array]:
    """Return the label of the abscissa, the abscissae (n,) and the configurations (n, dof) drawn there."""
    if isinstance(path, Timed):
        return "time (s)", path.times, path.q
    if not isinstance(path, Path):
        Q = path.sampled(POINTS)
        return "path of the tip (mm)", MM * tip_travel(path.robot, Q), Q
    # Waypoints at whole numbers, all other points evenly between two.
    given = np.flatnonzero(path.waypoint >= 0)
    if not len(given):
        return "point", np.arange(len(path), dtype=float), path.q
    return "waypoint", np.interp(np.arange(len(path)), given, path.waypoint[given].astype(float)), path.q


def _draw_coordinates(
    panel: Any, robot: Robot, abscissae: Array, Q: Array, looks: Mapping[str, dict[str, Any]]
) -> None:
    values = drawn_coordinates(robot, Q)
    directions = {k + 1: k for k in robot.bend_vector_indices()}
    for i, (name, look) in enumerate(looks.items()):
        k = robot.coordinates.index(name)
        x, y = abscissae, values[:, k]
        if k in directions:
            x, y = _with_gaps(x, y, values[:, directions[k]])
        # Offset the markers of every line, so that those of different lines do not coincide.
        step = max(len(x) // MARKS, 1)
        panel.plot(x, y, **look, clip_on=False, markevery=(step * i // len(looks), step))
    panel.margins(x=0.0)


def _with_gaps(x: Array, y: Array, bends: Array) -> tuple[Array, Array]:
    """Return the line of a direction in degrees with gaps at straight poses of its section and at passages of them."""
    y = np.where(bends < STRAIGHT, np.nan, y)
    # The bend vector moves straight: if it turns further than a right angle, it comes nearest to 0 on the way.
    passed = np.flatnonzero(np.abs(np.diff(y)) > TURN) + 1
    return np.insert(x, passed, np.nan), np.insert(y, passed, np.nan)


def _draw_steps(panel: Any, path: Path, abscissae: Array) -> None:
    """Draw the size of the step to every point on a logarithmic axis; a labelled line marks the largest."""
    angles = ANGLE in path.robot.quantities
    steps = np.maximum(np.degrees(path.step_sizes) if angles else MM * path.step_sizes, SMALLEST_STEP)
    panel.plot(abscissae[1:], steps, color=INK, linewidth=0.8)
    panel.set_yscale("log")
    largest = float(steps.max(initial=SMALLEST_STEP))
    panel.axhline(largest, color=GREY, linewidth=0.6, linestyle=(0, (3, 2)))
    # Offset in points, because the axis of a single step has almost no range.
    panel.annotate(
        path.largest_step_text,
        (0.98, largest),
        (0, 2),
        xycoords=panel.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=GREY,
    )
    # Set margins by factors, because a share of the range is nothing where all steps are equal.
    low, high = steps.min(initial=1.0) / 1.3, largest * 1.6
    panel.update_datalim([(0.0, low), (0.0, high)], updatex=False)
    panel.margins(x=0.0, y=0.0)
