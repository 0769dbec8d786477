"""Pulls of tendons for a configuration.

Symbols: theta, phi, S, the bend, direction and length of a section; x, y = theta (cos phi, sin phi), its bend vector;
r, a, the radius and the angle at which a tendon runs; tau, the turn of a helical tendon about the backbone in one
section, which stretching does not change. Lengths of tendons are smooth functions of x, y and S, also at theta = 0.

A route is one tendon through one section or slide. The pull is the length inside the robot at rest minus the current
one, so it is positive if the tendon is pulled out of the base.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.actuation.discs import disc_length, scaled_sinc
from arcreach.kernels.math.trigonometry import sincos

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

# Gauss-Legendre rules on [0, 1] with 4, 8, 12 and 16 nodes. For an integrand that is analytic inside the ellipse with
# foci at the ends of a panel and half axes cosh(e), sinh(e), in half panels, the error is below 1e-14 of its largest
# modulus there if e >= EXPONENT / (2 nodes). SPREADS are the half axes sinh(e) for the least such e.
SIZES = (4, 8, 12, 16)
_GAUSS = [np.polynomial.legendre.leggauss(size) for size in SIZES]
NODES = np.array([np.resize(0.5 + 0.5 * nodes, SIZES[-1]) for nodes, _ in _GAUSS])
WEIGHTS = np.array([np.resize(0.5 * weights, SIZES[-1]) for _, weights in _GAUSS])
EXPONENT = math.log(4e14)
SPREADS = tuple(math.sinh(EXPONENT / (2 * size)) for size in SIZES)
# Bounds to which the `ratio` of `choose_rule` is clipped. By the lower one, all small bends share a rule, which can be
# tabulated; by the upper one, the number of panels is bounded (at a ratio of 1 it would be infinite).
BENT = 0.25
_NEAREST = 0.9


@kernel
def is_even(route):
    """Return whether a tendon is parallel to the backbone or has equal pieces between discs. Source: derived."""
    return route.kind == PARALLEL or (route.kind == DISCS and route.arcs == 1 and route.turn == 0.0)


@kernel
def disc_chord(discs, x, y):
    """Return the ratio of n equal chords to their arc, sinc(theta / 2n), and its derivatives by theta^2 / 2.

    Without discs the ratio is 1. Source: derived.
    """
    if discs == 0:
        return 1.0, 0.0, 0.0
    return scaled_sinc(0.25 / (discs * discs), x * x + y * y)


@kernel
def even_length(route, chord, x, y, S):
    """Return the length of an even tendon and its derivatives; `chord` is its `disc_chord`.

    The n equal pieces between discs have the total length sinc(theta / 2n) (S - r theta cos(phi - a)). A tendon
    parallel to the backbone has the second factor only, which is the same for any number of arcs. Source: derived.
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
def choose_rule(turn, ratio):
    """Return the rule and the number of panels for an arc in which a helix turns by `turn`.

    `ratio` is r kappa / sqrt(1 + (r tau / S)^2), with the curvature kappa of the arc. The integrand of `helical_length`
    has branch points at complex angles w with |cos w| = 1 / ratio, so |Im w| >= arcosh(1 / ratio). The nearer they are
    to the real axis, the more nodes the quadrature needs. Source: derived.
    """
    clear = math.acosh(1.0 / min(max(ratio, 1e-30), _NEAREST))
    half = max(0.5 * abs(turn), 1e-30)
    for rule in range(len(SIZES)):
        if SPREADS[rule] * half <= clear:
            return rule, 1
    return len(SIZES) - 1, math.ceil(SPREADS[-1] * half / clear)


@kernel(inline=True)
def node_length(node, x, y, S):
    """Return sqrt((share S + dx x + dy y)^2 + square), for the node (share, dx, dy, square), and its derivatives.

    Source: derived.
    """
    share, dx, dy, square = node
    along = share * S + dx * x + dy * y
    length = math.sqrt(along * along + square)
    over = 1.0 / length if length > 0.0 else 0.0
    first = along * over
    second = square * over * over * over
    sx, sy = second * dx, second * dy
    return (
        length,
        (first * dx, first * dy, first * share),
        (sx * dx, sx * dy, sy * dy, sx * share, sy * share, second * share * share),
    )


