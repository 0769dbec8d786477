"""Prove lower bounds of clearances with capsules that contain the body; see `kernels.clearance.certified_clearance`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import thread_count, whole
from arcreach._threads import spread
from arcreach.errors import SceneError
from arcreach.kernels.clearance.certified_clearance import shape_bounds, surface_bounds
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import AnyScene, bodies_of, checked_configurations
from arcreach.scenes.scene import spatial_scene

# Smallest number of configurations per thread; each takes tens of microseconds.
_SMALLEST_PIECE = 16


def certified_clearance(
    robot: Robot, q: npt.ArrayLike, scene: AnyScene, *, capsules: int = 16, threads: int | None = None
) -> Any:
    """Return a proven lower bound of the clearance, independent of `clearance`: a float, or (n,) for q (n, dof).

    Every arc is covered by `capsules` capsules. Separating planes between capsules and obstacles prove the distance,
    and a bound of all rounding errors is subtracted. Where the body overlaps an obstacle, the bound is
    negative, but may be far below the true value.
    """
    capsules, threads = whole("capsules", capsules, 1, SceneError), thread_count(threads)
    values, single = checked_configurations(robot, q)
    checked = spatial_scene(scene)
    bodies, counts = bodies_of(robot, values)
    bounds = np.full(len(values), np.inf)
    common = (capsules, bodies, counts, bounds)
    spread(shape_bounds, len(values), checked.exact[0], robot.reach, *common, threads=threads, smallest=_SMALLEST_PIECE)
    for _, mesh in checked.meshes:
        # Vertices and position may both be large and cancel each other.
        size = robot.reach + float(np.abs(mesh._vertices).max() + np.abs(mesh.position).max())
        spread(surface_bounds, len(values), mesh._surface, size, *common, threads=threads, smallest=_SMALLEST_PIECE)
    return float(bounds[0]) if single else bounds
