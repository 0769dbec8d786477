"""Robots derived for one call: with narrower limits, held coordinates, or a tool."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import real_array, shown
from arcreach._text import coordinate
from arcreach._typing import Array
from arcreach.elements import Element, Joint, Link, Section
from arcreach.errors import ConfigurationError, MethodError, TargetError
from arcreach.robots.hints import angle_hint
from arcreach.robots.rates import held_mask
from arcreach.robots.robot import Robot

# Largest number of derived robots cached per robot; each has its own tables of seeds.
KEPT = 16
# Key, in the memory of a robot with narrower limits, of the robot without them.
UNRESTRICTED = "unrestricted"
# Rest lengths of a tendon that differ by less than this share of the reach count as equal.
SAME_REST = 1e-12


def with_tool(robot: Any, tool: Array | None) -> Any:
    """Return the robot with a link to the frame of a tool (4, 4) at its tip; the robot itself if `tool` is None."""
    if tool is None:
        return robot
    if not isinstance(robot, Robot):
        raise MethodError("a target with a tool needs a chain of elements; give a Robot")

    def make() -> Robot:
        link = Link.from_matrix(tool, name=robot.unused_name("tool"))
        return Robot([*robot.elements, link], robot.name, robot.source)

    return _kept(robot, tool.tobytes(), make)


def _kept(robot: Robot, key: Any, make: Callable[[], Robot]) -> Robot:
    """Return the derived robot that is cached under a key; `make` builds it at the first use."""
    kept: dict[Any, Robot] = robot.memory.setdefault("made", {})
    # Read the cache once only: another thread may empty it at any time.
    found = kept.get(key)
    if found is None:
        if len(kept) >= KEPT:
            kept.clear()
        found = kept[key] = make()
    return found


def restricted(robot: Any, hold: Any, limits: Any, start: npt.ArrayLike | None = None) -> Any:
    """Return the robot with narrower limits; those of held coordinates have no width.

    `hold` names coordinates or elements, or is a mask (dof,); these keep their value at `start` or rest. `limits` maps
    coordinates to (lower, upper) inside the robot's own. Equal calls return the same robot.
    """
    if hold is None and limits is None:
        return robot
    if not isinstance(robot, Robot):
        raise MethodError("hold and limits need a chain of elements; leave them out, or give a Robot")
    narrow = {} if limits is None else _narrower(robot, limits)
    held = {} if hold is None else _held(robot, hold, start)
    for name, value in held.items():
        lower, upper = narrow.get(name, (value, value))
        if not lower <= value <= upper:
            raise TargetError(f"hold keeps {name} at {value:.6g}, outside limits[{name!r}]; change one of them")
    narrow |= {name: (value, value) for name, value in held.items()}
    if not narrow:
        return robot
    key = tuple(sorted(narrow.items())), frozenset(held)
    return _kept(robot, key, lambda: _build(robot, narrow, set(held)))


def _narrower(robot: Robot, limits: Any) -> dict[str, tuple[float, float]]:
    """Return limits by coordinate, checked to lie inside the robot's own."""
    if not isinstance(limits, Mapping):
        raise TargetError(
            f"limits = {shown(limits)} is not accepted; give a mapping from coordinates to (lower, upper)"
        )
    checked = {}
    for name, pair in limits.items():
        given = real_array(pair)
        if given is None or given.shape != (2,) or not given[0] <= given[1]:
            wrong = f"limits[{name!r}] = {shown(pair)} is not accepted"
            raise TargetError(f"{wrong}; give (lower, upper), the smaller first")
        lower, upper = given.tolist()
        if name not in robot.coordinates:
            raise TargetError(f"limits names {shown(name)}; give one of {', '.join(robot.coordinates)}")
        k = robot.coordinates.index(name)
        if lower < robot.lower[k] or upper > robot.upper[k]:
            ends = lower, upper, float(robot.lower[k]), float(robot.upper[k])
            texts = [coordinate(value, robot.quantities[k]) for value in ends]
            wrong = "limits[{!r}] = {} to {} is beyond the robot's own, {} to {}; give narrower ones".format(
                name, *texts
            )
            raise TargetError("; ".join(filter(None, (wrong, _degrees_hint(robot, k, (lower, upper))))))
        if math.isinf(lower) != math.isinf(upper):
            raise TargetError(f"limits[{name!r}] = {shown(pair)} is not accepted; give two finite numbers")
        checked[name] = (lower, upper)
    return checked


