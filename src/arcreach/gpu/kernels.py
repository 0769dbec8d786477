"""`auto` on a GPU: the functions of the CPU's loop in five kernels, so that no thread waits for another's hard target.

1. `choose`, in `lookup`, looks up the first start of every target.
2. `first` descends from it. A thread that has arrived takes its next target at once.
3. `retry` goes on with what has not arrived, from a few starts more.
4. `search`, in `search`, gives a whole warp to each target that is left.
5. `finish` writes coordinates and errors, by the exact forward kinematics.

Several robots of the same size share a launch: robot r has the targets r * m to (r + 1) * m and is blockIdx.y.
Arrays of a robot are stacked: moves (robots, rows), seeds (robots, seeds, variables), keys (robots, seeds, columns).
`facts` (robots, 5) holds what a robot is in single numbers, see `lookup.FACTS`.
"""

from typing import Any, NamedTuple

import numpy as np

from arcreach.gpu.driver import WARP, from_kernel, kernel_of_warps, load
from arcreach.gpu.lookup import (
    NEAR_START,
    REACH,
    REFUSED,
    SCALE,
    SYMMETRIC,
    TURN_WEIGHT,
    WEIGHT,
    build_choose,
)
from arcreach.gpu.search import build_search
from arcreach.kernels import auto, chain, judge, limits, seeds, smooth_variables
from arcreach.kernels import auto_device_steps as steps_of
from arcreach.kernels.layout import REACHED, ROTATION, STALLED, TARGET_SIZE
from arcreach.kernels.stopping import GOING_ON

# Of the module, not passed on: the simulator puts its own in the place of a global name.
cuda = load()

# Threads of a block: of `choose` and `finish`, and of `first` and `retry`, which are a single warp for a known robot.
WIDE = 128
NARROW = 128
# Starts that a target is given one after another before a whole warp takes over.
FIRST_STARTS = 8

# The functions of the CPU, as kernels call them.
load_target = from_kernel(steps_of.load_target)
advance = from_kernel(steps_of.advance)
begin = from_kernel(steps_of.begin)
find_nearest = from_kernel(steps_of.find_nearest)
look_up = from_kernel(steps_of.look_up)
pace = from_kernel(auto.pace)
tip_motion = from_kernel(chain.tip_motion)
tip_errors = from_kernel(judge.tip_errors)
distance_from = from_kernel(judge.distance_from)
final_status = from_kernel(judge.final_status)
unwind = from_kernel(limits.unwind)
frame_of = from_kernel(seeds.frame_of)
place_seed = from_kernel(seeds.place_seed)
to_coordinates = from_kernel(smooth_variables.to_coordinates)
to_front = from_kernel(smooth_variables.to_front)
aims = from_kernel(smooth_variables.aims)
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
    # Functions that are written out take a thread's Jacobian as a column of a shared array, see `Writer.by_thread`.
    shared = "advance" in special
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
    further = FIRST_STARTS - 1
    f32, f64 = np.float32, np.float64

    choose = build_choose(mode, table_size, variables, started, flat)
    descends = kernel_of_warps(8 * variables * height * WARP) if shared else cuda.jit

    @descends
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
            all_J = cuda.shared.array((variables, height, WARP), f64)
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
        tolerance2, angle_aim = aims(my_moves, position_tol, angle_tol)
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
                to_front(my_moves, mode, target, target)
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
                my_moves, my_shapes, scale, target, mode, weight, tolerance2, angle_aim, most, patience, patient,
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

    @descends
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
            all_J = cuda.shared.array((variables, height, WARP), f64)
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
        stride = cuda.gridDim.x * cuda.blockDim.x
        for w in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, count[0], stride):
            i = waiting[w]
            r = i // m
            if not known:
                my_moves = moves[r]
                my_shapes = shapes[r]
                scale, weight, symmetric = facts[r, SCALE], facts[r, WEIGHT], facts[r, SYMMETRIC] != 0.0
            tolerance2, angle_aim = aims(my_moves, position_tol, angle_tol)
            begun = chosen[i]
            code = GOING_ON
            spent = iterations[i]
            if begun != NEAR_START:
                load_target(positions, turned, i, mode, target)
                to_front(my_moves, mode, target, target)
                c, s, mirror = look_up(target, mode, symmetric, key, key32)
                turn_weight = f32(facts[r, TURN_WEIGHT])
                find_nearest(tables[r], key32, mode, turn_weight, begun, scores, nearest)
                for attempt in range(1, FIRST_STARTS):
                    place(my_moves, seed_rows[r, nearest[attempt - 1]], c, s, mirror, v)
                    for k in range(v.shape[0]):
                        trial[k] = v[k]
                    most, patience, patient = pace(attempt, 0, 0)
                    code = GOING_ON
                    steps, best, damping, predicted, weak, rejected, again = begin()
                    while code == GOING_ON:
                        code, steps, best, damping, predicted, weak, rejected, again = go_on(
                            my_moves, my_shapes, scale, target, mode, weight, tolerance2, angle_aim, most,
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
    def finish(
        m, positions, turned, Q, V, codes, steps, chains, moves, facts, position_tol, angle_tol, q, status, iterations,
        distances, angles,
    ):  # fmt: skip
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
            to_front(my_moves, mode, row, row)
            far = distance_from(0.0, 0.0, 0.0, row)
            status[i] = final_status(codes[i], distance, angle, position_tol, angle_tol, far, facts[r, REACH])
            iterations[i] = steps[i]

    one = (MOVES, SHAPES, KNOWN_SCALE, KNOWN_WEIGHT) if known else None
    search = build_search(mode, table_size, variables, rows, started, go_on, shared, one)
    return Kernels(choose, first, retry, search, finish)
