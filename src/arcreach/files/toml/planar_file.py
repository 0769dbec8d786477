"""Read planar scenes: TOML with a robot, obstacles in the plane x-z, and a target to reach or an object to grasp."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, Union

from pydantic import BeforeValidator, Field

from arcreach._checks import gathered, shown
from arcreach.errors import FileError
from arcreach.files.toml import problems, sizes
from arcreach.files.toml.robot_file import model_of, parse_chain
from arcreach.files.toml.robot_models import AnyEntry, Length, Strict, Text, entry_model, field_type
from arcreach.files.toml.text import parse_toml
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Obstacle, Point
from arcreach.scenes.scene import PLANAR_TYPES


def _two(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("give a list of two, x and z")
    return value


# Contact planning checks these values again; here they are checked for `arcreach check`.
Finite = Annotated[Length, Field(allow_inf_nan=False)]
PlanarPoint = Annotated[tuple[Finite, Finite], BeforeValidator(_two)]
PlanarPoints = Annotated[list[PlanarPoint], Field(max_length=sizes.MOST_CORNERS)]
# Types of fields that elements do not have, by annotation.
_PLANAR_FIELDS: dict[str, Any] = {"Point": PlanarPoint, "tuple[Point, ...]": PlanarPoints}


def _type_of(field: dataclasses.Field[Any]) -> Any:
    return _PLANAR_FIELDS.get(str(field.type)) or field_type(field)


SHAPES: dict[str, type[Obstacle]] = {shape.kind: shape for shape in PLANAR_TYPES}
OBSTACLES: dict[str, type[Strict]] = {kind: entry_model(shape, _type_of) for kind, shape in SHAPES.items()}
AnyObstacle: Any = Annotated[Union[tuple(OBSTACLES.values())], Field(discriminator="kind")]  # noqa: UP007


class PlanarFile(Strict):
    """A planar scene."""

    name: Text = Field("", description="name of the scene")
    source: Text = Field("", description="where the numbers come from")
    target: PlanarPoint | None = Field(None, description="position (x, z) to reach")
    object: Text | None = Field(None, description="name of the obstacle to grasp")
    bend_radius: Finite | None = Field(None, gt=0.0, description="smallest radius of the bent body")
    contacts: PlanarPoints | None = Field(None, description="points (x, z) that may be touched")
    elements: list[AnyEntry] = Field(
        min_length=1, max_length=sizes.MOST_ELEMENTS, description="list of the robot's elements, base first"
    )
    obstacles: list[AnyObstacle] = Field(
        max_length=sizes.MOST_OBSTACLES, description="list of polygons, discs and walls"
    )


@dataclass(frozen=True)
class PlanarScene:
    """A robot among obstacles in the plane x-z, with a target to reach or an object to grasp."""

    name: str
    source: str
    robot: Robot
    obstacles: tuple[Obstacle, ...]
    target: Point | None
    contacts: tuple[Point, ...] | None
    object: Obstacle | None
    bend_radius: float | None


def parse_planar_scene(text: str, origin: str) -> PlanarScene:
    """Return the planar scene of a TOML text; error messages call it `origin`."""
    data = parse_toml(text, origin)
    content, form = problems.validated(PlanarFile, data, _planar_model)
    if content is None:
        raise problems.failure(origin, [line for _, line in form])
    found: list[str] = []
    robot = None
    try:
        robot = parse_chain({"name": content.name, "elements": data["elements"]}, origin)
    except FileError as error:
        found += error.problems
    obstacles = _obstacles(content, found)
    grasped = None if content.object is None else _object(content.object, obstacles, found)
    if found or robot is None:
        raise problems.failure(origin, found)
    contacts = None if content.contacts is None else tuple(content.contacts)
    return PlanarScene(
        content.name, content.source, robot, tuple(obstacles), content.target, contacts, grasped, content.bend_radius
    )


def _planar_model(path: str, table: Any) -> type[Strict] | None:
    """Return the model of the table at a path of a planar scene."""
    if path.startswith("obstacles"):
        return OBSTACLES.get(str(table.get("kind"))) if isinstance(table, dict) else None
    return model_of(PlanarFile, path, table)


def _obstacles(content: PlanarFile, found: list[str]) -> list[Obstacle]:
    """Return the valid obstacles, and add the problems of the others to `found`."""
    obstacles: list[Obstacle] = []
    for i, entry in enumerate(content.obstacles):
        with gathered(found, f"obstacles[{i}]: "):
            obstacles.append(SHAPES[entry.kind](**entry.model_dump(exclude={"kind"})))
    return obstacles


def _object(name: str, obstacles: list[Obstacle], found: list[str]) -> Obstacle | None:
    named = [obstacle for obstacle in obstacles if obstacle.name == name]
    if len(named) == 1:
        return named[0]
    names = ", ".join(shown(obstacle.name) for obstacle in obstacles if obstacle.name) or "none has a name"
    found.append(f"object = {shown(name)} is the name of {len(named)} obstacles; give that of one: {names}")
    return None
