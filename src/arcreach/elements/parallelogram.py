"""A joint that swings a link; the far end keeps its orientation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from arcreach import _checks as checks
from arcreach._jit import kernel
from arcreach._typing import Motion, Record, Vector, Velocity
from arcreach.elements.element import ANGLE, LENGTH, METRES, Z_AXIS, FieldChecks, Joint, about
from arcreach.kernels.chain import layout
from arcreach.kernels.math.transforms import rotation, translation, turn
from arcreach.kernels.math.trigonometry import sincos


@kernel
def motion(row: Record, value: float) -> Motion:
    """Return the translation by the link, rotated about the axis. Source: [FRD] eq. 5."""
    s, c = sincos(value)
    turned = rotation(row.axis[0], row.axis[1], row.axis[2], s, c)
    x, y, z = turn(turned, row.link[0], row.link[1], row.link[2])
    return translation(x, y, z)


@kernel
def rates(row: Record, value: float, moved: Motion) -> Velocity:
    """Return the velocities of the far end, which swings about the near end without turning. Source: derived."""
    x, y, z = moved[3], moved[7], moved[11]
    a, b, c = row.axis[0], row.axis[1], row.axis[2]
    return b * z - c * y, c * x - a * z, a * y - b * x, 0.0, 0.0, 0.0


@dataclass(frozen=True)
class Parallelogram(Joint):
    """A pantograph link: its far end is at R(axis, q) @ link and keeps its orientation."""

    kind: ClassVar[str] = "parallelogram"
    motion, rates = staticmethod(motion), staticmethod(rates)
    periodic: ClassVar[bool] = True
    step: ClassVar[int] = layout.SWING

    link: Vector = field(metadata=about("vector from the near to the far end at q = 0", LENGTH))
    axis: Vector = field(default=Z_AXIS, metadata=about("axis of the swing"))
    lower: float = field(default=-math.pi, metadata=about("smallest angle", ANGLE))
    upper: float = field(default=math.pi, metadata=about("largest angle", ANGLE))
    radius: float = field(default=0.0, metadata=about("radius of the body around the straight line", LENGTH))
    name: str = field(default="", metadata=about("name; by default the kind and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        fields.check("link", checks.vector)
        fields.check("axis", checks.unit_vector)
        fields.limits("radians", continuous=True)
        fields.check("radius", checks.number, METRES, low=0.0)
        fields.finish()

    @property
    def reach(self) -> float:
        """Upper bound of the distance between both ends."""
        return math.hypot(*self.link)

    @property
    def largest_rates(self) -> tuple[float, float]:
        """Upper bounds of both velocities of `rates`."""
        return self.reach, 0.0

    def moving(self) -> list[dict[str, Any]]:
        """Return one row: a swing of the link."""
        [row] = super().moving()
        return [{**row, "link": self.link}]
