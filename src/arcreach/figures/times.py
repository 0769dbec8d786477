"""Draw the times of solves: a histogram per method, or the share reached within a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import GREY, INK

# By method: the seconds of the solves that reached their target, and the number of all solves.
Times = Mapping[str, tuple[npt.ArrayLike, int]]

US = 1e6
# Heights in millimetres of a row of histograms, of a panel, of the legend and of the margins around rows and panels.
ROW, PANEL, LEGEND, ROWS_MARGIN, MARGIN = 9.5, 42.0, 10.0, 7.0, 12.0
COLUMNS = 3
BINS_PER_DECADE = 16
# Resolution of the clock in microseconds; shorter times are drawn at this value.
FASTEST = 0.05


def solve_times(times: Times, *, width: theme.Width = theme.ONE_COLUMN) -> theme.Figure:
    """Draw histograms of the time per solve, a row per method on one logarithmic axis.

    `times` has, for every method, the seconds of the solves that reached their target and the number of all solves. A
    line marks the median, a triangle the 99th percentile; the median and the share reached are at the right. `width`
    is in millimetres.
    """
    width = theme.millimetres(width)
    if not times:
        raise MethodError("times is empty; give at least one method")
    rows = {name: np.maximum(US * np.asarray(seconds, dtype=float), FASTEST) for name, (seconds, _) in times.items()}
    filled = [row for row in rows.values() if len(row)] or [np.array([1.0, 10.0])]
    # The slowest thousandth of a method is drawn at the right end, so that one interrupted solve does not compress the
    # axis.
    fastest, slowest = min(row.min() for row in filled), max(np.quantile(row, 0.999) for row in filled)
    low = 10.0 ** math.floor(math.log10(fastest))
    high = max(10.0 ** math.ceil(math.log10(slowest)), 10.0 * low)
    edges = np.geomspace(low, high, round(BINS_PER_DECADE * math.log10(high / low)) + 1)
    looks = theme.look(list(times))
    with theme.drawing(width, len(rows) * ROW + LEGEND + ROWS_MARGIN) as figure:
        panels = figure.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
        for panel, (name, row) in zip(panels, rows.items(), strict=True):
            _draw_row(panel, row, edges, looks[name]["color"])
            panel.set_ylabel(name, rotation=0, ha="right", va="center")
            _write_numbers(panel, row, times[name][1])
            if panel is not panels[-1]:
                panel.tick_params(axis="x", which="both", length=0)
        panels[-1].set_xscale("log")
        panels[-1].set_xlim(low, high)
        panels[-1].set_xlabel("time per solve (µs)")
        theme.legend_below(figure, _legend())
    return figure


def _legend() -> list[Any]:
    look = {"color": INK, "linestyle": ""}
    return [
        theme.handle("median", marker="|", markersize=7.0, markeredgewidth=1.0, **look),
        theme.handle("99th percentile", marker="v", markersize=4.0, markeredgewidth=0.0, **look),
    ]


def _draw_row(panel: Any, row: Array, edges: Array, colour: str) -> None:
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.set_ylim(0.0, 1.12)
    if not len(row):
        return
    counts, _ = np.histogram(np.clip(row, edges[0], edges[-1]), edges)
    panel.stairs(counts / counts.max(), edges, fill=True, color=colour, alpha=0.35, linewidth=0)
    panel.stairs(counts / counts.max(), edges, color=colour, linewidth=0.8)
    median, late = np.median(row), np.quantile(row, 0.99)
    panel.plot([median, median], [0.0, 1.0], color=INK, linewidth=1.0)
    panel.plot([late], [0.13], marker="v", markersize=4.0, color=INK, markeredgewidth=0.0)


def _write_numbers(panel: Any, row: Array, count: int) -> None:
    """Write the median and the share reached, rounded down, at the right of a row."""
    share = math.floor(1000.0 * len(row) / max(count, 1)) / 10.0
    text = (f"{_text.seconds(float(np.median(row)) / US)}\n" if len(row) else "") + f"{share:g} %"
    style = {"transform": panel.transAxes, "ha": "left", "va": "center", "fontsize": 7.0, "color": GREY}
    panel.text(1.02, 0.5, text, linespacing=1.1, **style)


def time_distributions(
    cases: Mapping[str, Times], *, methods: Sequence[str] | None = None, width: theme.Width = theme.TWO_COLUMNS
) -> theme.Figure:
    """Draw the share of solves that reached their target within a time, a panel per case.

    `cases` maps the title of each panel to the argument `times` of `solve_times`. `methods` is the order of the legend
    and names every method of the cases; `width` is in millimetres.
    """
    width = theme.millimetres(width)
    given = list(dict.fromkeys(method for case in cases.values() for method in case))
    methods = methods or given
    if not cases:
        raise MethodError("cases is empty; give at least one title with its methods")
    missing = [method for method in given if method not in methods]
    if missing:
        raise MethodError(f"methods lacks {', '.join(missing)} of the cases; name every method, or leave methods out")
    looks = theme.look(methods)
    columns = min(len(cases), COLUMNS)
    lines = math.ceil(len(cases) / columns)
    with theme.drawing(width, lines * PANEL + LEGEND + MARGIN) as figure:
        panels = figure.subplots(lines, columns, squeeze=False, sharey=True, sharex=True).ravel()
        for panel, (title, times) in zip(panels, cases.items(), strict=False):
            for method, (seconds, count) in times.items():
                # Offset the markers of every curve, so that those of different curves do not coincide.
                marks = (0.03 + 0.17 * (methods.index(method) / len(methods)), 0.2)
                _draw_distribution(
                    panel, np.asarray(seconds, dtype=float), count, {**looks[method], "markevery": marks}
                )
            panel.set_xscale("log")
            panel.set_title(title)
            panel.set_ylim(0, 103)
        for k, panel in enumerate(panels):
            panel.set_visible(k < len(cases))
            if k % columns == 0:
                panel.set_ylabel("reached (%)")
            if k + columns >= len(cases):
                panel.set_xlabel("time (µs)")
                panel.tick_params(labelbottom=True)
        theme.legend_below(figure, looks)
    return figure


def _draw_distribution(panel: Any, seconds: Array, count: int, look: dict[str, Any]) -> None:
    if not len(seconds):
        return
    ordered = np.sort(seconds) * US
    # Two hundred points are enough for a curve.
    shown = np.unique(np.linspace(0, len(ordered) - 1, 200).round().astype(int))
    panel.plot(np.maximum(ordered[shown], FASTEST), 100.0 * (shown + 1) / count, drawstyle="steps-post", **look)
