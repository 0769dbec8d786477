"""Kinematics of one configuration of a chain: tip pose, element frames, backbone points, Jacobian.

`chain` is the packed robot, see `layout`; q is one configuration (dof,).
"""

import math

from arcreach._jit import kernel
from arcreach._typing import Array, Motion, Record, Records, Vector
from arcreach.elements import motion_of, rates_of
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.chain.section import planar_point, planar_slope, planar_tip, section_motion
from arcreach.kernels.math.transforms import IDENTITY, apply, compose, store, turn
from arcreach.kernels.math.trigonometry import sincos


@kernel
def section_length(chain: Records, row: int, q: Array) -> float:
    """Return the current length S of a section, its third coordinate if the length varies. Source: [K22] eq. 2.3."""
    return q[chain[row].coordinate + 2] if chain[row].stretch > 0.0 else chain[row].length


@kernel
def link_motion(chain: Records, row: int) -> Motion:
    """Return the fixed motion of a link. Source: derived."""
    t = chain[row].translation
    r = chain[row].rotation
    return r[0, 0], r[0, 1], r[0, 2], t[0], r[1, 0], r[1, 1], r[1, 2], t[1], r[2, 0], r[2, 1], r[2, 2], t[2]


@kernel
def element_motion(chain: Records, row: int, q: Array) -> Motion:
    """Return the motion from the proximal to the distal frame of an element. Source: [K22] eq. 2.6; [FRD] fig. 1."""
    kind = chain[row].kind
    k = chain[row].coordinate
    if kind == SECTION:
        return section_motion(chain, row, q[k], q[k + 1], section_length(chain, row, q))
    if kind == LINK:
        return link_motion(chain, row)
    return motion_of(kind, chain[row], q[k])


@kernel
def tip_motion(chain: Records, q: Array) -> Motion:
    """Return the motion from base to tip. Source: [K22] eqs. 1.12, 2.7. Erratum: see docs/errata.md#k22-2-7."""
    motion = IDENTITY
    row = 0
    while row < chain.shape[0]:
        motion = compose(motion, element_motion(chain, row, q))
        row += 1 + chain[row].arcs
    return motion


@kernel
def front_motion(chain: Records) -> Motion:
    """Return the motion of the links before the first joint or section. Source: derived."""
    motion = IDENTITY
    row = 0
    while row < chain.shape[0] and chain[row].kind == LINK:
        motion = compose(motion, link_motion(chain, row))
        row += 1
    return motion


@kernel
def count_elements(chain: Records) -> int:
    """Return the number of elements. Source: derived."""
    count = 0
    row = 0
    while row < chain.shape[0]:
        count += 1
        row += 1 + chain[row].arcs
    return count


@kernel
def tip_pose(chain: Records, q: Array, pose: Array) -> None:
    """Write T_base_tip (4, 4). Source: [K22] eqs. 1.12, 2.7. Erratum: see docs/errata.md#k22-2-7."""
    store(tip_motion(chain, q), pose)


@kernel
def frames(chain: Records, q: Array, poses: Array) -> None:
    """Write the base frame and the frame at the end of every element, (elements + 1, 4, 4). Source: derived."""
    motion = IDENTITY
    store(motion, poses[0])
    row = 0
    i = 1
    while row < chain.shape[0]:
        motion = compose(motion, element_motion(chain, row, q))
        store(motion, poses[i])
        row += 1 + chain[row].arcs
        i += 1


@kernel
def joint_length(row: Record, value: float) -> float:
    """Return the distance between both ends of a joint. Source: derived."""
    motion = motion_of(row.kind, row, value)
    return math.sqrt(motion[3] * motion[3] + motion[7] * motion[7] + motion[11] * motion[11])


@kernel
def element_length(chain: Records, row: int, q: Array) -> float:
    """Return the length of an element's centre line, an arc or the straight line between its ends. Source: derived."""
    kind = chain[row].kind
    if kind == SECTION:
        return abs(section_length(chain, row, q))
    if kind == LINK:
        t = chain[row].translation
        return math.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
    # A joint that only turns has no length.
    return joint_length(chain[row], q[chain[row].coordinate]) if chain[row].reach > 0.0 else 0.0


@kernel
def element_point(chain: Records, row: int, q: Array, step: Motion, fraction: float) -> Vector:
    """Return the point at `fraction` of an element, in its proximal frame; `step` is its motion. Source: derived."""
    k = chain[row].coordinate
    if chain[row].kind == SECTION:
        x, z = planar_point(chain, row, q[k], fraction)
        s, c = sincos(q[k + 1])
        length = section_length(chain, row, q)
        return length * x * c, length * x * s, length * z
    return fraction * step[3], fraction * step[7], fraction * step[11]


