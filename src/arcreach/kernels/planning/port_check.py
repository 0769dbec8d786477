"""Continuous checks of a port: whether the body passes it everywhere on a straight motion in solver variables.

A body at the distance d from the port's point stays within the port's radius r until its nearest point has moved by
r - d. Between two configurations with the distances d and d', on a motion that moves no point by more than m, the
distance is at most (d + d' + m) / 2. The angle to the axis is checked only at the configurations visited.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.clearance.body import PIECE_SIZE, body_pieces
from arcreach.kernels.clearance.port import Port, nearest_piece
from arcreach.kernels.planning.travel import TRAVEL_SIZE, write_travels
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.kernels.solver.contexts import Model
from arcreach.kernels.solver.variables import to_coordinates

# Shortest step of a check, as a share of the motion: a motion that needs shorter steps counts as a miss.
FINEST = 1e-4


@kernel(batch=True)
def check_port_motions(start: int, stop: int, model: Model, port: Port, A: Array, B: Array, answer: Array) -> None:
    """Check the motions from A to B (n, variables) of rows start to stop, both ends first clipped to the limits.

    `answer` (n, 2) receives 1 for a motion that passes the port throughout, else 0, and an upper bound of the distance
    up to the configuration at which the check ended. Source: derived.
    """
    n = A.shape[1]
    a, b, v = np.empty(n), np.empty(n), np.empty(n)
    q = np.empty(n)
    travels = np.empty((model.chain.shape[0], TRAVEL_SIZE))
    pieces = np.empty((model.chain.shape[0], PIECE_SIZE))
    for row in range(start, stop):
        inside_limits(model, A[row], a)
        inside_limits(model, B[row], b)
        travel = write_travels(model.chain, a, b, travels)
        answer[row, 0] = 0.0
        answer[row, 1] = 0.0
        at = step = before = 0.0
        while True:
            for k in range(n):
                v[k] = a[k] + at * (b[k] - a[k])
            to_coordinates(model, v, q)
            _, _, distance, angle = nearest_piece(port, pieces, body_pieces(model.chain, q, pieces))
            bound = distance if at == 0.0 else 0.5 * (before + distance + step * travel)
            answer[row, 1] = max(answer[row, 1], bound, distance)
            if distance > port.radius or (port.tilt < math.inf and angle > port.tilt):
                break
            if at >= 1.0:
                answer[row, 0] = 1.0 if answer[row, 1] <= port.radius else 0.0
                break
            # Half of the step that the distance allows: a sharper bound for twice the work.
            step = min(0.5 * (port.radius - distance) / travel if travel > 0.0 else 1.0, 1.0 - at)
            if step < min(FINEST, 1.0 - at):
                break
            before = distance
            at = 1.0 if step == 1.0 - at else at + step
