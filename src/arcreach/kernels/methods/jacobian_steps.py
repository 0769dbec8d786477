"""The step of each method of the Jacobian family, from Jacobian and residual.

Symbols: J^T is `rows`, a row per coordinate; e is the residual, position then weighted orientation; G is J J^T, U its
eigenvectors, which are the left singular vectors of J.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.chain.layout import ROTATION
from arcreach.kernels.math.linalg import diagonalize
from arcreach.kernels.math.vectors import norm
from arcreach.kernels.solver.descent import solve_damped

# Rules of steps: SHARE is method `jacobian`, FIXED `dls` and RESIDUAL `lm`, damped least squares with three rules for
# the damping; TRANSPOSE is `jacobian-transpose`, FILTERED `svd-dls`, SELECTIVE `sdls`.
SHARE, TRANSPOSE, FIXED, FILTERED, SELECTIVE, RESIDUAL = range(6)

# The chain cannot move along a singular direction whose squared singular value is below this share of their sum.
_NO_DIRECTION = 1e-24


class Rule(NamedTuple):
    """How a method of the Jacobian family steps, and when it stalls.

    `damping` is that of `damping_share` or, for FILTERED, of `filtered_step`; `threshold` is a singular value.
    """

    code: int
    damping: float = 1.0
    threshold: float = 1.0
    largest: float = math.inf  # largest step of a coordinate: radians, or share of the range of a length
    # Stall if this many steps together leave at least the share `progress` of the squared error.
    patience: int = 40
    progress: float = 1.0
    max_steps: int = 300  # default step budget


class Work(NamedTuple):
    """Scratch of a solve."""

    q: Array  # (dof,): current configuration
    trial: Array  # (dof,)
    step: Array  # (dof,), each in the unit of its coordinate
    jac: Array  # (6, dof)
    rows: Array  # (dof, 6): J^T
    e: Array  # (6,)
    y: Array  # (6,)
    G: Array  # (6, 6)
    U: Array  # (6, 6)


@kernel(allocates=True)
def make_work(dof):
    """Return the scratch of a robot of `dof` coordinates. Source: derived."""
    return Work(
        np.empty(dof),
        np.empty(dof),
        np.empty(dof),
        np.empty((6, dof)),
        np.empty((dof, 6)),
        np.empty(6),
        np.empty(6),
        np.empty((6, 6)),
        np.empty((6, 6)),
    )


@kernel
def row_times(rows, k, y):
    """Return row k times y (6,). Source: derived."""
    total = 0.0
    for r in range(6):
        total += rows[k, r] * y[r]
    return total


@kernel
def row_times_column(rows, k, U, i):
    """Return row k times column i of U. Source: derived."""
    total = 0.0
    for r in range(6):
        total += rows[k, r] * U[r, i]
    return total


@kernel
def sum_of_squares(rows):
    """Return the trace of J J^T. Source: derived."""
    total = 0.0
    for k in range(rows.shape[0]):
        for r in range(6):
            total += rows[k, r] * rows[k, r]
    return total


@kernel
def transpose_step(rows, e, y, step):
    """Write the best multiple alpha J^T e, alpha = <e, J J^T e> / <J J^T e, J J^T e>. Source: [B04]."""
    for r in range(6):
        y[r] = 0.0
    for k in range(rows.shape[0]):
        step[k] = row_times(rows, k, e)
        for r in range(6):
            y[r] += step[k] * rows[k, r]
    gain = 0.0
    square = 0.0
    for r in range(6):
        gain += e[r] * y[r]
        square += y[r] * y[r]
    alpha = gain / square if square > 0.0 else 0.0
    for k in range(rows.shape[0]):
        step[k] *= alpha


@kernel
def damping_share(rule, damping, e, squares):
    """Return the damping as a share of the mean eigenvalue of J J^T, whose trace is `squares`.

    `damping` is that share for SHARE, the square root of mu for FIXED, a multiple of the squared residual for RESIDUAL.
    Source: [K22] eq. 1.18; [W86]; [S11].
    """
    if rule == SHARE:
        return damping
    if rule == FIXED:
        return 6.0 * damping * damping / squares
    total = 0.0
    for r in range(6):
        total += e[r] * e[r]
    return 6.0 * damping * total / squares


@kernel
def damped_step(rule, rows, e, damping, y, step):
    """Write J^T (J J^T + mu I)^-1 e, mu from `damping` by the rule. Source: [K22] eq. 1.18; [NH86]; [W86]; [S11]."""
    squares = sum_of_squares(rows)
    for k in range(rows.shape[0]):
        step[k] = 0.0
    if squares > 0.0:
        solve_damped(rows, e, damping_share(rule, damping, e, squares), ROTATION, y)
        for k in range(rows.shape[0]):
            step[k] = row_times(rows, k, y)


@kernel
def singular_directions(rows, G, U):
    """Write the left singular vectors of J as columns of U. Source: derived."""
    for r in range(6):
        for c in range(6):
            G[r, c] = 0.0
    for k in range(rows.shape[0]):
        for r in range(6):
            for c in range(6):
                G[r, c] += rows[k, r] * rows[k, c]
    diagonalize(G, U)


@kernel
def singular_direction(rows, e, U, i):
    """Return the squared singular value of direction i, and the component of e along it.

    The square is |J^T u|^2, which is accurate even if rounding dominates the eigenvalue of J J^T. Source: derived.
    """
    square = 0.0
    for k in range(rows.shape[0]):
        a = row_times_column(rows, k, U, i)
        square += a * a
    part = 0.0
    for r in range(6):
        part += U[r, i] * e[r]
    return square, part


@kernel
def filtered_step(rows, e, damping, threshold, G, U, step):
    """Write the sum of sigma / (sigma^2 + lambda^2) <u, e> v over the singular directions.

    lambda^2 = (1 - (sigma / threshold)^2) damping^2 if sigma is below the threshold, else 0. Each direction is damped
    by its own singular value, so that the others stay exact. Source: [MK88]; [CSE94].
    """
    singular_directions(rows, G, U)
    least = _NO_DIRECTION * sum_of_squares(rows)
    for k in range(rows.shape[0]):
        step[k] = 0.0
    for i in range(6):
        square, part = singular_direction(rows, e, U, i)
        if square <= least:
            continue
        near = max(1.0 - square / (threshold * threshold), 0.0)
        factor = part / (square + near * damping * damping)
        for k in range(rows.shape[0]):
            step[k] += factor * row_times_column(rows, k, U, i)


@kernel
def selective_bound(rows, U, i, sigma, largest):
    """Return the bound of a coordinate's step along singular direction i: gamma = min(1, N / M) gamma_max.

    The tip counts as two end effectors: its position and, if the target has one, its orientation. N is how far a unit
    step along u_i moves both, M how far they would move if its joint motions did not cancel. Source: [BK05].
    """
    N = norm(U[0, i], U[1, i], U[2, i]) + norm(U[3, i], U[4, i], U[5, i])
    M = 0.0
    for k in range(rows.shape[0]):
        moved = norm(rows[k, 0], rows[k, 1], rows[k, 2]) + norm(rows[k, 3], rows[k, 4], rows[k, 5])
        M += abs(row_times_column(rows, k, U, i)) * moved
    # M is a sum over v = J^T u / sigma, divided by sigma.
    M /= sigma * sigma
    return largest * min(1.0, N / M)


@kernel
def selective_step(rows, e, largest, G, U, step):
    """Write the pseudoinverse step with its component along each singular direction limited by `selective_bound`.

    The sum itself is limited to `largest` by `bound_step`. Source: [BK05].
    """
    singular_directions(rows, G, U)
    least = _NO_DIRECTION * sum_of_squares(rows)
    for k in range(rows.shape[0]):
        step[k] = 0.0
    for i in range(6):
        square, part = singular_direction(rows, e, U, i)
        if square <= least:
            continue
        peak = 0.0
        for k in range(rows.shape[0]):
            peak = max(peak, abs(part / square * row_times_column(rows, k, U, i)))
        bound = selective_bound(rows, U, i, math.sqrt(square), largest)
        factor = part / square * (bound / peak if peak > bound else 1.0)
        for k in range(rows.shape[0]):
            step[k] += factor * row_times_column(rows, k, U, i)


@kernel
def bound_step(step, largest):
    """Scale a step down so that no coordinate changes by more than `largest`. Source: [B04]."""
    peak = 0.0
    for k in range(step.shape[0]):
        peak = max(peak, abs(step[k]))
    if peak > largest:
        for k in range(step.shape[0]):
            step[k] *= largest / peak


@kernel
def hold_at_limits(rows, e, q, lower, upper):
    """Zero the rows of coordinates at a limit whose gradient points beyond it. Source: derived."""
    for k in range(rows.shape[0]):
        pull = row_times(rows, k, e)
        if (q[k] >= upper[k] and pull > 0.0) or (q[k] <= lower[k] and pull < 0.0):
            for r in range(6):
                rows[k, r] = 0.0


@kernel(inline=True)
def family_step(rule, damping, work):
    """Write the step of a rule with the current damping, bounded by the rule's largest. Source: derived."""
    rows, e, step = work.rows, work.e, work.step
    if rule.code == TRANSPOSE:
        transpose_step(rows, e, work.y, step)
    elif rule.code == FILTERED:
        filtered_step(rows, e, damping, rule.threshold, work.G, work.U, step)
    elif rule.code == SELECTIVE:
        selective_step(rows, e, rule.largest, work.G, work.U, step)
    else:
        damped_step(rule.code, rows, e, damping, work.y, step)
    bound_step(step, rule.largest)
