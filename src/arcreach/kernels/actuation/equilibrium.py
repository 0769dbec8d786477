"""The configuration that pulls produce: sections as springs, tendons as springs that may only pull or only push.

Symbols: v, the unknowns, two bend components and, where it varies, the length of every section; k, the stiffnesses of
the sections; h, the elongation of a tendon beyond its free length, 0 where it is slack. The energy
(k |v - v0|^2 + c h^2) / 2, summed over sections and tendons, has one minimum where pulls are linear in v. Newton's
method finds it in a few steps, because the set of slack tendons soon stays the same.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.actuation.pulls import SLIDE, pulls, route_length
from arcreach.kernels.math.linalg import solve_positive
from arcreach.kernels.math.trigonometry import sincos

# What a tendon transmits.
PULL, PUSH, BOTH = range(3)
# Columns of the tables: a tendon's stiffness, free elongation at zero pull, and what it transmits; a section's first
# unknown, first coordinate, whether its length varies, bending and axial stiffness, and length at rest.
STIFFNESS, FREE, TRANSMITS = range(3)
UNKNOWN, COORDINATE, VARIES, BENDING, AXIAL, REST = range(6)

# Below this bend the direction carries no information, and the gradient is that of the straight section.
_STRAIGHT = 1e-9
_MOST_STEPS = 60
_MOST_HALVINGS = 40
# A step that promises less than this share of the energy is rounding.
_NEGLIGIBLE = 1e-30
# A step of less than this, in radians and in metres, is the last one. Newton's method has by then settled which tendons
# are slack, and comparing energies would compare rounding.
_LAST_STEP = 1e-11


class Springs(NamedTuple):
    """A robot's sections and tendons as springs."""

    chain: Any
    routes: Any
    tendons: Any  # (tendons, 3), columns as above
    sections: Any  # (sections, 6)
    rest: Any  # (unknowns,)
    unknown_of: Any  # by a section's first coordinate
    linear: Any  # whether pulls are linear in the unknowns: all tendons parallel to the backbone


class Work(NamedTuple):
    """Scratch arrays of one equilibrium."""

    v: Any
    tried: Any
    step: Any
    pull: Any
    rest_pull: Any
    gradient: Any
    matrix: Any


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
def length_gradient(chain, route, q):
    """Return the derivatives of a tendon's length in a section by its two bend components and its length.

    Source: derived.
    """
    k = route.coordinate
    theta, phi = q[k], q[k + 1]
    if theta > _STRAIGHT:
        _, by_theta, by_phi, by_S = route_length(chain, route, q)
        s, c = sincos(phi)
        return by_theta * c - by_phi / theta * s, by_theta * s + by_phi / theta * c, by_S
    q[k], q[k + 1] = 0.0, 0.0
    _, x, _, by_S = route_length(chain, route, q)
    q[k + 1] = 0.5 * math.pi
    _, y, _, _ = route_length(chain, route, q)
    q[k], q[k + 1] = theta, phi
    return x, y, by_S


@kernel
def elongation(tendon, pulled, pull):
    """Return how far a tendon is stretched beyond its free length, 0 if it is slack. Source: derived."""
    h = pulled + tendon[FREE] - pull
    if (tendon[TRANSMITS] == PULL and h < 0.0) or (tendon[TRANSMITS] == PUSH and h > 0.0):
        return 0.0
    return h


@kernel
def energy(springs, pulled, v, pull):
    """Return the energy of sections and tendons; `pull` holds the pulls at v. Source: derived."""
    total = 0.0
    for m in range(springs.sections.shape[0]):
        section = springs.sections[m]
        i = int(section[UNKNOWN])
        x, y = v[i] - springs.rest[i], v[i + 1] - springs.rest[i + 1]
        total += 0.5 * section[BENDING] * (x * x + y * y)
        if section[VARIES] != 0.0:
            z = v[i + 2] - springs.rest[i + 2]
            total += 0.5 * section[AXIAL] * z * z
    for j in range(springs.tendons.shape[0]):
        h = elongation(springs.tendons[j], pulled[j], pull[j])
        total += 0.5 * springs.tendons[j, STIFFNESS] * h * h
    return total


@kernel
def pull_gradient(springs, q, unknown_of, out):
    """Write the derivatives of the pulls (tendons, unknowns) by the unknowns. Source: derived."""
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[j, i] = 0.0
    for r in range(springs.routes.shape[0]):
        route = springs.routes[r]
        if route.kind == SLIDE:
            continue
        x, y, along = length_gradient(springs.chain, route, q)
        i = unknown_of[route.coordinate]
        out[route.tendon, i] -= x
        out[route.tendon, i + 1] -= y
        if route.varies:
            out[route.tendon, i + 2] -= along


