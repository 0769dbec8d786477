"""`Target`: where the tip should be and how it should point; `Targets`: many of one kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import ROTATION_TOLERANCE, array_of, choice, chosen_rows, real_array, shown
from arcreach._geometry import euler_angles, frame_along, rotation_from_euler, rotation_from_quaternion
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION, TARGET_SIZE
from arcreach.kernels.chain.target_rows import rotation_defect, write_pose, write_targets

# Metres; the solvers square distances in single precision.
FARTHEST = 1e12
# Kinds of targets, in the order of the kernels' codes.
KINDS = ("position", "axis", "rotation")
CODES = {kind: code for code, kind in zip((POSITION, AXIS, ROTATION), KINDS, strict=True)}
_NOUNS = {
    "position": ("position", "positions"),
    "axis": ("position with an axis", "positions with axes"),
    "rotation": ("pose", "poses"),
}

# The array of orientations has 0, 3 or 9 columns but always the same type, as `settled` requires.
_write_target = settled(write_targets)
_write_pose = settled(write_pose)


class Targets:
    """Targets of one kind: positions (n, 3) in metres, alone, with `axes` (n, 3) or with `rotations` (n, 3, 3).

    `targets[i]` is a `Target`; a slice, a mask (n,) or an array of indices gives `Targets`. `tool` and `tool_axis` are
    those of `Target`, the same for all.
    """

    __slots__ = ("packed", "tool")

    # As kernels read them: the code of the kind, and rows (n, 12) of rotation, row by row, then position.
    packed: tuple[int, Array]
    # The frame, seen from the tip, that the targets are for; None for the tip itself.
    tool: Array | None

    def __init__(
        self,
        positions: npt.ArrayLike,
        axes: npt.ArrayLike | None = None,
        rotations: npt.ArrayLike | None = None,
        *,
        tool: npt.ArrayLike | None = None,
        tool_axis: npt.ArrayLike | None = None,
    ) -> None:
        points = array_of("positions", positions, (None, 3))
        n = len(points)
        directions = None if axes is None else array_of("axes", axes, (n, 3))
        turns = None if rotations is None else array_of("rotations", rotations, (n, 3, 3)).reshape(n, 9)
        self.packed = _packed(points, directions, turns, ("positions", "axes", "rotations"))
        self.tool = None if tool is None and tool_axis is None else _tool(tool, tool_axis, axes is not None)

    @classmethod
    def from_poses(cls, poses: npt.ArrayLike, kind: str = "rotation") -> Targets:
        """Return targets from matrices T_base_tip (n, 4, 4); `kind` names the part that they ask for."""
        matrices = array_of("poses", poses, (None, 4, 4))
        choice("kind", kind, KINDS)
        wrong = np.flatnonzero(~(np.abs(matrices[:, 3] - (0.0, 0.0, 0.0, 1.0)) <= ROTATION_TOLERANCE).all(axis=1))
        if len(wrong):
            raise _not_a_pose(f"pose {wrong[0]}", matrices[wrong[0]])
        axes = matrices[:, :3, 2] if kind == "axis" else None
        return cls(matrices[:, :3, 3], axes, matrices[:, :3, :3] if kind == "rotation" else None)

    @classmethod
    def from_euler(cls, positions: npt.ArrayLike, angles: npt.ArrayLike, convention: str) -> Targets:
        """Return whole poses from positions (n, 3) and Euler angles (n, 3) in radians, see `Target.from_euler`."""
        points = array_of("positions", positions, (None, 3))
        return cls(points, rotations=_from_euler(array_of("angles", angles, (len(points), 3)), convention))

    @classmethod
    def from_list(cls, targets: Sequence[Target]) -> Targets:
        """Return the targets of a list, at least one and all of one kind."""
        if not len(targets):
            raise TargetError("targets is empty; give at least one")
        for i, target in enumerate(targets):
            if not isinstance(target, Target):
                raise TargetError(f"targets[{i}] = {shown(target)} is not accepted; give an arcreach.Target")
            if target.kind != targets[0].kind:
                raise TargetError(
                    f"targets[{i}] asks for {target.kind}, targets[0] for {targets[0].kind}; give targets of one kind"
                )
            if not _same_tool(target.tool, targets[0].tool):
                raise TargetError(f"targets[{i}] has another tool than targets[0]; give targets of one tool")
        rows = np.vstack([target.batch.packed[1] for target in targets])
        return cls.from_packed(targets[0].batch.packed[0], rows, targets[0].tool)

    @classmethod
    def from_packed(cls, mode: int, rows: Array, tool: Array | None = None) -> Targets:
        """Return the targets of rows (n, 12) that are already checked."""
        targets = cls.__new__(cls)
        targets.packed = mode, rows
        targets.tool = tool
        return targets

    @property
    def kind(self) -> str:
        """The kind of target: "position", "axis" or "rotation"."""
        return KINDS[self.packed[0]]

    @property
    def positions(self) -> Array:
        """The wanted positions (n, 3)."""
        return self.packed[1][:, 9:]

    @property
    def axes(self) -> Array | None:
        """The wanted directions (n, 3) of the tip's z axis; None where positions alone are asked for."""
        return None if self.packed[0] == POSITION else self.packed[1][:, 2:9:3]

    @property
    def rotations(self) -> Array | None:
        """The wanted rotations (n, 3, 3); None where they are not asked for."""
        return self.packed[1][:, :9].reshape(-1, 3, 3) if self.packed[0] == ROTATION else None

    def __len__(self) -> int:
        return len(self.packed[1])

    @overload
    def __getitem__(self, i: int) -> Target: ...

    @overload
    def __getitem__(self, i: slice | Sequence[int] | Sequence[bool] | npt.NDArray[Any]) -> Targets: ...

    def __getitem__(self, i: Any) -> Target | Targets:
        mode, rows = self.packed
        chosen = chosen_rows(i)
        if isinstance(chosen, int):
            return Target.from_packed(mode, rows[chosen], self.tool)
        # Kernels are compiled for contiguous arrays.
        return Targets.from_packed(mode, np.ascontiguousarray(rows[chosen]), self.tool)

    def __iter__(self) -> Iterator[Target]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Targets):
            return NotImplemented
        same = self.packed[0] == other.packed[0] and np.array_equal(self.packed[1], other.packed[1])
        return same and _same_tool(self.tool, other.tool)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Targets: {_text.count(len(self), *_NOUNS[self.kind])}>"


