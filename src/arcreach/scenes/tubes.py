"""Build the walls of a tube around a centre line from capsules, spheres or triangles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from arcreach._checks import real_array, shown
from arcreach._typing import Array
from arcreach.errors import SceneError
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.shapes import Capsule, Sphere


def tube(
    centre_line: npt.ArrayLike, inner_radius: float, wall_radius: float, sides: int = 8, up: npt.ArrayLike = (0, 1, 0)
) -> tuple[Capsule, ...]:
    """Return capsules along a centre line (n, 3), on `sides` sides of it, that leave `inner_radius` of free space.

    With two sides they are the walls of a planar channel, offset perpendicular to `up` and the line.
    """
    walls = _wall_lines(centre_line, inner_radius + wall_radius, sides, up)
    return tuple(Capsule(a, b, wall_radius) for wall in walls for a, b in itertools.pairwise(wall.tolist()))


def tube_mesh(
    centre_line: npt.ArrayLike, inner_radius: float, wall: float, sides: int = 32, up: npt.ArrayLike = (0, 1, 0)
) -> Mesh:
    """Return a tube around a centre line (n, 3) that leaves `inner_radius` of free space, with walls `wall` thick."""
    # The sides of the inner polygon touch the circle of the inner radius.
    radii = np.array([inner_radius, inner_radius + wall]) / math.cos(math.pi / max(sides, 3))
    lines = np.array([_wall_lines(centre_line, radius, sides, up) for radius in radii])
    inner, outer = np.arange(lines.size // 3).reshape(lines.shape[:3])
    # Each loop runs along the inner surface, over the far end, back along the outer surface and over the near end.
    loops = np.hstack([inner, outer[:, ::-1], inner[:, :1]])
    a, b = loops, np.roll(loops, -1, axis=0)
    quads = np.stack([a[:, :-1], b[:, :-1], b[:, 1:], a[:, 1:]], axis=-1).reshape(-1, 4)
    return Mesh(vertices=lines.reshape(-1, 3), faces=np.vstack([quads[:, [0, 2, 1]], quads[:, [0, 3, 2]]]))


def covering_balls(capsules: Iterable[Capsule]) -> tuple[Sphere, ...]:
    """Return spheres, at most half a radius apart, that cover capsules, for methods that avoid spheres only.

    Halfway between two centres the spheres just cover the capsule; elsewhere they protrude by up to 3 % of its radius.
    """
    balls = []
    for capsule in capsules:
        a, b = np.array(capsule.a), np.array(capsule.b)
        length = float(np.linalg.norm(b - a))
        count = math.ceil(2.0 * length / capsule.radius) + 1
        radius = math.hypot(capsule.radius, 0.5 * length / max(count - 1, 1))
        balls += [Sphere(a + share * (b - a), radius) for share in np.linspace(0.0, 1.0, count)]
    return tuple(balls)


def _wall_lines(centre_line: npt.ArrayLike, away: float, sides: int, up: npt.ArrayLike) -> list[Array]:
    """Return `sides` lines (n, 3), evenly spaced around the centre line at the distance `away` from it."""
    points = real_array(centre_line)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or len(points) < 2 or not np.isfinite(points).all():
        raise SceneError(f"centre_line = {shown(centre_line)} is not accepted; give points (n, 3), at least two")
    if isinstance(sides, bool) or not isinstance(sides, int) or sides < 2:
        raise SceneError(f"sides = {shown(sides)} is not accepted; give a whole number, 2 or more")
    tangents = np.gradient(points, axis=0)
    across = np.cross(np.asarray(up, dtype=float), tangents)
    sizes = np.linalg.norm(across, axis=1)
    if not (sizes > 1e-9 * np.linalg.norm(tangents, axis=1)).all():
        raise SceneError(f"up = {shown(up)} lies along the centre line; give a perpendicular direction")
    across /= sizes[:, None]
    other = np.cross(tangents, across)
    other /= np.linalg.norm(other, axis=1)[:, None]
    angles = 2.0 * np.pi * np.arange(sides) / sides
    return [points + away * (np.cos(angle) * across + np.sin(angle) * other) for angle in angles]
