"""The functions of the C library libreRGM3, to build your own hierarchical search.

`arcreach.solve(..., method="hierarchical")` runs the whole search; here are its parts as functions of a robot, a
configuration and a target. A target is an `arcreach.Target` or a 4 x 4 matrix. The tip matrix is `robot.tip_pose(q)`,
and the steps of a search are in `Solution.trace`.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from arcreach._checks import positive, real_array, shown, whole
from arcreach._typing import Array, Motion
from arcreach.elements import ANGLE
from arcreach.errors import ConfigurationError, TargetError
from arcreach.ik.log import csv_log
from arcreach.ik.methods.hierarchical import coordinate_index, limit_chain, motions
from arcreach.ik.target import Target
from arcreach.kernels.chain import judge
from arcreach.kernels.methods.hierarchical import propose
from arcreach.robots.restricted import with_tool
from arcreach.robots.symbolic import AnyRobot

Aim = Target | npt.ArrayLike

__all__ = [
    "absolute_errors",
    "angles",
    "coordinates_text",
    "csv_log",
    "errors_text",
    "largest_orientation_error",
    "largest_position_error",
    "limit_reached",
    "matrix_text",
    "mean_orientation_error",
    "mean_position_error",
    "orientation_jump",
    "orientation_step",
    "position_jump",
    "position_step",
    "relative_errors",
    "rotation_angle",
    "step_from_limits",
    "step_from_range",
    "target_matrix",
]


def step_from_limits(robot: AnyRobot, coordinate: int | str, divisions: int) -> float:
    """Return the step (q_max - q_min) / N of a coordinate. Source: [RGM3] eq. 2."""
    k = coordinate_index(robot, "coordinate", coordinate)
    span = float(robot.upper[k] - robot.lower[k])
    if not math.isfinite(span):
        raise ConfigurationError(f"coordinate '{robot.coordinates[k]}' has no limits; give a range to step_from_range")
    return span / whole("divisions", divisions, 1)


def step_from_range(span: float, divisions: int) -> float:
    """Return the step of a range that the caller chooses. Source: [RGM3] set_simple_iteration_step."""
    return positive("span", span, "radians or metres") / whole("divisions", divisions, 1)


def position_step(robot: AnyRobot, q: npt.ArrayLike, target: Aim, coordinate: int | str, step: float) -> Array:
    """Return q with a coordinate moved one step up, or else down, if that brings the tip nearer to the target.

    Steps that leave the limits are rejected; a step up that changes nothing is kept. Source: [RGM3] eq. 1.
    """
    return _step(robot, q, target, coordinate, step, 0)


def orientation_step(robot: AnyRobot, q: npt.ArrayLike, target: Aim, coordinate: int | str, step: float) -> Array:
    """Return the result of `position_step`, judged by the angle between the orientations. Source: [RGM3] eq. 1."""
    return _step(robot, q, target, coordinate, step, 1)


def limit_reached(robot: AnyRobot, q: npt.ArrayLike, coordinate: int | str) -> bool:
    """Return whether a coordinate is beyond its limits: above the upper or below the lower one.

    Source: [RGM3] is_limit_reached. Erratum: see docs/errata.md#rgm3-in-range.
    """
    k = coordinate_index(robot, "coordinate", coordinate)
    value = _configuration(robot, q)[k]
    return not robot.lower[k] <= value <= robot.upper[k]


def position_jump(
    robot: AnyRobot, q: npt.ArrayLike, target: Aim, coordinate: int | str, nearest: bool = False
) -> Array:
    """Return q with the coordinate at its minimum, middle or maximum, whichever is farthest from the target.

    `nearest` chooses the nearest of the three. Source: [RGM3] avoid_position_limiter; derived for the nearest.
    """
    return _jump(robot, q, target, coordinate, nearest, 0)


def orientation_jump(
    robot: AnyRobot, q: npt.ArrayLike, target: Aim, coordinate: int | str, nearest: bool = False
) -> Array:
    """Return the result of `position_jump`, judged by the angle between the orientations.

    Source: [RGM3] avoid_orientation_limiter; derived for the nearest. Erratum: see docs/errata.md#rgm3-jump.
    """
    return _jump(robot, q, target, coordinate, nearest, 1)


def target_matrix(target: Aim) -> Array:
    """Return a target as a 4 x 4 matrix; entries that it does not specify are NaN."""
    if not isinstance(target, Target):
        return _matrix("target", target)
    matrix = np.eye(4)
    matrix[:3, :3] = np.nan if target.rotation is None else target.rotation
    if target.axis is not None:
        matrix[:3, 2] = target.axis
    matrix[:3, 3] = target.position
    return matrix


def absolute_errors(pose: npt.ArrayLike, target: Aim) -> Array:
    """Return target minus tip, entry by entry (4, 4): direction cosines, then the position in the last column.

    Entries that the target does not specify are 0. Source: [RGM3] get_absolute_error_matrix.
    """
    return np.nan_to_num(target_matrix(target) - _matrix("pose", pose), nan=0.0)


def relative_errors(pose: npt.ArrayLike, target: Aim) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the errors in percent of the target's entries (4, 4), and a mask (4, 4) of those that are not percentages.

    Where the target's entry is 0, the first array has the absolute error and the mask is True.

    Source: [RGM3] get_relative_error_matrix. Erratum: see docs/errata.md#rgm3-relative.
    """
    wanted = np.nan_to_num(target_matrix(target), nan=0.0)
    errors = absolute_errors(pose, target)
    absolute = wanted == 0.0
    return np.where(absolute, errors, 100.0 * errors / np.where(absolute, 1.0, wanted)), absolute


