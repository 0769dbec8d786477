"""Residual and Jacobian of a chain in its solver variables, in one pass from tip to base.

Symbols: b = theta (cos phi, sin phi), t = |b|^2, and the even entire functions of theta
A = sin(theta)/theta, B = (1 - cos(theta))/t, C = (theta - sin(theta))/theta^3, E = (A - 2B)/t; a section of unit length
ends at (g bx, g by, Z). One arc has g = B, Z = A. All are polynomials in x = scale * t - 1, fitted once per robot, so a
step needs no sine and no special case for the straight pose.

The pass updates T_here_tip, so residual and columns are in the tip frame, where the tangent plane of the tip's axis is
x and y. J is stored transposed, (variables, 6). Its columns are scaled by the unit of each variable, see
`layout.MOVING`. Its rows: position, then weight times orientation, two rows for an axis and zeros for a position. The
sixth row, J[:, 5], is written for ROTATION targets only; a caller that reads it in other modes sets it to zero first.
"""

import math
from typing import TypeAlias

from arcreach._jit import kernel
from arcreach._typing import Array, Motion, Record, Vector
from arcreach.elements import OTHER_JOINTS, motion_of, rates_of
from arcreach.kernels.chain.layout import (
    ABOUT_Y,
    ABOUT_Z,
    AXIS,
    BEND,
    NOTHING,
    POSITION,
    ROTATION,
    SHIFT,
    SLIDE,
    SWING,
    TURN,
)
from arcreach.kernels.math.transforms import IDENTITY
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.solver.contexts import Goal, Model
from arcreach.kernels.solver.loops import rows

# A row of a motion.
Row: TypeAlias = tuple[float, float, float, float]

# Below this sine of the error angle the factor angle / sine is 1 to the last bit.
_SMALL_SINE = 1e-9


@kernel(fast=True, inline=True)
def multiply(a: Motion, b: Motion) -> Motion:
    """Return the product of two motions as `transforms.compose`, but with fast arithmetic. Source: derived."""
    return (
        a[0] * b[0] + a[1] * b[4] + a[2] * b[8],
        a[0] * b[1] + a[1] * b[5] + a[2] * b[9],
        a[0] * b[2] + a[1] * b[6] + a[2] * b[10],
        a[0] * b[3] + a[1] * b[7] + a[2] * b[11] + a[3],
        a[4] * b[0] + a[5] * b[4] + a[6] * b[8],
        a[4] * b[1] + a[5] * b[5] + a[6] * b[9],
        a[4] * b[2] + a[5] * b[6] + a[6] * b[10],
        a[4] * b[3] + a[5] * b[7] + a[6] * b[11] + a[7],
        a[8] * b[0] + a[9] * b[4] + a[10] * b[8],
        a[8] * b[1] + a[9] * b[5] + a[10] * b[9],
        a[8] * b[2] + a[9] * b[6] + a[10] * b[10],
        a[8] * b[3] + a[9] * b[7] + a[10] * b[11] + a[11],
    )


@kernel(fast=True, inline=True)
def write_column(J: Array, k: int, tip: Motion, moving: Vector, turning: Vector, mode: int, weight: float) -> None:
    """Write column k from linear and angular velocity of the tip, in the base frame of `tip`. Source: derived."""
    lx, ly, lz = moving
    wx, wy, wz = turning
    J[k, 0] = tip[0] * lx + tip[4] * ly + tip[8] * lz
    J[k, 1] = tip[1] * lx + tip[5] * ly + tip[9] * lz
    J[k, 2] = tip[2] * lx + tip[6] * ly + tip[10] * lz
    if mode == POSITION:
        J[k, 3] = 0.0
        J[k, 4] = 0.0
        return
    x = weight * (tip[0] * wx + tip[4] * wy + tip[8] * wz)
    y = weight * (tip[1] * wx + tip[5] * wy + tip[9] * wz)
    if mode == AXIS:
        # The z axis has the velocity w x z = (wy, -wx, 0).
        J[k, 3] = y
        J[k, 4] = -x
        return
    J[k, 3] = x
    J[k, 4] = y
    J[k, 5] = weight * (tip[2] * wx + tip[6] * wy + tip[10] * wz)


