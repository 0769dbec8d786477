"""Pydantic models of a robot file.

The models of `elements` are generated from the fields of the element classes, so that a field is described once. They
check the form only: keys, types and units. The element classes check the values.
"""

from __future__ import annotations

import dataclasses
import functools
import keyword
import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    WithJsonSchema,
    create_model,
)

from arcreach.elements import ELEMENTS, Element, Tendon
from arcreach.errors import FileError
from arcreach.files import units
from arcreach.files.rpy import rotation_from_rpy
from arcreach.files.toml import sizes
from arcreach.robots._symbolic_source import FUNCTIONS


def _plain(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("give a number")
    return units.to_float(value)


def _measure(value: Any, quantity: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"give {units.accepted(quantity)}")
    return units.parse(value, quantity)


def _formula(value: Any) -> str | float:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("give a number or a formula as text")
    return units.to_float(value)


def three(value: Any) -> Any:
    """Check that a value is a list of three."""
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError("give a list of three")
    return value


def _symbol_name(name: str) -> str:
    if not re.fullmatch(SYMBOL, name):
        raise ValueError("give a letter or _, then letters, digits and _, at most 64 in all")
    if name in RESERVED or keyword.iskeyword(name):
        raise ValueError("this name has a meaning in formulas; give another name")
    return name


def _schema(quantity: str) -> dict[str, Any]:
    unit = "|".join(units.UNITS[quantity])
    text = rf"^\s*[+-]?(inf|(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)(\s*({unit}))?\s*$"
    return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": text, "maxLength": units.LONGEST_NUMBER}]}


Plain = Annotated[float, BeforeValidator(_plain), WithJsonSchema({"type": "number"})]
Length = Annotated[
    float, BeforeValidator(functools.partial(_measure, quantity="length")), WithJsonSchema(_schema("length"))
]
Angle = Annotated[
    float, BeforeValidator(functools.partial(_measure, quantity="angle")), WithJsonSchema(_schema("angle"))
]
FiniteAngle = Annotated[Angle, Field(allow_inf_nan=False)]
Formula = Annotated[Any, BeforeValidator(_formula), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})]
Text = Annotated[str, Field(strict=True)]

SYMBOL = "[A-Za-z_][A-Za-z0-9_]{0,63}"
# Names that have a meaning in formulas.
RESERVED = ("pi", "E", "sqrt", *FUNCTIONS)

_NUMBERS: dict[str, Any] = {"plain": Plain, "length": Length, "angle": Angle}


class Strict(BaseModel):
    """Unknown keys are refused: a misspelt one must not be ignored silently."""

    model_config = ConfigDict(extra="forbid")


def field_type(field: dataclasses.Field[Any]) -> Any:
    """Return the Pydantic type of a field, by its annotation and its quantity."""
    if str(field.type) == "tuple[Tendon, ...]":
        return Annotated[tuple[TENDON, ...], Field(max_length=sizes.MOST_TENDONS)]  # type: ignore[valid-type]
    number = _NUMBERS[field.metadata["quantity"]]
    row: Any = Annotated[tuple[number, number, number], BeforeValidator(three)]  # type: ignore[valid-type]
    types: dict[str, Any] = {
        "float": number,
        "Vector": row,
        "Matrix3": Annotated[tuple[row, row, row], BeforeValidator(three)],
        "tuple[float, ...]": tuple[number, ...],  # type: ignore[valid-type]
        "bool": Annotated[bool, Field(strict=True)],
        "int": Annotated[int, Field(strict=True)],
        "str": Text,
    }
    return types[str(field.type)]


@functools.cache
def field_form(owner: type[Any], name: str) -> TypeAdapter[Any]:
    """Return the validator of one field of an element or a tendon."""
    return TypeAdapter(field_type(next(field for field in dataclasses.fields(owner) if field.name == name)))


def entry_model(owner: type[Any], type_of: Callable[[dataclasses.Field[Any]], Any] = field_type) -> type[Strict]:
    """Return the model of a file's entry for an element, obstacle or tendon; a rotation may also be given as `rpy`."""
    # A list of tendons holds only tendons, so that its entries have no kind.
    fields: dict[str, Any] = {} if owner is Tendon else {"kind": (Literal[owner.kind], ...)}
    for field in dataclasses.fields(owner):
        default = ... if field.default is dataclasses.MISSING else field.default
        fields[field.name] = (type_of(field), Field(default, description=field.metadata["about"]))
    if "rotation" in fields:
        about = "turn about the fixed axes x, then y, then z; in place of rotation"
        angles = Annotated[tuple[FiniteAngle, FiniteAngle, FiniteAngle], BeforeValidator(three)]
        fields["rpy"] = (angles | None, Field(None, description=about))
    summary = (owner.__doc__ or "").partition("\n")[0]
    model: type[Strict] = create_model(f"{owner.__name__}Entry", __base__=Strict, __doc__=summary, **fields)
    return model


