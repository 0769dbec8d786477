"""Limits of the solver variables: active bounds of a step, and projection onto the limits.

A block is the variables of one moving element, and lies in a convex set:

- the variable of a joint in an interval;
- the bend vector of a fixed section in a disc |b| <= bend_max;
- bend vector and stretch (b, s) of a variable section in the cone |b| <= bend_max * s, cut off at s = 1;
- bend and stretch of a variable section with twist in a triangle, 0 <= b <= bend_max * s and s <= 1.

If bend and length are not coupled, the cone is a cylinder and the triangle a rectangle. A block whose step would cross
its bound is restricted to directions along the bound, which the block's code names. Steps of a block, restricted or
not, are in the units of its variables. `descent.take_step` clamps joints itself; `project` keeps the limits of
sections.
"""

import math

from arcreach._jit import kernel
from arcreach._typing import Array, Record, Six
from arcreach.kernels.chain.layout import BEND, PLANAR, ROTATION
from arcreach.kernels.chain.limits import nearest_in_cone
from arcreach.kernels.solver.contexts import Model
from arcreach.kernels.solver.loops import rows

# Codes. CLEAR: touches no bound. FREE: touches one, is not restricted. HELD: does not move. The others move along the
# rim (TANGENT), the side or the top of a cone, or along zero bend (FLOOR). The side of a cylinder is SIDE, both of its
# ends are TOP; a rectangle at a limit of its bend is at its FLOOR.
CLEAR, FREE, HELD, TANGENT, SIDE, TOP, FLOOR = range(7)

# A block is at a bound beyond these shares of it; the gap is far below any tolerance and far above rounding.
_AT_BOUND = 1.0 - 1e-9
_AT_TOP = 1.0 - 1e-12
_AT_APEX = 1e-12
# A smaller outward step does not count as outward.
_OUTWARD = 1e-15


@kernel(fast=True, inline=True)
def row_times(J: Array, k: int, y: Array | Six, mode: int) -> float:
    """Return the product of row k of J and y; only ROTATION has a sixth entry. Source: derived."""
    product = J[k, 0] * y[0] + J[k, 1] * y[1] + J[k, 2] * y[2] + J[k, 3] * y[3] + J[k, 4] * y[4]
    return product + J[k, 5] * y[5] if mode == ROTATION else product


@kernel(fast=True, inline=True)
def stretch_index(element: Record) -> int:
    """Return the index of a block's stretch, or the index after its variables if it has none. Source: derived."""
    return element.variable + element.width - (1 if element.stretch > 0.0 else 0)


@kernel(fast=True, inline=True)
def is_disc(element: Record) -> bool:
    """Return whether a block is the bend vector of a fixed section. Source: derived."""
    return element.kind == BEND and element.stretch <= 0.0


@kernel(fast=True, inline=True)
def is_cone(element: Record) -> bool:
    """Return whether a block is the bend vector and stretch of a variable section. Source: derived."""
    return element.kind == BEND and element.stretch > 0.0


@kernel(fast=True, inline=True)
def is_triangle(element: Record) -> bool:
    """Return whether a block is the bend and stretch of a variable section with twist. Source: derived."""
    return element.kind == PLANAR and element.stretch > 0.0


@kernel(fast=True, inline=True)
def is_uncoupled(element: Record) -> bool:
    """Return whether the bend of a variable section has the same limit at every length. Source: derived."""
    return element.stretch > 0.0 and element.slope <= 0.0


