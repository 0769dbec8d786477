"""The panel on the right: robot, methods, results, what is shown, and the page as a file."""

from __future__ import annotations

import functools
from typing import Any, Protocol

from arcreach.robots.robot import Robot
from arcreach.studio.cameras import VIEWS
from arcreach.studio.colours import QUIET
from arcreach.studio.panels.events import by_hand, sent
from arcreach.studio.panels.results import ResultTable
from arcreach.studio.panels.target import TargetInputs
from arcreach.studio.wish import AIMS, AXIS, NO_METHOD, Wish, methods_for

HINT = (
    '<div style="padding:6px 12px 2px;font-size:0.875em"><b>Drag the orange target</b> – the robot follows.<br>'
    "Drag grey obstacles out of the way, or into it.</div>"
)
UNDO, RESET = "Undo", "Reset"


class Asked(Protocol):
    """What the panel reports."""

    def choose_robot(self, name: str, client: Any = None) -> None:
        """A robot of the catalogue."""

    def receive(self, name: str, content: bytes, client: Any) -> None:
        """A file that a visitor sent."""

    def choose_tip(self, tip: str, client: Any = None) -> None:
        """Another link of the robot file as its tip."""

    @property
    def target_pose(self) -> Any:
        """Where the target is."""

    def type_target(self, pose: Any) -> None:
        """Move the target to typed numbers."""

    def set_aim(self, aim: str) -> None:
        """Another kind of target."""

    @property
    def history(self) -> Any:
        """Who can `undo` and `reset`."""

    def look(self, view: str, client: Any) -> None:
        """Place the camera of a visitor."""

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
        self.tip = gui.add_dropdown("Tip", ("",), initial_value="", visible=False, hint="The link that reaches")
        self.aim = gui.add_dropdown("Aim at", AIMS, initial_value=AXIS)
        self.target = TargetInputs(gui, asked)
        self.method = gui.add_dropdown("Method", ("auto",), initial_value="auto")
        self.compared = gui.add_dropdown("Compare with", (NO_METHOD,), initial_value=NO_METHOD)
        self.results = ResultTable(gui)
        self.steps = gui.add_button_group("Change", (UNDO, RESET))
        with gui.add_folder("View", expand_by_default=False):
            self.view = {
                "tubes": gui.add_checkbox("Tubes", True),
                "frames": gui.add_checkbox("Frames", False),
                "workspace": gui.add_checkbox("Workspace", False),
                "branches": gui.add_checkbox("All solutions", False),
            }
            self.camera = gui.add_button_group("Camera", tuple(VIEWS))
        self.save = gui.add_button("Save as HTML", icon="download", hint="The scene as one file that needs no network")
        self._connect()

    def _connect(self) -> None:
        asked = self._asked
        self.robot.on_update(by_hand(lambda event: asked.choose_robot(event.target.value, event.client)))
        self.upload.on_upload(by_hand(lambda event: asked.receive(*sent(event), event.client)))
        self.tip.on_update(by_hand(lambda event: asked.choose_tip(event.target.value, event.client)))
        self.steps.on_click(by_hand(self._step))
        self.camera.on_click(by_hand(lambda event: asked.look(event.target.value, event.client)))
        self.aim.on_update(by_hand(lambda event: asked.set_aim(event.target.value)))
        self.method.on_update(by_hand(lambda event: asked.change(method=event.target.value)))
        self.compared.on_update(by_hand(lambda event: asked.change(compared=event.target.value)))
        for name, box in self.view.items():
            box.on_update(by_hand(functools.partial(self._view, name)))
        self.save.on_click(by_hand(lambda event: asked.save(event.client)))

    def _step(self, event: Any) -> None:
        history = self._asked.history
        (history.undo if event.target.value == UNDO else history.reset)()

    def _view(self, name: str, event: Any) -> None:
        self._asked.set_view(event.client, **{name: event.target.value})

    def set_robot(self, robot: Robot, name: str, tips: tuple[str, ...], tip: str) -> tuple[str, str]:
        """Show that robot as the chosen one, and offer its tips and methods; the two methods that are chosen now."""
        if name not in self.robot.options:
            self.robot.options = (*self.robot.options, name)
        self.robot.value = name
        self.tip.visible = len(tips) > 1
        if tips:
            self.tip.options, self.tip.value = tips, tip
        return self.offer(robot, self.aim.value)

    def show(self, wish: Wish) -> None:
        """Show what a wish asks for."""
        self.aim.value = wish.aim
        self.offer(wish.robot, wish.aim)
        self.method.value, self.compared.value = wish.method, wish.compared

    def offer(self, robot: Robot, aim: str) -> tuple[str, str]:
        """Offer the methods that serve a robot and an aim; the two that are chosen now."""
        served = methods_for(robot, aim)
        method, compared = self.method.value, self.compared.value
        self.method.options = served
        self.compared.options = (NO_METHOD, *served)
        self.method.value = method if method in served else served[0]
        self.compared.value = compared if compared in served else NO_METHOD
        return self.method.value, self.compared.value
