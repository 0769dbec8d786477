"""The configuration that pulls produce: sections as springs, tendons as springs that may only pull or only push.

Symbols: v, the unknowns: of every section the two bend components and, if it varies, the length; v0, their values at
rest; k, the stiffnesses of the sections; c, the stiffness of a tendon; h, its elongation beyond its free length, 0 if
it is slack. The energy is the sum of k (v - v0)^2 / 2 over the unknowns and of c h^2 / 2 over the tendons. It has one
minimum if pulls are linear in v. Newton's method finds it in a few steps, because the set of slack tendons soon stays
the same and pulls are nearly linear.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.actuation.pulls import SLIDE, disc_chord, even_length, is_even
from arcreach.kernels.actuation.tables import sum_series, table_length, tabulate, write_functions
from arcreach.kernels.math.linalg import copy, factor_downhill, solve_downhill

# Forces that a tendon transmits.
PULL, PUSH, BOTH = range(3)
# Columns of the table of tendons.
STIFFNESS = 0
FREE = 1  # elongation at rest with zero pull; negative for a tendon with slack
TRANSMITS = 2  # PULL, PUSH or BOTH
PASSES = 3  # number of unknowns of the sections that the tendon passes
# Columns of the table of sections.
UNKNOWN = 0  # index of the first unknown
COORDINATE = 1  # index of the first coordinate
VARIES = 2  # whether the length is a coordinate
BENDING = 3  # stiffness per radian of bend
AXIAL = 4  # stiffness per metre of length
REST = 5  # length at rest

_MOST_STEPS = 60
# The line search gives up below this share of a step: the decrease that is left is rounding.
_LEAST_SHARE = 1e-6
# A step is accepted if the energy decreases by this share of the first-order decrease (Armijo's condition).
_ARMIJO = 1e-4
# Energies that differ by less than this share, and steps shorter than this in radians and metres, are rounding.
_ROUNDING = 1e-15
# A step is the last one if the next would be shorter than this, in radians and in metres.
_LEFT = 1e-13
# After a last step this short, in radians and in metres, the pulls are not evaluated again: third-order terms are below
# 1e-17.
_TINY = 1e-5
# After the first step shorter than this, in radians and in metres, the matrix includes the second derivatives of the
# pulls; farther from the minimum they make steps worse.
_NEAR = 0.3
# Assumed length of the step before the first, so short that the first step never counts as the last one.
_NO_STEP = 1e-99


class Springs(NamedTuple):
    """A robot's sections and tendons as springs."""

    chain: Any
    routes: Any
    tendons: Any  # (tendons, 4), columns as above
    sections: Any  # (sections, 6), columns as above
    rest: Any  # (unknowns,)
    unknown_of: Any  # by a section's first coordinate
    to_rest: Any  # whether the springs of sections pull towards `rest`; otherwise towards v before the current step


class Work(NamedTuple):
    """Scratch arrays of one equilibrium."""

    v: Any
    rest: Any  # v0
    tried: Any
    gradient: Any  # of the energy
    step: Any  # to subtract from v
    pull: Any
    force: Any  # of the tendons
    stiffness: Any  # of the tendons, 0 where they are slack
    slopes: Any  # derivatives of the pulls by the unknowns; entries that no route writes are zero
    curvatures: Any  # (routes, 6), second derivatives of lengths
    matrix: Any
    table: Any
    slid: Any  # contribution of prismatic joints to the pulls
    rest_pull: Any  # pulls at rest, without `slid`
    rest_slopes: Any


@kernel
def write_coordinates(sections, v, q):
    """Write the coordinates of the sections with unknowns v into q. Source: derived."""
    for m in range(sections.shape[0]):
        i, k = int(sections[m, UNKNOWN]), int(sections[m, COORDINATE])
        q[k] = math.hypot(v[i], v[i + 1])
        if q[k] > 0.0:
            q[k + 1] = math.atan2(v[i + 1], v[i])
        if sections[m, VARIES] != 0.0:
            q[k + 2] = v[i + 2]


@kernel
def write_slides(springs, q, work):
    """Write the contribution of prismatic joints to the pulls. Source: derived."""
    for j in range(work.slid.shape[0]):
        work.slid[j] = 0.0
    for r in range(springs.routes.shape[0]):
        route = springs.routes[r]
        if route.kind == SLIDE:
            work.slid[route.tendon] += route.rest - q[route.coordinate]


