"""Finite rotations and displacements: reduce three objectives in turn by setting each joint to its best value.

A macro-iteration sweeps the joints from base to tip for the distance, then from tip to base for the angle of the tool's
long axis, and again for that of its cross axis. Every sweep begins with vectors recomputed from q.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array
from arcreach.kernels.chain.judge import distance_from, tip_errors
from arcreach.kernels.chain.kinematics import element_motion, tip_motion
from arcreach.kernels.chain.layout import GOING_ON, LINK, POSITION, REVOLUTE, ROTATION
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.transforms import IDENTITY, apply, compose, rotation, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import angle_between
from arcreach.kernels.methods.best_turn import NOISE, best_turn, best_value, motion_after, place_joint, turn_terms
from arcreach.kernels.methods.iteration import Answers, status_after_step, trace_row, write_answer
from arcreach.kernels.solver.contexts import Task

# Give up after this many macro-iterations without a new best configuration.
PATIENCE = 100
# `NOISE` for single precision: about sixteen units of its rounding.
SINGLE_NOISE = 2.0**-20
# Columns of the trace; those of a joint step are written if the trace has a row per step.
OBJECTIVE_COLUMNS = ("distance", "long_axis_angle", "cross_axis_angle")
STEP_COLUMNS = ("macro_iteration", "objective", "coordinate", "step", "limit")
OBJECTIVES = len(OBJECTIVE_COLUMNS)
# Objective, coordinate and step of a row that no joint step leads to.
START_MOVE = -1, -1, 0.0


class Rules(NamedTuple):
    """How objectives are measured and reduced."""

    length: float  # metres that count as much as a radian
    tool: Array  # (2, 3): long and cross axis in the tip frame
    slack: Array  # (2,): rounding of distance and angle, subtracted from the tolerances
    sweeps: int  # most sweeps of one objective before the next
    single: bool  # round vectors to single precision


class Aim(NamedTuple):
    """The objectives of one target."""

    target: Array  # (12,)
    mode: int
    position_tol: float
    axis_tol: float  # of each axis


class Log(NamedTuple):
    """Destination of traced steps."""

    task: Task
    answers: Answers
    macro: int  # number of the macro-iteration, from 1; 0 is the start


@kernel(inline=True)
def rounded(value):
    """Return a number rounded to single precision. Source: derived."""
    return np.float64(np.float32(value))


@kernel
def round_motion(motion, single):
    """Return a motion, rounded to single precision if `single`. Source: derived."""
    if not single:
        return motion
    xx, xy, xz, px, yx, yy, yz, py, zx, zy, zz, pz = motion
    first = (rounded(xx), rounded(xy), rounded(xz), rounded(px))
    second = (rounded(yx), rounded(yy), rounded(yz), rounded(py))
    return first + second + (rounded(zx), rounded(zy), rounded(zz), rounded(pz))


@kernel
def round_value(value, lower, upper, single):
    """Return a coordinate, rounded to single precision within its limits if `single`. Source: derived."""
    return min(max(rounded(value), lower), upper) if single else value


@kernel
def joint_axes(chain, q, single, axes):
    """Write the axes (dof, 3) of the joints in the base frame; return the motion of the tip.

    Source: [FRD] fig. 1. Erratum: see docs/errata.md#frd-drift.
    """
    motion = IDENTITY
    for row in range(chain.shape[0]):
        after = compose(motion, element_motion(chain, row, q))
        if chain[row].kind != LINK:
            k = chain[row].coordinate
            axis = chain[row].axis
            axes[k, 0], axes[k, 1], axes[k, 2] = turn(motion, axis[0], axis[1], axis[2])
            after = round_motion(after, single)
        motion = after
    return motion


@kernel
def position_sweep(chain, rules, aim, tip, q, log):
    """Set every joint once, base to tip, to bring the tip nearer; return the tip. Source: [FRD] statements 1, 2."""
    target, single = aim.target, rules.single
    x = tip[3]
    y = tip[7]
    z = tip[11]
    motion = IDENTITY
    noise = SINGLE_NOISE if single else NOISE
    for row in range(chain.shape[0]):
        if chain[row].kind == LINK:
            motion = compose(motion, element_motion(chain, row, q))
            continue
        k = chain[row].coordinate
        joint = place_joint(chain, row, q, motion)
        value = best_value(joint, q[k], (x, y, z), target, noise)
        value = round_value(value, joint.lower, joint.upper, single)
        step = value - q[k]
        x, y, z = apply(motion_after(joint, step), x, y, z)
        q[k] = value
        motion = round_motion(compose(motion, element_motion(chain, row, q)), single)
        if traces_steps(log):
            trace_joint(chain, rules, aim, (0, row, step), q, log)
    return motion


@kernel
def axis_sweep(chain, rules, aim, i, axes, has, q, log):
    """Set every revolute joint once, tip to base, to turn tool axis i from `has` to the wanted direction.

    `axes` are those of q before the sweep; they stay valid, as a joint moves only the joints distal to it.
    Source: [FRD] statement 3.
    """
    single = rules.single
    wanted = wanted_axis(aim.target, rules.tool, i)
    noise = SINGLE_NOISE if single else NOISE
    for row in range(chain.shape[0] - 1, -1, -1):
        if chain[row].kind != REVOLUTE:
            continue
        k = chain[row].coordinate
        axis = (axes[k, 0], axes[k, 1], axes[k, 2])
        a, b, size = turn_terms(axis, has, wanted)
        value = best_turn(a, b, noise * size, q[k], chain[row].lower, chain[row].upper)
        value = round_value(value, chain[row].lower, chain[row].upper, single)
        step = value - q[k]
        if value != q[k]:
            s, c = sincos(step)
            has = turn(rotation(axis[0], axis[1], axis[2], s, c), has[0], has[1], has[2])
            q[k] = value
        if traces_steps(log):
            trace_joint(chain, rules, aim, (1 + i, row, step), q, log)


@kernel
def tool_axis(motion, tool, i):
    """Return tool axis i (0 long, 1 cross) of a tip. Source: [FRD] section 2. Erratum: see docs/errata.md#frd-tool."""
    return turn(motion, tool[i, 0], tool[i, 1], tool[i, 2])


