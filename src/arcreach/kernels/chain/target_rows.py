"""Check targets and write them as the rows that solvers read, in about a microsecond each."""

import math

from arcreach._jit import kernel
from arcreach._typing import Array, Integers, Motion
from arcreach.kernels.chain.limits import LARGEST_FLOAT


@kernel
def store_row(motion: Motion, row: Array) -> None:
    """Write a motion as a target row. Source: derived."""
    for i in range(3):
        for j in range(3):
            row[3 * i + j] = motion[4 * i + j]
        row[9 + i] = motion[4 * i + 3]


@kernel
def rotation_defect(matrix: Array) -> float:
    """Return the deviation of a matrix (9,) from a rotation. Source: derived."""
    a, b, c = matrix[0], matrix[1], matrix[2]
    d, e, f = matrix[3], matrix[4], matrix[5]
    defect = max(abs(a * a + b * b + c * c - 1.0), abs(d * d + e * e + f * f - 1.0), abs(a * d + b * e + c * f))
    return max(defect, abs(b * f - c * e - matrix[6]), abs(c * d - a * f - matrix[7]), abs(a * e - b * d - matrix[8]))


@kernel
def write_pose(pose: Array, farthest: float, tolerance: float, row: Array) -> bool:
    """Write a pose (4, 4) as a target row; return whether it is accepted. Source: derived."""
    bad = not abs(pose[3, 3] - 1.0) <= tolerance
    for i in range(3):
        bad |= not abs(pose[3, i]) <= tolerance
        bad |= not abs(pose[i, 3]) <= farthest
        row[9 + i] = pose[i, 3]
        for j in range(3):
            row[3 * i + j] = pose[i, j]
            bad |= not abs(pose[i, j]) <= LARGEST_FLOAT
    return not bad and rotation_defect(row) <= tolerance


@kernel
def write_axis(axis: Array, row: Array) -> bool:
    """Write a direction (3,) of any length as the z axis of a target row; return whether valid. Source: derived."""
    largest = max(abs(axis[0]), abs(axis[1]), abs(axis[2]))
    if not 0.0 < largest <= LARGEST_FLOAT:
        return False
    # Scaled first, so that squares neither underflow nor overflow.
    x, y, z = axis[0] / largest, axis[1] / largest, axis[2] / largest
    size = math.sqrt(x * x + y * y + z * z)
    row[2] = x / size
    row[5] = y / size
    row[8] = z / size
    return True


@kernel(batch=True)
def write_targets(
    start: int,
    stop: int,
    positions: Array,
    orientations: Array,
    farthest: float,
    tolerance: float,
    rows: Array,
    fault: Integers,
) -> None:
    """Write target rows (n, 12), start to stop, from positions (n, 3) and orientations.

    Orientations are axes (n, 3), rotations (n, 9), or none (n, 0). `fault` (1,) becomes 1 if a target is not accepted;
    the rows must not be used then. Source: derived.
    """
    for i in range(start, stop):
        row = rows[i]
        bad = False
        for k in range(9):
            row[k] = 0.0
        for k in range(3):
            row[9 + k] = positions[i, k]
            bad |= not abs(positions[i, k]) <= farthest
        if orientations.shape[1] == 3:
            bad |= not write_axis(orientations[i], row)
        elif orientations.shape[1] == 9:
            for k in range(9):
                row[k] = orientations[i, k]
                bad |= not abs(row[k]) <= LARGEST_FLOAT
            bad |= not rotation_defect(row) <= tolerance
        if bad:
            fault[0] = 1
