"""Points along the pieces of a body, and the exact clearance of bodies from a mesh."""

from __future__ import annotations

import numpy as np

from arcreach._threads import spread
from arcreach._typing import Array, Integers
from arcreach.kernels.clearance import body
from arcreach.kernels.clearance.mesh import surface_clearances
from arcreach.scenes.mesh import Mesh

# Bodies that are worth a thread: one takes tens of microseconds.
_SMALLEST_PIECE = 8


def piece_points(pieces: Array, s: Array) -> Array:
    """Points (n, 3) of pieces (n, PIECE_SIZE) at arc lengths s (n,)."""
    half = 0.5 * pieces[:, body.CURVATURE] * s
    chord = s * np.sinc(half / np.pi)
    x, z = chord * np.sin(half), chord * np.cos(half)
    origin, tangent, normal = (pieces[:, at : at + 3] for at in (body.ORIGIN, body.TANGENT, body.NORMAL))
    return origin + x[:, None] * normal + z[:, None] * tangent


def search_meshes(
    mesh: Mesh, index: int, bodies: Array, counts: Integers, tolerance: float, rows: Array, threads: int | None = None
) -> None:
    """Write into rows (n, m, CLEARANCE_SIZE) where the bodies come nearer to a mesh than to what is there already.

    `bodies` (n, pieces, PIECE_SIZE) holds `counts` (n,) pieces each.
    """
    arguments = (mesh._surface, float(index), tolerance, bodies, counts, rows)
    spread(surface_clearances, len(bodies), *arguments, threads=threads, smallest=_SMALLEST_PIECE)
