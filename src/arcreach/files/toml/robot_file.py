"""Read and write robot files: TOML, numbers in SI units or texts with units."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from arcreach import _checks as checks
from arcreach._checks import shown
from arcreach._io import called, read_text, write_text
from arcreach.elements import Element
from arcreach.errors import ArcreachError, FileError, RobotError
from arcreach.files.toml import bounds, problems
from arcreach.files.toml.expressions import parse_formula, write_formula
from arcreach.files.toml.robot_models import (
    ENTRIES,
    KINDS,
    AngleCoordinate,
    AnyEntry,
    AnyRow,
    ChainFile,
    LengthCoordinate,
    MatrixFile,
    PrismaticRow,
    RevoluteRow,
    Strict,
    field_form,
)
from arcreach.robots.builders import elements_from_dh
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot, import_sympy

TOO_MANY_DIGITS = "is not valid TOML: it has a number of thousands of digits; give one that a float can hold"

_ENTRY: TypeAdapter[Any] = TypeAdapter(AnyEntry)
_ROW: TypeAdapter[Any] = TypeAdapter(AnyRow)


def read_robot_file(path: Path) -> Robot | SymbolicRobot:
    """The robot of a TOML file."""
    return parse_robot(read_text(path, bounds.LARGEST_TOML), called(path))


def parse_robot(text: str, origin: str) -> Robot | SymbolicRobot:
    """The robot of a TOML text; `origin` is how messages call it."""
    data = parse_toml(text, origin)
    if "obstacles" in data and not ("elements" in data or "matrix" in data):
        raise _failure(origin, ["describes a scene, and no robot; give it as --scene, or to load_scene"])
    return _symbolic(data, origin) if "matrix" in data else _chain(data, origin)


def parse_toml(text: str, origin: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    try:
        bounds.check_toml(text)
        data = tomllib.loads(text)
    except FileError as error:
        raise _failure(origin, error.problems) from None
    except tomllib.TOMLDecodeError as error:
        raise _failure(origin, [f"is not valid TOML: {shown(str(error))[1:-1]}"]) from None
    except ValueError:
        raise _failure(origin, [TOO_MANY_DIGITS]) from None
    if _has_endless_integer(data):
        raise _failure(origin, [TOO_MANY_DIGITS])
    return data


def _has_endless_integer(data: Any) -> bool:
    """Whether an integer has more digits than Python prints; TOML reads such ones in hexadecimal."""
    waiting = [data]
    while waiting:
        node = waiting.pop()
        if isinstance(node, int) and node.bit_length() > 10_000:
            return True
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return False


def write_robot_file(robot: Robot | SymbolicRobot, path: Path) -> None:
    """Write a robot so that reading it gives an equal robot."""
    if isinstance(robot, SymbolicRobot):
        text = _symbolic_text(robot)
        _check_read_back(robot, text, called(path))
    else:
        bounds.check_count("elements", len(robot.elements), bounds.MOST_ELEMENTS)
        text = _chain_text(robot)
    write_text(path, text, bounds.LARGEST_TOML)


def json_schema() -> dict[str, Any]:
    """The JSON schema of a robot file."""
    schema = TypeAdapter(ChainFile | MatrixFile).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "arcreach robot file", **schema}


def _model_of(root: type[Strict], path: str, table: Any) -> type[Strict] | None:
    """The model of the table at a path of a robot file."""
    if not path:
        return root
    given = table if isinstance(table, dict) else {}
    if ".rows[" in path:
        return PrismaticRow if given.get("kind") == "prismatic" else RevoluteRow
    if path.startswith("coordinates"):
        return LengthCoordinate if given.get("quantity") == "length" else AngleCoordinate
    return ENTRIES.get(str(given.get("kind")))


def _failure(origin: str, found: Sequence[str]) -> FileError:
    more = f" (and {len(found) - 1} more: arcreach check lists them)" if len(found) > 1 else ""
    return FileError(f"{origin}: {found[0]}{more}", tuple(found))


def _problems(error: ArcreachError) -> tuple[str, ...]:
    return error.problems if isinstance(error, (FileError, RobotError)) else (str(error),)


def _validate(model: type[Strict], data: Any) -> tuple[Any, list[tuple[problems.Place, str]]]:
    """The content of a file, or the problems of its form."""
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, problems.describe(error, data, functools.partial(_model_of, model))


def _chain(data: dict[str, Any], origin: str) -> Robot:
    """The chain of a file. A bad entry does not keep the others from being tried, so that all problems are found."""
    content, form = _validate(ChainFile, data)
    if len(form) > problems.MOST:
        raise _failure(origin, [line for _, line in form])
    found = [line for place, line in form if place[:1] != ("elements",) or len(place) == 1] + _name_problems(data)
    bad_form: dict[Any, list[tuple[problems.Place, str]]] = {}
    for place, line in form:
        bad_form.setdefault(place[1] if len(place) > 1 else None, []).append((place[3:], line))
    # Where the list itself is bad, for its type or its length, its entries were not looked at.
    entries = [] if any(place == ("elements",) for place, _ in form) else data.get("elements", [])
    elements: list[Element] = []
    for i, entry in enumerate(entries):
        if i in bad_form:
            found += [line for _, line in bad_form[i]]
            found += [f"elements[{i}]: {problem}" for problem in _other_problems(entry, [p for p, _ in bad_form[i]])]
            continue
        try:
            elements += _build(content.elements[i] if content else _ENTRY.validate_python(entry))
        except ArcreachError as error:
            found += [f"elements[{i}]: {problem}" for problem in _problems(error)]
    if not found:
        try:
            bounds.check_count("elements", len(elements), bounds.MOST_ELEMENTS)
            return Robot(tuple(elements), content.name, content.source)
        except ArcreachError as error:
            found += _problems(error)
    raise _failure(origin, found)


def _other_problems(entry: Any, bad: list[problems.Place]) -> list[str]:
    """What is wrong with the values of an entry, apart from the places in it whose form is bad."""
    found: list[str] = []
    kind = entry.get("kind") if isinstance(entry, dict) and all(bad) else None
    if kind == "dh" and all(len(place) > 1 for place in bad):
        # A row of zeros is always possible: it keeps the numbers of the others.
        bad_rows = {place[1] for place in bad}
        rows = [{} if j in bad_rows else _ROW.validate_python(row) for j, row in enumerate(entry["rows"])]
        with checks.gathered(found):
            elements_from_dh([row and row.model_dump(exclude_none=True) for row in rows], "standard")
    elif kind in KINDS:
        fields: dict[str, Any] = {str(place[0]): checks.UNKNOWN for place in bad}
        names = {field.name for field in dataclasses.fields(KINDS[kind])}
        fields |= {
            name: field_form(kind, name).validate_python(value)
            for name, value in entry.items()
            if name in names and name not in fields
        }
        with checks.gathered(found):
            KINDS[kind](**{name: value for name, value in fields.items() if name in names})
    return found


def _name_problems(data: dict[str, Any]) -> list[str]:
    """What is wrong with a robot's name, even where there is no robot to say so."""
    found: list[str] = []
    with checks.gathered(found):
        if isinstance(name := data.get("name", ""), str):
            checks.name("robot", name)
    return found