class Target:
    """A position of the tip in metres; with `axis` also the direction of its z axis, with `rotation` its whole pose.

    The rotation may be given as a `quaternion` in place of a matrix: w, x, y, z, the scalar part first, of any length
    but zero. With `tool`, an offset (3,) in metres or a frame (4, 4) seen from the tip, the target is for the tool
    instead of the tip. `tool_axis` (3,) is the direction of the tool that takes `axis`, instead of the tool's z axis.
    """

    __slots__ = ("batch",)

    # This target as `Targets` of length one, which solvers take.
    batch: Targets

    def __init__(
        self,
        position: npt.ArrayLike,
        axis: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        *,
        quaternion: npt.ArrayLike | None = None,
        tool: npt.ArrayLike | None = None,
        tool_axis: npt.ArrayLike | None = None,
    ) -> None:
        if quaternion is not None:
            if axis is not None or rotation is not None:
                raise TargetError("quaternion is given beside axis or rotation; give one of them")
            rotation = _from_quaternion(array_of("quaternion", quaternion, (4,)))
        point = array_of("position", position, (3,)).reshape(1, 3)
        direction = None if axis is None else array_of("axis", axis, (3,)).reshape(1, 3)
        turn = None if rotation is None else array_of("rotation", rotation, (3, 3)).reshape(1, 9)
        packed = _packed(point, direction, turn, ("position", "axis", "rotation"))
        frame = None if tool is None and tool_axis is None else _tool(tool, tool_axis, axis is not None)
        self.batch = Targets.from_packed(*packed, frame)

    @classmethod
    def from_pose(cls, pose: npt.ArrayLike) -> Target:
        """Return the target of a whole pose T_base_tip (4, 4)."""
        matrix = array_of("pose", pose, (4, 4))
        row = np.empty(TARGET_SIZE)
        if _write_pose(matrix, FARTHEST, ROTATION_TOLERANCE, row):
            return cls.from_packed(ROTATION, row)
        if not np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).max() <= ROTATION_TOLERANCE:
            raise _not_a_pose("pose", matrix)
        return cls(matrix[:3, 3], rotation=matrix[:3, :3])

    @classmethod
    def from_euler(cls, position: npt.ArrayLike, angles: npt.ArrayLike, convention: str) -> Target:
        """Return the target of a whole pose from a position and three Euler angles in radians.

        `convention` names the axes of the turns in the order of the angles: "ZYX" in capitals about the axes of the
        tip, which move with it, R = Rz(a) Ry(b) Rx(c); "xyz" in lower case about the fixed axes of the base,
        R = Rz(c) Ry(b) Rx(a). All twelve orders are accepted.
        """
        return cls(position, rotation=_from_euler(array_of("angles", angles, (3,)), convention))

    @classmethod
    def from_packed(cls, mode: int, row: Array, tool: Array | None = None) -> Target:
        """Return the target of a row (12,) that is already checked."""
        target = cls.__new__(cls)
        target.batch = Targets.from_packed(mode, row[None], tool)
        return target

    @property
    def tool(self) -> Array | None:
        """The frame (4, 4), seen from the tip, that the target is for; None for the tip itself."""
        return self.batch.tool

    @property
    def kind(self) -> str:
        """The kind of target: "position", "axis" or "rotation"."""
        return self.batch.kind

    @property
    def position(self) -> Array:
        """The wanted position (3,)."""
        return self.batch.packed[1][0, 9:]

    @property
    def axis(self) -> Array | None:
        """The wanted direction (3,) of the tip's z axis; None where the position alone is asked for."""
        axes = self.batch.axes
        return None if axes is None else axes[0]

    @property
    def rotation(self) -> Array | None:
        """The wanted rotation (3, 3); None where none is asked for."""
        rotations = self.batch.rotations
        return None if rotations is None else rotations[0]

    def euler(self, convention: str) -> Array:
        """Return the Euler angles (3,) in radians of the wanted rotation, see `from_euler`.

        The middle one is in [0, pi] if the first and the last axis are the same, else in [-pi/2, pi/2].
        """
        if self.rotation is None:
            raise TargetError(f"the target asks for {self.kind}; only a whole pose has Euler angles")
        return euler_angles(self.rotation, checked_convention(convention))

    def __eq__(self, other: object) -> bool:
        return self.batch == other.batch if isinstance(other, Target) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = f"Target(position={self.position.tolist()}"
        if self.kind != "position":
            text += f", {self.kind}={np.asarray(getattr(self, self.kind)).tolist()}"
        if self.tool is not None:
            text += f", tool={self.tool.tolist()}"
        return text + ")"


