"""Base classes of elements.

Robot files and their schema are generated from the dataclass fields, whose metadata holds a description (`about`) and
the unit family (`quantity`). Kernels read numeric fields from the packed chain by the same names.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arcreach import _checks as checks
from arcreach._text import number
from arcreach._typing import Matrix3, Vector
from arcreach.errors import RobotError, SceneError
from arcreach.kernels.chain import layout

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


def about(text: str, quantity: str = PLAIN) -> dict[str, str]:
    """Return the metadata of a field."""
    return {"about": text, "quantity": quantity}


# Limits of an angle between these, in radians, may be degrees: few joints make more than four turns, and few have
# limits beyond 720 degrees.
MANY_TURNS = 4.0 * math.tau
MOST_DEGREES = 720.0
METRES = "a length in metres, 0 or more"
# Packed type of each field type; strings and lists are not packed.
PACKED_TYPES: dict[str, tuple[Any, ...]] = {
    "float": (float,),
    "Vector": (float, (3,)),
    "Matrix3": (float, (3, 3)),
    "bool": (np.int64,),
}


class FieldChecks:
    """Checks the fields of an element one by one and replaces them by plain values.

    Problems are gathered; `finish` raises them together.
    """

    error: ClassVar[type[RobotError | SceneError]] = RobotError

    def __init__(self, element: Any) -> None:
        self.element = element
        self.owner = str(element.kind)
        self.problems: list[str] = []
        with checks.gathered(self.problems):
            name = "" if element.name is checks.UNKNOWN else checks.name(self.owner, element.name)
            self.owner += f" '{name}'" if name else ""

    def check(self, field_name: str, check: Callable[..., Any], *accepted: Any, **bounds: float) -> bool:
        """Replace a field by its checked value; return whether it is accepted."""
        given = getattr(self.element, field_name)
        if given is checks.UNKNOWN:
            return False
        try:
            value = check(self.owner, field_name, given, *accepted, **bounds)
        except (RobotError, SceneError) as error:
            self.problems += error.problems
            return False
        object.__setattr__(self.element, field_name, value)
        return True

    def limits(self, unit: str, continuous: bool = False) -> None:
        """Check `lower` and `upper` together."""
        if self.element.lower is checks.UNKNOWN or self.element.upper is checks.UNKNOWN:
            return
        with checks.gathered(self.problems):
            lower, upper = checks.limits(self.owner, self.element.lower, self.element.upper, unit, continuous)
            object.__setattr__(self.element, "lower", lower)
            object.__setattr__(self.element, "upper", upper)
            self._ask_for_degrees(unit, lower, upper)

    def _ask_for_degrees(self, unit: str, lower: float, upper: float) -> None:
        """Warn if limits look like degrees: whole or half numbers, and many turns if they are radians."""
        largest = max(abs(lower), abs(upper))
        if unit == "radians" and MANY_TURNS < largest <= MOST_DEGREES and not (lower % 0.5 or upper % 0.5):
            turns = number(largest / math.tau, 2)
            checks.warn(
                f"{self.owner}: hint: limits {lower:g} to {upper:g} are up to {turns} turns; "
                "angles are radians: were degrees meant?"
            )

    def refuse(self, field_name: str, accepted: str) -> None:
        """Note a problem of a field; `accepted` completes the message."""
        self.problems += checks.refuse(self.owner, field_name, getattr(self.element, field_name), accepted).problems

    def finish(self) -> None:
        """Raise all problems as one error, if there are any."""
        checks.raise_any(self.problems, self.error)


def packed_fields(element: Any) -> dict[str, tuple[Any, ...]]:
    """Return the fields of an element or its class that kernels read, with their packed types."""
    types = {field.name: PACKED_TYPES.get(str(field.type)) for field in dataclasses.fields(element)}
    return {name: kind for name, kind in types.items() if kind is not None}


@dataclass(frozen=True)
class Element:
    """A piece of a robot."""

    kind: ClassVar[str]

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """Its name; empty for the default, its kind and number."""

        @property
        def radius(self) -> float:
            """Radius of its body in metres."""

        @property
        def reach(self) -> float:
            """Upper bound of the distance between both ends, in metres."""

    else:
        # Default for elements without a body.
        radius = 0.0

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Its entries in a configuration; none if it does not move."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """Return its rows of the packed chain, fields by name; the sub-arcs of a section follow it."""
        return [{"reach": self.reach, **{name: getattr(self, name) for name in packed_fields(self)}}]

    def moving(self) -> list[dict[str, Any]]:
        """Return its rows of the solver table, fields of `layout.MOVING`; `coordinate` counts from its first."""
        return []


@dataclass(frozen=True)
class Joint(Element):
    """An element with one coordinate, from `lower` to `upper`, and a straight body between its ends.

    `motion(row, value)` is the transform from its near to its far end, as twelve numbers. `rates(row, value, moved)` is
    the linear and angular velocity of the far end per unit of the coordinate, six numbers in the frame at the near end;
    `moved` is the transform at that value. Both are kernels; `row` is the joint's row of the packed chain.
    """

    motion: ClassVar[Callable[..., Any]]
    rates: ClassVar[Callable[..., Any]]
    # The unit family of the coordinate.
    quantity: ClassVar[str] = ANGLE
    # True if a full turn of the coordinate leaves the pose unchanged.
    periodic: ClassVar[bool] = False
    # Code of the solver step: one specialised to a kind of joint, or the general one.
    step: ClassVar[int] = layout.JOINT

    if TYPE_CHECKING:

        @property
        def axis(self) -> Vector:
            """Unit vector that it turns about or slides along."""

        @property
        def lower(self) -> float:
            """Lower limit of the coordinate."""

        @property
        def upper(self) -> float:
            """Upper limit of the coordinate."""

        @property
        def largest_rates(self) -> tuple[float, float]:
            """Upper bounds of both velocities of `rates`: metres and radians per unit of the coordinate."""

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Its angle or its stroke; the rest value is the middle of the limits, 0 for a continuous joint."""
        middle = 0.0 if math.isinf(self.lower) else 0.5 * self.lower + 0.5 * self.upper
        return (Coordinate("", self.quantity, self.lower, self.upper, middle),)

    def rows(self) -> list[dict[str, Any]]:
        """Return its row of the packed chain."""
        shift, turn = self.largest_rates
        [own] = super().rows()
        return [{**own, "periodic": self.periodic, "largest_shift": shift, "largest_turn": turn}]

    def moving(self) -> list[dict[str, Any]]:
        """Return one row: the coordinate is the solver variable."""
        own = {"kind": self.step, "width": 1, "coordinate": 0, "about": layout.ABOUT_Z, "axis": self.axis}
        limits = {"lower": self.lower, "upper": self.upper, "periodic": self.periodic}
        return [{**own, **limits, "stroke": self.quantity == LENGTH}]
