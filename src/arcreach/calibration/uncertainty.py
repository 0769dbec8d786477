"""`tip_covariance`: the uncertainty of the tip that uncertain coordinates or pulls cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import generator, real_array, shown, whole
from arcreach._typing import Array
from arcreach.calibration.variables import by_variables, to_coordinates, to_variables
from arcreach.errors import ConfigurationError, RobotError
from arcreach.robots.robot import Robot

# Relative asymmetry, or negative eigenvalue relative to the largest, that is accepted in a covariance as rounding.
_ROUNDING = 1e-9
# Most Newton steps for the pulls that hold a configuration, and the largest error of a variable (rad or m) at which
# they end. Few suffice: pulls of straight tendons are piecewise linear in the bend vectors.
_MOST_STEPS = 30
_HELD = 1e-9
# Step of central differences by pulls, as a share of the reach.
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class TipCovariance:
    """The covariance of the tip to first order, in the base frame; `sample` draws tips without linearisation."""

    position: Array  # of the tip at q, (3,)
    pose: Array  # (6, 6): metres, then rotation vector in radians
    _draw: Callable[[int, np.random.Generator], Array] = field(repr=False)

    @property
    def matrix(self) -> Array:
        """Covariance (3, 3) of the tip position in square metres."""
        return self.pose[:3, :3]

    @property
    def axes(self) -> Array:
        """Semi-axes of the ellipsoid of one standard deviation in metres, the columns of a (3, 3), longest first."""
        values, vectors = np.linalg.eigh(self.matrix)
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1])

    def sample(self, count: int, seed: int | np.random.Generator | None = None) -> Array:
        """Draw tip positions (count, 3) by a Monte Carlo over coordinates or pulls, through the exact kinematics."""
        return self._draw(whole("count", count, 1, ConfigurationError), generator(seed))


def tip_covariance(
    robot: Robot,
    q: npt.ArrayLike,
    *,
    coordinates: npt.ArrayLike | None = None,
    pulls: npt.ArrayLike | None = None,
    elastic: bool = False,
) -> TipCovariance:
    """Return the covariance of the tip at configuration q (dof,), J Sigma J^T.

    Give either `coordinates` or `pulls`: standard deviations (n,), or a covariance (n, n). With `elastic` sections and
    tendons are springs, as in `Robot.from_pulls`, and the pulls are those near `robot.pulls(q)` that hold the robot at
    q.
    """
    given = robot.checked(q)
    if given.ndim != 1:
        raise ConfigurationError(f"q has the shape {given.shape}; give one configuration of shape ({robot.dof},)")
    if (coordinates is None) == (pulls is None):
        raise ConfigurationError("give either coordinates or pulls: standard deviations, or a covariance")
    if coordinates is not None:
        if elastic:
            raise ConfigurationError("elastic has no meaning with coordinates; give pulls, or leave it out")
        sigma = _covariance("coordinates", coordinates, robot.dof)
        return propagated(robot, given, robot.jacobian(given), sigma, lambda e: robot.tip_pose(given + e)[:, :3, 3])
    if not robot.tendons:
        raise RobotError(f"robot '{robot.name}' has no tendons; give its sections some, or give coordinates")
    return _by_pulls(robot, given, _covariance("pulls", pulls, len(robot.tendons)), elastic)


def propagated(robot: Robot, q: Array, J: Array, sigma: Array, tips: Callable[[Array], Array]) -> TipCovariance:
    """Return the covariance of the tip at q for errors (n,) with the covariance sigma.

    J (6, n) is the derivative of the tip by the errors; `tips` maps errors (count, n) to tip positions (count, 3).
    """
    pose = J @ sigma @ J.T

    def draw(count: int, rng: np.random.Generator) -> Array:
        values, vectors = np.linalg.eigh(sigma)
        return tips(rng.normal(size=(count, len(sigma))) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T)

    return TipCovariance(robot.tip_pose(q)[:3, 3], 0.5 * (pose + pose.T), draw)


def _covariance(name: str, value: Any, size: int) -> Array:
    """Return a covariance (size, size) from one, or from standard deviations (size,)."""
    accepted = f"{size} standard deviations, 0 or more, or a covariance ({size}, {size})"
    given = real_array(value)
    if given is None or given.shape not in ((size,), (size, size)) or not np.isfinite(given).all():
        raise ConfigurationError(f"{name} = {shown(value)} is not accepted; give {accepted}")
    if given.ndim == 1:
        if given.min(initial=0.0) < 0.0:
            raise ConfigurationError(f"{name} = {shown(value)} has a negative number; give {accepted}")
        return np.diag(given**2)
    values = np.linalg.eigvalsh(given)
    if np.abs(given - given.T).max() > _ROUNDING * np.abs(given).max() or values[0] < -_ROUNDING * abs(values[-1]):
        raise ConfigurationError(f"{name} = {shown(value)} is not a covariance; give a symmetric positive matrix")
    return given


def _by_pulls(robot: Robot, q: Array, sigma: Array, elastic: bool) -> TipCovariance:
    pulled = holding_pulls(robot, q) if elastic else robot.pulls(q)
    held = to_variables(robot, q)
    central = to_variables(robot, robot.from_pulls(pulled, elastic, q).q)

    def tips(errors: Array) -> Array:
        found = robot.from_pulls(pulled + errors, elastic, q)
        # Variables that no pull determines keep their values in q.
        V = held + to_variables(robot, found.q) - central
        return robot.tip_pose(to_coordinates(robot, V))[:, :3, 3]

    J = by_variables(robot, robot.jacobian, q) @ _pull_slopes(robot, pulled, elastic, q)
    return propagated(robot, q, J, sigma, tips)


def holding_pulls(robot: Robot, q: Array) -> Array:
    """Return pulls at which q is the elastic equilibrium, by Newton steps of least norm from the pulls of q."""
    wanted, pulled = to_variables(robot, q), robot.pulls(q)
    for _ in range(_MOST_STEPS):
        missing = wanted - to_variables(robot, robot.from_pulls(pulled, True, q).q)
        if np.abs(missing).max() <= _HELD:
            return pulled
        pulled = pulled + np.linalg.lstsq(_pull_slopes(robot, pulled, True, q), missing, rcond=1e-9)[0]
    raise ConfigurationError(f"q = {shown(q)} cannot be held by the tendons; give one that from_pulls returns")


def _pull_slopes(robot: Robot, pulled: Array, elastic: bool, q: Array) -> Array:
    """Return the derivatives (dof, tendons) of the variables at equilibrium by the pulls, by central differences."""
    step = _STEP * robot.reach
    steps = np.concatenate([np.eye(len(pulled)), -np.eye(len(pulled))]) * step
    above, below = np.split(to_variables(robot, robot.from_pulls(pulled + steps, elastic, q).q), 2)
    return np.asarray((above - below).T / (2.0 * step))
