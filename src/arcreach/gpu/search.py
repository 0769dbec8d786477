"""`auto` on a GPU for the few hard targets: a warp of threads each, which try the starts side by side.

The first start in the CPU's order that arrives is the answer. The layout of a batch is that of `kernels`.
"""

import math

import numpy as np

from arcreach.gpu.driver import WARP, from_kernel, load
from arcreach.gpu.lookup import NEAR_START, REACH, SCALE, SYMMETRIC, TURN_WEIGHT, WEIGHT
from arcreach.kernels import auto, seeds, smooth_variables
from arcreach.kernels import auto_device_steps as steps_of
from arcreach.kernels.auto import (
    _SAME,
    BEYOND_REACH_STARTS,
    FEWEST_STARTS,
    LONG_STEPS,
    MANY_FEWEST_STARTS,
    MANY_LONG_STEPS,
    MANY_SAME_PLACE,
    MANY_VARIABLES,
    NEARBY_FIRST,
    NEARBY_GROWTH,
    NEARBY_STARTS,
    NEARLY,
    POLISH_STEPS,
    SAME_PLACE,
    WORTH_ALL_STARTS,
)
from arcreach.kernels.auto_device_steps import FAR
from arcreach.kernels.layout import ITERATION_LIMIT, REACHED, ROTATION, STALLED, TARGET_SIZE
from arcreach.kernels.stopping import GOING_ON

# Of the module, not passed on: the simulator puts its own in the place of a global name.
cuda = load()

# The functions of the CPU, as kernels call them.
begin = from_kernel(steps_of.begin)
key_score = from_kernel(steps_of.key_score)
load_target = from_kernel(steps_of.load_target)
look_up = from_kernel(steps_of.look_up)
next_nearest = from_kernel(steps_of.next_nearest)
pace = from_kernel(auto.pace)
mix_seeds = from_kernel(seeds.mix_seeds)
place_seed = from_kernel(seeds.place_seed)
to_front = from_kernel(smooth_variables.to_front)
aims = from_kernel(smooth_variables.aims)
to_variables = from_kernel(smooth_variables.to_variables)