@kernel
def helical_length(chain, route, x, y, S):
    """Return the length of a helical tendon, and its derivatives.

    In a section of one arc it is the integral of sqrt((S - theta r cos(phi - a - tau u))^2 + (r tau)^2) du from 0 to 1,
    where u is the share of the backbone. A sub-arc without length bends at a point. The tendon's length there, -r theta
    cos(phi - a), is signed as that of a parallel tendon, since its magnitude is not smooth at theta = 0.

    Source: derived.
    """
    r, tau = route.radius, route.turn
    total, by_x, by_y, by_S = 0.0, 0.0, 0.0, 0.0
    xx, xy, yy, xS, yS, SS = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    before = 0.0
    bent = r * math.hypot(x, y) / math.hypot(S, r * tau)
    for k in range(route.first_arc, route.first_arc + route.arcs):
        share, bend = chain[k].length_share, chain[k].bend_share
        if share == 0.0:
            s, c = sincos(route.angle + tau * before)
            dx, dy = -r * bend * c, -r * bend * s
            total, by_x, by_y = total + dx * x + dy * y, by_x + dx, by_y + dy
            continue
        rule, panels = choose_rule(tau * share, max(BENT, bent * bend / share))
        width = share / panels
        around = r * tau * share
        for p in range(panels):
            for node in range(SIZES[rule]):
                u = before + (p + NODES[rule, node]) * width
                w = WEIGHTS[rule, node] / panels
                s, c = sincos(route.angle + tau * u)
                dx, dy = -r * bend * c, -r * bend * s
                length, first, second = node_length((share, dx, dy, around * around), x, y, S)
                total += w * length
                by_x, by_y, by_S = by_x + w * first[0], by_y + w * first[1], by_S + w * first[2]
                xx, xy, yy = xx + w * second[0], xy + w * second[1], yy + w * second[2]
                xS, yS, SS = xS + w * second[3], yS + w * second[4], SS + w * second[5]
        before += share
    return total, (by_x, by_y, by_S), (xx, xy, yy, xS, yS, SS)


@kernel
def section_length(chain, route, x, y, S):
    """Return the length of a tendon in a section, and its first and second derivatives by x, y, S.

    Second derivatives are in the order xx, xy, yy, xS, yS, SS. Source: derived.
    """
    if is_even(route):
        return even_length(route, disc_chord(route.discs, x, y), x, y, S)
    if route.kind == HELICAL:
        return helical_length(chain, route, x, y, S)
    return disc_length(chain, route, x, y, S)


@kernel
def section_shape(route, q):
    """Return (x, y, S) of the section of a route, and sine and cosine of its direction. Source: derived."""
    k = route.coordinate
    s, c = sincos(q[k + 1])
    return (q[k] * c, q[k] * s, q[k + 2] if route.varies else route.length), s, c


@kernel
def length_gradient(chain, route, q):
    """Return the length of a tendon in a section, and its derivatives by x, y and S. Source: derived."""
    (x, y, S), _, _ = section_shape(route, q)
    length, slope, _ = section_length(chain, route, x, y, S)
    return length, slope


@kernel
def by_coordinates(slope, bend, s, c):
    """Return derivatives by bend, direction and length from those by x, y and S; s, c: sine and cosine of phi.

    Source: derived.
    """
    x, y, by_S = slope
    return x * c + y * s, bend * (y * c - x * s), by_S


@kernel
def route_length(chain, route, q):
    """Return the length of a tendon in one section or slide, and its derivatives by up to three coordinates.

    Source: derived.
    """
    k = route.coordinate
    if route.kind == SLIDE:
        return q[k], (1.0, 0.0, 0.0)
    (x, y, S), s, c = section_shape(route, q)
    length, slope, _ = section_length(chain, route, x, y, S)
    return length, by_coordinates(slope, q[k], s, c)


@kernel
def pulls(chain, routes, q, out):
    """Write the pull of every tendon at configuration q. Source: derived."""
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(routes.shape[0]):
        length, _ = route_length(chain, routes[i], q)
        out[routes[i].tendon] += routes[i].rest - length


@kernel
def subtract_slopes(route, slopes, out):
    """Subtract the derivatives of a route's length from those of its tendon's pull (tendons, dof). Source: derived."""
    j, k = route.tendon, route.coordinate
    out[j, k] -= slopes[0]
    if route.kind != SLIDE:
        out[j, k + 1] -= slopes[1]
        if route.varies:
            out[j, k + 2] -= slopes[2]


@kernel
def pull_jacobian(chain, routes, q, out):
    """Write the derivatives of the pulls (tendons, dof) by the coordinates. Source: derived."""
    out[:] = 0.0
    for i in range(routes.shape[0]):
        _, slopes = route_length(chain, routes[i], q)
        subtract_slopes(routes[i], slopes, out)
