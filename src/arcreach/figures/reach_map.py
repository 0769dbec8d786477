"""Draw one layer of a reach map: the share of directions reached, and the mean dexterity beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach import _text
from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import MM
from arcreach.ik.reach_map import AXES, ReachMap, checked_layer

# Coordinates in metres that differ by less than this share of the map's size are equal.
SAME = 1e-6
# Millimetres beside the panels, and below them for their axis and the colour bars.
BESIDE, BELOW = 16.0, 30.0


def reach_map(
    reach: ReachMap, *, layer: tuple[str, float] | None = None, width: theme.Width = theme.ONE_COLUMN
) -> theme.Figure:
    """Draw one layer of a reach map, coloured by the share of directions reached and by the mean dexterity.

    `layer` is an axis and a coordinate in metres: ("z", 0.1) selects the layer nearest to z = 0.1. The default is the
    only layer of a flat map, else the one nearest to y = 0. The positions must be on a grid. Cells that are reached in
    none of the map's directions stay white; more directions may reach them. `width` is in millimetres.
    """
    width = theme.millimetres(width)
    if not isinstance(reach, ReachMap):
        raise MethodError(f"reach = {reach!r} is not accepted; give a ReachMap, as reach_map returns")
    normal, at, rows = _layer(reach.positions, layer)
    across, up = (axis for axis in range(3) if axis != normal)
    index, extent = _cells(reach.positions[rows][:, [across, up]])
    share = reach.share[rows]
    directions = _text.count(len(reach.directions), "direction") if len(reach.directions) else ""
    if not share.any():
        tried = f" in any of {directions}" if directions else ""
        raise MethodError(
            f"layer {AXES[normal]} = {_text.length(at)} has no position that is reached{tried}; give another layer, "
            "more cells, or 0 directions to map positions alone"
        )
    label = f"reached of {directions} (%)" if directions else "position reached (%)"
    drawn = {
        label: ("viridis", 100.0 * share),
        "mean dexterity (–)": ("cividis", reach.mean_dexterity[rows]),
    }
    tall = (extent[3] - extent[2]) / (extent[1] - extent[0])
    height = 0.5 * (width - BESIDE) * tall + BELOW
    with theme.drawing(width, float(np.clip(height, 42.0, 1.35 * width))) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for panel, (name, (colours, values)) in zip(panels, drawn.items(), strict=True):
            image = np.full(index.max(axis=0) + 1, np.nan)
            image[index[:, 0], index[:, 1]] = np.where(share > 0.0, values, np.nan)
            picture = panel.imshow(
                image.T, origin="lower", extent=extent, interpolation="nearest", cmap=colours, vmin=0.0, zorder=1.0
            )
            panel.set_xlabel(f"{AXES[across]} (mm)")
            figure.colorbar(picture, ax=panel, orientation="horizontal", label=name, aspect=16)
        panels[0].set_ylabel(f"{AXES[up]} (mm)")
        figure.suptitle(f"{AXES[normal]} = {MM * at:.4g} mm", fontsize=8.0)
    return figure


def _layer(positions: Array, layer: Any) -> tuple[int, float, Any]:
    """Return the axis and coordinate of the layer nearest to the requested one, and the rows of its positions."""
    same = SAME * float(np.ptp(positions, axis=0).max(initial=0.0))
    if layer is None:
        flat = [axis for axis in range(3) if np.ptp(positions[:, axis]) <= same]
        axis, wanted = (flat[0] if len(flat) == 1 else 1), 0.0
    else:
        axis, wanted = checked_layer(layer)
    values = positions[:, axis]
    low, high = float(values.min()), float(values.max())
    # Half a cell beyond the outer layers.
    spare = 0.5 * float(np.diff(np.unique(values)).max(initial=0.0)) + same
    if layer is not None and not low - spare <= wanted <= high + spare:
        hint = ": were millimetres meant?" if low - spare <= wanted / MM <= high + spare else ""
        raise MethodError(
            f"layer {AXES[axis]} = {_text.length(wanted)} is outside of the map, whose layers are from "
            f"{_text.length(low)} to {_text.length(high)}; coordinates are metres{hint}"
        )
    at = float(values[np.argmin(np.abs(values - wanted))])
    return axis, at, np.flatnonzero(np.abs(values - at) <= same)


def _cells(positions: Array) -> tuple[Any, Array]:
    """Return the grid indices (m, 2) of positions, and the grid's left, right, lower and upper end in millimetres."""
    low, same = positions.min(axis=0), SAME * float(np.ptp(positions, axis=0).max())
    steps = [np.diff(np.sort(side)) for side in positions.T]
    sizes = np.array([step[step > same].min(initial=np.inf) for step in steps])
    # A grid of one row has square cells.
    sizes = np.where(np.isinf(sizes), sizes.min(), sizes)
    if np.isinf(sizes).any():
        raise MethodError("the layer has a single position; give a map of a grid, or another layer")
    shares = (positions - low) / sizes
    index = np.round(shares).astype(np.int64)
    if np.abs(shares - index).max() > 1e-3 or len(np.unique(index, axis=0)) < len(index):
        raise MethodError("the positions of the layer are not on a grid; give a map of a grid, as reach_map by default")
    ends = MM * np.stack([low - 0.5 * sizes, low + (index.max(axis=0) + 0.5) * sizes], axis=1)
    return index, ends.ravel()
