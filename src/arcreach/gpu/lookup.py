"""The first start of every target of a batch, looked up on a GPU: the nearest seed, or the caller's own start.

The layout of a batch is that of `kernels`.
"""

import math

import numpy as np

from arcreach.gpu.driver import device_function, from_kernel, is_simulated, load
from arcreach.gpu.unroll import Writer
from arcreach.kernels import auto_device_steps as steps_of
from arcreach.kernels import smooth_chain, smooth_variables
from arcreach.kernels.auto import FAMILIAR_SEEDS, STEP_OF_A_PATH, WORTH_A_DESCENT
from arcreach.kernels.auto_device_steps import AT_ONCE, FAR, TOGETHER
from arcreach.kernels.layout import AXIS, POSITION, ROTATION, TARGET_SIZE

# Of the module, not passed on: the simulator puts its own in the place of a global name.
cuda = load()

# Columns of `facts`: what a robot is in single numbers.
FACTS = SCALE, WEIGHT, SYMMETRIC, TURN_WEIGHT, REACH = range(5)
# Columns of a table of keys that a mode needs: a constant, then one per number of the key.
KEY_ROWS = {POSITION: (0, 1, 2, 3), AXIS: (0, 1, 2, 3, 4, 5, 6), ROTATION: (0, 1, 2, 3, 7, 8, 9, 10)}
# The first start where it is not a seed: the caller's, which lies far off or a step of a path away, or none at all,
# since the target is refused.
FROM_START = -1
NEAR_START = -2
REFUSED = -3

# The functions of the CPU, as kernels call them.
accept = from_kernel(steps_of.accept)
away_from = from_kernel(steps_of.away_from)
copy_table = from_kernel(steps_of.copy_table)
key_score = from_kernel(steps_of.key_score)
find_nearest = from_kernel(steps_of.find_nearest)
look_up = from_kernel(steps_of.look_up)
evaluate = from_kernel(smooth_chain.evaluate)
to_front = from_kernel(smooth_variables.to_front)
to_variables = from_kernel(smooth_variables.to_variables)


def unrolled_scores():
    """Return `least_scores` with its loops written out, of which the compiler would keep one. Source: derived."""
    if is_simulated(cuda):
        return from_kernel(steps_of.least_scores)
    return Writer({"AT_ONCE": AT_ONCE, "TOGETHER": TOGETHER}, device_function).write(steps_of.least_scores)