@kernel(fast=True, inline=True)
def bend_functions(
    polynomials: Array, row: int, t: float, scale: float
) -> tuple[float, float, float, float, float, float, float]:
    """Return A, B, C, g, Z, 2 dg/dt, 2 dZ/dt of a section at t = theta^2. Source: derived."""
    last = polynomials.shape[1] - 1
    x = scale * t - 1.0
    C = polynomials[0, last]
    E = polynomials[1, last]
    if row == 0:
        for i in range(last):
            C = C * x + polynomials[0, last - 1 - i]
            E = E * x + polynomials[1, last - 1 - i]
        A = 1.0 - t * C
        B = 0.5 * (A - t * E)
        return A, B, C, B, A, E, C - B
    g = polynomials[row, last]
    Z = polynomials[row + 1, last]
    slope_g = 0.0
    slope_Z = 0.0
    for passed in range(last):
        i = last - 1 - passed
        C = C * x + polynomials[0, i]
        E = E * x + polynomials[1, i]
        slope_g = slope_g * x + g
        slope_Z = slope_Z * x + Z
        g = g * x + polynomials[row, i]
        Z = Z * x + polynomials[row + 1, i]
    A = 1.0 - t * C
    B = 0.5 * (A - t * E)
    return A, B, C, g, Z, 2.0 * scale * slope_g, 2.0 * scale * slope_Z


@kernel(fast=True, inline=True)
def shifted(tip: Motion, x: float, y: float, z: float) -> Motion:
    """Return the tip with (x, y, z) added to its position. Source: derived."""
    xx, xy, xz, px, yx, yy, yz, py, zx, zy, zz, pz = tip
    return xx, xy, xz, px + x, yx, yy, yz, py + y, zx, zy, zz, pz + z


@kernel(fast=True, inline=True)
def bend_step(model: Model, goal: Goal, element: Record, v: Array, tip: Motion, J: Array) -> Motion:
    """Write a section's columns; return the tip in its base frame. Source: derived."""
    k = element.variable
    bx = v[k]
    by = v[k + 1] if element.kind == BEND else 0.0
    varying = element.stretch > 0.0
    share = k + element.width - 1
    S = element.length + element.stretch * v[share] if varying else element.length
    xx = bx * bx
    yy = by * by
    xy = bx * by
    t = xx + yy
    A, B, C, g, Z, hg, hz = bend_functions(model.polynomials, element.tip_row, t, model.scale)
    turn = (1.0 - B * xx, -B * xy, A * bx, 0.0, -B * xy, 1.0 - B * yy, A * by, 0.0, -A * bx, -A * by, 1.0 - t * B, 0.0)
    here = multiply(turn, tip)
    # From the section's end to the tip, in the section's base frame.
    ex = here[3]
    ey = here[7]
    ez = here[11]
    wx = -C * xy
    wy = 1.0 - C * yy
    wz = -B * by
    lx = S * (g + hg * xx) + wy * ez - wz * ey
    ly = S * hg * xy + wz * ex - wx * ez
    lz = S * hz * bx + wx * ey - wy * ex
    write_column(J, k, here, (lx, ly, lz), (wx, wy, wz), goal.mode, model.weight)
    if element.kind == BEND:
        wx = C * xx - 1.0
        wy = C * xy
        wz = B * bx
        lx = S * hg * xy + wy * ez - wz * ey
        ly = S * (g + hg * yy) + wz * ex - wx * ez
        lz = S * hz * by + wx * ey - wy * ex
        write_column(J, k + 1, here, (lx, ly, lz), (wx, wy, wz), goal.mode, model.weight)
    if varying:
        d = element.stretch
        write_column(J, share, here, (d * g * bx, d * g * by, d * Z), (0.0, 0.0, 0.0), goal.mode, model.weight)
    return shifted(here, S * g * bx, S * g * by, S * Z)


@kernel(fast=True, inline=True)
def write_turn(J: Array, k: int, a: Row, b: Row, axis: Row, mode: int, weight: float) -> None:
    """Write the column of a rotation about `axis`; a, b, axis: rows of the tip in cyclic order. Source: derived."""
    J[k, 0] = b[0] * a[3] - a[0] * b[3]
    J[k, 1] = b[1] * a[3] - a[1] * b[3]
    J[k, 2] = b[2] * a[3] - a[2] * b[3]
    if mode == POSITION:
        J[k, 3] = 0.0
        J[k, 4] = 0.0
    elif mode == AXIS:
        # The z axis has the velocity w x z = (wy, -wx, 0).
        J[k, 3] = weight * axis[1]
        J[k, 4] = -weight * axis[0]
    else:
        J[k, 3] = weight * axis[0]
        J[k, 4] = weight * axis[1]
        J[k, 5] = weight * axis[2]


