"""`solve_batch` on a GPU: check the input, solve, and report bad targets as the CPU does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arcreach._checks import ROTATION_TOLERANCE, array_of, real_array, shown
from arcreach.errors import DeviceError, MethodError, TargetError
from arcreach.gpu import driver
from arcreach.gpu.batch import LARGEST, Batch, too_large
from arcreach.gpu.contexts import Accepted
from arcreach.gpu.contexts import Targets as Arrays
from arcreach.gpu.forward import device_rows, on_device
from arcreach.ik.method import find_method
from arcreach.ik.methods.auto import MOST_STEPS, SEEDS
from arcreach.ik.solution import Solutions
from arcreach.ik.solve import checked_settings, checked_starts
from arcreach.ik.target import CODES, FARTHEST, Targets, as_targets
from arcreach.kernels.solver.contexts import Task
from arcreach.robots.hints import position_hint
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot


def serves(device: str, robot: Any, method: str, **not_served: Any) -> bool:
    """Return whether the GPU supports a batch; raise DeviceError if it does not and `device` is "cuda"."""
    try:
        check_device(robot, method, **not_served)
    except DeviceError:
        if device == "auto":
            return False
        raise
    return True


def solve_on_device(
    robot: Any,
    given: tuple[Any, Any, Any],  # targets or positions, axes, rotations
    start: Any,
    settings: tuple[Any, ...],  # in the order of `arcreach.ik.solve.Settings`
    specialised: bool | None,
    progress: Callable[[int], None] | None,
) -> Solutions:
    """Solve a batch by method `auto` on a GPU."""
    targets = _as_targets(*given)
    positions, axes, rotations = given
    if targets is not None:
        positions, rotations = targets.positions, targets.rotations
        axes = targets.axes if rotations is None else None
    if axes is not None and rotations is not None:
        raise TargetError("axis and rotation are both given; give one of them: a rotation contains its axis")
    kind = "axis" if axes is not None else "rotation" if rotations is not None else "position"
    checked = checked_settings(robot, find_method("auto"), kind, settings)
    arrays = (_device_arrays if on_device(positions) else _host_arrays)(robot, positions, axes, rotations, start)
    n = len(arrays.positions)
    began = time.perf_counter()
    task = task_of(CODES[kind], checked[0], checked[1], checked[2], start is not None)
    batch = batch_of([robot], task, n, checked[4], specialised)
    found = batch.solve(arrays, progress or (lambda _: None))
    if batch.fault is not None:
        _refuse(batch.fault, positions, axes, rotations)
    # Broadcast: writing an array of equal numbers would take as long as solving.
    seconds = np.broadcast_to((time.perf_counter() - began) / max(n, 1), n)
    return Solutions(
        found.q,
        found.status,
        found.position_error,
        found.angle_error,
        found.iterations,
        seconds,
        "auto",
        hint="" if on_device(positions) else position_hint(robot, arrays.positions),
        robot=robot,
        targets=targets,
    )


def _as_targets(given: Any, axes: Any, rotations: Any) -> Targets | None:
    """Return what was given as `Targets`; None for arrays of positions, which the GPU checks itself."""
    if not isinstance(given, Targets):
        array = None if on_device(given) else real_array(given)
        if array is None or array.ndim != 3:
            return None
    return as_targets(given, axes, rotations)


def task_of(
    mode: int, position_tol: float, angle_tol: float, max_iterations: int | None = None, started: bool = False
) -> Task:
    """Return the task of a batch, without its targets."""
    none = np.empty((0, 0))
    count, steps = SEEDS[mode], max_iterations or MOST_STEPS
    return Task(none, mode, position_tol, angle_tol, count, steps, math.inf, started, True, none)


def batch_of(robots: Sequence[Robot], task: Task, n: int, seed: int = 0, specialised: bool | None = None) -> Batch:
    """Return a batch of n targets, an equal share for each of the robots, which must be `gpu.batch.alike`."""
    searched = [robot.model.model_and_table(task.mode, task.max_starts, seed) for robot in robots]
    return Batch(searched, task, Accepted(FARTHEST, ROTATION_TOLERANCE), robots[0].dof, n, specialised)


def check_device(robot: Any, method: str, **not_served: Any) -> None:
    """Raise DeviceError for what the GPU does not support."""
    if method != "auto":
        raise DeviceError(f"device 'cuda' serves method 'auto', not '{method}'; use device='cpu'")
    for name, value in not_served.items():
        if value is not None:
            raise DeviceError(f"{name} is not served on device 'cuda'; leave it out, or use device='cpu'")
    if isinstance(robot, SymbolicRobot):
        raise DeviceError(f"robot '{robot.name}' is given as a matrix; device 'cuda' serves chains of elements")
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    if robot.pull_limits is not None:
        raise DeviceError(
            f"robot '{robot.name}' has limits of pulls, which device 'cuda' does not keep; use device='cpu'"
        )
    largest = too_large(robot.model.for_kernels(), robot.model.variables)
    if largest is not None:
        raise DeviceError(
            f"robot '{robot.name}' is too large for device 'cuda': its {largest} variables or moving elements are more "
            f"than the {LARGEST} that fit a thread of the GPU; use device='cpu'"
        )


def _host_arrays(robot: Any, positions: Any, axes: Any, rotations: Any, start: Any) -> Arrays:
    points = array_of("positions", positions, (None, 3))
    n = len(points)
    turned = points[:, :0]
    if axes is not None:
        turned = array_of("axes", axes, (n, 3))
    elif rotations is not None:
        turned = array_of("rotations", rotations, (n, 3, 3)).reshape(n, 9)
    if start is None:
        return Arrays(points, turned, None)
    return Arrays(points, turned, checked_starts(robot, start, n))


def _device_arrays(robot: Any, positions: Any, axes: Any, rotations: Any, start: Any) -> Arrays:
    points = device_rows(positions, "positions", 3)
    n = len(points)
    for field, given in (("axes", axes), ("rotations", rotations)):
        if given is not None and not on_device(given):
            raise TargetError(
                f"{field} are on the host and positions on the device; give both on the host or both on the device"
            )
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
        return Arrays(points, turned, None)
    # Starts are checked and clipped on the host, as for the CPU.
    given = device_rows(start, "start", robot.dof).copy_to_host() if on_device(start) else start
    return Arrays(points, turned, driver.load().to_device(checked_starts(robot, given, n)))


def _refuse(i: int, positions: Any, axes: Any, rotations: Any) -> None:
    """Raise the CPU's error for the first rejected target."""
    if on_device(positions):
        raise TargetError(f"target {i} is not accepted; give finite numbers, axes that are not zero, and rotations")
    orientations = (None if part is None else np.asarray(part)[: i + 1] for part in (axes, rotations))
    Targets(np.asarray(positions)[: i + 1], *orientations)
    raise TargetError(f"target {i} is not accepted")
