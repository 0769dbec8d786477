"""Distance of a robot's body from a curve, as a sum of squares with its normal matrix and gradient.

Symbols: v, the solver variables; H and g, the normal matrix and the gradient of half the weighted sum of squares.
A point of the body at the distance s from the tip belongs to the arc length u = depth - s of the curve. Its residual is
its distance from the nearest point of the curve around u, without the part along the curve. The tip has a residual of
its own, measured from a target that is shifted until the tip is on the curve (the method of multipliers).
"""

import math
from typing import NamedTuple

from arcreach._jit import kernel
from arcreach._typing import Array, Integers, Motion, Record, Vector
from arcreach.kernels.chain.kinematics import element_length, element_motion, element_point, jacobian, tip_motion
from arcreach.kernels.chain.layout import BEND, LINK, SECTION
from arcreach.kernels.chain.points import joint_part, part_columns
from arcreach.kernels.math.transforms import IDENTITY, apply, compose
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.solver.contexts import Model
from arcreach.kernels.solver.variables import to_coordinates

# Columns of a bend vector are computed at a bend of at least this many radians: those by direction are 0 / 0 at zero.
SMALLEST_BEND = 1e-8
# Weight of the tip relative to the whole body.
TIP_WEIGHT = 10.0


class Curve(NamedTuple):
    """A polyline by its arc length; negative arc lengths lie before its first point."""

    points: Array  # (n, 3)
    tangents: Array  # (n - 1, 3)
    arc_lengths: Array  # (n,)


class Body(NamedTuple):
    """The points of the body that are fitted, base first, and the weights of the fit."""

    rows: Integers  # (m,): rows of their elements in the chain
    fractions: Array  # (m,): shares of the lengths of their elements
    shares: Array  # (m,): share of its element that each point represents
    scale: float  # length of the robot in metres
    before: float  # weight of the body before the curve, relative to that on it
    step: float  # weight of a change of a variable since the previous depth, in robot lengths per radian
    units: Array  # (variables,): unit of each variable in such a change


class Squares(NamedTuple):
    """Half the sum of squares to second order."""

    H: Array  # (variables, variables), lower triangle
    g: Array  # (variables,)


class Fit(NamedTuple):
    """Scratch of a fit."""

    q: Array  # (dof,)
    tip: Array  # (3,)
    own: Array  # (6, dof): Jacobian of the tip or of a point, by the coordinates
    whole: Array  # (6, variables): Jacobian of the tip, by the variables
    columns: Array  # (3, variables): derivatives of a point
    weights: Array  # (m,)
    before_tip: Array  # (m,): distance of each point from the tip along the body
    shift: Array  # (3,): offset of the tip's target
    here: Squares  # at v
    there: Squares  # at the trial
    A: Array  # (variables, variables)
    x: Array  # (variables,): the step
    trial: Array  # (variables,)
    previous: Array  # (variables,): v at the start of the fit
    codes: Integers  # (moving elements,): the active set, see `bounds`


@kernel
def nearest_on(curve: Curve, u: float, point: Vector) -> tuple[Vector, int]:
    """Return the vector to a point from the nearest point of the curve around the arc length u, and its segment.

    Source: derived.
    """
    low, high = 0, curve.tangents.shape[0] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if curve.arc_lengths[middle] <= u:
            low = middle
        else:
            high = middle - 1
    i = low
    came = 0
    while True:
        t = curve.tangents[i]
        x = point[0] - curve.points[i, 0]
        y = point[1] - curve.points[i, 1]
        z = point[2] - curve.points[i, 2]
        along = x * t[0] + y * t[1] + z * t[2]
        length = curve.arc_lengths[i + 1] - curve.arc_lengths[i]
        # Walk to the segment that faces the point; at a corner between two of them, stay.
        if along < 0.0 and i > 0 and came <= 0:
            came = -1
            i -= 1
        elif along > length and i < curve.tangents.shape[0] - 1 and came >= 0:
            came = 1
            i += 1
        else:
            along = min(max(along, 0.0), length)
            return (x - along * t[0], y - along * t[1], z - along * t[2]), i


