"""The loop of `auto`: descend from the caller's start and from the nearest seeds until the target is reached."""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain import tip_motion
from arcreach.kernels.judge import distance_from, final_status, tip_errors
from arcreach.kernels.layout import (
    ITERATION_LIMIT,
    REACHED,
    ROTATION,
    SLIDE,
    STALLED,
    SWING,
    TARGET_SIZE,
    TIME_LIMIT,
    TURN,
)
from arcreach.kernels.levenberg_marquardt import descend
from arcreach.kernels.limits import unwind, wrap_angle
from arcreach.kernels.seeds import (
    BLOCK,
    frame_of,
    mix_seeds,
    nearest_distance,
    place_seed,
    score,
    take_familiar,
    take_nearest,
    write_key,
)
from arcreach.kernels.smooth_chain import evaluate
from arcreach.kernels.smooth_variables import aims, to_coordinates, to_front, to_variables

# The first starts are left early: most targets are reached from one of them. Later ones belong to hard targets, at
# corners of the limits or at the edge of the workspace, where slow progress is progress.
QUICK_STARTS = 16
QUICK_STEPS = 25
LONG_STEPS = 60
# Long chains go on longer: their way along the limits has more corners.
MANY_VARIABLES = 16
MANY_LONG_STEPS = 200
# A best place within this many tolerances of the target is worth a last, patient descent.
NEARLY = 100.0
POLISH_STEPS = 500
PATIENCE = 3
# When this many of at least so many starts have ended at the same best place, no nearer pose is expected.
SAME_PLACE = 12
FEWEST_STARTS = 64
# Whole poses have more false minima, and so have chains that turn about other axes than the base's.
MANY_SAME_PLACE = 40
MANY_FEWEST_STARTS = 256
BEYOND_REACH_STARTS = 8
# Unless that place is near, as a share of the reach: of a few hard targets only one start in a hundred arrives.
WORTH_ALL_STARTS = 0.05
_SAME = 1e-6
# A start this near to the target, in radians and the like share of the weight, is a step of a path: the answer is
# wanted nearby, so patience comes before another start, and starts nearby come before the table.
STEP_OF_A_PATH = 0.8
NEARBY_STARTS = 24
NEARBY_STEPS = 100
NEARBY_PATIENCE = 12
# How far towards a seed the first and the last of them lie.
NEARBY_FIRST = 0.01
NEARBY_GROWTH = 1.15
# A start farther from the target than this many times the nearest seed, both squared, is not worth a descent: it says
# only which of the nearest few seeds is preferred.
WORTH_A_DESCENT = 5.0
FAMILIAR_SEEDS = 4


@kernel(fast=True, inline=True)
def pace(attempt, nearby, long_steps):
    """Return how many steps a start is given, how many weak ones in a row, and whether it is patient. Source: derived.

    The first `nearby` starts lie around the caller's.
    """
    if attempt < nearby:
        return NEARBY_STEPS, NEARBY_PATIENCE, True
    if attempt < nearby + QUICK_STARTS:
        return QUICK_STEPS, PATIENCE, False
    return long_steps, PATIENCE, True


