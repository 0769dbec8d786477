"""Give a path its times: as fast as limits of speed and acceleration allow, by toppra.

Speeds are those of the smooth variables: joints, lengths, and both parts of a section's bend vector. The direction of a
straight section has no speed. A path has corners at its points; they are rounded, by little where much would touch an
obstacle, and where no rounding is free the robot stops at every point.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import MissingExtraError, TargetError
from arcreach.ik.solve import positive, whole
from arcreach.kernels.layout import FIXED
from arcreach.planning.motions import MotionCheck, SmoothSpace
from arcreach.planning.path_csv import configuration_columns, write_csv
from arcreach.robots.checks import real_array, shown
from arcreach.robots.robot import Robot

Array = npt.NDArray[np.float64]

# Shares of the shorter side at a corner that the rounding may take, tried in turn; without a scene that could object
# the least is taken.
ROUNDINGS = (0.4, 0.15, 0.05)
# Points of a rounded corner and of a straight side through which the smooth curve is laid.
CORNER_POINTS = 7
SIDE_POINTS = 4
# Points of the curve at which toppra keeps the limits; between them they are kept by slowing down a little.
GRID = 400
# Points nearer to each other than this, in radians and shares, are one.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Timed:
    """A motion in time, at rest at both ends.

    `speed` and `acceleration` are those of the smooth variables in SI units: the bend vector for the bend and direction
    of a section.
    """

    robot: Robot
    times: Array  # (n,) seconds from 0
    q: Array  # (n, dof)
    speed: Array  # (n, dof)
    acceleration: Array  # (n, dof)
    clearance: float | None  # certified between the samples, where the path has a scene
    stops: bool  # whether it stops at every point of the path

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return float(self.times[-1])

    def __len__(self) -> int:
        return len(self.times)

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Write the motion as CSV: `time` in seconds, then a column per coordinate in SI units."""
        write_csv(file, {"time": self.times.tolist(), **configuration_columns(self.robot, self.q)})

    def __str__(self) -> str:
        text = f"{self.duration:.4g} s, {len(self)} samples"
        text += ", stops at every point" if self.stops else ""
        return text if self.clearance is None else f"{text}, certified clearance {self.clearance * 1e3:.3g} mm"


