"""`auto` on a GPU: five kernels that distribute the solver's functions over threads.

1. `choose`, in `lookup`, finds the first start of every target.
2. `first` descends from it. A thread that has finished a target takes its next one at once.
3. `retry` gives each target not reached a few more restarts.
4. `search`, in `warp_search`, gives the remaining targets a warp each.
5. `finish` computes coordinates, errors and status by the exact forward kinematics.

Robots of the same size share a launch: targets r * m to (r + 1) * m - 1 are those of robot r. In `choose`, `first` and
`finish` robot r is blockIdx.y.
"""

from typing import Any, NamedTuple

import numpy as np

from arcreach.gpu.contexts import NEAR_START, REFUSED, Kind, parts
from arcreach.gpu.driver import WARP, from_kernel, kernel_of_warps, load
from arcreach.gpu.lookup import build_choose
from arcreach.gpu.nvvm_hints import install_hints
from arcreach.gpu.warp_search import build_search
from arcreach.kernels.chain import judge
from arcreach.kernels.chain import kinematics as chain
from arcreach.kernels.chain import limits as limit_kernels
from arcreach.kernels.chain.layout import GOING_ON, REACHED, STALLED, TARGET_SIZE
from arcreach.kernels.solver import descent, gpu_lookup, policy, seed_lookup, starts, variables
from arcreach.kernels.solver.contexts import Budget, Work

# A module global: the simulator replaces it while a kernel runs.
cuda = load()

# Threads per block, where it is not one warp.
BLOCK_THREADS = 128
# Starts that one thread tries before a warp takes over.
FIRST_STARTS = 8

# CPU kernels as device functions.
distance_from = from_kernel(judge.distance_from)
final_status = from_kernel(judge.final_status)
find_key = from_kernel(gpu_lookup.find_key)
find_nearest = from_kernel(gpu_lookup.find_nearest)
frame_of = from_kernel(seed_lookup.frame_of)
load_target = from_kernel(gpu_lookup.load_target)
policy_of = from_kernel(policy.policy_of)
start_budget = from_kernel(policy.start_budget)
tip_errors = from_kernel(judge.tip_errors)
to_front = from_kernel(variables.to_front)
unwind = from_kernel(limit_kernels.unwind)


class Kernels(NamedTuple):
    """The GPU kernels of a kind, in launch order."""

    choose: Any
    first: Any
    retry: Any
    search: Any
    finish: Any


