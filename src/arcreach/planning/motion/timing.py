"""Time-parametrise a path: the fastest motion along a smooth curve within speed and acceleration limits (TOPP-RA).

Limits apply to joints, to lengths, and for a section to the norm of the rate of its bend vector
bend * (cos direction, sin direction). For a straight section the rate of the direction is undefined; it is given as 0.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import positive, real_array, shown, whole
from arcreach._extras import require
from arcreach._io import write_csv
from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import TargetError
from arcreach.ik.log import coordinate_columns
from arcreach.kernels.chain.layout import BEND
from arcreach.planning.motion.motion_check import STRAIGHT, MotionCheck, SmoothSpace, unwrapped
from arcreach.planning.motion.smooth_curve import Curve, certified, distinct, smooth_curves
from arcreach.robots.robot import Robot

if TYPE_CHECKING:
    from arcreach.planning.motion.motor_table import MotorTable

SAMPLES = 200
# A day at 100 Hz: more samples indicate a mistake in `rate`.
MOST_SAMPLES = 10_000_000
# Directions over half a turn in which toppra bounds the rate of a bend vector: its norm exceeds the bound by at most
# 0.9 %.
DIRECTIONS = 12
# Points per interval of toppra's grid at which the limits are checked again.
CHECKS_PER_INTERVAL = 5
# Pulls are differentiated over this share of a curve, and keep this share below their largest speeds, which covers the
# differences and what changes between those points. FASTEST bounds the squared rate where no pull changes.
DIFFERENCE, SPEED_MARGIN, FASTEST = 1e-6, 1e-4, 1e8


@dataclass(frozen=True, slots=True)
class Timed:
    """A timed motion, at rest at both ends.

    Directions of sections are unwrapped (`robot.clip` wraps them). The direction of a section that passes through the
    straight pose jumps by pi there. `smooth` has no such jump: it holds bend * (cos direction, sin direction)
    in place of bend and direction, and is otherwise the same as `q`.
    """

    robot: Robot
    times: Array  # (n,) seconds from 0, evenly spaced
    q: Array  # (n, dof)
    speed: Array  # (n, dof), the derivative of q
    acceleration: Array  # (n, dof), the derivative of speed
    smooth: Array  # (n, dof)
    smooth_speed: Array  # (n, dof), limited by max_speed
    smooth_acceleration: Array  # (n, dof), limited by max_acceleration
    clearance: float | None  # certified along the whole motion; None without a scene
    stops: int  # points of the path between its ends at which the robot stops

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return float(self.times[-1])

    def __len__(self) -> int:
        return len(self.times)

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Write the motion as CSV: `time` in seconds, then a column per coordinate in SI units."""
        write_csv(file, {"time": self.times.tolist(), **coordinate_columns(self.robot, self.q)})

    def motor_table(self, output: str = "pulls") -> MotorTable:
        """Return the pulls of the tendons and their speeds, or with `output` "bends" or "coordinates" those.

        See `arcreach.planning.motion.motor_table.motor_table`.
        """
        from arcreach.planning.motion.motor_table import motor_table

        return motor_table(self, output)

    def __str__(self) -> str:
        text = f"{_text.seconds(self.duration, 4)}, {_text.count(len(self), 'sample')}"
        if self.stops:
            text += f", stops at {_text.count(self.stops, 'point')}"
        return text if self.clearance is None else f"{text}, certified clearance {_text.length(self.clearance)}"


