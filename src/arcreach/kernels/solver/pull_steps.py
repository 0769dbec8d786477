"""Steps that keep the limits of pulls.

Symbols: v, the solver variables; d, a change of them in their units; C, rows of linear constraints C d <= c. A step
minimises d^T H d / 2 - g^T d under such constraints: pulls linearised at v, limits of joints and of stretches, and
tangents of the discs and cones of bend vectors. A dual active set adds the constraint that d violates most and drops
those whose multipliers turn negative. Violations that linearisation and tangents leave are removed afterwards, so every
accepted v keeps its limits.
"""

import math

from arcreach._jit import kernel
from arcreach._typing import Array, Record
from arcreach.kernels.chain.layout import BEND, PLANAR, ROTATION
from arcreach.kernels.math.linalg import copy, factor_positive, solve_factored, solve_positive
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.kernels.solver.contexts import Model, Pulls, Work
from arcreach.kernels.solver.pull_limits import (
    BOUND,
    CENTRE,
    GOAL,
    GRADIENT,
    LAST_ACTIVE,
    MULTIPLIER,
    NEXT,
    STEP,
    TENDON,
    UNCONSTRAINED,
    add_scratch,
    approach,
    excess,
    keeps_pulls,
    retreat,
    to_rest,
    write_slopes,
)

# A constraint that d violates by less, in units of the variables, is left to `approach`.
_NEGLIGIBLE = 1e-9
# The tangent of a disc or cone is added if the step exceeds it by more than this share of the step's largest component.
_TANGENT = 1e-3
# Smallest damping as a share of the trace: redundant robots have singular equations.
LEAST_DAMPING = 1e-10
# Regularisation of the multipliers' equations, as a share of the diagonal: tangents of one disc are nearly parallel.
_SOFT = 1e-12
# A trial is moved towards the rest pose only if at least this share of it is left.
_NEARLY_ALL = 0.999
# Most linearisations of pulls in `nearest`.
_LINEARISATIONS = 20


@kernel
def block_cut(element: Record, v: Array, d: Array) -> tuple[float, float, float, float, float]:
    """Return the constraint of a block that v + d violates most: violation, its row of up to three entries, and c.

    Bends of sections are bounded by the tangent of their disc, cone or cylinder nearest to v + d. Source: derived.
    """
    k, unit = element.variable, element.unit
    x = v[k] + unit * d[k]
    if element.kind < BEND:
        if x - element.upper > element.lower - x:
            return (x - element.upper) / unit, 1.0, 0.0, 0.0, (element.upper - v[k]) / unit
        return (element.lower - x) / unit, -1.0, 0.0, 0.0, (v[k] - element.lower) / unit
    planar = element.kind == PLANAR
    y = 0.0 if planar else v[k + 1] + unit * d[k + 1]
    radius = x if planar else math.sqrt(x * x + y * y)
    nx, ny = 1.0, 0.0
    if not planar:
        nx, ny = (x / radius, y / radius) if radius > 0.0 else (0.0, 0.0)
    now = nx * v[k] if planar else nx * v[k] + ny * v[k + 1]
    # The limit of the bend grows with the share of the stretch where both are coupled.
    growth = element.slope * unit
    last = k + element.width - 1
    share_now, share = (v[last], v[last] + d[last]) if element.stretch > 0.0 else (0.0, 0.0)
    norm = math.sqrt(unit * unit + growth * growth)
    room = element.bend_max - growth
    worst = (radius - room - growth * share) / norm
    a, b, c, bound = nx * unit / norm, ny * unit / norm, -growth / norm, (room + growth * share_now - now) / norm
    if element.stretch > 0.0 and max(share - 1.0, -share) > worst:
        sign = 1.0 if share > 0.5 else -1.0
        worst = max(share - 1.0, -share)
        a, b, c, bound = 0.0, 0.0, sign, 1.0 - share_now if sign > 0.0 else share_now
    if planar and -x / unit > worst:
        worst = -x / unit
        a, b, c, bound = -1.0, 0.0, 0.0, v[k] / unit
    return worst, a, c if planar else b, c, bound


@kernel
def write_pull_cut(pulls: Pulls, j: int, upper: bool, count: int) -> None:
    """Write the limit of a pull as row `count` of the constraints. Source: derived."""
    square = 0.0
    for k in range(pulls.units.shape[0]):
        pulls.C[count, k] = pulls.slopes[j, k] * pulls.units[k]
        square += pulls.C[count, k] * pulls.C[count, k]
    scale = math.copysign(1.0 / math.sqrt(square), 1.0 if upper else -1.0)
    for k in range(pulls.units.shape[0]):
        pulls.C[count, k] *= scale
    pulls.columns[BOUND, count] = scale * ((pulls.high[j] if upper else pulls.low[j]) - pulls.p[j])
    # The tendon's index plus 1, negative for a lower limit; 0 stands for the constraint of a block.
    pulls.columns[TENDON, count] = j + 1.0 if upper else -j - 1.0


