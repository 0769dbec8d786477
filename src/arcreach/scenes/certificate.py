"""A second opinion on a clearance, by the collision library coal and a chain of capsules around the body.

A sub-arc of length w and curvature kappa lies within kappa w^2 / 8 of its chord: a capsule around the chord with that
much more radius holds the whole sub-arc. So the clearance of the capsules is never more than that of the body.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import SceneError
from arcreach.kernels import body
from arcreach.robots.checks import shown
from arcreach.robots.robot import Robot
from arcreach.scenes._mesh_search import piece_points
from arcreach.scenes.clearance import AnyScene, bodies_of, checked_configurations
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import spatial_scene
from arcreach.scenes.solids import capsule_between, distance_of, solid_of

Array = npt.NDArray[np.float64]


def certified_clearance(robot: Robot, q: npt.ArrayLike, scene: AnyScene, *, capsules: int = 16) -> Any:
    """A lower bound of the clearance, computed apart from `clearance`: a float, or (n,) of them for q (n, dof).

    Every arc is covered by a number of capsules; against meshes the distance is that of their triangles. Where bodies
    overlap it is below zero, and otherwise rough. Needs `pip install 'arcreach[plan]'`.
    """
    if isinstance(capsules, bool) or not isinstance(capsules, (int, np.integer)) or capsules < 1:
        raise SceneError(f"capsules = {shown(capsules)} is not accepted; give a whole number, 1 or more")
    values, single = checked_configurations(robot, q)
    obstacles = [(solid_of(shape), shape) for shape in spatial_scene(scene)]
    pieces, counts = bodies_of(robot, values)
    found = np.array([_lower_bound(rows[:n], obstacles, int(capsules)) for rows, n in zip(pieces, counts, strict=True)])
    return float(found[0]) if single else found


def _lower_bound(pieces: Array, obstacles: list[tuple[tuple[Any, Any], Any]], capsules: int) -> float:
    bound = np.inf
    for piece in pieces:
        straight = piece[body.BEND] == 0.0
        n = 1 if straight else capsules
        points = piece_points(np.tile(piece, (n + 1, 1)), np.linspace(0.0, piece[body.LENGTH], n + 1))
        sagitta = piece[body.CURVATURE] * (piece[body.LENGTH] / n) ** 2 / 8.0
        for a, b in itertools.pairwise(points):
            # The radius is taken off afterwards: touching solids have a distance too.
            line = capsule_between(a, b, 0.0)
            for solid, shape in obstacles:
                distance = distance_of(line, solid)[0]
                if isinstance(shape, Mesh):
                    # A line that meets no triangle and has its middle outside is outside.
                    middle = float(shape.signed_distance([0.5 * (a + b)])[0][0]) + shape.margin
                    if distance <= 0.0 or middle <= 0.0:
                        distance = middle - 0.5 * float(np.linalg.norm(b - a))
                bound = min(bound, distance - shape.margin - sagitta - piece[body.RADIUS])
    return float(bound)
