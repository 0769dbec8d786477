"""The pieces a robot is made of. Each says which coordinates it has and where their limits lie.

A field's metadata is its one home: `quantity` is the unit family a robot file may write it in, `about` its description
in the schema.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arcreach.robots import checks
from arcreach.robots.checks import Matrix3, Vector

LENGTH = "length"
ANGLE = "angle"
PLAIN = "plain"

Z_AXIS: Vector = (0.0, 0.0, 1.0)
NO_ROTATION: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Coordinate:
    """One number of a configuration: its name within the element, its quantity, its limits and its rest value."""

    name: str
    quantity: str
    lower: float
    upper: float
    neutral: float


def _about(text: str, quantity: str = PLAIN) -> dict[str, str]:
    return {"about": text, "quantity": quantity}


def _middle(lower: float, upper: float) -> float:
    return 0.0 if math.isinf(lower) else 0.5 * lower + 0.5 * upper


@dataclass(frozen=True)
class Link:
    """A rigid piece: a fixed shift, then a fixed turn."""

    kind: ClassVar[str] = "link"

    translation: Vector = field(default=(0.0, 0.0, 0.0), metadata=_about("shift in the frame before the link", LENGTH))
    rotation: Matrix3 = field(default=NO_ROTATION, metadata=_about("3 x 3 rotation matrix of the end frame"))
    radius: float = field(default=0.0, metadata=_about("radius of the body around the straight line", LENGTH))
    name: str = field(default="", metadata=_about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        owner = _owner(self)
        _set(self, "translation", checks.vector(owner, "translation", self.translation))
        _set(self, "rotation", checks.rotation(owner, "rotation", self.rotation))
        _set(self, "radius", checks.number(owner, "radius", self.radius, "a length in metres, 0 or more", low=0.0))

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike, radius: float = 0.0, name: str = "") -> Link:
        """A link from a 4 x 4 transform."""
        values = np.asarray(matrix, dtype=float)
        if values.shape != (4, 4) or not np.array_equal(values[3], (0.0, 0.0, 0.0, 1.0)):
            raise checks.refuse("link", "matrix", matrix, "a 4 x 4 transform whose last row is 0, 0, 0, 1")
        return cls(values[:3, 3], values[:3, :3], radius, name)  # type: ignore[arg-type]

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """None: a link does not move."""
        return ()

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return math.hypot(*self.translation)


@dataclass(frozen=True)
class Revolute:
    """A joint that turns about an axis; limits -inf and inf make it turn without end."""

    kind: ClassVar[str] = "revolute"

    axis: Vector = field(default=Z_AXIS, metadata=_about("axis of the turn"))
    lower: float = field(default=-math.pi, metadata=_about("smallest angle", ANGLE))
    upper: float = field(default=math.pi, metadata=_about("largest angle", ANGLE))
    name: str = field(default="", metadata=_about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        owner = _owner(self)
        lower, upper = checks.limits(owner, self.lower, self.upper, "radians", endless=True)
        _set(self, "axis", checks.unit_vector(owner, "axis", self.axis))
        _set(self, "lower", lower)
        _set(self, "upper", upper)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The angle."""
        return (Coordinate("", ANGLE, self.lower, self.upper, _middle(self.lower, self.upper)),)

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return 0.0


