"""Numbers as people read them: lengths, angles, times and counts in the lines that this library prints."""

from __future__ import annotations

import math

# Each unit with its size, the largest first. A value is written in the largest unit that it fills.
_LENGTHS = ((1e3, "km"), (1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))
_ANGLES = ((1e-3, "mrad"), (1e-6, "µrad"), (1e-9, "nrad"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
# Radians: larger angles are written in degrees, smaller ones in parts of a radian, as tolerances are given.
_DEGREES_FROM = 0.01


def number(value: float, digits: int = 3) -> str:
    """A number with that many significant digits and no exponent."""
    if not math.isfinite(value):
        return f"{value}"
    rounded = float(f"{value:.{digits - 1}e}")
    if rounded == 0.0:
        return "0"
    decimals = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)
    text = f"{rounded:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def length(metres: float, digits: int = 3) -> str:
    """A length with the unit that suits it, from nm to km."""
    return _with_unit(metres, digits, _LENGTHS, "mm")


def angle(radians: float, digits: int = 3) -> str:
    """An angle in degrees; in parts of a radian where it is as small as a tolerance."""
    if radians == 0.0 or not abs(radians) < _DEGREES_FROM:
        return f"{number(math.degrees(radians), digits)}°"
    return _with_unit(radians, digits, _ANGLES, "mrad")


def seconds(value: float, digits: int = 3) -> str:
    """A duration from ns to s, and in minutes from two of them on."""
    if value >= 120.0 and math.isfinite(value):
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest} s"
    return _with_unit(value, digits, _TIMES, "s")


def count(n: int, noun: str, plural: str = "") -> str:
    """`1 start`, `2 starts`; the plural where an s at the end does not make it."""
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def errors(position_error: float, angle_error: float) -> str:
    """How far a tip is from its target. An angle of exactly 0 is left out: no orientation was asked for."""
    return length(position_error) + (f", {angle(angle_error)}" if angle_error != 0.0 else "")


def coordinate(value: float, quantity: str) -> str:
    """A coordinate of a robot, with six digits: degrees or millimetres."""
    if math.isinf(value):
        return "no limit"
    # Nine decimals: rounding errors around 0 are written as 0.
    if quantity == "angle":
        return f"{number(round(math.degrees(value), 9), 6)}°"
    return f"{number(round(value * 1e3, 9), 6)} mm"


def _with_unit(value: float, digits: int, units: tuple[tuple[float, str], ...], zero: str) -> str:
    """The value in the largest unit of which it is at least one."""
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
