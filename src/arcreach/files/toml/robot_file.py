"""Read and write robot files: TOML with numbers in SI units or texts with units."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from arcreach import _checks as checks
from arcreach._checks import shown
from arcreach._extras import require
from arcreach._io import called, write_text
from arcreach.elements import Element, Tendon
from arcreach.errors import ArcreachError, FileError, RobotError
from arcreach.files.catalogues import catalogue_robot
from arcreach.files.toml import problems, sizes
from arcreach.files.toml.expressions import parse_formula, write_formula
from arcreach.files.toml.robot_models import (
    ENTRIES,
    KINDS,
    TENDON,
    AngleCoordinate,
    AnyEntry,
    AnyRow,
    ChainFile,
    DHRow,
    LengthCoordinate,
    MatrixFile,
    PrismaticRow,
    RevoluteRow,
    Strict,
    field_form,
    rotated_fields,
)
from arcreach.files.toml.text import entry_lines, header_lines, parse_toml, toml_value
from arcreach.robots.builders import elements_from_dh
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

_ENTRY: TypeAdapter[Any] = TypeAdapter(AnyEntry)
_ROW: TypeAdapter[Any] = TypeAdapter(AnyRow)


def parse_robot(text: str, origin: str) -> Robot | SymbolicRobot:
    """Return the robot of a TOML text; error messages call it `origin`."""
    data = parse_toml(text, origin)
    if "obstacles" in data and not ("elements" in data or "matrix" in data):
        raise problems.failure(origin, ["describes a scene, not a robot; give it as --scene, or to load_scene"])
    return _symbolic(data, origin) if "matrix" in data else parse_chain(data, origin)


def write_robot_file(robot: Robot | SymbolicRobot, path: Path) -> None:
    """Write a robot so that reading it gives an equal robot."""
    if isinstance(robot, SymbolicRobot):
        text = _symbolic_text(robot)
        _check_read_back(robot, text, called(path))
    else:
        sizes.check_count("elements", len(robot.elements), sizes.MOST_ELEMENTS)
        lines = header_lines(robot)
        for element in robot.elements:
            lines += entry_lines("elements", element.kind, element)
        text = "\n".join(lines) + "\n"
    write_text(path, text, sizes.LARGEST_TOML)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a robot file."""
    schema = TypeAdapter(ChainFile | MatrixFile).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "arcreach robot file", **schema}


def model_of(root: type[Strict], path: str, table: Any) -> type[Strict] | None:
    """Return the model of the table at a path of a robot file."""
    if not path:
        return root
    given = table if isinstance(table, dict) else {}
    if ".rows[" in path:
        return PrismaticRow if given.get("kind") == "prismatic" else RevoluteRow
    if ".tendons[" in path:
        return TENDON
    if path.startswith("coordinates"):
        return LengthCoordinate if given.get("quantity") == "length" else AngleCoordinate
    return ENTRIES.get(str(given.get("kind")))


def parse_chain(data: dict[str, Any], origin: str) -> Robot:
    """Return the chain of a file, or raise an error with all problems of the file."""
    content, invalid = problems.validated(ChainFile, data, functools.partial(model_of, ChainFile))
    if len(invalid) > problems.MOST:
        raise problems.failure(origin, [line for _, line in invalid])

    def build(i: int, entry: Any) -> list[Element]:
        return _build(content.elements[i] if content else _ENTRY.validate_python(entry))

    names = _name_problems(data)
    built, found = problems.build_entries(origin, "elements", data, invalid, build, _entry_problems, names)
    if not found:
        elements = [element for entry in built for element in entry]
        try:
            sizes.check_count("elements", len(elements), sizes.MOST_ELEMENTS)
            return Robot(tuple(elements), content.name, content.source)
        except ArcreachError as error:
            found += problems.problems_of(error)
    raise problems.failure(origin, found)


def _entry_problems(entry: Any, bad: list[problems.Location]) -> list[str]:
    """Return the problems of an entry's values, without the fields at the locations `bad`; () is the entry itself."""
    found: list[str] = []
    kind = entry.get("kind") if isinstance(entry, dict) and all(bad) else None
    if kind == "dh" and ("rows",) not in bad:
        rows = [_valid_part(row, [at for at in bad if at[:2] == ("rows", j)]) for j, row in enumerate(entry["rows"])]
        with checks.gathered(found):
            _dh_elements(rows, "standard")
    elif kind in KINDS:
        found = value_problems(KINDS[kind], entry, bad)
    return found


def _valid_part(row: Any, bad: list[problems.Location]) -> DHRow:
    """Return a row whose values can be checked: of one with fields at locations `bad`, the other parameters alone."""
    if not bad:
        valid: DHRow = _ROW.validate_python(row)
        return valid
    # Locations are "rows", index, kind and field; one without a field is that of the row itself.
    fields = {at[3] if len(at) > 3 else "" for at in bad}
    names = () if "" in fields else DHRow.model_fields.keys() & row.keys() - fields
    return DHRow(**{name: row[name] for name in names})


