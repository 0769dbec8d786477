"""Check a triangle mesh and build the bounding volume hierarchy that kernels query."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._typing import Array, Integers
from arcreach.errors import SceneError
from arcreach.kernels.clearance.mesh_tree import Tree, signed_distances

# Largest number of triangles in a leaf.
_MOST_IN_LEAF = 4


def frozen(values: Any) -> Any:
    """Return a read-only array in C order, the type kernels are compiled for."""
    values = np.ascontiguousarray(values)
    values.flags.writeable = False
    return values


def build_tree(corners: Array) -> Tree:
    """Return a balanced tree of triangles (m, 3, 3); nodes are split at the median along their longest side."""
    order = np.arange(len(corners))
    centroids = corners.mean(axis=1)
    levels = max(int(np.ceil(np.log2(len(corners) / _MOST_IN_LEAF))), 0)
    bounds = np.array([0, len(corners)])
    boxes, links = [], []
    for level in range(levels + 1):
        nodes = 2**level
        low = np.minimum.reduceat(corners.min(axis=1)[order], bounds[:-1])
        high = np.maximum.reduceat(corners.max(axis=1)[order], bounds[:-1])
        boxes.append(np.hstack([low, high]))
        if level == levels:
            # A leaf: the index of its first triangle and its number of triangles.
            links.append(np.stack([bounds[:-1], np.diff(bounds)], axis=1))
            break
        # An inner node: the index of its first child.
        links.append(np.stack([2 * nodes - 1 + 2 * np.arange(nodes), np.zeros(nodes, dtype=np.int64)], axis=1))
        node = np.repeat(np.arange(nodes), np.diff(bounds))
        axis_of = (high - low).argmax(axis=1)[node]
        order = order[np.lexsort((centroids[order, axis_of], node))]
        bounds = np.append(np.stack([bounds[:-1], (bounds[:-1] + bounds[1:]) // 2], axis=1).ravel(), bounds[-1])
    return Tree(frozen(np.concatenate(boxes)), frozen(np.concatenate(links).astype(np.int64)), frozen(corners[order]))


def closed_surface(what: str, vertices: Array, faces: Integers) -> tuple[Array, Integers]:
    """Return the mesh with equal vertices merged and outward triangles; raise SceneError if it is not closed."""
    # Files such as STL repeat every vertex; adding 0.0 turns -0.0 into 0.0.
    vertices, index = np.unique(vertices + 0.0, axis=0, return_inverse=True)
    faces = index.reshape(-1)[faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    if len(faces) == 0:
        raise SceneError(f"{what}: the mesh is empty; give one with triangles")
    used, index = np.unique(faces, return_inverse=True)
    vertices, faces = vertices[used], index.reshape(-1, 3)
    _check_closed(what, faces)
    return vertices, _oriented(what, vertices, faces)


def _check_closed(what: str, faces: Integers) -> None:
    """Raise SceneError for an open or inconsistently oriented mesh, whose winding number is not an integer."""
    first = faces.ravel()
    last = np.roll(faces, -1, axis=1).ravel()
    pairs = np.stack([np.minimum(first, last), np.maximum(first, last)], axis=1)
    _, edge = np.unique(pairs, axis=0, return_inverse=True)
    edge = edge.reshape(-1)
    if (np.bincount(edge, weights=np.where(first < last, 1.0, -1.0)) == 0.0).all():
        return
    if (np.bincount(edge) % 2 == 1).any():
        raise SceneError(f"{what}: the mesh is open, so it has no inside; give a closed surface")
    raise SceneError(f"{what}: triangles are oriented inconsistently; give them all anticlockwise from outside")


def _oriented(what: str, vertices: Array, faces: Integers) -> Integers:
    """Return the triangles oriented outwards.

    A component oriented inwards is a cavity if it lies inside another one, and is flipped if it lies outside.
    """
    parts = _components(len(vertices), faces)
    corners = vertices[faces] - 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    corners /= np.abs(corners).max()
    # Six times the signed volume.
    terms = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    volumes = np.bincount(parts, weights=terms)
    if volumes.sum() == 0.0:
        raise SceneError(f"{what}: the mesh encloses no volume; give a solid")
    if volumes.sum() < 0.0:
        faces, corners, volumes = faces[:, ::-1], corners[:, ::-1], -volumes
    if (volumes >= 0.0).all():
        return faces
    solid = build_tree(np.ascontiguousarray(corners[volumes[parts] > 0.0]))
    for part in np.flatnonzero(volumes < 0.0):
        own = parts == part
        points = corners[own].reshape(-1, 3)
        distances, normals = np.empty(len(points)), np.empty((len(points), 3))
        signed_distances(0, len(points), solid, points, distances, normals)
        if (distances > 0.0).all():
            faces[own] = faces[own, ::-1]
        elif (distances > 0.0).any():
            raise SceneError(
                f"{what}: a part is oriented inwards and lies partly inside another, so it is neither a solid nor a "
                "cavity; give the triangles of every solid anticlockwise from outside"
            )
    return faces


def _components(count: int, faces: Integers) -> Integers:
    """Return the index of the connected component of every triangle."""
    label = np.arange(count)
    while True:
        lower = label.copy()
        np.minimum.at(lower, faces, label[faces].min(axis=1)[:, None])
        # Pointer jumping: labels spread in a logarithmic number of rounds.
        lower = lower[lower]
        if (lower == label).all():
            return np.unique(label[faces[:, 0]], return_inverse=True)[1].reshape(-1)
        label = lower
