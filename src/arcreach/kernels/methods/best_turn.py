"""The best value of one joint in closed form: the one that brings the tip, or an axis of it, nearest to the target.

Symbols: e, the unit axis of the joint; S, the vector from the joint to the tip, or an axis of the tip; K, the same
vector at the target. After a rotation by t, S . K is a cos t + b sin t plus a constant, so the best t follows directly.
Weighted sums of such products have the same form.
"""

import math
from typing import NamedTuple

from arcreach._jit import kernel
from arcreach._typing import Vector
from arcreach.kernels.chain.kinematics import element_motion
from arcreach.kernels.chain.layout import LINK, PARALLELOGRAM, PRISMATIC
from arcreach.kernels.math.transforms import IDENTITY, compose, rotation, translation, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import along, cross, dot, minus

# Below this share of |S|^2 + |K|^2, a and b are rounding: S or K lies on the axis, and all rotations are equally good.
NOISE = 1e-14
# Number of columns of `joint_vectors`: a point of the joint, its axis, and the link of a parallelogram.
VECTORS = 9


class Joint(NamedTuple):
    """A joint in the base frame."""

    kind: int
    lower: float
    upper: float
    point: Vector
    axis: Vector
    arm: Vector  # the link of a parallelogram, else zero


@kernel
def turn_terms(axis, s, k):
    """Return a and b of S . K as a function of the rotation, and |S|^2 + |K|^2. Source: [FRD] statement 1, eq. 2."""
    a = dot(s, k) - dot(axis, s) * dot(axis, k)
    b = dot(axis, cross(s, k))
    size = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + k[0] * k[0] + k[1] * k[1] + k[2] * k[2]
    return a, b, size


@kernel
def best_turn(a, b, noise, value, lower, upper):
    """Return the coordinate within its limits at which a cos t + b sin t is largest, t measured from `value`.

    Returns `value` if a and b are not above `noise`.
    Source: [FRD] eqs. 1, 2, 4. Erratum: see docs/errata.md#frd-1, docs/errata.md#frd-4.
    """
    if a * a + b * b <= noise * noise:
        return value
    wanted = value + math.atan2(b, a)
    if lower <= wanted <= upper:
        return wanted
    other = wanted - 2.0 * math.pi if wanted > upper else wanted + 2.0 * math.pi
    if lower <= other <= upper:
        return other
    # No maximum is inside the limits, so one of the ends is best.
    at_lower = a * math.cos(lower - value) + b * math.sin(lower - value)
    at_upper = a * math.cos(upper - value) + b * math.sin(upper - value)
    return upper if at_upper >= at_lower else lower


@kernel(inline=True)
def best_stroke(joint, value, tip, target):
    """Return the coordinate of a prismatic joint within its limits that brings the tip nearest to a target row.

    Source: [FRD] statement 2. Erratum: see docs/errata.md#frd-prismatic.
    """
    step = dot(joint.axis, minus((target[9], target[10], target[11]), tip))
    return min(max(value + step, joint.lower), joint.upper)


@kernel(inline=True)
def position_terms(joint, tip, target):
    """Return `turn_terms` of a joint or a parallelogram for the position of the tip.

    Source: [FRD] statement 1; derived for parallelograms.
    """
    wanted = (target[9], target[10], target[11])
    if joint.kind == PARALLELOGRAM:
        # The tip keeps its offset from the far end of the arm, so the arm should end at that offset from the target.
        return turn_terms(joint.axis, joint.arm, along(minus(wanted, tip), 1.0, joint.arm))
    return turn_terms(joint.axis, minus(tip, joint.point), minus(wanted, joint.point))


@kernel(inline=True)
def best_value(joint, value, tip, target, noise):
    """Return the coordinate of a joint within its limits that brings the tip's position nearest to a target row.

    `noise` is a share of |S|^2 + |K|^2. Source: [FRD] statements 1, 2. Erratum: see docs/errata.md#frd-4.
    """
    if joint.kind == PRISMATIC:
        return best_stroke(joint, value, tip, target)
    a, b, size = position_terms(joint, tip, target)
    return best_turn(a, b, noise * size, value, joint.lower, joint.upper)


@kernel(inline=True)
def motion_after(joint, step):
    """Return the motion of the chain after a joint, in the base frame, for a change by `step`. Source: [FRD] eq. 5."""
    axis, point, arm = joint.axis, joint.point, joint.arm
    if joint.kind == PRISMATIC:
        return translation(step * axis[0], step * axis[1], step * axis[2])
    s, c = sincos(step)
    motion = rotation(axis[0], axis[1], axis[2], s, c)
    if joint.kind == PARALLELOGRAM:
        x, y, z = turn(motion, arm[0], arm[1], arm[2])
        return translation(x - arm[0], y - arm[1], z - arm[2])
    x, y, z = turn(motion, point[0], point[1], point[2])
    return compose(translation(point[0] - x, point[1] - y, point[2] - z), motion)


@kernel(inline=True)
def place_joint(chain, row, q, before):
    """Return the joint of a row of the chain; `before` is the frame at its proximal end. Source: [FRD] fig. 1."""
    axis = chain[row].axis
    arm = (0.0, 0.0, 0.0)
    if chain[row].kind == PARALLELOGRAM:
        swung = element_motion(chain, row, q)
        arm = turn(before, swung[3], swung[7], swung[11])
    return Joint(
        chain[row].kind,
        chain[row].lower,
        chain[row].upper,
        (before[3], before[7], before[11]),
        turn(before, axis[0], axis[1], axis[2]),
        arm,
    )


@kernel
def joint_vectors(chain, q, vectors):
    """Write point, axis and arm of all joints (dof, 9) in the base frame; return the tip. Source: [FRD] fig. 1."""
    motion = IDENTITY
    for row in range(chain.shape[0]):
        if chain[row].kind != LINK:
            joint = place_joint(chain, row, q, motion)
            for i in range(3):
                vectors[chain[row].coordinate, i] = joint.point[i]
                vectors[chain[row].coordinate, 3 + i] = joint.axis[i]
                vectors[chain[row].coordinate, 6 + i] = joint.arm[i]
        motion = compose(motion, element_motion(chain, row, q))
    return motion


@kernel(inline=True)
def load_joint(chain, row, vectors):
    """Return the joint of a row of the chain from the vectors that `joint_vectors` wrote. Source: derived."""
    v = vectors[chain[row].coordinate]
    return Joint(
        chain[row].kind, chain[row].lower, chain[row].upper, (v[0], v[1], v[2]), (v[3], v[4], v[5]), (v[6], v[7], v[8])
    )