@kernel
def pulls_at(springs, v, q, work):
    """Write the pulls at unknowns v to `work.pull`; q is changed unless pulls are linear. Source: derived."""
    if not springs.linear:
        write_coordinates(springs.sections, v, q)
        pulls(springs.chain, springs.routes, q, work.pull)
        return
    for j in range(work.pull.shape[0]):
        pull = work.rest_pull[j]
        for i in range(v.shape[0]):
            pull += work.gradient[j, i] * (v[i] - springs.rest[i])
        work.pull[j] = pull


@kernel
def newton_system(springs, pulled, v, work):
    """Write the gradient of the energy and the lower triangle of its Gauss-Newton matrix. Source: derived."""
    n = v.shape[0]
    for i in range(n):
        work.step[i] = 0.0
        for k in range(i + 1):
            work.matrix[i, k] = 0.0
    for m in range(springs.sections.shape[0]):
        section = springs.sections[m]
        i = int(section[UNKNOWN])
        for k in range(i, i + (3 if section[VARIES] != 0.0 else 2)):
            stiffness = section[AXIAL] if k == i + 2 else section[BENDING]
            work.step[k] += stiffness * (v[k] - springs.rest[k])
            work.matrix[k, k] += stiffness
    for j in range(springs.tendons.shape[0]):
        h = elongation(springs.tendons[j], pulled[j], work.pull[j])
        if h == 0.0:
            continue
        stiffness = springs.tendons[j, STIFFNESS]
        for i in range(n):
            g = work.gradient[j, i]
            work.step[i] -= stiffness * h * g
            for k in range(i + 1):
                work.matrix[i, k] += stiffness * g * work.gradient[j, k]


@kernel
def equilibrium(springs, pulled, q, work):
    """Find the sections' coordinates in q for the pulls `pulled`; the other coordinates of q are given.

    Where pulls are linear `work.gradient` is given too. Source: derived.
    """
    v = work.v
    n = v.shape[0]
    for i in range(n):
        v[i] = springs.rest[i]
    write_coordinates(springs.sections, v, q)
    pulls(springs.chain, springs.routes, q, work.pull)
    for j in range(work.pull.shape[0]):
        work.rest_pull[j] = work.pull[j]
    now = energy(springs, pulled, v, work.pull)
    for _ in range(_MOST_STEPS):
        if not springs.linear:
            pull_gradient(springs, q, springs.unknown_of, work.gradient)
        newton_system(springs, pulled, v, work)
        for i in range(n):
            work.tried[i] = work.step[i]
        solve_positive(work.matrix, n, work.step)
        promised, largest = 0.0, 0.0
        for i in range(n):
            promised += work.step[i] * work.tried[i]
            largest = max(largest, abs(work.step[i]))
        if not promised > _NEGLIGIBLE * now:
            break
        if largest < _LAST_STEP:
            for i in range(n):
                v[i] -= work.step[i]
            break
        share = 1.0
        for _ in range(_MOST_HALVINGS):
            for i in range(n):
                work.tried[i] = v[i] - share * work.step[i]
            pulls_at(springs, work.tried, q, work)
            after = energy(springs, pulled, work.tried, work.pull)
            if after <= now - 1e-4 * share * promised:
                break
            share *= 0.5
        if not after < now:
            # Rounding: the last configuration is the best one.
            break
        for i in range(n):
            v[i] = work.tried[i]
        now = after
    write_coordinates(springs.sections, v, q)
    pulls_at(springs, v, q, work)


@kernel(batch=True)
def equilibria(start, stop, springs, P, Q, out):
    """Find configurations for rows `start` to `stop` of the pulls P, in place in Q; `out` gets forces and pulls.

    Source: derived.
    """
    tendons, n = springs.tendons.shape[0], springs.rest.shape[0]
    work = Work(
        np.empty(n), np.empty(n), np.empty(n), np.empty(tendons), np.empty(tendons), np.empty((tendons, n)),
        np.empty((n, n)),
    )  # fmt: skip
    if springs.linear and start < stop:
        pull_gradient(springs, Q[start], springs.unknown_of, work.gradient)
    for row in range(start, stop):
        equilibrium(springs, P[row], Q[row], work)
        for j in range(tendons):
            h = elongation(springs.tendons[j], P[row, j], work.pull[j])
            out[row, 0, j] = springs.tendons[j, STIFFNESS] * h
            out[row, 1, j] = work.pull[j]
