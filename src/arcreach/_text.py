"""Format lengths, angles, times and counts for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Units with their sizes, largest first. A value is written in the largest unit that does not exceed it.
LENGTHS = ((1e3, "km"), (1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))
_RADIANS = ((1.0, "rad"), (1e-3, "mrad"), (1e-6, "µrad"), (1e-9, "nrad"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
# Radians. Larger angles are written in degrees, smaller ones in mrad and below, as tolerances are given.
_DEGREES_FROM = 0.01


def number(value: float, digits: int = 3) -> str:
    """Return a number with `digits` significant digits and no exponent."""
    if not math.isfinite(value):
        return f"{value}"
    rounded = float(f"{value:.{digits - 1}e}")
    if rounded == 0.0:
        return "0"
    decimals = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)
    text = f"{rounded:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def length(metres: float, digits: int = 3) -> str:
    """Return a length in a unit from nm to km."""
    return _with_unit(metres, digits, LENGTHS, "mm")


def angle(radians: float, digits: int = 3) -> str:
    """Return an angle in degrees, or in mrad, µrad or nrad if it is small."""
    if radians == 0.0 or not abs(radians) < _DEGREES_FROM:
        return f"{number(math.degrees(radians), digits)}°"
    return _with_unit(radians, digits, _RADIANS, "mrad")


def seconds(value: float, digits: int = 3) -> str:
    """Return a duration in a unit from ns to s; in minutes and seconds from two minutes."""
    if value >= 120.0 and math.isfinite(value):
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest} s"
    return _with_unit(value, digits, _TIMES, "s")


def count(n: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: `1 start`, `2 starts`; `plural` if adding an s does not form it."""
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """Return the first `most` names, and dots if there are more."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def errors(position_error: float, angle_error: float) -> str:
    """Return position and angle error; an angle of exactly 0 is omitted, since no orientation was requested.

    The angle is in rad, mrad and below, never in degrees, so that errors compare with each other and with tolerances.
    """
    orientation = f", {_with_unit(angle_error, 3, _RADIANS, 'mrad')}" if angle_error != 0.0 else ""
    return length(position_error) + orientation


def coordinate(value: float, quantity: str) -> str:
    """Return a coordinate in degrees or millimetres with six digits."""
    if math.isinf(value):
        return "no limit"
    # Six decimals, 17 nrad and 1 nm: what solvers leave around 0, below any tolerance of use, is written as 0.
    if quantity == "angle":
        return f"{number(round(math.degrees(value), 6), 6)}°"
    return f"{number(round(value * 1e3, 6), 6)} mm"


def coordinate_lines(names: Sequence[str], quantities: Sequence[str], values: Sequence[float]) -> list[str]:
    """Return a line per coordinate or pull, by name."""
    width = max(map(len, names), default=0)
    rows = zip(names, quantities, values, strict=True)
    return [f"  {name:{width}}  {coordinate(value, quantity):>14}" for name, quantity, value in rows]


def aligned(values: Sequence[float], digits: int = 6) -> list[str]:
    """Return numbers with equally many decimals, for a column that is aligned right; the largest has `digits` digits.

    There are at most six decimals, and none that are 0 in all numbers.
    """
    largest = max((abs(value) for value in values), default=0.0)
    decimals = digits - 1 - math.floor(math.log10(largest)) if largest > 0.0 else 0
    # Adding 0 turns -0.0 into 0.0.
    rounded = [round(value, min(max(decimals, 0), 6)) + 0.0 for value in values]
    needed = max((len(f"{value:.6f}".rstrip("0").partition(".")[2]) for value in rounded), default=0)
    return [f"{value:.{needed}f}" for value in rounded]


def _with_unit(value: float, digits: int, units: tuple[tuple[float, str], ...], zero: str) -> str:
    """Return a value as text in the largest unit that does not exceed it."""
    if math.isinf(value):
        return "infinite"
    if value == 0.0 or math.isnan(value):
        return f"{number(value, digits)} {zero}"
    # Rounded first: 999.96 µm is 1 mm with three digits, not 1000 µm.
    rounded = float(f"{value:.{digits - 1}e}")
    for size, unit in units:
        # With a tolerance for the last bit of a rounded number.
        if abs(rounded) >= size * (1.0 - 1e-12):
            return f"{number(rounded / size, digits)} {unit}"
    return f"below 1 {units[-1][1]}"


class Printed:
    """A result whose `repr`, as in lists and notebooks, is its printed line instead of its arrays.

    A dataclass that derives from it needs `repr=False`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {'; '.join(str(self).splitlines())}>"
