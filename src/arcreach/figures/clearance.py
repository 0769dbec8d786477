"""Draw the clearance of a robot along a path, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach import _text
from arcreach._checks import whole
from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.coordinates import tip_travel
from arcreach.figures.drawing.theme import GREY, INK, MM
from arcreach.planning.motion.motion_check import MotionCheck, VariableSpace, motion_between
from arcreach.robots.body_mesh import check_chain
from arcreach.robots.restricted import restricted
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import clearance as clearance_of
from arcreach.scenes.scene import spatial_scene

# Largest number of elements that are drawn as lines: those that come nearest to an obstacle.
MOST = 5
# Largest height of the figure in millimetres.
HIGHEST = 80.0
# Number of markers on a line.
MARKS = 7
# Colours of the line of the whole robot and of the zone of negative clearance, which no element has.
BAND, FORBIDDEN = "#CFCFCF", "#EFEFEF"


def clearance(
    path: Any,
    scene: Any = None,
    *,
    points: int = 300,
    margin: float | None = None,
    width: theme.Width = theme.ONE_COLUMN,
) -> theme.Figure:
    """Draw the clearance along a path (a `Plan`, a `Path`, anything with `robot` and `q`) against the tip's travel.

    The broad line is the whole robot, the others are the elements that come nearest; the legend has the smallest
    clearance of the rest. The dashed line is the certified clearance, which holds between the points too; it is left
    out if the robot touches something. `scene` and `margin` are the path's own by default. `points` is the number of
    points along the motion, `width` is in millimetres.
    """
    width = theme.millimetres(width)
    robot: Robot = path.robot
    check_chain(robot, "a clearance")
    around = spatial_scene(getattr(path, "scene", None) or () if scene is None else scene)
    if not len(around):
        raise MethodError("scene has no obstacles; give a scene with at least one")
    rows = np.asarray(path.q, dtype=float)
    if len(rows) < 2:
        raise MethodError(f"the path has {_text.count(len(rows), 'point')}; give at least 2")
    whole("points", points, 2, MethodError)
    keep = getattr(path, "margin", 0.0) if margin is None else margin
    limits = getattr(path, "limits", None)
    motion = motion_between(robot, rows, points, limits)
    travel = MM * tip_travel(robot, motion)
    distances = MM * np.asarray(clearance_of(robot, motion, around, per_element=True).distance)
    if not np.isfinite(distances).any():
        raise MethodError(f"robot '{robot.name}' has no body; give one with links or sections")
    space = VariableSpace(restricted(robot, None, limits))
    free, certificates = MotionCheck(space, around, 0.0).certify(space.variables(rows))
    with theme.drawing(width, min(0.7 * width, HIGHEST)) as figure:
        panel = figure.subplots()
        far = _draw_elements(panel, robot, travel, distances)
        panel.plot(travel, distances.min(axis=1), color=BAND, linewidth=3.4, label="whole robot", zorder=1.5)
        if free.all():
            certified = float(certificates.min())
            name = f"certified: {_text.length(certified)}"
            panel.axhline(MM * certified, color=INK, linewidth=0.8, linestyle=(0, (4, 2)), zorder=3, label=name)
        _draw_forbidden(panel, MM * keep)
        if far:
            names = robot.element_names[far[0]] if len(far) == 1 else f"{len(far)} others"
            # An entry without a line.
            panel.plot([], [], linestyle="", label=f"{names}: ≥ {_text.length(float(distances[:, far].min()) / MM)}")
        panel.set_xlim(0.0, max(float(travel[-1]), 1e-9))
        panel.set_xlabel("path of the tip (mm)")
        panel.set_ylabel("clearance (mm)")
        theme.legend_below(figure, panel.get_legend_handles_labels()[0], 6)
    return figure


def _draw_elements(panel: Any, robot: Robot, travel: Array, distances: Array) -> list[int]:
    """Draw the lines of the elements that come nearest, base first; return those left out as they stay far away."""
    nearest = distances.min(axis=0)
    highest = float(distances.min(axis=1).max())
    top = 1.25 * highest
    near = sorted(e for e in np.argsort(nearest, kind="stable")[:MOST] if nearest[e] <= highest)
    looks = theme.look([robot.element_names[e] for e in near])
    for k, e in enumerate(near):
        # Offset the markers of every line, so that those of different lines do not coincide.
        first = (k + 1) * len(travel) // (MARKS * (MOST + 1))
        marks = (first, max(len(travel) // MARKS, 1))
        name = robot.element_names[e]
        panel.plot(travel, distances[:, e], label=name, linewidth=0.9, markevery=marks, **looks[name])
    panel.set_ylim(min(1.15 * float(nearest.min()), -0.05 * top), top)
    # Elements without a body have no distance.
    return [e for e in range(len(nearest)) if np.isfinite(nearest[e]) and e not in near]


def _draw_forbidden(panel: Any, margin: float) -> None:
    """Draw the zone of negative clearance, and the margin above it."""
    low, _ = panel.get_ylim()
    panel.axhspan(low, 0.0, facecolor=FORBIDDEN, edgecolor=BAND, hatch="////", linewidth=0, zorder=0.5)
    panel.axhline(0.0, color=INK, linewidth=0.8, zorder=2)
    if margin > 0.0:
        panel.axhspan(0.0, margin, color=FORBIDDEN, linewidth=0, zorder=0.5)
        panel.axhline(margin, color=GREY, linewidth=0.6, linestyle=(0, (1, 1.5)), label="margin", zorder=2)
