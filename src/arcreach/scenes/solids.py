"""Obstacles as solids of the collision library coal, of the extra `plan`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.kernels import body
from arcreach.scenes.mesh import Mesh, import_module
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

Array = npt.NDArray[np.float64]


def solid_of(shape: Any) -> tuple[Any, Any]:
    """An obstacle without its margin as a solid of coal, and its pose."""
    coal = import_module("coal", "coal")
    match shape:
        case Sphere():
            return coal.Sphere(shape.radius), placed(np.eye(3), shape.centre)
        case Capsule():
            return capsule_between(np.asarray(shape.a), np.asarray(shape.b), shape.radius)
        case Box():
            return coal.Box(*shape.size), placed(shape.rotation, shape.centre)
        case HalfSpace():
            offset = float(np.dot(shape.normal, shape.point))
            return coal.Halfspace(np.array(shape.normal), offset), coal.Transform3s()
    return surface_of(shape), placed(shape.rotation, shape.position)


def surface_of(mesh: Mesh) -> Any:
    """The triangles of a mesh as a tree of coal, in the mesh's own frame."""
    coal = import_module("coal", "coal")
    kept = mesh.__dict__.get("_solid")
    if kept is None:
        kept = coal.BVHModelOBBRSS()
        kept.beginModel(len(mesh._faces), len(mesh._vertices))
        for corners in mesh._vertices[mesh._faces]:
            kept.addTriangle(*corners)
        kept.endModel()
        mesh.__dict__["_solid"] = kept
    return kept


def capsule_between(a: Array, b: Array, radius: float) -> tuple[Any, Any]:
    """A capsule of coal around the segment from a to b, and its pose."""
    coal = import_module("coal", "coal")
    way = b - a
    length = float(np.linalg.norm(way))
    axis = way / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    side = np.array(body.across(*axis))
    rotation = np.column_stack([side, np.cross(axis, side), axis])
    return coal.Capsule(radius, length), placed(rotation, 0.5 * (a + b))


def distance_of(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[float, Array, Array]:
    """The signed distance of two solids of coal and the nearest points of both."""
    coal = import_module("coal", "coal")
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    distance = float(coal.distance(*first, *second, request, result))
    return distance, np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())


def placed(rotation: Any, position: Any) -> Any:
    """A pose of coal."""
    coal = import_module("coal", "coal")
    return coal.Transform3s(np.array(rotation, dtype=float), np.array(position, dtype=float))
