"""`rates`: speeds of the coordinates for a velocity of the tip, by damped least squares within bounds.

A section that bends in two planes is described by its bend vector, along and across the bend, because the direction of
a straight section is undefined. The speeds x minimise |J x - v|^2 + x^T D x, where angles are weighted by the robot's
weight in metres, and D damps motions that hardly move the tip. The bounds are the limits of speed; a coordinate at
a limit does not move beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import not_negative, real_array, shown
from arcreach._typing import Array, Booleans
from arcreach.elements import LENGTH, Section
from arcreach.errors import TargetError
from arcreach.robots._configurations import per_coordinate

if TYPE_CHECKING:
    from arcreach.robots.robot import Robot

# Below this bend in radians a section counts as straight.
STRAIGHT = 1e-6
# A coordinate this near to a limit, in radians or metres or as a share of its value above 1, counts as at it.
AT_LIMIT = 1e-9
# Eigenvalues of A^T A + damping below this share of the largest are rounding: nothing moves along their vectors.
SMALLEST_EIGENVALUE = 1e-14


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds of the coordinates of a configuration, and the velocity of the tip that they produce.

    Arrays of a batch have a leading axis of n.
    """

    robot: Robot = field(repr=False)
    q: Array  # (dof,)
    speeds: Array  # (dof,), radians and metres per second; of a straight section along its direction and across
    velocity: Array  # (3,) or (6,), like `asked`: what the speeds produce at the tip
    asked: Array  # (3,) or (6,)
    limited: Booleans  # (dof,): coordinates held, at a limit, or at their largest speed

    @property
    def reached(self) -> Any:
        """Whether the tip moves as asked, up to a millionth; an array (n,) for a batch."""
        reached = np.abs(self.velocity - self.asked).max(axis=-1) <= 1e-6 * np.abs(self.asked).max(axis=-1)
        return reached if reached.ndim else bool(reached)

    def after(self, seconds: float) -> Array:
        """Return the configuration (dof,) after a short time, within the limits; bend vectors move straight."""
        seconds = not_negative("seconds", seconds, "seconds")
        q = self.q + seconds * self.speeds
        for k in self.robot.bend_vector_indices():
            bend = self.q[..., k]
            along = bend + seconds * self.speeds[..., k]
            across = seconds * self.speeds[..., k + 1] * _lever(bend)
            q[..., k], q[..., k + 1] = np.hypot(along, across), self.q[..., k + 1] + np.arctan2(across, along)
        return self.robot.clip(q)


def rates(
    robot: Robot,
    q: npt.ArrayLike,
    velocity: npt.ArrayLike,
    *,
    max_speed: npt.ArrayLike | None,
    hold: Any,
    damping: float,
    keep_direction: bool,
) -> Rates:
    """Return the speeds; see `Robot.rates`."""
    start, asked = _rows(robot, q, velocity)
    damping = not_negative("damping", damping, "a share of the reach")
    held, fastest = held_mask(robot, hold), _fastest(robot, max_speed)
    jacobians = columns(robot, start)[..., : asked.shape[-1], :]
    speeds, moved = np.empty(start.shape), np.empty(asked.shape)
    limited = np.empty(start.shape, dtype=bool)
    for row in np.ndindex(start.shape[:-1]):
        bounds = _limit_bounds(robot, start[row], held)
        x, limited[row] = _speeds(
            robot, jacobians[row], asked[row], bounds, fastest, damping * robot.reach, keep_direction
        )
        speeds[row], moved[row] = x, jacobians[row] @ x
    for k in robot.bend_vector_indices():
        speeds[..., k + 1] /= _lever(start[..., k])
    return Rates(robot, start, speeds, moved, asked, limited)


def _lever(bend: Array) -> Array:
    """Return the speed across a bend per unit of the direction's rate; 1 for straight sections, see `Rates.speeds`."""
    return np.where(np.abs(bend) > STRAIGHT, bend, 1.0)


