"""Tables for many evaluations of tendon lengths: nodes of helical tendons, holes and series of gaps between discs."""

import math
from typing import Any, NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.actuation.discs import (
    SERIES_UP_TO,
    TERMS,
    gap_bend,
    gap_functions,
    gap_holes,
    gap_length,
    write_gap_series,
)
from arcreach.kernels.actuation.pulls import (
    BENT,
    DISCS,
    HELICAL,
    NODES,
    SIZES,
    WEIGHTS,
    choose_rule,
    helical_length,
    is_even,
    node_length,
)
from arcreach.kernels.math.trigonometry import sincos

# Rows are padded to a multiple of this, so that vectorised loops leave no remainder, which would run row by row.
LANES = 8


class Table(NamedTuple):
    """Nodes, holes and series of a robot's routes, and scratch."""

    rows: Any  # (routes, 5, most): weight and node, see `node_length`; or holes of gaps, see `gap_holes`
    counts: Any  # (routes,): number of nodes or gaps of each, padded to a multiple of LANES
    bounds: Any  # (routes,): square of the largest theta / hypot(S, r tau) for which the nodes suffice
    groups: Any  # (routes,): group of tendons that share the functions of their gaps
    leaders: Any  # (groups,): the first route of each group
    series: Any  # (groups, TERMS, 4 gaps): power series of A, D, M, C for all gaps
    largest: Any  # (groups,): square of the largest bend for which the series suffice
    sums: Any  # (groups, 3, 4 gaps): A, D, M, C of all gaps, and their derivatives
    functions: Any  # (groups, 12, gaps): the same memory as `sums`


@kernel
def rows_of(chain, route):
    """Return the number of nodes or gaps of a route, 0 if it needs no table. Source: derived."""
    if is_even(route):
        return 0
    if route.kind == DISCS:
        return route.discs
    count = 0
    if route.kind == HELICAL:
        for k in range(route.first_arc, route.first_arc + route.arcs):
            rule, panels = choose_rule(route.turn * chain[k].length_share, BENT)
            count += SIZES[rule] * panels
    return count


@kernel
def write_nodes(chain, route, rows):
    """Write the nodes of a helical route; return the largest theta / hypot(S, r tau) for which they suffice.

    Source: derived.
    """
    i, before, bound = 0, 0.0, math.inf
    r, tau = route.radius, route.turn
    for k in range(route.first_arc, route.first_arc + route.arcs):
        share, bend = chain[k].length_share, chain[k].bend_share
        rule, panels = choose_rule(tau * share, BENT)
        width = share / panels
        if bend > 0.0:
            bound = min(bound, BENT * share / (r * bend))
        for p in range(panels):
            for node in range(SIZES[rule]):
                s, c = sincos(route.angle + tau * (before + (p + NODES[rule, node]) * width))
                rows[0, i] = WEIGHTS[rule, node] / panels
                rows[1, i] = share
                rows[2, i] = -r * bend * c
                rows[3, i] = -r * bend * s
                rows[4, i] = (r * tau * share) ** 2
                i += 1
        before += share
    return bound


@kernel
def write_group(chain, route, scratch, series):
    """Write the series of all gaps of a route; return the square of the largest bend for which they suffice.

    Source: derived.
    """
    # Avoids a division by zero if no gap bends.
    steepest = 1e-30
    gaps = series.shape[1] // 4
    for i in range(route.discs):
        write_gap_series(chain, route, i, scratch)
        for f in range(4):
            for k in range(TERMS):
                series[k, f * gaps + i] = scratch[f, k]
        steepest = max(steepest, gap_bend(chain, route, i)[0])
    return (SERIES_UP_TO / steepest) ** 2


@kernel
def write_groups(routes, counts, groups, leaders):
    """Write which routes share the functions of their gaps; return the number of groups. Source: derived."""
    found = 0
    for r in range(routes.shape[0]):
        if counts[r] == 0 or routes[r].kind != DISCS:
            continue
        groups[r] = found
        for g in range(found):
            other = routes[leaders[g]]
            if other.coordinate == routes[r].coordinate and other.discs == routes[r].discs:
                groups[r] = g
        if groups[r] == found:
            leaders[found] = r
            found += 1
    return found


