"""`reach_map`: for positions on a grid, the share of directions in which the tip reaches them, and its dexterity."""

from __future__ import annotations

import io
import math
import os
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import array_of, real_array, shown, whole
from arcreach._io import check_output, read_bytes, write_bytes
from arcreach._typing import Array, Booleans
from arcreach.errors import FileError, MethodError, TargetError
from arcreach.ik.solve import solve_batch
from arcreach.robots.robot import Robot

# Random configurations whose tips bound the grid, and its margin on all sides as a share of its longest side.
TIPS = 4096
ROOM = 0.02
# Fixed RNG seed of these configurations, so that equal calls give equal maps.
SEED = 7
# Step budget per target. It makes maps 7 to 32 times faster and misses 3 of 2615 directions that a UR5 reaches.
ITERATIONS = 1000
AXES = ("x", "y", "z")
# Bytes of the largest file that is read.
LARGEST_FILE = 1_000_000_000
_FIELDS = ("positions", "directions", "reached", "dexterity")


@dataclass(frozen=True)
class ReachMap:
    """The positions that a robot reaches: a row per position, a column per direction of the tip's z axis.

    Without directions there is one column, for the position alone.
    """

    robot: Robot | None = field(repr=False)
    positions: Array  # (m, 3)
    directions: Array  # (k, 3), unit vectors; (0, 3) for positions alone
    reached: Booleans  # (m, k), or (m, 1) without directions
    dexterity: Array  # (m, k): inverse condition of the tip's translation at the solution, 0 where not reached

    @property
    def share(self) -> Array:
        """The share of directions in which each position is reached (m,)."""
        return np.asarray(self.reached.mean(axis=1))

    @property
    def mean_dexterity(self) -> Array:
        """The mean dexterity over the directions that are reached (m,), 0 where none is."""
        return np.asarray(self.dexterity.sum(axis=1) / np.maximum(self.reached.sum(axis=1), 1))

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the arrays to a NumPy file, .npz."""
        check_output(file, (".npz",))
        content = io.BytesIO()
        np.savez_compressed(content, **{name: getattr(self, name) for name in _FIELDS})
        write_bytes(file, content.getvalue())

    @classmethod
    def load(cls, file: str | os.PathLike[str], robot: Robot | None = None) -> ReachMap:
        """Read a map that `save` wrote."""
        content = io.BytesIO(read_bytes(file, LARGEST_FILE))
        try:
            with np.load(content) as stored:
                return cls(robot, *(stored[name] for name in _FIELDS))
        # A .npy file gives an array in place of a mapping, which has no `with`: TypeError.
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise FileError(f"{file}: is not a reach map ({error}); give a file that ReachMap.save wrote") from None

    def __str__(self) -> str:
        share = self.share
        if not (share > 0.0).any():
            return f"none of {len(share)} positions reached"
        text = f"{int((share > 0.0).sum())} of {len(share)} positions reached"
        if len(self.directions):
            directions = _text.count(len(self.directions), "direction")
            text += f" in at least one of {directions}, {int((share == 1.0).sum())} in all"
        return f"{text}; mean dexterity {float(self.mean_dexterity[share > 0.0].mean()):.3f}"


def reach_map(
    robot: Robot,
    positions: npt.ArrayLike | None = None,
    *,
    directions: int | npt.ArrayLike = 32,
    cells: int = 12,
    layer: tuple[str, float] | None = None,
    max_iterations: int | None = ITERATIONS,
    device: str = "cpu",
    **options: Any,
) -> ReachMap:
    """Return which positions a robot reaches, in which directions, and how evenly it moves there.

    `positions` (m, 3) are in metres; by default a grid with `cells` along the longest side of the box around the
    workspace, or with `layer`, an axis and a coordinate such as ("y", 0.0), the cells of that plane only. `directions`
    of the tip's z axis are vectors (k, 3), or a number of evenly spread ones; 0 asks for positions alone. A larger
    `max_iterations` finds few more solutions, because nearly all time goes to targets out of reach. `max_iterations`,
    `device` and other options are those of `solve_batch`, which solves all pairs in one batch.
    """
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    if positions is None:
        points = _grid(robot, whole("cells", cells, 2), layer)
    elif layer is None:
        points = array_of("positions", positions, (None, 3))
    else:
        raise TargetError("positions and layer are both given; give one of them")
    axes = _directions(directions)
    m, k = len(points), max(len(axes), 1)
    if not m:
        raise TargetError("positions is empty; give at least one")
    targets = np.repeat(points, k, axis=0)
    wanted = np.tile(axes, (m, 1)) if len(axes) else None
    found = solve_batch(robot, targets, wanted, max_iterations=max_iterations, device=device, **options)
    dexterity = np.zeros(m * k)
    if found.reached.any():
        dexterity[found.reached] = robot.manipulability(found.q[found.reached]).translation.inverse_condition
    return ReachMap(robot, points, axes, found.reached.reshape(m, k), dexterity.reshape(m, k))


def checked_layer(layer: Any) -> tuple[int, float]:
    """Return the index of the axis and the coordinate in metres of a plane given as ("y", 0.0)."""
    if isinstance(layer, (tuple, list)) and len(layer) == 2 and isinstance(layer[0], str) and layer[0] in AXES:
        at = real_array(layer[1])
        if at is not None and at.shape == () and np.isfinite(at):
            return AXES.index(layer[0]), float(at)
    raise TargetError(
        f"layer = {shown(layer)} is not accepted; give an axis, x, y or z, and a coordinate in metres: ('y', 0.0)"
    )


def _grid(robot: Robot, cells: int, layer: tuple[str, float] | None) -> Array:
    """Return the centres (m, 3) of cubic cells that fill the box around random tips, or a plane of it."""
    plane = None if layer is None else checked_layer(layer)
    tips = robot.tip_pose(robot.sample(TIPS, seed=SEED))[:, :3, 3]
    low, high = tips.min(axis=0), tips.max(axis=0)
    room = ROOM * float((high - low).max())
    low, high = low - room, high + room
    # The tip of a robot without length stays where it is: one cell of any size holds it.
    size = float((high - low).max()) / cells or 1.0
    counts = np.maximum(np.ceil((high - low) / size - 1e-9).astype(int), 1)
    middle = 0.5 * (low + high)
    sides = [c + size * (np.arange(n) - 0.5 * (n - 1)) for c, n in zip(middle, counts, strict=True)]
    if plane is not None:
        axis, at = plane
        if not low[axis] <= at <= high[axis]:
            raise TargetError(
                f"layer {AXES[axis]} = {_text.length(at)} is beyond the robot, whose tip moves from "
                f"{_text.length(low[axis])} to {_text.length(high[axis])} there; coordinates are metres"
            )
        sides[axis] = np.array([at])
    return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 3)


def _directions(directions: Any) -> Array:
    """Return unit vectors (k, 3): as given, or evenly spread on a spiral from pole to pole."""
    if isinstance(directions, (int, np.integer)) and not isinstance(directions, bool):
        k = whole("directions", directions, 0)
        z = 1.0 - (2.0 * np.arange(k) + 1.0) / max(k, 1)
        turn = math.pi * (3.0 - math.sqrt(5.0)) * np.arange(k)
        across = np.sqrt(1.0 - z * z)
        return np.stack([across * np.cos(turn), across * np.sin(turn), z], axis=1)
    given = array_of("directions", directions, (None, 3))
    lengths = np.linalg.norm(given, axis=1, keepdims=True)
    if not np.isfinite(given).all() or not (lengths > 0.0).all():
        raise TargetError(f"directions = {shown(given)} is not accepted; give finite vectors that are not zero")
    return np.asarray(given / lengths)