@kernel
def wanted_axis(target, tool, i):
    """Return the direction of tool axis i at a target row. Source: derived."""
    x = tool[i, 0]
    y = tool[i, 1]
    z = tool[i, 2]
    return (
        target[0] * x + target[1] * y + target[2] * z,
        target[3] * x + target[4] * y + target[5] * z,
        target[6] * x + target[7] * y + target[8] * z,
    )


@kernel
def axis_error(has, target, tool, i):
    """Return the angle between the direction `has` and the wanted one of tool axis i. Source: [FRD] section 2."""
    return angle_between(has, wanted_axis(target, tool, i))


@kernel
def objectives(aim, tool, tip, long, cross):
    """Return distance and angles of long and cross axis; 0 for those without a target. Source: [FRD] section 2."""
    distance = distance_from(tip[0], tip[1], tip[2], aim.target)
    if aim.mode == POSITION:
        return distance, 0.0, 0.0
    cross_error = axis_error(cross, aim.target, tool, 1) if aim.mode == ROTATION else 0.0
    return distance, axis_error(long, aim.target, tool, 0), cross_error


@kernel(inline=True)
def traces_steps(log):
    """Return whether every joint step is traced. Source: derived."""
    return log.answers.columns.shape[1] > OBJECTIVES


@kernel
def trace_row_of(values, move, limit, q, log):
    """Write q as the next row of the trace: the three objectives, then `STEP_COLUMNS` if steps are traced.

    Source: derived.
    """
    row = trace_row(log.task, q, log.answers)
    if row < 0:
        return
    columns = log.answers.columns[row]
    for k in range(OBJECTIVES):
        columns[k] = values[k]
    if traces_steps(log):
        columns[OBJECTIVES] = log.macro
        columns[OBJECTIVES + 1] = move[0]
        columns[OBJECTIVES + 2] = move[1]
        columns[OBJECTIVES + 3] = move[2]
        columns[OBJECTIVES + 4] = limit