@kernel(allocates=True)
def tabulate(chain, routes, with_series):
    """Return the table of routes; the series are omitted unless `with_series`. Source: derived."""
    n = routes.shape[0]
    counts, bounds = np.zeros(n, np.int64), np.zeros(n)
    groups, leaders = np.zeros(n, np.int64), np.zeros(n, np.int64)
    most, gaps = 0, 0
    for r in range(n):
        counts[r] = (rows_of(chain, routes[r]) + LANES - 1) // LANES * LANES
        most = max(most, counts[r])
        if routes[r].kind == DISCS:
            gaps = max(gaps, counts[r])
    found = write_groups(routes, counts, groups, leaders)
    rows = np.zeros((n, 5, most))
    for r in range(n):
        if counts[r] > 0 and routes[r].kind == HELICAL:
            bounds[r] = write_nodes(chain, routes[r], rows[r]) ** 2
        elif counts[r] > 0:
            for i in range(routes[r].discs):
                rows[r, 0, i], rows[r, 1, i], rows[r, 2, i], rows[r, 3, i], rows[r, 4, i] = gap_holes(routes[r], i)
    series, largest = np.zeros((found if with_series else 0, TERMS, 4 * gaps)), np.zeros(found)
    scratch = np.zeros((8, TERMS))
    for g in range(series.shape[0]):
        largest[g] = write_group(chain, routes[leaders[g]], scratch, series[g])
    sums = np.zeros((found, 3, 4 * gaps))
    return Table(rows, counts, bounds, groups, leaders[:found], series, largest, sums, sums.reshape(found, 12, gaps))


@kernel(fast=True, inline=True)
def sum_series(c, t, value, first, second):
    """Write the values of power series in t, and their first and second derivatives by t / 2.

    There are three loops because LLVM does not vectorise one with more than eight pairs of pointers that may overlap.
    Source: derived.
    """
    n = value.shape[0]
    for i in range(n):
        a = c[4, i] + t * (c[5, i] + t * (c[6, i] + t * c[7, i]))
        value[i] = c[0, i] + t * (c[1, i] + t * (c[2, i] + t * (c[3, i] + t * a)))
    for i in range(n):
        a = 8.0 * c[4, i] + t * (10.0 * c[5, i] + t * (12.0 * c[6, i] + t * (14.0 * c[7, i])))
        first[i] = 2.0 * c[1, i] + t * (4.0 * c[2, i] + t * (6.0 * c[3, i] + t * a))
    for i in range(n):
        a = 48.0 * c[4, i] + t * (80.0 * c[5, i] + t * (120.0 * c[6, i] + t * (168.0 * c[7, i])))
        second[i] = 8.0 * c[2, i] + t * (24.0 * c[3, i] + t * a)


@kernel
def write_functions(chain, route, t, out):
    """Write the functions of all gaps of a route between discs into out (12, gaps). Source: derived."""
    A, D, M, C = gap_functions(chain, route, 0, t)
    for i in range(route.discs):
        if i > 0 and route.arcs > 1:
            A, D, M, C = gap_functions(chain, route, i, t)
        for k in range(3):
            out[4 * k, i], out[4 * k + 1, i], out[4 * k + 2, i], out[4 * k + 3, i] = A[k], D[k], M[k], C[k]


@kernel(fast=True, inline=True)
def nodes_length(rows, count, x, y, S):
    """Return the length of a helical tendon from its nodes, and its derivatives by x and y. Source: derived."""
    total, by_x, by_y, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        w, node = rows[0, i], (rows[1, i], rows[2, i], rows[3, i], rows[4, i])
        length, first, second = node_length(node, x, y, S)
        total += w * length
        by_x, by_y = by_x + w * first[0], by_y + w * first[1]
        xx, xy, yy = xx + w * second[0], xy + w * second[1], yy + w * second[2]
    return total, (by_x, by_y), (xx, xy, yy)


