"""What a robot file may hold, as pydantic models.

The entries of `elements` are made from the fields of the elements themselves, so that a field is described in one
place. The models check form only: keys, types and units. Whether a robot is possible is for the elements to say.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema, create_model

from arcreach.files import units
from arcreach.robots.elements import ELEMENT_TYPES, Element, Link


def _plain(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("give a number")
    return float(value)


def _length(value: Any) -> float:
    return _measure(value, "length")


def _angle(value: Any) -> float:
    return _measure(value, "angle")


def _measure(value: Any, quantity: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"give {units.accepted(quantity)}")
    return units.parse(value, quantity)


def _schema(quantity: str) -> dict[str, Any]:
    unit = "|".join(units.UNITS[quantity])
    text = rf"^\s*[+-]?(inf|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)\s*({unit})?\s*$"
    return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": text}]}


Plain = Annotated[float, BeforeValidator(_plain), WithJsonSchema({"type": "number"})]
Length = Annotated[float, BeforeValidator(_length), WithJsonSchema(_schema("length"))]
Angle = Annotated[float, BeforeValidator(_angle), WithJsonSchema(_schema("angle"))]
Text = Annotated[str, Field(strict=True)]

_NUMBERS: dict[str, Any] = {"plain": Plain, "length": Length, "angle": Angle}


class Strict(BaseModel):
    """Unknown keys are refused: a misspelt one must not be ignored silently."""

    model_config = ConfigDict(extra="forbid")


def _field_type(field: dataclasses.Field[Any]) -> Any:
    number = _NUMBERS[field.metadata["quantity"]]
    row: Any = tuple[number, number, number]  # type: ignore[valid-type]
    types: dict[str, Any] = {
        "float": number,
        "Vector": row,
        "Matrix3": tuple[row, row, row],
        "tuple[float, ...]": tuple[number, ...],  # type: ignore[valid-type]
        "bool": Annotated[bool, Field(strict=True)],
        "str": Text,
    }
    return types[str(field.type)]


def _element_entry(element: type[Element]) -> type[Strict]:
    """The model of an element's entry, field by field."""
    fields: dict[str, Any] = {"kind": (Literal[element.kind], ...)}
    for field in dataclasses.fields(element):
        default = ... if field.default is dataclasses.MISSING else field.default
        fields[field.name] = (_field_type(field), Field(default, description=field.metadata["about"]))
    if element is Link:
        about = "turn about the fixed axes x, then y, then z; in place of rotation"
        fields["rpy"] = (tuple[Angle, Angle, Angle] | None, Field(None, description=about))
    summary = (element.__doc__ or "").partition("\n")[0]
    model: type[Strict] = create_model(f"{element.__name__}Entry", __base__=Strict, __doc__=summary, **fields)
    return model


ELEMENTS: dict[str, type[Element]] = {element.kind: element for element in ELEMENT_TYPES}
ENTRIES: dict[str, type[Strict]] = {kind: _element_entry(element) for kind, element in ELEMENTS.items()}


class DHRow(Strict):
    """One joint of a Denavit-Hartenberg table."""

    a: Length = 0.0
    alpha: Angle = 0.0
    d: Length = 0.0
    theta: Angle = 0.0
    name: Text = ""


class RevoluteRow(DHRow):
    """A joint that turns: its coordinate is added to theta."""

    kind: Literal["revolute"] = "revolute"
    lower: Angle | None = None
    upper: Angle | None = None


class PrismaticRow(DHRow):
    """A joint that slides: its coordinate is added to d."""

    kind: Literal["prismatic"]
    lower: Length
    upper: Length


def _row_kind(row: Any) -> Any:
    return row.get("kind", "revolute") if isinstance(row, dict) else "revolute"


class DHEntry(Strict):
    """A run of joints and links as a Denavit-Hartenberg table."""

    kind: Literal["dh"]
    convention: Literal["standard", "modified"] = Field(
        "standard", description="distal, or proximal as in Craig's book"
    )
    rows: list[
        Annotated[
            Annotated[RevoluteRow, Tag("revolute")] | Annotated[PrismaticRow, Tag("prismatic")],
            Discriminator(_row_kind),
        ]
    ] = Field(min_length=1)


class RobotEntry(Strict):
    """All elements of a robot of the catalogue."""

    kind: Literal["robot"]
    robot: Text = Field(description="a name of the catalogue")


ENTRIES |= {"dh": DHEntry, "robot": RobotEntry}

# Built from the table: a new element joins by being declared.
AnyEntry: Any = Annotated[Union[tuple(ENTRIES.values())], Field(discriminator="kind")]  # noqa: UP007


class ChainFile(Strict):
    """A robot as a chain of elements, base first."""

    name: Text = Field("", description="the robot's name")
    source: Text = Field("", description="where the numbers come from")
    elements: list[AnyEntry] = Field(min_length=1)


class SymbolicCoordinate(Strict):
    """A coordinate of a symbolic robot."""

    name: Text = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    quantity: Literal["angle", "length"] = "angle"
    lower: float | Text
    upper: float | Text


class MatrixFile(Strict):
    """A robot as a 4 x 4 matrix of formulas in its coordinates."""

    name: Text = Field("", description="the robot's name")
    source: Text = Field("", description="where the numbers come from")
    coordinates: list[SymbolicCoordinate] = Field(min_length=1)
    matrix: list[Annotated[list[Text | Plain], Field(min_length=4, max_length=4)]] = Field(min_length=4, max_length=4)
