"""Read and write scene files: TOML, numbers in SI units or texts with units."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from arcreach import _checks as checks
from arcreach._io import called, read_text, write_text
from arcreach.errors import FileError, SceneError
from arcreach.files.toml import bounds, problems
from arcreach.files.toml.robot_file import parse_toml, rotation_from_rpy, toml_value
from arcreach.files.toml.robot_models import Strict
from arcreach.files.toml.scene_models import ENTRIES, SHAPES, SIMPLE, AnyShape, SceneFile, entry_field
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import PlanarShape, Scene, Shape

_ENTRY: TypeAdapter[Any] = TypeAdapter(AnyShape)


def read_scene_file(path: Path) -> Scene:
    """The scene of a TOML file; paths of meshes are taken from the file's folder."""
    return parse_scene(read_text(path, bounds.LARGEST_TOML), called(path), path.parent)


def parse_scene(text: str, origin: str, folder: Path | None = None) -> Scene:
    """The scene of a TOML text; `origin` is how messages call it."""
    data = parse_toml(text, origin)
    if ("elements" in data or "matrix" in data) and "obstacles" not in data:
        raise _failure(origin, ["describes a robot, and no scene; give it as ROBOT, or to load_robot"])
    if "elements" in data:
        raise _failure(origin, ["describes a planar scene with its robot; give it to arcreach contact or grasp"])
    content, form = _validate(data)
    if len(form) > problems.MOST:
        raise _failure(origin, [line for _, line in form])
    found = [line for place, line in form if place[:1] != ("obstacles",) or len(place) == 1]
    bad_form: dict[Any, list[tuple[problems.Place, str]]] = {}
    for place, line in form:
        if place[:1] == ("obstacles",) and len(place) > 1:
            bad_form.setdefault(place[1], []).append((place[3:], line))
    # Where the list itself is bad, for its type or its length, its entries were not looked at.
    entries = [] if any(place == ("obstacles",) for place, _ in form) else data.get("obstacles", [])
    shapes: list[Shape | PlanarShape] = []
    # A bad entry does not keep the others from being tried, so that all problems are found.
    for i, entry in enumerate(entries):
        if i in bad_form:
            found += [line for _, line in bad_form[i]]
            found += [f"obstacles[{i}]: {problem}" for problem in _other_problems(entry, [p for p, _ in bad_form[i]])]
            continue
        try:
            shapes.append(_build(content.obstacles[i] if content else _ENTRY.validate_python(entry), folder))
        except (SceneError, FileError) as error:
            found += [f"obstacles[{i}]: {problem}" for problem in error.problems]
    if not found and content is not None:
        try:
            return Scene(shapes, content.name, content.source)
        except SceneError as error:
            found += error.problems
    raise _failure(origin, found)


def write_scene_file(scene: Scene, path: Path) -> None:
    """Write a scene so that reading it gives an equal scene."""
    write_text(path, scene_text(scene), bounds.LARGEST_TOML)


def scene_text(scene: Scene) -> str:
    """The text of a scene file."""
    fields = (("name", scene.name), ("source", scene.source))
    lines = [f"{key} = {toml_value(value)}" for key, value in fields if value]
    if not scene.shapes:
        lines.append("obstacles = []")
    for shape in scene.shapes:
        kind = next(kind for kind, made in SHAPES.items() if isinstance(shape, made))
        lines += ["", "[[obstacles]]", f"kind = {toml_value(kind)}"]
        for field in dataclasses.fields(shape):
            value = getattr(shape, field.name)
            if isinstance(shape, Mesh) and field.name == "path" and value:
                # The file may be read from another folder than this one.
                value = str(Path(value).absolute())
            if value != field.default:
                lines.append(f"{field.name} = {toml_value(value)}")
    return "\n".join(lines) + "\n"


def scene_schema() -> dict[str, Any]:
    """The JSON schema of a scene file."""
    schema = TypeAdapter(SceneFile).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "arcreach scene file"}


def _model_of(path: str, table: Any) -> type[Strict] | None:
    if not path:
        return SceneFile
    return ENTRIES.get(str(table.get("kind"))) if isinstance(table, dict) else None


def _failure(origin: str, found: Sequence[str]) -> FileError:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return FileError(f"{origin}: {found[0]}{more}", tuple(found))


def _validate(data: Any) -> tuple[Any, list[tuple[problems.Place, str]]]:
    """The content of a file, or the problems of its form."""
    try:
        return SceneFile.model_validate(data), []
    except ValidationError as error:
        return None, problems.describe(error, data, _model_of)


def _build(entry: Any, folder: Path | None) -> Shape | PlanarShape:
    """The obstacle of one entry."""
    fields = entry.model_dump(exclude={"kind", "rpy"})
    if getattr(entry, "rpy", None) is not None:
        if "rotation" in entry.model_fields_set:
            raise FileError("rotation and rpy are both given; give one of them")
        fields["rotation"] = rotation_from_rpy(*entry.rpy)
    if fields.get("path") and folder is not None:
        fields["path"] = str(folder / fields["path"])
    return SHAPES[entry.kind](**fields)


def _other_problems(entry: Any, bad: list[problems.Place]) -> list[str]:
    """What is wrong with the values of an entry, apart from the places in it whose form is bad."""
    kind = entry.get("kind") if isinstance(entry, dict) and all(bad) else None
    shape = SHAPES.get(str(kind))
    if shape not in SIMPLE:
        return []
    names = {field.name for field in dataclasses.fields(shape)}
    fields: dict[str, Any] = {str(place[0]): checks.UNKNOWN for place in bad if place[0] in names}
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