def timed(
    path: Any,
    max_speed: npt.ArrayLike,
    max_acceleration: npt.ArrayLike,
    *,
    samples: int | None = None,
    rate: float | None = None,
    stops: bool = False,
) -> Timed:
    """Return the fastest motion along a path (a `Plan`, a `Path`) within limits of speed and acceleration.

    A limit is one number, or one per coordinate, in rad/s and m/s or rad/s² and m/s². The limit of a section's bend
    applies to the norm of the rate of its bend vector, the limit of its direction only to sections with `twist=True`.
    The motion also keeps `speed_max` of every tendon.

    The motion follows a cubic spline through the points of the path; corners are rounded only where the spline would
    leave the limits of the robot. With a scene the motion is certified again and keeps nine tenths of the clearance of
    the path: where the spline is too close to an obstacle it is pulled towards the straight segments of the path, and
    the robot stops if that is not enough. `stops=True` stops at every point and follows the straight segments exactly.

    `samples` is the number of samples (200 by default), `rate` the number per second; with a rate the motion is slowed
    down so that it ends on a sample.
    """
    toppra = _import_toppra()
    robot: Robot = path.robot
    speed, acceleration = (
        _per_coordinate(robot, field, value)
        for field, value in (("max_speed", max_speed), ("max_acceleration", max_acceleration))
    )
    if samples is not None and rate is not None:
        raise TargetError("samples and rate are both given; give one of them")
    count = whole("samples", SAMPLES if samples is None else samples, 2)
    rate = None if rate is None else positive("rate", rate, "samples per second")
    space = SmoothSpace(robot)
    V = distinct(space.variables(path.q))
    if len(V) < 2:
        raise TargetError("all points of the path coincide; give at least two different configurations")
    scene, margin = getattr(path, "scene", None), float(getattr(path, "margin", 0.0))
    check = None if scene is None else MotionCheck(space, scene, margin)
    curves = smooth_curves(space, V, check, stops)
    motion = _Motion([_TimedCurve(toppra, space, curve, speed, acceleration) for curve in curves])
    times = np.linspace(0.0, motion.duration, count)
    if rate is not None:
        if motion.duration * rate > MOST_SAMPLES:
            raise TargetError(
                f"rate = {rate:g} gives too many samples for a motion of {motion.duration:.3g} s; "
                f"give at most {MOST_SAMPLES / motion.duration:.3g} samples per second"
            )
        motion.scale_to(math.ceil(motion.duration * rate - 1e-9) / rate)
        times = np.arange(round(motion.duration * rate) + 1) / rate
    least = None if check is None else certified(check, curves)
    q, speeds, accelerations, smooth, smooth_speed, smooth_acceleration = _at(space, motion, times)
    return Timed(
        robot, times, q, speeds, accelerations, smooth, smooth_speed, smooth_acceleration, least, len(curves) - 1
    )  # fmt: skip


def _import_toppra() -> Any:
    toppra: Any = require("toppra", "timing a path")
    for part in ("algorithm", "constraint"):
        require(f"toppra.{part}", "timing a path")
    toppra.setup_logging("ERROR")
    return toppra


def _per_coordinate(robot: Robot, field: str, value: npt.ArrayLike) -> Array:
    given = real_array(value)
    if given is not None and given.ndim == 0:
        return np.full(robot.dof, positive(field, float(given), "a number"))
    if given is None or given.shape != (robot.dof,) or not ((given > 0.0) & (given < np.inf)).all():
        raise TargetError(
            f"{field} = {shown(value)} is not accepted; give one number above 0, or one per coordinate ({robot.dof})"
        )
    return given


def _bends(space: SmoothSpace) -> list[tuple[int, int]]:
    """Return the first variable and the first coordinate of every bend vector."""
    return [(int(move["variable"]), int(move["coordinate"])) for move in space.model.moves if move["kind"] == BEND]


def _others(space: SmoothSpace) -> list[tuple[int, int, float]]:
    """Return (variable, coordinate, scale to SI units) of every variable that is not part of a bend vector."""
    found = []
    for move in space.model.moves:
        k, c, last = int(move["variable"]), int(move["coordinate"]), int(move["variable"] + move["width"] - 1)
        if move["kind"] != BEND:
            found.append((k, c, 1.0))
        if move["stretch"] > 0.0:
            found.append((last, c + 2, float(move["stretch"])))
    return found


@dataclass(frozen=True, slots=True)
class _Projected:
    """A curve in the form toppra takes, with every bend vector projected onto `DIRECTIONS` directions."""

    curve: Curve
    rows: Array  # (m, variables)

    @property
    def dof(self) -> int:
        return len(self.rows)

    @property
    def path_interval(self) -> Array:
        return self.curve.grid[[0, -1]]

    def __call__(self, parameters: Array, order: int = 0) -> Array:
        return np.asarray(self.curve.spline(parameters, order) @ self.rows.T)