def build_search(mode, table_size, variables, rows, started, go_on, shared, one):
    """Return the kernel that ends what is left, with the sizes and the `started` of `kernels.build`.

    `go_on` is `advance`, of which the Jacobian lies in `shared` memory or not; `one` are moves, shapes, scale and
    weight of the only robot, or None. Source: derived.
    """
    known = one is not None
    MOVES, SHAPES, KNOWN_SCALE, KNOWN_WEIGHT = one or (None, None, 0.0, 0.0)
    rotation = mode == ROTATION
    height = 6 if rotation else 5
    f32, f64 = np.float32, np.float64

    @cuda.jit
    def search(
        m, positions, turned, Q, chosen, tables, seed_rows, moves, shapes, facts, position_tol, angle_tol, max_starts,
        max_steps, V, status, iterations, waiting, count,
    ):  # fmt: skip
        scores = cuda.shared.array(table_size, f32)
        own_score = cuda.shared.array(WARP, f32)
        own_seed = cuda.shared.array(WARP, np.int32)
        lane_code = cuda.shared.array(WARP, np.int32)
        lane_steps = cuda.shared.array(WARP, np.int32)
        lane_left = cuda.shared.array(WARP, f64)
        winner = cuda.shared.array(variables, f64)
        # Best so far, steps of all starts, how often the best place was met, the winning lane, how it ended.
        best_of = cuda.shared.array(1, f64)
        state = cuda.shared.array(4, np.int32)
        lane = cuda.threadIdx.x
        n = seed_rows.shape[2]
        all_v = cuda.local.array(variables, f64)
        all_trial = cuda.local.array(variables, f64)
        if shared:  # noqa: SIM108 - numba leaves out the branch that is not taken
            all_J = cuda.shared.array((variables, height, WARP), f64)
        else:
            all_J = cuda.local.array((variables, 6), f64)
        if known:
            v = all_v
            trial = all_trial
            J = all_J
            my_moves = cuda.const.array_like(MOVES)
            my_shapes = cuda.const.array_like(SHAPES)
        else:
            v = all_v[:n]
            trial = all_trial[:n]
            J = all_J[:n]
            my_moves = moves[0]
            my_shapes = shapes[0]
        e = cuda.local.array(6, f64)
        y = cuda.local.array(6, f64)
        codes = cuda.local.array(rows, np.int32)
        target = cuda.local.array(TARGET_SIZE, f64)
        key = cuda.local.array(10, f64)
        key32 = cuda.local.array(10, f32)
        long_steps = LONG_STEPS if n < MANY_VARIABLES else MANY_LONG_STEPS
        for w in range(cuda.blockIdx.x, count[0], cuda.gridDim.x):
            i = waiting[w]
            r = i // m
            if known:
                scale, weight = KNOWN_SCALE, KNOWN_WEIGHT
            else:
                my_moves = moves[r]
                my_shapes = shapes[r]
                scale, weight = facts[r, SCALE], facts[r, WEIGHT]
            symmetric = facts[r, SYMMETRIC] != 0.0
            many = rotation or not symmetric
            enough = MANY_SAME_PLACE if many else SAME_PLACE
            fewest = MANY_FEWEST_STARTS if many else FEWEST_STARTS
            reach = facts[r, REACH]
            tolerance2, angle_aim = aims(my_moves, position_tol, angle_tol)
            nearly = NEARLY * NEARLY * (tolerance2 + (weight * angle_tol) ** 2)
            worth_all = (WORTH_ALL_STARTS * reach) ** 2
            load_target(positions, turned, i, mode, target)
            to_front(my_moves, mode, target, target)
            c, s, mirror = look_up(target, mode, symmetric, key, key32)
            begun = chosen[i]
            for j in range(lane, table_size, WARP):
                x = key_score(tables[r], j, key32, mode, False, f32(facts[r, TURN_WEIGHT]))
                scores[j] = FAR if j == begun else x
            # Each lane offers the nearest of its own seeds that has not been tried; the nearest of all comes next.
            own_score[lane], own_seed[lane] = next_nearest(scores, lane, WARP, -FAR, -1)
            if lane == 0:
                best_of[0] = math.inf
                state[0] = 0
                state[1] = 0
                state[3] = GOING_ON
            cuda.syncthreads()
            nearby = 1 + NEARBY_STARTS if started and begun == NEAR_START else 0
            # How many of the first starts are not the next nearest.
            ahead = nearby if nearby > 0 else 1
            distance = math.sqrt(target[9] * target[9] + target[10] * target[10] + target[11] * target[11])
            starts = 2 * max_starts if distance <= reach + position_tol else min(max_starts, BEYOND_REACH_STARTS)
            starts += nearby
            # From here on starts are mixed from all seeds.
            mixed = nearby + max_starts
            waves = (starts + WARP - 1) // WARP
            # One wave more for a last, patient descent from the best place.
            for wave in range(waves + 1):
                attempt = wave * WARP + lane
                polish = wave == waves or state[3] != GOING_ON
                if polish and (state[3] == REACHED or state[3] == ITERATION_LIMIT or best_of[0] > nearly):
                    break
                seed = begun
                if not polish:
                    for other in range(max(ahead - wave * WARP, 0), min(WARP, min(starts, mixed) - wave * WARP)):
                        owner = 0
                        for rival in range(1, WARP):
                            nearer = own_score[rival] < own_score[owner]
                            as_near = own_score[rival] == own_score[owner]
                            if nearer or (as_near and own_seed[rival] < own_seed[owner]):
                                owner = rival
                        x = own_score[owner]
                        taken = own_seed[owner]
                        if lane == other:
                            seed = taken
                        cuda.syncthreads()
                        if lane == owner:
                            own_score[lane], own_seed[lane] = next_nearest(scores, lane, WARP, x, taken)
                        cuda.syncthreads()
                busy = lane == 0 if polish else attempt < starts
                lane_code[lane] = STALLED
                if busy:
                    most, patience, patient = pace(attempt, nearby, long_steps)
                    if polish:
                        most, patience, patient = POLISH_STEPS, POLISH_STEPS, True
                        for k in range(n):
                            v[k] = winner[k]
                    elif attempt < nearby or (attempt == 0 and begun < 0):
                        to_variables(moves[r], Q[i], v)
                        if attempt > 0:
                            share = NEARBY_FIRST * NEARBY_GROWTH**attempt
                            for k in range(n):
                                v[k] += share * (seed_rows[r, attempt, k] - v[k])
                    elif attempt >= mixed:
                        mix_seeds(moves[r], seed_rows[r], attempt - mixed, v)
                    else:
                        place_seed(moves[r], seed_rows[r, seed], c, s, mirror, v)
                    for k in range(n):
                        trial[k] = v[k]
                    most = min(most, max_steps)
                    code = GOING_ON
                    steps, best, damping, predicted, weak, rejected, again = begin()
                    while code == GOING_ON:
                        code, steps, best, damping, predicted, weak, rejected, again = go_on(
                            my_moves, my_shapes, scale, target, mode, weight, tolerance2, angle_aim, most,
                            patience, patient, v, trial, J, e, y, codes, steps, best, damping, predicted, weak,
                            rejected, again,
                        )  # fmt: skip
                    lane_code[lane] = code
                    lane_steps[lane] = steps
                    lane_left[lane] = best
                cuda.syncthreads()
                if lane == 0:
                    state[2] = -1
                    if polish:
                        state[0] += lane_steps[0]
                        state[2] = 0
                        state[3] = REACHED if lane_code[0] == REACHED else STALLED
                    else:
                        # The starts of this wave in the order in which the CPU tries them.
                        for other in range(min(WARP, starts - wave * WARP)):
                            if wave * WARP + other == mixed and best_of[0] > worth_all:
                                state[3] = STALLED
                                break
                            left = lane_left[other]
                            state[0] += lane_steps[other]
                            if left < best_of[0] * (1.0 - _SAME):
                                state[1] = 0
                            if left < best_of[0] * (1.0 + _SAME):
                                state[1] += 1
                            if wave + other == 0 or left < best_of[0] or lane_code[other] == REACHED:
                                best_of[0] = left
                                state[2] = other
                            if lane_code[other] == REACHED and state[0] <= max_steps:
                                state[3] = REACHED
                                break
                            if state[0] >= max_steps:
                                state[3] = ITERATION_LIMIT
                                break
                            met_often = state[1] >= enough and wave * WARP + other >= fewest
                            if met_often and best_of[0] > worth_all:
                                state[3] = STALLED
                                break
                cuda.syncthreads()
                if lane == state[2]:
                    for k in range(n):
                        winner[k] = v[k]
                cuda.syncthreads()
                if polish:
                    break
            if lane == 0:
                if state[3] == GOING_ON:
                    state[3] = STALLED
                for k in range(n):
                    v[k] = winner[k]
                for k in range(n):
                    V[i, k] = v[k]
                status[i] = state[3]
                iterations[i] = state[0]
            cuda.syncthreads()

    return search
