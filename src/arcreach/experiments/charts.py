"""The figures of reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach.experiments.statistics import Summary
from arcreach.figures import _style
from arcreach.figures._style import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]
Curves = Mapping[str, Sequence[tuple[float, Summary]]]

LINES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P")
# Panels of small pictures side by side, and millimetres of paper for one.
COLUMNS = 3
PANEL = 42.0
LEGEND = 10.0
# Millimetres of the workspace that maps show.
MAP_WIDE, MAP_HIGH, MAP_BELOW = 100, 100, 5
FOUND_BY_BOTH, SOLVER_ONLY, CHANCE_ONLY = "#B7D8C8", _style.BLUE, _style.VERMILION


def look(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, line and marker of every method: no two alike, also without colours."""
    return {
        method: {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": LINES[k // len(COLOURS) % len(LINES)],
            "marker": MARKERS[(k + k // len(COLOURS)) % len(MARKERS)],
            "markersize": 3.0,
        }
        for k, method in enumerate(methods)
    }


def success_curves(curves: Curves, label: str, width: float = _style.ONE_COLUMN * 1.3) -> Figure:
    """The share reached against something, with Wilson intervals as bands."""
    with _style.style():
        figure = _style.new_figure(width, 0.62 * width)
        panel = figure.subplots()
        _draw_shares(panel, curves, label)
        panel.legend(loc="best")
        _style.settle(figure)
    return figure


def method_curves(panels: Mapping[str, Curves], label: str, logarithmic: bool = False) -> Figure:
    """Share, median time and median iterations, a row of three for each set of curves."""
    methods = list(dict.fromkeys(method for curves in panels.values() for method in curves))
    looks = look(methods)
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, len(panels) * PANEL + LEGEND + 6.0)
        rows = figure.subplots(len(panels), 3, squeeze=False, sharex=True)
        for row, (title, curves) in zip(rows, panels.items(), strict=True):
            _draw_shares(row[0], curves, "", looks)
            for panel, what, unit in ((row[1], "median_time", 1e6), (row[2], "median_iterations", 1.0)):
                for method, points in curves.items():
                    values = [(x, unit * getattr(one, what)) for x, one in points if one.reached]
                    if values:
                        panel.plot(*zip(*values, strict=True), **looks[method])
                panel.set_yscale("log")
            row[1].set_ylabel("median time (µs)")
            row[2].set_ylabel("median iterations")
            row[1].set_title(title)
            if logarithmic:
                for panel in row:
                    panel.set_xscale("log")
        for panel in rows[-1]:
            panel.set_xlabel(label)
            if label.endswith("(°)"):
                panel.xaxis.set_major_locator(_degrees())
        _legend(figure, methods, looks)
        _style.settle(figure)
    return figure


def _degrees() -> Any:
    """Marks at parts of a right angle."""
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(30.0)


def _draw_shares(panel: Any, curves: Curves, label: str, looks: Mapping[str, dict[str, Any]] | None = None) -> None:
    looks = looks or look(list(curves))
    for method, points in curves.items():
        x = [one for one, _ in points]
        ends = 100.0 * np.array([one.interval for _, one in points])
        panel.fill_between(x, ends[:, 0], ends[:, 1], color=looks[method]["color"], alpha=0.2, linewidth=0)
        panel.plot(x, [100.0 * one.reached / one.count for _, one in points], label=method, **looks[method])
    panel.set_ylabel("reached (%)")
    panel.set_ylim(-3, 103)
    if label.endswith("(°)"):
        panel.xaxis.set_major_locator(_degrees())
    if label:
        panel.set_xlabel(label)


def _legend(figure: Figure, methods: Sequence[str], looks: Mapping[str, dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=method, **looks[method]) for method in methods]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(methods), 5))


