"""Build chains of elements: from Denavit-Hartenberg tables, from link vectors, and a base that moves freely."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach._typing import Array, Vector
from arcreach.elements import Z_AXIS, Element, Link, Parallelogram, Prismatic, Revolute

CONVENTIONS = ("standard", "modified")
_DH_PARAMETERS = ("a", "alpha", "d", "theta")
# Largest angle of a row, and what messages say is accepted: a larger angle is probably in degrees.
_TURN = math.tau, "radians from -2 pi to 2 pi; write degrees as math.radians(90) or, in a file, '90 deg'"
_DH_KEYS = (*_DH_PARAMETERS, "kind", "lower", "upper", "name")


def free_base(travel: float) -> list[Element]:
    """Return six joints that move the rest of a chain freely: slides along x, y, z and rotations about y, x, z.

    The slides go `travel` metres either way, the rotations have no limits. A configuration with the tool axis along the
    y axis of the base is singular. The lines of the slides are part of the body, with radius 0.
    """
    far = checks.number("free_base", "travel", travel, "metres above 0", low=0.0)
    if far == 0.0:
        raise checks.refuse("free_base", "travel", travel, "metres above 0")
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), Z_AXIS
    slides = [Prismatic(-far, far, axis, name=f"base-{name}") for axis, name in ((x, "x"), (y, "y"), (z, "z"))]
    turns = [
        Revolute(axis, -math.inf, math.inf, name=f"base-turn-{name}") for axis, name in ((y, "y"), (x, "x"), (z, "z"))
    ]
    return [*slides, *turns]


def elements_from_dh(rows: Iterable[Any], convention: str) -> list[Element]:
    """Return a joint and a link per row; see `Robot.from_dh`. Source: [DH55]; [Craig05] for the modified convention."""
    if convention not in CONVENTIONS:
        raise checks.refuse("dh", "convention", convention, "'standard' or 'modified'")
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise checks.refuse("dh", "rows", rows, "a list of rows")
    elements: list[Element] = []
    problems: list[str] = []
    for i, given in enumerate(rows):
        with checks.gathered(problems, f"dh row {i + 1}: "):
            elements += _dh_elements(given, convention)
    checks.raise_any(problems)
    return elements


def _dh_elements(given: Any, convention: str) -> list[Element]:
    """Return the joint and the link of one row; an identity link is left out."""
    row = _dh_row(given)
    problems: list[str] = []
    values = dict.fromkeys(_DH_PARAMETERS, 0.0)
    for key in _DH_PARAMETERS:
        with checks.gathered(problems):
            largest, accepted = _TURN if key in ("alpha", "theta") else (math.inf, "a finite number")
            values[key] = checks.number("", key, row.get(key, 0.0), accepted, -largest, largest)
    joint: list[Element] = []
    with checks.gathered(problems):
        kind = row.get("kind", "revolute")
        joint = [_joint(kind, Z_AXIS, row.get("lower"), row.get("upper"), row.get("name", ""))]
    checks.raise_any(problems)
    # The joint's motion commutes with theta and d, so these belong to the row's fixed link.
    along_z, along_x = _screw(2, values["theta"], values["d"]), _screw(0, values["alpha"], values["a"])
    return [*joint, *_link(along_z @ along_x)] if convention == "standard" else [*_link(along_x @ along_z), *joint]


def elements_from_vectors(
    vectors: npt.ArrayLike,
    axes: npt.ArrayLike,
    kinds: Sequence[str] | None,
    lower: npt.ArrayLike | None,
    upper: npt.ArrayLike | None,
) -> list[Element]:
    """Return a joint and a link per vector; see `Robot.from_vectors`. Source: [FRD] fig. 1."""
    links = _rows("vectors", vectors)
    directions = _rows("axes", axes)
    n = len(links)
    if len(directions) != n:
        raise checks.refuse("vectors", "axes", axes, f"{n} axes, one per link vector")
    chosen = _per_joint("kinds", kinds, "revolute", n)
    lows = _per_joint("lower", lower, None, n)
    highs = _per_joint("upper", upper, None, n)
    elements: list[Element] = []
    problems: list[str] = []
    for i in range(n):
        with checks.gathered(problems, f"joint {i + 1}: "):
            if chosen[i] == "parallelogram":
                elements.append(Parallelogram(links[i], directions[i], *_turn_limits(lows[i], highs[i])))
                continue
            elements.append(_joint(chosen[i], directions[i], lows[i], highs[i], ""))
            elements += [Link(links[i])] if any(links[i]) else []
    checks.raise_any(problems)
    return elements


def _per_joint(field: str, values: Any, default: Any, n: int) -> list[Any]:
    """Return one entry per joint; the elements check the values."""
    if values is None:
        return [default] * n
    accepted = f"{n} entries, one per link vector"
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise checks.refuse("vectors", field, values, accepted)
    entries = list(values)
    if len(entries) != n:
        raise checks.refuse("vectors", field, values, accepted)
    return entries


def _dh_row(row: Any) -> Mapping[str, Any]:
    accepted = "a mapping with a, alpha, d, theta, kind, lower, upper, name, or a tuple (a, alpha, d, theta)"
    if isinstance(row, Mapping):
        for key in row:
            if key not in _DH_KEYS:
                raise checks.refuse("", "key", key, f"one of {', '.join(_DH_KEYS)}")
        return row
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise checks.refuse("", "row", row, accepted)
    values = tuple(row)
    if len(values) != 4:
        raise checks.refuse("", "row", row, accepted)
    return dict(zip(_DH_PARAMETERS, values, strict=True))


def _turn_limits(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return the limits of an angle; by default -pi to pi."""
    return -math.pi if lower is None else lower, math.pi if upper is None else upper


def _joint(kind: Any, axis: Vector, lower: Any, upper: Any, name: str) -> Element:
    if kind == "revolute":
        return Revolute(axis, *_turn_limits(lower, upper), name)
    if kind == "prismatic":
        if lower is None or upper is None:
            missing = "lower" if lower is None else "upper"
            raise checks.refuse("", missing, None, "both limits in metres for a prismatic joint")
        return Prismatic(lower, upper, axis, name=name)
    raise checks.refuse("", "kind", kind, "'revolute', 'prismatic' or, in from_vectors, 'parallelogram'")


def _rows(field: str, values: npt.ArrayLike) -> list[Vector]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise checks.refuse("vectors", field, values, "an array (n, 3)")
    rows = [checks.vector("vectors", f"{field}[{i}]", row) for i, row in enumerate(values)]
    if not rows:
        raise checks.refuse("vectors", field, rows, "an array (n, 3) with at least one row")
    return rows


def _link(matrix: Array) -> list[Element]:
    return [] if np.array_equal(matrix, np.eye(4)) else [Link.from_matrix(matrix)]


def _screw(axis: int, angle: float, distance: float) -> Array:
    """Return the rotation about x (0) or z (2), with the translation along the same axis, as a 4 x 4 matrix."""
    c, s = _exact_cos_sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(4)
    matrix[j, j], matrix[j, k], matrix[k, j], matrix[k, k] = c, -s, s, c
    matrix[axis, 3] = distance
    return matrix


def _exact_cos_sin(angle: float) -> tuple[float, float]:
    """Return cosine and sine, exact for multiples of pi / 2, the usual angles of DH tables."""
    quarters = angle / (math.pi / 2.0)
    if quarters == round(quarters):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    return math.cos(angle), math.sin(angle)