@kernel
def write_block(element: Record, q: Array, J: Array, columns: Array) -> None:
    """Write the derivatives by a moving element's solver variables, from those by its coordinates. Source: derived."""
    k, c = element.variable, element.coordinate
    sine, cosine = sincos(q[c + 1]) if element.kind == BEND else (0.0, 1.0)
    for r in range(columns.shape[0]):
        columns[r, k] = J[r, c]
        if element.kind == BEND:
            across = J[r, c + 1] / q[c]
            columns[r, k] = cosine * J[r, c] - sine * across
            columns[r, k + 1] = sine * J[r, c] + cosine * across
        if element.stretch > 0.0:
            columns[r, k + element.width - 1] = element.stretch * J[r, c + 2]


@kernel
def write_columns(model: Model, row: int, fraction: float, before: Motion, point: Motion, fit: Fit) -> None:
    """Write the derivatives (3, variables) of a point at a fraction of the element in a row. Source: derived."""
    chain, columns, tip = model.chain, fit.columns, fit.tip
    for c in range(fit.own.shape[1]):
        for r in range(6):
            fit.own[r, c] = 0.0
    if chain[row].kind == SECTION:
        part_columns(chain, row, fit.q, fraction, before, point, fit.own)
    elif chain[row].kind != LINK:
        joint_part(chain, row, fit.q, fraction, before, fit.own)
    x, y, z = point[3] - tip[0], point[7] - tip[1], point[11] - tip[2]
    for i in range(model.moving.shape[0]):
        element = model.moving[i]
        if element.row == row:
            write_block(element, fit.q, fit.own, columns)
            continue
        # The tip and the points after an element move with it as one rigid body.
        follows = 1.0 if element.row < row else 0.0
        for k in range(element.variable, element.variable + element.width):
            t = fit.whole[:, k]
            columns[0, k] = follows * (t[0] + t[4] * z - t[5] * y)
            columns[1, k] = follows * (t[1] + t[5] * x - t[3] * z)
            columns[2, k] = follows * (t[2] + t[3] * y - t[4] * x)


@kernel
def add_square(columns: Array, residual: Vector, weight: float, out: Squares) -> float:
    """Add the normal matrix and gradient of a weighted residual; return its square. Source: derived."""
    a, b, c = residual
    H, g = out.H, out.g
    for i in range(g.shape[0]):
        x, y, z = weight * columns[0, i], weight * columns[1, i], weight * columns[2, i]
        g[i] += x * a + y * b + z * c
        for j in range(i + 1):
            H[i, j] += x * columns[0, j] + y * columns[1, j] + z * columns[2, j]
    return weight * (a * a + b * b + c * c)


@kernel
def drop_along(t: Array, residual: Vector, columns: Array) -> Vector:
    """Remove the part along a unit vector t (3,) from a residual and its columns. Source: derived."""
    for k in range(columns.shape[1]):
        along = columns[0, k] * t[0] + columns[1, k] * t[1] + columns[2, k] * t[2]
        for r in range(3):
            columns[r, k] -= along * t[r]
    x, y, z = residual
    along = x * t[0] + y * t[1] + z * t[2]
    return x - along * t[0], y - along * t[1], z - along * t[2]


@kernel
def write_bent(model: Model, v: Array, q: Array) -> None:
    """Write the configuration for v, with every section bent by at least SMALLEST_BEND. Source: derived."""
    to_coordinates(model, v, q)
    for row in range(model.moving.shape[0]):
        element = model.moving[row]
        if element.kind == BEND:
            q[element.coordinate] = max(q[element.coordinate], SMALLEST_BEND)


@kernel
def write_distances(model: Model, body: Body, q: Array, fit: Fit) -> None:
    """Write the distance of every point from the tip along the body. Source: derived."""
    chain = model.chain
    j = 0
    total = 0.0
    # First the distances from the first element that has points, then those from the tip.
    row = body.rows[0]
    while row < chain.shape[0]:
        length = element_length(chain, row, q)
        while j < body.rows.shape[0] and body.rows[j] == row:
            fit.before_tip[j] = total + body.fractions[j] * length
            j += 1
        total += length
        row += 1 + chain[row].arcs
    for j in range(body.rows.shape[0]):
        fit.before_tip[j] = total - fit.before_tip[j]


