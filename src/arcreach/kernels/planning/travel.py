"""Bounds of how far each piece of a body travels on a straight motion in the solver variables.

Two bounds of the travel hold at once. One sums the changes of all variables times their lever arms. The other treats
the leading joints, the revolute ones before any other moving element, separately: it takes the exact velocities that
they cause in the middle of an interval, and adds a bound of the second derivatives over its width.
"""

import math

from arcreach._jit import kernel
from arcreach.kernels.chain.kinematics import joint_length
from arcreach.kernels.chain.layout import LINK, REVOLUTE, SECTION
from arcreach.kernels.math.vectors import norm
from arcreach.kernels.planning.body import FAR_SPEED, NEAR_SPEED, has_line

# Columns of the travels of a piece.
# NEAR, FAR: bounds for its first and its last point; FAR is -1 if the piece has no length on the whole motion.
# MOVED, TURNED, BEFORE: at the start of its element, bounds of travel and turn, and the body's length up to there.
# UP_TO: the body's length up to the end of the piece.
# NEAR_OWN, FAR_OWN: the parts of NEAR and FAR that the leading joints do not cause.
# NEAR_SWING, FAR_SWING: bounds of both points' second derivatives, by the share of the motion, that these joints cause.
NEAR, FAR, MOVED, TURNED, BEFORE, UP_TO, NEAR_OWN, FAR_OWN, NEAR_SWING, FAR_SWING = range(10)
TRAVEL_SIZE = 10


@kernel
def write_travel(travels, i, near, far, start):
    """Write the travels of piece i; `start` has the next four columns. Source: derived."""
    travels[i, NEAR], travels[i, FAR] = near, far
    travels[i, MOVED], travels[i, TURNED], travels[i, BEFORE], travels[i, UP_TO] = start


@kernel
def swing_of(chain, row, turned, last):
    """Return a bound of a link vector's second derivative if joints before it turn by `turned`, the last by `last`.

    Joints that turn at the rates w1 to wn accelerate a vector of length L by at most (w1 + ... + wn)^2 L; a joint does
    not move a vector along its axis. Source: derived.
    """
    length = chain[row].reach
    if row == 0 or chain[row - 1].kind != REVOLUTE:
        return turned * turned * length
    axis, vector = chain[row - 1].axis, chain[row].translation
    along = abs(axis[0] * vector[0] + axis[1] * vector[1] + axis[2] * vector[2])
    across = norm(
        axis[1] * vector[2] - axis[2] * vector[1],
        axis[2] * vector[0] - axis[0] * vector[2],
        axis[0] * vector[1] - axis[1] * vector[0],
    )
    return min(turned * turned * length, (turned - last) * (turned - last) * along + turned * turned * across)


@kernel
def write_swings(travels, first, last, start):
    """Write the own travels and the swings of the pieces after the leading joints.

    `start` is travel, turn, swing and length of the body at the end of these joints. In the frame there, a piece moves
    by at most the rest of its bound. Source: derived.
    """
    moved, turned, swing, before = start
    near = travels[first, BEFORE] - before if first < last else 0.0
    for i in range(first, last):
        far = travels[i, UP_TO] - before
        travels[i, NEAR_OWN] = max(travels[i, NEAR] - moved - turned * near, 0.0)
        travels[i, FAR_OWN] = max(travels[i, FAR] - moved - turned * far, 0.0)
        travels[i, NEAR_SWING] = swing + turned * turned * near
        travels[i, FAR_SWING] = swing + turned * turned * far
        near = far


@kernel
def section_change(chain, row, k, a, b):
    """Return the longest length of a section from a to b, and its changes of length, roll and bend. Source: derived."""
    longest = chain[row].length
    slide = 0.0
    if chain[row].stretch > 0.0:
        longest += chain[row].stretch * max(a[k + 2], b[k + 2])
        slide = chain[row].stretch * abs(b[k + 2] - a[k + 2])
    if chain[row].twist == 1:
        return longest, slide, abs(b[k] - a[k]), abs(b[k + 1] - a[k + 1])
    dx, dy = b[k] - a[k], b[k + 1] - a[k + 1]
    return longest, slide, 0.0, math.sqrt(dx * dx + dy * dy)