@kernel
def limit_hit(row, value):
    """Return -1 or 1 for a coordinate at its lower or upper limit, else 0. Source: [FRD] eq. 4."""
    return 1 if value >= row.upper else -1 if value <= row.lower else 0


@kernel
def trace_tip(rules, aim, tip, move, limit, q, log):
    """Trace a configuration whose tip is given. Source: derived."""
    long, cross = tool_axis(tip, rules.tool, 0), tool_axis(tip, rules.tool, 1)
    trace_row_of(objectives(aim, rules.tool, (tip[3], tip[7], tip[11]), long, cross), move, limit, q, log)


@kernel
def trace_joint(chain, rules, aim, move, q, log):
    """Trace a joint step `move`: its objective, the joint's row of the chain, and the step. Source: derived."""
    row = chain[move[1]]
    k = row.coordinate
    trace_tip(rules, aim, tip_motion(chain, q), (move[0], k, move[2]), limit_hit(row, q[k]), q, log)


@kernel(inline=True)
def macro_iteration(chain, rules, aim, tip, q, axes, log):
    """Sweep each objective in turn until it is met, at most `sweeps` times; return the tip. Source: [FRD] section 3."""
    target, tool, single = aim.target, rules.tool, rules.single
    for _ in range(rules.sweeps):
        distance, _ = tip_errors(tip, target, POSITION)
        if distance <= aim.position_tol:
            break
        tip = position_sweep(chain, rules, aim, tip, q, log)
    if aim.mode == POSITION:
        return tip
    for i in range(2 if aim.mode == ROTATION else 1):
        for _ in range(rules.sweeps):
            tip = joint_axes(chain, q, single, axes)
            has = tool_axis(tip, tool, i)
            if axis_error(has, target, tool, i) <= aim.axis_tol:
                break
            axis_sweep(chain, rules, aim, i, axes, has, q, log)
    return joint_axes(chain, q, single, axes)


@kernel
def axis_tolerance(angle_tol, mode):
    """Return the tolerance of each axis: two such errors may add up to sqrt(2) times it. Source: derived."""
    return angle_tol * math.sqrt(0.5) if mode == ROTATION else angle_tol


@kernel(batch=True)
def finite_rotation(start, stop, chain, rules, task, answers):
    """Solve rows start to stop of a task. Source: [FRD] section 3."""
    dof = answers.Q.shape[1]
    q = np.empty(dof)
    axes = np.empty((dof, 3))
    timer = np.zeros(2, np.int64)
    near = task.position_tol - rules.slack[0]
    straight = task.angle_tol - rules.slack[1]
    for i in range(start, stop):
        began = clock(timer)
        aim = Aim(task.targets[i], task.mode, near, axis_tolerance(straight, task.mode))
        best = math.inf
        since = 0
        steps = 0
        copy(answers.Q[i], q)
        tip = joint_axes(chain, q, rules.single, axes)
        while True:
            distance, angle = tip_errors(tip, aim.target, aim.mode)
            now = distance / rules.length + angle
            reached = distance <= near and angle <= straight
            since += 1
            if now < best or reached or steps == 0:
                best = now
                since = 0
                copy(q, answers.Q[i])
            log = Log(task, answers, steps)
            if task.trace.shape[0] > 0 and (steps == 0 or not traces_steps(log)):
                trace_tip(rules, aim, tip, START_MOVE, 0, q, log)
            ended = status_after_step(task, reached, since, PATIENCE, steps, began, timer)
            if ended != GOING_ON:
                break
            steps += 1
            tip = macro_iteration(chain, rules, aim, tip, q, axes, Log(task, answers, steps))
        write_answer(i, ended, steps, clock(timer) - began, answers)
