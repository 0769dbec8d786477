"""Inverse kinematics among obstacles: bounded Levenberg-Marquardt on the tip's residual and on missing clearances.

Every element whose clearance is less than wanted adds one row to the six of the tip, the missing clearance in metres.
The wanted clearance is the margin plus a reserve, which keeps the first steps away from obstacles. The reserve shrinks
once the body is free, so that it does not keep the tip from the target. A port that the body misses adds rows like
those of an element.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Records
from arcreach.kernels.chain.kinematics import count_elements
from arcreach.kernels.chain.layout import BEND, COLLISION, ITERATION_LIMIT, REACHED, STALLED, TIME_LIMIT
from arcreach.kernels.chain.limits import unwind
from arcreach.kernels.clearance.body import PIECE_SIZE, body_pieces
from arcreach.kernels.clearance.gradient import row_gradient
from arcreach.kernels.clearance.obstacle_clearance import (
    AT_ELEMENT,
    CLEARANCE_SIZE,
    DISTANCE,
    STACK_SIZE,
    Obstacles,
    Scratch,
    body_clearance,
    point_clearance,
)
from arcreach.kernels.clearance.port import PORT_ROWS, Port, angle_gradient, port_of_attempt, write_port_rows
from arcreach.kernels.math.linalg import copy, solve_positive
from arcreach.kernels.solver.bounds import inside_limits, stretch_index
from arcreach.kernels.solver.contexts import Goal, Model, Pulls, Table, Task, Watch, Work
from arcreach.kernels.solver.descent import FIRST_DAMPING, LARGEST_DAMPING, REJECTIONS
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.kernels.solver.pull_limits import GRADIENT, keep_start, with_scratch
from arcreach.kernels.solver.pull_steps import LEAST_DAMPING, write_trial
from arcreach.kernels.solver.search import make_scratch, verdict
from arcreach.kernels.solver.starts import look_up, look_up_others, take_seed
from arcreach.kernels.solver.variables import aims, to_coordinates, to_front, to_variables

# Rows of the tip, and most rows of missing clearances at the same time.
TIP_ROWS = 6
MOST_CLOSE = 18
MOST_ROWS = TIP_ROWS + MOST_CLOSE

# Step budget of a start, and the number of weak steps in a row after which it is given up; a step is weak if it leaves
# more than the share _WEAK of the objective.
STEPS_PER_START = 60
PATIENCE = 8
_WEAK = 0.9
# Starts for a target inside an obstacle.
FEW_STARTS = 4
_SMALLEST_DAMPING = 1e-10
# The initial reserve as a share of the weight of an angle, its factor after a step that ends free, and its least value
# in metres.
FIRST_RESERVE = 0.01
_RESERVE_KEPT = 0.3
_LEAST_RESERVE = 1e-9
# A straight section has no direction: derivatives are taken at this bend.
_LEAST_BEND = 1e-6


class Constraints(NamedTuple):
    """The constraints of a body: clearance from obstacles, limits of pulls, and a port that it passes."""

    obstacles: Obstacles
    pulls: Pulls | None
    port: Port | None


class Body(NamedTuple):
    """Scratch of a descent among obstacles, in addition to `Work`."""

    G: Array  # (MOST_ROWS, variables): rows of the equations
    r: Array  # (MOST_ROWS,): their residuals
    A: Array  # (MOST_ROWS, MOST_ROWS)
    y: Array  # (MOST_ROWS,)
    q: Array  # (dof,)
    bent: Array  # (dof,)
    gradient: Array  # (dof,)
    scratch: Scratch
    rows: Array  # (elements, CLEARANCE_SIZE): clearances at v; with a port, its PORT_ROWS come first
    trial_rows: Array  # clearances at `trial`


@kernel
def write_variable_gradient(moving: Records, q: Array, gradient: Array, slopes: Array) -> None:
    """Write the gradient by solver variables, `slopes`, from that by coordinates, `gradient`, at q. Source: derived."""
    for row in range(moving.shape[0]):
        element = moving[row]
        k = element.variable
        c = element.coordinate
        if element.kind == BEND:
            cosine = math.cos(q[c + 1])
            sine = math.sin(q[c + 1])
            around = gradient[c + 1] / q[c]
            slopes[k] = cosine * gradient[c] - sine * around
            slopes[k + 1] = sine * gradient[c] + cosine * around
        else:
            slopes[k] = gradient[c]
        if element.stretch > 0.0:
            slopes[k + element.width - 1] = element.stretch * gradient[c + 2]


@kernel
def bend_a_little(moving: Records, q: Array, out: Array) -> None:
    """Write q with every section bent by at least `_LEAST_BEND`. Source: derived."""
    copy(q, out)
    for row in range(moving.shape[0]):
        if moving[row].kind >= BEND:
            c = moving[row].coordinate
            out[c] = max(q[c], _LEAST_BEND)


@kernel
def missing(rows: Array, wanted: float) -> float:
    """Return the sum of squares of the missing clearances of rows (m, CLEARANCE_SIZE). Source: derived."""
    total = 0.0
    for i in range(rows.shape[0]):
        lack = wanted - rows[i, DISTANCE]
        total += lack * lack if lack > 0.0 else 0.0
    return total


@kernel
def least_clearance(rows: Array) -> float:
    """Return the least distance of rows (m, CLEARANCE_SIZE). Source: derived."""
    least = math.inf
    for i in range(rows.shape[0]):
        least = min(least, rows[i, DISTANCE])
    return least


# Functions that take `port` as an argument are compiled without its branches if it is None.
@kernel
def measure_port(port: Port | None, pieces: Array, count: int, margin: float, rows: Array) -> int:
    """Write the rows of a port, if there is one; return their number. Source: derived."""
    if port is None:
        return 0
    write_port_rows(port, pieces, count, margin, rows)
    return PORT_ROWS


@kernel
def first_reserve(port: Port | None, reserve: float) -> float:
    """Return the initial reserve, at most half of what a port allows, so that it can be met. Source: derived."""
    if port is None:
        return reserve
    return min(reserve, 0.5 * port.radius, 0.5 * port.weight * port.tilt)


@kernel
def choose_port(port: Port | None, model: Model, v: Array, attempt: int, body: Body) -> Port | None:
    """Return the port for an attempt that begins at v, see `port_of_attempt`. Source: derived."""
    if port is None:
        return None
    to_coordinates(model, v, body.q)
    count = body_pieces(model.chain, body.q, body.scratch.pieces)
    return port_of_attempt(port, body.scratch.pieces, count, attempt)


@kernel
def measure(model: Model, constraints: Constraints, v: Array, body: Body, rows: Array) -> float:
    """Write `body.q` and the clearances `rows` at v; return the least clearance. Source: derived."""
    obstacles, scratch = constraints.obstacles, body.scratch
    to_coordinates(model, v, body.q)
    count = body_pieces(model.chain, body.q, scratch.pieces)
    first = measure_port(constraints.port, scratch.pieces, count, obstacles.margin, rows)
    body_clearance(
        scratch.pieces, count, obstacles.shapes, obstacles.field, obstacles.tolerance, scratch.stack, rows[first:]
    )
    return least_clearance(rows)


@kernel
def tip_residual(model: Model, goal: Goal, v: Array, work: Work) -> tuple[float, float, float]:
    """Write residual and Jacobian at v; return squared distance, angle and squared residual. Source: derived."""
    e = work.e
    square, angle = evaluate(model, goal, v, e, work.J)
    return square, angle, square + e[3] * e[3] + e[4] * e[4] + e[5] * e[5]


@kernel
def write_rows(model: Model, work: Work, body: Body, wanted: float, port: Port | None) -> int:
    """Write rows G and residuals r of the tip, of close elements and of a port; return their count. Source: derived."""
    moving, G = model.moving, body.G
    for i in range(TIP_ROWS):
        body.r[i] = work.e[i]
        for k in range(work.J.shape[0]):
            G[i, k] = work.J[k, i]
    # Rows of clearances are not scaled by units, so those of the tip must not be either.
    for row in range(moving.shape[0]):
        for i in range(TIP_ROWS):
            for k in range(moving[row].variable, stretch_index(moving[row])):
                G[i, k] /= moving[row].unit
    count = TIP_ROWS
    bend_a_little(moving, body.q, body.bent)
    # Row 1 of a port is the angle to its axis, the only row without a point of the body.
    if port is not None and body.rows[1, DISTANCE] < wanted:
        angle_gradient(model.chain, body.bent, port, body.rows, body.gradient)
        write_variable_gradient(moving, body.bent, body.gradient, G[count])
        body.r[count] = wanted - body.rows[1, DISTANCE]
        count += 1
    for i in range(body.rows.shape[0]):
        lack = wanted - body.rows[i, DISTANCE]
        if lack > 0.0 and body.rows[i, AT_ELEMENT] >= 0.0 and count < MOST_ROWS:
            row_gradient(model.chain, body.bent, body.rows[i : i + 1], body.gradient)
            write_variable_gradient(moving, body.bent, body.gradient, G[count])
            body.r[count] = lack
            count += 1
    return count


@kernel
def step_free(model: Model, work: Work, body: Body, count: int, damping: float) -> None:
    """Write the projected step from v into `trial`, with joints held that would leave their limits. Source: derived."""
    v, trial, G, A, y = work.v, work.trial, body.G, body.A, body.y
    n = v.shape[0]
    # Holding a joint changes the steps of the others; after the third round they are not computed again.
    for _ in range(3):
        trace = 0.0
        for i in range(count):
            for j in range(i + 1):
                total = 0.0
                for k in range(n):
                    total += G[i, k] * G[j, k]
                A[i, j] = total
            trace += A[i, i]
            y[i] = body.r[i]
        mu = max(damping * trace / count, 1e-13 * trace) + 1e-140
        for i in range(count):
            A[i, i] += mu
        solve_positive(A, count, y)
        held = False
        for row in range(model.moving.shape[0]):
            element = model.moving[row]
            if element.kind >= BEND:
                continue
            k = element.variable
            step = 0.0
            for i in range(count):
                step += G[i, k] * y[i]
            if (v[k] >= element.upper and step > 0.0) or (v[k] <= element.lower and step < 0.0):
                held = True
                for i in range(count):
                    G[i, k] = 0.0
        if not held:
            break
    for k in range(n):
        trial[k] = v[k]
        for i in range(count):
            trial[k] += G[i, k] * y[i]
    inside_limits(model, trial, trial)


@kernel
def step_free_within(model: Model, work: Work, body: Body, count: int, damping: float, pulls: Pulls | None) -> None:
    """Write the step of `step_free`, within the limits of pulls if there are any. Source: derived."""
    if pulls is None:
        step_free(model, work, body, count, damping)
        return
    rows, H, units = body.G, pulls.H, pulls.units
    trace = 0.0
    for k in range(work.v.shape[0]):
        pulls.vectors[GRADIENT, k] = 0.0
        for i in range(count):
            pulls.vectors[GRADIENT, k] += units[k] * rows[i, k] * body.r[i]
        for j in range(k + 1):
            H[k, j] = 0.0
            for i in range(count):
                H[k, j] += units[k] * rows[i, k] * units[j] * rows[i, j]
        trace += H[k, k]
    for k in range(work.v.shape[0]):
        H[k, k] += max(damping / count, LEAST_DAMPING) * trace + 1e-140
    write_trial(pulls, model, work.v, work.trial)


@kernel
def add_to_trace(q: Array, watch: Watch) -> None:
    """Add a configuration to the trace, if there is room. Source: derived."""
    if watch.traced[0] < watch.trace.shape[0]:
        copy(q, watch.trace[watch.traced[0]])
        watch.traced[0] += 1


@kernel
def descend_free(
    model: Model, goal: Goal, constraints: Constraints, most: int, work: Work, body: Body, watch: Watch
) -> tuple[int, int, float, float]:
    """Minimise from v until the target is reached with the body free, or progress ends; v receives the best variables.

    Every accepted configuration is added to the trace. Returns status, steps, the squared residual of the tip and the
    least clearance. Source: derived.
    """
    v, trial, margin, port = work.v, work.trial, constraints.obstacles.margin, constraints.port
    reserve = first_reserve(port, FIRST_RESERVE * model.weight)
    damping = FIRST_DAMPING
    weak = 0
    rejected = 0
    steps = 0
    keep_start(watch.pulls, model, v)
    least = measure(model, constraints, v, body, body.rows)
    square, angle, tip = tip_residual(model, goal, v, work)
    add_to_trace(body.q, watch)
    while True:
        free = least >= margin
        if free and square <= goal.distance2 and angle <= goal.angle:
            return REACHED, steps, tip, least
        if weak >= PATIENCE or rejected >= REJECTIONS:
            return STALLED, steps, tip, least
        if steps >= most:
            return ITERATION_LIMIT, steps, tip, least
        if watch.deadline < math.inf and clock(watch.timer) > watch.deadline:
            return TIME_LIMIT, steps, tip, least
        wanted = margin + reserve
        before = tip + missing(body.rows, wanted)
        count = write_rows(model, work, body, wanted, port)
        step_free_within(model, work, body, count, damping, watch.pulls)
        steps += 1
        least_there = measure(model, constraints, trial, body, body.trial_rows)
        square, angle, now = tip_residual(model, goal, trial, work)
        after = now + missing(body.trial_rows, wanted)
        if after < before:
            weak = weak + 1 if after > _WEAK * before else 0
            damping = max(damping * (0.1 if after < 0.5 * before else 0.5), _SMALLEST_DAMPING)
            rejected = 0
            tip = now
            least = least_there
            copy(trial, v)
            for i in range(body.rows.shape[0]):
                copy(body.trial_rows[i], body.rows[i])
            if least >= margin:
                reserve = max(_RESERVE_KEPT * reserve, _LEAST_RESERVE)
                # The objective changes with the reserve, so earlier weak steps count for less.
                weak = min(weak, PATIENCE - 2)
            add_to_trace(body.q, watch)
        else:
            rejected += 1
            damping = min(max(8.0 * damping, 1e-4), LARGEST_DAMPING)
            to_coordinates(model, v, body.q)
            square, angle, _ = tip_residual(model, goal, v, work)


@kernel(allocates=True)
def make_body(model: Model, variables: int, dof: int, ports: int) -> Body:
    """Return the scratch of a descent among obstacles, with `ports` rows for a port. Source: derived."""
    rows = count_elements(model.chain) + ports
    return Body(
        np.empty((MOST_ROWS, variables)),
        np.empty(MOST_ROWS),
        np.empty((MOST_ROWS, MOST_ROWS)),
        np.empty(MOST_ROWS),
        np.empty(dof),
        np.empty(dof),
        np.empty(dof),
        Scratch(np.empty((model.chain.shape[0], PIECE_SIZE)), np.empty((STACK_SIZE, 3))),
        np.empty((rows, CLEARANCE_SIZE)),
        np.empty((rows, CLEARANCE_SIZE)),
    )


@kernel(batch=True)
def avoid(
    start: int, stop: int, model: Model, table: Table, constraints: Constraints, task: Task, Q: Array, report: Array
) -> None:
    """Solve rows start to stop of a task with the body free; if it is `started`, Q (n, dof) holds the starts.

    `report` (n, 6) is that of `auto`. REACHED says nothing of the clearance: Q has the largest that was found, even
    if it is below the margin. COLLISION: the target is inside an obstacle and the search stalled. Source: derived.
    """
    work, lookup, target, best_v, timer, traced = make_scratch(model, table, Q.shape[1])
    # `evaluate` does not write the last column for targets without a rotation.
    for k in range(work.J.shape[0]):
        work.J[k, 5] = 0.0
    ports = 0 if constraints.port is None else PORT_ROWS
    body = make_body(model, best_v.shape[0], Q.shape[1], ports)
    obstacles, pulls = constraints.obstacles, with_scratch(constraints.pulls)
    distance2, angle_aim = aims(model, task.position_tol, task.angle_tol)
    goal = Goal(target, task.mode, distance2, angle_aim)
    for i in range(start, stop):
        began = clock(timer)
        watch = Watch(began + task.max_time, timer, task.trace, traced, pulls)
        to_front(model, task.mode, task.targets[i], target)
        steps = 0
        ended = STALLED
        best_rank = 3
        best = math.inf
        copy(Q[i], lookup.asked)
        frame = look_up(model, goal, table, table.keys[0] if task.started else table.near_rest, lookup)
        # Inside an obstacle: a few starts suffice for a pose near the target.
        inside = point_clearance(obstacles, task.targets[i, 9], task.targets[i, 10], task.targets[i, 11]) < 0.0
        for attempt in range(min(task.max_starts, FEW_STARTS) if inside else task.max_starts):
            if attempt == 1 and not task.started:
                look_up_others(goal, table, lookup)
            if attempt == 0 and task.started:
                to_variables(model, lookup.asked, work.v)
            else:
                take_seed(model, table, lookup, frame, work)
            most = min(STEPS_PER_START, task.max_steps - steps)
            port = choose_port(constraints.port, model, work.v, attempt, body)
            chosen = Constraints(obstacles, constraints.pulls, port)
            code, taken, tip, least = descend_free(model, goal, chosen, most, work, body, watch)
            steps += taken
            # Ranks: reached and free; reached only, by clearance; neither, by distance.
            reaches = tip <= task.position_tol * task.position_tol + (model.weight * task.angle_tol) ** 2
            rank = 0 if code == REACHED else 1 if reaches else 2
            value = -least if rank == 1 else tip + (min(least - obstacles.margin, 0.0)) ** 2
            if rank < best_rank or (rank == best_rank and value < best):
                best_rank = rank
                best = value
                copy(work.v, best_v)
            if code == REACHED or code == TIME_LIMIT:
                ended = code
                break
            if steps >= task.max_steps:
                ended = ITERATION_LIMIT
                break
        to_coordinates(model, best_v, Q[i])
        unwind(model.chain, lookup.asked if task.started else lookup.asked[:0], Q[i])
        status, report[i, 3], report[i, 4] = verdict(model, task, i, target, Q[i], ended)
        report[i, 0] = COLLISION if status == STALLED and inside else status
        report[i, 1] = steps
        report[i, 2] = clock(timer) - began
        report[i, 5] = traced[0]
