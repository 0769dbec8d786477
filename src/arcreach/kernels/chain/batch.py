"""The functions of `kinematics` for rows `start` to `stop` of a batch Q (n, dof).

Tip poses are computed for `LANES` configurations side by side, in loops that vectorise. The operations, their order
and their rounding are those of `kinematics`, so the results are equal bit by bit.
"""

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Motion, Records
from arcreach.elements import OTHER_JOINTS, motion_of
from arcreach.kernels.chain.arc import chord
from arcreach.kernels.chain.kinematics import backbone, frames, jacobian, link_motion, tip_pose
from arcreach.kernels.chain.layout import LINK, PARALLELOGRAM, PRISMATIC, SECTION
from arcreach.kernels.chain.section import bent_motion
from arcreach.kernels.math.transforms import IDENTITY, compose, rotation, store, translation, turn
from arcreach.kernels.math.trigonometry import LARGEST_ANGLE, sincos_reduced

LANES = 64

# Rows of the workspace, LANES numbers each: twelve of the motion, then a section's planar tip and coordinates, or a
# joint's value. Row offsets are constants: loops over an index that might be negative do not vectorise.
_X = 12 * LANES
_Z = 13 * LANES
_BEND = 14 * LANES
_DIRECTION = 15 * LANES
_LENGTH = 16 * LANES
_VALUE = _BEND
WORK_SIZE = 17 * LANES


@kernel
def load_lane(work: Array, lane: int) -> Motion:
    """Return one lane's motion. Source: derived."""
    first = (work[lane], work[LANES + lane], work[2 * LANES + lane], work[3 * LANES + lane])
    second = (work[4 * LANES + lane], work[5 * LANES + lane], work[6 * LANES + lane], work[7 * LANES + lane])
    third = (work[8 * LANES + lane], work[9 * LANES + lane], work[10 * LANES + lane], work[11 * LANES + lane])
    return first + second + third


@kernel
def store_lane(motion: Motion, work: Array, lane: int) -> None:
    """Write one lane's motion. Source: derived."""
    for i in range(12):
        work[i * LANES + lane] = motion[i]


@kernel
def gather(Q: Array, first: int, count: int, k: int, offset: int, work: Array) -> None:
    """Copy coordinate k of `count` configurations from `first` on into the workspace; spare lanes repeat the last one.

    Source: derived.
    """
    if count == LANES:
        for lane in range(LANES):
            work[offset + lane] = Q[first + lane, k]
        return
    for lane in range(LANES):
        work[offset + lane] = Q[first + min(lane, count - 1), k]


@kernel
def append_section_lanes(chain: Records, row: int, Q: Array, first: int, count: int, work: Array) -> None:
    """Append a section to every lane. Source: [K22] eq. 2.6. Erratum: see docs/errata.md#k22-2-6."""
    twist = chain[row].twist
    k = chain[row].coordinate
    gather(Q, first, count, k, _BEND, work)
    gather(Q, first, count, k + 1, _DIRECTION, work)
    if chain[row].stretch > 0.0:
        gather(Q, first, count, k + 2, _LENGTH, work)
    else:
        for lane in range(LANES):
            work[_LENGTH + lane] = chain[row].length
    # In a section of one arc half the bend is also the chord's angle, so its sine is computed once.
    one_arc = chain[row].arcs == 1
    for lane in range(LANES):
        work[_X + lane] = 0.0
        work[_Z + lane] = 0.0
    for j in range(row + 1, row + 1 if one_arc else row + 1 + chain[row].arcs):
        bend_share = chain[j].bend_share
        bend_before = chain[j].bend_before
        length_share = chain[j].length_share
        for lane in range(LANES):
            u = 0.5 * (bend_share * work[_BEND + lane])
            sin_u, _ = sincos_reduced(u)
            sin_angle, cos_angle = sincos_reduced(bend_before * work[_BEND + lane] + u)
            x, z = chord(u, sin_u, sin_angle, cos_angle)
            work[_X + lane] += length_share * x
            work[_Z + lane] += length_share * z
    for lane in range(LANES):
        half = 0.5 * work[_BEND + lane]
        sin_half, cos_half = sincos_reduced(half)
        s, c = sincos_reduced(work[_DIRECTION + lane])
        arc_x, arc_z = chord(half, sin_half, sin_half, cos_half)
        x = work[_LENGTH + lane] * (arc_x if one_arc else work[_X + lane])
        z = work[_LENGTH + lane] * (arc_z if one_arc else work[_Z + lane])
        motion = bent_motion(x, z, sin_half, cos_half, s, c, twist)
        store_lane(compose(load_lane(work, lane), motion), work, lane)