def timed(
    path: Any, max_speed: npt.ArrayLike, max_acceleration: npt.ArrayLike, *, samples: int = 200, stops: bool = False
) -> Timed:
    """The fastest motion along a path (a `Plan`, a `Path`) within limits of speed and acceleration.

    A limit is one number, or one per coordinate, in rad/s and m/s or rad/s² and m/s²; that of a section's bend holds
    for both parts of its bend vector, that of its direction for nothing. `stops` stops at every point and so keeps to
    the path exactly. A motion of a `Plan` is certified anew with its scene.
    """
    toppra = _import_toppra()
    robot: Robot = path.robot
    space = SmoothSpace(robot)
    speed, acceleration = (
        _limits(space, _per_coordinate(robot, field, value))
        for field, value in (("max_speed", max_speed), ("max_acceleration", max_acceleration))
    )
    samples = whole("samples", samples, 2)
    V = _distinct(space.variables(path.q))
    units = _units(space)
    scene, margin = getattr(path, "scene", None), float(getattr(path, "margin", 0.0))
    check = None if scene is None else MotionCheck(space, scene, margin)
    if len(V) < 2:
        raise TargetError("path has no length: all its points are one; give a path that moves")
    roundings = ROUNDINGS[-1:] if check is None else ROUNDINGS
    for share in () if stops or len(V) == 2 else roundings:
        motion = _run(toppra, _rounded(V, share), speed, acceleration, samples)
        least = None if check is None else _certified(check, motion[1])
        if least is None or least > margin:
            return _timed(space, units, *motion, least, False)
    each = -(-samples // (len(V) - 1)) + 1
    motion = _joined([_run(toppra, side, speed, acceleration, each) for side in _sides(V)])
    least = None if check is None else _certified(check, motion[1])
    return _timed(space, units, *motion, least, len(V) > 2)


def _import_toppra() -> Any:
    try:
        import toppra
        import toppra.algorithm
        import toppra.constraint
    except ImportError:
        raise MissingExtraError("toppra", "plan", "timing a path") from None
    toppra.setup_logging("ERROR")
    return toppra


def _per_coordinate(robot: Robot, field: str, value: npt.ArrayLike) -> Array:
    given = real_array(value)
    if given is not None and given.ndim == 0:
        return np.full(robot.dof, positive(field, float(given), "a number"))
    if given is None or given.shape != (robot.dof,) or not ((given > 0.0) & (given < np.inf)).all():
        raise TargetError(f"{field} = {shown(value)} is not accepted; give one number above 0, or {robot.dof}")
    return given


def _limits(space: SmoothSpace, largest: Array) -> Array:
    """Limits of coordinates as limits of variables: both parts of a bend vector have that of the bend."""
    result = np.empty(space.chain.variables)
    for move in space.chain.moves:
        if move["kind"] == FIXED:
            continue
        k, c, last = move["variable"], move["coordinate"], move["variable"] + move["width"] - 1
        result[k : last + 1] = largest[c]
        if move["stretch"] > 0.0:
            result[last] = largest[c + 2] / move["stretch"]
    return result


def _units(space: SmoothSpace) -> Array:
    """What a unit of each variable is in SI: the stretch for the share of one."""
    units = np.ones(space.chain.variables)
    for move in space.chain.moves:
        if move["stretch"] > 0.0:
            units[move["variable"] + move["width"] - 1] = move["stretch"]
    return units


def _distinct(V: Array) -> Array:
    """The points without repetitions one after another."""
    moved = np.abs(np.diff(V, axis=0)).max(axis=1, initial=0.0) > SAME
    return np.asarray(V[np.concatenate([[True], moved])])


def _rounded(V: Array, share: float) -> Array:
    """The path with a parabola in place of each corner; it stays in the triangle of the corner, inside the limits."""
    sides = np.linalg.norm(np.diff(V, axis=0), axis=1)
    u = np.linspace(0.0, 1.0, CORNER_POINTS)[:, None]
    rows = [V[:1]]
    for i in range(1, len(V) - 1):
        reach = share * min(sides[i - 1], sides[i])
        first = V[i] + reach / sides[i - 1] * (V[i - 1] - V[i])
        last = V[i] + reach / sides[i] * (V[i + 1] - V[i])
        rows.append(_between(rows[-1][-1], first)[:-1])
        rows.append((1 - u) ** 2 * first + 2 * u * (1 - u) * V[i] + u**2 * last)
    rows.append(_between(rows[-1][-1], V[-1]))
    return _distinct(np.vstack(rows))


def _between(a: Array, b: Array) -> Array:
    """Points of a straight side after its first, its end included."""
    return a + np.arange(1, SIDE_POINTS + 1)[:, None] / SIDE_POINTS * (b - a)


def _sides(V: Array) -> list[Array]:
    return [np.array([a, b]) for a, b in itertools.pairwise(V)]


def _run(toppra: Any, V: Array, speed: Array, acceleration: Array, samples: int) -> tuple[Array, Array, Array, Array]:
    """Times, variables, speeds and accelerations of the fastest motion through points, at rest at both ends."""
    places = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(V, axis=0), axis=1))])
    curve = toppra.SplineInterpolator(places, V, "natural" if len(V) > 2 else "not-a-knot")
    limits = [
        toppra.constraint.JointVelocityConstraint(np.stack([-speed, speed], axis=1)),
        toppra.constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], axis=1)),
    ]
    grid = np.linspace(0.0, places[-1], GRID + 1)
    solver = toppra.algorithm.TOPPRA(limits, curve, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    motion = solver.compute_trajectory()
    if motion is None:
        raise TargetError("path cannot be timed within these limits; give larger ones")
    times = np.linspace(0.0, motion.duration, samples)
    dense = np.linspace(0.0, motion.duration, 4 * (samples - 1) + 1)
    # Between the points of the grid a limit may be passed by a little: the whole motion is slowed down by as much.
    fastest = float((np.abs(motion(dense, 1)) / speed).max())
    hardest = float((np.abs(np.concatenate([motion(dense, 2), motion(times, 2)])) / acceleration).max())
    slower = max(1.0, fastest, hardest**0.5)
    return times * slower, motion(times), motion(times, 1) / slower, motion(times, 2) / slower**2


def _joined(pieces: list[tuple[Array, Array, Array, Array]]) -> tuple[Array, Array, Array, Array]:
    """Motions one after another, at rest between them."""
    offsets = np.concatenate([[0.0], np.cumsum([piece[0][-1] for piece in pieces])])
    times = np.concatenate([piece[0][i > 0 :] + offsets[i] for i, piece in enumerate(pieces)])
    rest = [np.concatenate([piece[k][i > 0 :] for i, piece in enumerate(pieces)]) for k in (1, 2, 3)]
    return times, rest[0], rest[1], rest[2]


def _certified(check: MotionCheck, V: Array) -> float:
    """The certified clearance between samples, or minus infinity where a motion between two is not free."""
    free, certificates = check.certify(V)
    return float(certificates.min()) if free.all() else -np.inf


def _timed(
    space: SmoothSpace, units: Array, times: Array, V: Array, speed: Array, acceleration: Array, least: float | None,
    stops: bool,
) -> Timed:  # fmt: skip
    return Timed(space.robot, times, space.coordinates(V), speed * units, acceleration * units, least, stops)
