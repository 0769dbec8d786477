"""The Jog tab: move the tip by buttons, keys, a gamepad or a 3-D mouse; record, play and save motions."""

from __future__ import annotations

import html
import math
import time
from typing import TYPE_CHECKING, Any

from arcreach._io import csv_text
from arcreach.errors import StudioError
from arcreach.ik.log import coordinate_columns
from arcreach.robots.robot import Robot
from arcreach.studio.panels.events import from_client
from arcreach.studio.player.animation import Animation
from arcreach.studio.player.jogging import PERIOD
from arcreach.studio.state.jog import BASE, TOOL

if TYPE_CHECKING:
    from arcreach.studio.app import Studio

RECORD, STOP, PLAY, SAVE = "Record", "Stop", "Play", "Save"
# Speed limit in reaches per second and degrees per second, and a step in reaches and degrees, at first.
SPEED, TURN_SPEED, STEP, TURN_STEP = 0.25, 45.0, 0.01, 2.0
# Seconds between two updates of the text below the buttons.
EVERY = 0.4
IDLE = "Tap for a step, hold to move on. Keys J L, K I, U O; with Shift they turn."
KEYS = {0: "J L", 1: "K I", 2: "U O"}


def pad_html() -> str:
    """Return the buttons of the six axes, which the script of the page watches."""
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


class OperatorTab:
    """Buttons of the axes, speed limits, held coordinates, and buttons to record, play and save a motion."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._gui, self._studio = gui, studio
        self._told = 0.0
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
        self._folder = gui.add_folder("Hold", expand_by_default=False)
        for handle in (self.frame, self.speed, self.step):
            handle.on_update(from_client(lambda _: self._apply()))
        self.motion.on_click(from_client(self._press))

    def set_robot(self, robot: Robot) -> None:
        """Offer the coordinates of another robot to be held, and speeds that suit its size."""
        for box in self.boxes.values():
            box.remove()
        with self._folder:
            self.boxes = {k: self._gui.add_checkbox(name, False) for k, name in enumerate(robot.coordinates)}
        for box in self.boxes.values():
            box.on_update(from_client(lambda _: self._apply()))
        self.speed.value = round(1e3 * SPEED * robot.reach, 1), TURN_SPEED
        self.step.value = round(1e3 * STEP * robot.reach, 2), TURN_STEP
        self._studio.jogging.forget()
        self._apply()
        self.tell()

    def _apply(self) -> None:
        settings = self._studio.jogging.settings
        settings.frame = self.frame.value
        (speed, turn_speed), (step, turn_step) = self.speed.value, self.step.value
        settings.speed = 1e-3 * max(speed, 0.0), math.radians(max(turn_speed, 0.0))
        settings.step = 1e-3 * max(step, 0.0), math.radians(max(turn_step, 0.0))
        settings.held = frozenset(k for k, box in self.boxes.items() if box.value)

    def _press(self, event: Any) -> None:
        jogging, action = self._studio.jogging, event.target.value
        if action == RECORD:
            self._studio.player.leave()
            jogging.record()
        elif action == STOP:
            jogging.end_recording()
        elif not len(jogging.recorded):
            raise StudioError("there is no recording; press Record and move the robot")
        else:
            jogging.end_recording()
            (self._play if action == PLAY else self._send)(event.client)
        self.tell()

    def _play(self, _: Any) -> None:
        q = self._studio.jogging.recorded
        animation = Animation("recording", f"{len(q) * PERIOD:.1f} s", q, hz=1.0 / PERIOD)
        self._studio.jobs.present(animation, self._studio.state.request.robot)

    def _send(self, client: Any) -> None:
        q, robot = self._studio.jogging.recorded, self._studio.state.request.robot
        columns = {"time": [round(PERIOD * i, 6) for i in range(len(q))], **coordinate_columns(robot, q)}
        client.send_file_download("arcreach-motion.csv", csv_text(columns).encode(), save_immediately=True)

    def tell_now_and_then(self) -> None:
        """Show what `tell` shows, at most every EVERY seconds while the loop runs."""
        if self._studio.jogging.rate == 0.0 or time.monotonic() - self._told > EVERY:
            self._told = time.monotonic()
            self.tell()

    def tell(self) -> None:
        """Show the rate of the loop, the recording and the gamepads."""
        jogging = self._studio.jogging
        moving = jogging.rate > 0.0
        wanted = (STOP if jogging.recording else RECORD, PLAY, SAVE)
        if tuple(self.motion.options) != wanted:
            self.motion.options = wanted
        recorded = len(jogging.recorded) * PERIOD
        lines = [f"{jogging.rate:.0f} Hz" if moving else IDLE]
        if recorded:
            lines.append(f"{'<b>recording</b>' if jogging.recording else 'recorded'} {recorded:.1f} s")
        lines += [html.escape(pad) for pad in self._studio.devices.pads]
        style = "padding:2px 12px;font-size:0.875em;overflow-wrap:anywhere"
        self.text.content = f'<div data-arcreach="loop" style="{style}">{" · ".join(lines)}</div>'