def build_choose(mode, table_size, variables, started, flat):
    """Return the kernel that writes `chosen` (targets,), and unit `axes` where the mode has them.

    `flat` says that the chain is known to be symmetric about its base axis. Source: derived.
    """
    columns = len(KEY_ROWS[mode])
    # Rows of whole vectors of four, which are read at once.
    width = -(-columns // 4) * 4
    alignment = None if is_simulated(cuda) else 16
    least_scores = unrolled_scores()
    rotation = mode == ROTATION
    f32, f64 = np.float32, np.float64

    @cuda.jit
    def choose(
        m, positions, turned, Q, tables, seed_rows, moves, shapes, facts, farthest, tolerance, axes, chosen, fault
    ):  # fmt: skip
        table = cuda.shared.array((table_size, width), f32, alignment)
        r = cuda.blockIdx.y
        copy_table(tables[r], cuda.threadIdx.x, cuda.blockDim.x, columns, table)
        cuda.syncthreads()
        row = cuda.local.array(TARGET_SIZE, f64)
        key = cuda.local.array(10, f64)
        keys = cuda.local.array((AT_ONCE, 10), f32)
        least = cuda.local.array(AT_ONCE, f32)
        of_block = cuda.local.array(AT_ONCE, f32)
        found = cuda.local.array(AT_ONCE, np.int32)
        symmetric = facts[r, SYMMETRIC] != 0.0
        turn_weight = f32(facts[r, TURN_WEIGHT])
        stride = cuda.gridDim.x * cuda.blockDim.x
        for t in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, m, AT_ONCE * stride):
            for p in range(AT_ONCE):
                # Past the end the last target is looked up once more.
                i = r * m + min(t + p * stride, m - 1)
                least[p] = FAR
                if not accept(positions, turned, i, mode, farthest, tolerance, row):
                    cuda.atomic.min(fault, 0, i)
                    # No seed is nearer than that.
                    least[p] = -FAR
                if mode == AXIS:
                    axes[i, 0] = row[2]
                    axes[i, 1] = row[5]
                    axes[i, 2] = row[8]
                to_front(moves[r], mode, row, row)
                look_up(row, mode, symmetric, key, keys[p])
                found[p] = 0
            for b in range(table_size // TOGETHER):
                least_scores(table[b * TOGETHER :], keys, mode, flat, turn_weight, of_block)
                for p in range(AT_ONCE):
                    if of_block[p] < least[p]:
                        least[p] = of_block[p]
                        found[p] = b
            for p in range(AT_ONCE):
                # Which of the block it was is found by asking once more.
                seed = found[p] * TOGETHER if least[p] > -FAR else REFUSED
                for j in range(TOGETHER - 1, -1, -1):
                    if key_score(table, found[p] * TOGETHER + j, keys[p], mode, flat, turn_weight) == least[p]:
                        seed = found[p] * TOGETHER + j
                if t + p * stride < m:
                    chosen[r * m + t + p * stride] = seed

    @cuda.jit
    def choose_near(
        m, positions, turned, Q, tables, seed_rows, moves, shapes, facts, farthest, tolerance, axes, chosen, fault
    ):  # fmt: skip
        table = cuda.shared.array((table_size, width), f32, alignment)
        r = cuda.blockIdx.y
        copy_table(tables[r], cuda.threadIdx.x, cuda.blockDim.x, columns, table)
        cuda.syncthreads()
        row = cuda.local.array(TARGET_SIZE, f64)
        key = cuda.local.array(10, f64)
        key32 = cuda.local.array(10, f32)
        v = cuda.local.array(variables, f64)
        e = cuda.local.array(6, f64)
        J = cuda.local.array((variables, 6), f64)
        nearest = cuda.local.array(FAMILIAR_SEEDS, np.int32)
        scores = cuda.local.array(FAMILIAR_SEEDS, f32)
        symmetric = facts[r, SYMMETRIC] != 0.0
        turn_weight = facts[r, TURN_WEIGHT]
        n = seed_rows.shape[2]
        for t in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, m, cuda.gridDim.x * cuda.blockDim.x):
            i = r * m + t
            if not accept(positions, turned, i, mode, farthest, tolerance, row):
                cuda.atomic.min(fault, 0, i)
                chosen[i] = REFUSED
                continue
            if mode == AXIS:
                axes[i, 0] = row[2]
                axes[i, 1] = row[5]
                axes[i, 2] = row[8]
            to_front(moves[r], mode, row, row)
            look_up(row, mode, symmetric, key, key32)
            find_nearest(table, key32, mode, f32(turn_weight), -1, scores, nearest)
            weight = facts[r, WEIGHT]
            mine = v[:n]
            to_variables(moves[r], Q[i], mine)
            square, angle = evaluate(moves[r], shapes[r], facts[r, SCALE], mine, row, mode, weight, e, J)
            away = square + turn_weight * math.sin(0.5 * angle) ** 2
            turned_by = turn_weight if rotation else 0.25 * turn_weight if mode == AXIS else 0.0
            place = key[0] * key[0] + key[1] * key[1] + key[2] * key[2]
            if square + (weight * angle) ** 2 <= (STEP_OF_A_PATH * weight) ** 2:
                chosen[i] = NEAR_START
            elif away <= WORTH_A_DESCENT * max(scores[0] + place + turned_by, 0.0):
                chosen[i] = FROM_START
            elif symmetric:
                chosen[i] = nearest[0]
            else:
                chosen[i] = nearest[0]
                shortest = math.inf
                for p in range(FAMILIAR_SEEDS):
                    x = away_from(moves[r], seed_rows[r, nearest[p]], mine)
                    if x < shortest:
                        shortest = x
                        chosen[i] = nearest[p]

    return choose_near if started else choose
