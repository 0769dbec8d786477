"""Draw maps of a workspace by distance from the base's z axis and height, cell by cell."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import generator, positive, whole
from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import MM
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Corners (n, 2) of cells, as distance from the z axis and height in metres, and a value for each.
Cells = tuple[npt.ArrayLike, npt.ArrayLike]

# Default number of cells along the longer side of the map of `tip_directions`.
ACROSS = 60
# Resolution of the directions of the tip's axis: bands of equal height on the sphere, and parts of a turn.
BANDS, TURNS = 8, 12
CHUNK = 50_000  # configurations per batch
# Changes of the tip up to this share of its distance are rounding errors.
STILL = 1e-9
SAME_BOTH, OURS, THEIRS = "#B7D8C8", theme.BLUE, theme.VERMILION
# Largest distance of a corner from its place on the grid of a map, as a share of a cell.
OFF_GRID = 1e-3
# Millimetres around maps, and for a colour bar.
MARGIN, BAR = 16.0, 14.0


def workspace(
    maps: Mapping[str, Cells],
    *,
    cell: float,
    label: str,
    logarithmic: bool = False,
    limits: tuple[float, float] | None = None,
    width: theme.Width | None = None,
) -> theme.Figure:
    """Draw values over cells of the workspace: one map per title, all on one colour scale.

    Cells are squares of the size `cell` in metres, given by their lower left corners, which lie on one grid per map.
    `label` names the values; `limits` are the ends of the scale, beyond which colours do not change. `width` is in
    millimetres; the default is a column for one map and a page for several.
    """
    width = theme.millimetres(width, len(maps))
    from matplotlib.colors import LogNorm, Normalize

    drawn = {title: _checked(title, *cells) for title, cells in maps.items()}
    everything = np.concatenate([values for _, values in drawn.values()] or [np.empty(0)])
    if not len(everything):
        raise MethodError("maps is empty; give at least one title with at least one cell")
    low, high = limits or (float(everything.min()), float(everything.max()))
    if logarithmic and low <= 0.0:
        raise MethodError(f"the smallest value {low:g} is not on a logarithmic scale; give values or limits above 0")
    norm = LogNorm(low, max(high, 1.01 * low)) if logarithmic else Normalize(low, high)
    beyond = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    with _panels(drawn, cell, width, BAR) as (figure, panels):
        picture: Any = None
        for panel, (title, (corners, values)) in zip(panels, drawn.items(), strict=True):
            picture = _draw(panel, corners, values, cell, cmap="viridis", norm=norm) if len(corners) else picture
            if title:
                panel.set_title(title)
        extend = beyond[bool(everything.min() < low), bool(everything.max() > high)]
        figure.colorbar(picture, ax=list(panels), label=label, shrink=0.85, extend=extend, aspect=28, pad=0.03)
    return figure


def workspace_cells(
    maps: Mapping[str, Mapping[str, npt.ArrayLike]],
    *,
    cell: float,
    colours: Sequence[str] = (SAME_BOTH, OURS, THEIRS),
    width: theme.Width | None = None,
) -> theme.Figure:
    """Draw groups of cells in colours, one map per title.

    A group is given by the lower left corners (n, 2) of its cells in metres; all groups of a map lie on one grid. There
    are at most as many groups as `colours`. `cell` and `width` are as in `workspace`.
    """
    width = theme.millimetres(width, len(maps))
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    names = list(dict.fromkeys(name for groups in maps.values() for name in groups))
    if not names:
        raise MethodError("maps is empty; give at least one title with at least one group of cells")
    if len(names) > len(colours):
        raise MethodError(f"maps has {len(names)} groups; give as many colours, or fewer groups: {', '.join(names)}")
    drawn = {
        title: {name: np.asarray(corners, dtype=float).reshape(-1, 2) for name, corners in groups.items()}
        for title, groups in maps.items()
    }
    extents = {title: (np.vstack(list(groups.values())), np.empty(0)) for title, groups in drawn.items()}
    with _panels(extents, cell, width, 0.0) as (figure, panels):
        for panel, (title, groups) in zip(panels, drawn.items(), strict=True):
            for name, corners in groups.items():
                if len(corners):
                    colour = ListedColormap([colours[names.index(name)]])
                    _draw(panel, corners, np.ones(len(corners)), cell, cmap=colour)
            if title:
                panel.set_title(title)
        handles = [Patch(color=colours[k], label=name) for k, name in enumerate(names)]
        theme.legend_below(figure, handles)
    return figure


def tip_directions(
    robot: Robot | SymbolicRobot, *, samples: int = 400_000, seed: int = 0, cell: float | None = None
) -> tuple[Array, Array, float]:
    """Estimate, from random configurations, the share of directions in which the tip's axis can point in each cell.

    Returns the corners (n, 2) of the cells that were hit, the shares (n,), and the size of a cell in metres, by default
    a 60th of the workspace. The shares are lower bounds, because a small sample misses directions. Directions are
    relative to the half-plane through the tip.
    """
    whole("samples", samples, 1, MethodError)
    positions, kinds = [], []
    rng = generator(seed)
    for first in range(0, samples, CHUNK):
        poses = robot.tip_pose(robot.sample(min(CHUNK, samples - first), rng))
        x, y, z = poses[:, :3, 3].T
        positions.append(np.stack([np.hypot(x, y), z], axis=1))
        turn = np.arctan2(poses[:, 1, 2], poses[:, 0, 2]) - np.arctan2(y, x)
        band = np.clip((0.5 * (1.0 + poses[:, 2, 2]) * BANDS).astype(np.int64), 0, BANDS - 1)
        kinds.append(band * TURNS + np.floor(np.remainder(turn / (2.0 * np.pi), 1.0) * TURNS).astype(np.int64) % TURNS)
    points, kind = np.concatenate(positions), np.concatenate(kinds)
    span = float(np.ptp(points, axis=0).max())
    # A joint about z alone changes neither distance nor height, but for rounding errors.
    if cell is None and span <= STILL * float(np.abs(points).max()):
        raise MethodError(f"robot '{robot.name}' keeps its tip at one distance and height; give the size of a cell")
    size = span / ACROSS if cell is None else positive("cell", cell, "a length in metres", MethodError)
    index = np.floor(points / size).astype(np.int64)
    # A direction counts once per cell.
    found = np.unique(np.column_stack([index, kind]), axis=0)
    cells, counts = np.unique(found[:, :2], axis=0, return_counts=True)
    return cells * size, counts / (BANDS * TURNS), size


def _checked(title: str, given: npt.ArrayLike, values: npt.ArrayLike) -> tuple[Array, Array]:
    corners, numbers = np.asarray(given, dtype=float), np.asarray(values, dtype=float)
    if corners.ndim != 2 or corners.shape[1] != 2 or numbers.shape != (len(corners),):
        raise MethodError(
            f"map '{title}' has corners of the shape {corners.shape} and values of the shape {numbers.shape}; give "
            "(n, 2) and (n,)"
        )
    return corners, numbers


def _check_grid(title: str, corners: Array, cell: float) -> None:
    shares = (corners - corners[:1]) / cell
    off = np.flatnonzero(~(np.abs(shares - np.round(shares)) <= OFF_GRID).all(axis=1))
    if len(off):
        raise MethodError(
            f"map '{title}' has the corners {corners[0].tolist()} and {corners[off[0]].tolist()}, which are not whole "
            f"cells of {cell:g} m apart; give corners on one grid"
        )


@contextlib.contextmanager
def _panels(
    drawn: Mapping[str, tuple[Array, Array]], cell: float, width: float, bar: float
) -> Iterator[tuple[theme.Figure, Any]]:
    """Yield a figure, as `theme.drawing` does, with a panel per map, all of the same scale."""
    positive("cell", cell, "a length in metres", MethodError)
    for title, (points, _) in drawn.items():
        _check_grid(title, points, cell)
    corners = np.vstack([points for points, _ in drawn.values()])
    low, high = MM * corners.min(axis=0), MM * (corners.max(axis=0) + cell)
    low[0] = min(low[0], 0.0)
    span = (high - low) * 1.02
    height = (width - MARGIN - bar) / len(drawn) * span[1] / span[0] + MARGIN + (0.0 if bar else 8.0)
    with theme.drawing(width, float(np.clip(height, 50.0, 1.35 * width))) as figure:
        panels = figure.subplots(1, len(drawn), sharey=True, squeeze=False)[0]
        for panel in panels:
            panel.set_aspect("equal")
            panel.set_xlabel("distance from the z axis (mm)" if len(drawn) < 3 else "distance (mm)")
            panel.set_xlim(low[0], low[0] + span[0])
            panel.set_ylim(high[1] - span[1], low[1] + span[1])
        panels[0].set_ylabel("z (mm)")
        yield figure, panels


def _draw(panel: Any, corners: Array, values: Array, cell: float, **colours: Any) -> Any:
    """Draw cells as one image, which is smaller than thousands of squares."""
    low = corners.min(axis=0)
    index = np.round((corners - low) / cell).astype(np.int64)
    image = np.full(index.max(axis=0)[::-1] + 1, np.nan)
    image[index[:, 1], index[:, 0]] = values
    ends = np.stack([low, low + cell * np.array(image.shape[::-1])], axis=1)
    return panel.imshow(
        image, origin="lower", extent=MM * ends.ravel(), interpolation="nearest", aspect="equal", zorder=1.0, **colours
    )
