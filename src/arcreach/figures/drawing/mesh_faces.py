"""Cut the projected triangles of a mesh into small faces, and find the walls that hide a robot inside the mesh."""

from __future__ import annotations

import numpy as np

from arcreach._typing import Array, Booleans, Integers

# Least number of faces across the picture, and number of triangles from which no more are subdivided.
FACES_ALONG, MOST_TRIANGLES = 40, 40_000
# Approximate number of body points that are tested for being inside a mesh, and grid cells per side of a mesh.
BODY_POINTS, CELLS = 60, 32


def small_faces(triangles: Array, body: Array, span: float) -> tuple[Array, Booleans]:
    """Return the front faces of triangles (n, 3, 3) as small triangles, and which of them are near walls.

    `body` are points of the robot and `span` is the size of the picture. There are near walls only if a point of the
    body lies between two walls. A near wall has another wall behind it, or lies in front of the mesh's middle plane.
    """
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    front = triangles[normals[:, 2] > 0.0]
    small = _small_triangles(front, span / FACES_ALONG)
    sieve = Sieve(front)
    near = np.zeros(len(small), np.bool_)
    if any(_between(sieve, point) for point in body[:: max(len(body) // BODY_POINTS, 1)]):
        apart = 1e-3 * span
        middles = small.mean(axis=1)
        near = np.array([bool((sieve.depths(point) < point[2] - apart).any()) for point in middles])
        near |= middles[:, 2] > _middle_plane(triangles, middles)
    return small, near


def _between(sieve: Sieve, point: Array) -> bool:
    """Return whether a point has one wall in front of it and another behind it."""
    depths = sieve.depths(point)
    return bool((depths > point[2]).any() and (depths < point[2]).any())


class Sieve:
    """Triangles (n, 3, 3) sorted into a grid of the picture, to find those that cover a point."""

    def __init__(self, triangles: Array) -> None:
        self.triangles = triangles
        corners = triangles[:, :, :2]
        self.low = corners.min(axis=(0, 1)) if len(triangles) else np.zeros(2)
        span = (corners.max(axis=(0, 1)) if len(triangles) else np.ones(2)) - self.low
        self.cells = CELLS / np.maximum(span, 1e-300)
        self.bins: dict[tuple[int, int], list[int]] = {}
        first, last = (self._cell(bound) for bound in (corners.min(axis=1), corners.max(axis=1)))
        for k, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            for i in range(a[0], b[0] + 1):
                for j in range(a[1], b[1] + 1):
                    self.bins.setdefault((i, j), []).append(k)

    def _cell(self, points: Array) -> Integers:
        return np.clip(((points - self.low) * self.cells).astype(np.int64), 0, CELLS - 1)

    def depths(self, point: Array) -> Array:
        """Return the depths of all triangles that cover a point."""
        i, j = self._cell(point[:2]).tolist()
        a, b, c = np.moveaxis(self.triangles[self.bins.get((i, j), [])], 1, 0)
        u, v, w = b - a, c - a, point - a
        area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            first = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / area
            second = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / area
            inside = (first >= 0.0) & (second >= 0.0) & (first + second <= 1.0)
        return np.asarray((a[:, 2] + first * u[:, 2] + second * v[:, 2])[inside])


def _small_triangles(triangles: Array, longest: float) -> Array:
    """Subdivide triangles until no side is longer than `longest`, since each is drawn at a single depth."""
    while len(triangles) < MOST_TRIANGLES:
        sides = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2).max(axis=1, initial=0.0)
        long = sides > longest
        if not long.any():
            break
        a, b, c = np.moveaxis(triangles[long], 1, 0)
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        quarters = [np.stack(corners, axis=1) for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        triangles = np.concatenate([triangles[~long], *quarters])
    return triangles


def _middle_plane(triangles: Array, points: Array) -> Array:
    """Return the depths, at given points of the picture, of the plane that fits the triangles best by area."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    weights = np.sqrt(np.linalg.norm(normals, axis=1))
    centroids = triangles.mean(axis=1)
    terms, wanted = (np.column_stack([np.ones(len(one)), one[:, :2]]) for one in (centroids, points))
    return np.asarray(wanted @ np.linalg.lstsq(weights[:, None] * terms, weights * centroids[:, 2])[0])
