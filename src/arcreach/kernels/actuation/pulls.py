"""Pulls of tendons for a configuration.

Symbols: theta, phi, S, the bend, direction and length of a section; r, a, the radius and the angle at which a tendon
runs; tau, the turn of a helical tendon about the backbone in one section, which stretching does not change.
A route is one tendon through one section or slide. The pull is the rest length minus the length inside the robot, so
it is positive where the tendon is pulled out of the base.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.math.trigonometry import sinc_slope, sincos

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


@kernel
def parallel_length(route, theta, phi, S):
    """Return the length of a tendon parallel to the backbone, and its derivatives by theta, phi and S.

    Sub-arcs do not matter: each takes its share of the bend. Source: derived.
    """
    s, c = sincos(phi - route.angle)
    r = route.radius
    return S - r * theta * c, -r * c, r * theta * s, 1.0


@kernel
def helical_length(chain, route, theta, phi, S):
    """Return the length of a helical tendon, and its derivatives by theta, phi and S.

    A share du of the backbone holds sqrt((S - theta r cos(phi - a - tau u))^2 + (r tau)^2) du of the tendon, where the
    section is one arc. Source: derived.
    """
    r, tau = route.radius, route.turn
    total, by_theta, by_phi, by_S = 0.0, 0.0, 0.0, 0.0
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
                s, c = sincos(phi - route.angle - tau * u)
                x = share * S - r * bend * theta * c
                length = math.sqrt(x * x + around * around)
                total += w * length
                if length > 0.0:
                    x /= length
                    by_theta -= w * x * r * bend * c
                    by_phi += w * x * r * bend * theta * s
                    by_S += w * x * share
        before += share
    return total, by_theta, by_phi, by_S


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
def even_disc_length(route, theta, phi, S):
    """Return the length of a tendon between discs that does not turn about one arc, and its derivatives.

    Its n pieces are alike and have sinc(theta / 2n) (S - r theta cos(phi - a)) together. Source: derived.
    """
    half = 0.5 / route.discs
    sin_u, _ = sincos(half * theta)
    chord = sin_u / (half * theta) if theta != 0.0 else 1.0
    s, c = sincos(phi - route.angle)
    r = route.radius
    bent = S - r * theta * c
    return chord * bent, half * sinc_slope(half * theta) * bent - chord * r * c, chord * r * theta * s, chord


@kernel
def disc_length(chain, route, theta, phi, S):
    """Return the length of a tendon that is straight between evenly spaced discs, and its derivatives.

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
def route_length(chain, route, q):
    """Return the length of a tendon in one section or slide, and its derivatives by up to three coordinates.

    Source: derived.
    """
    k = route.coordinate
    if route.kind == SLIDE:
        return q[k], 1.0, 0.0, 0.0
    S = q[k + 2] if route.varies else route.length
    if route.kind == PARALLEL:
        return parallel_length(route, q[k], q[k + 1], S)
    if route.kind == HELICAL:
        return helical_length(chain, route, q[k], q[k + 1], S)
    if route.arcs == 1 and route.turn == 0.0:
        return even_disc_length(route, q[k], q[k + 1], S)
    return disc_length(chain, route, q[k], q[k + 1], S)


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
