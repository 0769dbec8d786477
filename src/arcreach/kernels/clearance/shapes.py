"""Obstacles as records, and the signed distance from a point to each of them.

A scene is a record array of `SHAPE`, written by `scenes.scene.pack` and read by kernels only. `field` holds the values
of all grids of meshes one after another. Outside an obstacle the distance is positive; its gradient is the unit normal.
Spheres, capsules, boxes and half-spaces are convex, and so is their signed distance.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.math.vectors import along, dot, minus, unit

SPHERE, CAPSULE, BOX, HALF_SPACE, MESH = range(5)

# Tolerance of an arc's distance from a mesh, as a share of the grid's spacing; the error of the grid is larger.
GRID_TOLERANCE = 0.1
# Radius in metres of the sphere around a half-space: large, but with a finite square.
BOUNDLESS = 1e150

_SHAPE_FIELDS = np.dtype(
    [
        ("kind", np.int64),
        ("radius", np.float64),  # subtracted from the distance: radius, margin, and a grid's largest error
        ("position", np.float64, (3,)),  # centre; first end of a capsule; a point of the plane; first node of a grid
        ("along", np.float64, (3,)),  # capsules: second end minus the first; half-spaces: unit normal out of the solid
        ("rotation", np.float64, (3, 3)),  # boxes and meshes: from the obstacle's frame to the base frame
        ("extent", np.float64, (3,)),  # boxes: half sizes; meshes: full size of the grid
        ("first", np.int64),  # meshes: index of the first value in `field`
        ("nodes", np.int64, (3,)),  # meshes: number of nodes along each axis, the last one running fastest
        ("spacing", np.float64),  # meshes: distance between neighbouring nodes
        ("slope", np.float64),  # meshes: largest change of a grid's value per metre
    ],
    align=True,
)
SHAPE = np.dtype((np.record, _SHAPE_FIELDS))


@kernel
def into_frame(frame, v):
    """Return a direction, given in the base frame, in another frame (3 or 4, 3). Source: derived."""
    x, y, z = v
    return (
        frame[0, 0] * x + frame[1, 0] * y + frame[2, 0] * z,
        frame[0, 1] * x + frame[1, 1] * y + frame[2, 1] * z,
        frame[0, 2] * x + frame[1, 2] * y + frame[2, 2] * z,
    )


@kernel
def out_of_frame(frame, v):
    """Return a direction, given in a frame (3 or 4, 3), in the base frame. Source: derived."""
    x, y, z = v
    return (
        frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z,
        frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z,
        frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z,
    )


@kernel
def capsule_axis_distance(shapes, k, point):
    """Return the distance from a point to the axis segment of a capsule, and its gradient. Source: derived."""
    d = shapes[k].along
    away = minus(point, shapes[k].position)
    square = dot(d, d)
    share = dot(away, d) / square if square > 0.0 else 0.0
    return unit(along(away, -min(max(share, 0.0), 1.0), d))


@kernel
def box_distance(point, half):
    """Return signed distance and gradient at a point of a box of half sizes `half` at the origin. Source: derived."""
    x, y, z = point
    dx = abs(x) - half[0]
    dy = abs(y) - half[1]
    dz = abs(z) - half[2]
    sx = 1.0 if x >= 0.0 else -1.0
    sy = 1.0 if y >= 0.0 else -1.0
    sz = 1.0 if z >= 0.0 else -1.0
    if dx <= 0.0 and dy <= 0.0 and dz <= 0.0:
        # Inside: the distance to the nearest face.
        if dx >= dy and dx >= dz:
            return dx, (sx, 0.0, 0.0)
        if dy >= dz:
            return dy, (0.0, sy, 0.0)
        return dz, (0.0, 0.0, sz)
    return unit((sx * max(dx, 0.0), sy * max(dy, 0.0), sz * max(dz, 0.0)))


@kernel
def grid_value(shapes, k, field, x, y, z):
    """Return a grid's trilinear value and its gradient at a point inside it, in its frame. Source: derived."""
    h = shapes[k].spacing
    ny = shapes[k].nodes[1]
    nz = shapes[k].nodes[2]
    i = min(max(int(x / h), 0), shapes[k].nodes[0] - 2)
    j = min(max(int(y / h), 0), ny - 2)
    m = min(max(int(z / h), 0), nz - 2)
    u = x / h - i
    v = y / h - j
    w = z / h - m
    at = shapes[k].first + (i * ny + j) * nz + m
    c000, c001 = field[at], field[at + 1]
    c010, c011 = field[at + nz], field[at + nz + 1]
    at += ny * nz
    c100, c101 = field[at], field[at + 1]
    c110, c111 = field[at + nz], field[at + nz + 1]
    c00 = c000 + w * (c001 - c000)
    c01 = c010 + w * (c011 - c010)
    c10 = c100 + w * (c101 - c100)
    c11 = c110 + w * (c111 - c110)
    low = c00 + v * (c01 - c00)
    high = c10 + v * (c11 - c10)
    slope_y = (1.0 - u) * (c01 - c00) + u * (c11 - c10)
    slope_z = (1.0 - u) * ((1.0 - v) * (c001 - c000) + v * (c011 - c010)) + u * (
        (1.0 - v) * (c101 - c100) + v * (c111 - c110)
    )
    return low + u * (high - low), (high - low) / h, slope_y / h, slope_z / h


@kernel
def grid_distance(shapes, k, field, point):
    """Return the signed distance from a point in the grid's frame to a mesh, by interpolation, and the unit normal.

    For a point outside the grid's box, at the distance a from the nearest point c of the box, it returns the lower
    bound sqrt(a^2 + d(c)^2), which holds because the mesh lies inside the box and the box is convex.
    Source: derived.
    """
    x, y, z = point
    size = shapes[k].extent
    cx = min(max(x, 0.0), size[0])
    cy = min(max(y, 0.0), size[1])
    cz = min(max(z, 0.0), size[2])
    d, gx, gy, gz = grid_value(shapes, k, field, cx, cy, cz)
    away2 = (x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz)
    if away2 > 0.0:
        total = math.sqrt(away2 + d * d)
        # Along an axis on which the point is outside the box, moving it does not move c, so d(c) does not change.
        gx = (x - cx + (d * gx if x == cx else 0.0)) / total
        gy = (y - cy + (d * gy if y == cy else 0.0)) / total
        gz = (z - cz + (d * gz if z == cz else 0.0)) / total
        d = total
    _, normal = unit((gx, gy, gz))
    return d, normal


@kernel
def shape_distance(shapes, k, field, point):
    """Return the signed distance from a point to obstacle k, its margin subtracted, and the unit normal there.

    The normal is zero where it is undefined: at the centre of a sphere or on the axis of a capsule.
    Source: derived.
    """
    kind = shapes[k].kind
    away = minus(point, shapes[k].position)
    if kind == SPHERE:
        d, normal = unit(away)
    elif kind == CAPSULE:
        d, normal = capsule_axis_distance(shapes, k, point)
    elif kind == HALF_SPACE:
        n = shapes[k].along
        d, normal = dot(away, n), (n[0], n[1], n[2])
    else:
        r = shapes[k].rotation
        local = into_frame(r, away)
        if kind == BOX:
            d, normal = box_distance(local, shapes[k].extent)
        else:
            d, normal = grid_distance(shapes, k, field, local)
        normal = out_of_frame(r, normal)
    return d - shapes[k].radius, normal
