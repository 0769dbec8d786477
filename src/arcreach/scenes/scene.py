"""`Scene`: obstacles that a robot has to keep away from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach._checks import shown
from arcreach._typing import Array
from arcreach.errors import ArcreachError, SceneError
from arcreach.scenes._checks import raise_any
from arcreach.scenes._pack import pack
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.planar import Disc, Polygon
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

Shape = Sphere | Capsule | Box | HalfSpace | Mesh
PlanarShape = Polygon | Disc
SHAPE_TYPES: tuple[type[Shape], ...] = (Sphere, Capsule, Box, HalfSpace, Mesh)
PLANAR_TYPES: tuple[type[PlanarShape], ...] = (Polygon, Disc)
ACCEPTED = "a list of Sphere, Capsule, Box, HalfSpace and Mesh, or of the planar Polygon and Disc"


class Scene:
    """Obstacles, in an order that their indices follow. A scene does not change; equal scenes have equal obstacles.

    Obstacles in space and planar ones do not mix.
    """

    shapes: tuple[Shape | PlanarShape, ...]
    shape_names: tuple[str, ...]  # the given name of each, or its kind and number
    name: str
    source: str

    def __init__(self, shapes: Iterable[Shape | PlanarShape] = (), name: str = "", source: str = "") -> None:
        checked = _checked_shapes(shapes)
        try:
            fields = {"shapes": checked, "name": checks.name("scene", name), "source": checks.source("scene", source)}
        except ArcreachError as error:
            raise SceneError(str(error)) from None
        for field, value in fields.items():
            self.__dict__[field] = value
        self.__dict__["shape_names"] = _shape_names(checked)

    def __setattr__(self, field: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Scene does not change: make a new one with another {field}")

    def __delattr__(self, field: str) -> NoReturn:
        raise AttributeError(f"a Scene does not change: its {field} cannot be deleted")

    def __iter__(self) -> Iterator[Shape | PlanarShape]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, index: int) -> Shape | PlanarShape:
        return self.shapes[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return (self.shapes, self.name) == (other.shapes, other.name)

    def __hash__(self) -> int:
        return hash((self.shapes, self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        # Packed anew where it arrives: kernels compile for arrays that cannot be written.
        return type(self), (self.shapes, self.name, self.source)

    def __repr__(self) -> str:
        counts = Counter(_kind(shape) for shape in self.shapes)
        parts = ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in counts.items())
        return f"<Scene {self.name or 'unnamed'}: {parts or 'empty'}>"

    @cached_property
    def planar(self) -> bool:
        """Whether the obstacles are planar ones."""
        return any(isinstance(shape, PLANAR_TYPES) for shape in self.shapes)

    @cached_property
    def balls(self) -> Array:
        """Centre and radius, margin included, of every sphere (n, 4), for what avoids balls only."""
        spheres = [shape for shape in self.shapes if isinstance(shape, Sphere)]
        rows = np.array([(*sphere.centre, sphere.radius + sphere.margin) for sphere in spheres])
        return rows.reshape(-1, 4)

    @cached_property
    def packed(self) -> tuple[npt.NDArray[Any], Array]:
        """All obstacles as records and grids, meshes by their grid; no distance by them is more than the true one."""
        return pack(self.shapes)

    @cached_property
    def exact(self) -> tuple[npt.NDArray[Any], Array, npt.NDArray[np.int64]]:
        """The obstacles that kernels know exactly: records, an empty grid, and their indices in the scene."""
        chosen = [i for i, shape in enumerate(self.shapes) if not isinstance(shape, Mesh)]
        return *pack([self.shapes[i] for i in chosen]), np.array(chosen, dtype=np.int64)

    @cached_property
    def meshes(self) -> tuple[tuple[int, Mesh], ...]:
        """The meshes with their indices."""
        return tuple((i, shape) for i, shape in enumerate(self.shapes) if isinstance(shape, Mesh))


def as_scene(scene: Any) -> Scene:
    """A scene from a scene, one obstacle, or any number of obstacles."""
    if isinstance(scene, Scene):
        return scene
    alone: Any = [scene]
    return Scene(alone if isinstance(scene, (*SHAPE_TYPES, *PLANAR_TYPES)) else scene)


def spatial_scene(scene: Any) -> Scene:
    """A scene whose obstacles are in space."""
    checked = as_scene(scene)
    if checked.planar:
        raise SceneError(f"scene = {shown(checked)} is planar; give obstacles in space: Sphere, Capsule, Box, ...")
    return checked


def _kind(shape: Shape | PlanarShape) -> str:
    return type(shape).__name__.lower() if isinstance(shape, (Polygon, Disc)) else shape.kind


def _checked_shapes(shapes: Any) -> tuple[Shape | PlanarShape, ...]:
    if isinstance(shapes, (str, bytes)) or not isinstance(shapes, Iterable):
        raise SceneError(f"scene: shapes = {shown(shapes)} is not accepted; give {ACCEPTED}")
    checked = tuple(shapes)
    known = (*SHAPE_TYPES, *PLANAR_TYPES)
    raise_any(
        [
            f"scene: shapes[{i}] = {shown(shape)} is not accepted; give {ACCEPTED}"
            for i, shape in enumerate(checked)
            if not isinstance(shape, known)
        ]
    )
    if len({isinstance(shape, PLANAR_TYPES) for shape in checked}) > 1:
        raise SceneError("scene: shapes in space and planar ones do not mix; give a scene of each")
    return checked


def _shape_names(shapes: tuple[Shape | PlanarShape, ...]) -> tuple[str, ...]:
    """One name per obstacle: the given one, or its kind and number."""
    counts: Counter[str] = Counter()
    names = []
    for shape in shapes:
        kind = _kind(shape)
        counts[kind] += 1
        names.append(shape.name or f"{kind}-{counts[kind]}")
    raise_any(
        [
            f"scene: name = {shown(name)} is used by {count} obstacles; give every obstacle its own name"
            for name, count in Counter(names).items()
            if count > 1
        ]
    )
    return tuple(names)
