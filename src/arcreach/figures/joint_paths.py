"""Draw coordinates along paths, one column per path, with the size of every step below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.elements import ANGLE
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.coordinates import chosen_coordinates, drawn_coordinates
from arcreach.figures.drawing.theme import GREY, INK
from arcreach.planning.motion.path import INSERTED, Path

# Heights in millimetres of the coordinates, of the steps, of the margin and of a row of the legend.
COORDINATES, STEPS, MARGIN, LEGEND = 44.0, 26.0, 8.0, 5.0
NAMES_PER_ROW = 4
# Smaller steps, in degrees or millimetres, are drawn at this value on the logarithmic axis.
SMALLEST_STEP = 1e-3


def joint_paths(
    paths: Mapping[str, Path], *, coordinates: Sequence[str] | None = None, width: theme.Width = theme.TWO_COLUMNS
) -> theme.Figure:
    """Draw coordinates and largest steps of several paths of one robot side by side under their titles.

    The abscissa is the number of the waypoint; inserted points are between two. `coordinates` selects some by name;
    `width` is in millimetres. Source: [FRD] fig. 7.
    """
    width = theme.millimetres(width)
    if not paths:
        raise MethodError("paths is empty; give at least one path with its title")
    robot = next(iter(paths.values())).robot
    names = chosen_coordinates(robot, coordinates)
    rows = max(math.ceil(len(names) / NAMES_PER_ROW), 2)
    with theme.drawing(width, COORDINATES + STEPS + MARGIN + LEGEND * rows) as figure:
        panels = figure.subplots(
            2, len(paths), sharex=True, sharey="row", height_ratios=(COORDINATES, STEPS), squeeze=False
        )
        for column, (title, path) in enumerate(paths.items()):
            _draw_coordinates(panels[0, column], path, names)
            _draw_steps(panels[1, column], path)
            panels[0, column].set_title(title)
            panels[1, column].set_xlabel("waypoint")
        lengths = any(robot.quantities[robot.coordinates.index(name)] != ANGLE for name in names)
        panels[0, 0].set_ylabel("coordinates (°, mm)" if lengths else "coordinates (°)")
        panels[1, 0].set_ylabel(f"largest step ({'°' if ANGLE in robot.quantities else 'mm'})")
        theme.plain_log_axis(panels[1, 0].yaxis)
        figure.align_ylabels(panels[:, 0])
        theme.legend_below(figure, panels[0, 0].get_legend_handles_labels()[0], NAMES_PER_ROW)
    return figure


def _abscissae(path: Path) -> Array:
    """Return the abscissae of the points: waypoints at whole numbers, inserted points evenly between two."""
    given = np.flatnonzero(path.waypoint != INSERTED)
    return np.asarray(np.interp(np.arange(len(path)), given, path.waypoint[given].astype(float)))


def _draw_coordinates(panel: Any, path: Path, names: Sequence[str]) -> None:
    robot, abscissae = path.robot, _abscissae(path)
    values = drawn_coordinates(robot, path.q)
    for name, look in theme.look(names, marker="").items():
        panel.plot(abscissae, values[:, robot.coordinates.index(name)], label=name, **look)
    panel.margins(x=0.0)


def _draw_steps(panel: Any, path: Path) -> None:
    """Draw the size of the step to every point on a logarithmic axis; a labelled line marks the largest."""
    angles = ANGLE in path.robot.quantities
    steps = np.maximum(np.degrees(path.step_sizes) if angles else 1e3 * path.step_sizes, SMALLEST_STEP)
    panel.plot(_abscissae(path)[1:], steps, color=INK, linewidth=0.8)
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
