"""One step of a path: the configuration nearest to the target inside a box around the one the robot stands at."""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.chain import tip_motion
from arcreach.kernels.judge import distance_from, final_status, tip_errors
from arcreach.kernels.layout import BEND, PLANAR, REACHED, TARGET_SIZE
from arcreach.kernels.levenberg_marquardt import descend
from arcreach.kernels.limits import unwind
from arcreach.kernels.smooth_variables import aims, to_coordinates, to_front, to_variables

MOST_STEPS = 200
PATIENCE = 12
# At a singular configuration a descent may have no way to begin: try also from places in the box.
STARTS = 5


@kernel(fast=True, inline=True)
def narrow(moves, centre, largest, boxed):
    """Write the limits of joints, narrowed to `largest` (variables,) around `centre`, into `boxed`. Source: derived."""
    for row in range(moves.shape[0]):
        kind = moves[row].kind
        if kind not in (BEND, PLANAR):
            k = moves[row].variable
            boxed[row].lower = max(moves[row].lower, centre[k] - largest[k])
            boxed[row].upper = min(moves[row].upper, centre[k] + largest[k])


@kernel(fast=True, inline=True)
def inside(boxed, centre, largest, v):
    """Move v into the box, the variables of a section straight towards `centre`: their limits allow all between.

    Source: derived.
    """
    for row in range(boxed.shape[0]):
        kind = boxed[row].kind
        k = boxed[row].variable
        if kind not in (BEND, PLANAR):
            v[k] = min(max(v[k], boxed[row].lower), boxed[row].upper)
            continue
        last = k + boxed[row].width - (1 if boxed[row].stretch > 0.0 else 0)
        square = 0.0
        for j in range(k, last):
            square += (v[j] - centre[j]) * (v[j] - centre[j])
        # Of the bend vector the length is bounded, and with it the change of the bend.
        share = min(1.0, largest[k] / math.sqrt(square)) if square > 0.0 else 1.0
        if boxed[row].stretch > 0.0 and abs(v[last] - centre[last]) * share > largest[last]:
            share = largest[last] / abs(v[last] - centre[last])
        for j in range(k, k + boxed[row].width):
            v[j] = centre[j] + share * (v[j] - centre[j])


@kernel(fast=True, batch=True)
def box_step(
    start, stop, chain, moves, boxed, shapes, scale, weight, seeds, here, largest, targets, mode, position_tol,
    angle_tol, reach, Q, status, errors,
):  # fmt: skip
    """Step from rows start to stop of `here` (n, dof) towards `targets` (n, 12), each variable by `largest` at most.

    `boxed` is scratch, a copy of `moves`. Where the target is not reached inside the box Q holds the nearest found.
    Source: derived.
    """
    n = seeds.shape[1]
    centre = np.empty(n)
    v = np.empty(n)
    best_v = np.empty(n)
    trial = np.empty(n)
    J = np.empty((n, 6))
    e = np.empty(6)
    y = np.empty(6)
    codes = np.zeros(moves.shape[0], np.int64)
    scratch = np.empty(Q.shape[1])
    no_trace = np.empty((0, Q.shape[1]))
    traced = np.zeros(1, np.int64)
    timer = np.zeros(2, np.int64)
    target = np.empty(TARGET_SIZE)
    tolerance2, angle_aim = aims(moves, position_tol, angle_tol)
    for i in range(start, stop):
        to_front(moves, mode, targets[i], target)
        far = distance_from(0.0, 0.0, 0.0, target)
        to_variables(moves, here[i], centre)
        narrow(moves, centre, largest, boxed)
        best = math.inf
        for attempt in range(STARTS):
            for k in range(n):
                v[k] = centre[k] + (0.0 if attempt == 0 else seeds[attempt, k] - centre[k])
            inside(boxed, centre, largest, v)
            descend(
                boxed, shapes, scale, target, mode, weight, tolerance2, angle_aim, MOST_STEPS, PATIENCE,
                True, math.inf, timer, v, trial, J, e, y, codes, chain, scratch, no_trace, traced,
            )  # fmt: skip
            inside(boxed, centre, largest, v)
            to_coordinates(chain, moves, v, scratch, Q[i])
            unwind(chain, here[i], Q[i])
            distance, angle = tip_errors(tip_motion(chain, Q[i]), targets[i], mode)
            code = final_status(REACHED, distance, angle, position_tol, angle_tol, far, reach)
            left = distance * distance + (weight * angle) ** 2
            if attempt == 0 or code == REACHED or left < best:
                best = left
                status[i] = code
                errors[i, 0] = distance
                errors[i, 1] = angle
                for k in range(n):
                    best_v[k] = v[k]
            if code == REACHED:
                break
        to_coordinates(chain, moves, best_v, scratch, Q[i])
        unwind(chain, here[i], Q[i])