@kernel
def write_weights(model: Model, body: Body, depth: float, q: Array, fit: Fit) -> None:
    """Write the weights of the points: the lengths that they represent, reduced before the curve. Source: derived."""
    write_distances(model, body, q, fit)
    for j in range(body.rows.shape[0]):
        piece = body.shares[j] * element_length(model.chain, body.rows[j], q)
        # The share of the piece that is on the curve.
        inside = min(max(0.5 + (depth - fit.before_tip[j]) / max(piece, 1e-12), 0.0), 1.0)
        fit.weights[j] = piece / body.scale**3 * (inside + (1.0 - inside) * body.before * body.before)


@kernel
def add_tip(body: Body, goal: Array, v: Array, fit: Fit, out: Squares) -> float:
    """Add the residuals of the tip and of the change since the previous depth. Source: derived."""
    off = (
        fit.tip[0] - goal[1] + fit.shift[0],
        fit.tip[1] - goal[2] + fit.shift[1],
        fit.tip[2] - goal[3] + fit.shift[2],
    )
    total = add_square(fit.whole, off, TIP_WEIGHT * TIP_WEIGHT / (body.scale * body.scale), out)
    for k in range(v.shape[0]):
        stiffness = (body.step / body.units[k]) ** 2
        change = v[k] - fit.previous[k]
        out.H[k, k] += stiffness
        out.g[k] += stiffness * change
        total += stiffness * change * change
    return total


@kernel
def evaluate(model: Model, body: Body, curve: Curve, goal: Array, v: Array, fit: Fit, out: Squares) -> float:
    """Write normal matrix and gradient at v; return the sum of squares.

    `goal` holds the depth and the target of the tip. Lengths in the squares are in robot lengths. Source: derived.
    """
    for i in range(v.shape[0]):
        out.g[i] = 0.0
        for j in range(v.shape[0]):
            out.H[i, j] = 0.0
    chain, q = model.chain, fit.q
    write_bent(model, v, q)
    write_distances(model, body, q, fit)
    motion = tip_motion(chain, q)
    fit.tip[0], fit.tip[1], fit.tip[2] = motion[3], motion[7], motion[11]
    jacobian(chain, q, fit.own)
    for i in range(model.moving.shape[0]):
        write_block(model.moving[i], q, fit.own, fit.whole)
    total = add_tip(body, goal, v, fit, out)
    before = IDENTITY
    row = 0
    j = 0
    while row < chain.shape[0]:
        step = element_motion(chain, row, q)
        while j < body.rows.shape[0] and body.rows[j] == row:
            x, y, z = element_point(chain, row, q, step, body.fractions[j])
            x, y, z = apply(before, x, y, z)
            point = (1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z)
            write_columns(model, row, body.fractions[j], before, point, fit)
            away, segment = nearest_on(curve, goal[0] - fit.before_tip[j], (x, y, z))
            away = drop_along(curve.tangents[segment], away, fit.columns)
            total += add_square(fit.columns, away, fit.weights[j], out)
            j += 1
        before = compose(before, step)
        row += 1 + chain[row].arcs
    return total


@kernel(batch=True)
def distances(start: int, stop: int, curve: Curve, depths: Array, lengths: Array, bodies: Array, out: Array) -> None:
    """Write the distances (n, m) of the points of bodies (n, m, 3) from the curve.

    `depths` and `lengths` (n,) are those of the bodies; their points are evenly spaced, tip last. Source: derived.
    """
    last = bodies.shape[1] - 1
    for i in range(start, stop):
        for j in range(last + 1):
            u = depths[i] - lengths[i] * (last - j) / last
            (x, y, z), _ = nearest_on(curve, u, (bodies[i, j, 0], bodies[i, j, 1], bodies[i, j, 2]))
            out[i, j] = math.sqrt(x * x + y * y + z * z)
