"""Draw tendons as thin lines, discs as rings, and the ellipsoid of the tip's uncertainty."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from arcreach._typing import Array, Booleans
from arcreach.figures.drawing.canvas import CLEAR, Canvas, Colour, circle, mixed, rgb_of
from arcreach.figures.drawing.theme import INK, MM, VERMILION
from arcreach.robots.robot import Robot
from arcreach.robots.tendon_curves import dashes, discs_of, tendon_points

# Width of a tendon and length of a dash, as shares of its distance from the backbone.
WIDTH, DASH = 0.07, 0.6
# Width of a ring in radii of its disc, and the share of white in its colour.
RIM, LIGHT = 0.32, 0.35


def draw_tendons(
    canvas: Canvas, robot: Robot, q: Array, slack: Booleans | None, colours: list[Colour], white: float, behind: float
) -> None:
    """Add the tendons and discs of a pose to a canvas, mixed with a share of white; slack tendons are dashed.

    `colours` has one per element of the robot; `behind` moves everything away from the eye, in millimetres.
    """
    radius = float(np.mean(robot.routes["radius"][robot.routes["radius"] > 0.0])) * MM
    discs = discs_of(robot, q)
    for pose, size, e in zip(discs.poses, discs.radii, discs.elements, strict=True):
        rim = [canvas.project(share * size * circle() @ pose[:3, :2].T + pose[:3, 3]) for share in (1.0, 1.0 - RIM)]
        _ring(canvas, rim[0], rim[1], mixed(colours[e], 0.9, max(LIGHT, white)), behind)
    for j, points in enumerate(tendon_points(robot, q)):
        loose = slack is not None and bool(slack[j])
        colour = mixed(VERMILION if loose else INK, 1.0, white)
        line = canvas.project(points)
        pieces = dashes(line, DASH * radius) if loose else np.stack([line[:-1], line[1:]], axis=1)
        for piece in pieces:
            _stroke(canvas, piece, WIDTH * radius, colour, behind)


def _ring(canvas: Canvas, outer: Array, inner: Array, colour: Colour, behind: float) -> None:
    """Add a flat ring in pieces, each at its own depth, so that the backbone passes through it."""
    for piece in np.stack([outer, np.roll(outer, -1, axis=0), np.roll(inner, -1, axis=0), inner], axis=1):
        canvas.add(float(piece[:, 2].mean()) - behind, piece, colour)


def _stroke(canvas: Canvas, ends: Array, width: float, colour: Colour, behind: float) -> None:
    """Add a straight piece of a line with a width in millimetres, in pieces not longer than five widths."""
    count = max(int(np.linalg.norm(ends[1] - ends[0]) / (5.0 * width)), 1)
    along = (ends[1] - ends[0])[:2]
    size = float(np.hypot(*along))
    if size == 0.0:
        return
    aside = 0.5 * width * np.array([-along[1], along[0]]) / size
    for a, b in itertools.pairwise(np.linspace(ends[0], ends[1], count + 1)):
        corners = np.array([a[:2] + aside, b[:2] + aside, b[:2] - aside, a[:2] - aside])
        canvas.add(0.5 * float(a[2] + b[2]) - behind, corners, colour, CLEAR if count == 1 else colour)


def draw_ellipsoid(panel: Any, canvas: Canvas, centre: Array, axes: Array) -> None:
    """Draw the outline, an ellipse, of an ellipsoid whose semi-axes in metres are the columns of `axes`."""
    from matplotlib.patches import Polygon

    turn, sizes, _ = np.linalg.svd(canvas.axes[:2] @ axes * MM)
    outline = canvas.project(centre)[:2] + circle() * sizes @ turn.T
    for width, edge in ((2.0, "white"), (0.9, VERMILION)):
        panel.add_patch(Polygon(outline, facecolor="none", edgecolor=edge, linewidth=width, zorder=6.4))
    panel.add_patch(Polygon(outline, facecolor=(*rgb_of(VERMILION), 0.2), edgecolor="none", zorder=6.3))