@kernel
def write_cut(pulls: Pulls, model: Model, v: Array, count: int) -> bool:
    """Write the constraint that the current step violates most as row `count`; return whether there is one.

    Source: derived.
    """
    d, row, units = pulls.vectors[STEP], pulls.C[count], pulls.units
    n = v.shape[0]
    worst = _NEGLIGIBLE
    tendon, upper = -1, False
    for j in range(pulls.p.shape[0]):
        change, square = 0.0, 0.0
        for k in range(n):
            slope = pulls.slopes[j, k] * units[k]
            change += slope * d[k]
            square += slope * slope
        over = excess(pulls, j, pulls.p[j] + change)
        if over * over > worst * worst * square:
            worst = abs(over) / math.sqrt(square)
            tendon, upper = j, over > 0.0
    longest = 0.0
    for k in range(n):
        longest = max(longest, abs(d[k]))
    # Tangents of discs and cones need not be exact: limits of blocks are kept by projection afterwards.
    worst = max(worst, _TANGENT * longest)
    found = tendon >= 0
    for i in range(model.moving.shape[0]):
        element = model.moving[i]
        violation, first, second, third, bound = block_cut(element, v, d)
        if violation > worst:
            worst = violation
            found, tendon = True, -1
            for k in range(n):
                row[k] = 0.0
            row[element.variable] = first
            if element.width > 1:
                row[element.variable + 1] = second
            if element.width > 2:
                row[element.variable + 2] = third
            pulls.columns[BOUND, count] = bound
            pulls.columns[TENDON, count] = 0.0
    if tendon >= 0:
        write_pull_cut(pulls, tendon, upper, count)
    return found


@kernel
def add_cut(pulls: Pulls, count: int) -> int:
    """Complete the constraint that was written as row `count`; return how many there are now. Source: derived."""
    n = pulls.units.shape[0]
    copy(pulls.C[count], pulls.Y[count])
    solve_factored(pulls.H, n, pulls.Y[count])
    for j in range(count + 1):
        pulls.P[count, j] = 0.0
        for k in range(n):
            pulls.P[count, j] += pulls.C[count, k] * pulls.Y[j, k]
    pulls.P[count, count] *= 1.0 + _SOFT
    pulls.columns[MULTIPLIER, count] = 0.0
    return count + 1


@kernel
def write_multipliers(pulls: Pulls, count: int) -> None:
    """Write the multipliers with which all of `count` constraints hold with equality. Source: derived."""
    A, x, free = pulls.A, pulls.columns[NEXT], pulls.vectors[UNCONSTRAINED]
    for i in range(count):
        x[i] = -pulls.columns[BOUND, i]
        for k in range(free.shape[0]):
            x[i] += pulls.C[i, k] * free[k]
        for j in range(i + 1):
            A[i, j] = pulls.P[i, j]
    solve_positive(A, count, x)


@kernel
def drop_cut(pulls: Pulls, count: int) -> int:
    """Move the multipliers towards the next ones until one is 0; drop its constraint and return how many remain.

    Source: derived.
    """
    now, then = pulls.columns[MULTIPLIER], pulls.columns[NEXT]
    share = 1.0
    leaving = -1
    for i in range(count):
        if then[i] <= 0.0:
            limit = now[i] / (now[i] - then[i]) if now[i] > 0.0 else 0.0
            if limit < share or leaving < 0 or (limit == share and then[i] < then[leaving]):
                share, leaving = limit, i
    for i in range(count):
        now[i] += share * (then[i] - now[i])
    if leaving < 0:
        return count
    for i in range(leaving, count - 1):
        now[i] = now[i + 1]
        pulls.columns[BOUND, i] = pulls.columns[BOUND, i + 1]
        pulls.columns[TENDON, i] = pulls.columns[TENDON, i + 1]
        copy(pulls.C[i + 1], pulls.C[i])
        copy(pulls.Y[i + 1], pulls.Y[i])
        for j in range(i + 1):
            pulls.P[i, j] = pulls.P[i + 1, j if j < leaving else j + 1]
    return count - 1


@kernel
def settle_multipliers(pulls: Pulls, count: int) -> int:
    """Drop constraints until all multipliers are positive, write the step; return how many remain. Source: derived."""
    while count > 0:
        write_multipliers(pulls, count)
        left = drop_cut(pulls, count)
        if left == count:
            break
        count = left
    d = pulls.vectors[STEP]
    copy(pulls.vectors[UNCONSTRAINED], d)
    for i in range(count):
        for k in range(d.shape[0]):
            d[k] -= pulls.columns[MULTIPLIER, i] * pulls.Y[i, k]
    return count


