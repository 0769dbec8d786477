"""Write obstacles as the record array that kernels read. Nothing else writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.kernels.clearance import shapes as layout
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere


def pack(shapes: Sequence[Any]) -> tuple[npt.NDArray[Any], Array]:
    """The records of obstacles and the values of their grids, read-only."""
    records = np.zeros(len(shapes), dtype=layout.SHAPE)
    values: list[Array] = []
    first = 0
    for shape, record in zip(shapes, records, strict=True):
        record["rotation"] = np.eye(3)
        record["radius"] = shape.margin
        match shape:
            case Sphere():
                record["kind"] = layout.SPHERE
                record["position"] = shape.centre
                record["radius"] += shape.radius
            case Capsule():
                record["kind"] = layout.CAPSULE
                record["position"] = shape.a
                record["along"] = np.subtract(shape.b, shape.a)
                record["radius"] += shape.radius
            case HalfSpace():
                record["kind"] = layout.HALF_SPACE
                record["position"] = shape.point
                record["along"] = shape.normal
            case Box():
                record["kind"] = layout.BOX
                record["position"] = shape.centre
                record["rotation"] = shape.rotation
                record["half"] = 0.5 * np.asarray(shape.size)
            case Mesh():
                _pack_mesh(shape, record, first)
                values.append(shape.grid.values.ravel())
                first += values[-1].size
    field = np.concatenate(values) if values else np.empty(0)
    records.flags.writeable = False
    field.flags.writeable = False
    return records, field


def _pack_mesh(mesh: Mesh, record: Any, first: int) -> None:
    grid = mesh.grid
    record["kind"] = layout.MESH
    record["rotation"] = mesh.rotation
    record["position"] = np.asarray(mesh.position) + np.asarray(mesh.rotation) @ grid.origin
    # Taken off, so that no distance by the grid is more than the true one.
    record["radius"] += grid.error
    record["first"] = first
    record["nodes"] = grid.values.shape
    record["spacing"] = grid.spacing
    record["half"] = (np.array(grid.values.shape) - 1) * grid.spacing
    record["slope"] = grid.slope
