"""Predicted measurements of a robot for pulls, and their derivatives by its parameters.

At an equilibrium the gradient F(v, x) of the energy by the variables v is zero, so dv/dx = -(dF/dv)^-1 dF/dx for
parameters x, and no equilibrium is solved again. Partial derivatives that have no short formula are central
differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._threads import spread
from arcreach._typing import Array, Integers
from arcreach.calibration.measurements import Measurements
from arcreach.calibration.parameters import Parametrisation
from arcreach.calibration.places import backbone_points, places_at
from arcreach.calibration.variables import to_coordinates, to_variables
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
            axial = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
            parts.append(0.5 * self.lever * axial)
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
        balance = _Balance(robot, self.data.pulls, self.parametrisation.elastic, V)
        by_v, stiffness = self._by_variables(robot, balance, V)
        direct = np.zeros((len(V), by_v.shape[1], len(z)))
        force = np.zeros((len(V), V.shape[1], len(z)))
        values, slopes = self.parametrisation.values(z), self.parametrisation.slopes(z)
        for i, (kind, *where) in enumerate(self.parametrisation.slots):
            if kind in {"base", "tip", "length"}:
                sides = [self._changed(z, i, sign) for sign in (_STEP, -_STEP)]
                direct[:, :, i] = _difference([self._observe(other, Q) for other in sides], _STEP)
                if kind == "length":
                    force[:, :, i] = _difference([balance.of(other, V) for other in sides], _STEP)
            else:
                force[:, :, i] = slopes[i] * balance.slope(kind, self.parametrisation.numbers(kind, where), values[i])
        return np.asarray(direct - by_v @ np.linalg.solve(stiffness, force))

    def _changed(self, z: Array, i: int, step: float) -> Robot:
        changed = z.copy()
        changed[i] += step
        return self.robot(changed)

    def _by_variables(self, robot: Robot, balance: _Balance, V: Array) -> tuple[Array, Array]:
        """Return the derivatives of residuals and of the energy gradient by the variables."""
        observed, forces = [], []
        for k in range(V.shape[1]):
            step = np.zeros(V.shape[1])
            step[k] = _STEP
            sides = [to_coordinates(robot, V + step), to_coordinates(robot, V - step)]
            observed.append(_difference([self._observe(robot, Q) for Q in sides], _STEP))
            forces.append(_difference([balance.of(robot, V + step), balance.of(robot, V - step)], _STEP))
        return np.stack(observed, axis=2), np.stack(forces, axis=2)


def _difference(sides: list[Array], step: float) -> Array:
    return (sides[0] - sides[1]) / (2.0 * step)


class _Balance:
    """The gradient of the energy by the variables at every row, and its derivatives by parameters of the springs."""

    def __init__(self, robot: Robot, pulled: Array, elastic: bool, V: Array) -> None:
        self.robot, self.pulled, self.elastic, self.V = robot, pulled, elastic, V
        self.springs = springs_of(robot, elastic)
        self.pull, self.slopes = _pulls(robot, self.springs.routes, V, len(robot.tendons))
        self.h = self._elongations(self.springs, self.pull)
        self.stiffness = self.springs.tendons[:, equilibrium.STIFFNESS]

    def of(self, robot: Robot, V: Array) -> Array:
        """Return the energy gradient (rows, variables) of a robot at V."""
        springs = springs_of(robot, self.elastic)
        pull, slopes = _pulls(robot, springs.routes, V, len(robot.tendons))
        tension = springs.tendons[:, equilibrium.STIFFNESS] * self._elongations(springs, pull)
        return np.asarray(_per_variable(springs) * (V - springs.rest) - np.einsum("njv,nj->nv", slopes, tension))

    def _elongations(self, springs: Any, pull: Array) -> Array:
        h = self.pulled + springs.tendons[:, equilibrium.FREE] - pull
        # As `kernels.actuation.equilibrium.is_slack`, for all rows at once.
        kind = springs.tendons[:, equilibrium.TRANSMITS]
        idle = ((kind == equilibrium.PULL) & (h < 0.0)) | ((kind == equilibrium.PUSH) & (h > 0.0))
        return np.where(idle, 0.0, h)

    def slope(self, kind: str, numbers: list[int], value: float) -> Array:
        """Return the gradient's derivative (rows, variables) by a parameter of variables or tendons `numbers`."""
        out = np.zeros_like(self.V)
        if not self.elastic and kind not in {"radius", "angle"}:
            # Rigid tendons have neither stiffness nor slack.
            return out
        if kind == "rest":
            out[:, numbers] = -_per_variable(self.springs)[numbers]
        elif kind == "bending":
            out[:, numbers] = _per_variable(self.springs)[numbers] / value * (self.V - self.springs.rest)[:, numbers]
        elif kind == "stiffness":
            # The tendons of a section share one factor; their free elongations do not change.
            tension = (self.h * self.stiffness)[:, numbers] / value
            out = -np.einsum("njv,nj->nv", self.slopes[:, numbers], tension)
        elif kind == "slack":
            [j] = numbers
            out = self.slopes[:, j] * (self.stiffness[j] * (self.h[:, j, None] != 0.0))
        else:
            [j] = numbers
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
        return np.asarray(-slopes[:, 0] * (self.stiffness[j] * h * (self.h[:, j] != 0.0))[:, None])


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
        s, c = np.sin(Q[:, k + 1, None]), np.cos(Q[:, k + 1, None])
        by_bend, by_direction = J[:, :, k].copy(), J[:, :, k + 1] / Q[:, k, None]
        J[:, :, k], J[:, :, k + 1] = by_bend * c - by_direction * s, by_bend * s + by_direction * c
    return pull, J