@kernel
def write_step(pulls: Pulls, model: Model, v: Array) -> None:
    """Write the step from v, given the lower triangle of H, the vector g, and the pulls p and their slopes at v.

    The initial active set is the limits of pulls that were active at the end of the last step. Source: derived.
    """
    before = pulls.columns[LAST_ACTIVE]
    most = before.shape[0]
    factor_positive(pulls.H, v.shape[0])
    copy(pulls.vectors[GRADIENT], pulls.vectors[UNCONSTRAINED])
    solve_factored(pulls.H, v.shape[0], pulls.vectors[UNCONSTRAINED])
    count = 0
    while count < most and before[count] != 0.0:
        write_pull_cut(pulls, int(abs(before[count])) - 1, before[count] > 0.0, count)
        count = add_cut(pulls, count)
    count = settle_multipliers(pulls, count)
    for _ in range(2 * most):
        if count == most or not write_cut(pulls, model, v, count):
            break
        count = settle_multipliers(pulls, add_cut(pulls, count))
    kept = 0
    for i in range(count):
        if pulls.columns[TENDON, i] != 0.0:
            before[kept] = pulls.columns[TENDON, i]
            kept += 1
    if kept < most:
        before[kept] = 0.0


@kernel
def write_trial(pulls: Pulls, model: Model, v: Array, trial: Array) -> None:
    """Write the trial of a step from v, given H and g; v keeps all limits, and so does the trial.

    Source: derived.
    """
    keeps_pulls(pulls, model, v)
    write_slopes(pulls, model)
    write_step(pulls, model, v)
    for k in range(v.shape[0]):
        trial[k] = v[k] + pulls.units[k] * pulls.vectors[STEP, k]
    if approach(pulls, model, trial):
        return
    # Limits that meet at a sharp angle leave little of the step. Try the trial moved towards the rest pose first, far
    # from most limits: if v is at a limit, a trial moved towards v could end every step where it began.
    tried = pulls.vectors[GOAL]
    copy(trial, tried)
    if to_rest(pulls, model, trial) < _NEARLY_ALL:
        copy(tried, trial)
        retreat(pulls, model, v, trial)


@kernel
def pull_step(pulls: Pulls, model: Model, mode: int, work: Work, damping: float) -> float:
    """Write a step of damped least squares from v into `trial`; return the predicted squared residual.

    Source: derived.
    """
    v, J, e, H = work.v, work.J, work.e, pulls.H
    n = v.shape[0]
    rows = 6 if mode == ROTATION else 5
    trace = 0.0
    for i in range(n):
        for j in range(i + 1):
            H[i, j] = 0.0
            for r in range(rows):
                H[i, j] += J[i, r] * J[j, r]
        trace += H[i, i]
        pulls.vectors[GRADIENT, i] = 0.0
        for r in range(rows):
            pulls.vectors[GRADIENT, i] += J[i, r] * e[r]
    for i in range(n):
        H[i, i] += max(damping / 6.0, LEAST_DAMPING) * trace + 1e-140
    write_trial(pulls, model, v, work.trial)
    predicted = 0.0
    for r in range(rows):
        left = e[r]
        for k in range(n):
            left -= J[k, r] * (work.trial[k] - v[k]) / pulls.units[k]
        predicted += left * left
    return predicted


@kernel
def nearest(pulls: Pulls, model: Model, v: Array) -> None:
    """Replace v by the nearest variables that keep all limits: exactly if pulls are linear, else nearly.

    Source: derived.
    """
    goal, units, H = pulls.vectors[GOAL], pulls.units, pulls.H
    n = v.shape[0]
    copy(v, goal)
    pulls.columns[LAST_ACTIVE, 0] = 0.0
    for _ in range(_LINEARISATIONS):
        keeps_pulls(pulls, model, v)
        write_slopes(pulls, model)
        for i in range(n):
            for j in range(i):
                H[i, j] = 0.0
            H[i, i] = units[i] * units[i]
            pulls.vectors[GRADIENT, i] = units[i] * (goal[i] - v[i])
        write_step(pulls, model, v)
        far = 0.0
        for k in range(n):
            v[k] += units[k] * pulls.vectors[STEP, k]
            far = max(far, abs(pulls.vectors[STEP, k]))
        if far <= _NEGLIGIBLE:
            break
    if not approach(pulls, model, v):
        to_rest(pulls, model, v)


@kernel(batch=True)
def nearest_batch(start: int, stop: int, model: Model, pulls: Pulls, V: Array) -> None:
    """Replace rows start to stop of V (n, variables) by the nearest that keep all limits. Source: derived."""
    own = add_scratch(pulls)
    inside = own.vectors[CENTRE]
    for i in range(start, stop):
        inside_limits(model, V[i], inside)
        kept = keeps_pulls(own, model, V[i])
        for k in range(V.shape[1]):
            kept = kept and inside[k] == V[i, k]
        if not kept:
            nearest(own, model, V[i])


@kernel(batch=True)
def to_rest_batch(start: int, stop: int, model: Model, pulls: Pulls, V: Array) -> None:
    """Move rows start to stop of V (n, variables) towards the rest pose until they keep the pulls. Source: derived."""
    own = add_scratch(pulls)
    for i in range(start, stop):
        if not keeps_pulls(own, model, V[i]):
            to_rest(own, model, V[i])
