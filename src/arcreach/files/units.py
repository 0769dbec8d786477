"""Numbers with units, as they stand in files and on the command line: `33.3 mm`, `60 deg`, or a plain SI number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from arcreach.errors import FileError

# Metres per unit as exact fractions: 33.3 mm becomes the float nearest to 0.0333.
LENGTH_UNITS: dict[str, Fraction] = {
    "m": Fraction(1),
    "cm": Fraction(1, 100),
    "mm": Fraction(1, 1000),
    "um": Fraction(1, 10**6),
    "µm": Fraction(1, 10**6),  # the micro sign
    "μm": Fraction(1, 10**6),  # the Greek letter
    "nm": Fraction(1, 10**9),
    "in": Fraction(254, 10000),
}

# Units per half turn; radians are taken as they are.
ANGLE_UNITS: dict[str, Fraction | None] = {
    "rad": None,
    "deg": Fraction(180),
    "°": Fraction(180),
    "turn": Fraction(1, 2),
    "arcmin": Fraction(180 * 60),
    "arcsec": Fraction(180 * 3600),
}

UNITS: dict[str, Iterable[str]] = {"length": LENGTH_UNITS, "angle": ANGLE_UNITS}

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?inf)\s*([a-zµμ°]*)\s*", re.IGNORECASE)


def parse(text: str | float, quantity: str) -> float:
    """The SI value of a number, or of a text with a number and a unit of the quantity (`length` or `angle`)."""
    if not isinstance(text, str):
        return float(text)
    units = UNITS[quantity]
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise FileError(f"'{_short(text)}' is no {quantity}; give {accepted(quantity)}")
    digits, unit = match.groups()
    if unit and unit not in units:
        raise FileError(
            f"'{_short(text)}' has the unknown unit '{unit}'; known units of {quantity}: {', '.join(units)}"
        )
    if "inf" in digits.lower():
        return float(digits)
    value = Fraction(digits)
    if not unit:
        return _float(value, text)
    if quantity == "length":
        return _float(value * LENGTH_UNITS[unit], text)
    per_half_turn = ANGLE_UNITS[unit]
    if per_half_turn is None:
        return _float(value, text)
    # The ratio is exact, so that 90 deg is the float math.pi / 2 itself.
    return _float(value / per_half_turn, text) * math.pi


def accepted(quantity: str) -> str:
    """What `parse` takes, by example."""
    return "a number of metres or text like '50 mm'" if quantity == "length" else "radians or text like '90 deg'"


def _float(value: Fraction, text: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise FileError(f"'{_short(text)}' is too large a number") from None


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
