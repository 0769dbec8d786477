"""Obstacles in space. Lengths are in metres, points and directions in the base frame of the robot.

Every obstacle has a `name` and a `margin`: a distance by which it counts as larger than it is. A field's metadata is
its one home: `quantity` is the unit family a scene file may write it in, `about` its description.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from arcreach import _checks as checks
from arcreach._checks import Matrix3, Vector
from arcreach.elements import LENGTH, NO_ROTATION, PLAIN
from arcreach.scenes._checks import IN_RANGE, LARGEST, SMALLEST, FieldChecks

ABOVE_ZERO = "a length in metres above 0"


def about(text: str, quantity: str = PLAIN) -> dict[str, str]:
    """The metadata of a field."""
    return {"about": text, "quantity": quantity}


def margin_field() -> Any:
    """The field `margin`, the same for every obstacle."""
    return field(default=0.0, metadata=about("distance by which the obstacle counts as larger than it is", LENGTH))


def name_field() -> Any:
    """The field `name`, the same for every obstacle."""
    return field(default="", metadata=about("name; by default the kind and a number"))


@dataclass(frozen=True)
class Sphere:
    """A ball."""

    kind: ClassVar[str] = "sphere"

    centre: Vector = field(metadata=about("centre", LENGTH))
    radius: float = field(metadata=about("radius; 0 makes it a point", LENGTH))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        fields.check_point("centre")
        fields.check_length("radius")
        fields.finish()


@dataclass(frozen=True)
class Capsule:
    """All points within a radius of the segment from a to b: a cylinder with round ends."""

    kind: ClassVar[str] = "capsule"

    a: Vector = field(metadata=about("first end of the segment", LENGTH))
    b: Vector = field(metadata=about("second end of the segment", LENGTH))
    radius: float = field(metadata=about("radius; 0 makes it a line", LENGTH))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        fields.check_point("a")
        fields.check_point("b")
        fields.check_length("radius")
        fields.finish()


@dataclass(frozen=True)
class Box:
    """A solid box of a size (x, y, z) around a centre, turned by a rotation; a margin rounds its edges."""

    kind: ClassVar[str] = "box"

    size: Vector = field(metadata=about("edge lengths along the box's own x, y and z", LENGTH))
    centre: Vector = field(default=(0.0, 0.0, 0.0), metadata=about("centre", LENGTH))
    rotation: Matrix3 = field(default=NO_ROTATION, metadata=about("3 x 3 rotation matrix of the box"))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        if fields.check("size", checks.vector):
            if min(self.size) <= 0.0:
                fields.refuse("size", "three lengths in metres, each above 0")
            elif not SMALLEST <= min(self.size) <= max(self.size) <= LARGEST:
                fields.refuse("size", IN_RANGE)
        fields.check_point("centre")
        fields.check("rotation", checks.rotation)
        fields.finish()


@dataclass(frozen=True)
class HalfSpace:
    """Everything behind a plane: a wall or a floor. `normal` points out of the solid, towards the free side."""

    kind: ClassVar[str] = "half-space"

    normal: Vector = field(metadata=about("direction out of the solid"))
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata=about("any point of the plane", LENGTH))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        fields.check("normal", checks.unit_vector)
        fields.check_point("point")
        fields.finish()
