"""Time-parametrise a curve within limits of jerk.

Along a straight curve ruckig computes the fastest run. Along any other curve the fastest run within limits of speed and
acceleration is averaged over a time window: its acceleration then has no jumps, and the robot does not leave the curve.
It is then slowed down until it keeps all limits. Several windows and shares of the acceleration limit are tried, and
the fastest result is returned; a faster run may exist.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from arcreach._extras import require
from arcreach._typing import Array
from arcreach.planning.timing.profile import Profile, fastest_profile
from arcreach.planning.timing.rate_limits import TINY, RateLimits
from arcreach.planning.timing.smooth_curve import Curve

# A curve is straight if its derivative changes by less than this share.
STRAIGHT = 1e-9
# Shares of the acceleration limit that are tried, and windows as multiples of the time to reach that limit.
SHARES, WINDOWS = (1.0, 0.8, 0.6, 0.4), (0.5, 1.0, 1.5, 2.0, 3.0)
# Share of the jerk limit that the third derivative of the curve may use up at constant rate.
AT_CONSTANT_RATE = 0.7
# The limits are checked at this many points of a phase; this margin covers the points in between.
CHECKS, MARGIN = 5, 1e-3


def jerk_limited_profile(curve: Curve, limits: RateLimits) -> Profile:
    """Return a run within limits of speed, acceleration and jerk."""
    assert limits.jerk is not None
    bent = np.abs(curve.spline(curve.grid, 2)).max() * (curve.grid[-1] - curve.grid[0])
    if bent <= STRAIGHT * np.abs(curve.spline(curve.grid[:1], 1)).max():
        return _straight_profile(curve, limits)
    third = curve.spline(0.5 * (curve.grid[:-1] + curve.grid[1:]), 3)
    sizes = limits.sizes(third, limits.jerk)
    largest = np.maximum(np.append(sizes, 0.0), np.insert(sizes, 0, 0.0))
    caps = np.cbrt(AT_CONSTANT_RATE / np.maximum(largest, TINY)) ** 2
    speed_caps = limits.speed_caps(curve)
    ramp = float((limits.acceleration / limits.jerk).max())
    found = []
    for share in SHARES:
        fastest = fastest_profile(curve, dataclasses.replace(limits, acceleration=share * limits.acceleration), caps)
        for window in WINDOWS:
            run = _averaged(fastest, min(window * ramp, fastest.duration))
            found.append(run.stretched(run.duration * _slow_down(run, limits, speed_caps)))
    return min(found, key=lambda run: run.duration)


def _straight_profile(curve: Curve, limits: RateLimits) -> Profile:
    """Return the fastest run along a straight curve."""
    assert limits.jerk is not None
    ruckig = require("ruckig")
    first = curve.spline(curve.grid[:1], 1)
    given, found = ruckig.InputParameter(1), ruckig.Trajectory(1)
    given.current_position, given.target_position = curve.grid[:1], curve.grid[-1:]
    given.max_velocity = [np.sqrt(limits.speed_caps(curve).min())]
    given.max_acceleration = 1.0 / limits.sizes(first, limits.acceleration)
    given.max_jerk = 1.0 / limits.sizes(first, limits.jerk)
    ruckig.Ruckig(1).calculate(given, found)
    phases = found.profiles[0][0]
    seconds = np.array(phases.t)
    kept = seconds > 0.0
    starts = np.cumsum([0.0, *seconds[:-1]])
    states = (np.array(values)[: len(seconds)][kept] for values in (phases.p, phases.v, phases.a, phases.j))
    return Profile(curve, starts[kept], found.duration, *states)


def _averaged(run: Profile, window: float) -> Profile:
    """Return the moving average over a time window of a run whose phases have constant acceleration."""
    edges = np.append(run.starts, run.duration)
    edges = np.unique(np.concatenate([edges, edges + window]))
    starts, middles, seconds = edges[:-1], 0.5 * (edges[:-1] + edges[1:]), np.diff(edges)

    def at(times: Array) -> tuple[Array, Array, Array]:
        inside = np.clip(times, 0.0, run.duration)
        i = np.searchsorted(run.starts, inside, side="right") - 1
        t, moving = inside - run.starts[i], inside == times
        rates = run.rate[i] + t * run.acceleration[i]
        return run.parameter[i] + 0.5 * t * (run.rate[i] + rates), rates, np.where(moving, run.acceleration[i], 0.0)

    (s, v, _), (s_before, v_before, _) = at(starts), at(starts - window)
    rate, acceleration = (s - s_before) / window, (v - v_before) / window
    jerk = (at(middles)[2] - at(middles - window)[2]) / window
    steps = seconds * (rate + seconds * (acceleration / 2.0 + seconds * jerk / 6.0))
    parameter = run.curve.grid[0] + np.append(0.0, np.cumsum(steps)[:-1])
    return Profile(run.curve, starts, float(edges[-1]), parameter, rate, acceleration, jerk)


def _slow_down(run: Profile, limits: RateLimits, speed_caps: Array) -> float:
    """Return the factor by which a run must be slowed down to keep all limits."""
    assert limits.jerk is not None
    seconds = np.diff(run.starts, append=run.duration)
    spline, grid = run.curve.spline, run.curve.grid
    thirds = _third_derivatives(run)
    slowest = 1.0
    for share in np.linspace(0.0, 1.0, CHECKS):
        t = share * seconds
        v = run.rate + t * (run.acceleration + t * run.jerk / 2.0)
        a = run.acceleration + t * run.jerk
        s = run.parameter + t * (run.rate + t * (run.acceleration / 2.0 + t * run.jerk / 6.0))
        speed = float((v / np.sqrt(np.interp(s, grid, speed_caps))).max())
        v, a, j = v[:, None], a[:, None], run.jerk[:, None]
        first, second = (spline(s, order) for order in (1, 2))
        acceleration = limits.sizes(second * v**2 + first * a, limits.acceleration).max()
        other = 3.0 * second * v * a + first * j
        jerk = max(limits.sizes(third * v**3 + other, limits.jerk).max() for third in thirds)
        slowest = max(slowest, *((1.0 + MARGIN) * x for x in (speed, np.sqrt(acceleration), np.cbrt(jerk))))
    return slowest


def _third_derivatives(run: Profile) -> list[Array]:
    """Return the third derivatives (phases, variables) of the spline's pieces that each phase passes, in order.

    They are constant on a piece. Where a phase passes fewer pieces than others, its last piece is repeated.
    """
    knots = run.curve.spline.knots
    steps = np.diff(knots)
    by_piece = 6.0 * run.curve.spline.powers[3] / steps[:, None] ** 3
    first = np.clip(np.searchsorted(knots, run.parameter, side="right") - 1, 0, len(steps) - 1)
    last = np.append(first[1:], len(steps) - 1)
    most = int((last - first).max())
    return [by_piece[np.minimum(first + k, last)] for k in range(most + 1)]
