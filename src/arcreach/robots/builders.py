"""Build chains of elements from Denavit-Hartenberg tables and from link vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.robots import checks
from arcreach.robots.elements import Z_AXIS, Element, Link, Parallelogram, Prismatic, Revolute

CONVENTIONS = ("standard", "modified")
_DH_LENGTHS = ("a", "d")
_DH_ANGLES = ("alpha", "theta")
_DH_KEYS = (*_DH_LENGTHS, *_DH_ANGLES, "kind", "lower", "upper", "name")


def elements_from_dh(rows: Iterable[Any], convention: str) -> list[Element]:
    """A joint and a link per row; see `Robot.from_dh`. Source: [DH55]; [Craig05] for the modified convention."""
    if convention not in CONVENTIONS:
        raise checks.refuse("dh", "convention", convention, "'standard' or 'modified'")
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise checks.refuse("dh", "rows", rows, "a list of rows")
    elements: list[Element] = []
    for i, given in enumerate(rows):
        owner = f"dh row {i + 1}"
        row = _dh_row(owner, given)
        a, alpha, d, theta = (
            checks.number(owner, key, row.get(key, 0.0), "a finite number") for key in ("a", "alpha", "d", "theta")
        )
        kind, lower, upper = row.get("kind", "revolute"), row.get("lower"), row.get("upper")
        joint = _joint(owner, kind, Z_AXIS, lower, upper, row.get("name", ""))
        # The joint's own turn and stroke commute with theta and d, so these stand in the row's fixed link.
        along_z = _turn_z(theta) @ _shift(0.0, d)
        along_x = _shift(a, 0.0) @ _turn_x(alpha)
        if convention == "standard":
            elements += [joint, *_link(along_z @ along_x)]
        else:
            elements += [*_link(along_x @ along_z), joint]
    return elements


def elements_from_vectors(
    vectors: npt.ArrayLike,
    axes: npt.ArrayLike,
    kinds: Sequence[str] | None,
    lower: npt.ArrayLike | None,
    upper: npt.ArrayLike | None,
) -> list[Element]:
    """A joint and a link per vector; see `Robot.from_vectors`. Source: [FRD] fig. 1."""
    links = _rows("vectors", vectors)
    directions = _rows("axes", axes)
    n = len(links)
    if len(directions) != n:
        raise checks.refuse("vectors", "axes", axes, f"{n} axes, one per link vector")
    chosen = ["revolute"] * n if kinds is None else list(kinds)
    lows = [None] * n if lower is None else list(checks.numbers("vectors", "lower", lower, "one number per joint"))
    highs = [None] * n if upper is None else list(checks.numbers("vectors", "upper", upper, "one number per joint"))
    for field, values in (("kinds", chosen), ("lower", lows), ("upper", highs)):
        if len(values) != n:
            raise checks.refuse("vectors", field, values, f"{n} entries, one per link vector")
    elements: list[Element] = []
    for i in range(n):
        owner = f"joint {i + 1}"
        if chosen[i] == "parallelogram":
            lower_angle, upper_angle = _turn_limits(lows[i], highs[i])
            elements.append(Parallelogram(links[i], directions[i], lower_angle, upper_angle))
            continue
        elements.append(_joint(owner, chosen[i], directions[i], lows[i], highs[i], ""))
        elements += [Link(links[i])] if any(links[i]) else []
    return elements


def _dh_row(owner: str, row: Any) -> Mapping[str, Any]:
    accepted = "a mapping with a, alpha, d, theta, kind, lower, upper, name, or a tuple (a, alpha, d, theta)"
    if isinstance(row, Mapping):
        for key in row:
            if key not in _DH_KEYS:
                raise checks.refuse(owner, "key", key, f"one of {', '.join(_DH_KEYS)}")
        return row
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise checks.refuse(owner, "row", row, accepted)
    values = tuple(row)
    if len(values) != 4:
        raise checks.refuse(owner, "row", row, accepted)
    return dict(zip(("a", "alpha", "d", "theta"), values, strict=True))


def _turn_limits(lower: Any, upper: Any) -> tuple[Any, Any]:
    """The limits of a joint that turns; where none are given, half a turn either way."""
    return -math.pi if lower is None else lower, math.pi if upper is None else upper


def _joint(owner: str, kind: str, axis: checks.Vector, lower: Any, upper: Any, name: str) -> Element:
    if kind == "revolute":
        return Revolute(axis, *_turn_limits(lower, upper), name)
    if kind == "prismatic":
        if lower is None or upper is None:
            missing = "lower" if lower is None else "upper"
            raise checks.refuse(owner, missing, None, "both limits in metres for a prismatic joint")
        return Prismatic(lower, upper, axis, name)
    raise checks.refuse(owner, "kind", kind, "'revolute', 'prismatic' or, in from_vectors, 'parallelogram'")


def _rows(field: str, values: npt.ArrayLike) -> list[checks.Vector]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise checks.refuse("vectors", field, values, "an array (n, 3)")
    rows = [checks.vector("vectors", f"{field}[{i}]", row) for i, row in enumerate(values)]
    if not rows:
        raise checks.refuse("vectors", field, rows, "an array (n, 3) with at least one row")
    return rows


def _link(matrix: npt.NDArray[np.float64]) -> list[Element]:
    return [] if np.array_equal(matrix, np.eye(4)) else [Link.from_matrix(matrix)]


def _shift(x: float, z: float) -> npt.NDArray[np.float64]:
    matrix = np.eye(4)
    matrix[0, 3], matrix[2, 3] = x, z
    return matrix


def _turn_z(angle: float) -> npt.NDArray[np.float64]:
    matrix = np.eye(4)
    c, s = _exact_cos_sin(angle)
    matrix[:2, :2] = ((c, -s), (s, c))
    return matrix


def _turn_x(angle: float) -> npt.NDArray[np.float64]:
    matrix = np.eye(4)
    c, s = _exact_cos_sin(angle)
    matrix[1:3, 1:3] = ((c, -s), (s, c))
    return matrix


def _exact_cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine; quarter turns, which most tables consist of, come out as whole numbers."""
    quarters = angle / (math.pi / 2.0)
    if quarters == round(quarters):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    return math.cos(angle), math.sin(angle)
