"""Parse the value of a method's option from text, as the command line and the studio take it."""

from __future__ import annotations

import re
from typing import Any

from arcreach._checks import shown
from arcreach.errors import FileError, MethodError
from arcreach.files import units

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
# Names such as those of coordinates: a letter, then letters, digits and _, with dots, spaces and dashes between.
_NAME_VALUE = re.compile(r"[^\W\d_](?:[\w. -]*\w)?")
_CONSTANTS = {"true": True, "false": False, "none": None}

ACCEPTED = "a number, a number with a unit, a name, or a list of them as [a, b]"


def option_value(name: str, text: str) -> Any:
    """Return the value of the option `name`: a number, a name, a constant, or a list of them."""
    if not text.startswith("["):
        return _single(name, text)
    if not text.endswith("]"):
        raise MethodError(f"option {name}: {shown(text)} lacks its closing bracket; give {ACCEPTED}")
    inside = text[1:-1].strip()
    return [_single(name, entry.strip()) for entry in inside.split(",")] if inside else []


def _single(name: str, text: str) -> Any:
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if _WHOLE.fullmatch(text):
        return int(text)
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1] or quoted[2] or ""
    if _NAME_VALUE.fullmatch(text) and text.lower() not in ("inf", "nan"):
        return text
    for quantity in units.UNITS:
        try:
            return units.parse(text, quantity)
        except FileError:
            continue
    raise MethodError(f"option {name}: {shown(text)} is not accepted; give {ACCEPTED}")
