"""Read and write robot files: TOML, numbers in SI units or texts with units."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from arcreach.errors import ArcreachError, FileError
from arcreach.files import problems, units
from arcreach.files.expressions import parse_formula, write_formula
from arcreach.files.reading import read_text, write_text
from arcreach.files.robot_models import (
    ELEMENTS,
    ENTRIES,
    ChainFile,
    MatrixFile,
    PrismaticRow,
    RevoluteRow,
    Strict,
    SymbolicCoordinate,
)
from arcreach.robots.builders import elements_from_dh
from arcreach.robots.elements import Element
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot, import_sympy

# A robot of a thousand elements fits; a video does not.
LARGEST_FILE = 1_000_000


def read_robot_file(path: Path) -> Robot | SymbolicRobot:
    """The robot of a TOML file."""
    return parse_robot(read_text(path, LARGEST_FILE), str(path))


def parse_robot(text: str, origin: str) -> Robot | SymbolicRobot:
    """The robot of a TOML text; `origin` is how messages call it."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FileError(f"{origin}: is not valid TOML: {error}") from None
    model: type[Strict] = MatrixFile if "matrix" in data else ChainFile
    try:
        content = model.model_validate(data)
    except ValidationError as error:
        raise _failure(origin, problems.describe(error, data, functools.partial(_model_of, model))) from None
    return _symbolic(content, origin) if isinstance(content, MatrixFile) else _chain(content, origin)


def write_robot_file(robot: Robot | SymbolicRobot, path: Path) -> None:
    """Write a robot so that reading it gives an equal robot, bit by bit."""
    write_text(path, _symbolic_text(robot) if isinstance(robot, SymbolicRobot) else _chain_text(robot))


def json_schema() -> dict[str, Any]:
    """The JSON schema of a robot file."""
    schema = TypeAdapter(ChainFile | MatrixFile).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "arcreach robot file", **schema}


def _model_of(root: type[Strict], path: str, table: Any) -> type[Strict] | None:
    """The model of the table at a path of a robot file."""
    if not path:
        return root
    kind = table.get("kind") if isinstance(table, dict) else None
    if ".rows[" in path:
        return PrismaticRow if kind == "prismatic" else RevoluteRow
    return SymbolicCoordinate if path.startswith("coordinates") else ENTRIES.get(str(kind))


def _failure(origin: str, lines: Iterable[str]) -> FileError:
    found = tuple(lines)
    more = f" (and {len(found) - 1} more: arcreach check lists them)" if len(found) > 1 else ""
    return FileError(f"{origin}: {found[0]}{more}", found)


def _chain(content: Any, origin: str) -> Robot:
    elements: list[Element] = []
    found: list[str] = []
    for i, entry in enumerate(content.elements):
        try:
            elements += _build(entry)
        except ArcreachError as error:
            found.append(f"elements[{i}]: {error}")
    if not found:
        try:
            return Robot(tuple(elements), content.name, content.source)
        except ArcreachError as error:
            found.append(str(error))
    raise _failure(origin, found)


def _build(entry: Any) -> list[Element]:
    """The elements of one entry."""
    if entry.kind == "dh":
        rows = [row.model_dump(exclude_none=True) for row in entry.rows]
        return elements_from_dh(rows, entry.convention)
    if entry.kind == "robot":
        from arcreach.files.catalogue import catalogue_robot

        robot = catalogue_robot(entry.robot)
        if isinstance(robot, SymbolicRobot):
            raise FileError(f"robot = '{entry.robot}' is not accepted; a symbolic robot has no elements")
        return list(robot.elements)
    fields = entry.model_dump(exclude={"kind", "rpy"})
    if getattr(entry, "rpy", None) is not None:
        if "rotation" in entry.model_fields_set:
            raise FileError("rotation and rpy are both given; give one of them")
        fields["rotation"] = rotation_from_rpy(*entry.rpy)
    return [ELEMENTS[entry.kind](**fields)]


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The rotation Rz(yaw) Ry(pitch) Rx(roll): a turn about the fixed axes x, then y, then z."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _symbolic(content: Any, origin: str) -> SymbolicRobot:
    sympy = import_sympy()
    symbols = {coordinate.name: sympy.Symbol(coordinate.name) for coordinate in content.coordinates}
    found: list[str] = []
    limits: dict[str, list[float]] = {"lower": [], "upper": []}
    for i, coordinate in enumerate(content.coordinates):
        for side, values in limits.items():
            try:
                values.append(units.parse(getattr(coordinate, side), coordinate.quantity))
            except ArcreachError as error:
                found.append(f"coordinates[{i}].{side}: {error}")
    matrix: list[list[Any]] = []
    for r, row in enumerate(content.matrix):
        matrix.append([])
        for c, formula in enumerate(row):
            try:
                matrix[r].append(parse_formula(formula, symbols) if isinstance(formula, str) else sympy.Float(formula))
            except ArcreachError as error:
                found.append(f"matrix[{r}][{c}]: {error}")
    if not found:
        quantities = [coordinate.quantity for coordinate in content.coordinates]
        try:
            return SymbolicRobot(
                matrix,
                list(symbols.values()),
                limits["lower"],
                limits["upper"],
                quantities,
                content.name,
                content.source,
            )
        except ArcreachError as error:
            found.append(str(error))
    raise _failure(origin, found)


def _header(robot: Robot | SymbolicRobot) -> list[str]:
    fields = (("name", robot.name), ("source", robot.source))
    return [f"{key} = {_toml(value)}" for key, value in fields if value]


def _chain_text(robot: Robot) -> str:
    lines = _header(robot)
    for element in robot.elements:
        lines += ["", "[[elements]]", f"kind = {_toml(element.kind)}"]
        for field in dataclasses.fields(element):
            value = getattr(element, field.name)
            if value != field.default:
                lines.append(f"{field.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _symbolic_text(robot: SymbolicRobot) -> str:
    rows = [[write_formula(robot.matrix[r, c]) for c in range(4)] for r in range(4)]
    lines = [*_header(robot), "matrix = [", *(f"    {_toml(row)}," for row in rows), "]"]
    for name, quantity, lower, upper in zip(robot.coordinates, robot.quantities, robot.lower, robot.upper, strict=True):
        lines += ["", "[[coordinates]]", f"name = {_toml(name)}", f"quantity = {_toml(quantity)}"]
        lines += [f"lower = {_toml(float(lower))}", f"upper = {_toml(float(upper))}"]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value of a robot file as TOML; floats are written so that they are read back bit by bit."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(_toml(item) for item in value)}]"
