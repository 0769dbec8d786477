"""The exact clearance of bodies from a mesh: branch and bound along their arcs, many intervals at a time.

A signed distance changes by at most the arc length that is passed. So an interval of the arc whose middle is farther
from the mesh than half of its length and the least distance known need not be looked at.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arcreach.kernels import body
from arcreach.kernels import clearance as kernels
from arcreach.scenes.mesh import Mesh

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Intervals of an arc to begin with.
_FIRST = 8
# Share of an arc within which a place found is polished, and how often that bracket is halved.
_BRACKET = 1.0 / 512.0
_HALVINGS = 34
# Intervals that are looked at in one call: their points fit the memory.
_MOST = 200_000


def piece_points(pieces: Array, s: Array) -> Array:
    """Points (n, 3) of pieces (n, PIECE_SIZE) at arc lengths s (n,)."""
    half = 0.5 * pieces[:, body.CURVATURE] * s
    chord = s * np.sinc(half / np.pi)
    x, z = chord * np.sin(half), chord * np.cos(half)
    origin, tangent, normal = (pieces[:, at : at + 3] for at in (body.ORIGIN, body.TANGENT, body.NORMAL))
    return origin + x[:, None] * normal + z[:, None] * tangent


def piece_tangents(pieces: Array, s: Array) -> Array:
    """Unit tangents (n, 3) of pieces at arc lengths s (n,)."""
    angle = pieces[:, body.CURVATURE] * s
    tangent, normal = (pieces[:, at : at + 3] for at in (body.TANGENT, body.NORMAL))
    return np.cos(angle)[:, None] * tangent + np.sin(angle)[:, None] * normal


def search_meshes(mesh: Mesh, index: int, bodies: Array, counts: Integers, tolerance: float, rows: Array) -> None:
    """Write into rows (n, m, CLEARANCE_SIZE) where the bodies come nearer to a mesh than to what is there already.

    `bodies` (n, pieces, PIECE_SIZE) holds `counts` (n,) pieces each.
    """
    owners, places = np.nonzero(np.arange(bodies.shape[1]) < counts[:, None])
    if len(owners) == 0:
        return
    pieces = bodies[owners, places]
    # One row per configuration, or one per element.
    targets = owners * rows.shape[1] + (pieces[:, body.ELEMENT].astype(np.int64) if rows.shape[1] > 1 else 0)
    flat = rows.reshape(-1, kernels.CLEARANCE_SIZE)
    best = flat[:, kernels.DISTANCE].copy()
    found_at = np.zeros(len(best))
    found_piece = np.full(len(best), -1)
    which = np.repeat(np.arange(len(pieces)), _FIRST)
    step = 0.5 * pieces[which, body.LENGTH] / _FIRST
    middle = step * (2 * np.tile(np.arange(_FIRST), len(pieces)) + 1)
    while len(which):
        halves: list[tuple[Integers, Array, Array]] = []
        for part in np.array_split(np.arange(len(which)), -(-len(which) // _MOST)):
            owner, s, h = which[part], middle[part], step[part]
            value = mesh.signed_distance(piece_points(pieces[owner], s))[0] - pieces[owner, body.RADIUS]
            target = targets[owner]
            np.minimum.at(best, target, value)
            hit = np.flatnonzero(value == best[target])
            found_at[target[hit]], found_piece[target[hit]] = s[hit], owner[hit]
            keep = value - h < best[target] - tolerance
            halves.append((owner[keep], s[keep], 0.5 * h[keep]))
        owner, s, h = (np.concatenate([half[i] for half in halves]) for i in range(3))
        which, step = np.tile(owner, 2), np.tile(h, 2)
        middle = np.concatenate([s - h, s + h])
    _write(mesh, index, pieces, places, best, found_piece, found_at, flat)


def _write(
    mesh: Mesh, index: int, pieces: Array, places: Integers, best: Array, piece: Integers, at: Array, flat: Array
) -> None:
    nearer = np.flatnonzero(piece >= 0)
    if len(nearer) == 0:
        return
    chosen = pieces[piece[nearer]]
    s, best[nearer] = _polish(mesh, chosen, at[nearer], best[nearer])
    points = piece_points(chosen, s)
    arc_length = chosen[:, body.BEFORE] + s
    flat[nearer, kernels.DISTANCE] = best[nearer]
    flat[nearer, kernels.AT_ELEMENT] = chosen[:, body.ELEMENT]
    flat[nearer, kernels.OBSTACLE] = index
    flat[nearer, kernels.PIECE] = places[piece[nearer]]
    flat[nearer, kernels.ARC_LENGTH] = arc_length
    flat[nearer, kernels.SHARE] = arc_length / chosen[:, body.WHOLE]
    flat[nearer, kernels.POINT : kernels.POINT + 3] = points
    flat[nearer, kernels.TOWARDS : kernels.TOWARDS + 3] = mesh.signed_distance(points)[1]


def _polish(mesh: Mesh, pieces: Array, place: Array, best: Array) -> tuple[Array, Array]:
    """Places moved to where the distance along the arc stops falling, and the distances there."""
    length = pieces[:, body.LENGTH]
    low = np.maximum(place - _BRACKET * length, 0.0)
    high = np.minimum(place + _BRACKET * length, length)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        _, normals = mesh.signed_distance(piece_points(pieces, middle))
        rising = np.sum(normals * piece_tangents(pieces, middle), axis=1) > 0.0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    for s in (low, high):
        value = mesh.signed_distance(piece_points(pieces, s))[0] - pieces[:, body.RADIUS]
        place, best = np.where(value < best, s, place), np.minimum(value, best)
    return place, best