def rotated_fields(entry: Any) -> dict[str, Any]:
    """Return the fields of an entry, with `rpy` as a rotation matrix."""
    fields: dict[str, Any] = entry.model_dump(exclude={"kind", "rpy"})
    if getattr(entry, "rpy", None) is not None:
        if "rotation" in entry.model_fields_set:
            raise FileError("rotation and rpy are both given; give one of them")
        if max(map(abs, entry.rpy)) > math.tau:
            given = [float(angle) for angle in entry.rpy]
            raise FileError(f"rpy = {given} is not accepted; plain numbers are radians, at most a turn; write '90 deg'")
        fields["rotation"] = rotation_from_rpy(*entry.rpy)
    return fields


TENDON = entry_model(Tendon)
KINDS: dict[str, type[Element]] = {element.kind: element for element in ELEMENTS}
ENTRIES: dict[str, type[Strict]] = {kind: entry_model(element) for kind, element in KINDS.items()}


class DHRow(Strict):
    """One joint of a Denavit-Hartenberg table."""

    a: Length = Field(0.0, description="shift along x")
    alpha: Angle = Field(0.0, description="turn about x")
    d: Length = Field(0.0, description="shift along z")
    theta: Angle = Field(0.0, description="turn about z")
    name: Text = Field("", description="name of the joint")


class RevoluteRow(DHRow):
    """A joint that turns: its coordinate is added to theta."""

    kind: Literal["revolute"] = "revolute"
    lower: Angle | None = Field(None, description="smallest angle")
    upper: Angle | None = Field(None, description="largest angle")


class PrismaticRow(DHRow):
    """A joint that slides: its coordinate is added to d."""

    kind: Literal["prismatic"]
    lower: Length = Field(description="smallest stroke")
    upper: Length = Field(description="largest stroke")


def _row_kind(row: Any) -> Any:
    return row.get("kind", "revolute") if isinstance(row, dict) else "revolute"


AnyRow = Annotated[
    Annotated[RevoluteRow, Tag("revolute")] | Annotated[PrismaticRow, Tag("prismatic")], Discriminator(_row_kind)
]


class DHEntry(Strict):
    """A run of joints and links as a Denavit-Hartenberg table."""

    kind: Literal["dh"]
    convention: Literal["standard", "modified"] = Field(
        "standard", description="distal, or proximal as in Craig's book"
    )
    rows: list[AnyRow] = Field(min_length=1, max_length=sizes.MOST_ELEMENTS, description="list of rows, one per joint")


class RobotEntry(Strict):
    """All elements of a robot of the catalogue."""

    kind: Literal["robot"]
    robot: Text = Field(description="name of a robot of the catalogue")
    prefix: Text = Field("", description="text that is put before the names of all its elements")


ENTRIES["dh"] = DHEntry
ENTRIES["robot"] = RobotEntry

# Built from ENTRIES, so that a new element needs no change here.
AnyEntry: Any = Annotated[Union[tuple(ENTRIES.values())], Field(discriminator="kind")]  # noqa: UP007


class ChainFile(Strict):
    """A robot as a chain of elements, base first."""

    name: Text = Field("", description="the robot's name")
    source: Text = Field("", description="where the numbers come from")
    elements: list[AnyEntry] = Field(
        min_length=1, max_length=sizes.MOST_ELEMENTS, description="list of elements, base first"
    )


class SymbolicCoordinate(Strict):
    """A coordinate of a symbolic robot."""

    name: Annotated[Text, AfterValidator(_symbol_name)] = Field(
        description="name of the coordinate in the formulas", json_schema_extra={"pattern": f"^{SYMBOL}$"}
    )


class AngleCoordinate(SymbolicCoordinate):
    """An angle of a symbolic robot."""

    quantity: Literal["angle"] = "angle"
    lower: Angle = Field(description="smallest angle")
    upper: Angle = Field(description="largest angle")


class LengthCoordinate(SymbolicCoordinate):
    """A length of a symbolic robot."""

    quantity: Literal["length"]
    lower: Length = Field(description="smallest length")
    upper: Length = Field(description="largest length")


def _coordinate_quantity(coordinate: Any) -> Any:
    return coordinate.get("quantity", "angle") if isinstance(coordinate, dict) else "angle"


AnyCoordinate = Annotated[
    Annotated[AngleCoordinate, Tag("angle")] | Annotated[LengthCoordinate, Tag("length")],
    Discriminator(_coordinate_quantity),
]
MatrixRow = Annotated[list[Formula], Field(min_length=4, max_length=4)]


class MatrixFile(Strict):
    """A robot as a 4 x 4 matrix of formulas in its coordinates."""

    name: Text = Field("", description="the robot's name")
    source: Text = Field("", description="where the numbers come from")
    coordinates: list[AnyCoordinate] = Field(
        min_length=1, max_length=sizes.MOST_ELEMENTS, description="list of coordinates"
    )
    matrix: list[MatrixRow] = Field(min_length=4, max_length=4, description="four rows of four formulas")
