"""`solve_batch` on a GPU: check what was given, solve it there, and say of bad targets what the CPU says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach.errors import DeviceError, TargetError
from arcreach.ik.device import Question, check_device, solve_rows
from arcreach.ik.method import find_method
from arcreach.ik.solution import Solutions
from arcreach.ik.solve import _checked, _starts
from arcreach.ik.target import _numbers, target_rows
from arcreach.kernels.layout import AXIS, POSITION, ROTATION
from arcreach.robots._device import device_rows, on_device


def solve_on_device(
    robot: Any,
    positions: Any,
    axes: Any,
    rotations: Any,
    method: str,
    start: Any,
    settings: tuple[Any, ...],  # tolerances, iterations, seconds, seed, variant, as `solve_batch` takes them
    device: str,
    specialised: bool | None,
    progress: Callable[[int], None] | None,
    scene: Any,
    options: dict[str, Any],
) -> Solutions | None:
    """The batch solved on a GPU; None where `device` is "auto" and the CPU must do it."""
    try:
        check_device(robot, method, max_time=settings[3], scene=scene, **options)
    except DeviceError:
        if device == "auto":
            return None
        raise
    if axes is not None and rotations is not None:
        raise TargetError("axis and rotation are both given; give one of them: a rotation contains its axis")
    mode = AXIS if axes is not None else ROTATION if rotations is not None else POSITION
    position_tol, angle_tol, max_iterations, max_time, seed, variant = settings
    checked = _checked(
        robot, find_method(method), mode, position_tol, angle_tol, max_iterations, max_time, seed, variant, None
    )
    question = Question(mode, checked[0], checked[1], checked[2], checked[4])
    if on_device(positions):
        arrays = _device_arrays(robot, positions, axes, rotations, start)
    else:
        arrays = _host_arrays(robot, positions, axes, rotations, start)
    answer = solve_rows([robot], question, *arrays, specialised=specialised, done=progress or (lambda _: None))
    if answer.fault is not None:
        _refuse(answer.fault, positions, axes, rotations)
    n = len(arrays[0])
    seconds = np.full(n, answer.seconds / max(n, 1))
    return Solutions(
        answer.q, answer.status, answer.position_error, answer.angle_error, answer.iterations, seconds, method
    )


def _host_arrays(robot: Any, positions: Any, axes: Any, rotations: Any, start: Any) -> tuple[Any, Any, Any]:
    points = _numbers("positions", positions, (None, 3))
    n = len(points)
    turned = points[:, :0]
    if axes is not None:
        turned = _numbers("axes", axes, (n, 3))
    elif rotations is not None:
        turned = _numbers("rotations", rotations, (n, 3, 3)).reshape(n, 9)
    if start is None:
        return points, turned, None
    starts = _starts(robot, start, n)
    return points, turned, starts


def _device_arrays(robot: Any, positions: Any, axes: Any, rotations: Any, start: Any) -> tuple[Any, Any, Any]:
    points = device_rows(positions, "positions", 3)
    n = len(points)
    turned = None
    if axes is not None:
        turned = device_rows(axes, "axes", 3)
    elif rotations is not None:
        turned = device_rows(rotations.reshape(n, 9), "rotations", 9)
    starts = None if start is None else device_rows(start, "start", robot.dof)
    for field, rows in (("axes or rotations", turned), ("start", starts)):
        if rows is not None and len(rows) != n:
            raise TargetError(f"{field} has {len(rows)} rows for {n} positions; give one for each")
    return points, turned, starts


def _refuse(i: int, positions: Any, axes: Any, rotations: Any) -> None:
    """Raise what the CPU raises for the first target that is not accepted."""
    if on_device(positions):
        raise TargetError(f"target {i} is not accepted; give finite numbers, axes that are not zero, and rotations")
    parts = (None if part is None else np.asarray(part)[i : i + 1] for part in (positions, axes, rotations))
    try:
        target_rows(*parts)
    except TargetError as error:
        raise TargetError(f"target {i}: {error}") from None
    raise TargetError(f"target {i} is not accepted")