@dataclass(frozen=True)
class Prismatic:
    """A joint that slides along an axis."""

    kind: ClassVar[str] = "prismatic"

    lower: float = field(metadata=_about("smallest stroke", LENGTH))
    upper: float = field(metadata=_about("largest stroke", LENGTH))
    axis: Vector = field(default=Z_AXIS, metadata=_about("axis of the stroke"))
    name: str = field(default="", metadata=_about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        owner = _owner(self)
        lower, upper = checks.limits(owner, self.lower, self.upper, "metres")
        _set(self, "axis", checks.unit_vector(owner, "axis", self.axis))
        _set(self, "lower", lower)
        _set(self, "upper", upper)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The stroke."""
        return (Coordinate("", LENGTH, self.lower, self.upper, _middle(self.lower, self.upper)),)

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return max(abs(self.lower), abs(self.upper))


@dataclass(frozen=True)
class Parallelogram:
    """A pantograph link: its far end swings by R(axis, q) @ link and keeps its orientation."""

    kind: ClassVar[str] = "parallelogram"

    link: Vector = field(metadata=_about("vector from the near to the far end at q = 0", LENGTH))
    axis: Vector = field(default=Z_AXIS, metadata=_about("axis of the swing"))
    lower: float = field(default=-math.pi, metadata=_about("smallest angle", ANGLE))
    upper: float = field(default=math.pi, metadata=_about("largest angle", ANGLE))
    radius: float = field(default=0.0, metadata=_about("radius of the body around the straight line", LENGTH))
    name: str = field(default="", metadata=_about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        owner = _owner(self)
        lower, upper = checks.limits(owner, self.lower, self.upper, "radians", endless=True)
        _set(self, "link", checks.vector(owner, "link", self.link))
        _set(self, "axis", checks.unit_vector(owner, "axis", self.axis))
        _set(self, "lower", lower)
        _set(self, "upper", upper)
        _set(self, "radius", checks.number(owner, "radius", self.radius, "a length in metres, 0 or more", low=0.0))

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The angle."""
        return (Coordinate("", ANGLE, self.lower, self.upper, _middle(self.lower, self.upper)),)

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return math.hypot(*self.link)


@dataclass(frozen=True)
class Section:
    """A bending piece of one or more sub-arcs.

    `length` is the constant part S_C of its length, `stretch` the range S_delta of the variable part: a fixed section
    has stretch 0, a telescopic one length 0, an extensible one both. Its coordinates are `bend`, `direction` and, when
    the length varies, the whole current `length`; the largest bend then shrinks with the variable part s to
    bend_max * s / stretch.
    """

    kind: ClassVar[str] = "section"

    length: float = field(metadata=_about("constant part of the length", LENGTH))
    bend_max: float = field(metadata=_about("largest bend, at most a full turn", ANGLE))
    stretch: float = field(default=0.0, metadata=_about("range of the variable part of the length", LENGTH))
    radius: float = field(default=0.0, metadata=_about("radius of the body around the backbone", LENGTH))
    length_weights: tuple[float, ...] = field(default=(1.0,), metadata=_about("share of the length per sub-arc"))
    bend_weights: tuple[float, ...] = field(default=(1.0,), metadata=_about("share of the bend per sub-arc"))
    twist: bool = field(default=False, metadata=_about("true for a section that is turned at its base"))
    name: str = field(default="", metadata=_about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        owner = _owner(self)
        metres = "a length in metres, 0 or more"
        _set(self, "length", checks.number(owner, "length", self.length, metres, low=0.0))
        _set(self, "stretch", checks.number(owner, "stretch", self.stretch, metres, low=0.0))
        _set(self, "radius", checks.number(owner, "radius", self.radius, metres, low=0.0))
        if self.length + self.stretch == 0.0:
            raise checks.refuse(owner, "length", self.length, "a length above 0, or a stretch above 0")
        accepted = "an angle above 0 and up to 2 pi (6.2832 radians)"
        bend_max = checks.number(owner, "bend_max", self.bend_max, accepted, low=0.0, high=2.0 * math.pi)
        if bend_max == 0.0:
            raise checks.refuse(owner, "bend_max", self.bend_max, f"{accepted}; a piece that does not bend is a Link")
        _set(self, "bend_max", bend_max)
        self._check_weights(owner)
        _set(self, "twist", checks.flag(owner, "twist", self.twist))

    def _check_weights(self, owner: str) -> None:
        accepted = "one weight per sub-arc, 0 or more, not all 0"
        for weights in ("length_weights", "bend_weights"):
            given = getattr(self, weights)
            checked = checks.numbers(owner, weights, given, accepted, low=0.0)
            if not sum(checked) > 0.0 or math.isinf(sum(checked)):
                raise checks.refuse(owner, weights, given, accepted)
            _set(self, weights, checked)
        if len(self.bend_weights) != len(self.length_weights):
            count = len(self.length_weights)
            raise checks.refuse(
                owner, "bend_weights", self.bend_weights, f"{count} weights, as many as length_weights has"
            )

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Bend, direction and, when it varies, length; the rest pose is straight at half stretch."""
        bend = Coordinate("bend", ANGLE, 0.0, self.bend_max, 0.0)
        direction = Coordinate("direction", ANGLE, -math.pi, math.pi, 0.0)
        if self.stretch == 0.0:
            return bend, direction
        longest = self.length + self.stretch
        return bend, direction, Coordinate("length", LENGTH, self.length, longest, self.length + 0.5 * self.stretch)

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return self.length + self.stretch


Element = Link | Revolute | Prismatic | Parallelogram | Section
ELEMENT_TYPES: tuple[type[Element], ...] = (Link, Revolute, Prismatic, Parallelogram, Section)


def _owner(element: Any) -> str:
    """How an element is called in a message; checks its name on the way."""
    name = checks.name(element.kind, element.name)
    return f"{element.kind} '{name}'" if name else str(element.kind)


def _set(element: Any, field_name: str, value: Any) -> None:
    object.__setattr__(element, field_name, value)
