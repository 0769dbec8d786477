"""The panel on the right: robot, methods, results, what is shown, and the page as a file."""

from __future__ import annotations

import functools
from typing import Any, Protocol

from arcreach.robots.robot import Robot
from arcreach.studio.colours import QUIET
from arcreach.studio.panels.events import by_hand
from arcreach.studio.panels.results import ResultTable
from arcreach.studio.wish import AIMS, AXIS, NO_METHOD, methods_for

HINT = (
    '<div style="padding:6px 12px 2px;font-size:0.875em"><b>Drag the orange target</b> – the robot follows.<br>'
    "Drag grey obstacles out of the way, or into it.</div>"
)
UPLOADED = "my robot"


class Asked(Protocol):
    """What the panel reports."""

    def choose_robot(self, name: str, client: Any = None) -> None:
        """A robot of the catalogue."""

    def receive(self, name: str, content: bytes, client: Any) -> None:
        """A file that a visitor sent."""

    def set_aim(self, aim: str) -> None:
        """Another kind of target."""

    def change(self, **fields: Any) -> None:
        """Another method."""

    def set_view(self, client: Any = None, **options: bool) -> None:
        """What is shown beside the robot."""

    def save(self, client: Any) -> None:
        """The scene as one file."""


class ChoicesPanel:
    """Drop-down lists, the table of results, and buttons."""

    def __init__(self, gui: Any, robots: tuple[str, ...], asked: Asked) -> None:
        self._asked = asked
        gui.add_html(HINT)
        self.robot = gui.add_dropdown("Robot", robots, initial_value=robots[0])
        self.upload = gui.add_upload_button("Load a robot file", icon="upload", color=QUIET, hint="TOML or URDF")
        self.aim = gui.add_dropdown("Aim at", AIMS, initial_value=AXIS)
        self.method = gui.add_dropdown("Method", ("auto",), initial_value="auto")
        self.compared = gui.add_dropdown("Compare with", (NO_METHOD,), initial_value=NO_METHOD)
        self.results = ResultTable(gui)
        with gui.add_folder("View", expand_by_default=False):
            self.view = {
                "tubes": gui.add_checkbox("Tubes", True),
                "frames": gui.add_checkbox("Frames", False),
                "workspace": gui.add_checkbox("Workspace", False),
                "branches": gui.add_checkbox("All solutions", False),
            }
        self.save = gui.add_button("Save as HTML", icon="download", hint="The scene as one file that needs no network")
        self._connect()

    def _connect(self) -> None:
        asked = self._asked
        self.robot.on_update(by_hand(lambda event: asked.choose_robot(event.target.value, event.client)))
        self.upload.on_upload(by_hand(self._receive))
        self.aim.on_update(by_hand(lambda event: asked.set_aim(event.target.value)))
        self.method.on_update(by_hand(lambda event: asked.change(method=event.target.value)))
        self.compared.on_update(by_hand(lambda event: asked.change(compared=event.target.value)))
        for name, box in self.view.items():
            box.on_update(by_hand(functools.partial(self._view, name)))
        self.save.on_click(by_hand(lambda event: asked.save(event.client)))

    def _view(self, name: str, event: Any) -> None:
        self._asked.set_view(event.client, **{name: event.target.value})

    def _receive(self, event: Any) -> None:
        file = event.target.value
        self._asked.receive(file.name, file.content, event.client)

    def set_robot(self, robot: Robot, name: str) -> tuple[str, str]:
        """Show that robot as the chosen one, and offer its methods; the two that are chosen now."""
        if name not in self.robot.options:
            self.robot.options = (*self.robot.options, name)
        self.robot.value = name
        return self.offer(robot, self.aim.value)

    def offer(self, robot: Robot, aim: str) -> tuple[str, str]:
        """Offer the methods that serve a robot and an aim; the two that are chosen now."""
        served = methods_for(robot, aim)
        method, compared = self.method.value, self.compared.value
        self.method.options = served
        self.compared.options = (NO_METHOD, *served)
        self.method.value = method if method in served else served[0]
        self.compared.value = compared if compared in served else NO_METHOD
        return self.method.value, self.compared.value