def angles(pose: npt.ArrayLike) -> Array:
    """Return a pose with its direction cosines replaced by the angles between the axes, in radians.

    Source: [RGM3] convert_tcp_matrix_cos2rad. Erratum: see docs/errata.md#rgm3-angles.
    """
    matrix = _matrix("pose", pose).copy()
    # Rounding may leave a cosine beyond 1.
    matrix[:3, :3] = np.arccos(np.clip(matrix[:3, :3], -1.0, 1.0))
    return matrix


def largest_position_error(errors: npt.ArrayLike) -> float:
    """Return the largest of the three position errors of an error matrix. Source: [RGM3] get_max_error_of_position."""
    return float(np.abs(np.asarray(errors)[:3, 3]).max())


def mean_position_error(errors: npt.ArrayLike) -> float:
    """Return the mean size of the three position errors. Source: [RGM3] get_average_error_of_position."""
    return float(np.abs(np.asarray(errors)[:3, 3]).mean())


def largest_orientation_error(errors: npt.ArrayLike) -> float:
    """Return the largest of the nine orientation errors of a matrix. Source: [RGM3] get_max_error_of_orientation."""
    return float(np.abs(np.asarray(errors)[:3, :3]).max())


def mean_orientation_error(errors: npt.ArrayLike) -> float:
    """Return the mean size of the nine orientation errors. Source: [RGM3] get_average_error_of_orientation."""
    return float(np.abs(np.asarray(errors)[:3, :3]).mean())


def rotation_angle(pose: npt.ArrayLike, target: Aim) -> float:
    """Return the angle in radians of the rotation that takes the tip's orientation to the target's.

    Source: derived. Erratum: see docs/errata.md#rgm3-angles.
    """
    return _errors(_matrix("pose", pose), _target(target))[1]


def matrix_text(matrix: npt.ArrayLike, digits: int = 4) -> str:
    """Return a matrix of any size as lines of text. Source: [RGM3] term_print_matrix."""
    rows = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
    cells = [[f"{value:.{digits}f}" for value in row] for row in rows.tolist()]
    width = max((len(cell) for row in cells for cell in row), default=0)
    return "\n".join("  ".join(cell.rjust(width) for cell in row) for row in cells)


