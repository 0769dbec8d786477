"""Lengths of tendons that run straight from disc to disc, in pieces of different lengths.

The pieces differ if the tendon turns about the backbone or the section has several arcs; equal pieces have a closed
form, `pulls.even_length`. Discs are evenly spaced, and a gap is the space between two successive ones.

Symbols: v = (x, y), the bend vector of the section, and t = |v|^2; S, its length; h, g, the holes of a tendon in the
near and far disc of a gap, m = (h + g) / 2, d = g - h; beta, the share of the bend in the gap. In the frame halfway
between the discs the squared distance of the holes is

    F = |d|^2 + A S^2 + 2 S (D d.v + M m.v) + C ((m.v)^2 - (d.v)^2 / 4)

where A, D, M, C are functions of t, the same for all tendons of the gap. A triple is the value of such a function and
its first and second derivative by t / 2.
"""

import math

from arcreach._jit import kernel
from arcreach.kernels.math.trigonometry import sinc_derivatives, sincos

# A part of an arc shorter than this share of the section's length is rounding.
_LEAST_PART = 1e-15
# Terms of the power series of A, D, M, C in t, and the largest bend of a gap for which the next term is below 1e-17.
TERMS = 8
SERIES_UP_TO = 0.8


@kernel
def scaled_sinc(factor, t):
    """Return sinc(u) for u^2 = factor t as a triple. Source: derived."""
    value, first, second = sinc_derivatives(factor * t)
    return value, factor * first, factor * factor * second


@kernel
def scaled_cosine(factor, t, sinc):
    """Return cos(u) for u^2 = factor t as a triple, given `scaled_sinc`. Source: derived."""
    return sinc[0] + t * sinc[1], -factor * sinc[0], -factor * sinc[1]


@kernel
def product(scale, f, g):
    """Return the product of a number and two triples. Source: derived."""
    return (
        scale * f[0] * g[0],
        scale * (f[1] * g[0] + f[0] * g[1]),
        scale * (f[2] * g[0] + 2.0 * f[1] * g[1] + f[0] * g[2]),
    )


@kernel
def plus(f, g):
    """Return the sum of two triples. Source: derived."""
    return f[0] + g[0], f[1] + g[1], f[2] + g[2]


@kernel
def part_in_gap(arc, start, near, far):
    """Return the shares of the section's length and bend in the part of an arc between `near` and `far`.

    The arc begins at `start`; all three are shares of the section's length. An arc without length bends at a point. A
    bend at a disc belongs to the gap before the disc; at the first disc, to the first gap.

    Source: derived.
    """
    if arc.length_share == 0.0:
        at = min(start, 1.0)
        return 0.0, arc.bend_share if near < at <= far or at == near == 0.0 else 0.0
    part = max(0.0, min(far, start + arc.length_share) - max(near, start))
    return part, arc.bend_share * part / arc.length_share


@kernel
def is_in_gap(part, bend):
    """Return whether an arc has a part in a gap, or bends there at a point. Source: derived."""
    return part > _LEAST_PART or (part == 0.0 and bend > 0.0)


@kernel
def gap_bend(chain, route, i):
    """Return the share of the bend in gap i, and the number of arcs in it. Source: derived."""
    near, far = i / route.discs, (i + 1) / route.discs
    beta, arcs, start = 0.0, 0, 0.0
    for k in range(route.first_arc, route.first_arc + route.arcs):
        part, bend = part_in_gap(chain[k], start, near, far)
        start += chain[k].length_share
        beta += bend
        arcs += is_in_gap(part, bend)
    return beta, arcs


@kernel
def gap_functions(chain, route, i, t):
    """Return the triples A, D, M, C of gap i. Source: derived."""
    near, far = i / route.discs, (i + 1) / route.discs
    beta, arcs = gap_bend(chain, route, i)
    turned = scaled_sinc(0.25 * beta * beta, t)
    C = product(beta * beta, turned, turned)
    if arcs == 1:
        part = 1.0 / route.discs
        zero = 0.0, 0.0, 0.0
        return product(part * part, turned, turned), zero, product(-part * beta, turned, turned), C
    across, along = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    start, bent = 0.0, -0.5 * beta
    for k in range(route.first_arc, route.first_arc + route.arcs):
        part, bend = part_in_gap(chain[k], start, near, far)
        start += chain[k].length_share
        if is_in_gap(part, bend):
            # Angle of the part's chord in the frame halfway between the discs, per unit of the bend.
            angle = bent + 0.5 * bend
            bent += bend
            chord = scaled_sinc(0.25 * bend * bend, t)
            sinc = scaled_sinc(angle * angle, t)
            across = plus(across, product(part * angle, chord, sinc))
            along = plus(along, product(part, chord, scaled_cosine(angle * angle, t, sinc)))
    A = plus(product(1.0, product(1.0, across, across), (t, 2.0, 0.0)), product(1.0, along, along))
    D = product(1.0, across, scaled_cosine(0.25 * beta * beta, t, turned))
    return A, D, product(-beta, turned, along), C


@kernel
def write_series(factor, of_sinc, out):
    """Write the power series in t of sinc(u) if `of_sinc`, else of cos(u), for u^2 = factor t. Source: derived."""
    term = 1.0
    for k in range(TERMS):
        out[k] = term
        term *= -factor / ((2 * k + 2) * (2 * k + 2 + (1 if of_sinc else -1)))


@kernel
def add_product(scale, f, g, out, power):
    """Add scale f g t^power to the power series `out`. Source: derived."""
    for i in range(TERMS - power):
        for k in range(i + 1):
            out[i + power] += scale * f[k] * g[i - k]


