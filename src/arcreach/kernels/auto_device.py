"""`auto` on a GPU: the functions of the CPU's loop in five kernels, so that no thread waits for another's hard target.

1. `choose`, in `seeds_device`, looks up the first start of every target.
2. `first` descends from it. A thread that has arrived takes its next target at once.
3. `retry` goes on with what has not arrived, from a few starts more.
4. `search` gives a whole warp to each target that is left: its threads try the starts side by side, and the first one
   in the CPU's order that arrives is the answer.
5. `finish` writes coordinates and errors, by the exact forward kinematics.

Several robots of the same size share a launch: robot r has the targets r * m to (r + 1) * m and is blockIdx.y.
Arrays of a robot are stacked: moves (robots, rows), seeds (robots, seeds, variables), keys (robots, seeds, columns).
`facts` (robots, 5) holds what a robot is in single numbers, see `seeds_device.FACTS`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from arcreach._cuda.driver import from_kernel, load
from arcreach.kernels import auto, chain, judge, limits, seeds, smooth_variables
from arcreach.kernels import auto_device_steps as steps_of
from arcreach.kernels.auto import (
    _AIM,
    _SAME,
    BEYOND_REACH_STARTS,
    FEWEST_STARTS,
    LONG_STEPS,
    MANY_LONG_STEPS,
    MANY_VARIABLES,
    NEARBY_FIRST,
    NEARBY_GROWTH,
    NEARBY_STARTS,
    NEARLY,
    POLISH_STEPS,
    ROTATION_FEWEST_STARTS,
    ROTATION_SAME_PLACE,
    SAME_PLACE,
    WORTH_ALL_STARTS,
)
from arcreach.kernels.auto_device_steps import FAR
from arcreach.kernels.layout import ITERATION_LIMIT, REACHED, ROTATION, STALLED, TARGET_SIZE
from arcreach.kernels.seeds_device import (
    NEAR_START,
    REACH,
    REFUSED,
    SCALE,
    SYMMETRIC,
    TURN_WEIGHT,
    WEIGHT,
    build_choose,
)
from arcreach.kernels.stopping import GOING_ON

# Of the module, not passed on: the simulator puts its own in the place of a global name.
cuda = load()

# Threads of a block: of `choose` and `finish`, of `first` and `retry` for any robot and, fewer so that more of the
# registers are used, for one, and the warp of `search`.
WIDE = 128
NARROW = 128
FEW = 32
WARP = 32
# Variables up to which the Jacobian of a robot known beforehand fits into registers; others lie in shared memory.
MOST_IN_REGISTERS = 10
# Starts that a target is given one after another before a whole warp takes over.
FIRST_STARTS = 8

# The functions of the CPU, as kernels call them.
load_target = from_kernel(steps_of.load_target)
advance = from_kernel(steps_of.advance)
key_score = from_kernel(steps_of.key_score)
begin = from_kernel(steps_of.begin)
keep_nearest = from_kernel(steps_of.keep_nearest)
next_nearest = from_kernel(steps_of.next_nearest)
look_up = from_kernel(steps_of.look_up)
pace = from_kernel(auto.pace)
tip_motion = from_kernel(chain.tip_motion)
tip_errors = from_kernel(judge.tip_errors)
final_status = from_kernel(judge.final_status)
unwind = from_kernel(limits.unwind)
frame_of = from_kernel(seeds.frame_of)
place_seed = from_kernel(seeds.place_seed)
to_coordinates = from_kernel(smooth_variables.to_coordinates)
to_variables = from_kernel(smooth_variables.to_variables)


class Kernels(NamedTuple):
    """The kernels of one kind of batch, in the order in which they are called."""

    choose: Any
    first: Any
    retry: Any
    search: Any
    finish: Any


def build(mode, table_size, variables, rows, started, special=None):
    """Return the kernels for chains of up to `rows` moves and `variables`, and tables of `table_size` seeds.

    `started` kernels take the caller's configurations. `special` makes them for one robot alone: functions unrolled for
    it, its moves, shapes, chain, scale, weight and symmetry. Source: derived.
    """
    known = special is not None
    special = special or {}
    # More than a thread's registers hold: its Jacobian is a column of a shared array, see `Writer.by_thread`.
    shared = "advance" in special and variables > MOST_IN_REGISTERS
    go_on = special.get("advance", advance)
    place = special.get("place_seed", place_seed)
    as_coordinates = special.get("to_coordinates", to_coordinates)
    turn_back = special.get("unwind", unwind)
    tip_of = special.get("tip_motion", tip_motion)
    MOVES, SHAPES, CHAIN = (special.get(name) for name in ("moves", "shapes", "chain"))
    KNOWN_SCALE, KNOWN_WEIGHT, KNOWN_SYMMETRIC = (special.get(name, 0.0) for name in ("scale", "weight", "symmetric"))
    rotation = mode == ROTATION
    height = 6 if rotation else 5
    flat = bool(KNOWN_SYMMETRIC) and known
    enough = ROTATION_SAME_PLACE if rotation else SAME_PLACE
    fewest = ROTATION_FEWEST_STARTS if rotation else FEWEST_STARTS
    further = FIRST_STARTS - 1
    f32, f64 = np.float32, np.float64

    choose = build_choose(mode, table_size, variables, started, flat)

    @cuda.jit
    def first(
        m, positions, turned, Q, chosen, seed_rows, moves, shapes, facts, position_tol, angle_tol, max_steps, V, status,
        iterations, waiting, count,
    ):  # fmt: skip
        r = cuda.blockIdx.y
        if known:
            my_moves = cuda.const.array_like(MOVES)
            my_shapes = cuda.const.array_like(SHAPES)
            scale, weight, symmetric = KNOWN_SCALE, KNOWN_WEIGHT, KNOWN_SYMMETRIC
        else:
            my_moves = moves[r]
            my_shapes = shapes[r]
            scale, weight, symmetric = facts[r, SCALE], facts[r, WEIGHT], facts[r, SYMMETRIC] != 0.0
        all_v = cuda.local.array(variables, f64)
        all_trial = cuda.local.array(variables, f64)
        if shared:  # noqa: SIM108 - numba leaves out the branch that is not taken
            all_J = cuda.shared.array((variables, height, FEW), f64)
        else:
            all_J = cuda.local.array((variables, 6), f64)
        e = cuda.local.array(6, f64)
        y = cuda.local.array(6, f64)
        codes = cuda.local.array(rows, np.int32)
        target = cuda.local.array(TARGET_SIZE, f64)
        if known:
            v = all_v
            trial = all_trial
            J = all_J
        else:
            n = seed_rows.shape[2]
            v = all_v[:n]
            trial = all_trial[:n]
            J = all_J[:n]
        tolerance2 = (_AIM * position_tol) ** 2
        stride = cuda.gridDim.x * cuda.blockDim.x
        t = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        idle = True
        steps, best, damping, predicted, weak, rejected, again = begin()
        most = 0
        patience = 0
        patient = False
        while t < m:
            i = r * m + t
            if idle:
                seed = chosen[i]
                if seed == REFUSED:
                    for k in range(v.shape[0]):
                        V[i, k] = 0.0
                    status[i] = STALLED
                    iterations[i] = 0
                    t += stride
                    continue
                load_target(positions, turned, i, mode, target)
                if started and seed < 0:
                    to_variables(my_moves, Q[i], v)
                else:
                    c, s, mirror = frame_of(target, mode, symmetric)
                    place(my_moves, seed_rows[r, seed], c, s, mirror, v)
                for k in range(v.shape[0]):
                    trial[k] = v[k]
                most, patience, patient = pace(0, 1 if started and seed == NEAR_START else 0, 0)
                most = min(most, max_steps)
                steps, best, damping, predicted, weak, rejected, again = begin()
                idle = False
            code, steps, best, damping, predicted, weak, rejected, again = go_on(
                my_moves, my_shapes, scale, target, mode, weight, tolerance2, _AIM * angle_tol, most, patience, patient,
                v, trial, J, e, y, codes, steps, best, damping, predicted, weak, rejected, again,
            )  # fmt: skip
            if code != GOING_ON:
                for k in range(v.shape[0]):
                    V[i, k] = v[k]
                status[i] = code
                iterations[i] = steps
                if code != REACHED:
                    waiting[cuda.atomic.add(count, 0, 1)] = i
                t += stride
                idle = True

    @cuda.jit
    def retry(
        m, positions, turned, chosen, tables, seed_rows, moves, shapes, facts, position_tol, angle_tol, max_steps, V,
        status, iterations, waiting, count, hard, hard_count,
    ):  # fmt: skip
        if known:
            my_moves = cuda.const.array_like(MOVES)
            my_shapes = cuda.const.array_like(SHAPES)
            scale, weight, symmetric = KNOWN_SCALE, KNOWN_WEIGHT, KNOWN_SYMMETRIC
        else:
            my_moves = moves[0]
            my_shapes = shapes[0]
            scale, weight, symmetric = 0.0, 0.0, False
        all_v = cuda.local.array(variables, f64)
        all_trial = cuda.local.array(variables, f64)
        if shared:  # noqa: SIM108 - numba leaves out the branch that is not taken
            all_J = cuda.shared.array((variables, height, FEW), f64)
        else:
            all_J = cuda.local.array((variables, 6), f64)
        e = cuda.local.array(6, f64)
        y = cuda.local.array(6, f64)
        codes = cuda.local.array(rows, np.int32)
        target = cuda.local.array(TARGET_SIZE, f64)
        if known:
            v = all_v
            trial = all_trial
            J = all_J
        else:
            n = seed_rows.shape[2]
            v = all_v[:n]
            trial = all_trial[:n]
            J = all_J[:n]
        key = cuda.local.array(10, f64)
        key32 = cuda.local.array(10, f32)
        scores = cuda.local.array(further, f32)
        nearest = cuda.local.array(further, np.int32)
        tolerance2 = (_AIM * position_tol) ** 2
        stride = cuda.gridDim.x * cuda.blockDim.x
        for w in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, count[0], stride):
            i = waiting[w]
            r = i // m
            if not known:
                my_moves = moves[r]
                my_shapes = shapes[r]
                scale, weight, symmetric = facts[r, SCALE], facts[r, WEIGHT], facts[r, SYMMETRIC] != 0.0
            begun = chosen[i]
            code = GOING_ON
            spent = iterations[i]
            if begun != NEAR_START:
                load_target(positions, turned, i, mode, target)
                c, s, mirror = look_up(target, mode, symmetric, key, key32)
                turn_weight = f32(facts[r, TURN_WEIGHT])
                for p in range(further):
                    scores[p] = FAR
                    nearest[p] = 0
                for j in range(table_size):
                    if j != begun:
                        keep_nearest(key_score(tables[r], j, key32, mode, False, turn_weight), j, scores, nearest)
                for attempt in range(1, FIRST_STARTS):
                    place(my_moves, seed_rows[r, nearest[attempt - 1]], c, s, mirror, v)
                    for k in range(v.shape[0]):
                        trial[k] = v[k]
                    most, patience, patient = pace(attempt, 0, 0)
                    code = GOING_ON
                    steps, best, damping, predicted, weak, rejected, again = begin()
                    while code == GOING_ON:
                        code, steps, best, damping, predicted, weak, rejected, again = go_on(
                            my_moves, my_shapes, scale, target, mode, weight, tolerance2, _AIM * angle_tol, most,
                            patience, patient, v, trial, J, e, y, codes, steps, best, damping, predicted, weak,
                            rejected, again,
                        )  # fmt: skip
                    spent += steps
                    if code == REACHED:
                        break
            if code == REACHED and spent <= max_steps:
                for k in range(v.shape[0]):
                    V[i, k] = v[k]
                status[i] = REACHED
                iterations[i] = spent
            else:
                hard[cuda.atomic.add(hard_count, 0, 1)] = i

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
        tolerance2 = (_AIM * position_tol) ** 2
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
            reach = facts[r, REACH]
            nearly = NEARLY * NEARLY * (tolerance2 + (weight * angle_tol) ** 2)
            worth_all = (WORTH_ALL_STARTS * reach) ** 2
            load_target(positions, turned, i, mode, target)
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
            starts = max_starts if distance <= reach + position_tol else min(max_starts, BEYOND_REACH_STARTS)
            starts += nearby
            waves = (starts + WARP - 1) // WARP
            # One wave more for a last, patient descent from the best place.
            for wave in range(waves + 1):
                attempt = wave * WARP + lane
                polish = wave == waves or state[3] != GOING_ON
                if polish and (state[3] == REACHED or state[3] == ITERATION_LIMIT or best_of[0] > nearly):
                    break
                seed = begun
                if not polish:
                    for other in range(max(ahead - wave * WARP, 0), min(WARP, starts - wave * WARP)):
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
                    else:
                        place_seed(moves[r], seed_rows[r, seed], c, s, mirror, v)
                    for k in range(n):
                        trial[k] = v[k]
                    most = min(most, max_steps)
                    code = GOING_ON
                    steps, best, damping, predicted, weak, rejected, again = begin()
                    while code == GOING_ON:
                        code, steps, best, damping, predicted, weak, rejected, again = go_on(
                            my_moves, my_shapes, scale, target, mode, weight, tolerance2, _AIM * angle_tol, most,
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

    @cuda.jit
    def finish(m, positions, turned, Q, V, chains, moves, facts, position_tol, angle_tol, status, q, distances, angles):
        scratch = cuda.local.array(variables, f64)
        row = cuda.local.array(TARGET_SIZE, f64)
        r = cuda.blockIdx.y
        if known:
            my_moves = cuda.const.array_like(MOVES)
            my_chain = cuda.const.array_like(CHAIN)
        else:
            my_moves = moves[r]
            my_chain = chains[r]
        for t in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, m, cuda.gridDim.x * cuda.blockDim.x):
            i = r * m + t
            load_target(positions, turned, i, mode, row)
            mine = q[i]
            as_coordinates(my_chain, my_moves, V[i], scratch, mine)
            turn_back(my_chain, Q[i] if started else mine[:0], mine)
            distance, angle = tip_errors(tip_of(my_chain, mine), row, mode)
            distances[i] = distance
            angles[i] = angle
            status[i] = final_status(status[i], distance, angle, position_tol, angle_tol, row, facts[r, REACH])

    return Kernels(choose, first, retry, search, finish)