def errors_text(pose: npt.ArrayLike, target: Aim) -> str:
    """Return the largest and mean errors of a tip as lines of text. Source: [RGM3] term_print_error."""
    errors = absolute_errors(pose, target)
    largest, mean = 1e3 * largest_position_error(errors), 1e3 * mean_position_error(errors)
    lines = [f"position: largest {largest:.4f} mm, mean {mean:.4f} mm"]
    if _target(target).kind != "position":
        cosines = f"largest {largest_orientation_error(errors):.6f}, mean {mean_orientation_error(errors):.6f}"
        lines.append(f"orientation: {cosines} (cosines); turned by {math.degrees(rotation_angle(pose, target)):.4f}°")
    return "\n".join(lines)


def coordinates_text(robot: AnyRobot, q: npt.ArrayLike, iteration: int) -> str:
    """Return an iteration's number and coordinates as one line of text. Source: [RGM3] term_print_gen_coord."""
    values = zip(robot.coordinates, robot.quantities, _configuration(robot, q).tolist(), strict=True)
    parts = [f"{name} = {v:.4f} rad" if kind == ANGLE else f"{name} = {v * 1e3:.4f} mm" for name, kind, v in values]
    return f"{iteration}: {', '.join(parts)}"


def _matrix(field: str, value: Any) -> Array:
    matrix = real_array(value)
    if matrix is None or matrix.shape != (4, 4):
        raise TargetError(f"{field} = {shown(value)} is not accepted; give a 4 x 4 matrix of numbers")
    return matrix


def _target(target: Aim) -> Target:
    return target if isinstance(target, Target) else Target.from_pose(target)


def _errors(pose: Array, target: Target) -> tuple[float, float]:
    """Return the distance and the angle from the target, as `solve` measures them."""
    mode, rows = target.batch.packed
    distance, angle = judge.tip_errors(cast(Motion, tuple(pose[:3].ravel().tolist())), rows[0], mode)
    return float(distance), float(angle)


def _step(robot: AnyRobot, q: npt.ArrayLike, target: Aim, coordinate: int | str, step: float, error: int) -> Array:
    here, aim = _configuration(robot, q).copy(), _target(target)
    robot = with_tool(robot, aim.tool)
    k, size = coordinate_index(robot, "coordinate", coordinate), positive("step", step, "radians or metres")
    before = _errors(robot.tip_pose(here), aim)[error]
    trial = np.empty(robot.dof)
    for signed in (size, -size):
        if propose(limit_chain(robot), motions(robot), k, signed, here, trial):
            after = _errors(robot.tip_pose(trial), aim)[error]
            # As in the search, a step up that changes nothing is kept.
            if after < before or (after == before and signed > 0.0):
                return trial
    return here


def _jump(robot: AnyRobot, q: npt.ArrayLike, target: Aim, coordinate: int | str, nearest: bool, error: int) -> Array:
    here, aim, k = _configuration(robot, q), _target(target), coordinate_index(robot, "coordinate", coordinate)
    robot = with_tool(robot, aim.tool)
    lower, upper = float(robot.lower[k]), float(robot.upper[k])
    if not math.isfinite(lower):
        raise ConfigurationError(f"coordinate '{robot.coordinates[k]}' has no limits; give one that has")
    trials = np.tile(here, (3, 1))
    trials[:, k] = lower, lower + 0.5 * (upper - lower), upper
    # A short section may not bend as far as a long one, so some trials may be outside the limits.
    inside: list[Array] = [trial for trial in trials if robot.within_limits(trial, 0.0)] or [here.copy()]
    errors = [_errors(robot.tip_pose(trial), aim)[error] for trial in inside]
    return inside[int(np.argmin(errors) if nearest else np.argmax(errors))]


def _configuration(robot: AnyRobot, q: npt.ArrayLike) -> Array:
    values = robot.checked(q)
    if values.ndim != 1:
        raise ConfigurationError(f"q has the shape {values.shape}; give one configuration of {robot.dof} numbers")
    return values