def _build(entry: Any) -> list[Element]:
    """The elements of one entry."""
    if entry.kind == "dh":
        rows = [row.model_dump(exclude_none=True) for row in entry.rows]
        return elements_from_dh(rows, entry.convention)
    if entry.kind == "robot":
        return _elements_of_robot(entry)
    fields = entry.model_dump(exclude={"kind", "rpy"})
    if getattr(entry, "rpy", None) is not None:
        if "rotation" in entry.model_fields_set:
            raise FileError("rotation and rpy are both given; give one of them")
        fields["rotation"] = rotation_from_rpy(*entry.rpy)
    return [KINDS[entry.kind](**fields)]


def _elements_of_robot(entry: Any) -> list[Element]:
    from arcreach.files.catalogue import catalogue_robot

    robot = catalogue_robot(entry.robot)
    if isinstance(robot, SymbolicRobot):
        raise FileError(f"robot = {shown(entry.robot)} is not accepted; a symbolic robot has no elements")
    if not entry.prefix:
        return list(robot.elements)
    pairs = zip(robot.elements, robot.element_names, strict=True)
    return [dataclasses.replace(element, name=entry.prefix + name) for element, name in pairs]  # type: ignore[call-arg]


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


def _symbolic(data: dict[str, Any], origin: str) -> SymbolicRobot:
    content, form = _validate(MatrixFile, data)
    found = [line for _, line in form] + _name_problems(data)
    if content is None:
        raise _failure(origin, found)
    sympy = import_sympy()
    symbols: dict[str, Any] = {}
    for i, coordinate in enumerate(content.coordinates):
        if coordinate.name in symbols:
            name = shown(coordinate.name)
            found.append(f"coordinates[{i}].name = {name} is used twice; give every coordinate its own name")
        symbols[coordinate.name] = sympy.Symbol(coordinate.name)
    length = sum(len(formula) for row in content.matrix for formula in row if isinstance(formula, str))
    if length > bounds.LONGEST_MATRIX:
        found.append(f"matrix has {length} characters; at most {bounds.LONGEST_MATRIX} are accepted")
        raise _failure(origin, found)
    matrix: list[list[Any]] = []
    for r, row in enumerate(content.matrix):
        matrix.append([])
        for c, formula in enumerate(row):
            try:
                matrix[r].append(parse_formula(formula, symbols) if isinstance(formula, str) else sympy.Float(formula))
            except ArcreachError as error:
                found.append(f"matrix[{r}][{c}]: {error}")
    if not found:
        lower, upper, quantities = (
            [getattr(coordinate, field) for coordinate in content.coordinates]
            for field in ("lower", "upper", "quantity")
        )
        try:
            return SymbolicRobot(matrix, list(symbols.values()), lower, upper, quantities, content.name, content.source)
        except ArcreachError as error:
            found += _problems(error)
    raise _failure(origin, found)


