"""`auto` on a GPU: the functions of the CPU's loop in five kernels, so that no thread waits for another's hard target.

1. `choose` looks up the first start of every target.
2. `first` descends from it. A thread that has arrived takes its next target at once.
3. `retry` goes on with what has not arrived, from a few starts more.
4. `search` gives a whole warp to each target that is left: its threads try the starts side by side, and the first one
   in the CPU's order that arrives is the answer.
5. `finish` writes coordinates and errors, by the exact forward kinematics.

Several robots of the same size share a launch: robot r has the targets r * m to (r + 1) * m and is blockIdx.y.
Arrays of a robot are stacked: moves (robots, rows), seeds (robots, seeds, variables), keys (robots, seeds, columns).
`facts` (robots, 5) holds what a robot is in single numbers, see FACTS.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from arcreach._cuda.driver import from_kernel, load
from arcreach.kernels import auto, chain, judge, limits, seeds, smooth_chain, smooth_variables
from arcreach.kernels import auto_device_steps as steps_of
from arcreach.kernels.auto import (
    _AIM,
    _SAME,
    BEYOND_REACH_STARTS,
    FAMILIAR_SEEDS,
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
    STEP_OF_A_PATH,
    WORTH_A_DESCENT,
    WORTH_ALL_STARTS,
)
from arcreach.kernels.layout import AXIS, ITERATION_LIMIT, POSITION, REACHED, ROTATION, STALLED, TARGET_SIZE
from arcreach.kernels.levenberg_marquardt import FIRST_DAMPING
from arcreach.kernels.stopping import GOING_ON

# Of the module, not passed on: the simulator puts its own in the place of a global name.
cuda = load()

# Columns of `facts`.
FACTS = SCALE, WEIGHT, SYMMETRIC, TURN_WEIGHT, REACH = range(5)
# Threads of a block: of `choose` and `finish`, of `first` and `retry` for any robot and, fewer so that more of the
# registers are used, for one, and the warp of `search`.
WIDE = 128
NARROW = 128
FEW = 32
WARP = 32
# Variables up to which the Jacobian of a robot known beforehand fits into registers; others lie in shared memory.
MOST_IN_REGISTERS = 10
# Targets that a thread of `choose` looks up together, and the seeds of which it notes only the least score.
AT_ONCE = 4
TOGETHER = 8
# Starts that a target is given one after another before a whole warp takes over.
FIRST_STARTS = 8
# Columns of a table of keys that a mode needs: a constant, then one per number of the key.
KEY_ROWS = {POSITION: (0, 1, 2, 3), AXIS: (0, 1, 2, 3, 4, 5, 6), ROTATION: (0, 1, 2, 3, 7, 8, 9, 10)}
# The first start where it is not a seed: the caller's, which lies far off or a step of a path away.
FROM_START = -1
NEAR_START = -2
_FAR = np.float32(3e38)

# The functions of the CPU, as kernels call them.
load_target = from_kernel(steps_of.load_target)
accept = from_kernel(steps_of.accept)
advance = from_kernel(steps_of.advance)
key_score = from_kernel(steps_of.key_score)
away_from = from_kernel(steps_of.away_from)
pace = from_kernel(auto.pace)
tip_motion = from_kernel(chain.tip_motion)
tip_errors = from_kernel(judge.tip_errors)
final_status = from_kernel(judge.final_status)
unwind = from_kernel(limits.unwind)
frame_of = from_kernel(seeds.frame_of)
place_seed = from_kernel(seeds.place_seed)
write_key = from_kernel(seeds.write_key)
evaluate = from_kernel(smooth_chain.evaluate)
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
    shared = known and variables > MOST_IN_REGISTERS
    special = special or {}
    go_on = special.get("advance", advance)
    place = special.get("place_seed", place_seed)
    as_coordinates = special.get("to_coordinates", to_coordinates)
    turn_back = special.get("unwind", unwind)
    tip_of = special.get("tip_motion", tip_motion)
    MOVES, SHAPES, CHAIN = (special.get(name) for name in ("moves", "shapes", "chain"))
    KNOWN_SCALE, KNOWN_WEIGHT, KNOWN_SYMMETRIC = (special.get(name, 0.0) for name in ("scale", "weight", "symmetric"))
    columns = len(KEY_ROWS[mode])
    rotation = mode == ROTATION
    height = 6 if rotation else 5
    flat = bool(KNOWN_SYMMETRIC) and known
    enough = ROTATION_SAME_PLACE if rotation else SAME_PLACE
    fewest = ROTATION_FEWEST_STARTS if rotation else FEWEST_STARTS
    per_lane = table_size // WARP
    f32, f64 = np.float32, np.float64

    @cuda.jit
    def choose(
        m, positions, turned, Q, tables, seed_rows, moves, shapes, facts, farthest, tolerance, axes, chosen, fault
    ):  # fmt: skip
        table = cuda.shared.array((table_size, columns), f32)
        r = cuda.blockIdx.y
        for j in range(cuda.threadIdx.x, table_size * columns, cuda.blockDim.x):
            table[j // columns, j % columns] = tables[r, j // columns, j % columns]
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
                if not accept(positions, turned, i, mode, farthest, tolerance, row):
                    cuda.atomic.min(fault, 0, i)
                if mode == AXIS:
                    axes[i, 0] = row[2]
                    axes[i, 1] = row[5]
                    axes[i, 2] = row[8]
                c, s, mirror = frame_of(row, mode, symmetric)
                for k in range(10):
                    key[k] = 0.0
                write_key(row, mode, c, s, mirror, key)
                for k in range(10):
                    keys[p, k] = f32(key[k])
                least[p] = _FAR
                found[p] = 0
            # A row of the table serves all of them: reading it takes longer than its arithmetic.
            for b in range(np.uint64(table_size // TOGETHER)):
                for p in range(AT_ONCE):
                    of_block[p] = _FAR
                for j in range(np.uint64(TOGETHER)):
                    for p in range(AT_ONCE):
                        x = key_score(table, b * np.uint64(TOGETHER) + j, keys[p], mode, flat, turn_weight)
                        of_block[p] = min(of_block[p], x)
                for p in range(AT_ONCE):
                    if of_block[p] < least[p]:
                        least[p] = of_block[p]
                        found[p] = b
            for p in range(AT_ONCE):
                # Which of the block it was is found by asking once more.
                seed = found[p] * TOGETHER
                for j in range(TOGETHER - 1, -1, -1):
                    if key_score(table, found[p] * TOGETHER + j, keys[p], mode, flat, turn_weight) == least[p]:
                        seed = found[p] * TOGETHER + j
                if t + p * stride < m:
                    chosen[r * m + t + p * stride] = seed

    @cuda.jit
    def choose_near(
        m, positions, turned, Q, tables, seed_rows, moves, shapes, facts, farthest, tolerance, axes, chosen, fault
    ):  # fmt: skip
        table = cuda.shared.array((table_size, columns), f32)
        r = cuda.blockIdx.y
        for j in range(cuda.threadIdx.x, table_size * columns, cuda.blockDim.x):
            table[j // columns, j % columns] = tables[r, j // columns, j % columns]
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
            if mode == AXIS:
                axes[i, 0] = row[2]
                axes[i, 1] = row[5]
                axes[i, 2] = row[8]
            c, s, mirror = frame_of(row, mode, symmetric)
            for k in range(10):
                key[k] = 0.0
            write_key(row, mode, c, s, mirror, key)
            for k in range(10):
                key32[k] = f32(key[k])
            for p in range(FAMILIAR_SEEDS):
                scores[p] = _FAR
                nearest[p] = 0
            for j in range(table_size):
                x = key_score(table, j, key32, mode, False, f32(turn_weight))
                if x < scores[FAMILIAR_SEEDS - 1]:
                    p = FAMILIAR_SEEDS - 1
                    while p > 0 and x < scores[p - 1]:
                        scores[p] = scores[p - 1]
                        nearest[p] = nearest[p - 1]
                        p -= 1
                    scores[p] = x
                    nearest[p] = j
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
        if shared:
            # More than a thread's registers hold: a column of shared memory each, free of conflicts.
            all_J = cuda.shared.array((variables, height, FEW), f64)[:, :, cuda.threadIdx.x]
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
        steps = 0
        best = math.inf
        damping = FIRST_DAMPING
        predicted = 0.0
        weak = 0
        rejected = 0
        again = False
        most = 0
        patience = 0
        patient = False
        while t < m:
            i = r * m + t
            if idle:
                load_target(positions, turned, i, mode, target)
                seed = chosen[i]
                if started and seed < 0:
                    to_variables(my_moves, Q[i], v)
                else:
                    c, s, mirror = frame_of(target, mode, symmetric)
                    place(my_moves, seed_rows[r, seed], c, s, mirror, v)
                for k in range(v.shape[0]):
                    trial[k] = v[k]
                most, patience, patient = pace(0, 1 if started and seed == NEAR_START else 0, 0)
                most = min(most, max_steps)
                steps = -1
                best = math.inf
                damping = FIRST_DAMPING
                predicted = 0.0
                weak = 0
                rejected = 0
                again = False
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
        if shared:
            # More than a thread's registers hold: a column of shared memory each, free of conflicts.
            all_J = cuda.shared.array((variables, height, FEW), f64)[:, :, cuda.threadIdx.x]
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
                c, s, mirror = frame_of(target, mode, symmetric)
                for k in range(10):
                    key[k] = 0.0
                write_key(target, mode, c, s, mirror, key)
                for k in range(10):
                    key32[k] = f32(key[k])
                turn_weight = f32(facts[r, TURN_WEIGHT])
                last = -_FAR
                last_seed = -1
                for attempt in range(1, FIRST_STARTS):
                    # The nearest seed after the last one, in the order of score and number, that was not the first.
                    least = _FAR
                    seed = 0
                    for j in range(table_size):
                        x = key_score(tables[r], j, key32, mode, False, turn_weight)
                        if x < least and j != begun and (x > last or (x == last and j > last_seed)):
                            least = x
                            seed = j
                    last = least
                    last_seed = seed
                    place(my_moves, seed_rows[r, seed], c, s, mirror, v)
                    for k in range(v.shape[0]):
                        trial[k] = v[k]
                    most, patience, patient = pace(attempt, 0, 0)
                    code = GOING_ON
                    steps = -1
                    best = math.inf
                    damping = FIRST_DAMPING
                    predicted = 0.0
                    weak = 0
                    rejected = 0
                    again = False
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
        order = cuda.shared.array(table_size, np.int32)
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
        if shared:
            all_J = cuda.shared.array((variables, height, WARP), f64)[:, :, lane]
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
        mine = cuda.local.array(per_lane, f32)
        place_of = cuda.local.array(per_lane, np.int32)
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
            c, s, mirror = frame_of(target, mode, symmetric)
            for k in range(10):
                key[k] = 0.0
            write_key(target, mode, c, s, mirror, key)
            for k in range(10):
                key32[k] = f32(key[k])
            for j in range(lane, table_size, WARP):
                # A target that is no number has no order; any will do, since it is refused in the end.
                order[j] = j
                scores[j] = key_score(tables[r], j, key32, mode, False, f32(facts[r, TURN_WEIGHT]))
            if lane == 0:
                best_of[0] = math.inf
                state[0] = 0
                state[1] = 0
                state[3] = GOING_ON
            cuda.syncthreads()
            # Where each seed stands in the order of score and number; a score that is read serves a row of seeds.
            for p in range(per_lane):
                mine[p] = scores[p * WARP + lane]
                place_of[p] = 0
            for other in range(table_size):
                x = scores[other]
                for p in range(per_lane):
                    if x < mine[p] or (x == mine[p] and other < p * WARP + lane):
                        place_of[p] += 1
            for p in range(per_lane):
                order[place_of[p]] = p * WARP + lane
            cuda.syncthreads()
            begun = chosen[i]
            nearby = 1 + NEARBY_STARTS if started and begun == NEAR_START else 0
            # How many of the first starts are not table_size in their order.
            ahead = nearby if nearby > 0 else 1
            distance = math.sqrt(target[9] * target[9] + target[10] * target[10] + target[11] * target[11])
            starts = max_starts if distance <= reach + position_tol else min(max_starts, BEYOND_REACH_STARTS)
            starts += nearby
            skipped = table_size
            if begun >= 0:
                for rank in range(table_size):
                    if order[rank] == begun:
                        skipped = rank
            waves = (starts + WARP - 1) // WARP
            # One wave more for a last, patient descent from the best place.
            for wave in range(waves + 1):
                attempt = wave * WARP + lane
                polish = wave == waves or state[3] != GOING_ON
                if polish and (state[3] == REACHED or state[3] == ITERATION_LIMIT or best_of[0] > nearly):
                    break
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
                        rank = attempt - ahead
                        rank += 1 if rank >= skipped else 0
                        seed = begun if attempt == 0 else order[rank]
                        place_seed(moves[r], seed_rows[r, seed], c, s, mirror, v)
                    for k in range(n):
                        trial[k] = v[k]
                    most = min(most, max_steps)
                    code = GOING_ON
                    steps = -1
                    best = math.inf
                    damping = FIRST_DAMPING
                    predicted = 0.0
                    weak = 0
                    rejected = 0
                    again = False
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

    return Kernels(choose_near if started else choose, first, retry, search, finish)
