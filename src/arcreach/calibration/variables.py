"""Bend vectors instead of bend and direction: variables in which the straight pose is not singular.

A section without twist has bend * (cos direction, sin direction) in place of its first two coordinates; all other
coordinates are kept. The solver variables of `robot.model` differ: they measure a length by its share of the stretch,
and conversions from them apply the limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from arcreach._typing import Array
from arcreach.robots.robot import Robot

# Radians; below this bend the direction carries no information, and derivatives are those of the straight section.
_STRAIGHT = 1e-9


def to_variables(robot: Robot, Q: Array) -> Array:
    """Return the variables of configurations (..., dof)."""
    V = Q.copy()
    for k in robot.bend_vector_indices():
        V[..., k], V[..., k + 1] = Q[..., k] * np.cos(Q[..., k + 1]), Q[..., k] * np.sin(Q[..., k + 1])
    return V


def to_coordinates(robot: Robot, V: Array) -> Array:
    """Return the configurations (..., dof) of variables; a straight section has the direction 0."""
    Q = V.copy()
    for k in robot.bend_vector_indices():
        Q[..., k], Q[..., k + 1] = np.hypot(V[..., k], V[..., k + 1]), np.arctan2(V[..., k + 1], V[..., k])
    return Q


def by_variables(robot: Robot, derivative: Callable[[Array], Array], q: Array) -> Array:
    """Return derivatives (m, dof) by the variables from a function that returns them by the coordinates."""
    straight = [k for k in robot.bend_vector_indices() if abs(q[k]) < _STRAIGHT]
    along_x, along_y = q.copy(), q.copy()
    for k in straight:
        along_x[k : k + 2] = 0.0
        along_y[k : k + 2] = 0.0, 0.5 * math.pi
    J = derivative(along_x)
    second = derivative(along_y) if straight else J
    for k in robot.bend_vector_indices():
        if k in straight:
            J[:, k + 1] = second[:, k]
        else:
            replace_bend_columns(J, q, k)
    return J


def replace_bend_columns(J: Array, Q: Array, k: int) -> None:
    """Replace, in J (..., m, dof) at Q (..., dof), the columns of bend k and its direction by the bend vector's."""
    s, c = np.sin(Q[..., k + 1, None]), np.cos(Q[..., k + 1, None])
    by_bend, by_direction = J[..., k].copy(), J[..., k + 1] / Q[..., k, None]
    J[..., k], J[..., k + 1] = by_bend * c - by_direction * s, by_bend * s + by_direction * c