@kernel
def section_travels(chain, row, change, start, i, travels):
    """Write the travels of a section's pieces from i on; return its own travel, and the new i.

    `start`: travel, turn and length of the body before the section. At the share s of the section the tangent turns by
    at most its share of the bend, whose integral is convex in s: between both ends of a piece it is below its chord.
    Source: derived.
    """
    longest, slide, roll, bend = change
    moved, turned, before = start
    done = 0.0
    leaning = 0.0
    near = moved
    for j in range(row + 1, row + 1 + chain[row].arcs):
        done += chain[j].length_share
        leaning += chain[j].length_share * (chain[j].bend_before + 0.5 * chain[j].bend_share)
        far = moved + done * (longest * (turned + roll) + slide) + leaning * longest * bend
        if chain[j].length_share > 0.0:
            write_travel(
                travels, i, near, far if longest > 0.0 else -1.0, (moved, turned, before, before + done * longest)
            )
            i += 1
        near = far
    return longest * (roll + leaning * bend) + slide, i


@kernel
def write_travels(chain, a, b, travels):
    """Write the travels of all pieces on the straight motion from a to b (variables,): travels (n, TRAVEL_SIZE).

    Return the largest. If the start of an element of length L moves by at most m and turns by at most w, and its own
    motion moves its far end by at most o, then its point at the share s moves by at most m + s (w L + o).
    Source: derived.
    """
    swing = 0.0
    # Where the leading joints end: index of the first piece after them, and the start of `write_swings`.
    led = -1
    front = (0.0, 0.0, 0.0, 0.0)
    moved = 0.0
    turned = 0.0
    before = 0.0
    turn_by = 0.0
    joints = False
    k = 0
    i = 0
    row = 0
    while row < chain.shape[0]:
        kind = chain[row].kind
        length = chain[row].reach
        own = 0.0
        last_turn = turn_by
        turn_by = 0.0
        if led < 0 and kind != LINK and kind != REVOLUTE:
            led = i
            front = (moved, turned, swing, before)
        if kind == SECTION:
            change = section_change(chain, row, k, a, b)
            length = change[0]
            turn_by = change[2] + change[3]
            own, i = section_travels(chain, row, change, (moved, turned, before), i, travels)
            k += 3 if chain[row].stretch > 0.0 else 2
        else:
            if kind != LINK:
                change_by = abs(b[k] - a[k])
                own = chain[row].largest_shift * change_by
                turn_by = chain[row].largest_turn * change_by
                if length > 0.0:
                    # The length changes by at most `own`, so it never exceeds this.
                    ends = joint_length(chain[row], a[k]) + joint_length(chain[row], b[k])
                    length = min(length, 0.5 * (ends + own))
                k += 1
            swung = swing + swing_of(chain, row, turned, last_turn) if kind == LINK else swing
            if has_line(chain, row, joints):
                far = moved + turned * length + own if length > 0.0 else -1.0
                write_travel(travels, i, moved, far, (moved, turned, before, before + length))
                travels[i, NEAR_OWN], travels[i, FAR_OWN] = 0.0, 0.0
                travels[i, NEAR_SWING], travels[i, FAR_SWING] = swing, swung
                i += 1
            swing = swung
        joints = joints or kind != LINK
        moved += turned * length + own
        turned += turn_by
        before += length
        row += 1 + chain[row].arcs
    if led >= 0:
        write_swings(travels, led, i, front)
    return moved


@kernel(inline=True)
def widths(piece, travels, i, h):
    """Return bounds of the travel of the first and last point of piece i within the share h of the motion from here.

    Interpolated linearly, they bound the points in between. The bound that is the smaller one at h is convex in the
    share and also valid below h. Source: derived.
    """
    near = travels[i, NEAR_OWN] + piece[NEAR_SPEED] + 0.5 * h * travels[i, NEAR_SWING]
    far = travels[i, FAR_OWN] + piece[FAR_SPEED] + 0.5 * h * travels[i, FAR_SWING]
    return h * min(near, travels[i, NEAR]), h * min(far, travels[i, FAR])


@kernel
def pair_travel(travels, i, j):
    """Return a bound of how far points of piece i and of an earlier piece j move relative to each other.

    Both travels are relative to the frame at the start of j's element, which carries both pieces. Source: derived.
    """
    turned, moved, before = travels[j, TURNED], travels[j, MOVED], travels[j, BEFORE]
    first = travels[j, FAR] - moved - turned * (travels[j, UP_TO] - before)
    second = travels[i, FAR] - moved - turned * (travels[i, UP_TO] - before)
    return max(first, 0.0) + max(second, 0.0)
