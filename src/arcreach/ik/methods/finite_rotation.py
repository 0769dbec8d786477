"""Method `finite-rotation`: minimise the error of distance, long axis and cross axis in turn, in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arcreach._checks import choice, real_array, shown
from arcreach._typing import Array
from arcreach.elements import Link, Revolute
from arcreach.errors import MethodError
from arcreach.ik.method import Method, Outcome, Problem, register, run_kernel
from arcreach.ik.methods.ccd import RIGID, half_reach
from arcreach.kernels.methods.finite_rotation import OBJECTIVE_COLUMNS, STEP_COLUMNS, Rules, finite_rotation
from arcreach.kernels.published.finite_rotation import finite_rotation_published
from arcreach.robots.robot import Robot

CORRECTED, PUBLISHED = "corrected", "published"
KERNELS: dict[str, Any] = {CORRECTED: finite_rotation, PUBLISHED: finite_rotation_published}

MOST_STEPS = 1000
SMALLEST_PIECE = 16
# Sweeps of one objective before the next. One sweep reaches 3 % fewer poses of a UR5; more than five gain nothing.
SWEEPS = 5
# The published variant sweeps one objective until it is met, at most this many times.
SWEEPS_PUBLISHED = 100

NAMED_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
# Two unit vectors are perpendicular if their dot product is at most this.
RIGHT_ANGLE = 1e-6
# Sine of the angle to the long axis above which a joint's axis serves as the cross axis.
SQUARE_ENOUGH = 0.1
# Half a unit in the last place of 24 bits.
ROUNDING = 2.0**-24


def run(problem: Problem) -> Outcome:
    """Solve every target from its start, or from the middle of the limits."""
    robot, single = problem.robot, is_single(problem.options.get("precision", "float64"))
    sweeps = SWEEPS if problem.variant == CORRECTED else SWEEPS_PUBLISHED
    rules = Rules(half_reach(robot), tool_axes(problem), slack(robot, single), sweeps, single)
    steps = traces_steps(problem)
    return run_kernel(
        problem,
        KERNELS[problem.variant],
        robot.packed,
        rules,
        max_steps=MOST_STEPS,
        columns=OBJECTIVE_COLUMNS + (STEP_COLUMNS if steps else ()),
        smallest=SMALLEST_PIECE,
    )


def slack(robot: Robot, single: bool) -> Array:
    """Return bounds (2,) of the rounding errors of distance and angle, by which tolerances are reduced.

    Per joint, rounding by u = 2**-24 shifts the tip by up to u times the reach and rotates it by up to 1.5 u radians,
    which shifts a tip at full reach by 1.5 u times the reach more.
    """
    units = robot.dof * ROUNDING if single else 0.0
    return np.array([2.5 * units * robot.reach, 1.5 * units])


def traces_steps(problem: Problem) -> bool:
    """Return whether the trace has a row per joint step, not per macro-iteration."""
    given = problem.options.get("joint_steps", False)
    if not isinstance(given, bool):
        raise MethodError(f"joint_steps = {shown(given)} is not accepted; give True or False")
    if given and not len(problem.trace):
        raise MethodError("joint_steps = True has no meaning without a trace; solve with trace=True")
    return given


def is_single(precision: Any) -> bool:
    """Return whether vectors are stored in single precision."""
    return choice("precision", precision, ("float64", "float32"), MethodError) == "float32"


def tool_axes(problem: Problem) -> Array:
    """Return the long and the cross axis (2, 3), unit vectors of the tip frame."""
    long = direction("long_axis", problem.options.get("long_axis", "z"))
    if problem.targets.kind == "axis" and not np.array_equal(long, NAMED_AXES["z"]):
        text = shown(problem.options["long_axis"])
        raise MethodError(f"long_axis = {text} is not accepted for a target with an axis, which is z; leave it out")
    cross = problem.options.get("cross_axis")
    if cross is None:
        return np.array([long, default_cross(problem.robot, long)])
    given = direction("cross_axis", cross)
    if abs(np.dot(long, given)) > RIGHT_ANGLE:
        raise MethodError(f"cross_axis = {shown(cross)} is not accepted; give a direction at right angles to long_axis")
    return np.array([long, given])


def direction(option: str, value: Any) -> Array:
    """Return a unit vector from 'x', 'y', 'z' or three numbers."""
    if isinstance(value, str) and value in NAMED_AXES:
        return np.array(NAMED_AXES[value])
    given = real_array(value)
    size = float(np.linalg.norm(given)) if given is not None and given.shape == (3,) else 0.0
    if given is None or not 0.0 < size < math.inf:
        raise MethodError(f"{option} = {shown(value)} is not accepted; give 'x', 'y', 'z' or a direction (3,)")
    return given / size


def default_cross(robot: Robot, long: Array) -> Array:
    """Return the last revolute joint's axis, made perpendicular to the long axis; if they are parallel, that of x or y.

    The source uses this joint's axis too. If both tool axes were perpendicular to it, its rotation for one would undo
    that for the other, and few poses would be reached.
    """
    candidates: list[Array] = [other - np.dot(other, long) * long for other in (last_axis(robot), *np.eye(3))]
    cross = next(candidate for candidate in candidates if np.linalg.norm(candidate) > SQUARE_ENOUGH)
    return cross / np.float64(np.linalg.norm(cross))


def last_axis(robot: Robot) -> Array:
    """Return the axis of the last revolute joint in the tip frame, zeros if there is none."""
    turned: Array = np.eye(3)
    for element in reversed(robot.elements):
        if isinstance(element, Revolute):
            return np.array(np.dot(turned.T, element.axis))
        if isinstance(element, Link):
            turned = np.dot(element.rotation, turned)
    return np.zeros(3)


METHOD = register(
    Method(
        name="finite-rotation",
        summary="optimal rotation of one joint after another, in closed form; one start, no linear systems",
        source="FRD",
        run=run,
        elements=RIGID,
        variants=tuple(KERNELS),
        options=frozenset({"precision", "long_axis", "cross_axis", "joint_steps"}),
    )
)