def as_target(value: Any) -> Target:
    """Return a `Target`, a position (3,), a pose (4, 4) or `Targets` of length one as a target."""
    accepted = "give an arcreach.Target, a position (3,) in metres or a pose (4, 4)"
    if isinstance(value, Target):
        return value
    if isinstance(value, Targets):
        if len(value) == 1:
            return value[0]
        raise TargetError(f"target = {value!r} is not accepted; give one of them")
    given = real_array(value)
    if given is None or given.ndim == 0:
        raise TargetError(f"target = {shown(value)} is not accepted; {accepted}")
    if given.shape == (4, 4):
        return Target.from_pose(given)
    if given.shape == (3,):
        return Target(given)
    raise TargetError(f"target has the shape {given.shape}; {accepted}")


def as_targets(value: Any, axes: Any = None, rotations: Any = None, field: str = "targets") -> Targets:
    """Return `Targets`, a list of `Target`, poses (n, 4, 4) or positions (n, 3) as targets.

    `axes` and `rotations` belong to positions. Error messages call the value `field`.
    """
    if isinstance(value, Sequence) and any(isinstance(item, Target) for item in value):
        value = Targets.from_list(value)
    given = None if isinstance(value, Targets) else real_array(value)
    if given is not None and given.ndim == 2:
        return Targets(given, axes, rotations)
    if axes is not None or rotations is not None:
        raise TargetError(f"axes and rotations have no meaning beside {field} that are not positions; leave them out")
    if isinstance(value, Targets):
        return value
    accepted = "give arcreach.Targets, positions (n, 3) or poses (n, 4, 4)"
    if given is None:
        raise TargetError(f"{field} = {shown(value)} is not accepted; {accepted}")
    if given.shape[1:] != (4, 4):
        raise TargetError(f"{field} has the shape {given.shape}; {accepted}")
    return Targets.from_poses(given)