class _PullRates:
    """How fast pulls change along a curve, as shares of their largest speeds, by differences of the pulls."""

    def __init__(self, space: SmoothSpace, curve: Curve) -> None:
        self._space, self._curve = space, curve
        sections = [element for element in space.robot.elements if isinstance(element, Section)]
        largest = np.array([tendon.speed_max for section in sections for tendon in section.tendons])
        self.limited = bool(np.isfinite(largest).any())
        self._largest = largest * (1.0 - SPEED_MARGIN)

    def __call__(self, parameters: Array) -> Array:
        """Return the largest share per unit of the path parameter (n,)."""
        first, last = self._curve.grid[[0, -1]]
        half = DIFFERENCE * (last - first)
        before, after = np.maximum(parameters - half, first), np.minimum(parameters + half, last)
        model, spline = self._space.model, self._curve.spline
        low, high = (self._space.robot.pulls(model.to_coordinates(spline(at))) for at in (before, after))
        return np.asarray((np.abs(high - low) / (after - before)[:, None] / self._largest).max(axis=1))


def _speed_constraint(toppra: Any, rates: _PullRates, dof: int) -> Any:
    """Return the largest speeds of pulls as a constraint of toppra: a bound of the squared rate of the parameter."""

    class PullSpeed(toppra.constraint.LinearConstraint):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dof = dof

        def compute_constraint_params(self, path: Any, gridpoints: Array) -> tuple[Any, ...]:
            fastest = 1.0 / np.maximum(rates(gridpoints), 1e-150) ** 2
            return (*[None] * 6, np.stack([np.zeros_like(fastest), np.minimum(fastest, FASTEST)], axis=1))

    return PullSpeed()


class _TimedCurve:
    """The fastest motion along one curve; the path parameter has constant acceleration between grid points."""

    def __init__(self, toppra: Any, space: SmoothSpace, curve: Curve, speed: Array, acceleration: Array) -> None:
        self.spline, self.grid = curve.spline, curve.grid
        rows, coordinates = _projections(space)
        limits = [
            kind(np.stack([-largest[coordinates], largest[coordinates]], axis=1))
            for kind, largest in (
                (toppra.constraint.JointVelocityConstraint, speed),
                (toppra.constraint.JointAccelerationConstraint, acceleration),
            )
        ]
        self.pull_rates = _PullRates(space, curve)
        if self.pull_rates.limited:
            limits.append(_speed_constraint(toppra, self.pull_rates, len(rows)))
        solver = toppra.algorithm.TOPPRA(limits, _Projected(curve, rows), gridpoints=self.grid)
        rates = solver.compute_parameterization(0.0, 0.0)[1]
        if rates is None or not np.isfinite(rates).all():
            raise TargetError("path cannot be timed within these limits; give larger ones")
        self.squared_rates = rates**2
        self._slow_down(space, speed, acceleration)

    def _slow_down(self, space: SmoothSpace, speed: Array, acceleration: Array) -> None:
        """Slow the run down until the limits also hold between grid points and for norms of bend vectors."""
        steps, growth = np.diff(self.grid), np.diff(self.squared_rates)
        speed_ratio = acceleration_ratio = 1.0
        for share in np.linspace(0.0, 1.0, CHECKS_PER_INTERVAL):
            parameters, squares = self.grid[:-1] + share * steps, self.squared_rates[:-1] + share * growth
            first, second = self.spline(parameters, 1), self.spline(parameters, 2)
            V1 = first * np.sqrt(squares)[:, None]
            V2 = second * squares[:, None] + first * (0.5 * growth / steps)[:, None]
            speed_ratio = max(speed_ratio, _largest_ratio(space, V1, speed))
            if self.pull_rates.limited:
                speed_ratio = max(speed_ratio, float((np.sqrt(squares) * self.pull_rates(parameters)).max()))
            acceleration_ratio = max(acceleration_ratio, _largest_ratio(space, V2, acceleration))
        self.squared_rates = self.squared_rates / max(speed_ratio**2, acceleration_ratio)
        rates = np.sqrt(self.squared_rates)
        self.times = np.concatenate([[0.0], np.cumsum(2.0 * steps / (rates[:-1] + rates[1:]))])

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Return variables, speeds and accelerations at times from the start of the run."""
        i = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.grid) - 2)
        after = times - self.times[i]
        rise = 0.5 * np.diff(self.squared_rates)[i] / np.diff(self.grid)[i]
        before = np.sqrt(self.squared_rates[i])
        parameters = np.clip(self.grid[i] + before * after + 0.5 * rise * after**2, self.grid[i], self.grid[i + 1])
        rates = (before + rise * after)[:, None]
        first, second = self.spline(parameters, 1), self.spline(parameters, 2)
        return self.spline(parameters), first * rates, second * rates**2 + first * rise[:, None]


class _Motion:
    """Consecutive runs, at rest between them."""

    def __init__(self, runs: list[_TimedCurve]) -> None:
        self.runs = runs
        self.starts = np.concatenate([[0.0], np.cumsum([run.times[-1] for run in runs])])
        self.time_scale = 1.0

    @property
    def duration(self) -> float:
        return float(self.starts[-1]) * self.time_scale

    def scale_to(self, duration: float) -> None:
        """Slow the motion down to a duration."""
        self.time_scale = duration / float(self.starts[-1])

    @property
    def grid(self) -> Array:
        """Times of all grid points."""
        return self.time_scale * np.concatenate([run.times + t for run, t in zip(self.runs, self.starts, strict=False)])

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        unscaled = times / self.time_scale
        chosen = np.clip(np.searchsorted(self.starts, unscaled, side="right") - 1, 0, len(self.runs) - 1)
        found = [run.at(unscaled[chosen == k] - self.starts[k]) for k, run in enumerate(self.runs)]
        V, V1, V2 = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return V, V1 / self.time_scale, V2 / self.time_scale**2


def _projections(space: SmoothSpace) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return constraint rows (m, variables) in SI units, and the coordinate whose limit applies to each."""
    rows, coordinates = [], []
    for k, c in _bends(space):
        for angle in np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
            rows.append(np.zeros(space.model.variables))
            rows[-1][k : k + 2] = math.cos(angle), math.sin(angle)
            coordinates.append(c)
    for k, c, unit in _others(space):
        rows.append(np.zeros(space.model.variables))
        rows[-1][k] = unit
        coordinates.append(c)
    return np.array(rows), np.array(coordinates)


