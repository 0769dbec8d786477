"""Parse numbers with units from files and the command line: `33.3 mm`, `60 deg`, or a plain SI number."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from fractions import Fraction

from arcreach._checks import shown
from arcreach.errors import FileError

# Metres per unit as exact fractions, so that 33.3 mm becomes the float nearest to 0.0333.
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

# Units per half turn; None for radians.
ANGLE_UNITS: dict[str, Fraction | None] = {
    "rad": None,
    "deg": Fraction(180),
    "°": Fraction(180),
    "turn": Fraction(1, 2),
    "arcmin": Fraction(180 * 60),
    "arcsec": Fraction(180 * 3600),
}

UNITS: dict[str, Iterable[str]] = {"length": LENGTH_UNITS, "angle": ANGLE_UNITS}

# Longest accepted text in characters; every float can be written in fewer.
LONGEST_NUMBER = 64

# Fast path for numbers without a unit: a table may have a million of them.
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d{1,3})?", re.ASCII)
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?|[+-]?inf)\s*([a-zµμ°]*)", re.IGNORECASE)


def parse(text: str | float, quantity: str) -> float:
    """Return the SI value of a number or text, with or without a unit of the quantity (`length` or `angle`)."""
    if not isinstance(text, str):
        return to_float(text)
    units = UNITS[quantity]
    if len(text) > LONGEST_NUMBER:
        raise FileError(f"{shown(text)} has {len(text)} characters; a number has at most {LONGEST_NUMBER}")
    if _PLAIN.fullmatch(text) and math.isfinite(value := float(text)):
        return value
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise FileError(f"{shown(text)} is not a valid {quantity}; give {accepted(quantity)}")
    digits, unit = match.groups()
    if unit and unit not in units:
        raise FileError(f"{shown(text)} has the unknown unit '{unit}'; known units of {quantity}: {', '.join(units)}")
    if "inf" in digits.lower():
        return float(digits)
    exact = Fraction(digits)
    if not unit:
        return to_float(exact)
    if quantity == "length":
        return to_float(exact * LENGTH_UNITS[unit])
    per_half_turn = ANGLE_UNITS[unit]
    if per_half_turn is None:
        return to_float(exact)
    # The ratio is exact, so that 90 deg equals math.pi / 2.
    return to_float(exact / per_half_turn) * math.pi


def accepted(quantity: str) -> str:
    """Return what `parse` accepts for a quantity, as text for messages."""
    return "a number of metres or text like '50 mm'" if quantity == "length" else "radians or text like '90 deg'"


def to_float(value: float | Fraction) -> float:
    """Return the nearest float."""
    try:
        return float(value)
    except OverflowError:
        raise FileError(f"the number is too large; give one up to {sys.float_info.max:.4g}") from None
