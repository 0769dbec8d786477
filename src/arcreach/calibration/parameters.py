"""The parameters of a tendon-driven robot that measurements can determine, as one vector.

The base pose is a `Link` before the robot's elements, the tip offset a `Link` after them. Lengths, radii and
stiffnesses are positive: the search varies their logarithms.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._geometry import rotation_from_vector
from arcreach._typing import Array
from arcreach.elements import Element, Link, Section, Tendon
from arcreach.robots.robot import Robot

GROUPS = ("base", "lengths", "angles", "radii", "stiffness", "pretension", "rest", "tip")
DEFAULT = GROUPS[:-1]
# Groups that only elastic tendons have.
ELASTIC = ("stiffness", "pretension", "rest")

# Assumed ratio c r^2 / k of tendon to section stiffness if a robot file gives none: that of a small plastic robot.
TYPICAL_RATIO = 20.0


@dataclass(frozen=True)
class Parameter:
    """One free parameter; `scale` is the error that its given value may have in practice."""

    name: str
    group: str
    unit: str
    scale: float
    logarithmic: bool = False


class Parametrisation:
    """The free parameters of a robot, and the robot for given values of them."""

    def __init__(self, robot: Robot, free: tuple[str, ...], elastic: bool | None = None) -> None:
        self.robot = robot
        self.free = free
        self.elastic = "stiffness" in free or is_elastic(robot) if elastic is None else elastic
        self.elements = [_with_stiffness(element) if self.elastic else element for element in robot.elements]
        self.sections = [i for i, element in enumerate(robot.elements) if isinstance(element, Section)]
        self.parameters: list[Parameter] = []
        self.slots: list[tuple[Any, ...]] = []
        if "base" in free:
            self._add_pose("base")
        for i in self.sections:
            self._add_section(i)
        if "tip" in free:
            self._add_pose("tip")
        self.given = np.array([self._value(slot) for slot in self.slots])
        self._scales = np.array([p.scale for p in self.parameters])
        self._logarithmic = np.array([p.logarithmic for p in self.parameters])

    def _add(self, name: str, group: str, unit: str, scale: float, *slot: Any, logarithmic: bool = False) -> None:
        self.parameters.append(Parameter(name, group, unit, scale, logarithmic))
        self.slots.append(slot)

    def _add_pose(self, name: str) -> None:
        for k, axis in enumerate("xyz"):
            self._add(f"{name}.{axis}", name, "m", 0.05 * self.robot.moving_reach, name, k)
        if name == "base":
            for k, axis in enumerate("xyz"):
                self._add(f"{name}.turn_{axis}", name, "rad", 0.1, name, 3 + k)

    def _add_section(self, i: int) -> None:
        name, section = self.robot.element_names[i], self.elements[i]
        assert isinstance(section, Section)
        first = i == self.sections[0]
        if "lengths" in self.free and section.length > 0.0:
            scale = 0.05 * section.length
            self._add(f"{name}.length", "lengths", "m", scale, "length", i, logarithmic=True)
        if "rest" in self.free:
            for k, axis in enumerate("xy"):
                self._add(f"{name}.rest_bend_{axis}", "rest", "rad", 0.1, "rest", i, k)
        if "stiffness" in self.free and section.tendons:
            # Only ratios of stiffnesses change the shape, so that of the first section is fixed.
            if not first:
                scale = 0.5 * section.bending_stiffness
                self._add(f"{name}.bending_stiffness", "stiffness", "N m2", scale, "bending", i, logarithmic=True)
            scale = 0.5 * section.tendons[0].stiffness
            self._add(f"{name}.tendon_stiffness", "stiffness", "N/m", scale, "stiffness", i, logarithmic=True)
        for j, tendon in enumerate(section.tendons):
            own = f"{name}.{tendon.name or f'tendon-{j + 1}'}"
            # Rotating the base and all angles in opposite directions changes nothing, so the first angle is fixed.
            if "angles" in self.free and not ("base" in self.free and first and j == 0):
                self._add(f"{own}.angle", "angles", "rad", 0.2, "angle", i, j)
            if "radii" in self.free:
                self._add(f"{own}.radius", "radii", "m", 0.1 * tendon.radius, "radius", i, j, logarithmic=True)
            if "pretension" in self.free:
                self._add(f"{own}.slack", "pretension", "m", 0.2 * tendon.radius, "slack", i, j)

    def _value(self, slot: tuple[Any, ...]) -> float:
        kind, *where = slot
        if kind in {"base", "tip"}:
            return 0.0
        section = self.elements[where[0]]
        assert isinstance(section, Section)
        if kind == "length":
            return section.length
        if kind == "rest":
            return float(section.rest_bend[where[1]])
        if kind == "bending":
            return section.bending_stiffness
        if kind == "stiffness":
            return section.tendons[0].stiffness
        tendon = section.tendons[where[1]]
        # Negative slack: the tendon is taut at rest.
        return float(tendon.slack - tendon.pretension / tendon.stiffness if kind == "slack" else getattr(tendon, kind))

    def indices(self, kind: str, where: list[Any]) -> list[int]:
        """Return the indices of the variables, or of the tendons, that a parameter acts on."""
        i = where[0]
        if kind in {"rest", "bending"}:
            k = self.robot.indexed_elements()[i][1]
            return [k + where[1]] if kind == "rest" else [k, k + 1]
        before = sum(len(e.tendons) for e in self.elements[:i] if isinstance(e, Section))
        section = self.elements[i]
        assert isinstance(section, Section)
        return list(range(before, before + len(section.tendons))) if kind == "stiffness" else [before + where[1]]

    def values(self, z: Array) -> Array:
        """Return the values of the parameters at z, the distances from the given values in units of `scale`."""
        relative = np.divide(self._scales, self.given, out=np.zeros(len(z)), where=self._logarithmic)
        return np.where(self._logarithmic, self.given * np.exp(relative * z), self.given + self._scales * z)

    def slopes(self, z: Array) -> Array:
        """Return the derivative of every value by its entry of z."""
        ratio = np.divide(self.values(z), self.given, out=np.ones(len(z)), where=self._logarithmic)
        return np.asarray(self._scales * ratio)

    def robot_for(self, values: Array) -> Robot:
        """Return the robot with these values; if free, base pose and tip offset are its first and last link."""
        elements = list(self.elements)
        poses: dict[str, Any] = {"base": np.zeros(6), "tip": np.zeros(6)}
        for (kind, *where), value in zip(self.slots, values.tolist(), strict=True):
            if kind in poses:
                poses[kind][where[0]] = value
                continue
            section: Any = elements[where[0]]
            elements[where[0]] = _changed(section, kind, where[1:], value)
        if "base" in self.free:
            turn: Any = rotation_from_vector(poses["base"][3:])
            elements.insert(0, Link(poses["base"][:3], turn, name=self.robot.unused_name("base")))
        if "tip" in self.free:
            elements.append(Link(poses["tip"][:3], name=self.robot.unused_name("tip")))
        return Robot(elements, self.robot.name, self.robot.source)


def _changed(section: Section, kind: str, where: list[Any], value: float) -> Section:
    if kind == "length":
        return dataclasses.replace(section, length=value)
    if kind == "bending":
        return dataclasses.replace(section, bending_stiffness=value)
    if kind == "rest":
        rest = list(section.rest_bend)
        rest[where[0]] = value
        return dataclasses.replace(section, rest_bend=tuple(rest))
    tendons = list(section.tendons)
    if kind == "stiffness":
        share = value / tendons[0].stiffness
        # The free elongation does not change, so the pretension scales with the stiffness.
        tendons = [
            dataclasses.replace(t, stiffness=t.stiffness * share, pretension=t.pretension * share) for t in tendons
        ]
    else:
        tendons[where[0]] = _changed_tendon(tendons[where[0]], kind, value)
    return dataclasses.replace(section, tendons=tuple(tendons))


def _changed_tendon(tendon: Tendon, kind: str, value: float) -> Tendon:
    if kind == "slack":
        return dataclasses.replace(tendon, slack=max(value, 0.0), pretension=max(-value, 0.0) * tendon.stiffness)
    if kind == "angle":
        value = math.remainder(value, 2.0 * math.pi)
    changed: Any = {kind: value}
    return dataclasses.replace(tendon, **changed)


def is_elastic(robot: Robot) -> bool:
    """Return whether every section and tendon has a stiffness."""
    return all(
        section.bending_stiffness > 0.0
        and (section.stretch == 0.0 or section.axial_stiffness > 0.0)
        and all(math.isfinite(tendon.stiffness) for tendon in section.tendons)
        for section in robot.sections
    )


def _with_stiffness(element: Element) -> Element:
    """Return a section with typical stiffnesses where it has none; only their ratios matter."""
    if not isinstance(element, Section):
        return element
    length = element.length + 0.5 * element.stretch
    radius = np.mean([tendon.radius for tendon in element.tendons]) if element.tendons else 0.1 * length
    bending = element.bending_stiffness or 0.01
    typical = TYPICAL_RATIO * bending / length / float(radius) ** 2
    tendons = [t if math.isfinite(t.stiffness) else dataclasses.replace(t, stiffness=typical) for t in element.tendons]
    axial = element.axial_stiffness or (typical if element.stretch else 0.0)
    return dataclasses.replace(element, bending_stiffness=bending, axial_stiffness=axial, tendons=tuple(tendons))