def _largest_ratio(space: SmoothSpace, rates: Array, largest: Array) -> float:
    """Return the largest ratio of rates (n, variables) to limits (dof,)."""
    ratios = [float(np.hypot(rates[:, k], rates[:, k + 1]).max()) / largest[c] for k, c in _bends(space)]
    ratios += [float(np.abs(rates[:, k]).max()) * unit / largest[c] for k, c, unit in _others(space)]
    return float(max(ratios))


def _at(space: SmoothSpace, motion: _Motion, times: Array) -> tuple[Array, ...]:
    """Return coordinates, speeds and accelerations at times, then those of the smooth variables, in SI units."""
    # Directions are unwrapped on the grid of the curve, because they may turn far between two samples.
    every, indices = np.unique(np.concatenate([times, motion.grid]), return_inverse=True)
    V, V1, V2 = motion.at(every)
    wanted = indices[: len(times)]
    q = unwrapped(space.robot, space.coordinates(V))
    q, V, V1, V2 = (rows[wanted] for rows in (q, V, V1, V2))
    smooth, speed, acceleration = q.copy(), np.zeros_like(q), np.zeros_like(q)
    for k, c, unit in _others(space):
        speed[:, c], acceleration[:, c] = unit * V1[:, k], unit * V2[:, k]
    smooth_speed, smooth_acceleration = speed.copy(), acceleration.copy()
    for k, c in _bends(space):
        along = np.stack([np.cos(q[:, c + 1]), np.sin(q[:, c + 1])], axis=1)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        pair = slice(k, k + 2)
        smooth[:, c : c + 2], smooth_speed[:, c : c + 2], smooth_acceleration[:, c : c + 2] = (
            V[:, pair], V1[:, pair], V2[:, pair]
        )  # fmt: skip
        bend = np.where(q[:, c] > STRAIGHT, q[:, c], np.inf)
        speed[:, c] = (along * V1[:, pair]).sum(axis=1)
        speed[:, c + 1] = (across * V1[:, pair]).sum(axis=1) / bend
        acceleration[:, c] = (along * V2[:, pair]).sum(axis=1) + q[:, c] * speed[:, c + 1] ** 2
        turn = (across * V2[:, pair]).sum(axis=1) - 2.0 * speed[:, c] * speed[:, c + 1]
        acceleration[:, c + 1] = turn / bend
    return q, speed, acceleration, smooth, smooth_speed, smooth_acceleration
