"""The Tendons tab: a slider for every pull, tensions and slack tendons, and the uncertainty of the tip."""

from __future__ import annotations

import html
import itertools
import math
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.calibration.parameters import is_elastic
from arcreach.calibration.uncertainty import holding_pulls
from arcreach.errors import ArcreachError
from arcreach.robots.robot import Robot
from arcreach.robots.routes import tendons_of
from arcreach.studio import text
from arcreach.studio.panels.events import Studio, from_client
from arcreach.studio.stage.colours import WARNING
from arcreach.studio.state.answer import Answer

# Step of the sliders in millimetres.
STEP = 0.05
# A pull without limits ranges up to SPARE times its largest magnitude at this many random configurations.
SAMPLES, SPARE = 2000, 1.3
# Initial standard deviation of a pull in millimetres.
PULL_ERROR = 0.2
# Residuals up to this many metres are rounding errors or the last digit of a slider, and are not shown.
FITS = 5e-6


def slider_limits(robot: Robot) -> list[tuple[float, float]]:
    """Return the range of every pull in millimetres."""
    largest = np.abs(robot.pulls(robot.sample(SAMPLES, seed=0))).max(axis=0)
    ranges = []
    for tendon, size in zip(tendons_of(robot), np.ceil(1e3 * SPARE * largest), strict=True):
        low = -size if math.isinf(tendon.pull_min) else round(1e3 * tendon.pull_min, 3)
        high = size if math.isinf(tendon.pull_max) else round(1e3 * tendon.pull_max, 3)
        ranges.append((float(low), float(high)))
    return ranges


class TendonsTab:
    """The tab of a robot with tendons; other robots have none."""

    def __init__(self, gui: Any, panel: Any, studio: Studio) -> None:
        self._gui, self._panel, self._studio = gui, panel, studio
        self._tab: Any = None
        self.elastic = False
        self.handles: list[Any] = []
        self.note: Any = None
        self.uncertainty: Any = None
        self.error: Any = None

    def set_robot(self, robot: Robot) -> None:
        """Replace the sliders by those of another robot."""
        if self._tab is not None:
            self._tab.remove()
            self._tab, self.handles, self.note, self.uncertainty = None, [], None, None
        if not robot.tendons:
            return
        self.elastic = is_elastic(robot)
        self._tab = self._panel.add_tab("Tendons", "line-dashed")
        ranges = slider_limits(robot)
        with self._tab:
            self.note = self._gui.add_html("")
            for section, tendons in itertools.groupby(enumerate(robot.tendons), lambda entry: entry[1].split(".")[0]):
                with self._gui.add_folder(section):
                    for number, name in tendons:
                        self._add(number, name.split(".")[1], *ranges[number])
            self.uncertainty = self._gui.add_checkbox(
                "Uncertainty", False, hint="Ellipsoid of the tip: one standard deviation for uncertain pulls"
            )
            self.error = self._gui.add_number("Pull error mm", PULL_ERROR, min=0.01, max=100.0, step=0.05)
        for handle in (self.uncertainty, self.error):
            handle.on_update(from_client(lambda event: self._studio.set_pull_error(self._pull_error())))

    def _add(self, number: int, label: str, low: float, high: float) -> None:
        handle = self._gui.add_slider(
            f"{label} mm", low, high, STEP, 0.0, marks=((low, f"{low:g}"), (high, f"{high:g}"))
        )
        handle.on_update(from_client(lambda event: self._pull(number, 1e-3 * event.target.value)))
        self.handles.append(handle)

    def _pull_error(self) -> float | None:
        return 1e-3 * float(self.error.value) if self.uncertainty.value else None

    def _pull(self, number: int, value: float) -> None:
        pulls = 1e-3 * np.array([handle.value for handle in self.handles])
        pulls[number] = value
        self._studio.pull(pulls)

    def show(self, answer: Answer, settled: bool) -> None:
        """Show the pulls of an answer: those that were set, or those that hold the configuration."""
        if not settled or self._tab is None:
            return
        request, found = answer.request, answer.request.pulled
        robot = request.robot
        pulls = self._holding(robot, answer.q) if found is None else robot.pulls(found.q) + found.residual
        for handle, pull in zip(self.handles, pulls, strict=True):
            handle.value = min(max(round(1e3 * float(pull), 2) + 0.0, handle.min), handle.max)
        self.note.content = self._note(answer)

    def _holding(self, robot: Robot, q: Array) -> Array:
        if self.elastic:
            try:
                return holding_pulls(robot, q)
            except ArcreachError:
                # No pulls hold this configuration against its springs; show those of rigid tendons instead.
                pass
        return robot.pulls(q)

    def _note(self, answer: Answer) -> str:
        robot, found = answer.request.robot, answer.request.pulled
        lines = ["Drag a pull, the robot follows. Tendons are " + ("elastic." if self.elastic else "rigid.")]
        if found is not None:
            if found.tensions is not None:
                lines.append(f"Tensions {found.tensions.min():.1f} to {found.tensions.max():.1f} N.")
            elif np.abs(found.residual).max() > FITS:
                misfit = text.millimetres(float(np.abs(found.residual).max()))
                lines.append(f"<b>These pulls do not fit together: {misfit} residual.</b>")
            if found.slack.any():
                names = (name for name, slack in zip(robot.tendons, found.slack, strict=True) if slack)
                lines.append(f'<b style="color:{WARNING}">Slack: {html.escape(", ".join(names))}</b>')
            if np.abs(found.q - answer.q).max() > 1e-9 and not robot.within_limits(found.q):
                lines.append("The robot is at the limits of its bends.")
        return f'<div data-arcreach="tendons" style="font-size:0.875em;padding:4px 12px">{"<br>".join(lines)}</div>'
