"""`Profile`: the path parameter of a curve as a function of time, from rest to rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arcreach._typing import Array
from arcreach.kernels.planning.path_timing import fastest
from arcreach.planning.timing.rate_limits import RateLimits
from arcreach.planning.timing.smooth_curve import Curve
from arcreach.planning.timing.spline import Spline


@dataclass(frozen=True, slots=True)
class Profile:
    """The path parameter of a curve over time, in phases of constant jerk."""

    curve: Curve
    starts: Array  # (n,) seconds from 0
    duration: float
    parameter: Array  # (n,), at the start of every phase; the next three fields are its derivatives
    rate: Array
    acceleration: Array
    jerk: Array

    def at(self, times: Array) -> tuple[Array, Array, Array, Array]:
        """Return the parameters (n,), and variables, speeds and accelerations (n, variables) at times (n,)."""
        i = np.searchsorted(self.starts, times, side="right") - 1
        t = times - self.starts[i]
        s, v, a, j = (values[i] for values in (self.parameter, self.rate, self.acceleration, self.jerk))
        parameters = np.clip(s + t * (v + t * (a / 2.0 + t * j / 6.0)), *self.curve.grid[[0, -1]])
        rates, rise = (v + t * (a + t * j / 2.0))[:, None], (a + t * j)[:, None]
        V, V1, V2 = (self.curve.spline(parameters, order) for order in range(3))
        return parameters, V, V1 * rates, V2 * rates**2 + V1 * rise

    def stretched(self, duration: float) -> Profile:
        """Return the profile slowed down to a duration."""
        k = duration / self.duration
        derivatives = self.rate / k, self.acceleration / k**2, self.jerk / k**3
        return Profile(self.curve, self.starts * k, duration, self.parameter, *derivatives)


def fastest_profile(curve: Curve, limits: RateLimits, caps: float | Array = np.inf) -> Profile:
    """Return the fastest profile within limits of speed and acceleration, which hold everywhere on the curve.

    The acceleration of the path parameter is constant in every interval of the curve's grid. `caps` are further upper
    limits of the parameter's squared rate at the grid points.
    """
    caps, rows = np.minimum(caps, limits.speed_caps(curve)), limits.acceleration_rows(curve)
    # A row of curvature c allows only squared rates up to 1 / sqrt(c), see `kernels.planning.path_timing`.
    caps[:-1] = 1.0 / np.maximum(1.0 / caps[:-1], np.sqrt(rows[..., 2].max(axis=1)))
    squares = np.empty(len(caps))
    fastest(caps, rows, squares)
    steps, rates = np.diff(curve.grid), np.sqrt(squares)
    times = np.concatenate([[0.0], np.cumsum(2.0 * steps / (rates[:-1] + rates[1:]))])
    rise = 0.5 * np.diff(squares) / steps
    return Profile(curve, times[:-1], float(times[-1]), curve.grid[:-1], rates[:-1], rise, np.zeros(len(steps)))


def joined(runs: Sequence[Profile]) -> Profile:
    """Return one profile along the joined curves of consecutive profiles."""
    if len(runs) == 1:
        return runs[0]
    ends = np.cumsum([run.curve.grid[-1] for run in runs])
    times = np.cumsum([run.duration for run in runs])
    shifts, delays = np.append(0.0, ends[:-1]), np.append(0.0, times[:-1])
    knots = [run.curve.spline.knots[1:] + shift for run, shift in zip(runs, shifts, strict=True)]
    spline = Spline(np.concatenate([[0.0], *knots]), np.concatenate([run.curve.spline.powers for run in runs], axis=1))
    grid = np.concatenate([[0.0], *(run.curve.grid[1:] + shift for run, shift in zip(runs, shifts, strict=True))])
    starts, parameter = (
        np.concatenate([getattr(run, name) + add for run, add in zip(runs, adds, strict=True)])
        for name, adds in (("starts", delays), ("parameter", shifts))
    )
    rate, acceleration, jerk = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("rate", "acceleration", "jerk")
    )
    segments = np.concatenate([run.curve.segments for run in runs])
    return Profile(Curve(spline, grid, segments), starts, float(times[-1]), parameter, rate, acceleration, jerk)
