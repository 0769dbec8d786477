"""Draw a fit: measured and predicted tips of the rows held out, and the tip errors of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.calibration.robot_fit import Fit
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import BLUE, INK, MM, PALE, VERMILION

# Height in millimetres; number of bins of the histogram; quantile of the errors at which the histogram ends.
HEIGHT, BINS, QUANTILE = 68.0, 30, 0.995
MEAN: dict[str, Any] = {"linewidth": 0.6, "linestyle": (0, (3, 2))}


def calibration(fit: Fit, *, width: theme.Width = theme.TWO_COLUMNS) -> theme.Figure:
    """Draw measured and predicted tips from above and from the side, and a histogram of the tip errors.

    The tips are those of the rows that were held out, or all if none were.
    `width` is in millimetres.
    """
    width = theme.millimetres(width)
    if not isinstance(fit, Fit):
        raise MethodError(f"fit = {type(fit).__name__} is not accepted; give a Fit, which ar.fit returns")
    rows = fit.held_out if fit.held_out.any() else ~fit.held_out
    measured, predicted = MM * fit.data.positions[rows], MM * fit.predicted[rows]
    with theme.drawing(width, HEIGHT) as figure:
        above, side, errors = figure.subplots(1, 3)
        for panel, axes in ((above, [0, 1]), (side, [0, 2])):
            _draw_tips(panel, measured[:, axes], predicted[:, axes])
            panel.set_xlabel(f"{'xyz'[axes[0]]} (mm)")
            panel.set_ylabel(f"{'xyz'[axes[1]]} (mm)")
        _draw_errors(errors, fit)
        handles = [one for panel in (above, errors) for one in panel.get_legend_handles_labels()[0]]
        theme.legend_below(figure, [*handles, theme.handle("mean", color=INK, **MEAN)])
    return figure


def _draw_tips(panel: Any, measured: Array, predicted: Array) -> None:
    """Draw tips (n, 2), with a line from each measured one to its prediction."""
    panel.plot(*np.stack([measured, predicted], axis=1).T, color=PALE, linewidth=0.4, zorder=1)
    # A dot inside a ring, so that both are seen where they coincide.
    panel.plot(*measured.T, "o", label="measured", **theme.hollow(INK, 3.6, 0.6, "none"))
    panel.plot(*predicted.T, "o", color=VERMILION, markersize=1.8, markeredgewidth=0, label="predicted")
    panel.set_aspect("equal", adjustable="datalim")


def _draw_errors(panel: Any, fit: Fit) -> None:
    shares = 100.0 * fit.tip_errors / fit.length
    # An exact fit has no spread: keep the edges of the bins apart.
    edges = np.linspace(0.0, max(float(np.quantile(shares, QUANTILE)), 1e-9), BINS + 1)
    for rows, colour, name in ((~fit.held_out, BLUE, "rows fitted"), (fit.held_out, VERMILION, "rows held out")):
        if rows.any():
            # Larger errors count in the last bin, so that no row is left out.
            panel.hist(np.minimum(shares[rows], edges[-1]), edges, histtype="step", color=colour, label=name)
            panel.axvline(shares[rows].mean(), color=colour, **MEAN)
    panel.set_xlabel("tip error (% of length)")
    panel.set_ylabel("rows")
    panel.set_xlim(0.0, edges[-1])
