"""Check the fields of an obstacle one by one and gather what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arcreach import _checks as checks
from arcreach._checks import shown
from arcreach.errors import RobotError, SceneError

METRES = "a length in metres, 0 or more"
# Lengths in metres. Kernels multiply up to six of them; beyond these limits a product would leave the range of floats,
# and the obstacle would count for nothing.
SMALLEST, LARGEST = 1e-50, 1e50
IN_RANGE = f"lengths from {SMALLEST:g} to {LARGEST:g} m"


def refuse(owner: str, field: str, value: Any, accepted: str) -> SceneError:
    """The error for a field: who, which field, what was given, what would be accepted."""
    return SceneError(f"{owner}: {field} = {shown(value)} is not accepted; give {accepted}")


class FieldChecks:
    """Checks fields, puts plain values in their place, and raises at the end, so that a user hears of every bad one."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.owner = str(shape.kind)
        self.problems: list[str] = []
        if self.check("name", _name) and shape.name:
            self.owner += f" '{shape.name}'"
        self.check_length("margin")

    def check(self, field: str, check: Callable[..., Any], *accepted: Any, **bounds: float) -> bool:
        """Replace a field by its checked value; False where it is not accepted."""
        given = getattr(self.shape, field)
        if given is checks.UNKNOWN:
            return False
        try:
            value = check(self.owner, field, given, *accepted, **bounds)
        except (RobotError, SceneError) as error:
            self.problems += error.problems
            return False
        object.__setattr__(self.shape, field, value)
        return True

    def refuse(self, field: str, accepted: str) -> None:
        """Note that a field does not fit."""
        self.problems += refuse(self.owner, field, getattr(self.shape, field), accepted).problems

    def check_length(self, field: str) -> None:
        """Check a length that may be 0."""
        if self.check(field, checks.number, METRES, low=0.0):
            value = getattr(self.shape, field)
            if value != 0.0 and not SMALLEST <= value <= LARGEST:
                self.refuse(field, f"0 or {IN_RANGE}")

    def check_point(self, field: str) -> None:
        """Check a point."""
        if self.check(field, checks.vector) and max(map(abs, getattr(self.shape, field))) > LARGEST:
            self.refuse(field, f"coordinates up to {LARGEST:g} m")

    def finish(self) -> None:
        """Raise what was found, if anything."""
        raise_any(self.problems)


def raise_any(problems: list[str]) -> None:
    """Raise all gathered problems as one error, if there are any."""
    if problems:
        raise SceneError(problems[0], tuple(problems))


def _name(owner: str, field: str, value: Any) -> str:
    return checks.name(owner, value)