@kernel
def write_pulls(springs, v, curved, work):
    """Write the pulls at unknowns v and their derivatives, the second ones if `curved`; `work.slid` is given.

    Source: derived.
    """
    copy(work.slid, work.pull)
    chord = 1.0, 0.0, 0.0
    chord_of = -1, -1
    table = work.table
    for g in range(table.leaders.shape[0]):
        route = springs.routes[table.leaders[g]]
        i = springs.unknown_of[route.coordinate]
        t = v[i] * v[i] + v[i + 1] * v[i + 1]
        if t <= table.largest[g]:
            sum_series(table.series[g], t, table.sums[g, 0], table.sums[g, 1], table.sums[g, 2])
        else:
            write_functions(springs.chain, route, t, table.functions[g])
    for r in range(springs.routes.shape[0]):
        route = springs.routes[r]
        if route.kind == SLIDE:
            continue
        j = route.tendon
        i = springs.unknown_of[route.coordinate]
        x, y, S = v[i], v[i + 1], v[i + 2] if route.varies else route.length
        if is_even(route):
            if chord_of != (i, route.discs):
                chord = disc_chord(route.discs, x, y)
                chord_of = i, route.discs
            length, slope, curvature = even_length(route, chord, x, y, S)
        else:
            length, slope, curvature = table_length(springs.chain, route, r, table, (x, y, S), curved)
        work.pull[j] += route.rest - length
        work.slopes[j, i], work.slopes[j, i + 1] = -slope[0], -slope[1]
        second = work.curvatures[r]
        second[0], second[1], second[2] = curvature[0], curvature[1], curvature[2]
        if route.varies:
            work.slopes[j, i + 2] = -slope[2]
            second[3], second[4], second[5] = curvature[3], curvature[4], curvature[5]


@kernel
def is_slack(tendon, h):
    """Return whether a tendon transmits nothing when stretched beyond its free length by h. Source: derived."""
    return (tendon[TRANSMITS] == PULL and h < 0.0) or (tendon[TRANSMITS] == PUSH and h > 0.0)


@kernel(inline=True)
def energy_and_forces(springs, pulled, v, work):
    """Write the forces at v, given the pulls; return the energy, and whether the set of slack tendons changed.

    Source: derived.
    """
    total, changed = 0.0, False
    for m in range(springs.sections.shape[0]):
        section = springs.sections[m]
        i = int(section[UNKNOWN])
        x, y = v[i] - work.rest[i], v[i + 1] - work.rest[i + 1]
        total += 0.5 * section[BENDING] * (x * x + y * y)
        if section[VARIES] != 0.0:
            z = v[i + 2] - work.rest[i + 2]
            total += 0.5 * section[AXIAL] * z * z
    for j in range(springs.tendons.shape[0]):
        tendon = springs.tendons[j]
        h = pulled[j] + tendon[FREE] - work.pull[j]
        stiffness = 0.0 if is_slack(tendon, h) else tendon[STIFFNESS]
        changed = changed or stiffness != work.stiffness[j]
        work.stiffness[j] = stiffness
        work.force[j] = stiffness * h
        total += 0.5 * work.force[j] * h
    return total, changed


@kernel(fast=True, inline=True)
def write_derivatives(springs, v, work):
    """Write the gradient of the energy, and the lower triangle of its second derivatives.

    `add_curvature` adds the terms of the second derivatives of the pulls. Source: derived.
    """
    n = v.shape[0]
    for i in range(n):
        work.gradient[i] = 0.0
        for k in range(i + 1):
            work.matrix[i, k] = 0.0
    for m in range(springs.sections.shape[0]):
        section = springs.sections[m]
        i = int(section[UNKNOWN])
        for k in range(i, i + (3 if section[VARIES] != 0.0 else 2)):
            stiffness = section[AXIAL] if k == i + 2 else section[BENDING]
            work.gradient[k] += stiffness * (v[k] - work.rest[k])
            work.matrix[k, k] += stiffness
    for j in range(springs.tendons.shape[0]):
        force, stiffness = work.force[j], work.stiffness[j]
        if stiffness == 0.0:
            continue
        for i in range(int(springs.tendons[j, PASSES])):
            g = work.slopes[j, i]
            work.gradient[i] -= force * g
            for k in range(i + 1):
                work.matrix[i, k] += stiffness * g * work.slopes[j, k]


@kernel(inline=True)
def add_curvature(springs, work):
    """Add the terms of the second derivatives of the pulls to the matrix. Source: derived."""
    for r in range(springs.routes.shape[0]):
        route = springs.routes[r]
        force = work.force[route.tendon]
        if route.kind == SLIDE or force == 0.0:
            continue
        i = springs.unknown_of[route.coordinate]
        work.matrix[i, i] += force * work.curvatures[r, 0]
        work.matrix[i + 1, i] += force * work.curvatures[r, 1]
        work.matrix[i + 1, i + 1] += force * work.curvatures[r, 2]
        if route.varies:
            for k in range(3):
                work.matrix[i + 2, i + k] += force * work.curvatures[r, 3 + k]


