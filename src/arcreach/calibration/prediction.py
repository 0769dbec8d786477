"""Predicted measurements of a robot for pulls, and their derivatives by its parameters.

At an equilibrium the gradient F(v, x) of the energy by the variables v is zero, so dv/dx = -(dF/dv)^-1 dF/dx for
parameters x, and no equilibrium is solved again. Partial derivatives that have no short formula are central
differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._geometry import axial_vectors
from arcreach._threads import spread
from arcreach._typing import Array, Integers
from arcreach.calibration.measurements import Measurements
from arcreach.calibration.parameters import Parametrisation
from arcreach.calibration.places import backbone_points, places_at
from arcreach.calibration.variables import replace_bend_columns, to_coordinates, to_variables
from arcreach.kernels.actuation import batches, equilibrium
from arcreach.robots.equilibrium import springs_of
from arcreach.robots.robot import Robot
from arcreach.robots.routes import complete_routes

# Steps of central differences: of a parameter in units of its `scale`, of a variable in radians or metres.
_STEP = 1e-5
# Radians; derivatives at smaller bends are taken at this bend.
_LEAST_BEND = 1e-7
# Metres that count as much as a radian in the first passes, as a share of the moving reach: about the distance from the
# tip to where the last section bends. Later passes weigh each kind of measurement by its own scatter.
_LEVER = 1.0 / 3.0


class Prediction:
    """Predictions for measured rows as a function of z, the parameters' distances from the given values in scales."""

    def __init__(self, parametrisation: Parametrisation, data: Measurements) -> None:
        self.parametrisation, self.data = parametrisation, data
        robot = parametrisation.robot
        self.lever = robot.moving_reach * _LEVER
        self.places: tuple[Integers, Array] | None = None
        if data.arc_lengths is not None:
            rows, shares = places_at(robot, robot.neutral, data.arc_lengths)
            self.places = rows + ("base" in parametrisation.free), shares

    def robot(self, z: Array) -> Robot:
        """Return the robot for z."""
        return self.parametrisation.robot_for(self.parametrisation.values(z))

    def residuals(self, z: Array) -> Array:
        """Return predicted minus measured values (rows, m)."""
        robot = self.robot(z)
        return self._observe(robot, self._configurations(robot))

    def tips(self, z: Array) -> Array:
        """Return predicted tip positions (rows, 3)."""
        robot = self.robot(z)
        return robot.tip_pose(self._configurations(robot))[:, :3, 3]

    def _observe(self, robot: Robot, Q: Array) -> Array:
        """Return predicted minus measured values at configurations; a radian counts as `lever` metres."""
        data, poses = self.data, robot.tip_pose(Q)
        parts = [poses[:, :3, 3] - data.positions]
        if data.rotations is not None:
            # The sine of the angle between both rotations, along its axis.
            R = np.swapaxes(data.rotations, 1, 2) @ poses[:, :3, :3]
            parts.append(0.5 * self.lever * axial_vectors(R))
        if self.places is not None:
            assert data.points is not None
            parts.append((backbone_points(robot, Q, *self.places)[0] - data.points).reshape(len(Q), -1))
        return np.concatenate(parts, axis=1)

    def _configurations(self, robot: Robot) -> Array:
        return robot.from_pulls(self.data.pulls, self.parametrisation.elastic).q

    def jacobian(self, z: Array) -> Array:
        """Return the derivatives (rows, m, parameters) of `residuals`."""
        robot = self.robot(z)
        Q = self._configurations(robot)
        V = to_variables(robot, Q)
        balance = self._balance(robot, V)
        by_v, stiffness = self._by_variables(robot, V)
        direct = np.zeros((len(V), by_v.shape[1], len(z)))
        force = np.zeros((len(V), V.shape[1], len(z)))
        values, slopes = self.parametrisation.values(z), self.parametrisation.slopes(z)
        for i, (kind, *where) in enumerate(self.parametrisation.slots):
            if kind in {"base", "tip", "length"}:
                step = _STEP * np.eye(len(z))[i]
                sides = [self.robot(z + step), self.robot(z - step)]
                direct[:, :, i] = _difference([self._observe(other, Q) for other in sides], _STEP)
                if kind == "length":
                    force[:, :, i] = _difference([self._balance(other, V).gradient() for other in sides], _STEP)
            else:
                force[:, :, i] = slopes[i] * balance.slope(kind, self.parametrisation.indices(kind, where), values[i])
        return np.asarray(direct - by_v @ np.linalg.solve(stiffness, force))

    def _balance(self, robot: Robot, V: Array) -> _Balance:
        return _Balance(robot, self.data.pulls, self.parametrisation.elastic, V)

    def _by_variables(self, robot: Robot, V: Array) -> tuple[Array, Array]:
        """Return the derivatives of residuals and of the energy gradient by the variables."""
        observed, forces = [], []
        for step in _STEP * np.eye(V.shape[1]):
            sides = [V + step, V - step]
            observed.append(_difference([self._observe(robot, to_coordinates(robot, side)) for side in sides], _STEP))
            forces.append(_difference([self._balance(robot, side).gradient() for side in sides], _STEP))
        return np.stack(observed, axis=2), np.stack(forces, axis=2)


