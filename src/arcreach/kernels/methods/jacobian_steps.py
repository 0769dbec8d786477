"""The steps of the Jacobian family: what each method makes of the Jacobian and the residual.

Symbols: J^T is `rows`, a row per coordinate; e is the residual: position, then weighted orientation; G and U are J J^T
and its eigenvectors, which are the left singular vectors of J.
"""

import math
from typing import NamedTuple

from arcreach._jit import kernel
from arcreach.kernels.chain.layout import ROTATION
from arcreach.kernels.math.linalg import diagonalize
from arcreach.kernels.solver.contexts import Floats
from arcreach.kernels.solver.descent import multipliers

# Which step is taken. SHARE, FIXED and RESIDUAL are one step with three rules for its damping.
SHARE, TRANSPOSE, FIXED, FILTERED, SELECTIVE, RESIDUAL = range(6)

# A direction whose squared singular value is this share of all together is one the chain cannot move in.
_NO_DIRECTION = 1e-24


class Rule(NamedTuple):
    """How a member of the Jacobian family steps and when it gives up.

    `damping` and `threshold` are in the unit of the residual, in which singular values are as well.
    """

    code: int
    damping: float = 1.0
    threshold: float = 1.0
    largest: float = math.inf  # of a coordinate in one step: radians, or the share of a stroke
    # Steps that together must bring the squared error below the share `progress` of what it was.
    patience: int = 40
    progress: float = 1.0
    max_steps: int = 300  # unless the caller says otherwise


class Work(NamedTuple):
    """Scratch of a solve."""

    q: Floats  # (dof,): where it stands
    trial: Floats  # (dof,)
    step: Floats  # (dof,), each in the unit of its coordinate
    jac: Floats  # (6, dof)
    rows: Floats  # (dof, 6): J^T
    e: Floats  # (6,)
    y: Floats  # (6,)
    G: Floats  # (6, 6)
    U: Floats  # (6, 6)


@kernel
def along(rows, k, y):
    """Return row k times y (6,). Source: derived."""
    total = 0.0
    for r in range(6):
        total += rows[k, r] * y[r]
    return total


@kernel
def along_column(rows, k, U, i):
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
    """Write alpha J^T e with alpha = <e, J J^T e> / <J J^T e, J J^T e>, which leaves the least of e to first order.

    Source: [B04].
    """
    for r in range(6):
        y[r] = 0.0
    for k in range(rows.shape[0]):
        step[k] = along(rows, k, e)
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

    SHARE: it is given as one. FIXED: it is the square of a length. RESIDUAL: it is a multiple of the squared residual.
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
    """Write J^T (J J^T + mu I)^-1 e, where the rule turns `damping` into mu.

    Source: [K22] eq. 1.18; [NH86]; [W86]; [S11].
    """
    squares = sum_of_squares(rows)
    for k in range(rows.shape[0]):
        step[k] = 0.0
    if squares > 0.0:
        multipliers(rows, e, damping_share(rule, damping, e, squares), ROTATION, y)
        for k in range(rows.shape[0]):
            step[k] = along(rows, k, y)


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
def direction_facts(rows, e, U, i):
    """Return the squared singular value of direction i and the part of e along it.

    The value is that of J^T u, which is exact where the eigenvalue of J J^T is lost in rounding. Source: derived.
    """
    square = 0.0
    for k in range(rows.shape[0]):
        a = along_column(rows, k, U, i)
        square += a * a
    part = 0.0
    for r in range(6):
        part += U[r, i] * e[r]
    return square, part


@kernel
def filtered_step(rows, e, damping, threshold, G, U, step):
    """Write the sum of sigma / (sigma^2 + lambda^2) <u, e> v over the singular directions.

    lambda^2 = (1 - (sigma / threshold)^2) damping^2 where sigma is below the threshold, else 0: a direction is damped
    by its own singular value, so that the others stay exact. Source: [MK88]; [CSE94].
    """
    singular_directions(rows, G, U)
    least = _NO_DIRECTION * sum_of_squares(rows)
    for k in range(rows.shape[0]):
        step[k] = 0.0
    for i in range(6):
        square, part = direction_facts(rows, e, U, i)
        if square <= least:
            continue
        near = max(1.0 - square / (threshold * threshold), 0.0)
        factor = part / (square + near * damping * damping)
        for k in range(rows.shape[0]):
            step[k] += factor * along_column(rows, k, U, i)


@kernel
def norm3(x, y, z):
    """Return the length of a vector. Source: derived."""
    return math.sqrt(x * x + y * y + z * z)


@kernel
def selective_bound(rows, U, i, sigma, largest):
    """Return the largest turn that direction i is worth: gamma = min(1, N / M) gamma_max.

    The tip counts as two end effectors: its position, and its orientation where the target has one. N is how far a unit
    step along u_i moves both, M how far they would go if the joint motions of it did not cancel. Source: [BK05].
    """
    N = norm3(U[0, i], U[1, i], U[2, i]) + norm3(U[3, i], U[4, i], U[5, i])
    M = 0.0
    for k in range(rows.shape[0]):
        moved = norm3(rows[k, 0], rows[k, 1], rows[k, 2]) + norm3(rows[k, 3], rows[k, 4], rows[k, 5])
        M += abs(along_column(rows, k, U, i)) * moved
    # v = J^T u / sigma, and M has another sigma below it.
    M /= sigma * sigma
    return largest * min(1.0, N / M)


@kernel
def selective_step(rows, e, largest, G, U, step):
    """Write the sum of the pseudoinverse's parts along each singular direction, each cut to the turn it is worth.

    The sum itself is cut to `largest` by `bound_step`. Source: [BK05].
    """
    singular_directions(rows, G, U)
    least = _NO_DIRECTION * sum_of_squares(rows)
    for k in range(rows.shape[0]):
        step[k] = 0.0
    for i in range(6):
        square, part = direction_facts(rows, e, U, i)
        if square <= least:
            continue
        peak = 0.0
        for k in range(rows.shape[0]):
            peak = max(peak, abs(part / square * along_column(rows, k, U, i)))
        bound = selective_bound(rows, U, i, math.sqrt(square), largest)
        factor = part / square * (bound / peak if peak > bound else 1.0)
        for k in range(rows.shape[0]):
            step[k] += factor * along_column(rows, k, U, i)


@kernel
def bound_step(step, largest):
    """Shorten a step, in its own direction, so that no coordinate moves by more than `largest`. Source: [B04]."""
    peak = 0.0
    for k in range(step.shape[0]):
        peak = max(peak, abs(step[k]))
    if peak > largest:
        for k in range(step.shape[0]):
            step[k] *= largest / peak


@kernel
def hold_at_limits(rows, e, q, lower, upper):
    """Clear the rows of coordinates that stand at a limit and are drawn through it. Source: derived."""
    for k in range(rows.shape[0]):
        pull = along(rows, k, e)
        if (q[k] >= upper[k] and pull > 0.0) or (q[k] <= lower[k] and pull < 0.0):
            for r in range(6):
                rows[k, r] = 0.0


@kernel(inline=True)
def family_step(rule, damping, work):
    """Write the step of a rule with the damping as it is now, bounded by the rule's largest. Source: derived."""
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
