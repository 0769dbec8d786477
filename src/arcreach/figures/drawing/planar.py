"""Draw the parts of planar scenes: obstacles, bodies with their thickness, base and target, in millimetres."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.figures.drawing.theme import GREEN, GREY, INK, MM, PLANAR_OBSTACLE, hollow
from arcreach.planning.contact.contact_plan import ContactPlans
from arcreach.scenes.planar import Disc, Obstacle, Point, Wall

# Line width of a wall in points.
WALL = 1.6


def draw_obstacles(panel: Any, obstacles: Iterable[Obstacle], fill: str = PLANAR_OBSTACLE, edge: str = GREY) -> None:
    """Draw filled obstacles with thin edges, and walls as lines."""
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Patch

    for shape in obstacles:
        style = {"facecolor": fill, "edgecolor": edge, "linewidth": 0.5, "zorder": 1.0}
        if isinstance(shape, Disc):
            panel.add_patch(Circle((shape.centre[0] * MM, shape.centre[1] * MM), shape.radius * MM, **style))
        elif isinstance(shape, Wall):
            panel.plot(*(np.array(shape.points) * MM).T, color=edge, linewidth=WALL, zorder=1.0)
        else:
            panel.add_patch(Patch(np.array(shape.points) * MM, closed=True, joinstyle="miter", **style))


def draw_candidates(panel: Any, found: ContactPlans) -> None:
    """Draw in green the corners, discs and edges that the body may touch."""
    corners = np.array([ball.centre for ball in found.balls if ball.core == 0.0]).reshape(-1, 2) * MM
    panel.plot(*corners.T, ".", color=GREEN, markersize=3.0, zorder=4.0)
    draw_obstacles(panel, [Disc(ball.centre, ball.core) for ball in found.balls if ball.core > 0.0], edge=GREEN)
    for edge in found.edges:
        panel.plot(*(np.array([edge.start, edge.end]) * MM).T, color=GREEN, linewidth=0.5, zorder=1.5)


def draw_body(panel: Any, line: Array, radius: float, colour: str, zorder: float = 3.0) -> None:
    """Draw the centre line of a body and its thickness."""
    points = line * MM
    tangent = np.gradient(points, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-12)
    aside = radius * MM * np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
    outline = np.concatenate([points + aside, _cap(points[-1], aside[-1]), (points - aside)[::-1]])
    panel.fill(*outline.T, facecolor=colour, edgecolor="none", alpha=0.22, zorder=zorder)
    panel.plot(*points.T, color=colour, zorder=zorder + 0.1, solid_capstyle="round")


def _cap(tip: Array, aside: Array) -> Array:
    """Return the outline of the round end of a body."""
    turn = np.linspace(0.0, np.pi, 12)[1:-1]
    ahead = np.array([-aside[1], aside[0]])
    return np.asarray(tip + np.outer(np.cos(turn), aside) + np.outer(np.sin(turn), ahead))


def draw_base(panel: Any) -> None:
    """Draw the base at the origin."""
    panel.plot(0.0, 0.0, "s", color=INK, markersize=4.0, zorder=6.0)


def draw_target(panel: Any, target: Point) -> None:
    """Draw the target."""
    panel.plot(target[0] * MM, target[1] * MM, "o", **hollow(INK, 5.5), zorder=6.0)
    panel.plot(target[0] * MM, target[1] * MM, ".", color=INK, markersize=2.5, zorder=6.1)


def finish_panel(panel: Any, title: str) -> None:
    """Set equal scales and the title; the caller labels the axes."""
    panel.set_aspect("equal")
    panel.set_title(title, loc="left")
    panel.margins(0.05)
    panel.autoscale_view()
