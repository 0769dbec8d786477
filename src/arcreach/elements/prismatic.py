"""A joint that slides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from arcreach import _checks as checks
from arcreach._jit import kernel
from arcreach._typing import Motion, Record, Vector, Velocity
from arcreach.elements.element import LENGTH, METRES, Z_AXIS, FieldChecks, Joint, about
from arcreach.kernels.chain import layout
from arcreach.kernels.math.transforms import translation


@kernel
def motion(row: Record, value: float) -> Motion:
    """Return the shift along the axis. Source: [FRD] eq. 5."""
    return translation(value * row.axis[0], value * row.axis[1], value * row.axis[2])


@kernel
def rates(row: Record, value: float, moved: Motion) -> Velocity:
    """Return the velocities of a shift along the axis. Source: derived."""
    return row.axis[0], row.axis[1], row.axis[2], 0.0, 0.0, 0.0


@dataclass(frozen=True)
class Prismatic(Joint):
    """A joint that slides along an axis."""

    kind: ClassVar[str] = "prismatic"
    motion, rates = staticmethod(motion), staticmethod(rates)
    quantity: ClassVar[str] = LENGTH
    step: ClassVar[int] = layout.SLIDE

    lower: float = field(metadata=about("smallest stroke", LENGTH))
    upper: float = field(metadata=about("largest stroke", LENGTH))
    axis: Vector = field(default=Z_AXIS, metadata=about("axis of the stroke"))
    radius: float = field(default=0.0, metadata=about("radius of the body around the straight line", LENGTH))
    name: str = field(default="", metadata=about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        fields.limits("metres")
        fields.check("axis", checks.unit_vector)
        fields.check("radius", checks.number, METRES, low=0.0)
        fields.finish()

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return max(abs(self.lower), abs(self.upper))

    @property
    def largest_rates(self) -> tuple[float, float]:
        """Upper bounds of both velocities of `rates`."""
        return 1.0, 0.0
