"""A contact plan in the scene: the obstacles of its plane as slabs, and the body that grows between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._typing import Array, Integers
from arcreach.robots.body_mesh import circle, rings_around, tube_faces
from arcreach.studio.stage import colours

ROOT = "/contact"
# Half the thickness of the slabs and the radius of the contact and target marks, in radii of the body.
SLAB, MARK, TARGET = 3.0, 1.25, 1.6
SIDES, DISC_SIDES = 24, 48
# Rotation of the plane towards the camera in radians about z, and its offset to the middle of the picture.
TURN, OFFSET = 0.6, (0.2, 0.18, 0.0)
# Largest coordinate of the scaled body and obstacles, in the unit of the scene (reaches).
FILLED = 0.92


@dataclass(frozen=True, eq=False)
class ContactMotion:
    """The backbone (points, 3) in every frame of a contact plan, and the planar scene; lengths in metres."""

    name: str
    lines: list[Array]
    radius: float
    polygons: list[Array]  # corners (n, 2), x and z
    discs: list[tuple[float, float, float]]  # x, z, radius
    contacts: list[tuple[float, float]]
    target: tuple[float, float]
    text: str


class ContactStage:
    """A contact plan, scaled so that it fills the scene."""

    def __init__(self, server: Any, motion: ContactMotion) -> None:
        self.motion = motion
        drawn = motion.lines[-1][:, [0, 2]], *motion.polygons
        discs = (max(abs(x), abs(z)) + radius for x, z, radius in motion.discs)
        extent = max(*(float(np.abs(points).max()) for points in drawn), *discs)
        self.scale = FILLED / extent
        self._server = server
        scene = server.scene
        turned = (np.cos(0.5 * TURN), 0.0, 0.0, np.sin(0.5 * TURN))
        scene.add_frame(ROOT, show_axes=False, wxyz=turned, position=OFFSET)
        radius = self.scale * motion.radius
        for i, (points, faces) in enumerate(self._slabs()):
            scene.add_mesh_simple(
                f"{ROOT}/slab-{i}",
                self.scale * points,
                faces,
                color=colours.OBSTACLE,
                flat_shading=True,
                receive_shadow=False,
            )
        for i, (x, z) in enumerate(motion.contacts):
            position = (self.scale * x, -SLAB * radius, self.scale * z)
            scene.add_icosphere(f"{ROOT}/mark-{i}", MARK * radius, colours.VERMILION, position=position)
        position = (self.scale * motion.target[0], 0.0, self.scale * motion.target[1])
        scene.add_icosphere(f"{ROOT}/target", TARGET * radius, colours.VERMILION, position=position)
        points = tube_along(motion.lines[0], motion.radius)
        self._body = scene.add_mesh_simple(
            f"{ROOT}/body", self.scale * points, tube_faces(points, SIDES), color=colours.BLUE, receive_shadow=False
        )

    def draw(self, frame: int) -> None:
        """Show a frame."""
        points = tube_along(self.motion.lines[frame], self.motion.radius)
        self._body.vertices = (self.scale * points).astype(np.float32)

    def remove(self) -> None:
        """Remove the plan from the scene."""
        self._server.scene.remove_by_name(ROOT)

    def _slabs(self) -> list[tuple[Array, Integers]]:
        around = circle(DISC_SIDES)[:, :2]
        discs = [np.array([x, z]) + radius * around for x, z, radius in self.motion.discs]
        return [slab(outline, SLAB * self.motion.radius) for outline in (*self.motion.polygons, *discs)]


def tube_along(line: Array, radius: float) -> Array:
    """Return the points of a closed tube around a line (n, 3) in the plane x-z."""
    steps = np.gradient(line, axis=0)
    tangents = steps / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-12)
    aside = np.broadcast_to(np.array([0.0, 1.0, 0.0]), tangents.shape)
    rotations = np.stack([np.cross(aside, tangents), aside, tangents], axis=2)
    rings = rings_around(line, rotations, radius * circle(SIDES)).reshape(-1, 3)
    return np.concatenate([line[:1], rings, line[-1:]])


def slab(outline: Array, depth: float) -> tuple[Array, Integers]:
    """Return the points and faces of a slab over an outline (n, 2) in the plane x-z, `depth` to each side."""
    n = len(outline)
    points = np.empty((2 * n, 3))
    points[:, 0], points[:, 2] = np.tile(outline[:, 0], 2), np.tile(outline[:, 1], 2)
    points[:n, 1], points[n:, 1] = -depth, depth
    caps = np.array(triangles(outline), dtype=np.int64).reshape(-1, 3)
    i = np.arange(n)
    j = (i + 1) % n
    sides = np.concatenate([np.stack([i, i + n, j], 1), np.stack([j, i + n, j + n], 1)])
    return points, np.concatenate([caps, caps[:, ::-1] + n, sides])


def triangles(outline: Array) -> list[tuple[int, int, int]]:
    """Return the triangles of a simple polygon whose corners are anticlockwise, by ear clipping."""
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
            # The remaining corners lie on one line.
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
