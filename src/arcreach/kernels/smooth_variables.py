"""Between a robot's coordinates q and its smooth variables v."""

import math

from arcreach._jit import batch_kernel, kernel
from arcreach.kernels.layout import BEND, FIXED, PLANAR, TURN
from arcreach.kernels.limits import clip, wrap_angle
from arcreach.kernels.trigonometry import sincos


@kernel
def to_variables(moves, q, v):
    """Write the variables of a configuration. Source: derived."""
    for row in range(moves.shape[0]):
        move = moves[row]
        k = move.variable
        c = move.coordinate
        if move.kind == BEND:
            s, co = sincos(q[c + 1])
            v[k] = q[c] * co
            v[k + 1] = q[c] * s
            if move.stretch > 0.0:
                v[k + 2] = (q[c + 2] - move.length) / move.stretch
        elif move.kind == PLANAR:
            v[k] = q[c]
            if move.stretch > 0.0:
                v[k + 1] = (q[c + 2] - move.length) / move.stretch
        elif move.kind != FIXED:
            v[k] = q[c]


@kernel
def to_coordinates(chain, moves, v, scratch, q):
    """Write the configuration of variables, the last bit of rounding taken back inside the limits. Source: derived."""
    for row in range(moves.shape[0]):
        move = moves[row]
        k = move.variable
        c = move.coordinate
        if move.kind == BEND:
            scratch[c] = math.sqrt(v[k] * v[k] + v[k + 1] * v[k + 1])
            scratch[c + 1] = math.atan2(v[k + 1], v[k])
            if move.stretch > 0.0:
                scratch[c + 2] = move.length + move.stretch * v[k + 2]
        elif move.kind == PLANAR:
            scratch[c] = v[k]
            if move.stretch > 0.0:
                scratch[c + 2] = move.length + move.stretch * v[k + 1]
        elif move.kind == TURN and move.lower == -math.inf:
            scratch[c] = wrap_angle(v[k])
        elif move.kind != FIXED:
            scratch[c] = v[k]
    clip(chain, scratch, q)


@batch_kernel
def to_coordinates_batch(start, stop, chain, moves, V, Q):
    """`to_coordinates` for rows start to stop. Source: derived."""
    scratch = V[0].copy() if V.shape[1] >= Q.shape[1] else Q[0].copy()
    for i in range(start, stop):
        to_coordinates(chain, moves, V[i], scratch, Q[i])
