"""The kernel for hard targets: a warp per target, whose lanes try restarts in parallel.

Results are evaluated in the CPU's order of restarts, so that the answer equals the CPU's.
"""

from typing import Any

import numpy as np

from arcreach.gpu.contexts import NEAR_START, Kind, Parts
from arcreach.gpu.driver import WARP, device_function, from_kernel, load
from arcreach.kernels.chain.layout import GOING_ON, REACHED, STALLED, TARGET_SIZE
from arcreach.kernels.solver import descent, gpu_lookup, loops, policy, starts, variables
from arcreach.kernels.solver.contexts import Work
from arcreach.kernels.solver.seed_lookup import FAR

# A module global: the simulator replaces it while a kernel runs.
cuda = load()

# CPU kernels, as GPU kernels call them.
empty_tally = from_kernel(policy.empty_tally)
final_budget = from_kernel(policy.final_budget)
find_key = from_kernel(gpu_lookup.find_key)
key_score = from_kernel(gpu_lookup.key_score)
mix_seeds = from_kernel(starts.mix_seeds)
next_nearest = from_kernel(gpu_lookup.next_nearest)
policy_of = from_kernel(policy.policy_of)
schedule_of = from_kernel(policy.schedule_of)
start_budget = from_kernel(policy.start_budget)
updated_tally = from_kernel(policy.updated_tally)
worth_polish = from_kernel(policy.worth_polish)


def build_search(kind: Kind, part: Parts) -> Any:
    """Return the kernel that solves the targets left in `hard`."""
    task_of, model_of, work_of, goal_of, read_target, keep = part
    begin, step = kind.function(descent.begin), kind.function(descent.step)
    place_seed, go_towards = kind.function(starts.place_seed), kind.function(starts.go_towards)
    to_variables, variables_of = kind.function(variables.to_variables), kind.function(loops.variables)
    mode, table_size, most, rows, started = kind[:5]
    f32, f64 = np.float32, np.float64

    @device_function
    def copy(source, target):
        for k in range(variables_of(source)):
            target[k] = source[k]

    @device_function
    def deal(own_score, own_seed, scores, first, last, seed):
        """Assign the next nearest seeds to lanes first to last, in order; return this lane's seed."""
        lane = cuda.threadIdx.x
        for other in range(first, last):
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
        return seed

    @cuda.jit
    def search(m, targets, limits, robots, chosen, found, hard):
        scores = cuda.shared.array(table_size, f32)
        own_score = cuda.shared.array(WARP, f32)
        own_seed = cuda.shared.array(WARP, np.int32)
        lane_code = cuda.shared.array(WARP, np.int32)
        lane_steps = cuda.shared.array(WARP, np.int32)
        lane_left = cuda.shared.array(WARP, f64)
        all_best = cuda.shared.array(most, f64)
        key = cuda.local.array(10, f64)
        key32 = cuda.local.array(10, f32)
        lane = cuda.threadIdx.x
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
        best_v = all_best[: work.v.shape[0]]
        for w in range(cuda.blockIdx.x, hard.count[0], cuda.gridDim.x):
            i = hard.items[w]
            r = i // m
            model = model_of(robots, r)
            goal = goal_of(model, task, target)
            plan = policy_of(model, task, goal.distance2, work.v.shape[0])
            read_target(model, targets, i, goal)
            frame = find_key(model, goal, key, key32)
            begun = chosen[i]
            for j in range(lane, table_size, WARP):
                x = key_score(robots.keys[r], j, key32, mode, False, f32(robots.turn_weights[r]))
                scores[j] = FAR if j == begun else x
            # Each lane holds the nearest unused seed of its share; the nearest of all lanes is next.
            own_score[lane], own_seed[lane] = next_nearest(scores, lane, WARP, -FAR, -1)
            cuda.syncthreads()
            schedule = schedule_of(model, task, goal, started and begun == NEAR_START)
            # The first starts do not come from the ranking.
            ahead = max(schedule.nearby, 1)
            waves = (schedule.last + WARP - 1) // WARP
            # All lanes keep the same tally.
            tally = empty_tally()
            code = STALLED
            spent = 0
            # One more wave for the final, patient descent from the best configuration.
            for wave in range(waves + 1):
                last_one = wave == waves or tally.code != GOING_ON
                if last_one and not worth_polish(plan, schedule, tally):
                    break
                here = wave * WARP
                attempt = here + lane
                seed = begun
                if not last_one:
                    dealt = min(WARP, min(schedule.last, schedule.mixed) - here)
                    seed = deal(own_score, own_seed, scores, max(ahead - here, 0), dealt, begun)
                busy = lane == 0 if last_one else attempt < schedule.last
                if busy:
                    if last_one:
                        copy(best_v, work.v)
                    elif attempt < schedule.nearby or (attempt == 0 and begun < 0):
                        to_variables(model, targets.start[i], work.v)
                        if attempt > 0:
                            go_towards(robots.seeds[r, attempt], attempt, work)
                    elif attempt >= schedule.mixed:
                        mix_seeds(model, robots.seeds[r], attempt - schedule.mixed, work)
                    else:
                        place_seed(model, robots.seeds[r, seed], frame, work)
                    if last_one:
                        budget = final_budget(plan, tally.steps)
                    else:
                        budget = start_budget(plan, attempt, schedule.nearby, 0)
                    state = begin(work)
                    while state.code == GOING_ON:
                        state = step(model, goal, budget, work, state)
                    lane_code[lane] = state.code
                    lane_steps[lane] = state.steps
                    lane_left[lane] = state.best
                cuda.syncthreads()
                winner = -1
                if last_one:
                    winner = 0
                    spent = tally.steps + lane_steps[0]
                    code = REACHED if lane_code[0] == REACHED else STALLED
                else:
                    # Count this wave's starts in the CPU's order.
                    for other in range(min(WARP, schedule.last - here)):
                        tally = updated_tally(
                            plan, schedule, tally, here + other, lane_code[other], lane_steps[other], lane_left[other]
                        )
                        if tally.improved:
                            winner = other
                        if tally.code != GOING_ON:
                            break
                    spent = tally.steps
                    code = STALLED if tally.code == GOING_ON else tally.code
                if lane == winner:
                    copy(work.v, best_v)
                cuda.syncthreads()
                if last_one:
                    break
            if lane == 0:
                copy(best_v, work.v)
                keep(work, i, code, spent, found)
            cuda.syncthreads()

    return search
