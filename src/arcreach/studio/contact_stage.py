"""A contact plan on the stage: the plane, its obstacles as slabs, and the body that grows between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.studio import colours
from arcreach.studio.tasks import ContactMotion
from arcreach.studio.tube import Faces, ring_faces, sweep

ROOT = "/contact"
# Slabs stand out from the plane by this, in radii of the body; contacts are marked by balls a little larger than it.
SLAB, MARK = 3.0, 1.25
DISC_SIDES = 48
# The plane is turned towards the camera, in radians about z, and stands in the middle of the picture.
TURN, ASIDE = 0.6, (0.2, 0.18, 0.0)
# How much of the stage it fills.
FILLED = 0.92


class ContactStage:
    """Draws a contact plan beside everything else; lengths are scaled so that it fills the stage."""

    def __init__(self, server: Any, motion: ContactMotion) -> None:
        self.motion = motion
        places = [np.concatenate([motion.lines[-1][:, [0, 2]], *motion.polygons])] if motion.lines else motion.polygons
        extent = max(float(np.abs(place).max()) for place in places)
        self.scale = FILLED / extent
        self._server = server
        scene = server.scene
        turned = (np.cos(0.5 * TURN), 0.0, 0.0, np.sin(0.5 * TURN))
        scene.add_frame(ROOT, show_axes=False, wxyz=turned, position=ASIDE)
        for i, (points, faces) in enumerate(self._slabs()):
            scene.add_mesh_simple(
                f"{ROOT}/slab-{i}", self.scale * points, faces, color=colours.OBSTACLE, flat_shading=True,
                receive_shadow=False,
            )  # fmt: skip
        for i, (x, z) in enumerate(motion.contacts):
            scene.add_icosphere(
                f"{ROOT}/mark-{i}", MARK * self.scale * motion.radius, colours.VERMILION,
                position=(self.scale * x, -SLAB * self.scale * motion.radius, self.scale * z),
            )  # fmt: skip
        scene.add_icosphere(
            f"{ROOT}/target", 1.6 * self.scale * motion.radius, colours.VERMILION,
            position=(self.scale * motion.target[0], 0.0, self.scale * motion.target[1]),
        )  # fmt: skip
        self._body = None
        if motion.lines:
            points = tube_along(motion.lines[0], motion.radius)
            self._body = scene.add_mesh_simple(
                f"{ROOT}/body", self.scale * points, ring_faces(len(motion.lines[0]) + 2), color=colours.BLUE,
                receive_shadow=False,
            )  # fmt: skip

    def draw(self, moment: int) -> None:
        """Show a moment."""
        if self._body is not None:
            points = tube_along(self.motion.lines[moment], self.motion.radius)
            self._body.vertices = (self.scale * points).astype(np.float32)

    def remove(self) -> None:
        """Take it off the stage."""
        self._server.scene.remove_by_name(ROOT)

    def _slabs(self) -> list[tuple[Array, Faces]]:
        depth = SLAB * self.motion.radius
        around = np.linspace(0.0, 2.0 * np.pi, DISC_SIDES, endpoint=False)
        discs = [np.stack([x + r * np.cos(around), z + r * np.sin(around)], axis=1) for x, z, r in self.motion.discs]
        return [slab(outline, depth) for outline in (*self.motion.polygons, *discs)]


def tube_along(line: Array, radius: float) -> Array:
    """Points of a tube around a line (n, 3) in the plane x-z, closed at both ends."""
    steps = np.gradient(line, axis=0)
    tangents = steps / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-12)
    aside = np.broadcast_to(np.array([0.0, 1.0, 0.0]), tangents.shape)
    across = np.cross(aside, tangents)
    ends = [0, *range(len(line)), len(line) - 1]
    radii = np.full(len(ends), radius)
    radii[[0, -1]] = 0.0
    return sweep(line[ends], across[ends], aside[ends], radii)


def slab(outline: Array, depth: float) -> tuple[Array, Faces]:
    """A flat body over an outline (n, 2) in the plane x-z, its depth to each side, and its triangles."""
    n = len(outline)
    points = np.empty((2 * n, 3))
    points[:, 0], points[:, 2] = np.tile(outline[:, 0], 2), np.tile(outline[:, 1], 2)
    points[:n, 1], points[n:, 1] = -depth, depth
    caps = np.array(triangles(outline), dtype=np.int64).reshape(-1, 3)
    i = np.arange(n)
    j = (i + 1) % n
    sides = np.concatenate([np.stack([i, i + n, j], 1), np.stack([j, i + n, j + n], 1)])
    return points, np.concatenate([caps, caps[:, ::-1] + n, sides]).astype(np.uint32)


def triangles(outline: Array) -> list[tuple[int, int, int]]:
    """The triangles of a simple polygon, anticlockwise: ears are cut off one after another."""
    left = list(range(len(outline)))
    cut = []
    while len(left) > 3:
        for k in range(len(left)):
            ear = (left[k - 1], left[k], left[(k + 1) % len(left)])
            if _is_ear(outline, ear, left):
                cut.append(ear)
                del left[k]
                break
        else:
            # Only corners in one line are left: nothing to fill.
            break
    return [*cut, (left[0], left[1], left[2])]


def _is_ear(outline: Array, ear: tuple[int, int, int], left: list[int]) -> bool:
    a, b, c = (outline[i] for i in ear)
    if _turn(a, b, c) <= 0.0:
        return False
    return not any(
        _turn(a, b, p) >= 0.0 and _turn(b, c, p) >= 0.0 and _turn(c, a, p) >= 0.0
        for p in (outline[i] for i in left if i not in ear)
    )


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
