"""Pulls of tendons for a configuration.

Symbols: theta, phi, S, the bend, direction and length of a section; x, y = theta (cos phi, sin phi), by which lengths
of tendons have derivatives at theta = 0 too; r, a, the radius and the angle at which a tendon runs; tau, the turn of a
helical tendon about the backbone in one section, which stretching does not change.
A route is one tendon through one section or slide. The pull is the rest length minus the length inside the robot, so
it is positive where the tendon is pulled out of the base.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.math.trigonometry import sinc_derivatives, sinc_slope, sincos

# Kinds of routes.
PARALLEL, HELICAL, DISCS, SLIDE = range(4)
ROUTE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("kind", np.int64),
                ("tendon", np.int64),
                ("coordinate", np.int64),  # the first one of the section or slide
                ("varies", np.int64),  # whether the length of the section is a coordinate
                ("first_arc", np.int64),  # row of the section's first arc in the packed chain
                ("arcs", np.int64),
                ("discs", np.int64),  # straight pieces of the tendon in the section
                ("length", float),  # of a fixed section
                ("radius", float),
                ("angle", float),
                ("turn", float),  # about the backbone, from end to end of the section
                ("hole_x", float),  # radius times cosine and sine of the angle
                ("hole_y", float),
                ("rest", float),  # length of the tendon inside the section at rest
            ]
        ),
    )
)

# Nodes and weights of Gauss-Legendre quadrature on [0, 1], and the largest turn of a helix in one panel: the error is
# below 1e-13 of the length while the tendon is not nearer to the centre of curvature than a tenth of the bend radius.
_GAUSS = np.polynomial.legendre.leggauss(12)
NODES, WEIGHTS = tuple(0.5 + 0.5 * _GAUSS[0]), tuple(0.5 * _GAUSS[1])
PANEL = 0.25 * math.pi
# Below this bend the direction carries no information, and derivatives are those of the straight section.
_STRAIGHT = 1e-9


@kernel
def is_even(route):
    """Return whether a tendon is parallel to the backbone, or has equal pieces between discs. Source: derived."""
    return route.kind == PARALLEL or (route.kind == DISCS and route.arcs == 1 and route.turn == 0.0)


@kernel
def disc_chord(discs, x, y):
    """Return how much shorter n chords are than their arc, sinc(theta / 2n), and its derivatives by theta^2 / 2.

    Without discs it is 1. Source: derived.
    """
    if discs == 0:
        return 1.0, 0.0, 0.0
    square = 0.25 / (discs * discs)
    value, first, second = sinc_derivatives(square * (x * x + y * y))
    return value, square * first, square * square * second


@kernel
def even_length(route, chord, x, y, S):
    """Return the length of an even tendon and its derivatives; `chord` is its `disc_chord`.

    Its n pieces are alike and have sinc(theta / 2n) (S - r theta cos(phi - a)) together. A parallel one has no first
    factor, whatever the arcs, since each takes its share of the bend. Source: derived.
    """
    value, first, second = chord
    hx, hy = route.hole_x, route.hole_y
    bent = S - hx * x - hy * y
    dx, dy = first * x, first * y
    xx = (first + second * x * x) * bent - 2.0 * dx * hx
    xy = second * x * y * bent - dx * hy - dy * hx
    yy = (first + second * y * y) * bent - 2.0 * dy * hy
    return value * bent, (dx * bent - value * hx, dy * bent - value * hy, value), (xx, xy, yy, dx, dy, 0.0)


@kernel
def helical_length(chain, route, x, y, S):
    """Return the length of a helical tendon, and its derivatives.

    A share du of the backbone holds sqrt((S - theta r cos(phi - a - tau u))^2 + (r tau)^2) du of the tendon, where the
    section is one arc. Source: derived.
    """
    r, tau = route.radius, route.turn
    total, by_x, by_y, by_S = 0.0, 0.0, 0.0, 0.0
    xx, xy, yy, xS, yS, SS = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    before = 0.0
    for k in range(route.first_arc, route.first_arc + route.arcs):
        share, bend = chain[k].length_share, chain[k].bend_share
        panels = int(abs(tau) * share / PANEL) + 1
        width = share / panels
        around = r * tau * share
        for p in range(panels):
            for node in range(len(NODES)):
                u = before + (p + NODES[node]) * width
                w = WEIGHTS[node] / panels
                s, c = sincos(route.angle + tau * u)
                dx, dy = -r * bend * c, -r * bend * s
                along = share * S + dx * x + dy * y
                length = math.sqrt(along * along + around * around)
                total += w * length
                if length > 0.0:
                    first = w * along / length
                    by_x += first * dx
                    by_y += first * dy
                    by_S += first * share
                    second = w * around * around / (length * length * length)
                    xx += second * dx * dx
                    xy += second * dx * dy
                    yy += second * dy * dy
                    xS += second * dx * share
                    yS += second * dy * share
                    SS += second * share * share
        before += share
    return total, (by_x, by_y, by_S), (xx, xy, yy, xS, yS, SS)


@kernel
def gap(chain, route, theta, near, far):
    """Return the chord (x, z) of the backbone between two shares of a section, and its derivative by theta.

    Both are per unit of the section's length, in the frame at the near end with x towards the inside of the bend; the
    last number is the share of the bend in between. Source: derived.
    """
    x, z, dx, dz = 0.0, 0.0, 0.0, 0.0
    bent, start = 0.0, 0.0
    for k in range(route.first_arc, route.first_arc + route.arcs):
        share = chain[k].length_share
        low, high = max(near, start), min(far, start + share)
        start += share
        if high <= low:
            continue
        part = high - low
        bend = chain[k].bend_share * part / share
        half = 0.5 * bend
        middle = bent + half
        s, c = sincos(middle * theta)
        u = half * theta
        sin_u, _ = sincos(u)
        length = sin_u / u if u != 0.0 else 1.0
        growth = half * sinc_slope(u)
        x += part * length * s
        z += part * length * c
        dx += part * (growth * s + length * middle * c)
        dz += part * (growth * c - length * middle * s)
        bent += bend
    return x, z, dx, dz, bent


@kernel
def disc_length(chain, route, theta, phi, S):
    """Return the length of a tendon that is straight between evenly spaced discs, its derivatives by theta, phi and S.

    Source: derived.
    """
    r, tau, n = route.radius, route.turn, route.discs
    total, by_theta, by_phi, by_S = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        near, far = i / n, (i + 1) / n
        x, z, dx, dz, bent = gap(chain, route, theta, near, far)
        sin_near, cos_near = sincos(route.angle + tau * near - phi)
        sin_far, cos_far = sincos(route.angle + tau * far - phi)
        sin_bend, cos_bend = sincos(bent * theta)
        # Between the holes, in the frame of the near disc: towards the inside, across the bending plane, along.
        inside = S * x + r * (cos_far * cos_bend - cos_near)
        across = r * (sin_far - sin_near)
        along = S * z - r * cos_far * sin_bend
        length = math.sqrt(inside * inside + across * across + along * along)
        total += length
        if length == 0.0:
            continue
        ix, iy, iz = inside / length, across / length, along / length
        by_theta += ix * (S * dx - r * cos_far * sin_bend * bent) + iz * (S * dz - r * cos_far * cos_bend * bent)
        by_phi += ix * r * (sin_far * cos_bend - sin_near) + iy * r * (cos_near - cos_far) - iz * r * sin_far * sin_bend
        by_S += ix * x + iz * z
    return total, by_theta, by_phi, by_S


@kernel
def uneven_length(chain, route, x, y, S):
    """Return the length of a tendon between discs that turns or passes several arcs, and its first derivatives.

    Its second derivatives are not computed: zeros. Source: derived.
    """
    none = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    theta = math.hypot(x, y)
    if theta > _STRAIGHT:
        length, by_theta, by_phi, by_S = disc_length(chain, route, theta, math.atan2(y, x), S)
        c, s = x / theta, y / theta
        return length, (by_theta * c - by_phi / theta * s, by_theta * s + by_phi / theta * c, by_S), none
    length, by_x, _, by_S = disc_length(chain, route, 0.0, 0.0, S)
    _, by_y, _, _ = disc_length(chain, route, 0.0, 0.5 * math.pi, S)
    return length, (by_x, by_y, by_S), none


@kernel
def section_length(chain, route, x, y, S):
    """Return the length of a tendon in a section, three first and six second derivatives by x, y, S.

    Second ones in the order xx, xy, yy, xS, yS, SS. Source: derived.
    """
    if is_even(route):
        return even_length(route, disc_chord(route.discs, x, y), x, y, S)
    if route.kind == HELICAL:
        return helical_length(chain, route, x, y, S)
    return uneven_length(chain, route, x, y, S)


@kernel
def length_gradient(chain, route, q):
    """Return the length of a tendon in a section, and its derivatives by x, y and S. Source: derived."""
    k = route.coordinate
    s, c = sincos(q[k + 1])
    length, slope, _ = section_length(chain, route, q[k] * c, q[k] * s, q[k + 2] if route.varies else route.length)
    return length, slope


@kernel
def route_length(chain, route, q):
    """Return the length of a tendon in one section or slide, and its derivatives by up to three coordinates.

    Source: derived.
    """
    k = route.coordinate
    if route.kind == SLIDE:
        return q[k], 1.0, 0.0, 0.0
    length, (x, y, by_S) = length_gradient(chain, route, q)
    s, c = sincos(q[k + 1])
    return length, x * c + y * s, q[k] * (y * c - x * s), by_S


@kernel
def pulls(chain, routes, q, out):
    """Write the pull of every tendon at configuration q. Source: derived."""
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(routes.shape[0]):
        length, _, _, _ = route_length(chain, routes[i], q)
        out[routes[i].tendon] += routes[i].rest - length


@kernel
def pull_jacobian(chain, routes, q, out):
    """Write the derivatives of the pulls (tendons, dof) by the coordinates. Source: derived."""
    for j in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[j, k] = 0.0
    for i in range(routes.shape[0]):
        _, first, second, third = route_length(chain, routes[i], q)
        j, k = routes[i].tendon, routes[i].coordinate
        out[j, k] -= first
        if routes[i].kind != SLIDE:
            out[j, k + 1] -= second
            if routes[i].varies:
                out[j, k + 2] -= third


@kernel(batch=True)
def pulls_batch(start, stop, chain, routes, Q, out):
    """Write the pulls of rows `start` to `stop`. Source: derived."""
    for i in range(start, stop):
        pulls(chain, routes, Q[i], out[i])


@kernel(batch=True)
def pull_jacobians(start, stop, chain, routes, Q, out):
    """Write the derivatives of the pulls of rows `start` to `stop`. Source: derived."""
    for i in range(start, stop):
        pull_jacobian(chain, routes, Q[i], out[i])
