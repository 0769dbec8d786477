"""The analysis tab: solve with a trace, step through its rows forwards and backwards, save it as CSV."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from typing import Any

from arcreach.elements import ANGLE
from arcreach.ik.log import csv_log
from arcreach.ik.solution import Trace
from arcreach.kernels.methods.finite_rotation import OBJECTIVE_COLUMNS
from arcreach.robots.robot import Robot
from arcreach.studio import text
from arcreach.studio.panels.events import Studio, from_client
from arcreach.studio.panels.results import rows_table
from arcreach.studio.player.animation import Animation, is_stepwise
from arcreach.studio.stage.colours import QUIET
from arcreach.studio.state.answer import Result

# The row that each button goes to, from the current row and the last one.
STEPS: dict[str, Callable[[int, int], int]] = {
    "First": lambda k, last: 0,
    "Back": lambda k, last: k - 1,
    "Next": lambda k, last: k + 1,
    "Last": lambda k, last: last,
}
HINT = (
    '<div style="padding:2px 12px 6px;font-size:0.875em">Solve by the chosen method, then go through its iterations. '
    "Tolerances and options are to the right.</div>"
)
# Names for the values 0, 1, 2 in the column `objective` of `finite-rotation`.
OBJECTIVES = ("distance", "long axis", "cross axis")
LIMITS = {-1: ", lower limit", 0: "", 1: ", upper limit"}


class AnalysisTab:
    """Buttons to solve, to step and to save, and a table of the row that is shown."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        self.note = gui.add_html(HINT)
        self.solve = gui.add_button("Solve with a trace", icon="math-function", hint="From the pose marked as start")
        self.step = gui.add_button_group("Go to", tuple(STEPS), visible=False)
        self.row = gui.add_slider("Row", 0, 1, 1, 0, visible=False)
        self.save = gui.add_button("Save the trace", icon="download", color=QUIET, visible=False, hint="As a CSV file")
        self.table = gui.add_html("")
        self.solve.on_click(from_client(lambda event: studio.jobs.replay(event.client, playing=False)))
        self.step.on_click(from_client(self._step))
        self.row.on_update(from_client(lambda event: studio.player.seek(event.target.value)))
        self.save.on_click(from_client(self._send))

    def _step(self, event: Any) -> None:
        player = self._studio.player
        if player.animation is not None:
            player.seek(STEPS[event.target.value](player.frame, len(player.animation) - 1))

    def _send(self, event: Any) -> None:
        animation, robot = self._studio.player.animation, self._studio.state.request.robot
        for result in animation.traced if animation is not None else ():
            assert result.trace is not None
            name = f"arcreach-trace-{result.method}.csv"
            event.client.send_file_download(name, csv_log(robot, result.trace).encode(), save_immediately=True)

    def show(self, animation: Animation | None, row: int) -> None:
        """Show a row of the animation's traces, or hide the inputs if it has none."""
        traced = () if animation is None else animation.traced
        for handle in (self.step, self.row, self.save):
            handle.visible = bool(traced)
        self.note.visible = not traced
        self.table.content = trace_table(self._studio.state.request.robot, traced, row) if traced else ""
        if animation is not None and traced:
            self.row.max = max(len(animation) - 1, 1)
            self.row.value = row


def trace_table(robot: Robot, traced: tuple[Result, ...], row: int) -> str:
    """Return one row of each trace as HTML, a column for each method; all text in it is escaped."""
    columns: list[dict[str, str]] = []
    for result in traced:
        assert result.trace is not None
        columns.append(trace_row(robot, result.trace, min(row, len(result.trace) - 1), result.angle_error is not None))
    names = list(dict.fromkeys(name for column in columns for name in column))
    lines = [(name, [html.escape(column.get(name, text.NOTHING)) for column in columns]) for name in names]
    return rows_table([result.method for result in traced], lines, "trace")


def trace_row(robot: Robot, trace: Trace, k: int, turned: bool) -> dict[str, str]:
    """Return the numbers of row k as text by name: those that the method recorded, or its errors."""
    shown = {"joint step" if is_stepwise(trace) else "iteration": f"{k} of {len(trace) - 1}"}
    values = {name: float(column[k]) for name, column in trace.columns.items() if column.ndim == 1}
    if not values:
        shown["error"] = text.millimetres(float(trace.position_error[k]))
        if turned:
            shown["angle"] = text.degrees(float(trace.angle_error[k]))
    # The joint step first, then the objectives after it.
    names = sorted(values, key=lambda name: name in OBJECTIVE_COLUMNS)
    shown |= {name.replace("_", " "): _written(robot, name, values) for name in names}
    # The line `step` includes the coordinate and the limit.
    return {name: value for name, value in shown.items() if name not in ("coordinate", "limit")}


def _written(robot: Robot, name: str, values: dict[str, float]) -> str:
    """Return a number of a trace as text, in millimetres or degrees where it has a unit."""
    value = values[name]
    if name == "step":
        k = int(values["coordinate"])
        size = _degrees(value) if robot.quantities[k] == ANGLE else text.millimetres(value)
        return f"{robot.coordinates[k]} {size}{LIMITS[int(values.get('limit', 0))]}" if k >= 0 else text.NOTHING
    if name == "objective":
        return OBJECTIVES[int(value)] if value >= 0 else text.NOTHING
    if name == "distance":
        return text.millimetres(value)
    return _degrees(value) if name.endswith("_angle") else f"{value:.4g}"


def _degrees(radians: float) -> str:
    return f"{math.degrees(radians):.3f}°".replace("-", "−")