def share_matrix(run: Any) -> Figure:
    """The share reached as numbers on colours, methods down, cases across: for more methods than dots can tell."""
    cases, methods = run.cases, run.methods
    table = np.full((len(methods), len(cases)), np.nan)
    for one in run.summaries:
        table[methods.index(one.method), cases.index(one.case)] = 100.0 * one.reached / one.count
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, 5.0 * len(methods) + 36.0)
        panel = figure.subplots()
        picture = panel.imshow(table, cmap="Blues", vmin=0.0, vmax=100.0, aspect="auto")
        for (row, column), share in np.ndenumerate(table):
            if np.isfinite(share):
                # Rounded down: 100 is shown where every target was reached, and nowhere else.
                text = f"{math.floor(10.0 * share) / 10.0:.1f}" if share < 100.0 else "100"
                panel.text(
                    column, row, text, ha="center", va="center", fontsize=6.5, color="w" if share > 60.0 else INK
                )
        panel.set_yticks(range(len(methods)), methods)
        panel.set_xticks(range(len(cases)), cases, rotation=35, ha="right", rotation_mode="anchor")
        panel.tick_params(length=0)
        figure.colorbar(picture, ax=panel, label="reached (%)", shrink=0.8)
        _style.settle(figure)
    return figure


def share_bars(run: Any) -> Figure:
    """The share reached in every case by every method, as dots with their intervals beside the printed share."""
    cases, looks = run.cases, look(run.methods)
    theirs: dict[tuple[str, str], float] = {}
    for one in run.experiment.printed():
        if one.success is not None and (one.case, one.method) not in theirs:
            theirs[one.case, one.method] = one.success
    step = 3.2 * max(len(run.methods), 2)
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, min(len(cases) * step + 24.0, 400.0))
        panel = figure.subplots()
        for k, case in enumerate(cases):
            found = run.of_case(case)
            for j, one in enumerate(found):
                y = k + 0.8 * ((j + 0.5) / len(found) - 0.5)
                low, high = (100.0 * end for end in one.interval)
                shown = {**looks[one.method], "linestyle": ""}
                panel.plot([low, high], [y, y], color=shown["color"], linewidth=1.0)
                panel.plot([100.0 * one.reached / one.count], [y], **shown)
                if (case, one.method) in theirs:
                    panel.plot([theirs[case, one.method]], [y], "|", color=INK, markersize=7.0, markeredgewidth=1.4)
        panel.set_yticks(range(len(cases)), cases)
        panel.set_ylim(len(cases) - 0.5, -0.5)
        panel.set_xlabel("reached (%); upright strokes are the printed shares" if theirs else "reached (%)")
        panel.set_xlim(-2, 102)
        panel.grid(axis="x", linewidth=0.3)
        _legend(figure, run.methods, {name: {**one, "linestyle": ""} for name, one in looks.items()})
        _style.settle(figure)
    return figure


def time_distributions(run: Any, most: int = 9) -> Figure:
    """Share of the timed targets that a method has reached within a time, case by case."""
    cases = run.cases
    if len(cases) > most:
        # Evenly among them: first and last are in.
        cases = [cases[round(k)] for k in np.linspace(0, len(cases) - 1, most)]
    looks = {name: {**one, "marker": ""} for name, one in look(run.methods).items()}
    groups = run.timed.partition_by("case", "method", as_dict=True)
    lines = math.ceil(len(cases) / COLUMNS)
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, lines * PANEL + LEGEND + 8.0)
        panels = figure.subplots(lines, COLUMNS, squeeze=False, sharey=True, sharex=True).ravel()
        for panel, case in zip(panels, cases, strict=False):
            for method in run.methods:
                rows = groups.get((case, method))
                if rows is None:
                    continue
                seconds = np.sort(rows.filter(rows["reached"])["seconds"].to_numpy()) * 1e6
                if len(seconds):
                    # A few hundred points are a curve.
                    shown = np.unique(np.linspace(0, len(seconds) - 1, 200).round().astype(int))
                    share = 100.0 * (shown + 1) / len(rows)
                    panel.plot(np.maximum(seconds[shown], 0.05), share, drawstyle="steps-post", **looks[method])
            panel.set_xscale("log")
            panel.set_title(case)
            panel.set_ylim(0, 103)
        for k, panel in enumerate(panels):
            panel.set_visible(k < len(cases))
            if k % COLUMNS == 0:
                panel.set_ylabel("reached (%)")
            if k + COLUMNS >= len(cases):
                panel.set_xlabel("time (µs)")
                panel.tick_params(labelbottom=True)
        _legend(figure, run.methods, looks)
        _style.settle(figure)
    return figure


