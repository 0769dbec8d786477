"""Limits of a chain: test whether a configuration is finite and inside them, and find the nearest one inside.

Distances are measured in solver variables: for a section the bend vector bend * (cos direction, sin direction) in
radians and the share s / S_delta of its stretch, for a joint its coordinate. The limits of a fixed section are then a
disc, those of a variable one a cone cut off at s = S_delta, or a cylinder if bend and length are not coupled. All are
convex, so the nearest point is unique.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Booleans, Records
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.math.trigonometry import nearest_integer

# `abs(x) <= LARGEST_FLOAT` is false for infinity and NaN.
LARGEST_FLOAT = np.finfo(np.float64).max


@kernel
def finite(q: Array) -> bool:
    """Return whether every number of a configuration is finite. Source: derived."""
    bad = False
    for k in range(q.shape[0]):
        bad |= not abs(q[k]) <= LARGEST_FLOAT
    return not bad


@kernel
def wrap_angle(angle: float) -> float:
    """Return the same angle in (-pi, pi]. Source: derived."""
    if -math.pi < angle <= math.pi:
        return angle
    wrapped = angle - 2.0 * math.pi * nearest_integer(angle / (2.0 * math.pi))
    # Rounding can put the result outside by one bit; an angle of more than 2**51 turns has no correct digits.
    return wrapped if -math.pi < wrapped <= math.pi else math.pi


@kernel
def local_bend_max(chain: Records, row: int, length: float) -> float:
    """Return the largest bend of a section at a length. Source: [K22] eq. 2.5. Erratum: see docs/errata.md#k22-2-5."""
    stretch = chain[row].stretch
    if stretch <= 0.0 or chain[row].coupled == 0:
        return chain[row].bend_max
    # The difference of two rounded lengths may exceed the stretch by the last bit.
    return chain[row].bend_max * min((length - chain[row].length) / stretch, 1.0)


@kernel
def nearest_in_cone(bend: float, share: float, bend_max: float) -> tuple[float, float]:
    """Return the nearest (bend, share) with 0 <= bend <= bend_max * share and share <= 1. Source: derived."""
    if share >= 1.0 and bend <= bend_max:
        return max(bend, 0.0), 1.0
    if share <= 1.0 and 0.0 <= bend <= bend_max * share:
        return bend, share
    # The nearest point of the cone's edge, from the apex to the rim.
    along = (bend * bend_max + share) / (bend_max * bend_max + 1.0)
    along = min(max(along, 0.0), 1.0)
    return bend_max * along, along


@kernel
def clip_section(chain: Records, row: int, q: Array, out: Array) -> None:
    """Write the nearest coordinates of a section inside its limits. Source: derived."""
    k = chain[row].coordinate
    if chain[row].held == 1:
        for i in range(3 if chain[row].stretch > 0.0 else 2):
            out[k + i] = chain[row].held_at[i]
        return
    bend = q[k]
    direction = q[k + 1]
    if bend < 0.0:
        # A negative bend is a bend in the opposite direction. With twist that direction would rotate the end, so
        # the bend becomes 0.
        direction = direction if chain[row].twist == 1 else direction + math.pi
        bend = 0.0 if chain[row].twist == 1 else -bend
    out[k + 1] = wrap_angle(direction)
    if chain[row].stretch <= 0.0:
        out[k] = min(bend, chain[row].bend_max)
        return
    length = q[k + 2]
    inside = chain[row].length <= length <= chain[row].length + chain[row].stretch
    if inside and bend <= local_bend_max(chain, row, length):
        out[k] = bend
        out[k + 2] = length
        return
    if chain[row].coupled == 0:
        out[k] = min(bend, chain[row].bend_max)
        out[k + 2] = min(max(length, chain[row].length), chain[row].length + chain[row].stretch)
        return
    bend, share = nearest_in_cone(bend, (length - chain[row].length) / chain[row].stretch, chain[row].bend_max)
    length = chain[row].length + share * chain[row].stretch
    out[k + 2] = min(length, chain[row].length + chain[row].stretch)
    # The length was rounded: limit the bend by the length that is returned.
    out[k] = min(bend, max(local_bend_max(chain, row, out[k + 2]), 0.0))


@kernel
def clip(chain: Records, q: Array, out: Array) -> None:
    """Write the nearest configuration inside the limits. Source: derived."""
    row = 0
    while row < chain.shape[0]:
        kind = chain[row].kind
        if kind == SECTION:
            clip_section(chain, row, q, out)
        elif kind != LINK:
            k = chain[row].coordinate
            out[k] = min(max(q[k], chain[row].lower), chain[row].upper)
        row += 1 + chain[row].arcs


