"""`Scene`: a list of obstacles, and its packed form for kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NoReturn, get_args

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach import _text
from arcreach._checks import raise_any, shown
from arcreach._typing import Array
from arcreach.errors import ArcreachError, SceneError
from arcreach.kernels.clearance import shapes as layout
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.planar import Obstacle
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

Shape = Sphere | Capsule | Box | HalfSpace | Mesh
PlanarShape = Obstacle
SHAPE_TYPES: tuple[type[Shape], ...] = get_args(Shape)
PLANAR_TYPES: tuple[type[PlanarShape], ...] = get_args(PlanarShape)
_NAMES = [", ".join(shape.__name__ for shape in types) for types in (SHAPE_TYPES, PLANAR_TYPES)]
_PLURALS = {"box": "boxes", "mesh": "meshes"}
ACCEPTED = f"a list of obstacles: {_NAMES[0]}; or planar ones: {_NAMES[1]}"


class Scene:
    """An immutable list of obstacles, all of them in space or all planar."""

    shapes: tuple[Shape | PlanarShape, ...]
    shape_names: tuple[str, ...]  # name of each obstacle, by default its kind and number
    name: str
    source: str

    def __init__(self, shapes: Iterable[Shape | PlanarShape] = (), name: str = "", source: str = "") -> None:
        checked = _checked_shapes(shapes)
        try:
            fields = {"name": checks.name("scene", name), "source": checks.source("scene", source)}
        except ArcreachError as error:
            raise SceneError(str(error)) from None
        self.__dict__.update(shapes=checked, shape_names=_shape_names(checked), **fields)

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
        # Records are packed again after unpickling, which makes arrays writable; kernels take read-only ones.
        return type(self), (self.shapes, self.name, self.source)

    def __repr__(self) -> str:
        counts = Counter(shape.kind for shape in self.shapes)
        parts = ", ".join(_text.count(n, kind, _PLURALS.get(kind, "")) for kind, n in counts.items())
        return f"<Scene {self.name or 'unnamed'}: {parts or 'empty'}>"

    @cached_property
    def planar(self) -> bool:
        """Whether the obstacles are planar."""
        return any(isinstance(shape, PLANAR_TYPES) for shape in self.shapes)

    @cached_property
    def balls(self) -> Array:
        """Centre and radius, margin included, of every sphere (n, 4), for methods that avoid spheres only."""
        spheres = [shape for shape in self.shapes if isinstance(shape, Sphere)]
        rows = np.array([(*sphere.centre, sphere.radius + sphere.margin) for sphere in spheres])
        return rows.reshape(-1, 4)

    @cached_property
    def packed(self) -> tuple[npt.NDArray[Any], Array]:
        """Records of all obstacles and grid values of the meshes; distances from them are never overestimated."""
        return pack(self.shapes)

    @cached_property
    def bounds(self) -> tuple[Array, tuple[float, float, float, float]]:
        """Bounding spheres, margins included: centre and radius (4, n) of one per obstacle, and of one around all."""
        spheres = np.empty((4, len(self)))
        for shape, sphere in zip(self.shapes, spheres.T, strict=True):
            assert isinstance(shape, SHAPE_TYPES)  # planners take no planar obstacles
            sphere[:3], sphere[3] = shape.bounding_sphere
        spheres.flags.writeable = False
        centre = spheres[:3].mean(axis=1) if len(self) else np.zeros(3)
        away = np.linalg.norm(spheres[:3] - centre[:, None], axis=0) + spheres[3]
        x, y, z = centre.tolist()
        return spheres, (x, y, z, float(away.max(initial=0.0)))

    @cached_property
    def exact(self) -> tuple[npt.NDArray[Any], Array, npt.NDArray[np.int64]]:
        """Records of the obstacles other than meshes, their grid values (empty), and their indices in the scene."""
        chosen = [i for i, shape in enumerate(self.shapes) if not isinstance(shape, Mesh)]
        return *pack([self.shapes[i] for i in chosen]), np.array(chosen, dtype=np.int64)

    @cached_property
    def meshes(self) -> tuple[tuple[int, Mesh], ...]:
        """Index and mesh of every mesh."""
        return tuple((i, shape) for i, shape in enumerate(self.shapes) if isinstance(shape, Mesh))


def as_scene(scene: Any) -> Scene:
    """Return a scene from a scene, one obstacle or several obstacles."""
    if isinstance(scene, Scene):
        return scene
    alone: Any = [scene]
    return Scene(alone if isinstance(scene, (*SHAPE_TYPES, *PLANAR_TYPES)) else scene)


def spatial_scene(scene: Any) -> Scene:
    """Return a scene as `as_scene` does; refuse planar obstacles."""
    checked = as_scene(scene)
    if checked.planar:
        raise SceneError(f"scene = {shown(checked)} is planar; give obstacles in space: {_NAMES[0]}")
    return checked


def pack(shapes: Sequence[Any]) -> tuple[npt.NDArray[Any], Array]:
    """Return the records of obstacles and the values of their grids, read-only. Nothing else writes `layout.SHAPE`."""
    records = np.zeros(len(shapes), dtype=layout.SHAPE)
    values: list[Array] = []
    for shape, record in zip(shapes, records, strict=True):
        for name, value in {"rotation": np.eye(3), "radius": shape.margin, **shape.record()}.items():
            record[name] = value
        if isinstance(shape, Mesh):
            record["first"] = sum(grid.size for grid in values)
            values.append(shape.grid.values.ravel())
    field = np.concatenate(values) if values else np.empty(0)
    records.flags.writeable = False
    field.flags.writeable = False
    return records, field


def _checked_shapes(shapes: Any) -> tuple[Shape | PlanarShape, ...]:
    if isinstance(shapes, (str, bytes)) or not isinstance(shapes, Iterable):
        loaded = f"; a file or a scene of the catalogue is loaded by load_scene({shown(shapes)})"
        named = loaded if isinstance(shapes, str) else ""
        raise SceneError(f"scene: shapes = {shown(shapes)} is not accepted; give {ACCEPTED}{named}")
    checked = tuple(shapes)
    raise_any(
        [
            f"scene: shapes[{i}] = {shown(shape)} is not accepted; give {ACCEPTED}"
            for i, shape in enumerate(checked)
            if not isinstance(shape, (*SHAPE_TYPES, *PLANAR_TYPES))
        ],
        SceneError,
    )
    if len({isinstance(shape, PLANAR_TYPES) for shape in checked}) > 1:
        raise SceneError("scene: obstacles in space and planar ones do not mix; give a scene of each")
    return checked


def _shape_names(shapes: tuple[Shape | PlanarShape, ...]) -> tuple[str, ...]:
    """Return one name per obstacle: the given one, or its kind and number."""
    counts: Counter[str] = Counter()
    names = []
    for shape in shapes:
        counts[shape.kind] += 1
        names.append(shape.name or f"{shape.kind}-{counts[shape.kind]}")
    raise_any(
        [
            f"scene: name = {shown(name)} is used by {count} obstacles; give every obstacle its own name"
            for name, count in Counter(names).items()
            if count > 1
        ],
        SceneError,
    )
    return tuple(names)
