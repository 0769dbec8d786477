"""Time-parametrise a path: the fastest motion along a smooth curve within speed and acceleration limits (TOPP-RA).

Limits apply to joints, to lengths, and for a section to the norm of the rate of its bend vector
bend * (cos direction, sin direction). For a straight section the rate of the direction is undefined; it is given as 0.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import flag, positive, whole
from arcreach._extras import require
from arcreach._io import write_csv
from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.ik.log import columns_beside, coordinate_columns
from arcreach.planning.motion.motion_check import STRAIGHT, MotionCheck, VariableSpace, unwrapped
from arcreach.planning.timing.jerk_limits import jerk_limited_profile
from arcreach.planning.timing.profile import Profile, fastest_profile, joined
from arcreach.planning.timing.rate_limits import RateLimits, bend_vectors, single_variables
from arcreach.planning.timing.smooth_curve import Curve, certified, distinct, smooth_curves
from arcreach.robots._configurations import per_coordinate
from arcreach.robots.restricted import restricted
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene

if TYPE_CHECKING:
    from arcreach.planning.timing.motor_table import MotorTable

# Default number of samples per second, and smallest default number of samples.
RATE, LEAST_SAMPLES = 100.0, 100
# About a day at 100 Hz: more samples indicate a mistake in `rate`.
MOST_SAMPLES = 10_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Timed(_text.Printed):
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
    clearance: float | None  # certified along the whole motion, -inf if it is not free; None without a scene
    stops: int  # points of the path between its ends at which the robot stops
    reached: bool = True  # whether every point of the path reaches its target

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return float(self.times[-1])

    def __len__(self) -> int:
        return len(self.times)

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Write the motion as CSV: `time` in seconds, then a column per coordinate in SI units."""
        columns = coordinate_columns(self.robot, self.q)
        write_csv(file, columns_beside(columns, {"time": self.times.tolist()}, "motion_", ahead=1))

    def motor_table(self, output: str = "pulls") -> MotorTable:
        """Return the pulls of the tendons and their speeds; `output` "bends" or "coordinates" selects those instead.

        See `arcreach.planning.timing.motor_table.motor_table`.
        """
        from arcreach.planning.timing.motor_table import motor_table

        return motor_table(self, output)

    def __str__(self) -> str:
        text = f"{_text.seconds(self.duration, 4)}, {_text.count(len(self), 'sample')}"
        if self.stops:
            text += f", stops at {_text.count(self.stops, 'point')}"
        if self.clearance is not None:
            free = self.clearance > -math.inf
            text += f", certified clearance {_text.length(self.clearance)}" if free else ", not free of obstacles"
        return text if self.reached else f"{text}; the path does not reach every waypoint"


def timed(
    path: Any,
    max_speed: npt.ArrayLike,
    max_acceleration: npt.ArrayLike,
    *,
    max_jerk: npt.ArrayLike | None = None,
    samples: int | None = None,
    rate: float | None = None,
    stops: bool = False,
) -> Timed:
    """Return the fastest motion along a path (a `Plan`, a `Path`) within limits of speed and acceleration.

    A limit is one number, or one per coordinate, in rad/s and m/s or rad/s² and m/s². The limit of a section's bend
    applies to the norm of the rate of its bend vector, the limit of its direction only to sections with `twist=True`.
    The motion also keeps `speed_max` of every tendon. All limits hold at every instant, not only at samples.

    `max_jerk`, in rad/s³ and m/s³, also limits the jerk; the acceleration then has no jumps. It needs ruckig. Such a
    motion is the fastest along a straight segment, but not in general along a curve.

    The motion follows a cubic spline through the points of the path; corners are rounded only where the spline would
    leave the limits of the robot. With a scene the motion is certified again: where the spline would keep less than
    nine tenths of the path's clearance beyond the margin, it is pulled towards the straight segments of the path. Where
    that is not enough, half of the clearance is accepted; failing that, the robot stops. The motion also passes the
    path's port, stays inside the `limits` that the path was given, and stays clear of itself if the path was planned
    with `self_collision`. `stops=True` stops at every point and follows the straight segments exactly.

    `samples` is the number of samples, `rate` the number per second; with a rate the motion is slowed down so that it
    ends on a sample. Without either there are at least 100 samples, at most 10 ms apart.
    """
    robot: Robot = path.robot
    speed = per_coordinate(robot, "max_speed", max_speed, "rad/s, m/s", finite=True)
    acceleration = per_coordinate(robot, "max_acceleration", max_acceleration, "rad/s², m/s²", finite=True)
    jerk = None if max_jerk is None else per_coordinate(robot, "max_jerk", max_jerk, "rad/s³, m/s³", finite=True)
    if samples is not None and rate is not None:
        raise TargetError("samples and rate are both given; give one of them")
    samples = None if samples is None else whole("samples", samples, 2)
    if samples is not None and samples > MOST_SAMPLES:
        raise TargetError(f"samples = {samples} is not accepted; give at most {MOST_SAMPLES}")
    rate = None if rate is None else positive("rate", rate, "samples per second")
    stops = flag("", "stops", stops)
    if jerk is not None:
        require("ruckig")
    space = VariableSpace(restricted(robot, None, getattr(path, "limits", None)))
    V = distinct(space.variables(path.q))
    if len(V) < 2:
        raise TargetError("all points of the path coincide; give at least two different configurations")
    scene, port = getattr(path, "scene", None), getattr(path, "port", None)
    check = None
    if scene is not None or port is not None:
        own = getattr(path, "self_collision", False)
        check = MotionCheck(space, scene or Scene(), float(getattr(path, "margin", 0.0)), own=own, port=port)
    curves = smooth_curves(space, V, check, stops)
    limits = RateLimits.build(space, speed, acceleration, jerk)
    profile = fastest_profile if jerk is None else jerk_limited_profile
    run = joined([profile(curve, limits) for curve in curves])
    times = _sample_times(run.duration, samples, rate)
    run = run.stretched(float(times[-1]))
    least = None if check is None or scene is None else certified(check, curves)
    motion = _sampled(robot, space, run, times, least, len(curves) - 1)
    return replace(motion, reached=bool(getattr(path, "reached", True)))


