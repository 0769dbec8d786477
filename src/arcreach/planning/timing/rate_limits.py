"""Limits of speed (of tendons too), acceleration and jerk, in the solver variables and along a curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arcreach._typing import Array
from arcreach.kernels.chain.layout import BEND
from arcreach.planning.motion.motion_check import VariableSpace
from arcreach.planning.timing.smooth_curve import Curve
from arcreach.robots.routes import tendons_of

# Step of the finite differences of pulls, as a share of the curve, and share by which speeds of pulls stay below their
# limits: it covers the errors of these differences and of the interpolation between computed points.
DIFFERENCE, PULL_MARGIN = 1e-6, 1e-4
# The bound of the squared speed over an interval is a line if that raises its ends by less than this factor, otherwise
# the larger end.
STEEP = 1.01
# Squared shares below this count as zero.
TINY = 1e-200


def bend_vectors(space: VariableSpace) -> list[tuple[int, int]]:
    """Return the first variable and the first coordinate of every bend vector."""
    return [
        (int(element["variable"]), int(element["coordinate"]))
        for element in space.model.moving
        if element["kind"] == BEND
    ]


def single_variables(space: VariableSpace) -> list[tuple[int, int, float]]:
    """Return (variable, coordinate, scale to SI units) of every variable that is not part of a bend vector."""
    found = []
    for element in space.model.moving:
        k, c = int(element["variable"]), int(element["coordinate"])
        if element["kind"] != BEND:
            found.append((k, c, 1.0))
        if element["stretch"] > 0.0:
            found.append((k + int(element["width"]) - 1, c + 2, float(element["stretch"])))
    return found


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Limits of rates by group: a bend vector, or one variable as a pair whose second component is 0."""

    space: VariableSpace
    weights: Array  # (groups, 2, variables): from rates of variables to pairs in SI units
    speed: Array  # (groups,)
    acceleration: Array  # (groups,)
    jerk: Array | None  # (groups,)

    @classmethod
    def build(cls, space: VariableSpace, speed: Array, acceleration: Array, jerk: Array | None) -> RateLimits:
        """Return the limits of all groups from limits of coordinates (dof,)."""
        bends, singles = bend_vectors(space), single_variables(space)
        weights = np.zeros((len(bends) + len(singles), 2, space.model.variables))
        coordinates = [c for _, c in bends] + [c for _, c, _ in singles]
        for group, (k, _) in enumerate(bends):
            weights[group, 0, k] = weights[group, 1, k + 1] = 1.0
        for group, (k, _, unit) in enumerate(singles, len(bends)):
            weights[group, 0, k] = unit
        return cls(
            space, weights, speed[coordinates], acceleration[coordinates], None if jerk is None else jerk[coordinates]
        )

    def shares(self, rates: Array, limits: Array) -> Array:
        """Return rates (n, variables) of the groups as shares (n, groups, 2) of limits (groups,)."""
        return np.asarray(np.tensordot(rates, self.weights, (1, 2)) / limits[:, None])

    def sizes(self, rates: Array, limits: Array) -> Array:
        """Return the largest share (n,) of limits (groups,) in each row of rates (n, variables)."""
        return np.asarray(np.linalg.norm(self.shares(rates, limits), axis=-1).max(axis=1))

    def speed_caps(self, curve: Curve) -> Array:
        """Return upper bounds of the squared rate at the grid points (n,) that keep the speed limits everywhere."""
        steps = np.diff(curve.grid)[:, None, None]
        first, second = (self.shares(curve.spline(curve.grid, order), self.speed) for order in (1, 2))
        a, b, c = first[:-1], first[:-1] + 0.5 * steps * second[:-1], first[1:]
        # Bernstein coefficients of the squared norm, which bound it.
        squares = np.stack([(x * y).sum(axis=-1) for x, y in ((a, a), (a, b), (b, b), (a, c), (b, c), (c, c))])
        squares[2] = (2.0 * squares[2] + squares[3]) / 3.0
        lines = [_lines_above(np.delete(squares, 3, axis=0))]
        if (pulls := self._tendon_speed_squares(curve)) is not None:
            lines.append(_lines_above(pulls))
        near, far = np.maximum(np.max(lines, axis=0), TINY)
        # The squared speed is at most the product of the line from near to far and the squared rate, a line from x to
        # y. The Bernstein coefficients of the product are near x, (near y + far x) / 2 and far y.
        middle = 0.5 * (near / far + far / near)
        larger = np.maximum(near, far)
        at_start, at_end = (np.where(middle < STEEP, end * middle, larger) for end in (near, far))
        return np.asarray(1.0 / np.maximum(np.append(at_start, 0.0), np.insert(at_end, 0, 0.0)))

    def _tendon_speed_squares(self, curve: Curve) -> Array | None:
        """Return squared speeds of pulls at the start, middle and end of every interval, as shares of their limits."""
        robot, model = self.space.robot, self.space.model
        largest = np.array([tendon.speed_max for tendon in tendons_of(robot)])
        if not np.isfinite(largest).any():
            return None
        first, last = curve.grid[[0, -1]]
        middles = 0.5 * (curve.grid[:-1] + curve.grid[1:])
        at = np.concatenate([curve.grid, middles])
        half = DIFFERENCE * (last - first)
        before, after = np.maximum(at - half, first), np.minimum(at + half, last)
        low, high = (robot.pulls(model.to_coordinates(curve.spline(parameters))) for parameters in (before, after))
        squares = ((high - low) / ((1.0 - PULL_MARGIN) * (after - before)[:, None] * largest)) ** 2
        ends, inner = np.split(squares, [len(curve.grid)])
        return np.stack([ends[:-1], inner, ends[1:]])

    def acceleration_rows(self, curve: Curve) -> Array:
        """Return the limits of acceleration in every interval (n - 1, rows, 3), for `kernels.planning.path_timing`.

        The squared rate is linear from x to y over an interval, so the acceleration is quadratic: its three Bernstein
        coefficients bound it.
        """
        steps = np.diff(curve.grid)[:, None, None]
        first, second = (self.shares(curve.spline(curve.grid, order), self.acceleration) for order in (1, 2))
        a, b, c = first[:-1], first[:-1] + 0.5 * steps * second[:-1], first[1:]
        y = np.concatenate([a, b + steps * second[:-1], c + 2.0 * steps * second[1:]], axis=1) / (2.0 * steps)
        x = np.concatenate([2.0 * steps * second[:-1] - a, steps * second[1:] - b, -c], axis=1) / (2.0 * steps)
        square, product = (y * y).sum(axis=-1), (x * y).sum(axis=-1)
        cross = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
        divisor = np.maximum(square, TINY)
        # A group that is at rest at an end, for example where a path reverses, limits x alone.
        curvature = np.where(square > TINY, cross**2 / divisor, (x * x).sum(axis=-1))
        return np.stack([-product / divisor, 1.0 / np.sqrt(divisor), curvature], axis=-1)


def _lines_above(values: Array) -> tuple[Array, Array]:
    """Return the start and end values (n,) of lines above values (points, n, groups) at equal steps of n intervals."""
    shares = np.linspace(0.0, 1.0, len(values))[:, None, None]
    beyond = (values - (values[0] + shares * (values[-1] - values[0]))).max(axis=(0, 2))
    return values[0].max(axis=1) + beyond, values[-1].max(axis=1) + beyond
