"""`Target`: where the tip should be, and how it should point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import TargetError
from arcreach.kernels.layout import AXIS, POSITION, ROTATION, TARGET_SIZE
from arcreach.robots.checks import ROTATION_TOLERANCE, shown

Array = npt.NDArray[np.float64]

# Metres; the solvers square distances in single precision.
FARTHEST = 1e12

MODES = {POSITION: "position", AXIS: "axis", ROTATION: "rotation"}


class Target:
    """A position of the tip in metres; with `axis` also the direction of its z axis, with `rotation` its whole pose."""

    __slots__ = ("mode", "row")

    mode: int
    row: Array

    def __init__(
        self, position: npt.ArrayLike, axis: npt.ArrayLike | None = None, rotation: npt.ArrayLike | None = None
    ) -> None:
        axes = None if axis is None else _array("axis", axis, (3,))[None]
        rotations = None if rotation is None else _array("rotation", rotation, (3, 3))[None]
        self.mode, rows = target_rows(_array("position", position, (3,))[None], axes, rotations)
        self.row = rows[0]

    @classmethod
    def from_pose(cls, pose: npt.ArrayLike) -> Target:
        """The whole pose of a 4 x 4 matrix T_base_tip."""
        matrix = _array("pose", pose, (4, 4))
        return cls(matrix[:3, 3], rotation=matrix[:3, :3])

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


def target_rows(positions: Any, axes: Any = None, rotations: Any = None) -> tuple[int, Array]:
    """The mode and the rows (n, 12) of targets given as positions (n, 3), with axes (n, 3) or rotations (n, 3, 3)."""
    points = _array("positions", positions, (None, 3))
    if np.abs(points).max(initial=0.0) > FARTHEST:
        place = int(np.abs(points).max(axis=1).argmax())
        raise TargetError(
            f"position of target {place} = {shown(points[place])} is not accepted; give metres up to 1e12"
        )
    n = len(points)
    rows = np.zeros((n, TARGET_SIZE))
    rows[:, 9:] = points
    if axes is not None and rotations is not None:
        raise TargetError("axis and rotation are both given; give one of them: a rotation contains its axis")
    if axes is not None:
        directions = _array("axes", axes, (n, 3))
        largest = np.abs(directions).max(axis=1, initial=0.0)
        if (largest == 0.0).any():
            place = int(np.flatnonzero(largest == 0.0)[0])
            raise TargetError(f"axis of target {place} is zero; give a direction")
        # Scaled first: the square of a very small or very large number is lost.
        directions = directions / largest[:, None]
        rows[:, 2:9:3] = directions / np.linalg.norm(directions, axis=1)[:, None]
        return AXIS, rows
    if rotations is not None:
        turns = _array("rotations", rotations, (n, 3, 3))
        wrong = _rotation_defect(turns) > ROTATION_TOLERANCE
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            raise TargetError(
                f"rotation of target {place} = {shown(turns[place])} is no rotation; give orthogonal rows of unit "
                "length, determinant +1"
            )
        rows[:, :9] = turns.reshape(n, 9)
        return ROTATION, rows
    return POSITION, rows


def _rotation_defect(turns: Array) -> Array:
    """How far matrices (n, 3, 3) are from rotations: two rows unit and orthogonal, the third their product."""
    (a, b, c), (d, e, f), (g, h, i) = turns.transpose(1, 2, 0)
    defects = (
        a * a + b * b + c * c - 1.0,
        d * d + e * e + f * f - 1.0,
        a * d + b * e + c * f,
        b * f - c * e - g,
        c * d - a * f - h,
        a * e - b * d - i,
    )
    largest: Array = np.max(np.abs(defects), axis=0)
    return largest


def _array(field: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    wanted = "(" + ", ".join("n" if size is None else str(size) for size in shape) + ")"
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TargetError(f"{field} = {shown(value)} is not accepted; give numbers of shape {wanted}") from None
    if values.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, values.shape, strict=True)):
        raise TargetError(f"{field} has the shape {values.shape}; give numbers of shape {wanted}")
    if not np.isfinite(values).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise TargetError(f"{field}{list(place)} = {float(values[place])} is not accepted; give finite numbers")
    return values
