"""Obstacles in space. Lengths are in metres, points and directions in the base frame of the robot.

Every obstacle has a `name` and a `margin`, a distance by which it is enlarged. Scene files have an entry per field;
its metadata holds a description (`about`) and the unit family (`quantity`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from arcreach import _checks as checks
from arcreach._typing import Array, Integers, Matrix3, Vector
from arcreach.elements import LENGTH, NO_ROTATION
from arcreach.elements.element import METRES, FieldChecks, about
from arcreach.errors import SceneError
from arcreach.kernels.clearance import shapes as layout

# Lengths in metres. Kernels multiply up to six of them, and outside these limits a product could overflow or vanish.
SMALLEST, LARGEST = 1e-50, 1e50
IN_RANGE = f"lengths from {SMALLEST:g} to {LARGEST:g} m"

# Triangles of a box, as indices of its corners, anticlockwise seen from outside.
_BOX_FACES = np.array(
    [
        (0, 1, 3),
        (0, 3, 2),
        (4, 7, 5),
        (4, 6, 7),
        (0, 5, 1),
        (0, 4, 5),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 7, 3),
        (1, 5, 7),
    ]
)


class ShapeChecks(FieldChecks):
    """Checks the fields of an obstacle, its name and margin first, and raises all problems as one `SceneError`."""

    error = SceneError

    def __init__(self, shape: Any) -> None:
        super().__init__(shape)
        if hasattr(shape, "margin"):
            self.check_length("margin")

    def check_length(self, field: str) -> None:
        """Check a length that may be 0."""
        if self.check(field, checks.number, METRES, low=0.0):
            value = getattr(self.element, field)
            if value != 0.0 and not SMALLEST <= value <= LARGEST:
                self.refuse(field, f"0 or {IN_RANGE}")

    def check_point(self, field: str) -> None:
        """Check a point."""
        if self.check(field, checks.vector) and max(map(abs, getattr(self.element, field))) > LARGEST:
            self.refuse(field, f"coordinates up to {LARGEST:g} m")


def margin_field() -> Any:
    """Return the field `margin`, the same for every obstacle."""
    return field(default=0.0, metadata=about("distance by which the obstacle is enlarged", LENGTH))


def name_field() -> Any:
    """Return the field `name`, the same for every obstacle."""
    return field(default="", metadata=about("name; by default the kind and a number"))


@dataclass(frozen=True)
class Sphere:
    """A solid sphere."""

    kind: ClassVar[str] = "sphere"

    centre: Vector = field(metadata=about("centre", LENGTH))
    radius: float = field(metadata=about("radius; 0 makes it a point", LENGTH))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = ShapeChecks(self)
        fields.check_point("centre")
        fields.check_length("radius")
        fields.finish()

    def record(self) -> dict[str, Any]:
        """Return the fields of `layout.SHAPE`, as kernels read them."""
        return {"kind": layout.SPHERE, "position": self.centre, "radius": self.margin + self.radius}

    @property
    def bounding_sphere(self) -> tuple[Array, float]:
        """Centre and radius of a sphere around the obstacle, margin included."""
        return np.array(self.centre), self.margin + self.radius


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
        fields = ShapeChecks(self)
        fields.check_point("a")
        fields.check_point("b")
        fields.check_length("radius")
        fields.finish()

    def record(self) -> dict[str, Any]:
        """Return the fields of `layout.SHAPE`, as kernels read them."""
        along = np.subtract(self.b, self.a)
        return {"kind": layout.CAPSULE, "position": self.a, "along": along, "radius": self.margin + self.radius}

    @property
    def bounding_sphere(self) -> tuple[Array, float]:
        """Centre and radius of a sphere around the obstacle, margin included."""
        half = 0.5 * np.subtract(self.b, self.a)
        return self.a + half, float(np.linalg.norm(half)) + (self.margin + self.radius)


@dataclass(frozen=True)
class Box:
    """A solid, rotated box of edge lengths `size` around a centre; a margin rounds its edges."""

    kind: ClassVar[str] = "box"

    size: Vector = field(metadata=about("edge lengths along the box's own x, y and z", LENGTH))
    centre: Vector = field(default=(0.0, 0.0, 0.0), metadata=about("centre", LENGTH))
    rotation: Matrix3 = field(default=NO_ROTATION, metadata=about("3 x 3 rotation matrix of the box"))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = ShapeChecks(self)
        if fields.check("size", checks.vector):
            if min(self.size) <= 0.0:
                fields.refuse("size", "three lengths in metres, each above 0")
            elif not SMALLEST <= min(self.size) <= max(self.size) <= LARGEST:
                fields.refuse("size", IN_RANGE)
        fields.check_point("centre")
        fields.check("rotation", checks.rotation)
        fields.finish()

    def record(self) -> dict[str, Any]:
        """Return the fields of `layout.SHAPE`, as kernels read them."""
        half = 0.5 * np.asarray(self.size)
        return {"kind": layout.BOX, "position": self.centre, "rotation": self.rotation, "extent": half}

    @property
    def bounding_sphere(self) -> tuple[Array, float]:
        """Centre and radius of a sphere around the obstacle, margin included."""
        return np.array(self.centre), float(np.linalg.norm(0.5 * np.asarray(self.size))) + self.margin

    @property
    def surface(self) -> tuple[Array, Integers]:
        """Corners (8, 3) in the base frame and triangles (12, 3), without the margin."""
        signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return np.asarray(self.centre) + (signs * self.size) @ np.transpose(self.rotation), _BOX_FACES


@dataclass(frozen=True)
class HalfSpace:
    """The solid on one side of a plane: a wall or a floor. `normal` points out of it, to the free side."""

    kind: ClassVar[str] = "half-space"

    normal: Vector = field(metadata=about("direction out of the solid"))
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata=about("any point of the plane", LENGTH))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = ShapeChecks(self)
        fields.check("normal", checks.unit_vector)
        fields.check_point("point")
        fields.finish()

    def record(self) -> dict[str, Any]:
        """Return the fields of `layout.SHAPE`, as kernels read them."""
        return {"kind": layout.HALF_SPACE, "position": self.point, "along": self.normal}

    @property
    def bounding_sphere(self) -> tuple[Array, float]:
        """Centre and radius of a sphere around the obstacle, margin included."""
        return np.array(self.point), layout.BOUNDLESS
