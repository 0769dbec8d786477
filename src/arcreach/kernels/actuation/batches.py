"""Pulls and their derivatives in batches, from tabulated tendons; results equal those of single calls bit for bit."""

from arcreach._jit import kernel
from arcreach.kernels.actuation.discs import gap_length
from arcreach.kernels.actuation.pulls import (
    DISCS,
    SLIDE,
    by_coordinates,
    node_length,
    section_length,
    section_shape,
    subtract_slopes,
)
from arcreach.kernels.actuation.tables import gap_at, nodes_suffice, tabulate, write_functions


@kernel
def nodes_gradient(rows, count, x, y, S):
    """Return the length of a helical tendon from its nodes, and its first derivatives. Source: derived."""
    total, by_x, by_y, by_S = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        w, node = rows[0, i], (rows[1, i], rows[2, i], rows[3, i], rows[4, i])
        length, first, _ = node_length(node, x, y, S)
        total += w * length
        by_x, by_y, by_S = by_x + w * first[0], by_y + w * first[1], by_S + w * first[2]
    return total, (by_x, by_y, by_S)


@kernel
def gaps_gradient(f, rows, count, x, y, S):
    """Return the length of a tendon between discs from the functions f of its gaps, and its first derivatives.

    Source: derived.
    """
    total, by_x, by_y, by_S = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        functions, holes = gap_at(f, rows, i)
        length, first, _ = gap_length(functions, holes, x, y, S)
        total += length
        by_x, by_y, by_S = by_x + first[0], by_y + first[1], by_S + first[2]
    return total, (by_x, by_y, by_S)


@kernel(inline=True)
def table_gradient(chain, route, r, table, v):
    """Return the length of route r and its derivatives by v = (x, y, S). Source: derived."""
    x, y, S = v
    if table.counts[r] > 0 and route.kind == DISCS:
        return gaps_gradient(table.functions[table.groups[r]], table.rows[r], route.discs, x, y, S)
    if table.counts[r] > 0 and nodes_suffice(route, r, table, v):
        return nodes_gradient(table.rows[r], table.counts[r], x, y, S)
    length, slope, _ = section_length(chain, route, x, y, S)
    return length, slope


@kernel(inline=True)
def table_route(chain, routes, r, table, q):
    """Return the result of `route_length` for route r, from the table. Source: derived."""
    route = routes[r]
    k = route.coordinate
    if route.kind == SLIDE:
        return q[k], (1.0, 0.0, 0.0)
    v, s, c = section_shape(route, q)
    length, slope = table_gradient(chain, route, r, table, v)
    return length, by_coordinates(slope, q[k], s, c)


@kernel(inline=True)
def write_all_functions(chain, routes, table, q):
    """Write the functions of the gaps of all groups at configuration q. Source: derived."""
    for g in range(table.leaders.shape[0]):
        route = routes[table.leaders[g]]
        # As in single calls; the square of the bend itself would differ in the last bits.
        (x, y, _), _, _ = section_shape(route, q)
        write_functions(chain, route, x * x + y * y, table.functions[g])


@kernel(batch=True)
def pulls_batch(start, stop, chain, routes, Q, out):
    """Write the pulls of rows `start` to `stop`. Source: derived."""
    table = tabulate(chain, routes, False)
    for i in range(start, stop):
        write_all_functions(chain, routes, table, Q[i])
        out[i] = 0.0
        for r in range(routes.shape[0]):
            length, _ = table_route(chain, routes, r, table, Q[i])
            out[i, routes[r].tendon] += routes[r].rest - length


@kernel(batch=True)
def pull_jacobians(start, stop, chain, routes, Q, out):
    """Write the derivatives of the pulls of rows `start` to `stop`. Source: derived."""
    table = tabulate(chain, routes, False)
    for i in range(start, stop):
        write_all_functions(chain, routes, table, Q[i])
        out[i] = 0.0
        for r in range(routes.shape[0]):
            _, slopes = table_route(chain, routes, r, table, Q[i])
            subtract_slopes(routes[r], slopes, out[i])
