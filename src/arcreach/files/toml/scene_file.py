"""Read and write scene files: TOML with numbers in SI units or texts with units."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from arcreach import _checks as checks
from arcreach._io import called, read_text, write_text
from arcreach.errors import FileError, SceneError
from arcreach.files.toml import bounds, problems
from arcreach.files.toml.robot_models import Strict, rotated_fields
from arcreach.files.toml.scene_models import ENTRIES, SHAPES, SIMPLE, AnyShape, SceneFile, entry_field
from arcreach.files.toml.text import entry_lines, header_lines, parse_toml
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import PlanarShape, Scene, Shape

_ENTRY: TypeAdapter[Any] = TypeAdapter(AnyShape)


def read_scene_file(path: Path) -> Scene:
    """Read the scene of a TOML file; paths of meshes are relative to its folder."""
    return parse_scene(read_text(path, bounds.LARGEST_TOML), called(path), path.parent)


def parse_scene(text: str, origin: str, folder: Path | None = None) -> Scene:
    """Return the scene of a TOML text; error messages call it `origin`."""
    data = parse_toml(text, origin)
    if ("elements" in data or "matrix" in data) and "obstacles" not in data:
        raise problems.failure(origin, ["describes a robot, not a scene; give it as ROBOT, or to load_robot"])
    if "elements" in data:
        raise problems.failure(origin, ["describes a planar scene and its robot; give it to arcreach contact or grasp"])
    content, invalid = _validate(data)
    if len(invalid) > problems.MOST:
        raise problems.failure(origin, [line for _, line in invalid])

    def build(i: int, entry: Any) -> Shape | PlanarShape:
        return _build(content.obstacles[i] if content else _ENTRY.validate_python(entry), folder)

    shapes, found = problems.build_entries(
        "obstacles", data, invalid, build, _entry_problems, caught=(SceneError, FileError)
    )
    if not found:
        try:
            return Scene(shapes, content.name, content.source)
        except SceneError as error:
            found += error.problems
    raise problems.failure(origin, found)


def write_scene_file(scene: Scene, path: Path) -> None:
    """Write a scene so that reading it gives an equal scene."""
    write_text(path, scene_text(scene), bounds.LARGEST_TOML)


def scene_text(scene: Scene) -> str:
    """Return the text of a scene file."""
    lines = header_lines(scene)
    if not scene.shapes:
        lines.append("obstacles = []")
    for shape in scene.shapes:
        kind = next(kind for kind, made in SHAPES.items() if isinstance(shape, made))
        # The path of a mesh is made absolute: the scene file may be read from another folder.
        absolute = {"path": str(Path(shape.path).absolute())} if isinstance(shape, Mesh) and shape.path else {}
        lines += entry_lines("obstacles", kind, shape, **absolute)
    return "\n".join(lines) + "\n"


def _model_of(path: str, table: Any) -> type[Strict] | None:
    if not path:
        return SceneFile
    return ENTRIES.get(str(table.get("kind"))) if isinstance(table, dict) else None


def _validate(data: Any) -> tuple[Any, list[tuple[problems.Location, str]]]:
    """Return the content of a file, or None and its problems."""
    try:
        return SceneFile.model_validate(data), []
    except ValidationError as error:
        return None, problems.describe(error, data, _model_of)


def _build(entry: Any, folder: Path | None) -> Shape | PlanarShape:
    """Return the obstacle of one entry."""
    fields = rotated_fields(entry)
    if fields.get("path") and folder is not None:
        fields["path"] = str(folder / fields["path"])
    return SHAPES[entry.kind](**fields)


def _entry_problems(entry: Any, bad: list[problems.Location]) -> list[str]:
    """Return the problems of an entry's values; invalid fields, listed in `bad`, are skipped."""
    kind = entry.get("kind") if isinstance(entry, dict) and all(bad) else None
    shape = SHAPES.get(str(kind))
    if shape not in SIMPLE:
        return []
    names = {field.name for field in dataclasses.fields(shape)}
    fields: dict[str, Any] = {str(location[0]): checks.UNKNOWN for location in bad if location[0] in names}
    fields |= {
        name: entry_field(str(kind), name).validate_python(value)
        for name, value in entry.items()
        if name in names and name not in fields
    }
    try:
        shape(**fields)
    except SceneError as error:
        return list(error.problems)
    return []