@kernel(fast=True, batch=True)
def auto(
    start, stop, chain, moves, shapes, scale, weight, symmetric, table, turn_weight, seeds, targets, mode, position_tol,
    angle_tol, reach, max_starts, max_steps, max_time, started, judged, trace, Q, report,
):  # fmt: skip
    """Solve rows start to stop of `targets` (n, 12); where `started`, Q (n, dof) holds the caller's starts.

    `reach` is that of the chain from where it begins to move, in whose frame it works. `trace` receives the places of
    the descents; it has no rows in a batch. `report` (n, 6) receives status, iterations, seconds, both errors where
    `judged`, which saves a single solve a second call, and the rows of `trace` in use.
    Arrays are few, in arguments and in scratch: each costs a solve of microseconds a tenth of one.
    Source: derived.
    """
    n = seeds.shape[1]
    dof = Q.shape[1]
    floats = np.empty(9 * n + 2 * dof + 34 + FAMILIAR_SEEDS)
    v = floats[:n]
    trial = floats[n : 2 * n]
    best_v = floats[2 * n : 3 * n]
    J = floats[3 * n : 9 * n].reshape(n, 6)
    scratch = floats[9 * n : 9 * n + dof]
    asked = floats[9 * n + dof : 9 * n + 2 * dof]
    rest = 9 * n + 2 * dof
    e = floats[rest : rest + 6]
    y = floats[rest + 6 : rest + 12]
    key = floats[rest + 12 : rest + 22]
    key[:] = 0.0
    target = floats[rest + 22 : rest + 34]
    values = floats[rest + 34 :]
    integers = np.zeros(moves.shape[0] + 3 + FAMILIAR_SEEDS, np.int64)
    timer = integers[:2]
    traced = integers[2:3]
    picked = integers[3 : 3 + FAMILIAR_SEEDS]
    codes = integers[3 + FAMILIAR_SEEDS :]
    count = table.shape[1]
    singles = np.empty(count + count // BLOCK, np.float32)
    scores = singles[:count]
    minima = singles[count:]
    tolerance2, angle_aim = aims(moves, position_tol, angle_tol)
    nearly = NEARLY * NEARLY * (tolerance2 + (weight * angle_tol) ** 2)
    many = mode == ROTATION or not symmetric
    fewest = MANY_FEWEST_STARTS if many else FEWEST_STARTS
    enough = MANY_SAME_PLACE if many else SAME_PLACE
    worth_all = (WORTH_ALL_STARTS * reach) ** 2
    long_steps = LONG_STEPS if n < MANY_VARIABLES else MANY_LONG_STEPS
    for i in range(start, stop):
        began = clock(timer)
        deadline = began + max_time
        to_front(moves, mode, targets[i], target)
        best = math.inf
        same = 0
        steps = 0
        ended = STALLED
        scored = False
        c = 1.0
        s = 0.0
        mirror = 1.0
        away = 0.0
        # Provably out of reach: a few starts find a near pose, and no number of them the target.
        far = distance_from(0.0, 0.0, 0.0, target)
        starts = 2 * max_starts if far <= reach + position_tol else min(max_starts, BEYOND_REACH_STARTS)
        near = asked[:0]
        nearby = 0
        from_start = False
        if started:
            near = asked
            for k in range(dof):
                near[k] = Q[i, k]
            to_variables(moves, near, v)
            square, angle = evaluate(moves, shapes, scale, v, target, mode, weight, e, J)
            if square + (weight * angle) ** 2 <= (STEP_OF_A_PATH * weight) ** 2:
                nearby = 1 + NEARBY_STARTS
            starts += nearby
            away = square + turn_weight * math.sin(0.5 * angle) ** 2
        for attempt in range(starts):
            if attempt >= nearby and not scored:
                c, s, mirror = frame_of(target, mode, symmetric)
                write_key(target, mode, c, s, mirror, key)
                score(table, key, mode, turn_weight, scores, minima)
                scored = True
                from_start = started and away <= WORTH_A_DESCENT * nearest_distance(minima, key, mode, turn_weight)
            if attempt < nearby or (attempt == 0 and started):
                to_variables(moves, near, v)
            if 0 < attempt < nearby:
                share = NEARBY_FIRST * NEARBY_GROWTH**attempt
                for k in range(n):
                    v[k] += share * (seeds[attempt, k] - v[k])
            elif attempt == 0 and started and not from_start and nearby == 0 and not symmetric:
                seed = take_familiar(moves, seeds, v, scores, minima, picked, values)
                place_seed(moves, seeds[seed], c, s, mirror, v)
            elif attempt >= nearby + max_starts:
                if attempt == nearby + max_starts and best > worth_all:
                    break
                mix_seeds(moves, seeds, attempt - nearby - max_starts, v)
            elif attempt >= nearby and not (attempt == 0 and from_start):
                place_seed(moves, seeds[take_nearest(scores, minima)], c, s, mirror, v)
            most, patience, patient = pace(attempt, nearby, long_steps)
            code, taken, left = descend(
                moves, shapes, scale, target, mode, weight, tolerance2, angle_aim, min(most, max_steps - steps),
                patience, patient, deadline, timer, v, trial, J, e, y, codes, chain, scratch, trace, traced,
            )  # fmt: skip
            steps += taken
            if left < best * (1.0 - _SAME):
                same = 0
            if left < best * (1.0 + _SAME):
                same += 1
            # Reached is judged by both tolerances, the residual is a weighted sum: an earlier best may miss one.
            if attempt == 0 or left < best or code == REACHED:
                best = left
                for k in range(n):
                    best_v[k] = v[k]
            if code in (REACHED, TIME_LIMIT):
                ended = code
                break
            if steps >= max_steps:
                ended = ITERATION_LIMIT
                break
            if same >= enough and attempt >= fewest and best > worth_all:
                break
        if ended == STALLED and best <= nearly:
            # So near that only patience is missing: corners of the limits are approached slowly.
            code, taken, left = descend(
                moves, shapes, scale, target, mode, weight, tolerance2, angle_aim,
                min(POLISH_STEPS, max_steps - steps), POLISH_STEPS, True, deadline, timer, best_v, trial, J, e, y,
                codes, chain, scratch, trace, traced,
            )  # fmt: skip
            steps += taken
            ended = code if code in (REACHED, TIME_LIMIT) else ended
        to_coordinates(chain, moves, best_v, scratch, Q[i])
        unwind(chain, near, Q[i])
        if judged:
            distance, angle = tip_errors(tip_motion(chain, Q[i]), targets[i], mode)
            ended = final_status(ended, distance, angle, position_tol, angle_tol, far, reach)
            report[i, 3] = distance
            report[i, 4] = angle
        report[i, 0] = ended
        report[i, 1] = steps
        report[i, 2] = clock(timer) - began
        report[i, 5] = traced[0]


@kernel(fast=True, inline=True)
def is_known(moves, v, found, count, nearness, weight, hits):
    """Say whether v is one of the first `count` rows of `found`, full turns of a joint apart, and count the hit.

    `weight` metres of a stroke count as a radian. Source: derived.
    """
    for i in range(count):
        largest = 0.0
        for row in range(moves.shape[0]):
            for k in range(moves[row].variable, moves[row].variable + moves[row].width):
                difference = v[k] - found[i, k]
                if moves[row].kind in (TURN, SWING):
                    difference = wrap_angle(difference)
                elif moves[row].kind == SLIDE:
                    difference /= weight
                largest = max(largest, abs(difference))
        if largest <= nearness:
            hits[i] += 1
            return True
    return False


@kernel(fast=True, batch=True)
def branches(
    start, stop, chain, moves, shapes, scale, weight, symmetric, table, turn_weight, seeds, targets, mode, position_tol,
    angle_tol, first, without_new, nearness, found, hits, counts, Q, seconds,
):  # fmt: skip
    """Find all branches of the only target (1, 12), from the configuration `first` (dof,) and from the seeds.

    Their variables go to `found` (most, variables), their configurations to Q (most, dof), how often each was met to
    `hits` (most,), the time to `seconds` (1,); counts (2,) are branches and steps. Two solutions closer than `nearness`
    in every variable are one. The search ends `without_new` starts after the last new branch. Source: derived.
    """
    n = seeds.shape[1]
    v = np.empty(n)
    trial = np.empty(n)
    J = np.empty((n, 6))
    e = np.empty(6)
    y = np.empty(6)
    key = np.zeros(10)
    codes = np.zeros(moves.shape[0], np.int64)
    scores = np.empty(table.shape[1], np.float32)
    minima = np.empty(table.shape[1] // BLOCK, np.float32)
    scratch = np.empty(Q.shape[1])
    timer = np.zeros(2, np.int64)
    no_trace = np.empty((0, Q.shape[1]))
    traced = np.zeros(1, np.int64)
    tolerance2, angle_aim = aims(moves, position_tol, angle_tol)
    began = clock(timer)
    target = np.empty(TARGET_SIZE)
    to_front(moves, mode, targets[start], target)
    c, s, mirror = frame_of(target, mode, symmetric)
    write_key(target, mode, c, s, mirror, key)
    score(table, key, mode, turn_weight, scores, minima)
    since = 0
    for attempt in range(seeds.shape[0]):
        if attempt == 0:
            to_variables(moves, first, v)
        else:
            place_seed(moves, seeds[take_nearest(scores, minima)], c, s, mirror, v)
        code, taken, _ = descend(
            moves, shapes, scale, target, mode, weight, tolerance2, angle_aim, QUICK_STEPS, PATIENCE, False,
            math.inf, timer, v, trial, J, e, y, codes, chain, scratch, no_trace, traced,
        )  # fmt: skip
        counts[1] += taken
        since += 1
        if code == REACHED and not is_known(moves, v, found, counts[0], nearness, weight, hits):
            for k in range(n):
                found[counts[0], k] = v[k]
            to_coordinates(chain, moves, v, scratch, Q[counts[0]])
            unwind(chain, first, Q[counts[0]])
            hits[counts[0]] = 1
            counts[0] += 1
            since = 0
        if since >= without_new or counts[0] >= found.shape[0]:
            break
    seconds[0] = clock(timer) - began
