"""The table of results, and the chart of error and time."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach._extras import require
from arcreach.studio import text
from arcreach.studio.stage.colours import ERROR, SUCCESS, TIME, WARNING
from arcreach.studio.state.answer import Answer, Result

# Largest number of solves in the chart.
SOLVES = 120
# Solves between two updates of the chart during a drag.
EVERY = 4
NO_LINES = {"show": False}
# Axes cover at least 0 to 0.1, so that rounding errors are not stretched over the height of the chart.
FROM_ZERO = {"min": {"pad": 0, "soft": 0, "mode": 1}, "max": {"pad": 0.1, "soft": 0.1, "mode": 1}}

_STYLE = "text-align:right;padding:2px 0 2px 10px;font-variant-numeric:tabular-nums;white-space:nowrap"


def table_of(answer: Answer) -> str:
    """Return the results side by side as HTML; all text in it is escaped."""
    results = answer.results
    lines = [
        ("error", [_or_dash(result.position_error, text.millimetres) for result in results]),
        ("angle", [_or_dash(result.angle_error, text.degrees) for result in results]),
        ("time", [_or_dash(result.seconds, text.milliseconds) for result in results]),
        ("iterations", [text.NOTHING if result.iterations is None else str(result.iterations) for result in results]),
        ("clearance", [_clearance(result) for result in results]),
    ]
    if answer.request.port is not None:
        lines.append(("entry point", [_or_dash(result.port_distance, text.millimetres) for result in results]))
    return rows_table([result.method for result in results], lines, "results", _statuses(results))


def rows_table(heads: list[str], rows: list[tuple[str, list[str]]], kind: str, below: str = "") -> str:
    """Return a table with named rows as HTML; cells and `below`, which follows it, are HTML, the names plain text."""
    head = "".join(f'<th style="{_STYLE}">{html.escape(name)}</th>' for name in heads)
    body = "".join(
        f'<tr><td style="padding:2px 0">{html.escape(name)}</td>'
        + "".join(f'<td style="{_STYLE}">{cell}</td>' for cell in cells)
        + "</tr>"
        for name, cells in rows
    )
    table = f'<table style="width:100%;border-collapse:collapse"><tr><th></th>{head}</tr>{body}</table>'
    return f'<div data-arcreach="{kind}" style="font-size:0.875em;padding:2px 12px 8px">{table}{below}</div>'


def _statuses(results: tuple[Result, ...]) -> str:
    lines = []
    for result in results:
        colour = SUCCESS if result.reached else WARNING
        name = f"{html.escape(result.method)}: " if len(results) > 1 else ""
        style = f"margin-top:4px;font-weight:600;overflow-wrap:anywhere;color:{colour}"
        lines.append(f'<div style="{style}">{name}{html.escape(result.status)}</div>')
    return "".join(lines)


def _or_dash(value: float | None, write: Callable[[float], str]) -> str:
    return text.NOTHING if value is None else html.escape(write(value))


def _clearance(result: Result) -> str:
    if result.clearance is None:
        return text.NOTHING
    shown = html.escape(text.millimetres(result.clearance))
    return shown if result.clearance >= 0.0 else f'<b style="color:{WARNING}">{shown}</b>'


class ResultTable:
    """The table in the panel on the right."""

    def __init__(self, gui: Any) -> None:
        self._handle = gui.add_html("")

    def show(self, answer: Answer) -> None:
        """Show the results of an answer."""
        self._handle.content = table_of(answer)

    def say(self, message: str) -> None:
        """Show a message in place of results."""
        self._handle.content = f'<div style="padding:6px 12px;font-size:0.875em">{html.escape(message)}</div>'


class Chart:
    """Error in millimetres and time in milliseconds of the first method in the last solves."""

    def __init__(self, gui: Any) -> None:
        uplot = require("viser").uplot
        self._points: deque[tuple[int, float, float]] = deque(maxlen=SOLVES)
        self._count = 0
        self.handle = gui.add_uplot(
            self._data(),
            (
                uplot.Series(label="solve"),
                uplot.Series(label="error (mm)", stroke=ERROR, width=2),
                uplot.Series(label="time (ms)", stroke=TIME, width=2, scale="ms"),
            ),
            legend={"live": False},
            # Error and time have separate axes: long times must not flatten the errors.
            axes=(
                uplot.Axis(scale="x", ticks=NO_LINES),
                uplot.Axis(scale="y", side=3, stroke=ERROR, size=44, ticks=NO_LINES),
                uplot.Axis(scale="ms", side=1, stroke=TIME, size=44, ticks=NO_LINES, grid=NO_LINES),
            ),
            scales={
                "x": uplot.Scale(time=False, auto=True),
                **{key: uplot.Scale(auto=True, range=FROM_ZERO) for key in ("y", "ms")},
            },
            height=220,
            padding=(14, 4, 0, 0),
        )

    def add(self, answer: Answer, draw: bool, replace: bool) -> None:
        """Add a solve, or replace the last one; without `draw` the chart is updated every EVERY solves."""
        first = answer.results[0]
        if first.position_error is None or first.seconds is None:
            return
        if replace and self._points:
            self._points.pop()
        else:
            self._count += 1
        self._points.append((self._count, 1e3 * first.position_error, 1e3 * first.seconds))
        if draw or self._count % EVERY == 0:
            self.handle.data = self._data()

    def clear(self) -> None:
        """Remove all solves."""
        self._points.clear()
        self.handle.data = self._data()

    def _data(self) -> tuple[Any, ...]:
        # uPlot needs at least one point.
        rows = np.array(self._points or [(0, 0.0, 0.0)], dtype=float)
        return tuple(np.ascontiguousarray(column) for column in rows.T)
