"""Limits of pulls, which couple all sections that a tendon passes: test them, and move variables until they are kept.

Symbols: v, the solver variables; p, the pulls. `approach` keeps the limits of joints and bends by `inside_limits`;
`retreat` keeps them because they are convex and both ends of its straight line keep them.

`pulls` is None for a robot without such limits; numba then compiles only the early return.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.actuation.pulls import SLIDE, length_gradient
from arcreach.kernels.actuation.pulls import pulls as write_pulls
from arcreach.kernels.chain.layout import BEND
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.kernels.solver.contexts import Model, Pulls

# Rounds of `approach`, which usually needs one or two, and halvings of `retreat`.
_ROUNDS = 12
_HALVINGS = 40

# Rows of `vectors` and of `columns`.
GRADIENT, UNCONSTRAINED, STEP, REFERENCE, CENTRE, GOAL = range(6)
BOUND, MULTIPLIER, NEXT, TENDON, LAST_ACTIVE = range(5)


@kernel(allocates=True)
def add_scratch(pulls: Pulls) -> Pulls:
    """Return the limits with newly allocated scratch arrays. Source: derived."""
    m, n = pulls.slopes.shape
    # At most n constraints are independent; the rest is room for nearly parallel tangents of the bend limits.
    most = 2 * n + 4
    return Pulls(
        pulls.routes,
        pulls.low,
        pulls.high,
        pulls.rounding,
        pulls.linear,
        pulls.rest,
        pulls.units,
        pulls.variable_of,
        pulls.slopes.copy(),
        np.empty(m),
        np.empty(pulls.variable_of.shape[0]),
        np.empty((n, n)),
        np.empty((6, n)),
        np.empty((most, n)),
        np.empty((most, n)),
        np.empty((most, most)),
        np.empty((most, most)),
        np.zeros((5, most)),
    )


@kernel(allocates=True)
def with_scratch(pulls: Pulls | None) -> Pulls | None:
    """Return `add_scratch` of the limits; None if there are none. Source: derived."""
    # numba prunes a branch by the type of `pulls`, so each compilation has one return type.
    if pulls is None:
        return pulls
    return add_scratch(pulls)


@kernel
def excess(pulls: Pulls, j: int, pull: float) -> float:
    """Return by how much a pull is above its upper limit (positive) or below its lower one (negative), else 0.

    Source: derived.
    """
    return max(pull - pulls.high[j], 0.0) + min(pull - pulls.low[j], 0.0)


@kernel
def keeps_pulls(pulls: Pulls, model: Model, v: Array) -> bool:
    """Write the pulls at v; return whether they keep their limits. Source: derived."""
    p = pulls.p
    if pulls.linear:
        for j in range(p.shape[0]):
            p[j] = 0.0
            for k in range(v.shape[0]):
                p[j] += pulls.slopes[j, k] * (v[k] - pulls.rest[k])
    else:
        write_configuration(model, pulls, v)
        write_pulls(model.chain, pulls.routes, pulls.q, p)
    kept = True
    for j in range(p.shape[0]):
        kept = kept and abs(excess(pulls, j, p[j])) <= pulls.rounding[j]
    return kept


@kernel
def write_configuration(model: Model, pulls: Pulls, v: Array) -> None:
    """Write the coordinates for v of elements that tendons pass to `pulls.q`; those of others may be incomplete.

    Source: derived.
    """
    q = pulls.q
    for row in range(model.moving.shape[0]):
        element = model.moving[row]
        k, c = element.variable, element.coordinate
        q[c] = v[k]
        if element.kind == BEND:
            q[c] = math.sqrt(v[k] * v[k] + v[k + 1] * v[k + 1])
            q[c + 1] = math.atan2(v[k + 1], v[k])
            if element.stretch > 0.0:
                q[c + 2] = element.length + element.stretch * v[k + 2]


@kernel
def write_slopes(pulls: Pulls, model: Model) -> None:
    """Write the derivatives of the pulls by the variables, at the v of the last `keeps_pulls`. Source: derived."""
    if pulls.linear:
        return
    slopes = pulls.slopes
    for j in range(slopes.shape[0]):
        for k in range(slopes.shape[1]):
            slopes[j, k] = 0.0
    for i in range(pulls.routes.shape[0]):
        route = pulls.routes[i]
        j, k = route.tendon, pulls.variable_of[route.coordinate]
        if route.kind == SLIDE:
            slopes[j, k] -= 1.0
            continue
        _, (x, y, along) = length_gradient(model.chain, route, pulls.q)
        slopes[j, k] -= x
        slopes[j, k + 1] -= y
        if route.varies:
            # The variable is the share of the stretch; the row of a section precedes those of its arcs.
            slopes[j, k + 2] -= along * model.chain[route.first_arc - 1].stretch


@kernel
def approach(pulls: Pulls, model: Model, v: Array) -> bool:
    """Move v by alternating projections to variables nearby that keep all limits; return whether they do.

    Source: derived.
    """
    units, slopes, reference = pulls.units, pulls.slopes, pulls.vectors[REFERENCE]
    n = v.shape[0]
    for _ in range(_ROUNDS):
        inside_limits(model, v, v)
        if keeps_pulls(pulls, model, v):
            return True
        write_slopes(pulls, model)
        copy(v, reference)
        for j in range(pulls.p.shape[0]):
            pull = pulls.p[j]
            square = 0.0
            for k in range(n):
                pull += slopes[j, k] * (v[k] - reference[k])
                square += (slopes[j, k] * units[k]) ** 2
            over = excess(pulls, j, pull)
            if over != 0.0 and square > 0.0:
                for k in range(n):
                    v[k] -= over / square * slopes[j, k] * units[k] * units[k]
    inside_limits(model, v, v)
    return keeps_pulls(pulls, model, v)


@kernel
def retreat(pulls: Pulls, model: Model, centre: Array, v: Array) -> float:
    """Move v towards `centre`, which keeps all limits, until it keeps them too.

    Return the share of the distance from `centre` that is left. Source: derived.
    """
    # Not the row GOAL, which callers of this kernel use.
    given = pulls.vectors[REFERENCE]
    copy(v, given)
    kept, lost = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = 0.5 * (kept + lost)
        for k in range(v.shape[0]):
            v[k] = centre[k] + share * (given[k] - centre[k])
        if keeps_pulls(pulls, model, v):
            kept = share
        else:
            lost = share
    for k in range(v.shape[0]):
        v[k] = centre[k] + kept * (given[k] - centre[k])
    return kept


@kernel
def stay_within(pulls: Pulls | None, model: Model, centre: Array, v: Array) -> None:
    """Move v towards `centre`, which keeps all limits, if v does not keep those of the pulls. Source: derived."""
    if pulls is None:
        return
    if not keeps_pulls(pulls, model, v):
        retreat(pulls, model, centre, v)


@kernel
def to_rest(pulls: Pulls, model: Model, v: Array) -> float:
    """Move v towards the rest pose until it keeps the limits of the pulls; return the share of the distance left.

    Elements without tendons stay. Source: derived.
    """
    centre = pulls.vectors[CENTRE]
    copy(v, centre)
    for i in range(pulls.routes.shape[0]):
        k = pulls.variable_of[pulls.routes[i].coordinate]
        width = 1 if pulls.routes[i].kind == SLIDE else 3 if pulls.routes[i].varies else 2
        for j in range(k, k + width):
            centre[j] = pulls.rest[j]
    return retreat(pulls, model, centre, v)


@kernel
def keep_start(pulls: Pulls | None, model: Model, v: Array) -> None:
    """Empty the active set, and move the start of a descent to keep the limits of the pulls. Source: derived."""
    if pulls is None:
        return
    pulls.columns[LAST_ACTIVE, 0] = 0.0
    if not keeps_pulls(pulls, model, v) and not approach(pulls, model, v):
        to_rest(pulls, model, v)
