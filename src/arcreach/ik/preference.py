"""The argument `prefer` of a solve: check the preferred posture and pack it for kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from arcreach._checks import real_array, shown
from arcreach._typing import Array
from arcreach.errors import ConfigurationError, MethodError
from arcreach.kernels.chain.layout import BEND, ROTATION, SLIDE
from arcreach.kernels.solver.contexts import Table
from arcreach.kernels.solver.preference import Preference
from arcreach.robots.restricted import UNRESTRICTED
from arcreach.robots.robot import Robot

NO_ORDER = np.empty(0, np.float32)
# Named postures: `rest` and `middle` prefer the rest pose, weighted in radians or by the ranges of the coordinates;
# `limits` stays away from the limits.
POSTURES = ("rest", "middle", "limits")
# Barrier of "limits": the cost x^2 / (1 - BARRIER x^2) of a coordinate at its limit, x = 1, is 100 times the quadratic.
BARRIER = 0.99
# A smaller weight counts as 0, which has no barrier.
TINY = 1e-300
# Further seeds from which a posture is sought, if the caller gives no start and the robot has branches.
STARTS = 1
# Factor on squared distances from the preferred posture in the choice of these seeds; it is 1 for the first seed.
NEARER = 4.0


def preference_of(robot: Any, prefer: Any, weights: Any) -> Preference | None:
    """Return the checked preference of a solve, which `aimed` completes; None if there is none.

    Rest and a preferred configuration are those of the robot without the limits and holds of this call, also where they
    are outside these narrower limits.
    """
    if prefer is None:
        if weights is not None:
            raise MethodError("weights has no meaning without prefer; leave it out, or give prefer")
        return None
    if not isinstance(robot, Robot):
        raise MethodError("prefer needs a chain of elements; leave it out, or give a Robot")
    # Cached: a loop of solves changes only the target.
    values = None if isinstance(prefer, str) else real_array(prefer)
    key = prefer if values is None else (values.shape, values.tobytes())
    kept: tuple[Any, Preference] | None = robot.memory.get("preference")
    if weights is None and kept is not None and kept[0] == key:
        return kept[1]
    preference = _preference(robot, prefer, weights)
    if weights is None:
        robot.memory["preference"] = key, preference
    return preference


def _preference(robot: Robot, prefer: Any, weights: Any) -> Preference:
    given: Robot = robot.memory.get(UNRESTRICTED, robot)
    ranged = isinstance(prefer, str) and prefer != "rest"
    factors = _factors(robot, weights)
    # Divided by the weights, which multiply squared distances: the pole stays beyond the limits.
    pole = BARRIER if isinstance(prefer, str) and prefer == "limits" else 0.0
    scales, barrier = np.empty(robot.model.variables), np.empty(robot.model.variables)
    for element in robot.model.moving:
        k, c, stretch = element["variable"], element["coordinate"], element["stretch"]
        last = k + element["width"]
        half = element["bend_max"] if element["kind"] >= BEND else 0.5 * (element["upper"] - element["lower"])
        unit = robot.model.weight if element["stroke"] else 1.0
        scales[k:last], barrier[k:last] = _weight(factors[c], half if ranged else unit), pole / max(factors[c], TINY)
        if stretch > 0.0:
            scales[last - 1] = _weight(factors[c + 2], 0.5 if ranged else robot.model.weight / stretch)
            barrier[last - 1] = pole / max(factors[c + 2], TINY)
    # The ranges of "middle" and "limits" are the narrower ones.
    q = _configuration(robot if ranged else given, prefer)
    # Held coordinates would only add a constant to the cost.
    q = np.where(robot.lower == robot.upper, robot.lower, q)
    near = q if robot is given else robot.clip(q)
    return Preference(robot.model.to_variables(q[None])[0], scales, near, barrier, 0, NO_ORDER, None)


def aimed(preference: Preference, robot: Robot, table: Table, mode: int) -> tuple[Table, Preference]:
    """Return the table and the complete preference for targets of a mode, with further seeds and limits of pulls."""
    kept: tuple[Any, Any, tuple[Table, Preference]] | None = robot.memory.get("aimed")
    if kept is not None and kept[0] is preference and kept[1] is table:
        return kept[2]
    model = robot.model
    order = model.near(table, preference.wanted, mode, NEARER).near_rest
    pulls = model.pulls(mode)
    # Limits of pulls may end a descent early, so a further seed helps.
    starts = STARTS if mode == ROTATION or pulls is not None or _has_branches(robot) else 0
    full = preference._replace(starts=starts, order=order, pulls=pulls)
    found = model.near(table, preference.wanted, mode), full
    robot.memory["aimed"] = preference, table, found
    return found


def _has_branches(robot: Robot) -> bool:
    """Return whether the cost over the postures at a target may have several minima, as with two turning joints.

    Sections bend to all sides through the straight pose, so a descent seldom ends in another minimum: for at most 2 %
    of the targets of the catalogue's robots, compared with a third for arms.
    """
    kinds = robot.model.moving["kind"]
    return bool(np.count_nonzero((kinds < BEND) & (kinds != SLIDE)) > 1)


def _weight(factor: float, scale: float) -> float:
    """Return the weight of a variable; 0 for a coordinate without limits, or whose limits are equal."""
    return factor / scale**2 if 0.0 < scale < np.inf else 0.0


def _configuration(robot: Robot, prefer: Any) -> Array:
    if isinstance(prefer, str):
        if prefer not in POSTURES:
            raise MethodError(
                f"prefer = {shown(prefer)} is not known; give one of {', '.join(POSTURES)} or a configuration"
            )
        return robot.neutral.copy()
    robot.checked(prefer, "prefer")
    q = robot.clip(prefer)
    if q.ndim != 1:
        raise ConfigurationError(f"prefer has the shape {q.shape}; give one configuration ({robot.dof},)")
    return q


def _factors(robot: Robot, weights: Any) -> Array:
    """Return the caller's weights (dof,), 1 where none is given."""
    factors = np.ones(robot.dof)
    if isinstance(weights, Mapping):
        for name, value in weights.items():
            if name not in robot.coordinates:
                raise ConfigurationError(f"weights names {shown(name)}; give one of {', '.join(robot.coordinates)}")
            given = real_array(value)
            factors[robot.coordinates.index(name)] = given if given is not None and given.ndim == 0 else np.nan
    elif weights is not None:
        given = real_array(weights)
        factors = np.full(robot.dof, np.nan) if given is None or given.shape != (robot.dof,) else given
    if not (np.isfinite(factors).all() and (factors >= 0.0).all() and factors.any()):
        raise ConfigurationError(
            f"weights = {shown(weights)} is not accepted; give numbers of 0 or more, not all 0, by coordinate or "
            f"as ({robot.dof},)"
        )
    return factors