def _rows(robot: Robot, q: npt.ArrayLike, velocity: npt.ArrayLike) -> tuple[Array, Array]:
    """Return copies of configurations (..., dof) and velocities (..., 3 or 6), one each."""
    start, asked = robot.checked(q), real_array(velocity)
    if asked is None or asked.ndim not in (1, 2) or asked.shape[-1] not in (3, 6) or not np.isfinite(asked).all():
        raise TargetError(
            f"velocity = {shown(velocity)} is not accepted; give three numbers in m/s, or six: linear, then angular "
            "in rad/s; for a batch also one row each"
        )
    if start.ndim == asked.ndim == 2 and len(start) != len(asked):
        raise TargetError(f"velocity has {len(asked)} rows and q has {len(start)}; give one for all, or one each")
    rows = start.shape[:-1] or asked.shape[:-1]
    return np.broadcast_to(start, (*rows, robot.dof)).copy(), np.broadcast_to(asked, (*rows, asked.shape[-1])).copy()


def _speeds(
    robot: Robot,
    jacobian: Array,
    asked: Array,
    bounds: tuple[Array, Array],
    fastest: Array,
    singular: float,
    keep_direction: bool,
) -> tuple[Array, Booleans]:
    """Return the speeds (dof,) at one configuration, of bends along and across, and which of them are limited."""
    lower, upper = bounds
    weights = np.array([1.0] * 3 + [robot.model.weight] * (len(asked) - 3))
    units = radian_equivalents(robot)
    A = weights[:, None] * jacobian * units
    damping = _damping(A, upper > lower, singular)
    if not keep_direction:
        lower, upper = np.maximum(lower, -fastest), np.minimum(upper, fastest)
    x = units * bounded_least_squares(A, weights * asked, lower / units, upper / units, damping)
    if keep_direction:
        x /= max(1.0, float((np.abs(x) / fastest).max(initial=0.0)))
    return x, (x <= lower) | (x >= upper) | (np.abs(x) >= fastest * (1.0 - 1e-12))


def bounded_least_squares(A: Array, b: Array, lower: Array, upper: Array, damping: Array) -> Array:
    """Return the x within bounds that minimises |A x - b|^2 + x^T damping x, by a primal active-set method.

    The bounds contain 0. If several x are equally good for an active set, it takes the shortest. A bound is freed only
    if that decreases the objective, so no active set occurs twice.
    """
    n = A.shape[1]
    if n == 0:
        return np.empty(0)
    H, g = A.T @ A + damping, A.T @ b
    x = np.zeros(n)
    free = upper > lower
    # Each iteration frees one bound or meets one; this many iterations are far more than needed.
    for _ in range(2 * n * n + 10):
        z = x.copy()
        rows = np.flatnonzero(free)
        right = g[rows] - H[np.ix_(rows, ~free)] @ x[~free]
        z[rows] = np.linalg.lstsq(H[np.ix_(rows, rows)], right, rcond=SMALLEST_EIGENVALUE)[0]
        step = z - x
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0.0, (upper - x) / step, np.where(step < 0.0, (lower - x) / step, np.inf))
        hit = int(np.argmin(np.where(free, room, np.inf)))
        if free.any() and room[hit] < 1.0:
            x = np.clip(x + max(room[hit], 0.0) * step, lower, upper)
            x[hit] = upper[hit] if step[hit] > 0.0 else lower[hit]
            free[hit] = False
            continue
        x = z
        # The negative gradient of the objective.
        pull = g - H @ x
        inwards = np.where(free | (upper <= lower), 0.0, np.where(x >= upper, -pull, pull))
        best = int(np.argmax(inwards))
        if inwards[best] <= 1e-12 * float(np.abs(g).max(initial=1e-300)):
            break
        free[best] = True
    return x