@kernel(fast=True, inline=True)
def touches(element: Record, v: Array) -> bool:
    """Return whether a block is at a bound. Source: derived."""
    k = element.variable
    if element.kind == BEND:
        square = v[k] * v[k] + v[k + 1] * v[k + 1]
        if element.stretch <= 0.0:
            return square >= element.bend_max * element.bend_max * _AT_BOUND
        if is_uncoupled(element):
            at_rim = square >= element.bend_max * element.bend_max * _AT_BOUND
            return at_rim or not _AT_APEX < v[k + 2] < _AT_TOP
        edge = element.bend_max * v[k + 2] * _AT_BOUND
        return v[k + 2] >= _AT_TOP or square >= edge * edge
    if is_triangle(element):
        if is_uncoupled(element):
            return not 0.0 < v[k] < element.bend_max * _AT_BOUND or not _AT_APEX < v[k + 1] < _AT_TOP
        return v[k] <= 0.0 or v[k + 1] >= _AT_TOP or v[k] >= element.bend_max * v[k + 1] * _AT_BOUND
    return v[k] >= element.upper or v[k] <= element.lower


@kernel(fast=True, inline=True)
def cone_code(side: bool, top: bool, outward_radius: float, outward_share: float, slope: float) -> int:
    """Return the code of a cone block at its side or top under a step in radius and share. Source: derived."""
    leaves_side = side and outward_radius - slope * outward_share > _OUTWARD
    leaves_top = top and outward_share > _OUTWARD
    if side and top:
        if outward_radius > _OUTWARD and outward_radius * slope + outward_share > _OUTWARD:
            return TANGENT
        if leaves_top and outward_radius <= _OUTWARD:
            return TOP
    if leaves_side:
        return SIDE
    return TOP if leaves_top else FREE


@kernel(fast=True, inline=True)
def leaves_share(share: float, step: float) -> bool:
    """Return whether a step moves the share of a stretch beyond one of its ends. Source: derived."""
    return (share >= _AT_TOP and step > _OUTWARD) or (share <= _AT_APEX and step < -_OUTWARD)


@kernel(fast=True, inline=True)
def triangle_code(element: Record, bend: float, share: float, before: int, step_bend: float, step_share: float) -> int:
    """Return the code of a triangle block: the edge that the step crosses, HELD if it leaves a corner.

    `before` is the edge to which the block is restricted already, if any. Source: derived.
    """
    # Component of the step out of each edge on which the block lies.
    at_side = bend >= element.bend_max * share * _AT_BOUND
    floor = -step_bend if bend <= 0.0 else 0.0
    side = step_bend - element.slope * step_share if at_side else 0.0
    top = step_share if share >= _AT_TOP else 0.0
    if floor <= _OUTWARD and side <= _OUTWARD and top <= _OUTWARD:
        return FREE
    if before >= SIDE:
        return HELD
    # Along the remaining edge, the step must not cross the other edge of a corner.
    if side > _OUTWARD:
        along_side = element.slope * step_bend + step_share
        if not (share >= _AT_TOP and along_side > _OUTWARD) and not (share <= _AT_APEX and along_side < -_OUTWARD):
            return SIDE
    if floor > _OUTWARD:
        return HELD if leaves_share(share, step_share) else FLOOR
    if top > _OUTWARD and not (at_side and step_bend > _OUTWARD):
        return TOP
    return HELD


@kernel(fast=True, inline=True)
def uncoupled_code(element: Record, v: Array, before: int, p0: float, p1: float, p2: float) -> int:
    """Return the code of a cylinder or a rectangle; `before` is the code by which it is restricted already.

    Source: derived.
    """
    k = element.variable
    if element.kind == BEND:
        at_rim = v[k] * v[k] + v[k + 1] * v[k + 1] >= element.bend_max * element.bend_max * _AT_BOUND
        side = before == SIDE or (at_rim and v[k] * p0 + v[k + 1] * p1 > _OUTWARD)
        if before == TOP or leaves_share(v[k + 2], p2):
            return TANGENT if side else TOP
        return SIDE if side else FREE
    bend = before == FLOOR or (v[k] <= 0.0 and p0 < -_OUTWARD)
    bend |= v[k] >= element.bend_max * _AT_BOUND and p0 > _OUTWARD
    if before == TOP or leaves_share(v[k + 1], p1):
        return HELD if bend else TOP
    return FLOOR if bend else FREE


