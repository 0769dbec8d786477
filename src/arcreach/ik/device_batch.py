"""`solve_batch` on a GPU: check what was given, solve it there, and say of bad targets what the CPU says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach.errors import DeviceError, TargetError
from arcreach.gpu import driver
from arcreach.gpu.forward import device_rows, on_device
from arcreach.ik.device import Question, check_device, solve_rows
from arcreach.ik.method import find_method
from arcreach.ik.solution import Solutions
from arcreach.ik.solve import _checked, _starts
from arcreach.ik.target import _numbers, target_rows
from arcreach.kernels.layout import AXIS, POSITION, ROTATION


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
    # One number for all: an array of its own would take longer to write than they take to solve.
    seconds = np.broadcast_to(answer.seconds / max(n, 1), n)
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
    for field, given in (("axes", axes), ("rotations", rotations)):
        if given is not None and not on_device(given):
            raise TargetError(f"{field} lie on the host and positions on the device; give both in one place")
    turned = None
    if axes is not None:
        turned = device_rows(axes, "axes", 3)
    elif rotations is not None:
        if tuple(rotations.shape) != (n, 3, 3):
            raise TargetError(f"rotations has the shape {tuple(rotations.shape)}; give numbers of shape ({n}, 3, 3)")
        turned = device_rows(rotations.reshape(n, 9), "rotations", 9)
    if turned is not None and len(turned) != n:
        raise TargetError(f"axes has {len(turned)} rows for {n} positions; give one for each")
    if start is None:
        return points, turned, None
    # Starts are few numbers beside the work: they are checked and clipped where all others are.
    given = device_rows(start, "start", robot.dof).copy_to_host() if on_device(start) else start
    return points, turned, driver.load().to_device(_starts(robot, given, n))


def _refuse(i: int, positions: Any, axes: Any, rotations: Any) -> None:
    """Raise what the CPU raises for the first target that is not accepted."""
    if on_device(positions):
        raise TargetError(f"target {i} is not accepted; give finite numbers, axes that are not zero, and rotations")
    target_rows(*(None if part is None else np.asarray(part)[: i + 1] for part in (positions, axes, rotations)))
    raise TargetError(f"target {i} is not accepted")
