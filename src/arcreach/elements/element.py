"""What all elements have in common: their fields, coordinates, limits and solver variables.

A field's metadata is its one home: `quantity` is the unit family a robot file may write it in, `about` its description
in the schema. Fields that are numbers stand in the packed chain by their own names, where kernels read them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arcreach import _checks as checks
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
    """The metadata of a field."""
    return {"about": text, "quantity": quantity}


METRES = "a length in metres, 0 or more"
# Numbers of the packed chain for each type of field; texts and lists are not packed.
PACKED_TYPES: dict[str, tuple[Any, ...]] = {
    "float": (float,),
    "Vector": (float, (3,)),
    "Matrix3": (float, (3, 3)),
    "bool": (np.int64,),
}


class FieldChecks:
    """Checks the fields of an element one by one and puts plain values in their place.

    What is wrong is gathered and raised at the end, so that a user hears of every bad field at once.
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
        """Replace a field by its checked value; False where it is not accepted."""
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
        checks.raise_any(self.problems, self.error)


def packed_fields(element: Any) -> dict[str, tuple[Any, ...]]:
    """The fields of an element, or of its class, that kernels read, and the type each has in the packed chain."""
    types = {field.name: PACKED_TYPES.get(str(field.type)) for field in dataclasses.fields(element)}
    return {name: kind for name, kind in types.items() if kind is not None}


@dataclass(frozen=True)
class Element:
    """A piece of a robot."""

    kind: ClassVar[str]

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """Its name, empty for its kind and number."""

        @property
        def radius(self) -> float:
            """Radius of its body."""

        @property
        def reach(self) -> float:
            """Upper bound of the distance between both ends."""

    else:
        # Of elements without a body.
        radius = 0.0

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Its entries in a configuration: none where it does not move."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """Its rows of the packed chain, the fields of each by name; a section's arcs follow it."""
        return [{"reach": self.reach, **{name: getattr(self, name) for name in packed_fields(self)}}]

    def moves(self) -> list[dict[str, Any]]:
        """Its rows among the solver's moves, fields of `layout.MOVE` by name; coordinates count from its own first."""
        return []


@dataclass(frozen=True)
class Joint(Element):
    """An element with one coordinate, from `lower` to `upper`, and a straight body between its ends.

    `motion(row, value)` is the motion from its near to its far end, as twelve numbers. `rates(row, value, moved)` says
    how fast the far end moves and turns per unit of the coordinate: the linear, then the angular velocity, six numbers
    in the frame at the near end; `moved` is the motion at that value. Both are kernels, and `row` has the fields.
    """

    motion: ClassVar[Callable[..., Any]]
    rates: ClassVar[Callable[..., Any]]
    # The unit family of the coordinate.
    quantity: ClassVar[str] = ANGLE
    # Whether a full turn of the coordinate changes nothing.
    periodic: ClassVar[bool] = False
    # The solver's step: one that is written out for a kind, or the one that serves every joint.
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
        """Its angle or its stroke; at rest it is in the middle of its limits."""
        middle = 0.0 if math.isinf(self.lower) else 0.5 * self.lower + 0.5 * self.upper
        return (Coordinate("", self.quantity, self.lower, self.upper, middle),)

    def rows(self) -> list[dict[str, Any]]:
        """Its row of the packed chain."""
        shift, turn = self.largest_rates
        [own] = super().rows()
        return [{**own, "periodic": self.periodic, "largest_shift": shift, "largest_turn": turn}]

    def moves(self) -> list[dict[str, Any]]:
        """Its coordinate is its solver variable."""
        own = {"kind": self.step, "width": 1, "coordinate": 0, "about": layout.ABOUT_Z, "axis": self.axis}
        limits = {"lower": self.lower, "upper": self.upper, "periodic": self.periodic}
        return [{**own, **limits, "stroke": self.quantity == LENGTH}]
