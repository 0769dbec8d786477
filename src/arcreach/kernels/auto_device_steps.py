"""What the kernels of `auto` on a GPU call beside the functions they share with the CPU."""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.layout import AXIS, ROTATION, TURN
from arcreach.kernels.levenberg_marquardt import FIRST_DAMPING, take_step, weigh
from arcreach.kernels.limits import LARGEST_FLOAT, wrap_angle
from arcreach.kernels.seeds import frame_of, write_key
from arcreach.kernels.smooth_chain import evaluate
from arcreach.kernels.stopping import GOING_ON
from arcreach.kernels.target_rows import rotation_defect, write_axis

# Targets that a thread looks up together, and the seeds of which it notes only the least score.
AT_ONCE = 4
TOGETHER = 8
FAR = np.float32(3e38)


@kernel(fast=True, inline=True)
def load_target(positions, turned, i, mode, row):
    """Write target i as a row (12,): positions (n, 3), turned (n, 0), unit axes (n, 3) or rotations (n, 9).

    Source: derived.
    """
    for k in range(3):
        row[9 + k] = positions[i, k]
    if mode == AXIS:
        row[2] = turned[i, 0]
        row[5] = turned[i, 1]
        row[8] = turned[i, 2]
    elif mode == ROTATION:
        for k in range(9):
            row[k] = turned[i, k]


@kernel(fast=True, inline=True)
def accept(positions, turned, i, mode, farthest, tolerance, row):
    """Write target i, its axis made a unit vector, as `load_target` does; say whether it is one. Source: derived."""
    bad = False
    for k in range(3):
        row[9 + k] = positions[i, k]
        bad |= not abs(row[9 + k]) <= farthest
    if mode == AXIS:
        bad |= not write_axis(turned[i], row)
    elif mode == ROTATION:
        for k in range(9):
            row[k] = turned[i, k]
            bad |= not abs(row[k]) <= LARGEST_FLOAT
        bad |= not rotation_defect(row) <= tolerance
    return not bad


@kernel(fast=True, inline=True)
def begin():
    """Return the numbers of a descent that has not begun: the last seven arguments of `advance`. Source: derived."""
    return -1, math.inf, FIRST_DAMPING, 0.0, 0, 0, False


@kernel(fast=True, inline=True)
def forget_columns():
    """Do nothing. Where J lies in shared memory a fence takes its place: else it is kept in registers as well.

    Source: derived.
    """


@kernel(fast=True, inline=True)
def advance(
    moves, shapes, scale, target, mode, weight, tolerance2, angle_tol, most, patience, patient, v, trial, J, e, y,
    codes, steps, best, damping, predicted, weak, rejected, again,
):  # fmt: skip
    """One evaluation of a descent and what follows from it, as in `levenberg_marquardt.descend`.

    Returns status, GOING_ON while it has not ended, and the last seven arguments as they are then. Source: derived.
    """
    distance2, angle = evaluate(moves, shapes, scale, trial, target, mode, weight, e, J)
    forget_columns()
    code = GOING_ON
    if again:
        again = False
    else:
        steps += 1
        code, best, damping, weak, rejected, again = weigh(
            distance2, angle, e, tolerance2, angle_tol, most, patience, patient, v, trial, steps, best, damping,
            predicted, weak, rejected,
        )  # fmt: skip
    if code == GOING_ON and not again:
        predicted = take_step(moves, v, J, e, damping, mode, y, codes, trial)
    return code, steps, best, damping, predicted, weak, rejected, again


@kernel(fast=True, inline=True)
def look_up(target, mode, symmetric, key, key32):
    """Write the key (10,) of a target, in double and in single precision; return the frame it is seen in.

    Source: derived.
    """
    c, s, mirror = frame_of(target, mode, symmetric)
    for k in range(10):
        key[k] = 0.0
    write_key(target, mode, c, s, mirror, key)
    for k in range(10):
        key32[k] = key[k]
    return c, s, mirror


@kernel(fast=True, inline=True)
def key_score(table, j, key, mode, flat, turn_weight):
    """Return the score of seed j, from the columns of `table` that the mode needs.

    `flat` says that the second number of the key is zero, as of a symmetric chain. Source: derived.
    """
    place = table[j, 0] + table[j, 1] * key[0]
    if not flat:
        place += table[j, 2] * key[1]
    place += table[j, 3] * key[2]
    if mode == AXIS:
        return place + table[j, 4] * key[3] + table[j, 5] * key[4] + table[j, 6] * key[5]
    if mode == ROTATION:
        u = table[j, 4] * key[6] + table[j, 5] * key[7] + table[j, 6] * key[8] + table[j, 7] * key[9]
        return place - turn_weight * u * u
    return place


@kernel(fast=True, inline=True)
def least_scores(rows, keys, mode, flat, turn_weight, least):
    """Write the least score of TOGETHER seeds, the `rows` of their table, for each of AT_ONCE keys (AT_ONCE, 10).

    Source: derived.
    """
    for p in range(AT_ONCE):
        least[p] = FAR
    # A row serves all keys: reading it takes longer than its arithmetic.
    for j in range(TOGETHER):
        for p in range(AT_ONCE):
            least[p] = min(least[p], key_score(rows, j, keys[p], mode, flat, turn_weight))


@kernel(fast=True, inline=True)
def copy_table(source, first, every, columns, table):
    """Copy numbers first, first + every, … of a table of so many columns: the share of one thread. Source: derived."""
    for j in range(first, source.shape[0] * columns, every):
        table[j // columns, j % columns] = source[j // columns, j % columns]


@kernel(fast=True, inline=True)
def find_nearest(table, key, mode, turn_weight, left_out, scores, nearest):
    """Write the seeds of least score but one, nearest (few,), in the order of score and number. Source: derived."""
    last = scores.shape[0] - 1
    for p in range(scores.shape[0]):
        scores[p] = FAR
        nearest[p] = 0
    for j in range(table.shape[0]):
        x = key_score(table, j, key, mode, False, turn_weight)
        if x < scores[last] and j != left_out:
            p = last
            while p > 0 and x < scores[p - 1]:
                scores[p] = scores[p - 1]
                nearest[p] = nearest[p - 1]
                p -= 1
            scores[p] = x
            nearest[p] = j


@kernel(fast=True, inline=True)
def next_nearest(scores, first, every, last, last_seed):
    """Return the least score after the last one, by score and number, of seeds first, first + every, …, and its seed.

    Source: derived.
    """
    least = FAR
    # Where none is left, or the scores are no numbers, any will do.
    found = first
    for j in range(first, scores.shape[0], every):
        x = scores[j]
        if x < least and (x > last or (x == last and j > last_seed)):
            least = x
            found = j
    return least, found


@kernel(fast=True, inline=True)
def away_from(moves, seed, v):
    """Return how far a seed's variables are from v, squared, full turns apart. Source: derived."""
    away = 0.0
    for row in range(moves.shape[0]):
        turns = moves[row].kind == TURN and moves[row].upper - moves[row].lower > 2.0 * math.pi
        for k in range(moves[row].variable, moves[row].variable + moves[row].width):
            difference = seed[k] - v[k]
            difference = wrap_angle(difference) if turns else difference
            away += difference * difference
    return away
