"""`Target`: where the tip should be, and how it should point."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from arcreach._checks import ROTATION_TOLERANCE, real_array, shown
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION, TARGET_SIZE
from arcreach.kernels.chain.target_rows import rotation_defect, write_pose, write_targets

# Metres; the solvers square distances in single precision.
FARTHEST = 1e12

# One each: the array of what is turned has no columns, three or nine, and is of one type all the same.
_write_target = settled(write_targets)
_write_pose = settled(write_pose)

MODES = {POSITION: "position", AXIS: "axis", ROTATION: "rotation"}


ACCEPTED = "give an arcreach.Target, a position (3,) in metres or a pose (4, 4)"


class Target:
    """A position of the tip in metres; with `axis` also the direction of its z axis, with `rotation` its whole pose.

    The rotation may be given as a `quaternion` in place of a matrix: w, x, y, z, the scalar part first, of any length
    but zero.
    """

    __slots__ = ("mode", "row")

    mode: int
    row: Array

    def __init__(
        self,
        position: npt.ArrayLike,
        axis: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        *,
        quaternion: npt.ArrayLike | None = None,
    ) -> None:
        if quaternion is not None:
            if axis is not None or rotation is not None:
                raise TargetError("quaternion is given beside axis or rotation; give one of them")
            rotation = _from_quaternion(_numbers("quaternion", quaternion, (4,)))
        given = _numbers("position", position, (3,)).reshape(1, 3)
        axes = None if axis is None else _numbers("axis", axis, (3,)).reshape(1, 3)
        rotations = None if rotation is None else _numbers("rotation", rotation, (3, 3)).reshape(1, 9)
        self.mode, rows = _checked_rows(given, axes, rotations, ("position", "axis", "rotation"))
        self.row = rows[0]

    @classmethod
    def from_pose(cls, pose: npt.ArrayLike) -> Target:
        """The whole pose of a 4 x 4 matrix T_base_tip."""
        matrix = _numbers("pose", pose, (4, 4))
        row = np.empty(TARGET_SIZE)
        if not _write_pose(matrix, FARTHEST, ROTATION_TOLERANCE, row):
            if not np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).max() <= ROTATION_TOLERANCE:
                raise TargetError(f"pose has the last row {matrix[3].tolist()}; give 0, 0, 0, 1 (is it transposed?)")
            return cls(matrix[:3, 3], rotation=matrix[:3, :3])
        return cls._of_row(row, ROTATION)

    @classmethod
    def _of_row(cls, row: Array, mode: int) -> Target:
        """The target of a row that has been checked."""
        target = cls.__new__(cls)
        target.mode, target.row = mode, row
        return target

    @property
    def position(self) -> Array:
        """The wanted position (3,)."""
        return self.row[9:]

    @property
    def axis(self) -> Array | None:
        """The wanted direction (3,) of the tip's z axis, where one is asked for."""
        return None if self.mode == POSITION else self.row[2:9:3]

    @property
    def rotation(self) -> Array | None:
        """The wanted rotation (3, 3), where one is asked for."""
        return self.row[:9].reshape(3, 3) if self.mode == ROTATION else None

    def __repr__(self) -> str:
        text = f"Target(position={self.position.tolist()}"
        if self.mode == AXIS:
            text += f", axis={self.row[2:9:3].tolist()}"
        elif self.mode == ROTATION:
            text += f", rotation={self.row[:9].reshape(3, 3).tolist()}"
        return text + ")"


def as_target(value: Any) -> Target:
    """A target from what a caller gave: a `Target`, a position (3,) or a pose (4, 4)."""
    if isinstance(value, Target):
        return value
    given = real_array(value)
    if given is None:
        raise TargetError(f"target = {shown(value)} is not accepted; {ACCEPTED}")
    if given.shape == (4, 4):
        return Target.from_pose(given)
    if given.shape == (3,):
        return Target(given)
    raise TargetError(f"target has the shape {given.shape}; {ACCEPTED}")