def _check_read_back(robot: SymbolicRobot, text: str, origin: str) -> None:
    """Refuse to write formulas that would not be read as the same ones."""
    try:
        again = parse_robot(text, origin)
    except FileError as error:
        raise _failure(origin, [f"would not be read again: {problem}" for problem in error.problems]) from None
    if again == robot:
        return
    pairs = zip(robot.matrix, again.matrix, strict=True)  # type: ignore[union-attr]
    place = next((i for i, (written, read) in enumerate(pairs) if written != read), None)
    what = "its coordinates" if place is None else f"matrix[{place // 4}][{place % 4}]"
    shape = "" if place is None else f" = {shown(robot.matrix[place])}"
    raise _failure(origin, [f"{what}{shape} would be read as another formula; simplify it first"])


def _header(robot: Robot | SymbolicRobot) -> list[str]:
    fields = (("name", robot.name), ("source", robot.source))
    return [f"{key} = {toml_value(value)}" for key, value in fields if value]


def _chain_text(robot: Robot) -> str:
    lines = _header(robot)
    for element in robot.elements:
        lines += ["", "[[elements]]", f"kind = {toml_value(element.kind)}"]
        for field in dataclasses.fields(element):
            value = getattr(element, field.name)
            if value != field.default:
                lines.append(f"{field.name} = {toml_value(value)}")
    return "\n".join(lines) + "\n"


def _symbolic_text(robot: SymbolicRobot) -> str:
    rows = [[write_formula(robot.matrix[r, c]) for c in range(4)] for r in range(4)]
    lines = [*_header(robot), "matrix = [", *(f"    {toml_value(row)}," for row in rows), "]"]
    for name, quantity, lower, upper in zip(robot.coordinates, robot.quantities, robot.lower, robot.upper, strict=True):
        lines += ["", "[[coordinates]]", f"name = {toml_value(name)}", f"quantity = {toml_value(quantity)}"]
        lines += [f"lower = {toml_value(float(lower))}", f"upper = {toml_value(float(upper))}"]
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """A value of a file as TOML; floats are written so that they are read back bit by bit."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(toml_value(item) for item in value)}]"