def _difference(sides: list[Array], step: float) -> Array:
    return (sides[0] - sides[1]) / (2.0 * step)


class _Balance:
    """The gradient of the energy by the variables at every row, and its derivatives by parameters of the springs."""

    def __init__(self, robot: Robot, pulled: Array, elastic: bool, V: Array) -> None:
        self.robot, self.pulled, self.elastic, self.V = robot, pulled, elastic, V
        self.springs = springs_of(robot, elastic)
        pull, self.slopes = _pulls(robot, self.springs.routes, V, len(robot.tendons))
        self.stiffness = self.springs.tendons[:, equilibrium.STIFFNESS]
        kind = self.springs.tendons[:, equilibrium.TRANSMITS]
        # Elongations of the tendons; slack as in `kernels.actuation.equilibrium.is_slack`, for all rows at once.
        h = pulled + self.springs.tendons[:, equilibrium.FREE] - pull
        slack = ((kind == equilibrium.PULL) & (h < 0.0)) | ((kind == equilibrium.PUSH) & (h > 0.0))
        # A tendon of zero elongation is taut, so `h` does not say which are.
        self.h, self.taut = np.where(slack, 0.0, h), ~slack

    def gradient(self) -> Array:
        """Return the energy gradient (rows, variables)."""
        bent = _per_variable(self.springs) * (self.V - self.springs.rest)
        return np.asarray(bent - np.einsum("njv,nj->nv", self.slopes, self.stiffness * self.h))

    def slope(self, kind: str, indices: list[int], value: float) -> Array:
        """Return the gradient's derivative (rows, variables) by a parameter of the variables or tendons `indices`."""
        out = np.zeros_like(self.V)
        if not self.elastic and kind not in {"radius", "angle"}:
            # Rigid tendons have neither stiffness nor slack.
            return out
        if kind == "rest":
            out[:, indices] = -_per_variable(self.springs)[indices]
        elif kind == "bending":
            out[:, indices] = _per_variable(self.springs)[indices] / value * (self.V - self.springs.rest)[:, indices]
        elif kind == "stiffness":
            # The tendons of a section share one factor; their free elongations do not change.
            tension = (self.h * self.stiffness)[:, indices] / value
            out = -np.einsum("njv,nj->nv", self.slopes[:, indices], tension)
        elif kind == "slack":
            [j] = indices
            out = self.slopes[:, j] * (self.stiffness[j] * self.taut[:, j, None])
        else:
            [j] = indices
            sides = [self._rerouted(j, kind, step) for step in (_STEP, -_STEP)]
            step = _STEP * (value if kind == "radius" else 1.0)
            return _difference(sides, step)
        return out

    def _rerouted(self, j: int, kind: str, step: float) -> Array:
        """Return what a tendon contributes to the energy gradient when its radius or angle is changed by a step."""
        routes = self.springs.routes[self.springs.routes["tendon"] == j].copy()
        routes["tendon"] = 0
        if kind == "radius":
            routes["radius"] *= 1.0 + step
        else:
            routes["angle"] += step
        complete_routes(self.robot, routes)
        pull, slopes = _pulls(self.robot, routes, self.V, 1)
        h = self.pulled[:, j] + self.springs.tendons[j, equilibrium.FREE] - pull[:, 0]
        return np.asarray(-slopes[:, 0] * (self.stiffness[j] * h * self.taut[:, j])[:, None])


def _per_variable(springs: Any) -> Array:
    """Return the stiffness that acts on each variable."""
    parts = []
    for section in springs.sections:
        bending, axial = section[equilibrium.BENDING], section[equilibrium.AXIAL]
        parts += [bending, bending, axial] if section[equilibrium.VARIES] else [bending, bending]
    return np.array(parts)


def _pulls(robot: Robot, routes: Any, V: Array, count: int) -> tuple[Array, Array]:
    """Return the pulls (rows, count) of the tendons of a table of routes, and their derivatives by the variables."""
    routes.flags.writeable = False
    Q = to_coordinates(robot, V)
    pull, J = np.empty((len(V), count)), np.empty((len(V), count, robot.dof))
    spread(batches.pulls_batch, len(V), robot.packed, routes, Q, pull)
    bends = robot.bend_vector_indices()
    Q[:, bends] = np.maximum(Q[:, bends], _LEAST_BEND)
    spread(batches.pull_jacobians, len(V), robot.packed, routes, Q, J)
    for k in bends:
        replace_bend_columns(J, Q, k)
    return pull, J
