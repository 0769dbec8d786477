"""The Jog tab: move the tip by buttons, keys, a gamepad or a 3-D mouse; record, play and save motions."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from arcreach._io import csv_text
from arcreach._typing import Array
from arcreach.errors import StudioError
from arcreach.ik.log import columns_beside, coordinate_columns
from arcreach.ik.port import Port
from arcreach.robots.robot import Robot
from arcreach.studio.panels.events import Studio, from_client
from arcreach.studio.player.animation import Animation
from arcreach.studio.player.jogging import PERIOD
from arcreach.studio.state.jog import BASE, TOOL
from arcreach.studio.state.request import Request

RECORD, STOP, PLAY, SAVE = "Record", "Stop", "Play", "Save"
# Initial speed limits in reaches and degrees per second, and initial steps in reaches and degrees.
SPEED, TURN_SPEED, STEP, TURN_STEP = 0.25, 45.0, 0.01, 2.0
# Seconds between two updates of the text below the buttons.
EVERY = 0.4
IDLE = "Tap for a step, hold to move on. Keys J L, K I, U O; with Shift they turn."
STOPPED = "<b>stopped</b> by the entry point or a limit"
COMPILES = "The first solve through an entry point compiles for about half a minute."
# Initial radius of an entry point in reaches.
PORT_RADIUS = 0.02
KEYS = {0: "J L", 1: "K I", 2: "U O"}


def pad_html() -> str:
    """Return the HTML of the buttons for the six axes; jog.js handles them."""
    rows = []
    for first, label in ((0, "Move"), (3, "Turn")):
        cells = [f"<span>{label}</span>"]
        for axis, name in enumerate("XYZ"):
            for sign, text, key in ((-1, "−", 0), (1, "+", 1)):
                keys = f"{'Shift ' if first else ''}{KEYS[axis].split()[key]}"
                cells.append(
                    f'<button type="button" data-axis="{first + axis}" data-sign="{sign}" title="key {keys}" '
                    f'aria-label="{label} {name}{text}">{name}{text}</button>'
                )
        rows.append(f"<div>{''.join(cells)}</div>")
    return f'<div data-arcreach="jog">{"".join(rows)}</div>'


def _millimetres(point: Sequence[float] | Array) -> tuple[float, float, float]:
    x, y, z = (round(1e3 * float(value), 3) + 0.0 for value in point)
    return x, y, z


class JogTab:
    """Buttons of the axes, speed limits, buttons to record, play and save, an entry point, held coordinates."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._gui, self._studio = gui, studio
        self._refreshed = 0.0
        self.boxes: dict[int, Any] = {}
        self.frame = gui.add_dropdown("Axes of the", (BASE, TOOL), initial_value=BASE)
        gui.add_html(pad_html())
        self.speed = gui.add_vector2(
            "Speed mm, °/s", (0.0, 0.0), min=(0.0, 0.0), step=0.1, hint="largest speed of the tip"
        )
        self.step = gui.add_vector2(
            "Step mm, °",
            (0.0, 0.0),
            min=(0.0, 0.0),
            step=0.01,
            hint="how far a tap goes",
        )
        self.motion = gui.add_button_group("Motion", (RECORD, PLAY, SAVE))
        self.text = gui.add_html("")
        self.entry = gui.add_checkbox("Entry point", False, hint="a point that the body passes, as at a trocar")
        self.point = gui.add_vector3("Point mm", (0.0, 0.0, 0.0), step=0.1, visible=False, hint="x, y, z from the base")
        self.radius = gui.add_number(
            "Radius mm",
            1.0,
            min=0.0,
            step=0.01,
            visible=False,
            hint="largest distance from the point to the centre line",
        )
        self._folder = gui.add_folder("Hold", expand_by_default=False)
        for handle in (self.frame, self.speed, self.step):
            handle.on_update(from_client(lambda _: self._apply()))
        self.motion.on_click(from_client(self._press))
        self.entry.on_update(from_client(lambda event: self._toggle_entry(event.target.value)))
        for handle in (self.point, self.radius):
            handle.on_update(from_client(lambda _: self._constrain()))

    def set_robot(self, robot: Robot) -> dict[str, Any]:
        """Offer the coordinates of another robot to be held, and speeds that suit its size.

        Return the request fields of the tab: no entry point, and no held coordinates.
        """
        for box in self.boxes.values():
            box.remove()
        with self._folder:
            self.boxes = {k: self._gui.add_checkbox(name, False) for k, name in enumerate(robot.coordinates)}
        for box in self.boxes.values():
            box.on_update(from_client(lambda _: self._constrain()))
        self.radius.value = round(1e3 * PORT_RADIUS * robot.reach, 2)
        self._show_port(False)
        self.speed.value = round(1e3 * SPEED * robot.reach, 1), TURN_SPEED
        self.step.value = round(1e3 * STEP * robot.reach, 2), TURN_STEP
        self._studio.jogging.forget()
        self._apply()
        self.refresh()
        return {"port": None, "held": frozenset()}

    def show(self, request: Request) -> None:
        """Show the entry point and the held coordinates of a request."""
        for k, box in self.boxes.items():
            box.value = k in request.held
        if request.port is not None:
            self.point.value = _millimetres(request.port.point)
            self.radius.value = round(1e3 * request.port.radius, 6)
        self._show_port(request.port is not None)

    def _show_port(self, shown: bool) -> None:
        self.entry.value = self.point.visible = self.radius.visible = shown

    def _toggle_entry(self, wanted: bool) -> None:
        """Set an entry point half-way along the body, or none."""
        if wanted:
            self.point.value = _millimetres(self._studio.state.request.robot.backbone(self._studio.q, 3)[1])
            self._studio.panels.results.say(COMPILES)
        self._show_port(wanted)
        self._constrain()

    def _constrain(self) -> None:
        """Solve with the entry point and the held coordinates."""
        point = 1e-3 * np.array(self.point.value)
        port = Port(tuple(point), radius=1e-3 * self.radius.value) if self.entry.value else None
        self._studio.change(port=port, held=frozenset(k for k, box in self.boxes.items() if box.value))
        self._studio.jogging.blocked = False
        self.refresh()

    def _apply(self) -> None:
        settings = self._studio.jogging.settings
        settings.frame = self.frame.value
        (speed, turn_speed), (step, turn_step) = self.speed.value, self.step.value
        settings.speed = 1e-3 * max(speed, 0.0), math.radians(max(turn_speed, 0.0))
        settings.step = 1e-3 * max(step, 0.0), math.radians(max(turn_step, 0.0))

    def _press(self, event: Any) -> None:
        jogging, action = self._studio.jogging, event.target.value
        if action == RECORD:
            self._studio.player.leave()
            jogging.record()
        elif action == STOP:
            jogging.recording = False
        elif not len(jogging.recorded):
            raise StudioError("there is no recording; press Record and move the robot")
        else:
            jogging.recording = False
            (self._play if action == PLAY else self._send)(event.client)
        self.refresh()

    def _play(self, _: Any) -> None:
        q = self._studio.jogging.recorded
        animation = Animation("recording", f"{len(q) * PERIOD:.1f} s", q, hz=1.0 / PERIOD)
        self._studio.jobs.present(animation, self._studio.state.request.robot)

    def _send(self, client: Any) -> None:
        q, robot = self._studio.jogging.recorded, self._studio.state.request.robot
        times = [round(PERIOD * i, 6) for i in range(len(q))]
        columns = columns_beside(coordinate_columns(robot, q), {"time": times}, "motion_", ahead=1)
        client.send_file_download("arcreach-motion.csv", csv_text(columns).encode(), save_immediately=True)

    def refresh_if_due(self) -> None:
        """Call `refresh` at most every EVERY seconds while the loop runs."""
        if self._studio.jogging.rate == 0.0 or time.monotonic() - self._refreshed > EVERY:
            self._refreshed = time.monotonic()
            self.refresh()

    def refresh(self) -> None:
        """Show the rate of the loop, the recording and the gamepads."""
        jogging = self._studio.jogging
        moving = jogging.rate > 0.0
        wanted = (STOP if jogging.recording else RECORD, PLAY, SAVE)
        if tuple(self.motion.options) != wanted:
            self.motion.options = wanted
        recorded = len(jogging.recorded) * PERIOD
        lines = [STOPPED] if jogging.blocked else [f"{jogging.rate:.0f} Hz" if moving else IDLE]
        if recorded:
            lines.append(f"{'<b>recording</b>' if jogging.recording else 'recorded'} {recorded:.1f} s")
        lines += [html.escape(pad) for pad in self._studio.devices.pads]
        style = "padding:2px 12px;font-size:0.875em;overflow-wrap:anywhere"
        self.text.content = f'<div data-arcreach="loop" style="{style}">{" · ".join(lines)}</div>'