def _tool(tool: Any, tool_axis: Any, has_axis: bool) -> Array:
    """Return the frame of a tool (4, 4), whose z axis is `tool_axis`."""
    frame = np.eye(4)
    given = None if tool is None else real_array(tool)
    if given is not None and given.shape == (3,) and np.isfinite(given).all():
        frame[:3, 3] = given
    elif given is not None and given.shape == (4, 4) and np.isfinite(given).all():
        if rotation_defect(given[:3, :3].ravel()) > ROTATION_TOLERANCE or given[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            raise TargetError(f"tool = {shown(tool)} is not a frame; give a rotation and a shift, last row 0, 0, 0, 1")
        frame = given.copy()
    elif tool is not None:
        raise TargetError(f"tool = {shown(tool)} is not accepted; give an offset (3,) in metres or a frame (4, 4)")
    if tool_axis is not None:
        if not has_axis:
            raise TargetError("tool_axis has no meaning without axis; leave it out, or give axis")
        direction = array_of("tool_axis", tool_axis, (3,))
        size = float(np.linalg.norm(direction))
        if not 0.0 < size < np.inf:
            raise TargetError(f"tool_axis = {shown(tool_axis)} is not accepted; give a direction of finite numbers")
        frame[:3, :3] = frame[:3, :3] @ frame_along(direction / size)
    return frame


def _same_tool(one: Array | None, other: Array | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _packed(
    points: Array, axes: Array | None, rotations: Array | None, fields: tuple[str, str, str]
) -> tuple[int, Array]:
    """Check the numbers of targets, whose shapes are already checked, and pack them."""
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
    """Raise an error that names the first number, or the first target, that is not accepted."""
    shapes = ((3,), (3,), (3, 3))
    for field, values, shape in zip(fields, (points, axes, rotations), shapes, strict=True):
        if values is not None and not np.isfinite(values).all():
            single = field in KINDS
            whole = values.reshape(shape if single else (-1, *shape))
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(whole))[0])
            raise TargetError(f"{field}{list(index)} = {float(whole[index])} is not accepted; give finite numbers")

    def which(field: str, row: int) -> str:
        return field if field in fields else f"{field} of target {row}"

    far = np.abs(points).max(axis=1)
    if far.max() > FARTHEST:
        worst = int(far.argmax())
        raise TargetError(
            f"{which('position', worst)} = {shown(points[worst])} is not accepted; give metres up to 1e12"
        )
    if axes is not None:
        worst = int(np.flatnonzero(~axes.any(axis=1))[0])
        raise TargetError(f"{which('axis', worst)} is zero; give a direction")
    assert rotations is not None
    worst = next(i for i, turn in enumerate(rotations) if not rotation_defect(turn) <= ROTATION_TOLERANCE)
    raise TargetError(
        f"{which('rotation', worst)} = {shown(rotations[worst].reshape(3, 3))} is not a rotation; give orthogonal rows "
        "of unit length, determinant +1"
    )


def _not_a_pose(field: str, matrix: Array) -> TargetError:
    return TargetError(f"{field} has the last row {matrix[3].tolist()}; give 0, 0, 0, 1 (is it transposed?)")


def checked_convention(convention: Any) -> str:
    """Return a convention of Euler angles if it is valid: three axes, neighbours different."""
    named = isinstance(convention, str) and len(convention) == 3 and (convention.isupper() or convention.islower())
    axes = convention.lower() if named else "   "
    if not set(axes) <= set("xyz") or axes[0] == axes[1] or axes[1] == axes[2]:
        raise TargetError(
            f"convention = {shown(convention)} is not accepted; give three axes, neighbours different, as 'ZYX' about "
            "the moving axes or 'xyz' about the fixed ones"
        )
    return str(convention)


def _from_euler(angles: Array, convention: str) -> Array:
    checked_convention(convention)
    if not np.isfinite(angles).all():
        raise TargetError(f"angles = {shown(angles)} is not accepted; give finite numbers, in radians")
    return rotation_from_euler(angles, convention)


def _from_quaternion(quaternion: Array) -> Array:
    if not np.isfinite(quaternion).all():
        raise TargetError(f"quaternion = {shown(quaternion)} is not accepted; give finite numbers w, x, y, z")
    if not quaternion.any():
        raise TargetError("quaternion is zero; give w, x, y, z of a rotation")
    return rotation_from_quaternion(quaternion)