@kernel(inline=True)
def newton_step(springs, v, near, work):
    """Write the gradient and the Newton step; return its largest component and the first-order decrease of the energy.

    If `near`, the matrix includes the curvature of the pulls. Source: derived.
    """
    n = v.shape[0]
    write_derivatives(springs, v, work)
    if near:
        add_curvature(springs, work)
    factor_downhill(work.matrix, n)
    copy(work.gradient, work.step)
    solve_downhill(work.matrix, n, work.step)
    largest, decrease = 0.0, 0.0
    for i in range(n):
        largest = max(largest, abs(work.step[i]))
        decrease += work.step[i] * work.gradient[i]
    return largest, decrease


@kernel(inline=True)
def predict_pulls(springs, work):
    """Update the pulls by the step up to second order, but not their derivatives. Source: derived."""
    step = work.step
    for j in range(springs.tendons.shape[0]):
        for i in range(int(springs.tendons[j, PASSES])):
            work.pull[j] -= work.slopes[j, i] * step[i]
    for r in range(springs.routes.shape[0]):
        route, c = springs.routes[r], work.curvatures[r]
        if route.kind == SLIDE:
            continue
        i = springs.unknown_of[route.coordinate]
        x, y = step[i], step[i + 1]
        form = (c[0] * x + 2.0 * c[1] * y) * x + c[2] * y * y
        if route.varies:
            form += (2.0 * (c[3] * x + c[4] * y) + c[5] * step[i + 2]) * step[i + 2]
        work.pull[route.tendon] -= 0.5 * form


@kernel(inline=True)
def equilibrium(springs, pulled, q, work):
    """Find the sections' coordinates in q for the pulls `pulled`; the other coordinates of q are given.

    Source: derived.
    """
    v = work.v
    copy(springs.rest, v)
    copy(springs.rest, work.rest)
    write_slides(springs, q, work)
    for j in range(work.pull.shape[0]):
        work.pull[j] = work.slid[j] + work.rest_pull[j]
        copy(work.rest_slopes[j], work.slopes[j])
    now, _ = energy_and_forces(springs, pulled, v, work)
    before, near, quadratic = _NO_STEP, False, False
    for _ in range(_MOST_STEPS):
        if not springs.to_rest:
            copy(v, work.rest)
        largest, decrease = newton_step(springs, v, near, work)
        # A robot at rest stays exactly straight.
        if largest <= _ROUNDING:
            break
        # Estimate of the next step: steps shrink by the same ratio again or, if this matrix and the last included the
        # curvature, by its square.
        ratio = largest / min(before, _NEAR)
        last = largest * ratio * (ratio if quadratic else 1.0) <= _LEFT
        if last and near and largest <= _TINY:
            for i in range(v.shape[0]):
                v[i] -= work.step[i]
            predict_pulls(springs, work)
            now, changed = energy_and_forces(springs, pulled, v, work)
            if not changed:
                break
            write_pulls(springs, v, True, work)
            continue
        share = 2.0
        while True:
            share *= 0.5
            for i in range(v.shape[0]):
                work.tried[i] = v[i] - share * work.step[i]
            write_pulls(springs, work.tried, near or share * largest < _NEAR, work)
            after, changed = energy_and_forces(springs, pulled, work.tried, work)
            if last or share < _LEAST_SHARE or after <= now * (1.0 + _ROUNDING) - _ARMIJO * share * decrease:
                break
        copy(work.tried, v)
        if (last and not changed) or share < _LEAST_SHARE:
            break
        now, before = after, share * largest
        quadratic, near = near, near or before < _NEAR
    write_coordinates(springs.sections, v, q)


@kernel(batch=True)
def equilibria(start, stop, springs, P, Q, out):
    """Find configurations for rows `start` to `stop` of the pulls P, in place in Q; write forces and pulls to `out`.

    Source: derived.
    """
    tendons, n = springs.tendons.shape[0], springs.rest.shape[0]
    work = Work(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(tendons),
        np.empty(tendons),
        np.empty(tendons),
        np.zeros((tendons, n)),
        np.empty((springs.routes.shape[0], 6)),
        np.empty((n, n)),
        tabulate(springs.chain, springs.routes, True),
        np.zeros(tendons),
        np.empty(tendons),
        np.empty((tendons, n)),
    )
    write_pulls(springs, springs.rest, False, work)
    copy(work.pull, work.rest_pull)
    for j in range(tendons):
        copy(work.slopes[j], work.rest_slopes[j])
    for row in range(start, stop):
        equilibrium(springs, P[row], Q[row], work)
        copy(work.force, out[row, 0])
        copy(work.pull, out[row, 1])