@kernel
def write_gap_series(chain, route, i, out):
    """Write the power series of A, D, M, C of gap i into the first rows of out (8, TERMS).

    Source: derived.
    """
    near, far = i / route.discs, (i + 1) / route.discs
    beta, _ = gap_bend(chain, route, i)
    across, along, f, g = out[4], out[5], out[6], out[7]
    out[:] = 0.0
    start, bent = 0.0, -0.5 * beta
    for k in range(route.first_arc, route.first_arc + route.arcs):
        part, bend = part_in_gap(chain[k], start, near, far)
        start += chain[k].length_share
        angle = bent + 0.5 * bend
        bent += bend
        write_series(0.25 * bend * bend, True, f)
        write_series(angle * angle, True, g)
        add_product(part * angle, f, g, across, 0)
        write_series(angle * angle, False, g)
        add_product(part, f, g, along, 0)
    write_series(0.25 * beta * beta, True, f)
    write_series(0.25 * beta * beta, False, g)
    add_product(1.0, across, across, out[0], 1)
    add_product(1.0, along, along, out[0], 0)
    add_product(1.0, across, g, out[1], 0)
    add_product(-beta, f, along, out[2], 0)
    add_product(beta * beta, f, f, out[3], 0)


@kernel(inline=True)
def gap_length(functions, holes, x, y, S):
    """Return the distance between two holes, and its derivatives as in `pulls.section_length`.

    `functions` is the result of `gap_functions`, `holes` that of `gap_holes`. Source: derived.
    """
    A, D, M, C = functions
    mx, my, dx, dy, square = holes
    m, d = mx * x + my * y, dx * x + dy * y
    form = m * m - 0.25 * d * d
    px, py = 2.0 * m * mx - 0.5 * d * dx, 2.0 * m * my - 0.5 * d * dy
    # Derivatives of F / 2: fx, fy, fS by x, y, S; e1, e2 first and second by t / 2; ax, ay, eS those of e1 by x, y, S
    # at fixed t. (gx, gy) = D d + M m; (px, py) is the gradient of `form`.
    F = square + S * (S * A[0] + 2.0 * (D[0] * d + M[0] * m)) + C[0] * form
    e1 = 0.5 * (S * (S * A[1] + 2.0 * (D[1] * d + M[1] * m)) + C[1] * form)
    e2 = 0.5 * (S * (S * A[2] + 2.0 * (D[2] * d + M[2] * m)) + C[2] * form)
    gx, gy = D[0] * dx + M[0] * mx, D[0] * dy + M[0] * my
    ax = S * (D[1] * dx + M[1] * mx) + 0.5 * C[1] * px
    ay = S * (D[1] * dy + M[1] * my) + 0.5 * C[1] * py
    fx, fy = e1 * x + S * gx + 0.5 * C[0] * px, e1 * y + S * gy + 0.5 * C[0] * py
    fS = S * A[0] + D[0] * d + M[0] * m
    eS = S * A[1] + D[1] * d + M[1] * m
    length = math.sqrt(max(F, 0.0))
    w = 1.0 / length if length > 0.0 else 0.0
    bx, by, bS = w * fx, w * fy, w * fS
    xx = e1 + e2 * x * x + 2.0 * ax * x + C[0] * (mx * mx - 0.25 * dx * dx)
    xy = e2 * x * y + ax * y + ay * x + C[0] * (mx * my - 0.25 * dx * dy)
    yy = e1 + e2 * y * y + 2.0 * ay * y + C[0] * (my * my - 0.25 * dy * dy)
    return (
        length,
        (bx, by, bS),
        (
            w * (xx - bx * bx),
            w * (xy - bx * by),
            w * (yy - by * by),
            w * (eS * x + gx - bx * bS),
            w * (eS * y + gy - by * bS),
            w * (A[0] - bS * bS),
        ),
    )


@kernel
def gap_holes(route, i):
    """Return m, d and |d|^2 of a tendon's holes at gap i. Source: derived."""
    near_sin, near_cos = sincos(route.angle + route.turn * (i / route.discs))
    far_sin, far_cos = sincos(route.angle + route.turn * ((i + 1) / route.discs))
    r = route.radius
    dx, dy = r * (far_cos - near_cos), r * (far_sin - near_sin)
    return 0.5 * r * (far_cos + near_cos), 0.5 * r * (far_sin + near_sin), dx, dy, dx * dx + dy * dy


@kernel
def disc_length(chain, route, x, y, S):
    """Return the length of a tendon that runs through discs, and its derivatives as in `pulls.section_length`.

    Source: derived.
    """
    t = x * x + y * y
    total, by_x, by_y, by_S = 0.0, 0.0, 0.0, 0.0
    xx, xy, yy, xS, yS, SS = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    functions = gap_functions(chain, route, 0, t)
    for i in range(route.discs):
        # The gaps of a section of one arc all have the same functions.
        if i > 0 and route.arcs > 1:
            functions = gap_functions(chain, route, i, t)
        length, first, second = gap_length(functions, gap_holes(route, i), x, y, S)
        total += length
        by_x, by_y, by_S = by_x + first[0], by_y + first[1], by_S + first[2]
        xx, xy, yy = xx + second[0], xy + second[1], yy + second[2]
        xS, yS, SS = xS + second[3], yS + second[4], SS + second[5]
    return total, (by_x, by_y, by_S), (xx, xy, yy, xS, yS, SS)
