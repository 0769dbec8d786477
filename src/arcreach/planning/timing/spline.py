"""Cubic splines: twice differentiable curves through points, or inside the hull of their control points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arcreach._typing import Array
from arcreach.kernels.planning.path_timing import solve_tridiagonal


@dataclass(frozen=True, slots=True)
class Spline:
    """Cubic pieces between knots, each a polynomial in the share of its interval, 0 to 1."""

    knots: Array  # (n,)
    powers: Array  # (4, n - 1, m): coefficients of order 0 to 3

    def __call__(self, parameters: Array, order: int = 0) -> Array:
        """Return values (k, m), or derivatives of an order up to 3, at parameters (k,)."""
        i = np.clip(np.searchsorted(self.knots, parameters, side="right") - 1, 0, len(self.knots) - 2)
        steps = np.diff(self.knots)
        shares = ((parameters - self.knots[i]) / steps[i])[:, None]
        powers = self.powers
        for _ in range(order):
            powers = powers[1:] * np.arange(1, len(powers))[:, None, None] / steps[:, None]
        values = powers[-1][i]
        for coefficients in powers[-2::-1]:
            values = values * shares + coefficients[i]
        return np.asarray(values)


def from_control(knots: Array, control: Array) -> Spline:
    """Return the spline with n knots and n + 2 control points: piece i is in the hull of points i to i + 3."""
    near, far = _bezier_weights(knots)
    first, second = control[1:-2], control[2:-1]
    b1 = first + near[:, None] * (second - first)
    b2 = first + far[:, None] * (second - first)
    steps = np.diff(knots)[:, None]
    inner = (steps[1:] * b2[:-1] + steps[:-1] * b1[1:]) / (steps[1:] + steps[:-1])
    ends = np.concatenate([control[:1], inner, control[-1:]])
    b0, b3 = ends[:-1], ends[1:]
    return Spline(knots, np.stack([b0, 3.0 * (b1 - b0), 3.0 * (b0 - 2.0 * b1 + b2), b3 - b0 + 3.0 * (b1 - b2)]))


def control_through(knots: Array, points: Array) -> Array:
    """Return the control points (n + 2, m) of the natural spline through points (n, m) at the knots (n,)."""
    near, far = _bezier_weights(knots)
    steps, n = np.diff(knots), len(knots)
    lower, diagonal, upper = np.zeros(n), np.empty(n), np.zeros(n)
    # A knot divides the line from the last Bézier point of one piece to the first of the next.
    share = steps[:-1] / (steps[:-1] + steps[1:])
    lower[1:-1] = (1.0 - share) * (1.0 - far[:-1])
    diagonal[1:-1] = (1.0 - share) * far[:-1] + share * (1.0 - near[1:])
    upper[1:-1] = share * near[1:]
    # The curvature is zero at both ends.
    diagonal[0], upper[0] = 1.0 + far[0], -far[0]
    diagonal[-1], lower[-1] = 2.0 - near[-1], near[-1] - 1.0
    control = np.concatenate([points[:1], points, points[-1:]])
    solve_tridiagonal(lower, diagonal, upper, control[1:-1])
    return control


def _bezier_weights(knots: Array) -> tuple[Array, Array]:
    """Return the positions (n - 1,) of each piece's two inner Bézier points between its control points 1 and 2."""
    t = np.pad(knots, 2, mode="edge")
    whole = t[4:-1] - t[1:-4]
    return (t[2:-3] - t[1:-4]) / whole, (t[3:-2] - t[1:-4]) / whole