@kernel
def finite_clip(chain: Records, q: Array, out: Array) -> bool:
    """Write `clip` of a configuration if it is finite; return whether it is. Source: derived."""
    if not finite(q):
        return False
    clip(chain, q, out)
    return True


@kernel
def unwind(chain: Records, near: Array, q: Array) -> None:
    """Change periodic joints by full turns to the values nearest to `near` (dof,).

    If `near` is empty, they come nearest to the middle of their limits, 0 for continuous joints. Source: derived.
    """
    row = 0
    while row < chain.shape[0]:
        if chain[row].periodic == 1:
            k = chain[row].coordinate
            lower = chain[row].lower
            upper = chain[row].upper
            wanted = 0.0 if lower == -math.inf else 0.5 * (lower + upper)
            if near.shape[0] > 0:
                wanted = near[k]
            turns = nearest_integer((wanted - q[k]) / (2.0 * math.pi))
            if turns != 0.0:
                # The limits may allow fewer turns. Rounding can overestimate their number by two, so try three numbers.
                room = abs((upper if turns > 0.0 else lower) - q[k]) / (2.0 * math.pi)
                most = nearest_integer(min(abs(turns), room))
                for fewer in range(3):
                    value = q[k] + math.copysign(2.0 * math.pi * (most - fewer), turns)
                    # A NaN in `near` makes `most` NaN and this comparison false.
                    if most - fewer >= 1.0 and lower <= value <= upper:
                        q[k] = value
                        break
        row += 1 + chain[row].arcs


@kernel
def section_within(chain: Records, row: int, q: Array, tolerance: float) -> bool:
    """Return whether a section is inside its limits, widened by `tolerance`.

    `tolerance` is relative to the limits, but absolute for held coordinates.

    Source: [K22] eq. 2.5. Erratum: see docs/errata.md#k22-2-5.
    """
    k = chain[row].coordinate
    if chain[row].held == 1:
        for i in range(3 if chain[row].stretch > 0.0 else 2):
            if not abs(q[k + i] - chain[row].held_at[i]) <= tolerance:
                return False
        return True
    bend_slack = tolerance * chain[row].bend_max
    if not (-bend_slack <= q[k] <= chain[row].bend_max + bend_slack):
        return False
    if not abs(q[k + 1]) <= math.pi * (1.0 + tolerance):
        return False
    if chain[row].stretch <= 0.0:
        return True
    longest = chain[row].length + chain[row].stretch
    if not (chain[row].length - tolerance * longest <= q[k + 2] <= longest * (1.0 + tolerance)):
        return False
    if chain[row].coupled == 0:
        return True
    return q[k] <= local_bend_max(chain, row, q[k + 2]) + bend_slack * (longest / chain[row].stretch)


@kernel
def within(chain: Records, q: Array, tolerance: float) -> bool:
    """Return whether a configuration is inside the limits, widened as in `section_within`. Source: derived."""
    row = 0
    while row < chain.shape[0]:
        kind = chain[row].kind
        if kind == SECTION:
            if not section_within(chain, row, q, tolerance):
                return False
        elif kind != LINK:
            value = q[chain[row].coordinate]
            lower = chain[row].lower
            upper = chain[row].upper
            if lower > -math.inf:
                slack = tolerance * max(abs(lower), abs(upper))
                if not (lower - slack <= value <= upper + slack):
                    return False
        row += 1 + chain[row].arcs
    return True


@kernel(batch=True)
def finite_batch(start: int, stop: int, Q: Array, answer: Booleans) -> None:
    """Set `answer` (1,) to False if a row from start to stop is not finite. Source: derived."""
    for i in range(start, stop):
        if not finite(Q[i]):
            answer[0] = False


@kernel(batch=True)
def clip_batch(start: int, stop: int, chain: Records, Q: Array, out: Array) -> None:
    """Write `clip` of rows start to stop. Source: derived."""
    for i in range(start, stop):
        clip(chain, Q[i], out[i])


@kernel(batch=True)
def within_batch(start: int, stop: int, chain: Records, Q: Array, tolerance: float, inside: Booleans) -> None:
    """Write `within` of rows start to stop: inside (n,). Source: derived."""
    for i in range(start, stop):
        inside[i] = within(chain, Q[i], tolerance)
