"""Actuators that run along a section."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from arcreach import _checks as checks
from arcreach.elements.element import ANGLE, LENGTH, METRES, PLAIN, FieldChecks, about

# Forces that an actuator transmits: a tendon and a muscle only pull, a bellows only pushes, a rod does both.
PULLS, PUSHES, BOTH = "pull", "push", "both"


@dataclass(frozen=True)
class Tendon:
    """A tendon, push rod, bellows or muscle that ends at the far end of its section and passes all sections before it.

    It runs at `radius` from the backbone, at `angle` from x about z in the frame of its section, and turns about the
    backbone by `rate` radians per metre of a section at rest. With `discs` it is straight in each of that many equal
    pieces of a section. Its pull is its length inside the robot at rest minus its length now.
    """

    kind: ClassVar[str] = "tendon"

    radius: float = field(metadata=about("distance from the backbone", LENGTH))
    angle: float = field(metadata=about("angle about the backbone, from x in the frame of the section", ANGLE))
    rate: float = field(default=0.0, metadata=about("turn about the backbone in radians per metre", PLAIN))
    discs: int = field(default=0, metadata=about("straight pieces per section; 0 for a tendon in a channel", PLAIN))
    transmits: str = field(default=PULLS, metadata=about("what it transmits: pull, push or both", PLAIN))
    pull_min: float = field(default=-math.inf, metadata=about("smallest pull", LENGTH))
    pull_max: float = field(default=math.inf, metadata=about("largest pull", LENGTH))
    speed_max: float = field(default=math.inf, metadata=about("largest speed of the pull in metres per second", PLAIN))
    force_max: float = field(default=math.inf, metadata=about("largest force in newtons", PLAIN))
    stiffness: float = field(default=math.inf, metadata=about("stiffness in newtons per metre", PLAIN))
    pretension: float = field(default=0.0, metadata=about("force at rest in newtons", PLAIN))
    slack: float = field(default=0.0, metadata=about("pull that is lost before the tendon is taut", LENGTH))
    name: str = field(default="", metadata=about("name; by default tendon and a number"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        if fields.check("radius", checks.number, "a length in metres above 0", low=0.0) and self.radius == 0.0:
            fields.refuse("radius", "a length in metres above 0: a tendon on the backbone bends nothing")
        accepted = "radians from -2 pi to 2 pi; write degrees as math.radians(120) or, in a file, '120 deg'"
        fields.check("angle", checks.number, accepted, low=-2.0 * math.pi, high=2.0 * math.pi)
        fields.check("rate", checks.number, "a finite number of radians per metre")
        fields.check("discs", _count)
        fields.check("transmits", _transmits)
        limits = [fields.check(name, _limit) for name in ("pull_min", "pull_max")]
        if all(limits) and self.pull_min > min(self.pull_max, 0.0):
            fields.refuse("pull_min", "a pull of at most 0 and at most pull_max: the rest pose has the pull 0")
        elif all(limits) and self.pull_max < 0.0:
            fields.refuse("pull_max", "a pull of at least 0: the rest pose has the pull 0")
        for name in ("speed_max", "force_max", "stiffness"):
            if fields.check(name, _limit) and not getattr(self, name) > 0.0:
                fields.refuse(name, "a number above 0")
        loads = [
            fields.check("pretension", checks.number, "newtons, 0 or more", low=0.0),
            fields.check("slack", checks.number, METRES, low=0.0),
        ]
        if all(loads) and self.slack * self.pretension != 0.0:
            fields.refuse("slack", "0 for a tendon with pretension")
        fields.finish()


def _limit(owner: str, field: str, value: Any) -> float:
    """Return a float that may be infinite."""
    if isinstance(value, float) and math.isinf(value):
        return value
    return checks.number(owner, field, value, "a number, or inf for no limit")


def _transmits(owner: str, field: str, value: Any) -> str:
    if value not in (PULLS, PUSHES, BOTH):
        raise checks.refuse(owner, field, value, "'pull', 'push' or 'both'")
    return str(value)


def _count(owner: str, field: str, value: Any) -> int:
    accepted = "a whole number from 0 to 1000"
    number = checks.number(owner, field, value, accepted, 0.0, 1000.0)
    if number != int(number):
        raise checks.refuse(owner, field, value, accepted)
    return int(number)
