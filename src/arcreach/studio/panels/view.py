"""The inputs for the view: what is shown, the camera, and the page as a file."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from arcreach.files.exports.html import page_text
from arcreach.studio.panels.events import Studio, from_client
from arcreach.studio.stage.cameras import VIEWS
from arcreach.studio.stage.colours import QUIET


class ViewInputs:
    """Check boxes, buttons for the camera, and buttons to save the scene or the robot as a page."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        with gui.add_folder("View", expand_by_default=False):
            self.boxes = {
                "tubes": gui.add_checkbox("Tubes", True),
                "tendons": gui.add_checkbox("Tendons", True),
                "frames": gui.add_checkbox("Frames", False),
                "workspace": gui.add_checkbox("Workspace", False),
                "reach": gui.add_checkbox(
                    "Reach map", False, hint="in how many directions the tip reaches the positions around the robot"
                ),
                "branches": gui.add_checkbox("All solutions", False),
            }
            self.camera = gui.add_button_group("Camera", tuple(VIEWS))
        self.save = gui.add_button("Save as HTML", icon="download", hint="The scene as one file that needs no network")
        self.export = gui.add_button(
            "Save a page that solves",
            icon="world",
            color=QUIET,
            hint="The robot with its solver as one file",
        )
        for name, box in self.boxes.items():
            box.on_update(from_client(functools.partial(self._toggle, name)))
        self.camera.on_click(from_client(lambda event: studio.cameras.show(event.client, event.target.value)))
        self.save.on_click(from_client(functools.partial(self._send, "arcreach-studio.html", studio.as_html)))
        self.export.on_click(from_client(functools.partial(self._send, "arcreach-robot.html", self._solving_page)))

    def _toggle(self, name: str, event: Any) -> None:
        shown = event.target.value
        self._studio.queue.run(lambda: self._studio.set_view(**{name: shown}), event.client)

    def _solving_page(self) -> str:
        return page_text(self._studio.state.entry.robot, self._studio.q)

    def _send(self, name: str, page: Callable[[], str], event: Any) -> None:
        def work() -> None:
            event.client.send_file_download(name, page().encode(), save_immediately=True)

        self._studio.queue.run(work, event.client)
