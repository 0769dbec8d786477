"""Distance and winding-number queries on a closed triangle mesh, by a bounding volume hierarchy.

Coordinates are relative to the centre of the mesh, so that no digits are lost far from the origin. `scenes.mesh_tree`
builds the tree. `stack` (TREE_STACK,) is integer scratch.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Integers
from arcreach.kernels.clearance.triangles import (
    crossing,
    point_triangle,
    proven_gap,
    segment_triangle,
    solid_angle,
    triangle_normal,
)

# Capacity of the stack of pending nodes: one per level; a balanced tree has no more levels than an index has bits.
TREE_STACK = 64
# Relative to the size of the mesh: points nearer than this are on the surface and take the normal of the triangle.
TOUCHING = 1e-12


class Tree(NamedTuple):
    """A binary tree of axis-aligned boxes around the triangles of a mesh; the root is node 0."""

    boxes: Array  # (n, 6): lower and upper corner of each node
    # (n, 2): index of the first of two successive children and 0; for leaves the first triangle and their number
    links: Integers
    corners: Array  # (m, 3, 3): triangles in the order of the leaves


@kernel
def box_gap(box, low, high):
    """Return the squared distance between the box (6,) of a node and the box from `low` to `high`. Source: derived."""
    dx = max(low[0] - box[3], box[0] - high[0], 0.0)
    dy = max(low[1] - box[4], box[1] - high[1], 0.0)
    dz = max(low[2] - box[5], box[2] - high[2], 0.0)
    return dx * dx + dy * dy + dz * dz


@kernel
def push_children(tree, first, low, high, waiting, stack):
    """Push both children of a node, the one nearer to the box from `low` to `high` last. Source: derived."""
    left = box_gap(tree.boxes[first], low, high)
    right = box_gap(tree.boxes[first + 1], low, high)
    stack[waiting] = first + 1 if left <= right else first
    stack[waiting + 1] = first if left <= right else first + 1


@kernel
def nearest_point(tree, p, within, stack):
    """Return the squared distance of a point to the mesh if less than `within`, the nearest triangle and point.

    `within` is a squared distance. If no triangle is nearer, the index of the triangle is -1. Source: derived.
    """
    best = within
    found = -1
    q = p
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if box_gap(tree.boxes[node], p, p) >= best:
            continue
        first, count = tree.links[node, 0], tree.links[node, 1]
        if count == 0:
            push_children(tree, first, p, p, waiting, stack)
            waiting += 2
            continue
        for i in range(first, first + count):
            square, nearest = point_triangle(tree.corners[i], p)
            if square < best:
                best = square
                found = i
                q = nearest
    return best, found, q


@kernel
def nearest_segment(tree, a, b, below, proven, stack):
    """Return the distance of the segment from a to b to the mesh if less than `below`, and the segment's share there.

    If no triangle is nearer, the distance is `below` and the share 0.5. With `proven`, the distance is a proven
    lower bound, see `triangles`. Source: derived.
    """
    best = max(below, 0.0)
    at = 0.5
    low = (min(a[0], b[0]), min(a[1], b[1]), min(a[2], b[2]))
    high = (max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2]))
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if box_gap(tree.boxes[node], low, high) >= best * best:
            continue
        first, count = tree.links[node, 0], tree.links[node, 1]
        if count == 0:
            push_children(tree, first, low, high, waiting, stack)
            waiting += 2
            continue
        for i in range(first, first + count):
            square, share, q = segment_triangle(tree.corners[i], a, b)
            gap = proven_gap(tree.corners[i], share, q, a, b) if proven else math.sqrt(square)
            if gap < best:
                best = gap
                at = share
    return best, at


@kernel
def ray_winding(tree, axis, p, stack):
    """Return the winding number about a point by a ray along +axis, and whether it is certain. Source: derived."""
    j = axis + 1 if axis < 2 else 0
    k = 3 - axis - j
    total = 0
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        box = tree.boxes[node]
        if box[3 + axis] < p[axis] or box[j] > p[j] or box[3 + j] < p[j] or box[k] > p[k] or box[3 + k] < p[k]:
            continue
        first, count = tree.links[node, 0], tree.links[node, 1]
        if count == 0:
            stack[waiting] = first
            stack[waiting + 1] = first + 1
            waiting += 2
            continue
        for i in range(first, first + count):
            turns, sure = crossing(tree.corners[i], axis, p)
            if not sure:
                return 0, False
            total += turns
    return total, True


@kernel
def is_inside(tree, p, stack):
    """Return whether the winding number of the mesh about a point is not zero.

    A ray that hits an edge is uncertain; if all three rays are uncertain, the solid angles are summed. Source: [JKS13].
    """
    for axis in range(3):
        winding, sure = ray_winding(tree, axis, p, stack)
        if sure:
            return winding != 0
    total = 0.0
    for i in range(tree.corners.shape[0]):
        total += solid_angle(tree.corners[i], p)
    # The sum is an integer except on the surface itself, which counts as inside.
    return abs(total) > 0.25


@kernel
def signed_nearest(tree, p, stack):
    """Return the signed distance of a point to the mesh, and the unit normal pointing outwards. Source: derived."""
    square, i, q = nearest_point(tree, p, math.inf, stack)
    distance = math.sqrt(square)
    sign = -1.0 if is_inside(tree, p, stack) else 1.0
    nx, ny, nz = sign * (p[0] - q[0]), sign * (p[1] - q[1]), sign * (p[2] - q[2])
    box = tree.boxes[0]
    if distance <= TOUCHING * max(box[3] - box[0], box[4] - box[1], box[5] - box[2]):
        nx, ny, nz = triangle_normal(tree.corners[i])
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    if size > 0.0:
        nx, ny, nz = nx / size, ny / size, nz / size
    return sign * distance, (nx, ny, nz)


@kernel(batch=True)
def signed_distances(start, stop, tree, points, distances, normals):
    """Write `signed_nearest` of rows start to stop of points (n, 3). Source: derived."""
    stack = np.empty(TREE_STACK, np.int64)
    for i in range(start, stop):
        distances[i], normal = signed_nearest(tree, (points[i, 0], points[i, 1], points[i, 2]), stack)
        normals[i, 0], normals[i, 1], normals[i, 2] = normal


@kernel(batch=True)
def grid_distances(start, stop, tree, origin, spacing, values):
    """Write the signed distances at the nodes of a grid (nx, ny, nz) for x indices start to stop. Source: derived."""
    stack = np.empty(TREE_STACK, np.int64)
    for i in range(start, stop):
        x = origin[0] + spacing * i
        for j in range(values.shape[1]):
            y = origin[1] + spacing * j
            before = math.inf
            inside = False
            for k in range(values.shape[2]):
                p = (x, y, origin[2] + spacing * k)
                # The distance changes by at most the spacing, which prunes most of the tree.
                within = before + (1.0 + 1e-9) * spacing
                square, _, _ = nearest_point(tree, p, within * within, stack)
                distance = math.sqrt(square)
                # If both distances together exceed the spacing, no surface lies between the two nodes.
                if not before + distance > (1.0 + 1e-9) * spacing or k == 0:
                    inside = is_inside(tree, p, stack)
                values[i, j, k] = -distance if inside else distance
                before = distance
