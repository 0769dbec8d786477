"""Draw the figures of reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arcreach import figures
from arcreach._typing import Array
from arcreach.experiments.report.statistics import NONE, Summary
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.theme import GREY, INK, look
from arcreach.figures.success import draw_shares, mark_degrees, success

Curves = Mapping[str, Sequence[tuple[float, Summary]]]

# Millimetres of paper for a row of panels, and for the legend.
PANEL = 42.0
LEGEND = 10.0
# An axis with fewer iterations has a tick for each.
FEW_ITERATIONS = 10
# Style of curves of means, where it differs from that of medians.
HOLLOW = {"markerfacecolor": "white", "linestyle": ":", "linewidth": 0.7}
# Largest number of cases whose times are drawn.
MOST_PANELS = 9
# Colour of the cells of a method and a case without rows; it is no colour of the scale.
NO_ROWS = "#DEDEDE"
# Size of the cells of maps in metres.
CELL = 1e-3


def success_curves(curves: Curves, label: str) -> theme.Figure:
    """Draw the share reached as curves, with Wilson intervals as bands; `label` names the abscissa."""
    return success(_counts(curves), label=label, width=theme.ONE_COLUMN * 1.3)


def _counts(curves: Curves) -> dict[str, tuple[list[float], list[int], list[int]]]:
    """Return, by method, the abscissae, the numbers of targets reached, and the numbers of targets."""
    return {
        method: ([x for x, _ in points], [one.reached for _, one in points], [one.count for _, one in points])
        for method, points in curves.items()
    }


def method_curves(
    panels: Mapping[str, Curves], label: str, logarithmic: bool = False, means: bool = False
) -> theme.Figure:
    """Draw share, median time and median iterations as a row of three panels for each set of curves.

    With `means`, dotted lines with hollow markers show the means.
    """
    methods = list(dict.fromkeys(method for curves in panels.values() for method in curves))
    looks = look(methods)
    with theme.drawing(theme.TWO_COLUMNS, len(panels) * PANEL + LEGEND + 6.0) as figure:
        rows = figure.subplots(len(panels), 3, squeeze=False, sharex=True)
        for row, (title, curves) in zip(rows, panels.items(), strict=True):
            draw_shares(row[0], _counts(curves), "", looks)
            for panel, what, unit in ((row[1], "time", 1e6), (row[2], "iterations", 1.0)):
                for method, points in curves.items():
                    for kind, changed in (("median", {}), *((("mean", HOLLOW),) if means else ())):
                        values = [(x, unit * getattr(one, f"{kind}_{what}")) for x, one in points if one.reached]
                        if values:
                            panel.plot(*zip(*values, strict=True), **{**looks[method], **changed})
                panel.set_yscale("log")
            row[1].set_ylabel("time (µs)" if means else "median time (µs)")
            row[2].set_ylabel("iterations" if means else "median iterations")
            row[1].set_title(title)
            if logarithmic:
                for panel in row:
                    panel.set_xscale("log")
        for panel in rows[-1]:
            panel.set_xlabel(label)
            mark_degrees(panel, label)
        theme.legend_below(figure, looks)
    return figure


def fitted_times(lines: Mapping[str, tuple[Array, Array, Array]], label: str) -> theme.Figure:
    """Draw times as dots, and fits as lines; `lines` has, by method, abscissae, times and fitted times in seconds."""
    looks = look(list(lines), linestyle="")
    with theme.drawing(theme.ONE_COLUMN * 1.3, 1.6 * PANEL + LEGEND) as figure:
        panel = figure.subplots()
        for method, (x, times, fitted) in lines.items():
            panel.plot(x, 1e3 * times, **looks[method])
            panel.plot(x, 1e3 * fitted, color=looks[method]["color"], linewidth=1.0)
        panel.set_xlabel(label)
        panel.set_ylabel("median time (ms)")
        panel.set_xlim(left=0.0)
        panel.set_ylim(bottom=0.0)
        theme.legend_below(figure, looks, 4)
    return figure


def efforts(run: Any, titles: Mapping[str, str], methods: Sequence[str]) -> dict[str, dict[str, tuple[Array, Array]]]:
    """Return iterations and seconds of the timed targets that were reached, by title of the case and by method."""
    rows = run.timed.filter(run.timed["reached"])
    found: dict[str, dict[str, tuple[Array, Array]]] = {}
    for (case, method), own in rows.partition_by("case", "method", as_dict=True).items():
        if case in titles and method in methods:
            found.setdefault(titles[case], {})[method] = (own["iterations"].to_numpy(), own["seconds"].to_numpy())
    return {title: found[title] for title in titles.values() if title in found}


def effort_distributions(rows: Mapping[str, Mapping[str, tuple[Array, Array]]]) -> theme.Figure:
    """Draw histograms of iterations, left, and times, right, a row of panels per title."""
    methods = sorted({method for by_method in rows.values() for method in by_method})
    looks = look(methods, marker="")
    with theme.drawing(theme.TWO_COLUMNS, 0.8 * PANEL * len(rows) + LEGEND + 6.0) as figure:
        panels = figure.subplots(len(rows), 2, squeeze=False)
        for row, (title, by_method) in zip(panels, rows.items(), strict=True):
            for k, (panel, unit) in enumerate(zip(row, (1.0, 1e6), strict=True)):
                values = {method: unit * np.asarray(pair[k]) for method, pair in by_method.items()}
                high = max(float(np.quantile(one, 0.99)) for one in values.values())
                bins = np.arange(0.5, high + 1.5) if k == 0 else np.linspace(0.0, high, 60)
                for method, one in values.items():
                    shares = 100.0 * np.histogram(one, bins)[0] / len(one)
                    colour = looks[method]["color"]
                    panel.stairs(shares, bins, fill=True, color=colour, alpha=0.25, linewidth=0)
                    panel.stairs(shares, bins, color=colour, linewidth=0.9, linestyle=looks[method]["linestyle"])
                panel.set_ylim(bottom=0.0)
            row[0].set_ylabel("solves (%)")
            row[0].set_title(title, loc="left")
        panels[-1, 0].set_xlabel("iterations")
        panels[-1, 1].set_xlabel("time (µs)")
        theme.legend_below(figure, looks)
    return figure


def share_matrix(run: Any) -> theme.Figure:
    """Draw the share reached as a coloured table of methods and cases, for many methods; a dash where there is none."""
    cases, methods = run.cases, run.methods
    table = np.full((len(methods), len(cases)), np.nan)
    for one in run.summaries:
        table[methods.index(one.method), cases.index(one.case)] = one.share
    with theme.drawing(theme.TWO_COLUMNS, 5.0 * len(methods) + 36.0) as figure:
        panel = figure.subplots()
        panel.set_facecolor(NO_ROWS)
        picture = panel.imshow(table, cmap="Blues", vmin=0.0, vmax=100.0, aspect="auto")
        for (row, column), share in np.ndenumerate(table):
            if np.isfinite(share):
                # Rounded down, so that 100 means that every target was reached.
                text = f"{math.floor(10.0 * share) / 10.0:.1f}" if share < 100.0 else "100"
                colour = "w" if share > 60.0 else INK
            else:
                text, colour = NONE, GREY
            panel.text(column, row, text, ha="center", va="center", fontsize=6.5, color=colour)
        panel.set_yticks(range(len(methods)), methods)
        panel.set_xticks(range(len(cases)), cases, rotation=35, ha="right", rotation_mode="anchor")
        panel.tick_params(length=0)
        figure.colorbar(picture, ax=panel, label="reached (%)", shrink=0.8)
    return figure


def share_bars(run: Any) -> theme.Figure:
    """Draw the share reached by case and method as dots with intervals, beside the printed share."""
    cases, looks = run.cases, look(run.methods, linestyle="")
    theirs: dict[tuple[str, str], float] = {}
    for one in run.experiment.printed():
        if one.success is not None and (one.case, one.method) not in theirs:
            theirs[one.case, one.method] = one.success
    step = 3.2 * max(len(run.methods), 2)
    with theme.drawing(theme.TWO_COLUMNS, min(len(cases) * step + 24.0, 400.0)) as figure:
        panel = figure.subplots()
        for k, case in enumerate(cases):
            found = run.of_case(case)
            for j, one in enumerate(found):
                y = k + 0.8 * ((j + 0.5) / len(found) - 0.5)
                low, high = (100.0 * end for end in one.interval)
                panel.plot([low, high], [y, y], color=looks[one.method]["color"], linewidth=1.0)
                panel.plot([one.share], [y], **looks[one.method])
                if (case, one.method) in theirs:
                    panel.plot([theirs[case, one.method]], [y], "|", color=INK, markersize=7.0, markeredgewidth=1.4)
        panel.set_yticks(range(len(cases)), cases)
        panel.set_ylim(len(cases) - 0.5, -0.5)
        panel.set_xlabel("reached (%); vertical marks: published" if theirs else "reached (%)")
        panel.set_xlim(-2, 102)
        panel.grid(axis="x", linewidth=0.3)
        theme.legend_below(figure, looks)
    return figure


def time_distributions(run: Any) -> theme.Figure:
    """Draw the share of timed targets reached within a time, case by case."""
    cases = run.cases
    if len(cases) > MOST_PANELS:
        # Evenly spaced, including the first and the last.
        cases = [cases[round(k)] for k in np.linspace(0, len(cases) - 1, MOST_PANELS)]
    groups = run.timed.partition_by("case", "method", as_dict=True)
    times: dict[str, dict[str, tuple[Array, int]]] = {}
    for case in cases:
        rows = {method: groups[case, method] for method in run.methods if (case, method) in groups}
        times[case] = {
            method: (own.filter(own["reached"])["seconds"].to_numpy(), len(own)) for method, own in rows.items()
        }
    return figures.time_distributions(times, methods=run.methods)


def convergence(curves: Mapping[str, Mapping[str, tuple[Array, Array]]]) -> theme.Figure:
    """Draw the error against the iteration, case by case."""
    figure = figures.convergence(curves, width=theme.TWO_COLUMNS)
    for panel in figure.axes:
        most = math.floor(panel.get_xlim()[1])
        if most < FEW_ITERATIONS:
            # An axis of less than a decade has too few powers of ten to label.
            panel.set_xticks(range(most + 1), [str(k) for k in range(most + 1)])
            panel.minorticks_off()
    return figure


def worst_cases(run: Any) -> theme.Figure:
    """Draw the share reached on every mix of section kinds, summed over all bend limits."""
    kinds = {case.name: case.labels["kinds"] for case in run.experiment.cases(run.settings)}
    counts: dict[tuple[str, str], list[int]] = {}
    for one in run.summaries:
        total = counts.setdefault((one.method, kinds[one.case]), [0, 0])
        total[0] += one.reached
        total[1] += one.count
    names = sorted(set(kinds.values()))
    looks = look(run.methods, linestyle="")
    with theme.drawing(theme.TWO_COLUMNS, 62.0) as figure:
        panel = figure.subplots()
        for method in run.methods:
            points = [(k, counts[method, name]) for k, name in enumerate(names) if (method, name) in counts]
            if points:
                shares = [100.0 * reached / count for _, (reached, count) in points]
                panel.plot([k for k, _ in points], shares, label=method, **looks[method])
        panel.set_xticks(range(len(names)), names, rotation=90)
        panel.set_ylabel("reached (%)")
        panel.set_ylim(-3, 103)
        panel.grid(axis="y", linewidth=0.3)
        theme.legend_below(figure, looks)
    return figure


def cells(rows: Any, method: str, monte_carlo: str) -> tuple[Array, Array, Array]:
    """Return cell corners (n, 2) in millimetres: found by both, by the method only, and by Monte Carlo only."""
    found = {}
    for name in (method, monte_carlo):
        hit = rows.filter((rows["method"] == name) & rows["reached"])
        found[name] = {target: (x, z) for target, x, z in hit.select("target", "x_mm", "z_mm").iter_rows()}
    ours, theirs = found[method], found[monte_carlo]

    def corners(targets: set[int]) -> Array:
        return np.array([ours.get(one) or theirs[one] for one in sorted(targets)]).reshape(-1, 2)

    return (
        corners(ours.keys() & theirs.keys()),
        corners(ours.keys() - theirs.keys()),
        corners(theirs.keys() - ours.keys()),
    )


def cell_maps(run: Any, method: str, monte_carlo: str) -> theme.Figure:
    """Draw the cells found by a solver, by Monte Carlo and by both, robot by robot."""
    maps = {}
    for case in run.cases:
        groups = [1e-3 * corners for corners in cells(run.frame.filter(run.frame["case"] == case), method, monte_carlo)]
        title = f"{case}\n{len(groups[2])} by Monte Carlo only"
        maps[title] = dict(zip(("both", f"{method} only", "Monte Carlo only"), groups, strict=True))
    return figures.workspace_cells(maps, cell=CELL, width=theme.TWO_COLUMNS)


def time_maps(run: Any, method: str) -> theme.Figure:
    """Draw the time of a method for each cell that it reaches, robot by robot."""
    rows = run.frame.filter((run.frame["method"] == method) & run.frame["reached"])
    # A few cells at the edge need many starts; a scale that includes them would hide the rest.
    low, high = (max(1e6 * float(rows["seconds"].quantile(share) or 0.0), 1e-2) for share in (0.01, 0.99))
    maps = {}
    for case in run.cases:
        own = rows.filter(rows["case"] == case)
        maps[case] = (1e-3 * own.select("x_mm", "z_mm").to_numpy(), np.maximum(own["seconds"].to_numpy() * 1e6, 1e-3))
    return figures.workspace(
        maps, cell=CELL, label="time (µs)", logarithmic=True, limits=(low, high), width=theme.TWO_COLUMNS
    )