def _sample_times(duration: float, samples: int | None, rate: float | None) -> Array:
    """Return evenly spaced times from 0; the last one is at or after the end of the motion."""
    if rate is None:
        count = min(max(LEAST_SAMPLES, math.ceil(duration * RATE) + 1), MOST_SAMPLES) if samples is None else samples
        return np.linspace(0.0, duration, count)
    if duration * rate > MOST_SAMPLES:
        raise TargetError(
            f"rate = {rate:g} gives too many samples for a motion of {duration:.3g} s; "
            f"give at most {MOST_SAMPLES / duration:.3g} samples per second"
        )
    return np.arange(max(math.ceil(duration * rate - 1e-9), 1) + 1) / rate


def _coordinates(space: VariableSpace, curve: Curve, parameters: Array, V: Array) -> Array:
    """Return coordinates (n, dof) of variables (n, variables) on a curve, directions unwrapped."""
    # Unwrap together with the grid of the curve, because directions may turn far between two samples.
    order = np.argsort(np.concatenate([parameters, curve.grid]), kind="stable")
    Q = space.coordinates(np.concatenate([V, curve.spline(curve.grid)])[order])
    back = np.argsort(order)[: len(parameters)]
    return unwrapped(space.robot, Q)[back]


def _sampled(
    robot: Robot, space: VariableSpace, run: Profile, times: Array, clearance: float | None, stops: int
) -> Timed:
    """Return the motion of a robot sampled at times (n,), in SI units."""
    parameters, V, V1, V2 = run.at(times)
    q = _coordinates(space, run.curve, parameters, V)
    smooth, speed, acceleration = q.copy(), np.zeros_like(q), np.zeros_like(q)
    for k, c, unit in single_variables(space):
        speed[:, c], acceleration[:, c] = unit * V1[:, k], unit * V2[:, k]
    smooth_speed, smooth_acceleration = speed.copy(), acceleration.copy()
    for k, c in bend_vectors(space):
        along = np.stack([np.cos(q[:, c + 1]), np.sin(q[:, c + 1])], axis=1)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        pair = slice(k, k + 2)
        for out, values in ((smooth, V), (smooth_speed, V1), (smooth_acceleration, V2)):
            out[:, c : c + 2] = values[:, pair]
        bend = np.where(q[:, c] > STRAIGHT, q[:, c], np.inf)
        speed[:, c] = (along * V1[:, pair]).sum(axis=1)
        speed[:, c + 1] = (across * V1[:, pair]).sum(axis=1) / bend
        acceleration[:, c] = (along * V2[:, pair]).sum(axis=1) + q[:, c] * speed[:, c + 1] ** 2
        turn = (across * V2[:, pair]).sum(axis=1) - 2.0 * speed[:, c] * speed[:, c + 1]
        acceleration[:, c + 1] = turn / bend
    return Timed(robot, times, q, speed, acceleration, smooth, smooth_speed, smooth_acceleration, clearance, stops)
