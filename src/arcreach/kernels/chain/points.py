"""Points of the backbone at given fractions of elements, with their derivatives by the coordinates.

A point is given by the row of its element in the chain and the fraction of the element's length, from 0 to 1.
"""

from arcreach._jit import kernel
from arcreach._typing import Array, Integers, Motion, Records
from arcreach.kernels.chain.kinematics import (
    add_shift,
    add_turn,
    element_motion,
    element_point,
    joint_column,
    section_columns,
    section_length,
)
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.chain.section import planar_point, planar_point_slope
from arcreach.kernels.math.transforms import IDENTITY, apply, compose, translation, turn
from arcreach.kernels.math.trigonometry import sincos


@kernel
def part_columns(
    chain: Records, row: int, q: Array, fraction: float, before: Motion, point: Motion, jac: Array
) -> None:
    """Write the columns of a section for a point inside it. Source: derived."""
    k = chain[row].coordinate
    s, c = sincos(q[k + 1])
    length = section_length(chain, row, q)
    slope_x, slope_z = planar_point_slope(chain, row, q[k], fraction)
    add_shift(turn(before, length * slope_x * c, length * slope_x * s, length * slope_z), k, jac)
    add_turn((before[2], before[6], before[10]), before, point, k + 1, jac)
    if chain[row].stretch > 0.0:
        at_x, at_z = planar_point(chain, row, q[k], fraction)
        add_shift(turn(before, at_x * c, at_x * s, at_z), k + 2, jac)


@kernel
def joint_part(chain: Records, row: int, q: Array, fraction: float, before: Motion, jac: Array) -> None:
    """Write the column of a joint for the point at `fraction` of its straight line. Source: derived."""
    k = chain[row].coordinate
    step = element_motion(chain, row, q)
    after = compose(before, step)
    joint_column(chain, row, q, step, before, after, after, jac)
    for i in range(6):
        jac[i, k] *= fraction


@kernel
def point_at(chain: Records, q: Array, at: int, fraction: float, out: Array, jac: Array) -> None:
    """Write the point (3,) of the element in row `at` and the linear rows of its Jacobian (6, dof). Source: derived."""
    for i in range(6):
        for k in range(jac.shape[1]):
            jac[i, k] = 0.0
    before = IDENTITY
    row = 0
    while row < at:
        before = compose(before, element_motion(chain, row, q))
        row += 1 + chain[row].arcs
    x, y, z = element_point(chain, row, q, element_motion(chain, row, q), fraction)
    x, y, z = apply(before, x, y, z)
    out[0], out[1], out[2] = x, y, z
    point = translation(x, y, z)
    if chain[at].kind == SECTION:
        part_columns(chain, at, q, fraction, before, point, jac)
    elif chain[at].kind != LINK:
        joint_part(chain, at, q, fraction, before, jac)
    before = IDENTITY
    row = 0
    while row < at:
        step = element_motion(chain, row, q)
        after = compose(before, step)
        if chain[row].kind == SECTION:
            section_columns(chain, row, q, before, after, point, jac)
        elif chain[row].kind != LINK:
            joint_column(chain, row, q, step, before, after, point, jac)
        before = after
        row += 1 + chain[row].arcs


@kernel(batch=True)
def points_at(
    start: int, stop: int, chain: Records, Q: Array, elements: Integers, fractions: Array, points: Array, jac: Array
) -> None:
    """Write points (n, m, 3) of elements (m,); only rows 0 to 2 of jac (n, m, 6, dof) are valid. Source: derived."""
    for i in range(start, stop):
        for j in range(elements.shape[0]):
            point_at(chain, Q[i], elements[j], fractions[j], points[i, j], jac[i, j])