@kernel
def append_joint_lanes(chain: Records, row: int, Q: Array, first: int, count: int, work: Array) -> None:
    """Append a joint to every lane; the built-in joints are written out to vectorise, rounded as in their own kernels.

    Source: [FRD] eq. 5.
    """
    kind = chain[row].kind
    ax, ay, az = chain[row].axis[0], chain[row].axis[1], chain[row].axis[2]
    lx, ly, lz = chain[row].link[0], chain[row].link[1], chain[row].link[2]
    gather(Q, first, count, chain[row].coordinate, _VALUE, work)
    if OTHER_JOINTS and kind > SECTION:
        for lane in range(LANES):
            motion = motion_of(kind, chain[row], work[_VALUE + lane])
            store_lane(compose(load_lane(work, lane), motion), work, lane)
        return
    for lane in range(LANES):
        value = work[_VALUE + lane]
        s, c = sincos_reduced(value)
        motion = rotation(ax, ay, az, s, c)
        if kind == PRISMATIC:
            motion = translation(value * ax, value * ay, value * az)
        elif kind == PARALLELOGRAM:
            x, y, z = turn(motion, lx, ly, lz)
            motion = translation(x, y, z)
        store_lane(compose(load_lane(work, lane), motion), work, lane)


@kernel
def append_link_lanes(chain: Records, row: int, work: Array) -> None:
    """Append a link to every lane. Source: derived."""
    motion = link_motion(chain, row)
    for lane in range(LANES):
        store_lane(compose(load_lane(work, lane), motion), work, lane)


@kernel
def tip_motions(chain: Records, Q: Array, first: int, count: int, work: Array) -> None:
    """Write the motion from base to tip of every lane into the workspace. Source: [K22] eq. 1.12."""
    for lane in range(LANES):
        store_lane(IDENTITY, work, lane)
    row = 0
    while row < chain.shape[0]:
        kind = chain[row].kind
        if kind == SECTION:
            append_section_lanes(chain, row, Q, first, count, work)
        elif kind == LINK:
            append_link_lanes(chain, row, work)
        else:
            append_joint_lanes(chain, row, Q, first, count, work)
        row += 1 + chain[row].arcs


@kernel
def within_lanes(Q: Array, first: int, count: int) -> bool:
    """Return whether every coordinate of these rows is within the range of `sincos_reduced`. Source: derived."""
    for i in range(first, first + count):
        for k in range(Q.shape[1]):
            if not abs(Q[i, k]) <= LARGEST_ANGLE:
                return False
    return True


@kernel(batch=True)
def tip_poses(start: int, stop: int, chain: Records, Q: Array, poses: Array) -> None:
    """Write `tip_pose` of rows start to stop: poses (n, 4, 4). Source: [K22] eq. 1.12."""
    work = np.empty(WORK_SIZE)
    for first in range(start, stop, LANES):
        count = min(LANES, stop - first)
        if not within_lanes(Q, first, count):
            for i in range(first, first + count):
                tip_pose(chain, Q[i], poses[i])
            continue
        tip_motions(chain, Q, first, count, work)
        for lane in range(count):
            store(load_lane(work, lane), poses[first + lane])


@kernel(batch=True)
def frames_batch(start: int, stop: int, chain: Records, Q: Array, poses: Array) -> None:
    """Write `frames` of rows start to stop: poses (n, elements + 1, 4, 4). Source: derived."""
    for i in range(start, stop):
        frames(chain, Q[i], poses[i])


@kernel(batch=True)
def backbones(start: int, stop: int, chain: Records, Q: Array, points: Array) -> None:
    """Write `backbone` of rows start to stop: points (n, m, 3). Source: derived."""
    for i in range(start, stop):
        backbone(chain, Q[i], points[i])


@kernel(batch=True)
def jacobians(start: int, stop: int, chain: Records, Q: Array, jac: Array) -> None:
    """Write `jacobian` of rows start to stop: jac (n, 6, dof). Source: derived."""
    for i in range(start, stop):
        jacobian(chain, Q[i], jac[i])