@kernel(fast=True, inline=True)
def mix(f: float, a: Row, g: float, b: Row) -> Row:
    """Return the row f a + g b. Source: derived."""
    return f * a[0] + g * b[0], f * a[1] + g * b[1], f * a[2] + g * b[2], f * a[3] + g * b[3]


@kernel(fast=True, inline=True)
def turn_step(model: Model, goal: Goal, element: Record, v: Array, tip: Motion, J: Array) -> Motion:
    """Write the column of a revolute joint; return the tip in its base frame. Source: derived.

    The axis is the same in both frames of the joint, so the column is computed before the rotation.
    """
    k = element.variable
    s, c = sincos(v[k])
    x = (tip[0], tip[1], tip[2], tip[3])
    y = (tip[4], tip[5], tip[6], tip[7])
    z = (tip[8], tip[9], tip[10], tip[11])
    if element.about == ABOUT_Z:
        write_turn(J, k, x, y, z, goal.mode, model.weight)
        return mix(c, x, -s, y) + mix(s, x, c, y) + z
    if element.about == ABOUT_Y:
        write_turn(J, k, z, x, y, goal.mode, model.weight)
        return mix(s, z, c, x) + y + mix(c, z, -s, x)
    write_turn(J, k, y, z, x, goal.mode, model.weight)
    return x + mix(c, y, -s, z) + mix(s, y, c, z)


@kernel(fast=True, inline=True)
def slide_step(model: Model, goal: Goal, element: Record, v: Array, tip: Motion, J: Array) -> Motion:
    """Write the column of a prismatic joint; return the tip in its base frame. Source: derived."""
    k = element.variable
    x = element.axis[0]
    y = element.axis[1]
    z = element.axis[2]
    write_column(J, k, tip, (x, y, z), (0.0, 0.0, 0.0), goal.mode, model.weight)
    return shifted(tip, v[k] * x, v[k] * y, v[k] * z)


@kernel(fast=True, inline=True)
def swing_step(model: Model, goal: Goal, element: Record, v: Array, tip: Motion, J: Array) -> Motion:
    """Write the column of a parallelogram; return the tip in its base frame. Source: derived."""
    k = element.variable
    ax = element.axis[0]
    ay = element.axis[1]
    az = element.axis[2]
    link = element.link
    s, c = sincos(v[k])
    # The link rotated about the axis, by Rodrigues' formula.
    along = (1.0 - c) * (ax * link[0] + ay * link[1] + az * link[2])
    mx = c * link[0] + s * (ay * link[2] - az * link[1]) + along * ax
    my = c * link[1] + s * (az * link[0] - ax * link[2]) + along * ay
    mz = c * link[2] + s * (ax * link[1] - ay * link[0]) + along * az
    moving = (ay * mz - az * my, az * mx - ax * mz, ax * my - ay * mx)
    write_column(J, k, tip, moving, (0.0, 0.0, 0.0), goal.mode, model.weight)
    return shifted(tip, mx, my, mz)


@kernel(fast=True)
def joint_step(model: Model, goal: Goal, element: Record, v: Array, tip: Motion, J: Array) -> Motion:
    """Write the column of any joint; return the tip in its base frame. Source: derived."""
    row = model.chain[element.row]
    value = v[element.variable]
    motion = motion_of(row.kind, row, value)
    here = multiply(motion, tip)
    lx, ly, lz, wx, wy, wz = rates_of(row.kind, row, value, motion)
    # From the joint's far end to the tip.
    x, y, z = here[3] - motion[3], here[7] - motion[7], here[11] - motion[11]
    moving = (lx + wy * z - wz * y, ly + wz * x - wx * z, lz + wx * y - wy * x)
    write_column(J, element.variable, here, moving, (wx, wy, wz), goal.mode, model.weight)
    return here


@kernel(fast=True, inline=True)
def fixed_step(element: Record, tip: Motion) -> Motion:
    """Return the tip in the end frame of a moving element, by the fixed motion that follows it. Source: derived."""
    m = element.motion
    if element.motion_kind == SHIFT:
        return shifted(tip, m[3], m[7], m[11])
    return multiply((m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11]), tip)


