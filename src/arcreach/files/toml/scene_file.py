"""Read and write scene files: TOML with numbers in SI units or texts with units.

The models of spatial obstacles are generated from the fields of their classes; those of planar ones are in
`planar_file`. Models check the form only: keys, types and units. The obstacle classes check the values.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Union

from pydantic import BeforeValidator, Field, TypeAdapter

from arcreach import _checks as checks
from arcreach.errors import FileError, SceneError
from arcreach.files.toml import problems, sizes
from arcreach.files.toml.planar_file import OBSTACLES
from arcreach.files.toml.robot_file import value_problems
from arcreach.files.toml.robot_models import (
    Length,
    Strict,
    Text,
    entry_model,
    field_type,
    rotated_fields,
    three,
)
from arcreach.files.toml.text import entry_lines, header_lines, parse_toml
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import PLANAR_TYPES, SHAPE_TYPES, PlanarShape, Scene, Shape

Row = Annotated[tuple[Length, Length, Length], BeforeValidator(three)]
Whole = Annotated[int, Field(strict=True)]
Corners = Annotated[tuple[Whole, Whole, Whole], BeforeValidator(three)]
# Types of a mesh's fields that elements do not have.
_MESH_FIELDS: dict[str, Any] = {
    # Only the first bad corner is reported; there may be a million.
    "vertices": Annotated[list[Row], Field(fail_fast=True)] | None,
    "faces": Annotated[list[Corners], Field(fail_fast=True)] | None,
}


def _type_of(field: dataclasses.Field[Any]) -> Any:
    return _MESH_FIELDS[field.name] if field.name in _MESH_FIELDS else field_type(field)


SHAPES: dict[str, type[Shape | PlanarShape]] = {shape.kind: shape for shape in (*SHAPE_TYPES, *PLANAR_TYPES)}
ENTRIES: dict[str, type[Strict]] = {shape.kind: entry_model(shape, _type_of) for shape in SHAPE_TYPES}
ENTRIES |= OBSTACLES


AnyShape: Any = Annotated[Union[tuple(ENTRIES.values())], Field(discriminator="kind")]  # noqa: UP007


class SceneFile(Strict):
    """A scene as a list of obstacles."""

    name: Text = Field("", description="the scene's name")
    source: Text = Field("", description="where the numbers come from")
    obstacles: list[AnyShape] = Field(max_length=sizes.MOST_OBSTACLES, description="list of obstacles")


_ENTRY: TypeAdapter[Any] = TypeAdapter(AnyShape)


def parse_scene(text: str, origin: str, folder: Path | None = None) -> Scene:
    """Return the scene of a TOML text; error messages call it `origin`, paths of meshes are relative to `folder`."""
    data = parse_toml(text, origin)
    if ("elements" in data or "matrix" in data) and "obstacles" not in data:
        raise problems.failure(origin, ["describes a robot, not a scene; give it as ROBOT, or to load_robot"])
    if "elements" in data:
        raise problems.failure(
            origin,
            ["describes a planar scene and its robot; give it to arcreach contact or grasp, or to load_planar_scene"],
        )
    content, invalid = problems.validated(SceneFile, data, _model_of)
    if len(invalid) > problems.MOST:
        raise problems.failure(origin, [line for _, line in invalid])

    def build(i: int, entry: Any) -> Shape | PlanarShape:
        return _build(content.obstacles[i] if content else _ENTRY.validate_python(entry), folder)

    shapes, found = problems.build_entries(
        origin, "obstacles", data, invalid, build, _entry_problems, caught=(SceneError, FileError)
    )
    if not found:
        with checks.gathered(found):
            return Scene(shapes, content.name, content.source)
    raise problems.failure(origin, found)


def scene_text(scene: Scene) -> str:
    """Return the text of a scene file; reading it gives an equal scene."""
    lines = header_lines(scene)
    if not scene.shapes:
        lines.append("obstacles = []")
    for shape in scene.shapes:
        # The path of a mesh is made absolute: the scene file may be read from another folder.
        absolute = {"path": str(Path(shape.path).absolute())} if isinstance(shape, Mesh) and shape.path else {}
        lines += entry_lines("obstacles", shape.kind, shape, **absolute)
    return "\n".join(lines) + "\n"


def _model_of(path: str, table: Any) -> type[Strict] | None:
    if not path:
        return SceneFile
    return ENTRIES.get(str(table.get("kind"))) if isinstance(table, dict) else None


def _build(entry: Any, folder: Path | None) -> Shape | PlanarShape:
    """Return the obstacle of one entry."""
    fields = rotated_fields(entry)
    if fields.get("path") and folder is not None:
        fields["path"] = str(folder / fields["path"])
    return SHAPES[entry.kind](**fields)


def _entry_problems(entry: Any, bad: list[problems.Location]) -> list[str]:
    """Return the problems of an entry's values; invalid fields, listed in `bad`, are skipped."""
    kind = entry.get("kind") if isinstance(entry, dict) and all(bad) else None
    shape: Any = SHAPES.get(str(kind))
    # Planar shapes have no such checks, and a mesh that lacks one of its fields cannot be checked.
    return value_problems(shape, entry, bad) if shape in SHAPE_TYPES and shape is not Mesh else []
