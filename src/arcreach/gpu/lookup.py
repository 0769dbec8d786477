"""The kernel that chooses the first start of every target: a seed near it and near rest, or the caller's start."""

from typing import Any

import numpy as np

from arcreach.gpu.contexts import FROM_START, NEAR_START, REFUSED, Kind, Parts
from arcreach.gpu.driver import from_kernel, is_simulated, load
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION, TARGET_SIZE
from arcreach.kernels.solver import gpu_lookup, seed_lookup, starts, variables
from arcreach.kernels.solver.contexts import Table, Work
from arcreach.kernels.solver.gpu_lookup import SEEDS_PER_GROUP, TARGETS_AT_ONCE
from arcreach.kernels.solver.seed_lookup import FAR
from arcreach.kernels.solver.starts import FAMILIAR_SEEDS, WORTH_A_DESCENT

# A module global: the simulator replaces it while a kernel runs.
cuda = load()

# Rows of `Table.keys` that a mode needs: a constant, then one per component of the key.
KEY_ROWS = {POSITION: (0, 1, 2, 3), AXIS: (0, 1, 2, 3, 4, 5, 6), ROTATION: (0, 1, 2, 3, 7, 8, 9, 10)}

# CPU kernels, as GPU kernels call them.
accept = from_kernel(gpu_lookup.accept)
copy_keys = from_kernel(gpu_lookup.copy_keys)
find_key = from_kernel(gpu_lookup.find_key)
find_nearest = from_kernel(gpu_lookup.find_nearest)
joint_distance = from_kernel(starts.joint_distance)
key_score = from_kernel(gpu_lookup.key_score)
least_scores = from_kernel(gpu_lookup.least_scores)
nearest_squared_distance = from_kernel(seed_lookup.nearest_squared_distance)
rate_start = from_kernel(starts.rate_start)
to_front = from_kernel(variables.to_front)