@kernel(fast=True, inline=True)
def nodes_stretch(rows, count, x, y, S):
    """Return the derivatives of the length of a helical tendon by S, xS, yS and SS. Source: derived."""
    by_S, xS, yS, SS = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        w, node = rows[0, i], (rows[1, i], rows[2, i], rows[3, i], rows[4, i])
        _, first, second = node_length(node, x, y, S)
        by_S += w * first[2]
        xS, yS, SS = xS + w * second[3], yS + w * second[4], SS + w * second[5]
    return by_S, xS, yS, SS


@kernel(inline=True)
def gap_at(f, rows, i):
    """Return the functions and holes of gap i. Source: derived."""
    return (
        (f[0, i], f[4, i], f[8, i]),
        (f[1, i], f[5, i], f[9, i]),
        (f[2, i], f[6, i], f[10, i]),
        (f[3, i], f[7, i], f[11, i]),
    ), (rows[0, i], rows[1, i], rows[2, i], rows[3, i], rows[4, i])


@kernel(fast=True, inline=True)
def gaps_slope(f, rows, count, x, y, S):
    """Return the length of a tendon between discs from the functions f of its gaps, and its slope by x and y.

    Source: derived.
    """
    total, by_x, by_y = 0.0, 0.0, 0.0
    for i in range(count):
        functions, holes = gap_at(f, rows, i)
        length, first, _ = gap_length(functions, holes, x, y, S)
        total += length
        by_x, by_y = by_x + first[0], by_y + first[1]
    return total, (by_x, by_y), (0.0, 0.0, 0.0)


@kernel(fast=True, inline=True)
def gaps_length(f, rows, count, x, y, S):
    """Return the length of a tendon between discs from the functions f of its gaps, and its derivatives by x and y.

    Source: derived.
    """
    total, by_x, by_y, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        functions, holes = gap_at(f, rows, i)
        length, first, second = gap_length(functions, holes, x, y, S)
        total += length
        by_x, by_y = by_x + first[0], by_y + first[1]
        xx, xy, yy = xx + second[0], xy + second[1], yy + second[2]
    return total, (by_x, by_y), (xx, xy, yy)


@kernel(fast=True, inline=True)
def gaps_stretch(f, rows, count, x, y, S):
    """Return the derivatives of the length of a tendon between discs by S, xS, yS and SS. Source: derived."""
    by_S, xS, yS, SS = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        functions, holes = gap_at(f, rows, i)
        _, first, second = gap_length(functions, holes, x, y, S)
        by_S += first[2]
        xS, yS, SS = xS + second[3], yS + second[4], SS + second[5]
    return by_S, xS, yS, SS


@kernel(inline=True)
def nodes_suffice(route, r, table, v):
    """Return whether the tabulated nodes of helical route r are accurate at v = (x, y, S).

    They never are if a sub-arc without length bends: the bound is then 0. Source: derived.
    """
    around = route.radius * route.turn
    return v[0] * v[0] + v[1] * v[1] < table.bounds[r] * (v[2] * v[2] + around * around)


@kernel(inline=True)
def table_length(chain, route, r, table, v, curved):
    """Return the length of route r, which has rows in the table, and its derivatives, as `section_length` does.

    v is (x, y, S), and `table.functions` must be those at x and y. Unless `curved`, second derivatives by x and y of
    tendons between discs are left zero. Source: derived.
    """
    x, y, S = v
    rows, count = table.rows[r], table.counts[r]
    by_S, xS, yS, SS = 0.0, 0.0, 0.0, 0.0
    if route.kind == HELICAL:
        if not nodes_suffice(route, r, table, v):
            return helical_length(chain, route, x, y, S)
        length, first, second = nodes_length(rows, count, x, y, S)
        if route.varies:
            by_S, xS, yS, SS = nodes_stretch(rows, count, x, y, S)
    else:
        functions = table.functions[table.groups[r]]
        if curved:
            length, first, second = gaps_length(functions, rows, count, x, y, S)
        else:
            length, first, second = gaps_slope(functions, rows, count, x, y, S)
        if route.varies:
            by_S, xS, yS, SS = gaps_stretch(functions, rows, count, x, y, S)
    return length, (first[0], first[1], by_S), (second[0], second[1], second[2], xS, yS, SS)
