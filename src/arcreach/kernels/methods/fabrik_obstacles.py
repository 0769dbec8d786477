"""Balls in the way of FABRIK: each section bends around them as the chain is put back on its base."""

import math
from typing import Any, NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.chain.limits import local_bend_max, wrap_angle
from arcreach.kernels.clearance.body import PIECE_SIZE
from arcreach.kernels.clearance.forbidden_bends import Balls, nearest_free_bend
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.published.avoidance import published_bend


@kernel
def local_point(frame, point):
    """Return the coordinates of a point (3,) in a frame. Source: derived."""
    dx = point[0] - frame[3]
    dy = point[1] - frame[7]
    dz = point[2] - frame[11]
    return (
        frame[0] * dx + frame[4] * dy + frame[8] * dz,
        frame[1] * dx + frame[5] * dy + frame[9] * dz,
        frame[2] * dx + frame[6] * dy + frame[10] * dz,
    )


class Obstacles(NamedTuple):
    """Balls that the sections bend around as they are put back; without any, nothing changes."""

    balls: Any  # (m, 4) centres and radii in the frame of the robot
    published: bool  # bend as it is printed
    placed: Balls  # the same in the frame of the base


@kernel(allocates=True)
def make_obstacles(balls, published):
    """Return balls (m, 4) with their scratch. Source: derived."""
    m = balls.shape[0]
    placed = Balls(np.zeros((m, 4)), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(PIECE_SIZE))
    return Obstacles(balls, published, placed)


@kernel(inline=True)
def place_obstacles(base, obstacles):
    """Write the balls in the frame of the base. Source: derived."""
    placed = obstacles.placed.balls
    for i in range(obstacles.balls.shape[0]):
        placed[i, 0], placed[i, 1], placed[i, 2] = local_point(base, obstacles.balls[i])
        placed[i, 3] = obstacles.balls[i, 3]


@kernel(inline=True)
def bend_around(chain, row, before, length, obstacles, q):
    """Change the bend of a section of one arc to the nearest that touches no ball, or to the printed one.

    Returns bend, sine and cosine of the direction. Source: [K22] eqs. 2.41-2.48. Erratum: see docs/errata.md#k22-2-41.
    """
    k = chain[row].coordinate
    bend_max = local_bend_max(chain, row, length)
    if obstacles.published:
        bend = published_bend(before, q[k + 1], length, q[k], chain[row].radius, obstacles.placed.balls)
        bend = min(max(bend, 0.0), bend_max)
    else:
        _, bend = nearest_free_bend(before, q[k + 1], length, q[k], bend_max, chain[row].radius, obstacles.placed)
    q[k] = abs(bend)
    if bend < 0.0:
        q[k + 1] = wrap_angle(q[k + 1] + math.pi)
    s, c = sincos(q[k + 1])
    return q[k], s, c