def build_choose(kind: Kind, part: Parts) -> Any:
    """Return the kernel that writes `chosen` (targets,), and unit `axes` in mode AXIS."""
    mode, table_size, variables_held = kind.mode, kind.seeds, kind.variables
    columns = len(KEY_ROWS[mode])
    # Rows padded to multiples of four floats, for vector loads.
    width = -(-columns // 4) * 4
    alignment = None if is_simulated(cuda) else 16
    # True if the second component of every key is zero.
    flat = kind.robot is not None and bool(kind.robot.symmetric)
    task_of, model_of, goal_of = part.task_of, part.model_of, part.goal_of
    f32, f64 = np.float32, np.float64

    @cuda.jit
    def choose(m, targets, limits, robots, accepted, axes, chosen, fault):
        r = cuda.blockIdx.y
        table = cuda.shared.array((table_size, width), f32, alignment)
        copy_keys(robots.first_keys[r], cuda.threadIdx.x, cuda.blockDim.x, columns, table)
        cuda.syncthreads()
        task = task_of(limits)
        model = model_of(robots, r)
        goal = goal_of(model, task, cuda.local.array(TARGET_SIZE, f64))
        for k in range(TARGET_SIZE):
            # A refused first target leaves entries unwritten, and its key is still computed.
            goal.target[k] = 0.0
        positions, turned = targets.positions, targets.turned
        key = cuda.local.array(10, f64)
        keys = cuda.local.array((TARGETS_AT_ONCE, 10), f32)
        least = cuda.local.array(TARGETS_AT_ONCE, f32)
        of_group = cuda.local.array(TARGETS_AT_ONCE, f32)
        found = cuda.local.array(TARGETS_AT_ONCE, np.int32)
        turn_weight = f32(robots.turn_weights[r])
        stride = cuda.gridDim.x * cuda.blockDim.x
        for t in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, m, TARGETS_AT_ONCE * stride):
            for p in range(TARGETS_AT_ONCE):
                # Threads past the end repeat the last target.
                i = r * m + min(t + p * stride, m - 1)
                least[p] = FAR
                if not accept(positions, turned, i, mode, accepted.farthest, accepted.defect, goal.target):
                    cuda.atomic.min(fault, 0, i)
                    # Below every score, so that no seed is chosen.
                    least[p] = -FAR
                if mode == AXIS:
                    axes[i, 0] = goal.target[2]
                    axes[i, 1] = goal.target[5]
                    axes[i, 2] = goal.target[8]
                to_front(model, mode, goal.target, goal.target)
                find_key(model, goal, key, keys[p])
                found[p] = 0
            for b in range(table_size // SEEDS_PER_GROUP):
                least_scores(table, b * SEEDS_PER_GROUP, keys, mode, flat, turn_weight, of_group)
                for p in range(TARGETS_AT_ONCE):
                    if of_group[p] < least[p]:
                        least[p] = of_group[p]
                        found[p] = b
            for p in range(TARGETS_AT_ONCE):
                seed = REFUSED
                # For a refused target `least` is at most -FAR, and its key is meaningless.
                if least[p] > -FAR:
                    seed = found[p] * SEEDS_PER_GROUP
                    # Score the best group again to find the seed in it.
                    for j in range(seed + SEEDS_PER_GROUP - 1, seed - 1, -1):
                        if key_score(table, j, keys[p], mode, flat, turn_weight) == least[p]:
                            seed = j
                if t + p * stride < m:
                    chosen[r * m + t + p * stride] = seed

    @cuda.jit
    def choose_near(m, targets, limits, robots, accepted, axes, chosen, fault):
        r = cuda.blockIdx.y
        keys = cuda.shared.array((table_size, width), f32, alignment)
        copy_keys(robots.keys[r], cuda.threadIdx.x, cuda.blockDim.x, columns, keys)
        cuda.syncthreads()
        task = task_of(limits)
        model = model_of(robots, r)
        goal = goal_of(model, task, cuda.local.array(TARGET_SIZE, f64))
        positions, turned = targets.positions, targets.turned
        table = Table(keys, robots.seeds[r], robots.turn_weights[r], robots.first_keys[r, :, 0])
        n = table.seeds.shape[1]
        v = cuda.local.array(variables_held, f64)
        J = cuda.local.array((variables_held, 6), f64)
        e = cuda.local.array(6, f64)
        key = cuda.local.array(10, f64)
        key32 = cuda.local.array(10, f32)
        nearest = cuda.local.array(FAMILIAR_SEEDS, np.int32)
        scores = cuda.local.array(FAMILIAR_SEEDS, f32)
        work = Work(v[:n], v[:n], J[:n], e, e, nearest)
        for t in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, m, cuda.gridDim.x * cuda.blockDim.x):
            i = r * m + t
            if not accept(positions, turned, i, mode, accepted.farthest, accepted.defect, goal.target):
                cuda.atomic.min(fault, 0, i)
                chosen[i] = REFUSED
                continue
            if mode == AXIS:
                axes[i, 0] = goal.target[2]
                axes[i, 1] = goal.target[5]
                axes[i, 2] = goal.target[8]
            to_front(model, mode, goal.target, goal.target)
            find_key(model, goal, key, key32)
            find_nearest(table.keys, key32, mode, f32(table.turn_weight), -1, scores, nearest)
            away, near = rate_start(model, goal, table, targets.start[i], work)
            if near:
                chosen[i] = NEAR_START
            elif away <= WORTH_A_DESCENT * nearest_squared_distance(scores[:1], key, mode, table.turn_weight):
                chosen[i] = FROM_START
            else:
                seed = nearest[0]
                if not model.symmetric:
                    # Among the nearest seeds, prefer the one whose joints are closest to the start.
                    shortest = joint_distance(model, table.seeds[seed], work.v)
                    for p in range(1, FAMILIAR_SEEDS):
                        x = joint_distance(model, table.seeds[nearest[p]], work.v)
                        if x < shortest:
                            shortest = x
                            seed = nearest[p]
                chosen[i] = seed

    return choose_near if kind.started else choose