def columns(robot: Robot, q: Array) -> Array:
    """Return the Jacobian (..., 6, dof) by coordinates, for bend vectors by components along and across the bend."""
    bent = q.copy()
    sections = robot.bend_vector_indices()
    bent[..., sections] = np.where(np.abs(q[..., sections]) > STRAIGHT, q[..., sections], STRAIGHT)
    found: Array = robot.jacobian(bent)
    for k in sections:
        found[..., k + 1] /= bent[..., k, None]
    return found


def radian_equivalents(robot: Robot) -> Array:
    """Return how much of each coordinate (dof,) counts as a radian: 1 for angles, the robot's weight for lengths."""
    return np.array([robot.model.weight if quantity == LENGTH else 1.0 for quantity in robot.quantities])


def held_mask(robot: Robot, hold: Any) -> Booleans:
    """Return the mask (dof,) of held coordinates, given by names of coordinates or elements, or as a mask."""
    # The values of a mapping would be ignored: coordinates are held where they are.
    given = [hold] if isinstance(hold, (str, Mapping)) else hold
    try:
        entries = list(given)
    except TypeError:
        entries = [given]
    if len(entries) == robot.dof and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        return np.array(entries, dtype=np.bool_)
    mask = np.zeros(robot.dof, np.bool_)
    indices = {name: [k] for k, name in enumerate(robot.coordinates)}
    for name, (element, k) in zip(robot.element_names, robot.indexed_elements(), strict=True):
        if element.coordinates:
            indices[name] = [*range(k, k + len(element.coordinates))]
    for entry in entries:
        if not isinstance(entry, str) or entry not in indices:
            raise TargetError(
                f"hold = {shown(hold)} is not accepted; give names, of {', '.join(indices)}, or a mask ({robot.dof},)"
            )
        mask[indices[entry]] = True
    return mask


def _limit_bounds(robot: Robot, q: Array, held: Booleans) -> tuple[Array, Array]:
    """Return bounds of speed (dof,): 0 for held coordinates and beyond a limit that is reached, else infinite."""
    lower, upper = np.full(robot.dof, -np.inf), np.full(robot.dof, np.inf)
    room = AT_LIMIT * np.maximum(1.0, np.abs(q))
    lower[q <= robot.lower + room] = 0.0
    upper[q >= robot.upper - room] = 0.0
    for element, k in robot.indexed_elements():
        if not isinstance(element, Section):
            continue
        # A direction has no limits. A bend vector may pass through 0; a bend in one plane may not.
        lower[k + 1], upper[k + 1] = -np.inf, np.inf
        if not element.twist:
            lower[k] = -np.inf
        if element.stretch > 0.0 and element.coupled:
            largest = element.bend_max * (q[k + 2] - element.length) / element.stretch
            if q[k] >= largest - AT_LIMIT:
                # At the limit that couples bend and length, the section neither bends further nor shortens.
                upper[k], lower[k + 2] = 0.0, 0.0
                if largest <= AT_LIMIT:
                    lower[k] = 0.0
                    if not element.twist:
                        lower[k + 1] = upper[k + 1] = 0.0
    lower[held] = upper[held] = 0.0
    return lower, upper


def _fastest(robot: Robot, max_speed: npt.ArrayLike | None) -> Array:
    """Return the largest speed of every coordinate (dof,); that of a bend also applies across the bend."""
    if max_speed is None:
        return np.full(robot.dof, np.inf)
    fastest = per_coordinate(robot, "max_speed", max_speed, "radians and metres per second")
    for k in robot.bend_vector_indices():
        fastest[k + 1] = fastest[k]
    return fastest


def _damping(A: Array, free: Booleans, singular: float) -> Array:
    """Return the damping (n, n) of motions with singular values below `singular`, growing to its square at 0."""
    D = np.zeros((A.shape[1], A.shape[1]))
    if singular > 0.0 and free.any():
        _, values, motions = np.linalg.svd(A[:, free], full_matrices=False)
        strength = np.maximum(singular**2 - values**2, 0.0)
        D[np.ix_(free, free)] = (motions.T * strength) @ motions
    return D
