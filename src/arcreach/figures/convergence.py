"""Draw the error against the iteration, one curve per method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import positive
from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme

# The median by iteration (n,) and the quartiles (2, n), in metres.
Bands = tuple[Array, Array]

# Panels per row of a page; heights in millimetres of a panel, the legend and the margin.
COLUMNS = 3
PANEL, LEGEND, MARGIN = 42.0, 10.0, 8.0
# Height of a panel as a share of its width, and its largest value in millimetres.
RATIO, HIGHEST = 0.62, 70.0
# Number of markers on a curve.
MARKS = 6
# Smaller errors, in metres, are drawn at this value on the logarithmic axis.
SMALLEST = 1e-12
TOLERANCE: dict[str, Any] = {"color": theme.INK, "linewidth": 0.6, "linestyle": (0, (3, 2)), "zorder": 1.0}


def error_bands(errors: Iterable[npt.ArrayLike]) -> Bands:
    """Return the median and the quartiles, over several solves, of the error in metres at each iteration.

    Iteration 0 is the start. The last error of a solve is repeated, so that all solves count at every iteration; solves
    without entries are left out.
    """
    rows = [row for row in (np.asarray(one, dtype=float) for one in errors) if len(row)]
    if not rows:
        raise MethodError("errors is empty; give the errors of at least one solve, an entry per iteration")
    longest = max(len(row) for row in rows)
    table = np.array([np.pad(row, (0, longest - len(row)), mode="edge") for row in rows])
    return np.median(table, axis=0), np.quantile(table, (0.25, 0.75), axis=0)


def convergence(
    cases: Mapping[str, Mapping[str, Bands]], *, tolerance: float | None = None, width: theme.Width | None = None
) -> theme.Figure:
    """Draw the position error against the iteration: the median as a line, the middle half as a band.

    `cases` maps the title of each panel to the results of `error_bands` by method. `tolerance`, in metres, adds a line
    at the error at which solves stop. `width` is in millimetres; the default is a column for one case and a page for
    several.
    """
    width = theme.millimetres(width, len(cases))
    stop = None if tolerance is None else positive("tolerance", tolerance, "a length in metres", MethodError)
    methods = list(dict.fromkeys(method for case in cases.values() for method in case))
    if not methods:
        raise MethodError("cases is empty; give at least one title with at least one method")
    looks = theme.look(methods)
    columns = min(len(cases), COLUMNS)
    lines = math.ceil(len(cases) / columns)
    panel_height = float(np.clip(RATIO * width / columns, PANEL, HIGHEST))
    with theme.drawing(width, lines * panel_height + LEGEND + MARGIN) as figure:
        panels = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
        for k, (panel, (title, by_method)) in enumerate(zip(panels, cases.items(), strict=False)):
            for method, (median, band) in by_method.items():
                x = np.arange(len(median))
                low, high = (theme.MM * np.maximum(edge, SMALLEST) for edge in band)
                panel.fill_between(x, low, high, color=looks[method]["color"], alpha=0.15, linewidth=0)
                marks = _marks(len(median), methods.index(method))
                # Unclipped, so that markers of iteration 0 are whole.
                panel.plot(x, theme.MM * np.maximum(median, SMALLEST), markevery=marks, clip_on=False, **looks[method])
            if stop is not None:
                panel.axhline(theme.MM * stop, **TOLERANCE)
            # Linear from iteration 0, the start, to iteration 1; logarithmic beyond.
            panel.set_xscale("symlog", linthresh=1.0, linscale=0.3)
            panel.set_xlim(left=0.0)
            panel.set_yscale("log")
            if title:
                panel.set_title(title)
            panel.set_xlabel("iteration")
            if k % columns == 0:
                panel.set_ylabel("position error (mm)")
        for panel in panels[len(cases) :]:
            panel.set_visible(False)
        theme.legend_below(figure, looks if stop is None else {**looks, "tolerance": TOLERANCE})
    return figure


def _marks(count: int, k: int) -> list[int]:
    """Return the iterations at which curve k has markers: evenly spaced on a logarithmic axis, offset by curve."""
    shares = (np.arange(MARKS) + (0.5 + 0.31 * k) % 1.0) / MARKS
    return sorted({int(iteration) for iteration in np.round(count**shares) - 1})