@kernel
def backbone(chain: Records, q: Array, points: Array) -> None:
    """Write points (m, 3) at equal steps of arc length from base to tip. Source: derived."""
    last = points.shape[0] - 1
    total = 0.0
    row = 0
    while row < chain.shape[0]:
        total += element_length(chain, row, q)
        row += 1 + chain[row].arcs
    motion = IDENTITY
    before = 0.0
    done = 0
    row = 0
    while row < chain.shape[0]:
        length = element_length(chain, row, q)
        step = element_motion(chain, row, q)
        # The last point is set to the tip below, so that rounding cannot miss it.
        while length > 0.0 and done < last and total * done / last <= before + length:
            fraction = (total * done / last - before) / length
            x, y, z = element_point(chain, row, q, step, min(max(fraction, 0.0), 1.0))
            points[done, 0], points[done, 1], points[done, 2] = apply(motion, x, y, z)
            done += 1
        before += length
        motion = compose(motion, step)
        row += 1 + chain[row].arcs
    for i in range(done, last + 1):
        points[i, 0] = motion[3]
        points[i, 1] = motion[7]
        points[i, 2] = motion[11]


@kernel
def add_turn(axis: Vector, centre: Motion, tip: Motion, k: int, jac: Array) -> None:
    """Add a rotation at unit rate about an axis through the origin of `centre` to column k. Source: derived."""
    x, y, z = axis
    dx = tip[3] - centre[3]
    dy = tip[7] - centre[7]
    dz = tip[11] - centre[11]
    jac[0, k] += y * dz - z * dy
    jac[1, k] += z * dx - x * dz
    jac[2, k] += x * dy - y * dx
    jac[3, k] += x
    jac[4, k] += y
    jac[5, k] += z


@kernel
def add_shift(velocity: Vector, k: int, jac: Array) -> None:
    """Add a velocity of the tip without rotation to column k. Source: derived."""
    jac[0, k] += velocity[0]
    jac[1, k] += velocity[1]
    jac[2, k] += velocity[2]


@kernel
def section_columns(chain: Records, row: int, q: Array, before: Motion, after: Motion, tip: Motion, jac: Array) -> None:
    """Write a section's columns: bend, direction and, if it varies, length. Source: derived."""
    k = chain[row].coordinate
    s, c = sincos(q[k + 1])
    length = section_length(chain, row, q)
    # Bending moves the section's end in its plane and turns the rest of the chain about that plane's normal, Rz(phi) y.
    slope_x, slope_z = planar_slope(chain, row, q[k])
    add_shift(turn(before, length * slope_x * c, length * slope_x * s, length * slope_z), k, jac)
    add_turn(turn(before, -s, c, 0.0), after, tip, k, jac)
    # The direction turns the section about its base tangent and, without twist, the rest back about the end tangent.
    add_turn((before[2], before[6], before[10]), before, tip, k + 1, jac)
    if chain[row].twist == 0:
        add_turn((-after[2], -after[6], -after[10]), after, tip, k + 1, jac)
    if chain[row].stretch > 0.0:
        tip_x, tip_z = planar_tip(chain, row, q[k])
        add_shift(turn(before, tip_x * c, tip_x * s, tip_z), k + 2, jac)


@kernel
def joint_column(
    chain: Records, row: int, q: Array, step: Motion, before: Motion, after: Motion, tip: Motion, jac: Array
) -> None:
    """Write the column of a joint whose motion is `step`. Source: derived."""
    k = chain[row].coordinate
    lx, ly, lz, wx, wy, wz = rates_of(chain[row].kind, chain[row], q[k], step)
    if chain[row].largest_shift > 0.0:
        add_shift(turn(before, lx, ly, lz), k, jac)
    if chain[row].largest_turn > 0.0:
        add_turn(turn(before, wx, wy, wz), after, tip, k, jac)


@kernel
def jacobian(chain: Records, q: Array, jac: Array) -> None:
    """Write the Jacobian (6, dof): linear rows then angular, base frame. Source: derived."""
    for i in range(6):
        for k in range(jac.shape[1]):
            jac[i, k] = 0.0
    tip = tip_motion(chain, q)
    before = IDENTITY
    row = 0
    while row < chain.shape[0]:
        kind = chain[row].kind
        step = element_motion(chain, row, q)
        after = compose(before, step)
        if kind == SECTION:
            section_columns(chain, row, q, before, after, tip, jac)
        elif kind != LINK:
            joint_column(chain, row, q, step, before, after, tip, jac)
        before = after
        row += 1 + chain[row].arcs
