"""`Section`: an element that bends."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from arcreach import _checks as checks
from arcreach.elements.element import ANGLE, LENGTH, METRES, Z_AXIS, Coordinate, Element, FieldChecks, about
from arcreach.elements.tendon import Tendon
from arcreach.kernels.chain import layout


@dataclass(frozen=True)
class Section(Element):
    """A bending piece of one or more sub-arcs.

    `length` is the constant part S_C of its length, `stretch` the range S_delta of the variable part: a fixed section
    has stretch 0, a telescopic one length 0, an extensible one both. Its coordinates are `bend`, `direction` and, when
    the length varies, the whole current `length`; the largest bend then shrinks with the variable part s to
    bend_max * s / stretch, unless `coupled` is false.
    """

    kind: ClassVar[str] = "section"

    length: float = field(metadata=about("constant part of the length", LENGTH))
    bend_max: float = field(metadata=about("largest bend, at most a full turn", ANGLE))
    stretch: float = field(default=0.0, metadata=about("range of the variable part of the length", LENGTH))
    radius: float = field(default=0.0, metadata=about("radius of the body around the backbone", LENGTH))
    length_weights: tuple[float, ...] = field(default=(1.0,), metadata=about("share of the length per sub-arc"))
    bend_weights: tuple[float, ...] = field(default=(1.0,), metadata=about("share of the bend per sub-arc"))
    twist: bool = field(default=False, metadata=about("true for a section that is turned at its base"))
    name: str = field(default="", metadata=about("name; by default the kind and a number"))
    coupled: bool = field(default=True, metadata=about("false if the largest bend is the same at every length"))
    bending_stiffness: float = field(default=0.0, metadata=about("EI in newton square metres, for elastic equilibria"))
    axial_stiffness: float = field(default=0.0, metadata=about("EA in newtons, for elastic equilibria"))
    rest_bend: tuple[float, ...] = field(default=(0.0, 0.0), metadata=about("bend towards x and y without load", ANGLE))
    tendons: tuple[Tendon, ...] = field(default=(), metadata=about("tendons that end at this section"))

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        fields = FieldChecks(self)
        lengths = [fields.check(name, checks.number, METRES, low=0.0) for name in ("length", "stretch")]
        if all(lengths):
            self._check_length(fields)
        accepted = "an angle above 0 and up to 2 pi (6.2832 radians)"
        if isinstance(self.bend_max, int | float) and 2.0 * math.pi < self.bend_max <= 360.0:
            accepted += f"; {self.bend_max:g} degrees are {math.radians(self.bend_max):.4f} radians"
        if fields.check("bend_max", checks.number, accepted, low=0.0, high=2.0 * math.pi) and self.bend_max == 0.0:
            fields.refuse("bend_max", f"{accepted}; a piece that does not bend is a Link")
        fields.check("radius", checks.number, METRES, low=0.0)
        self._check_weights(fields)
        for name in ("twist", "coupled"):
            fields.check(name, checks.flag)
        for name in ("bending_stiffness", "axial_stiffness"):
            fields.check(name, checks.number, "a finite number, 0 or more", low=0.0)
        two = "two finite numbers, the bend towards x and towards y"
        if fields.check("rest_bend", checks.numbers, two) and len(self.rest_bend) != 2:
            fields.refuse("rest_bend", two)
        fields.check("tendons", _tendons)
        fields.finish()

    def _check_length(self, fields: FieldChecks) -> None:
        longest = self.length + self.stretch
        if longest == 0.0:
            fields.refuse("length", "a length above 0, or a stretch above 0")
        elif math.isinf(longest):
            fields.refuse("stretch", f"a stretch whose sum with length = {self.length!r} is a finite number")
        elif self.stretch > 0.0 and longest == self.length:
            fields.refuse("stretch", f"0, or a stretch large enough to change length = {self.length!r} when added")

    def _check_weights(self, fields: FieldChecks) -> None:
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

    def bend_limit(self, share: Any) -> Any:
        """Return the largest bend at a share, or an array of shares, of the stretch."""
        return self.bend_max * share if self.coupled and self.stretch > 0.0 else self.bend_max

    def rows(self) -> list[dict[str, Any]]:
        """Return its row of the packed chain and one per sub-arc."""
        [own] = super().rows()
        lengths = np.divide(self.length_weights, sum(self.length_weights))
        bends = np.divide(self.bend_weights, sum(self.bend_weights))
        before = np.concatenate([[0.0], np.cumsum(bends)[:-1]])
        arcs = [
            {"kind": layout.ARC, "length_share": length, "bend_share": bend, "bend_before": share}
            for length, bend, share in zip(lengths, bends, before, strict=True)
        ]
        return [{**own, "arcs": len(arcs)}, *arcs]

    def moving(self) -> list[dict[str, Any]]:
        """Return one row: bend vector and share of the stretch; with `twist` two rows: a turn, and bend and share."""
        common = {"length": self.length, "stretch": self.stretch, "bend_max": self.bend_max, "coordinate": 0}
        common["slope"] = self.bend_limit(1.0) - self.bend_limit(0.0)
        lengths = 1 if self.stretch else 0
        if not self.twist:
            return [{"kind": layout.BEND, "width": 2 + lengths, **common}]
        continuous = {"lower": -math.inf, "upper": math.inf, "periodic": True, "axis": Z_AXIS, "about": layout.ABOUT_Z}
        return [
            {"kind": layout.TURN, "width": 1, "coordinate": 1, **continuous},
            {"kind": layout.PLANAR, "width": 1 + lengths, "lower": 0.0, "upper": self.bend_max, **common},
        ]

    def held(self, at: tuple[float, ...]) -> HeldSection:
        """Return this section held at the values of all its coordinates."""
        return HeldSection(**vars(self), at=at)


@dataclass(frozen=True)
class HeldSection(Section):
    """A section that is held at the coordinates `at`; it has no solver variables, so solvers treat it as a link."""

    at: tuple[float, ...] = field(default=(), metadata=about("values of its coordinates"))

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Its coordinates, with limits of zero width."""
        own = zip(super().coordinates, self.at, strict=True)
        return tuple(replace(coordinate, lower=x, upper=x, neutral=x) for coordinate, x in own)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the section, with the values it is held at."""
        own, *arcs = super().rows()
        return [{**own, "held": 1, "held_at": (*self.at, 0.0)[:3]}, *arcs]

    def moving(self) -> list[dict[str, Any]]:
        """Return no rows: a held section has no solver variables."""
        return []


def _tendons(owner: str, field: str, value: Any) -> tuple[Tendon, ...]:
    accepted = "a list of Tendon"
    if isinstance(value, Tendon) or not isinstance(value, Iterable):
        raise checks.refuse(owner, field, value, accepted)
    tendons = tuple(value)
    for i, tendon in enumerate(tendons):
        if not isinstance(tendon, Tendon):
            raise checks.refuse(owner, f"{field}[{i}]", tendon, accepted)
    return tendons
