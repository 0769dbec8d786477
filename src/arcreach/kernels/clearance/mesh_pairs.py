"""The distance between two triangle meshes."""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.clearance.mesh_tree import box_gap
from arcreach.kernels.clearance.triangles import corner, segment_triangle
from arcreach.kernels.math.transforms import apply

# Capacity of the stack of pending pairs of nodes: one per level of both trees.
_PAIRS = 128


@kernel
def moved_box_gap(box, motion, other):
    """Return a lower bound of the squared distance between a box (6,) moved by `motion` and another box (6,).

    The moved box is replaced by its axis-aligned bounding box. Source: derived.
    """
    x, y, z = apply(motion, 0.5 * (box[0] + box[3]), 0.5 * (box[1] + box[4]), 0.5 * (box[2] + box[5]))
    hx, hy, hz = 0.5 * (box[3] - box[0]), 0.5 * (box[4] - box[1]), 0.5 * (box[5] - box[2])
    wx = abs(motion[0]) * hx + abs(motion[1]) * hy + abs(motion[2]) * hz
    wy = abs(motion[4]) * hx + abs(motion[5]) * hy + abs(motion[6]) * hz
    wz = abs(motion[8]) * hx + abs(motion[9]) * hy + abs(motion[10]) * hz
    return box_gap(other, (x - wx, y - wy, z - wz), (x + wx, y + wy, z + wz))


@kernel
def move_triangle(t, motion, out):
    """Write a triangle (3, 3) moved by `motion`. Source: derived."""
    for i in range(3):
        out[i, 0], out[i, 1], out[i, 2] = apply(motion, t[i, 0], t[i, 1], t[i, 2])


@kernel
def triangle_pair(t, other, best, pair):
    """Return the squared distance of two triangles if less than `best`, and write the nearest points (6,).

    At least one of the nearest points lies on an edge. Source: derived.
    """
    for side in range(2):
        one, two = (t, other) if side == 0 else (other, t)
        own, their = (0, 3) if side == 0 else (3, 0)
        for i in range(3):
            j = i + 1 if i < 2 else 0
            square, share, q = segment_triangle(two, corner(one, i), corner(one, j))
            if square < best:
                best = square
                for k in range(3):
                    pair[own + k] = one[i, k] + share * (one[j, k] - one[i, k])
                pair[their], pair[their + 1], pair[their + 2] = q
    return best


@kernel(batch=True)
def surface_gap(first, second, motion, pair):
    """Return the distance of two meshes; `motion` maps coordinates of the first to the frame of the second.

    Writes the nearest points of the first and of the second in that frame into `pair` (6,). Source: derived.
    """
    stack = np.empty((_PAIRS, 2), np.int64)
    t = np.empty((3, 3))
    best = math.inf
    stack[0, 0] = 0
    stack[0, 1] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        a, b = stack[waiting, 0], stack[waiting, 1]
        if moved_box_gap(first.boxes[a], motion, second.boxes[b]) >= best:
            continue
        i, m = first.links[a, 0], first.links[a, 1]
        j, n = second.links[b, 0], second.links[b, 1]
        if m > 0 and n > 0:
            for k in range(i, i + m):
                move_triangle(first.corners[k], motion, t)
                for other in range(j, j + n):
                    best = triangle_pair(t, second.corners[other], best, pair)
            continue
        # The larger box is split; the nearer pair is visited first.
        wide = first.boxes[a, 3] - first.boxes[a, 0] + first.boxes[a, 4] - first.boxes[a, 1]
        other_wide = second.boxes[b, 3] - second.boxes[b, 0] + second.boxes[b, 4] - second.boxes[b, 1]
        if n > 0 or (m == 0 and wide >= other_wide):
            a, other_a, other_b = i, i + 1, b
        else:
            b, other_a, other_b = j, a, j + 1
        gap = moved_box_gap(first.boxes[a], motion, second.boxes[b])
        other_gap = moved_box_gap(first.boxes[other_a], motion, second.boxes[other_b])
        near = 1 if gap <= other_gap else 0
        stack[waiting + near, 0], stack[waiting + near, 1] = a, b
        stack[waiting + 1 - near, 0], stack[waiting + 1 - near, 1] = other_a, other_b
        waiting += 2
    return math.sqrt(best)