def value_problems(owner: Any, entry: dict[str, Any], bad: list[problems.Location]) -> list[str]:
    """Return the problems of the values of an element, a tendon or an obstacle; invalid fields are skipped."""
    found: list[str] = []
    fields: dict[str, Any] = {str(location[0]): checks.UNKNOWN for location in bad}
    names = {field.name for field in dataclasses.fields(owner)}
    if "tendons" in names & entry.keys() and ("tendons",) not in bad:
        fields["tendons"] = checks.UNKNOWN
        for i, tendon in enumerate(entry["tendons"]):
            of_tendon = [location[2:] for location in bad if location[:2] == ("tendons", i)]
            if all(of_tendon):
                found += [f"tendons[{i}]: {line}" for line in value_problems(Tendon, tendon, of_tendon)]
    for name in names & entry.keys() - fields.keys():
        fields[name] = field_form(owner, name).validate_python(entry[name])
    with checks.gathered(found):
        owner(**{name: value for name, value in fields.items() if name in names})
    return found


def _name_problems(data: dict[str, Any]) -> list[str]:
    """Return the problems of a robot's name, without building the robot."""
    found: list[str] = []
    with checks.gathered(found):
        if isinstance(name := data.get("name", ""), str):
            checks.name("robot", name)
    return found


def _build(entry: Any) -> list[Element]:
    """Return the elements of one entry."""
    if entry.kind == "dh":
        return _dh_elements(entry.rows, entry.convention)
    if entry.kind == "robot":
        return _elements_of_robot(entry)
    fields = rotated_fields(entry)
    if "tendons" in fields:
        fields["tendons"] = _tendons(entry.tendons)
    return [KINDS[entry.kind](**fields)]


def _dh_elements(rows: Iterable[DHRow], convention: str) -> list[Element]:
    """Return the elements of all rows, or raise an error with the problems of all of them."""
    elements: list[Element] = []
    found: list[str] = []
    for j, row in enumerate(rows):
        try:
            fields = row.model_dump(exclude_none=True)
            elements += problems.build_located(f"rows[{j}]", elements_from_dh, [fields], convention)
        except RobotError as error:
            found += [f"rows[{j}]: {line.removeprefix('dh row 1: ')}" for line in error.problems]
    checks.raise_any(found)
    return elements


def _tendons(entries: Iterable[Any]) -> tuple[Tendon, ...]:
    """Return the tendons of a section, or raise an error with the problems of all of them."""
    tendons: list[Tendon] = []
    found: list[str] = []
    for i, entry in enumerate(entries):
        with checks.gathered(found, f"tendons[{i}]: "):
            tendons.append(Tendon(**entry.model_dump()))
    checks.raise_any(found)
    return tuple(tendons)


def _elements_of_robot(entry: Any) -> list[Element]:
    robot = catalogue_robot(entry.robot)
    if isinstance(robot, SymbolicRobot):
        raise FileError(f"robot = {shown(entry.robot)} is not accepted; a symbolic robot has no elements")
    if not entry.prefix:
        return list(robot.elements)
    pairs = zip(robot.elements, robot.element_names, strict=True)
    return [dataclasses.replace(element, name=entry.prefix + name) for element, name in pairs]  # type: ignore[call-arg]


def _symbolic(data: dict[str, Any], origin: str) -> SymbolicRobot:
    content, invalid = problems.validated(MatrixFile, data, functools.partial(model_of, MatrixFile))
    found = [line for _, line in invalid] + _name_problems(data)
    if content is None:
        raise problems.failure(origin, found)
    sympy = require("sympy")
    symbols: dict[str, Any] = {}
    for i, coordinate in enumerate(content.coordinates):
        if coordinate.name in symbols:
            name = shown(coordinate.name)
            found.append(f"coordinates[{i}].name = {name} is used twice; give every coordinate its own name")
        symbols[coordinate.name] = sympy.Symbol(coordinate.name)
    length = sum(len(formula) for row in content.matrix for formula in row if isinstance(formula, str))
    if length > sizes.LONGEST_MATRIX:
        found.append(f"matrix has {length} characters; at most {sizes.LONGEST_MATRIX} are accepted")
        raise problems.failure(origin, found)
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
            found += problems.problems_of(error)
    raise problems.failure(origin, found)


def _check_read_back(robot: SymbolicRobot, text: str, origin: str) -> None:
    """Refuse formulas that would be read back as different ones."""
    try:
        again = parse_robot(text, origin)
    except FileError as error:
        raise problems.failure(origin, [f"would not be read again: {problem}" for problem in error.problems]) from None
    if again == robot:
        return
    pairs = zip(robot.matrix, again.matrix, strict=True)  # type: ignore[union-attr]
    location = next((i for i, (written, read) in enumerate(pairs) if written != read), None)
    what = "its coordinates" if location is None else f"matrix[{location // 4}][{location % 4}]"
    shape = "" if location is None else f" = {shown(robot.matrix[location])}"
    raise problems.failure(origin, [f"{what}{shape} would be read as another formula; simplify it first"])


def _symbolic_text(robot: SymbolicRobot) -> str:
    rows = [[write_formula(robot.matrix[r, c]) for c in range(4)] for r in range(4)]
    lines = [*header_lines(robot), "matrix = [", *(f"    {toml_value(row)}," for row in rows), "]"]
    for name, quantity, lower, upper in zip(robot.coordinates, robot.quantities, robot.lower, robot.upper, strict=True):
        lines += ["", "[[coordinates]]", f"name = {toml_value(name)}", f"quantity = {toml_value(quantity)}"]
        lines += [f"lower = {toml_value(float(lower))}", f"upper = {toml_value(float(upper))}"]
    return "\n".join(lines) + "\n"
