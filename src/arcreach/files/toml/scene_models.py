"""Pydantic models of a scene file.

The models of spatial obstacles are generated from the fields of their classes; those of planar ones are in
`planar_file`. Models check the form only: keys, types and units. The obstacle classes check the values.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Union

from pydantic import BeforeValidator, Field, TypeAdapter

from arcreach.files.toml.bounds import MOST_OBSTACLES
from arcreach.files.toml.planar_file import OBSTACLES
from arcreach.files.toml.robot_models import Length, Strict, Text, entry_model, field_type, three
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import PLANAR_TYPES, SHAPE_TYPES, PlanarShape, Shape

Row = Annotated[tuple[Length, Length, Length], BeforeValidator(three)]
Corners = Annotated[
    tuple[Annotated[int, Field(strict=True)], Annotated[int, Field(strict=True)], Annotated[int, Field(strict=True)]],
    BeforeValidator(three),
]
# Types of a mesh's fields that elements do not have.
_MESH_FIELDS: dict[str, Any] = {
    # Only the first bad corner is reported; there may be a million.
    "vertices": Annotated[list[Row], Field(fail_fast=True)] | None,
    "faces": Annotated[list[Corners], Field(fail_fast=True)] | None,
    "cells": Annotated[int, Field(strict=True)],
}


def _type_of(field: dataclasses.Field[Any]) -> Any:
    return _MESH_FIELDS[field.name] if field.name in _MESH_FIELDS else field_type(field)


SHAPES: dict[str, type[Shape | PlanarShape]] = {shape.kind: shape for shape in (*SHAPE_TYPES, *PLANAR_TYPES)}
ENTRIES: dict[str, type[Strict]] = {shape.kind: entry_model(shape, _type_of) for shape in SHAPE_TYPES}
ENTRIES |= OBSTACLES

# Obstacles whose other fields can be checked if one has a bad form.
SIMPLE = tuple(shape for shape in SHAPE_TYPES if shape is not Mesh)


@functools.cache
def entry_field(kind: str, name: str) -> TypeAdapter[Any]:
    """Return the validator of one field of an obstacle."""
    return TypeAdapter(_type_of(next(field for field in dataclasses.fields(SHAPES[kind]) if field.name == name)))


AnyShape: Any = Annotated[Union[tuple(ENTRIES.values())], Field(discriminator="kind")]  # noqa: UP007


class SceneFile(Strict):
    """A scene as a list of obstacles."""

    name: Text = Field("", description="the scene's name")
    source: Text = Field("", description="where the numbers come from")
    obstacles: list[AnyShape] = Field(max_length=MOST_OBSTACLES, description="list of obstacles")