def convergence(curves: Mapping[str, Mapping[str, tuple[Array, Array]]]) -> Figure:
    """The error against the iteration, case by case: median as a line, quarter to three quarters as a band."""
    methods = list(dict.fromkeys(method for case in curves.values() for method in case))
    looks = {name: {**one, "marker": ""} for name, one in look(methods).items()}
    lines = math.ceil(len(curves) / COLUMNS)
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, lines * PANEL + LEGEND + 8.0)
        panels = figure.subplots(lines, COLUMNS, squeeze=False, sharey=True).ravel()
        for k, (panel, (case, by_method)) in enumerate(zip(panels, curves.items(), strict=False)):
            for method, (median, band) in by_method.items():
                x = np.arange(1, len(median) + 1)
                panel.fill_between(x, band[0], band[1], color=looks[method]["color"], alpha=0.15, linewidth=0)
                panel.plot(x, median, **looks[method])
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_title(case)
            panel.set_xlabel("iteration")
            if k % COLUMNS == 0:
                panel.set_ylabel("position error (mm)")
        for panel in panels[len(curves) :]:
            panel.set_visible(False)
        _legend(figure, methods, looks)
        _style.settle(figure)
    return figure


def worst_cases(run: Any) -> Figure:
    """The share reached by each robot of the mixed sections, all limits together."""
    kinds = {case.name: case.labels["kinds"] for case in run.experiment.cases(run.settings)}
    counts: dict[tuple[str, str], list[int]] = {}
    for one in run.summaries:
        total = counts.setdefault((one.method, kinds[one.case]), [0, 0])
        total[0] += one.reached
        total[1] += one.count
    words = sorted(set(kinds.values()))
    looks = look(run.methods)
    with _style.style():
        figure = _style.new_figure(_style.TWO_COLUMNS, 62.0)
        panel = figure.subplots()
        for method in run.methods:
            points = [(k, counts[method, word]) for k, word in enumerate(words) if (method, word) in counts]
            if points:
                shares = [100.0 * reached / count for _, (reached, count) in points]
                panel.plot([k for k, _ in points], shares, label=method, **{**looks[method], "linestyle": ""})
        panel.set_xticks(range(len(words)), words, rotation=90)
        panel.set_ylabel("reached (%)")
        panel.set_ylim(-3, 103)
        panel.grid(axis="y", linewidth=0.3)
        _legend(figure, run.methods, {name: {**one, "linestyle": ""} for name, one in looks.items()})
        _style.settle(figure)
    return figure


def cells(rows: Any, method: str, chance: str) -> tuple[Array, Array, Array]:
    """Corners in millimetres (n, 2) of cells found by both, by the solver only, by chance only."""
    found = {}
    for name in (method, chance):
        hit = rows.filter((rows["method"] == name) & rows["reached"])
        found[name] = {target: (x, z) for target, x, z in hit.select("target", "x_mm", "z_mm").iter_rows()}
    ours, theirs = found[method], found[chance]

    def places(targets: set[int]) -> Array:
        return np.array([ours.get(one) or theirs[one] for one in sorted(targets)]).reshape(-1, 2)

    return places(ours.keys() & theirs.keys()), places(ours.keys() - theirs.keys()), places(theirs.keys() - ours.keys())