@kernel(fast=True, inline=True)
def block_code(element: Record, v: Array, before: int, p0: float, p1: float, p2: float) -> int:
    """Return the code of a block under a step (p0, p1, p2) of its variables: FREE unless the step crosses a bound.

    `before` is the code by which the block is restricted already. Source: derived.
    """
    k = element.variable
    if is_disc(element):
        bx = v[k]
        by = v[k + 1]
        at_bound = bx * bx + by * by >= element.bend_max * element.bend_max * _AT_BOUND
        return TANGENT if at_bound and bx * p0 + by * p1 > _OUTWARD else FREE
    if is_uncoupled(element):
        return uncoupled_code(element, v, before, p0, p1, p2)
    if is_cone(element):
        bx = v[k]
        by = v[k + 1]
        s = v[k + 2]
        radius = math.sqrt(bx * bx + by * by)
        if s <= _AT_APEX:
            return HELD if math.sqrt(p0 * p0 + p1 * p1) * element.slope + p2 <= 0.0 else FREE
        side = radius >= element.bend_max * s * _AT_BOUND
        top = s >= _AT_TOP
        if not side and not top:
            return FREE
        radial = (bx * p0 + by * p1) / radius if radius > 0.0 else math.sqrt(p0 * p0 + p1 * p1)
        return cone_code(side, top, radial, p2, element.slope)
    if is_triangle(element):
        return triangle_code(element, v[k], v[k + 1], before, p0, p1)
    if (v[k] >= element.upper and p0 > _OUTWARD) or (v[k] <= element.lower and p0 < -_OUTWARD):
        return HELD
    return FREE


@kernel(fast=True, inline=True)
def drop_row(J: Array, k: int, mode: int) -> None:
    """Set row k to zero. Source: derived."""
    for r in range(5):
        J[k, r] = 0.0
    if mode == ROTATION:
        J[k, 5] = 0.0


@kernel(fast=True, inline=True)
def outward(element: Record, v: Array) -> tuple[float, float]:
    """Return the unit vector along a bend vector at its bound. Source: derived."""
    bx = v[element.variable]
    by = v[element.variable + 1]
    if element.stretch <= 0.0:
        # At the rim of a disc the length is known.
        f = 1.0 / element.bend_max
        return f * bx, f * by
    square = bx * bx + by * by
    if square > 0.0:
        f = 1.0 / math.sqrt(square)
        return f * bx, f * by
    return 1.0, 0.0


@kernel(fast=True, inline=True)
def side_entry(element: Record, radial: float, share: float) -> float:
    """Return the derivative along the side of a cone from those by the bend's radius and share. Source: derived."""
    return (element.slope * radial + share) / math.sqrt(element.slope * element.slope + 1.0)


@kernel(fast=True, inline=True)
def restrict_entry(element: Record, code: int, J: Array, r: int, nx: float, ny: float) -> None:
    """Project column r of a block's rows onto its bound, whose normal is (nx, ny). Source: derived."""
    k = element.variable
    radial = nx * J[k, r] + ny * J[k + 1, r]
    J[k, r] = nx * J[k + 1, r] - ny * J[k, r]
    J[k + 1, r] = 0.0
    if element.stretch > 0.0:
        if code == SIDE:
            norm = 1.0 / math.sqrt(element.slope * element.slope + 1.0)
            J[k + 1, r] = norm * (element.slope * radial + J[k + 2, r])
        J[k + 2, r] = 0.0