@kernel(fast=True, inline=True)
def residual(tip: Motion, goal: Goal, weight: float, e: Array) -> tuple[float, float]:
    """Write the residual e (6,) in the tip frame; return squared distance and angle to the target. Source: derived."""
    target, mode = goal.target, goal.mode
    x = target[9] - tip[3]
    y = target[10] - tip[7]
    z = target[11] - tip[11]
    e[0] = tip[0] * x + tip[4] * y + tip[8] * z
    e[1] = tip[1] * x + tip[5] * y + tip[9] * z
    e[2] = tip[2] * x + tip[6] * y + tip[10] * z
    e[3] = 0.0
    e[4] = 0.0
    e[5] = 0.0
    distance2 = x * x + y * y + z * z
    if mode == POSITION:
        return distance2, 0.0
    # The wanted z axis in the tip frame.
    a = tip[0] * target[2] + tip[4] * target[5] + tip[8] * target[8]
    b = tip[1] * target[2] + tip[5] * target[5] + tip[9] * target[8]
    c = tip[2] * target[2] + tip[6] * target[5] + tip[10] * target[8]
    if mode == AXIS:
        s = math.sqrt(a * a + b * b)
        angle = math.atan2(s, c)
        f = weight * (angle / s if s > _SMALL_SINE else 1.0)
        e[3] = f * a
        e[4] = f * b
        if s <= _SMALL_SINE and c < 0.0:
            # Opposite axes: every rotation axis is equally good, take one.
            e[3] = weight * angle
        return distance2, angle
    # The logarithm of R^T R_target.
    e21 = tip[2] * target[1] + tip[6] * target[4] + tip[10] * target[7]
    e20 = tip[2] * target[0] + tip[6] * target[3] + tip[10] * target[6]
    e10 = tip[1] * target[0] + tip[5] * target[3] + tip[9] * target[6]
    e01 = tip[0] * target[1] + tip[4] * target[4] + tip[8] * target[7]
    e00 = tip[0] * target[0] + tip[4] * target[3] + tip[8] * target[6]
    e11 = tip[1] * target[1] + tip[5] * target[4] + tip[9] * target[7]
    rx = 0.5 * (e21 - b)
    ry = 0.5 * (a - e20)
    rz = 0.5 * (e10 - e01)
    s = math.sqrt(rx * rx + ry * ry + rz * rz)
    cosine = 0.5 * (e00 + e11 + c - 1.0)
    angle = math.atan2(s, cosine)
    f = weight * (angle / s if s > _SMALL_SINE else 1.0)
    e[3] = f * rx
    e[4] = f * ry
    e[5] = f * rz
    if s <= _SMALL_SINE and cosine < 0.0:
        # Half a turn off: rotate about the axis on which the two frames agree most.
        k = 3 if e00 >= e11 and e00 >= c else 4 if e11 >= c else 5
        e[k] = weight * angle
    return distance2, angle


@kernel(fast=True, inline=True)
def scale_columns(model: Model, J: Array, mode: int) -> None:
    """Scale the columns of joints and bends by their units; those of stretches have none. Source: derived."""
    for row in range(rows(model)):
        element = model.moving[row]
        for i in range(2 if element.kind == BEND else 1):
            for r in range(5):
                J[element.variable + i, r] *= element.unit
            if mode == ROTATION:
                J[element.variable + i, 5] *= element.unit


@kernel(fast=True, inline=True)
def evaluate(model: Model, goal: Goal, v: Array, e: Array, J: Array) -> tuple[float, float]:
    """Write residual e (6,) and Jacobian J (variables, 6) at v; return squared distance and angle. Source: derived."""
    moving = model.moving
    tip: Motion = IDENTITY
    for passed in range(rows(model)):
        element = moving[moving.shape[0] - 1 - passed]
        kind = element.kind
        if element.motion_kind != NOTHING:
            tip = fixed_step(element, tip)
        if kind == TURN:
            tip = turn_step(model, goal, element, v, tip, J)
        elif kind >= BEND:
            tip = bend_step(model, goal, element, v, tip, J)
        elif kind == SLIDE:
            tip = slide_step(model, goal, element, v, tip, J)
        elif kind == SWING:
            tip = swing_step(model, goal, element, v, tip, J)
        elif OTHER_JOINTS:
            tip = joint_step(model, goal, element, v, tip, J)
    if model.scaled:
        scale_columns(model, J, goal.mode)
    return residual(tip, goal, model.weight, e)
