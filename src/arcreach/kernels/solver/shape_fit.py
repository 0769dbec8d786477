"""Bounded least-squares fits of a robot's body to a curve, one per depth: the arc length that the tip reaches.

Symbols as in `shape_squares`.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import BEND
from arcreach.kernels.chain.limits import unwind
from arcreach.kernels.math.linalg import copy, solve_positive
from arcreach.kernels.solver.bounds import FLOOR, FREE, HELD, SIDE, TANGENT, TOP, block_code, inside_limits
from arcreach.kernels.solver.contexts import Model, Pulls
from arcreach.kernels.solver.path_step import Box, move_inside, narrow
from arcreach.kernels.solver.pull_limits import keeps_pulls, with_scratch
from arcreach.kernels.solver.pull_steps import nearest
from arcreach.kernels.solver.shape_squares import Body, Curve, Fit, Squares, evaluate, write_weights
from arcreach.kernels.solver.variables import to_coordinates, to_variables

# Largest number of shifts of the tip's target, and of steps of the fit after each.
ROUNDS, STEPS = 12, 12
# A step that reduces the sum of squares by less than this share is the last one of its fit.
PROGRESS = 1e-4
FIRST_DAMPING, SMALLEST_DAMPING, LARGEST_DAMPING = 1e-6, 1e-12, 1e8
# The shifts are kept if they reduce the squared error of the tip below this share.
NEARER = 0.25
# Directions that leave the limits get this many times the largest stiffness of a variable.
STIFF = 1e8


@kernel
def hold(A: Array, first: int, nx: float, ny: float, nz: float, stiff: float) -> None:
    """Add a stiffness along the direction (nx, ny, nz) of three successive variables to the lower triangle of A.

    Zero components may belong to variables that do not exist. Source: derived.
    """
    normal = (nx, ny, nz)
    for i in range(3):
        for j in range(i + 1):
            if normal[i] != 0.0 and normal[j] != 0.0:
                A[first + i, first + j] += stiff * normal[i] * normal[j]


@kernel
def hold_block(model: Model, row: int, code: int, v: Array, A: Array, stiff: float) -> None:
    """Add `stiff` to A along the directions in which a moving element would leave its limits. Source: derived."""
    element = model.moving[row]
    k, last = element.variable, element.variable + element.width - 1
    if code == HELD:
        for i in range(k, last + 1):
            A[i, i] += stiff
        return
    if code == FLOOR:
        A[k, k] += stiff
    if code == TOP or (code == TANGENT and element.stretch > 0.0):
        A[last, last] += stiff
    if element.kind == BEND and (code == TANGENT or code == SIDE):
        radius = math.sqrt(v[k] * v[k] + v[k + 1] * v[k + 1])
        if radius > 0.0:
            coupled = code == SIDE and element.slope > 0.0
            slope = -element.bend_max if coupled else 0.0
            norm = 1.0 / math.sqrt(1.0 + slope * slope)
            hold(A, k, norm * v[k] / radius, norm * v[k + 1] / radius, norm * slope, stiff)
    elif code == SIDE:
        norm = 1.0 / math.sqrt(1.0 + element.bend_max * element.bend_max)
        hold(A, k, norm, -norm * element.bend_max, 0.0, stiff)


@kernel
def bounded_step(model: Model, v: Array, damping: float, fit: Fit) -> None:
    """Write the damped step into `fit.x`; blocks at their limits move along them. Source: derived."""
    n = v.shape[0]
    stiff = 0.0
    for i in range(n):
        stiff = max(stiff, STIFF * fit.here.H[i, i])
    for row in range(fit.codes.shape[0]):
        fit.codes[row] = FREE
    # Every block changes its code at most twice.
    for _ in range(2 * fit.codes.shape[0] + 1):
        for i in range(n):
            fit.x[i] = -fit.here.g[i]
            for j in range(i + 1):
                fit.A[i, j] = fit.here.H[i, j]
            fit.A[i, i] *= 1.0 + damping
        for row in range(fit.codes.shape[0]):
            hold_block(model, row, fit.codes[row], v, fit.A, stiff)
        solve_positive(fit.A, n, fit.x)
        changed = False
        for row in range(fit.codes.shape[0]):
            element = model.moving[row]
            k, unit = element.variable, element.unit
            p1 = fit.x[k + 1] if element.width > 1 else 0.0
            p2 = fit.x[k + 2] if element.width > 2 else 0.0
            if element.kind == BEND:
                p1 /= unit
            code = block_code(element, v, fit.codes[row], fit.x[k] / unit, p1, p2)
            if code > FREE and code != fit.codes[row] and fit.codes[row] != HELD:
                # A restricted block that crosses another bound is held.
                fit.codes[row] = code if fit.codes[row] == FREE else HELD
                changed = True
        if not changed:
            return


@kernel
def keep_pulls(pulls: Pulls | None, model: Model, v: Array) -> None:
    """Replace v by the nearest variables that keep the limits of pulls, if tendons have any. Source: derived."""
    if pulls is None:
        return
    if not keeps_pulls(pulls, model, v):
        nearest(pulls, model, v)


@kernel
def descend(model: Model, box: Box, body: Body, curve: Curve, goal: Array, v: Array, fit: Fit) -> None:
    """Move v to a local minimum of the sum of squares, by damped steps inside the limits. Source: [NW06] sect. 10.3."""
    damping = FIRST_DAMPING
    total = evaluate(model, body, curve, goal, v, fit, fit.here)
    for _ in range(STEPS):
        trial = fit.trial
        better = total
        while damping < LARGEST_DAMPING:
            bounded_step(box.model, v, damping, fit)
            for k in range(v.shape[0]):
                trial[k] = v[k] + fit.x[k]
            inside_limits(box.model, trial, trial)
            move_inside(box, fit.previous, trial)
            keep_pulls(box.pulls, model, trial)
            better = evaluate(model, body, curve, goal, trial, fit, fit.there)
            if better < total:
                break
            damping *= 10.0
        if not better < total:
            return
        damping = max(0.1 * damping, SMALLEST_DAMPING)
        copy(trial, v)
        copy(fit.there.g, fit.here.g)
        for i in range(v.shape[0]):
            copy(fit.there.H[i], fit.here.H[i])
        if total - better < PROGRESS * total:
            return
        total = better


@kernel(allocates=True)
def make_fit(model: Model, body: Body, dof: int) -> Fit:
    """Return the scratch of a fit. Source: derived."""
    n, m = body.units.shape[0], body.rows.shape[0]
    return Fit(
        np.empty(dof),
        np.empty(3),
        np.empty((6, dof)),
        np.empty((6, n)),
        np.empty((3, n)),
        np.empty(m),
        np.empty(m),
        np.zeros(3),
        Squares(np.empty((n, n)), np.empty(n)),
        Squares(np.empty((n, n)), np.empty(n)),
        np.empty((n, n)),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(model.moving.shape[0], np.int64),
    )


@kernel
def fit_tip(model: Model, box: Box, body: Body, curve: Curve, goal: Array, v: Array, fit: Fit) -> None:
    """Fit the body, starting at v; shift the tip's target after each fit until the tip is within its tolerance.

    `goal` (5,) holds the depth, the target of the tip and its tolerance, in metres. Source: [NW06] sect. 17.3.
    """
    first = 0.0
    square = 0.0
    for r in range(3):
        fit.shift[r] = 0.0
    for k in range(ROUNDS):
        to_coordinates(model, v, fit.q)
        write_weights(model, body, goal[0], fit.q, fit)
        descend(model, box, body, curve, goal, v, fit)
        to_coordinates(model, v, fit.q)
        tip = tip_motion(model.chain, fit.q)
        square = 0.0
        for r in range(3):
            error = tip[4 * r + 3] - goal[1 + r]
            fit.shift[r] += error
            square += error * error
        if square <= goal[4] * goal[4]:
            return
        if k == 0:
            first = square
    if square < NEARER * first:
        return
    # The target is out of reach: fit again without the shift, which would only bend the body off the curve.
    for r in range(3):
        fit.shift[r] = 0.0
    copy(fit.previous, v)
    descend(model, box, body, curve, goal, v, fit)


@kernel(batch=True)
def fit_path(model: Model, box: Box, body: Body, curve: Curve, goals: Array, chained: bool, Q: Array) -> None:
    """Write the configurations Q (n, dof) that fit the body to the curve at goals (n, 5), see `fit_tip`.

    If `chained`, each fit starts from the previous configuration, and Q[0] holds the first start; otherwise every row
    holds its own. Source: derived.
    """
    fit = make_fit(model, body, Q.shape[1])
    scratch = Box(box.model, box.moving, box.largest, with_scratch(box.pulls))
    v = np.empty(body.units.shape[0])
    to_variables(model, Q[0], v)
    for i in range(goals.shape[0]):
        if not chained:
            to_variables(model, Q[i], v)
        copy(v, fit.previous)
        narrow(model, v, scratch)
        fit_tip(model, scratch, body, curve, goals[i], v, fit)
        to_coordinates(model, v, Q[i])
        if i > 0:
            unwind(model.chain, Q[i - 1], Q[i])
