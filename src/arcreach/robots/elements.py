"""The pieces a robot is made of. Each says which coordinates it has and where their limits lie.

A field's metadata is its one home: `quantity` is the unit family a robot file may write it in, `about` its description
in the schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arcreach.errors import RobotError
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


METRES = "a length in metres, 0 or more"


class _FieldChecks:
    """Checks the fields of an element one by one and puts plain values in their place.

    What is wrong is gathered and raised at the end, so that a user hears of every bad field at once.
    """

    def __init__(self, element: Any) -> None:
        self.element = element
        self.owner = str(element.kind)
        self.problems: list[str] = []
        with checks.gathered(self.problems):
            name = "" if element.name is checks.UNKNOWN else checks.name(self.owner, element.name)
            self.owner += f" '{name}'" if name else ""

    def check(self, field_name: str, check: Callable[..., Any], *accepted: Any, **bounds: float) -> bool:
        """Replace a field by its checked value; False where it is not accepted."""
        given = getattr(self.element, field_name)
        if given is checks.UNKNOWN:
            return False
        try:
            value = check(self.owner, field_name, given, *accepted, **bounds)
        except RobotError as error:
            self.problems += error.problems
            return False
        object.__setattr__(self.element, field_name, value)
        return True

    def limits(self, unit: str, endless: bool = False) -> None:
        """Check `lower` and `upper` together."""
        if self.element.lower is checks.UNKNOWN or self.element.upper is checks.UNKNOWN:
            return
        with checks.gathered(self.problems):
            lower, upper = checks.limits(self.owner, self.element.lower, self.element.upper, unit, endless)
            object.__setattr__(self.element, "lower", lower)
            object.__setattr__(self.element, "upper", upper)

    def refuse(self, field_name: str, accepted: str) -> None:
        """Note that a field does not fit the others."""
        self.problems += checks.refuse(self.owner, field_name, getattr(self.element, field_name), accepted).problems

    def finish(self) -> None:
        """Raise what was found, if anything."""
        checks.raise_any(self.problems)


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
        fields = _FieldChecks(self)
        fields.check("translation", checks.vector)
        fields.check("rotation", checks.rotation)
        fields.check("radius", checks.number, METRES, low=0.0)
        fields.finish()

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike, radius: float = 0.0, name: str = "") -> Link:
        """A link from a 4 x 4 transform."""
        values = checks.real_array(matrix)
        if values is None or values.shape != (4, 4) or not np.array_equal(values[3], (0.0, 0.0, 0.0, 1.0)):
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
        fields = _FieldChecks(self)
        fields.check("axis", checks.unit_vector)
        fields.limits("radians", endless=True)
        fields.finish()

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
    radius: float = field(default=0.0, metadata=_about("radius of the body around the straight line", LENGTH))
    name: str = field(default="", metadata=_about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = _FieldChecks(self)
        fields.limits("metres")
        fields.check("axis", checks.unit_vector)
        fields.check("radius", checks.number, METRES, low=0.0)
        fields.finish()

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
        fields = _FieldChecks(self)
        fields.check("link", checks.vector)
        fields.check("axis", checks.unit_vector)
        fields.limits("radians", endless=True)
        fields.check("radius", checks.number, METRES, low=0.0)
        fields.finish()

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
        fields = _FieldChecks(self)
        lengths = [fields.check(name, checks.number, METRES, low=0.0) for name in ("length", "stretch")]
        if all(lengths):
            self._check_length(fields)
        accepted = "an angle above 0 and up to 2 pi (6.2832 radians)"
        if fields.check("bend_max", checks.number, accepted, low=0.0, high=2.0 * math.pi) and self.bend_max == 0.0:
            fields.refuse("bend_max", f"{accepted}; a piece that does not bend is a Link")
        fields.check("radius", checks.number, METRES, low=0.0)
        self._check_weights(fields)
        fields.check("twist", checks.flag)
        fields.finish()

    def _check_length(self, fields: _FieldChecks) -> None:
        longest = self.length + self.stretch
        if longest == 0.0:
            fields.refuse("length", "a length above 0, or a stretch above 0")
        elif math.isinf(longest):
            fields.refuse("stretch", f"a stretch whose sum with length = {self.length!r} is a finite number")
        elif self.stretch > 0.0 and longest == self.length:
            fields.refuse("stretch", f"0, or a stretch large enough to change length = {self.length!r} when added")

    def _check_weights(self, fields: _FieldChecks) -> None:
        good = [
            fields.check(name, checks.numbers, "one weight per sub-arc, 0 or more, not all 0", low=0.0)
            for name in ("length_weights", "bend_weights")
        ]
        if not all(good):
            return
        for name in ("length_weights", "bend_weights"):
            total = sum(getattr(self, name))
            if total == 0.0 or math.isinf(total):
                fields.refuse(name, "one weight per sub-arc, not all 0, with a finite sum")
        if len(self.bend_weights) != len(self.length_weights):
            fields.refuse("bend_weights", f"{len(self.length_weights)} weights, as many as length_weights has")

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
JOINT_TYPES = (Revolute, Prismatic, Parallelogram)
ELEMENT_TYPES: tuple[type[Element], ...] = (Link, Revolute, Prismatic, Parallelogram, Section)