def cell_maps(run: Any, method: str, chance: str) -> Figure:
    """Which cells were found by whom, robot by robot."""
    from matplotlib.patches import Patch

    with _style.style():
        figure, panels = _map_panels(run.cases)
        for panel, case in zip(panels, run.cases, strict=True):
            groups = cells(run.frame.filter(run.frame["case"] == case), method, chance)
            for places, colour in zip(groups, (FOUND_BY_BOTH, SOLVER_ONLY, CHANCE_ONLY), strict=True):
                _draw_cells(panel, places, colour)
            panel.set_title(f"{case}: {len(groups[2])} by chance only")
        handles = [
            Patch(color=colour, label=label)
            for colour, label in (
                (FOUND_BY_BOTH, "both"), (SOLVER_ONLY, f"{method} only"), (CHANCE_ONLY, "chance only"),
            )
        ]  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        _style.settle(figure)
    return figure


def time_maps(run: Any, method: str) -> Figure:
    """The time of a method for each cell that it reaches, robot by robot."""
    from matplotlib.colors import LogNorm

    rows = run.frame.filter((run.frame["method"] == method) & run.frame["reached"])
    # The longest hundredth are a few cells at the edge that need many starts: they would hide the rest.
    low, high = (max(1e6 * float(rows["seconds"].quantile(share) or 0.0), 1e-2) for share in (0.01, 0.99))
    with _style.style():
        figure, panels = _map_panels(run.cases)
        picture = None
        for panel, case in zip(panels, run.cases, strict=True):
            own = rows.filter(rows["case"] == case)
            picture = _draw_times(panel, own, LogNorm(low, max(high, 1.01 * low)))
            panel.set_title(case)
        if picture is not None:
            figure.colorbar(picture, ax=list(panels), label="time (µs)", shrink=0.8, extend="both")
        _style.settle(figure)
    return figure


def _map_panels(cases: Sequence[str]) -> tuple[Figure, Any]:
    figure = _style.new_figure(_style.TWO_COLUMNS, 74.0)
    panels = figure.subplots(1, len(cases), sharey=True, squeeze=False)[0]
    for panel in panels:
        panel.set_aspect("equal")
        panel.set_xlabel("distance from the axis (mm)" if len(cases) < 3 else "x (mm)")
        panel.set_xlim(0, 90)
        panel.set_ylim(-MAP_BELOW, MAP_HIGH + 2)
    panels[0].set_ylabel("z (mm)")
    return figure, panels


def _draw_cells(panel: Any, places: Array, colour: str) -> None:
    """Cells as one picture: thousands of squares would make a page heavy."""
    if not len(places):
        return
    from matplotlib.colors import ListedColormap

    image = np.full((MAP_HIGH + MAP_BELOW, MAP_WIDE), np.nan)
    image[places[:, 1].round().astype(int) + MAP_BELOW, places[:, 0].round().astype(int)] = 1.0
    panel.imshow(
        image, origin="lower", extent=(0, MAP_WIDE, -MAP_BELOW, MAP_HIGH), cmap=ListedColormap([colour]),
        interpolation="nearest", aspect="equal",
    )  # fmt: skip


def _draw_times(panel: Any, rows: Any, norm: Any) -> Any:
    image = np.full((MAP_HIGH + MAP_BELOW, MAP_WIDE), np.nan)
    x, z = rows["x_mm"].to_numpy().round().astype(int), rows["z_mm"].to_numpy().round().astype(int) + MAP_BELOW
    image[z, x] = np.maximum(rows["seconds"].to_numpy() * 1e6, 1e-3)
    panel.set_facecolor("white")
    return panel.imshow(
        image, origin="lower", extent=(0, MAP_WIDE, -MAP_BELOW, MAP_HIGH), cmap="viridis", norm=norm,
        interpolation="nearest", aspect="equal",
    )  # fmt: skip
