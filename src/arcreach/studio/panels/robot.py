"""The inputs for the robot: the catalogue, a file, and the tip of a URDF."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arcreach._text import count
from arcreach.files import catalogue
from arcreach.studio.panels.events import Studio, from_client, notify, uploaded
from arcreach.studio.stage.colours import QUIET
from arcreach.studio.state.robots import RobotEntry, has_body
from arcreach.studio.state.uploads import plain_name


class RobotInputs:
    """A list of robots, a button to load a file, and a list of tips if a URDF has several."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        names = tuple(filter(has_body, catalogue()))
        self.name = gui.add_dropdown("Robot", names, initial_value=names[0])
        self.upload = gui.add_upload_button("Load a robot file", icon="upload", color=QUIET, hint="TOML or URDF")
        self.tip = gui.add_dropdown(
            "Tip", ("",), initial_value="", visible=False, hint="The link that reaches the target"
        )
        self.name.on_update(from_client(lambda event: self.choose(event.target.value, event.client)))
        self.upload.on_upload(from_client(lambda event: self._load(*uploaded(event), event.client)))
        self.tip.on_update(from_client(lambda event: self._choose_tip(event.target.value, event.client)))

    def choose(self, name: str, client: Any = None) -> None:
        """Show a robot of the list."""
        if name in self._studio.robots:
            self._replace(lambda: self._studio.robots[name], client)

    def _choose_tip(self, tip: str, client: Any) -> None:
        name = self._studio.state.entry.name
        self._replace(lambda: self._studio.robots.set_tip(name, tip), client)

    def _replace(self, read: Callable[[], RobotEntry], client: Any) -> None:
        def work() -> None:
            try:
                entry = read()
                self._studio.set_robot(entry.robot, entry.name)
                self._announce(client, "")
            finally:
                # After a failure the lists would otherwise keep showing the rejected choice.
                self.show(self._studio.state.entry)

        self._studio.queue.run(work, client)

    def _load(self, file: str, content: bytes, client: Any) -> None:
        def work() -> None:
            entry = self._studio.robots.add_file(file, content)
            tip = f"; its tip is {entry.tip}, choose another under Tip" if len(entry.tips) > 1 else ""
            self._studio.set_robot(entry.robot, entry.name)
            self._announce(client, f"{plain_name(file)}: {entry.robot!r}{tip}")

        self._studio.queue.run(work, client)

    def _announce(self, client: Any, loaded: str) -> None:
        """Notify a client of a robot that was loaded from a file, or of obstacles that were kept."""
        own = self._studio.state.own_scene
        kept = f"the scene keeps its {count(len(own), 'obstacle')}; Reset restores the initial scene" if own else ""
        if client is not None and (loaded or kept):
            text = "; ".join(filter(None, (loaded or repr(self._studio.state.entry.robot), kept)))
            notify(client, "Robot loaded", text, good=True)

    def show(self, entry: RobotEntry) -> None:
        """Show a robot as the chosen one."""
        if entry.name not in self.name.options:
            self.name.options = (*self.name.options, entry.name)
        self.name.value = entry.name
        self.tip.visible = len(entry.tips) > 1
        if entry.tips:
            self.tip.options, self.tip.value = entry.tips, entry.tip
