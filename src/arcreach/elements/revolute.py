"""A joint that turns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from arcreach import _checks as checks
from arcreach._jit import kernel
from arcreach._typing import Motion, Record, Vector, Velocity
from arcreach.elements.element import ANGLE, Z_AXIS, FieldChecks, Joint, about
from arcreach.kernels.chain import layout
from arcreach.kernels.math.transforms import rotation
from arcreach.kernels.math.trigonometry import sincos


@kernel
def motion(row: Record, value: float) -> Motion:
    """Return the turn about the axis. Source: [FRD] eq. 5."""
    s, c = sincos(value)
    return rotation(row.axis[0], row.axis[1], row.axis[2], s, c)


@kernel
def rates(row: Record, value: float, moved: Motion) -> Velocity:
    """Return the velocities of a turn about the axis. Source: derived."""
    return 0.0, 0.0, 0.0, row.axis[0], row.axis[1], row.axis[2]


@dataclass(frozen=True)
class Revolute(Joint):
    """A joint that turns about an axis; limits -inf and inf make it continuous."""

    kind: ClassVar[str] = "revolute"
    motion, rates = staticmethod(motion), staticmethod(rates)
    periodic: ClassVar[bool] = True
    step: ClassVar[int] = layout.TURN

    axis: Vector = field(default=Z_AXIS, metadata=about("axis of the turn"))
    lower: float = field(default=-math.pi, metadata=about("smallest angle", ANGLE))
    upper: float = field(default=math.pi, metadata=about("largest angle", ANGLE))
    name: str = field(default="", metadata=about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        fields.check("axis", checks.unit_vector)
        fields.limits("radians", continuous=True)
        fields.finish()

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return 0.0

    @property
    def largest_rates(self) -> tuple[float, float]:
        """Upper bounds of both velocities of `rates`."""
        return 0.0, 1.0

    def moving(self) -> list[dict[str, Any]]:
        """Return one row: a turn about x, y or z, or about another axis, which the solver rotates onto z."""
        [row] = super().moving()
        if self.axis in layout.COORDINATE_AXES:
            row["about"] = layout.COORDINATE_AXES.index(self.axis)
        return [row]