def target_rows(positions: Any, axes: Any = None, rotations: Any = None) -> tuple[int, Array]:
    """The mode and the rows (n, 12) of targets given as positions (n, 3), with axes (n, 3) or rotations (n, 3, 3)."""
    points = _numbers("positions", positions, (None, 3))
    n = len(points)
    directions = None if axes is None else _numbers("axes", axes, (n, 3))
    turns = None if rotations is None else _numbers("rotations", rotations, (n, 3, 3)).reshape(n, 9)
    return _checked_rows(points, directions, turns, ("positions", "axes", "rotations"))


def _checked_rows(
    points: Array, axes: Array | None, rotations: Array | None, fields: tuple[str, str, str]
) -> tuple[int, Array]:
    """The rows of targets whose shapes are right; their numbers are checked here."""
    if axes is not None and rotations is not None:
        raise TargetError("axis and rotation are both given; give one of them: a rotation contains its axis")
    n = len(points)
    mode = AXIS if axes is not None else ROTATION if rotations is not None else POSITION
    turned = points[:, :0] if mode == POSITION else axes if axes is not None else rotations
    rows = np.empty((n, TARGET_SIZE))
    fault = np.zeros(1, np.int64)
    arguments = (points, turned, FARTHEST, ROTATION_TOLERANCE, rows, fault)
    if n == 1:
        _write_target(0, 1, *arguments)
    else:
        spread(write_targets, n, *arguments)
    if fault[0]:
        _refuse(points, axes, rotations, fields)
    return mode, rows


def _refuse(points: Array, axes: Array | None, rotations: Array | None, fields: tuple[str, str, str]) -> NoReturn:
    """Name the first number, or the first target, that is not accepted."""
    shapes = ((3,), (3,), (3, 3))
    for field, values, shape in zip(fields, (points, axes, rotations), shapes, strict=True):
        if values is not None and not np.isfinite(values).all():
            single = field in ("position", "axis", "rotation")
            whole = values.reshape(shape if single else (-1, *shape))
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(whole))[0])
            raise TargetError(f"{field}{list(place)} = {float(whole[place])} is not accepted; give finite numbers")
    far = np.abs(points).max(axis=1)
    if far.max() > FARTHEST:
        worst = int(far.argmax())
        raise TargetError(
            f"position of target {worst} = {shown(points[worst])} is not accepted; give metres up to 1e12"
        )
    if axes is not None:
        worst = int(np.flatnonzero(~axes.any(axis=1))[0])
        raise TargetError(f"axis of target {worst} is zero; give a direction")
    assert rotations is not None
    worst = next(i for i, turn in enumerate(rotations) if not rotation_defect(turn) <= ROTATION_TOLERANCE)
    raise TargetError(
        f"rotation of target {worst} = {shown(rotations[worst].reshape(3, 3))} is no rotation; give orthogonal rows "
        "of unit length, determinant +1"
    )


def _from_quaternion(quaternion: Array) -> Array:
    """The rotation (3, 3) of a quaternion w, x, y, z of any length but zero."""
    if not np.isfinite(quaternion).all():
        raise TargetError(f"quaternion = {shown(quaternion)} is not accepted; give finite numbers w, x, y, z")
    largest = float(np.abs(quaternion).max())
    if largest == 0.0:
        raise TargetError("quaternion is zero; give w, x, y, z of a rotation")
    # Scaled first: squares of very large or very small numbers would overflow or vanish.
    scaled = (quaternion / largest).tolist()
    size = math.hypot(*scaled)
    w, x, y, z = (value / size for value in scaled)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _numbers(field: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """The value as an array of that shape, writable and without gaps: the kernel is compiled for one kind of array."""
    values = real_array(value)
    if values is None:
        raise TargetError(f"{field} = {shown(value)} is not accepted; give numbers of shape {_text(shape)}")
    if values.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, values.shape, strict=True)):
        raise TargetError(f"{field} has the shape {values.shape}; give numbers of shape {_text(shape)}")
    return values if values.flags.behaved else values.copy()


def _text(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("n" if size is None else str(size) for size in shape) + ")"
