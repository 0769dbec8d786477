"""The inputs for the view: tubes, frames, the workspace, all solutions, the camera, and the page as a file."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from arcreach.studio.panels.events import from_client
from arcreach.studio.stage.cameras import VIEWS

if TYPE_CHECKING:
    from arcreach.studio.app import Studio


class ViewInputs:
    """Check boxes, buttons for the camera, and a button to save the page."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        with gui.add_folder("View", expand_by_default=False):
            self.boxes = {
                "tubes": gui.add_checkbox("Tubes", True),
                "frames": gui.add_checkbox("Frames", False),
                "workspace": gui.add_checkbox("Workspace", False),
                "branches": gui.add_checkbox("All solutions", False),
            }
            self.camera = gui.add_button_group("Camera", tuple(VIEWS))
        self.save = gui.add_button("Save as HTML", icon="download", hint="The scene as one file that needs no network")
        for name, box in self.boxes.items():
            box.on_update(from_client(functools.partial(self._toggle, name)))
        self.camera.on_click(from_client(lambda event: studio.cameras.show(event.client, event.target.value)))
        self.save.on_click(from_client(lambda event: studio.queue.run(lambda: self._send(event.client), event.client)))

    def _toggle(self, name: str, event: Any) -> None:
        shown = event.target.value
        self._studio.queue.run(lambda: self._studio.set_view(**{name: shown}), event.client)

    def _send(self, client: Any) -> None:
        page = self._studio.as_html().encode()
        client.send_file_download("arcreach-studio.html", page, save_immediately=True)
