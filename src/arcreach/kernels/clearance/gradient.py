"""The gradient of a clearance: velocity of the nearest point along the normal, per unit of each coordinate.

The point is held at its share of the element's length. This is exact to first order: moving along the element does not
change the distance at a nearest point inside it, and a nearest point at an end stays at the end. A point of the mesh of
an element is fixed to the element's end frame.
"""

from typing import NamedTuple

from arcreach._jit import kernel
from arcreach._typing import Vector
from arcreach.elements import rates_of
from arcreach.kernels.chain.kinematics import element_motion, section_length
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.chain.section import planar_point, planar_point_slope, planar_slope, planar_tip
from arcreach.kernels.clearance.obstacle_clearance import AT_ELEMENT, POINT, SHARE, TOWARDS
from arcreach.kernels.math.transforms import IDENTITY, compose, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import cross, dot, minus


class Contact(NamedTuple):
    """A point of the body and the unit normal from the obstacle to it, in the base frame."""

    point: Vector
    normal: Vector


@kernel
def turn_rate(axis, centre, contact):
    """Return a contact's rate along its normal for a rotation about an axis at the frame `centre`. Source: derived."""
    away = minus(contact.point, (centre[3], centre[7], centre[11]))
    return dot(contact.normal, cross(axis, away))


@kernel
def shift_rate(frame, x, y, z, contact):
    """Return a contact's rate along its normal for a translation (x, y, z) in the axes of a frame. Source: derived."""
    return dot(contact.normal, turn(frame, x, y, z))


@kernel
def section_rates(chain, row, q, before, after, share, contact, gradient):
    """Add a section's rates for a contact at `share` of its length or, if share < 0, distal to it. Source: derived."""
    k = chain[row].coordinate
    s, c = sincos(q[k + 1])
    length = section_length(chain, row, q)
    if share < 0.0:
        slope_x, slope_z = planar_slope(chain, row, q[k])
        point_x, point_z = planar_tip(chain, row, q[k])
        # The distal chain turns about the normal of the bending plane and, without twist, back about the end tangent.
        gradient[k] += turn_rate(turn(before, -s, c, 0.0), after, contact)
        if chain[row].twist == 0:
            gradient[k + 1] -= turn_rate((after[2], after[6], after[10]), after, contact)
    else:
        slope_x, slope_z = planar_point_slope(chain, row, q[k], share)
        point_x, point_z = planar_point(chain, row, q[k], share)
    gradient[k] += length * shift_rate(before, slope_x * c, slope_x * s, slope_z, contact)
    gradient[k + 1] += turn_rate((before[2], before[6], before[10]), before, contact)
    if chain[row].stretch > 0.0:
        gradient[k + 2] += shift_rate(before, point_x * c, point_x * s, point_z, contact)


@kernel
def joint_rates(chain, row, q, step, before, share, contact, gradient):
    """Add the rate by a joint's coordinate for a contact at `share` of its line or, if share < 0, distal to it.

    `step` is the motion of the joint. Source: derived.
    """
    k = chain[row].coordinate
    lx, ly, lz, wx, wy, wz = rates_of(chain[row].kind, chain[row], q[k], step)
    rate = shift_rate(before, lx, ly, lz, contact)
    if share >= 0.0:
        gradient[k] += share * rate
        return
    gradient[k] += rate + turn_rate(turn(before, wx, wy, wz), compose(before, step), contact)


@kernel
def point_gradient(chain, q, element, share, contact, gradient):
    """Add n . dP/dq to gradient (dof,) for a contact's point P at `share` of an element's length.

    If share < 0, P is fixed to the element's end frame. Source: derived.
    """
    before = IDENTITY
    row = 0
    for e in range(element + 1):
        kind = chain[row].kind
        step = element_motion(chain, row, q)
        after = compose(before, step)
        part = share if e == element else -1.0
        if kind == SECTION:
            section_rates(chain, row, q, before, after, part, contact, gradient)
        elif kind != LINK:
            joint_rates(chain, row, q, step, before, part, contact, gradient)
        before = after
        row += 1 + chain[row].arcs


@kernel
def row_gradient(chain, q, found, gradient):
    """Write the gradient (dof,) of the distance that rows (m, CLEARANCE_SIZE) describe.

    One row stands for the distance to an obstacle, two rows for the distance between two points of the body.
    Source: derived.
    """
    for k in range(gradient.shape[0]):
        gradient[k] = 0.0
    for i in range(found.shape[0]):
        row = found[i]
        if row[AT_ELEMENT] >= 0.0:
            point = (row[POINT], row[POINT + 1], row[POINT + 2])
            normal = (row[TOWARDS], row[TOWARDS + 1], row[TOWARDS + 2])
            point_gradient(chain, q, int(row[AT_ELEMENT]), row[SHARE], Contact(point, normal), gradient)


@kernel(batch=True)
def row_gradients(start, stop, chain, Q, found, gradients):
    """Write `row_gradient` of rows start to stop: found (n, m, CLEARANCE_SIZE), gradients (n, dof). Source: derived."""
    for i in range(start, stop):
        row_gradient(chain, Q[i], found[i], gradients[i])