@kernel(fast=True, inline=True)
def restrict(element: Record, v: Array, code: int, before: int, J: Array, mode: int) -> None:
    """Replace a block's rows by those along its bound; `before` is the code of the current rows. Source: derived."""
    k = element.variable
    if code == HELD:
        for i in range(element.width):
            drop_row(J, k + i, mode)
        return
    if code == TOP:
        drop_row(J, k + element.width - 1, mode)
        return
    if code == FLOOR:
        drop_row(J, k, mode)
        return
    if is_triangle(element):
        for r in range(5):
            J[k + 1, r] = side_entry(element, J[k, r], J[k + 1, r])
        if mode == ROTATION:
            J[k + 1, 5] = side_entry(element, J[k, 5], J[k + 1, 5])
        drop_row(J, k, mode)
        return
    if before == SIDE:
        # From the side to the rim: the row along the side is removed, the tangent remains.
        drop_row(J, k + 1, mode)
        return
    nx, ny = outward(element, v)
    for r in range(5):
        restrict_entry(element, code, J, r, nx, ny)
    if mode == ROTATION:
        restrict_entry(element, code, J, 5, nx, ny)


@kernel(fast=True, inline=True)
def block_step(element: Record, v: Array, code: int, J: Array, y: Array, mode: int) -> tuple[float, float, float]:
    """Return the step of a block's variables for the multipliers y (6,). Source: derived."""
    k = element.variable
    if code == HELD:
        return 0.0, 0.0, 0.0
    d0 = row_times(J, k, y, mode)
    d1 = row_times(J, k + 1, y, mode) if element.width > 1 else 0.0
    d2 = row_times(J, k + 2, y, mode) if element.width > 2 else 0.0
    if code < TANGENT or code >= TOP:
        return d0, d1, d2
    if is_triangle(element):
        sideways = d1 / math.sqrt(element.slope * element.slope + 1.0)
        return element.slope * sideways, sideways, 0.0
    nx, ny = outward(element, v)
    if code == TANGENT:
        return -ny * d0, nx * d0, 0.0
    sideways = d1 / math.sqrt(element.slope * element.slope + 1.0)
    radial = element.slope * sideways
    return nx * radial - ny * d0, ny * radial + nx * d0, sideways


@kernel(fast=True, inline=True)
def project(element: Record, p0: float, p1: float, p2: float) -> tuple[float, float, float]:
    """Return the nearest point of a block's limits. Source: derived."""
    if is_disc(element):
        square = p0 * p0 + p1 * p1
        if square > element.bend_max * element.bend_max:
            f = element.bend_max / math.sqrt(square)
            return p0 * f, p1 * f, p2
        return p0, p1, p2
    if is_uncoupled(element):
        if element.kind == PLANAR:
            return min(max(p0, 0.0), element.bend_max), min(max(p1, 0.0), 1.0), p2
        radius = math.sqrt(p0 * p0 + p1 * p1)
        f = element.bend_max / radius if radius > element.bend_max else 1.0
        return p0 * f, p1 * f, min(max(p2, 0.0), 1.0)
    if is_cone(element):
        radius = math.sqrt(p0 * p0 + p1 * p1)
        bend, share = nearest_in_cone(radius, p2, element.bend_max)
        f = bend / radius if radius > 0.0 else 0.0
        return p0 * f, p1 * f, share
    if is_triangle(element):
        bend, share = nearest_in_cone(max(p0, 0.0), p1, element.bend_max)
        return bend, share, p2
    return min(max(p0, element.lower), element.upper), p1, p2


@kernel
def inside_limits(model: Model, v: Array, out: Array) -> None:
    """Write the nearest variables inside the limits. Source: derived."""
    for row in range(rows(model)):
        element = model.moving[row]
        k = element.variable
        p1 = v[k + 1] if element.width > 1 else 0.0
        p2 = v[k + 2] if element.width > 2 else 0.0
        out[k], p1, p2 = project(element, v[k], p1, p2)
        if element.width > 1:
            out[k + 1] = p1
        if element.width > 2:
            out[k + 2] = p2


@kernel(batch=True)
def inside_limits_batch(start: int, stop: int, model: Model, V: Array, out: Array) -> None:
    """Write `inside_limits` of rows start to stop. Source: derived."""
    for i in range(start, stop):
        inside_limits(model, V[i], out[i])
