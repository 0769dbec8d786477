"""Draw the share of targets reached against their difficulty, with Wilson intervals as bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme

# For every method: abscissae, numbers of targets reached, and numbers of targets.
Counts = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]]

BEND_LIMIT = "limit of the bend (°)"
# 95 % of the normal distribution lie within this number of standard deviations.
Z95 = 1.959963984540054
# Largest height in millimetres.
HIGHEST = 80.0
# The legend is inside the panel for at most this many methods, else below it.
FEW = 4


def wilson(reached: npt.ArrayLike, count: npt.ArrayLike) -> tuple[Array, Array]:
    """Return the lower and upper ends of the 95 % Wilson intervals of the shares `reached` / `count`."""
    got, of = np.broadcast_arrays(np.asarray(reached, dtype=float), np.asarray(count, dtype=float))
    many = np.maximum(of, 1.0)
    share, square = got / many, Z95**2 / many
    middle = (share + square / 2.0) / (1.0 + square)
    half = Z95 * np.sqrt(share * (1.0 - share) / many + square / (4.0 * many)) / (1.0 + square)
    # Shares of 0 and 1 get an end without rounding errors; no targets give the interval from 0 to 1.
    low = np.where((got == 0.0) | (of == 0.0), 0.0, middle - half)
    high = np.where((got == of) | (of == 0.0), 1.0, middle + half)
    return low, high


def success(counts: Counts, *, label: str = BEND_LIMIT, width: theme.Width = theme.ONE_COLUMN) -> theme.Figure:
    """Draw the share of targets that each method reached, with 95 % Wilson bands.

    `counts` has, for every method, the abscissae, the numbers of targets reached and the numbers of targets. `label` is
    the label of the axis; one that ends in (°) gets ticks every 30 degrees. `width` is in millimetres.
    """
    width = theme.millimetres(width)
    if not counts:
        raise MethodError("counts is empty; give at least one method")
    with theme.drawing(width, min(0.66 * width, HIGHEST) + (0.0 if len(counts) <= FEW else 5.0)) as figure:
        panel = figure.subplots()
        looks = theme.look(list(counts))
        draw_shares(panel, counts, label, looks)
        if len(counts) <= FEW:
            panel.legend(loc="best")
        else:
            theme.legend_below(figure, looks, 6)
    return figure


def draw_shares(panel: Any, counts: Counts, label: str, looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw shares and their bands in a panel."""
    for method, (x, reached, count) in counts.items():
        low, high = wilson(reached, count)
        panel.fill_between(x, 100.0 * low, 100.0 * high, color=looks[method]["color"], alpha=0.2, linewidth=0)
        share = 100.0 * np.asarray(reached, dtype=float) / np.maximum(np.asarray(count, dtype=float), 1.0)
        panel.plot(x, share, label=method, **looks[method])
    panel.set_ylabel("reached (%)")
    panel.set_ylim(-3, 103)
    mark_degrees(panel, label)
    if label:
        panel.set_xlabel(label)


def mark_degrees(panel: Any, label: str) -> None:
    """Set ticks every 30 degrees if the label is in degrees."""
    if label.endswith("(°)"):
        from matplotlib.ticker import MultipleLocator

        panel.xaxis.set_major_locator(MultipleLocator(30.0))
