"""`centre_line`: the line through the middle of a tube that is given by a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import positive, real_array, shown
from arcreach._geometry import frame_along
from arcreach._typing import Array
from arcreach.errors import SceneError
from arcreach.scenes.mesh import Mesh

# Step along the line, and distance of the probes from the line, as multiples of the tube's radius at the start.
STEP, PROBED = 0.25, 0.5
# Number of probes around a point, and the largest number of points tried per plane.
PROBES, ROUNDS = 6, 4
# The line ends where the radius exceeds OPEN (outside the tube) or falls below SHUT (a closed end) times the first.
OPEN, SHUT = 1.3, 0.5
MOST_POINTS = 5000


def centre_line(
    mesh: Mesh, start: npt.ArrayLike, direction: npt.ArrayLike = (0, 0, 1), *, length: float | None = None
) -> Array:
    """Return points (n, 3) along the middle of a tube, starting near its mouth in a given direction.

    Each point is the middle of the tube on a plane ahead of the previous point. The line ends after `length` metres,
    where the tube opens or where it is closed.
    """
    if not isinstance(mesh, Mesh):
        raise SceneError(f"mesh = {shown(mesh)} is not accepted; give a Mesh")
    point, ahead = _vector("start", start), _vector("direction", direction)
    if not np.linalg.norm(ahead) > 0.0:
        raise SceneError(f"direction = {shown(direction)} is not accepted; give a vector that is not zero")
    most = np.inf if length is None else positive("length", length, "metres")
    ahead = ahead / np.linalg.norm(ahead)
    radius = float(mesh.signed_distance(point)[0][0])
    if radius <= 0.0:
        raise SceneError(f"start = {shown(start)} is {_text.length(-radius)} inside the mesh; give a point in the tube")
    point, first = _middle(mesh, point, ahead, radius)
    points, done = [point], 0.0
    while len(points) < MOST_POINTS and done < most:
        step = min(STEP * first, most - done)
        point, radius = _middle(mesh, points[-1] + step * ahead, ahead, first)
        if not SHUT * first < radius < OPEN * first:
            break
        points.append(point)
        done += float(np.linalg.norm(points[-1] - points[-2]))
        chord = points[-1] - points[max(len(points) - 3, 0)]
        ahead = chord / np.linalg.norm(chord)
    if len(points) < 2:
        raise SceneError(f"start = {shown(start)} is not in a tube along {shown(direction)}; give a point at its mouth")
    return np.array(points)


def _vector(name: str, value: Any) -> Array:
    vector = real_array(value)
    if vector is None or vector.shape != (3,) or not np.isfinite(vector).all():
        raise SceneError(f"{name} = {shown(value)} is not accepted; give three finite numbers")
    return vector


def _middle(mesh: Mesh, point: Array, ahead: Array, tube_radius: float) -> tuple[Array, float]:
    """Return the middle of the tube on the plane through `point` normal to `ahead`, and its distance from the wall.

    Probes around the point find wall points on all sides; the centre of the circle fitted to them is the next point.
    """
    across = frame_along(ahead)[:, :2]
    angles = 2.0 * np.pi * np.arange(PROBES) / PROBES
    offsets = PROBED * tube_radius * np.stack([np.cos(angles), np.sin(angles)], axis=1) @ across.T
    best, radius = point, -np.inf
    for _ in range(ROUNDS):
        tried = np.vstack([point, point + offsets])
        distances, normals = mesh.signed_distance(tried)
        if distances[0] <= radius:
            break
        best, radius = point, float(distances[0])
        wall = (tried - distances[:, None] * normals - point) @ across
        # |w|^2 = 2 c w + (r^2 - |c|^2): linear in the centre c of the circle.
        A = np.column_stack([2.0 * wall, np.ones(len(wall))])
        centre = np.linalg.lstsq(A, (wall**2).sum(axis=1), rcond=None)[0][:2]
        point = point + across @ centre
    return best, radius