def build(kind: Kind) -> Kernels:
    """Return the GPU kernels of a kind; each compiles at its first launch."""
    install_hints()
    part = parts(kind)
    task_of, model_of, work_of, goal_of, read_target, keep = part
    begin, step = kind.function(descent.begin), kind.function(descent.step)
    place_seed, to_variables = kind.function(starts.place_seed), kind.function(variables.to_variables)
    to_coordinates, tip_motion = kind.function(variables.to_coordinates), kind.function(chain.tip_motion)
    mode, started, further = kind.mode, kind.started, FIRST_STARTS - 1
    most, rows = kind.variables, kind.rows
    descends = kernel_of_warps(8 * kind.variables * kind.height * WARP) if kind.shared else cuda.jit
    f32, f64 = np.float32, np.float64

    @descends
    def first(m, targets, limits, robots, chosen, found, left):
        r = cuda.blockIdx.y
        task = task_of(limits)
        model = model_of(robots, r)
        room = Work(
            cuda.local.array(most, f64),
            cuda.local.array(most, f64),
            cuda.local.array((most, 6), f64),
            cuda.local.array(6, f64),
            cuda.local.array(6, f64),
            cuda.local.array(rows, np.int32),
        )
        work = work_of(room, robots.seeds.shape[2])
        target = cuda.local.array(TARGET_SIZE, f64)
        goal = goal_of(model, task, target)
        plan = policy_of(model, task, goal.distance2, work.v.shape[0])
        stride = cuda.gridDim.x * cuda.blockDim.x
        t = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        idle = True
        state = begin(work)
        budget = Budget(0, 0, False)
        while t < m:
            i = r * m + t
            if idle:
                seed = chosen[i]
                if seed == REFUSED:
                    for k in range(found.V.shape[1]):
                        found.V[i, k] = 0.0
                    found.codes[i] = STALLED
                    found.steps[i] = 0
                    t += stride
                    continue
                read_target(model, targets, i, goal)
                if started and seed < 0:
                    to_variables(model, targets.start[i], work.v)
                else:
                    place_seed(model, robots.seeds[r, seed], frame_of(goal.target, mode, model.symmetric), work)
                budget = start_budget(plan, 0, 1 if started and seed == NEAR_START else 0, 0)
                state = begin(work)
                idle = False
            state = step(model, goal, budget, work, state)
            if state.code != GOING_ON:
                keep(work, i, state.code, state.steps, found)
                if state.code != REACHED:
                    left.items[cuda.atomic.add(left.count, 0, 1)] = i
                t += stride
                idle = True

    @descends
    def retry(m, targets, limits, robots, chosen, found, waiting, hard):
        task = task_of(limits)
        room = Work(
            cuda.local.array(most, f64),
            cuda.local.array(most, f64),
            cuda.local.array((most, 6), f64),
            cuda.local.array(6, f64),
            cuda.local.array(6, f64),
            cuda.local.array(rows, np.int32),
        )
        work = work_of(room, robots.seeds.shape[2])
        target = cuda.local.array(TARGET_SIZE, f64)
        key = cuda.local.array(10, f64)
        key32 = cuda.local.array(10, f32)
        scores = cuda.local.array(further, f32)
        nearest = cuda.local.array(further, np.int32)
        stride = cuda.gridDim.x * cuda.blockDim.x
        for w in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, waiting.count[0], stride):
            i = waiting.items[w]
            r = i // m
            model = model_of(robots, r)
            goal = goal_of(model, task, target)
            plan = policy_of(model, task, goal.distance2, work.v.shape[0])
            begun = chosen[i]
            code = GOING_ON
            spent = found.steps[i]
            if begun != NEAR_START:
                read_target(model, targets, i, goal)
                frame = find_key(model, goal, key, key32)
                find_nearest(robots.keys[r], key32, mode, f32(robots.turn_weights[r]), begun, scores, nearest)
                for attempt in range(1, FIRST_STARTS):
                    place_seed(model, robots.seeds[r, nearest[attempt - 1]], frame, work)
                    budget = start_budget(plan, attempt, 0, 0)
                    state = begin(work)
                    while state.code == GOING_ON:
                        state = step(model, goal, budget, work, state)
                    spent += state.steps
                    code = state.code
                    if code == REACHED:
                        break
            if code == REACHED and spent <= task.max_steps:
                keep(work, i, REACHED, spent, found)
            else:
                hard.items[cuda.atomic.add(hard.count, 0, 1)] = i

    @cuda.jit
    def finish(m, targets, limits, robots, found, answers):
        row = cuda.local.array(TARGET_SIZE, f64)
        task = task_of(limits)
        r = cuda.blockIdx.y
        model = model_of(robots, r)
        for t in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, m, cuda.gridDim.x * cuda.blockDim.x):
            i = r * m + t
            load_target(targets.positions, targets.turned, i, mode, row)
            q = answers.q[i]
            to_coordinates(model, found.V[i], q)
            unwind(model.chain, targets.start[i] if started else q[:0], q)
            distance, angle = tip_errors(tip_motion(model.chain, q), row, mode)
            answers.position_error[i] = distance
            answers.angle_error[i] = angle
            answers.iterations[i] = found.steps[i]
            to_front(model, mode, row, row)
            far = distance_from(0.0, 0.0, 0.0, row)
            answers.status[i] = final_status(
                found.codes[i], distance, angle, task.position_tol, task.angle_tol, far, model.reach
            )

    return Kernels(build_choose(kind, part), first, retry, build_search(kind, part), finish)