def _degrees_hint(robot: Robot, k: int, pair: tuple[float, float]) -> str:
    """Return a hint where limits of coordinate `k` were probably given in degrees; else ""."""
    for value in pair:
        q = robot.neutral.copy()
        q[k] = value
        if hint := angle_hint(robot, q):
            return hint
    return ""


def _held(robot: Robot, hold: Any, start: npt.ArrayLike | None) -> dict[str, float]:
    """Return the values of held coordinates by name."""
    q = robot.neutral[None] if start is None else np.atleast_2d(robot.clip(start))
    q = q if len(q) else robot.neutral[None]
    mask = held_mask(robot, hold)
    if mask.all():
        raise TargetError("hold keeps every coordinate; leave at least one free")
    if (q[:, mask] != q[0, mask]).any():
        raise ConfigurationError("start has different values of a held coordinate; give the same to all targets")
    return {robot.coordinates[k]: float(q[0, k]) for k in np.flatnonzero(mask)}


def _build(robot: Robot, narrow: dict[str, tuple[float, float]], held: set[str]) -> Robot:
    elements = [_element(robot, element, k, narrow, held) for element, k in robot.indexed_elements()]
    derived = Robot(elements, robot.name, robot.source)
    derived.memory[UNRESTRICTED] = robot.memory.get(UNRESTRICTED, robot)
    if robot.pull_limits is not None:
        limited = np.asarray(np.isfinite(robot.pull_limits[:2]).any(axis=0))
        for route, other in zip(robot.routes, derived.routes, strict=True):
            if limited[route["tendon"]] and abs(other["rest"] - route["rest"]) > SAME_REST * robot.reach:
                name = robot.coordinates[route["coordinate"] + (2 if route["varies"] else 0)]
                raise MethodError(
                    f"robot '{robot.name}' has limits of pulls, which are measured from rest; give {name} limits with "
                    "the same middle as the robot's own, or hold it there"
                )
    return derived


def _element(robot: Robot, element: Element, k: int, narrow: dict[str, tuple[float, float]], held: set[str]) -> Element:
    """Return the element with narrower limits, or itself if none of its coordinates has any."""
    names = robot.coordinates[k : k + len(element.coordinates)]
    own = {name: narrow[name] for name in names if name in narrow}
    if own and isinstance(element, Section):
        return _section(robot, element, names, own, held)
    if own and isinstance(element, Joint):
        lower, upper = own[names[0]]
        return replace(element, lower=lower, upper=upper)  # type: ignore[call-arg]
    return element


def _section(
    robot: Robot, section: Section, names: tuple[str, ...], own: dict[str, tuple[float, float]], held: set[str]
) -> Section:
    """Return a section with narrower limits, or a held one."""
    if held & set(names):
        if not held >= set(names):
            raise TargetError(f"hold names a part of a section; hold all of it: {', '.join(names)}")
        if robot.pull_limits is not None:
            raise MethodError(f"robot '{robot.name}' has limits of pulls, with which no section can be held")
        return section.held(tuple(own[name][0] for name in names))
    bend, direction, *length = names
    coupled = section.coupled and section.stretch > 0.0
    for name, (lower, upper) in own.items():
        if lower == upper:
            raise TargetError(f"limits[{name!r}] has no width; hold the whole section instead")
        if coupled:
            raise TargetError(
                f"limits[{name!r}] is not accepted, as bend and length of this section are coupled; hold all of it"
            )
        if name == direction or (name == bend and lower > 0.0):
            raise TargetError(
                f"limits[{name!r}] is not accepted; for a section give limits of the bend that begin at 0, or of the "
                "length"
            )
    changed: dict[str, Any] = {"bend_max": own[bend][1]} if bend in own else {}
    if length and length[0] in own:
        lower, upper = own[length[0]]
        changed |= {"length": lower, "stretch": upper - lower}
    return replace(section, **changed)
