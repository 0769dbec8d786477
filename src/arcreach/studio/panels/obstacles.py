"""The obstacles tab: add, move, resize and remove obstacles; load and save scenes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.files.toml.scene_file import scene_text
from arcreach.scenes.clearance import clearance
from arcreach.scenes.scene import Scene
from arcreach.studio.panels.events import Studio, from_client, notify, uploaded
from arcreach.studio.stage.colours import QUIET
from arcreach.studio.state import obstacles
from arcreach.studio.state.uploads import parse_scene_upload

NONE, CHOOSE = "none", "choose …"
# In reaches of the robot: the range of the position sliders, the range of sizes, and the clearance of a new obstacle.
FAR, SMALLEST, LARGEST, ROOM = 1.5, 0.005, 0.5, 0.02


class ObstaclesTab:
    """Buttons for new obstacles, and sliders for the position and the size of the chosen one."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        self.chosen = 0
        gui.add_html('<div style="padding:4px 12px;font-size:0.875em">Drag an obstacle, or set it here.</div>')
        self.add = gui.add_button_group("Add", obstacles.KINDS)
        self.choice = gui.add_dropdown("Obstacle", (NONE,), initial_value=NONE)
        self.position = [gui.add_slider(f"{axis} mm", -100.0, 100.0, 0.1, 0.0) for axis in "xyz"]
        self.size = gui.add_slider("size mm", 1.0, 100.0, 0.1, 10.0, hint="Radius; of a block, half its longest edge.")
        self.remove = gui.add_button("Remove", icon="trash", color=QUIET)
        self.avoid = gui.add_checkbox("Keep clear", True, hint="Methods that can avoid obstacles do so.")
        with gui.add_folder("Scene", expand_by_default=False):
            self.scene = gui.add_dropdown("Catalogue", (CHOOSE, *obstacles.spatial_scenes()), initial_value=CHOOSE)
            self.upload = gui.add_upload_button("Load a scene file", icon="upload", color=QUIET, hint="TOML")
            self.save = gui.add_button("Save the scene", icon="download", color=QUIET, hint="As a TOML file")
        self._connect()

    def _connect(self) -> None:
        self.add.on_click(from_client(lambda event: self.add_obstacle(event.target.value)))
        self.choice.on_update(from_client(self._choose))
        for axis, slider in enumerate(self.position):
            slider.on_update(from_client(functools.partial(self._move, axis)))
        self.size.on_update(from_client(self._resize))
        self.remove.on_click(from_client(self._remove))
        self.avoid.on_update(from_client(lambda event: self._studio.change(avoid=event.target.value)))
        self.scene.on_update(from_client(self._choose_scene))
        self.upload.on_upload(from_client(self._load_file))
        self.save.on_click(from_client(self._send))

    def add_obstacle(self, kind: str) -> None:
        """Add an obstacle, if possible clear of the robot and of the other obstacles, and choose it."""
        robot, q = self._studio.state.request.robot, self._studio.q
        scene = obstacles.with_new_beside(
            self._studio.scene, kind, robot.reach, lambda one: float(clearance(robot, q, one)) > ROOM * robot.reach
        )
        self.chosen = len(scene) - 1
        self._studio.set_scene(scene)

    def drag(self, index: int, centre: Array) -> None:
        """Move an obstacle that a user drags, and choose it."""
        scene = self._studio.scene
        if index < len(scene) and obstacles.movable(scene[index]):
            self.chosen = index
            self._change(lambda shape: obstacles.moved(shape, centre))

    def _change(self, changed: Callable[[Any], Any]) -> None:
        """Replace the chosen obstacle, if there is one, by the result of `changed` for it."""
        scene = self._studio.scene
        if len(scene):
            index = self._index(scene)
            self._studio.set_scene(obstacles.with_shape(scene, index, changed(scene[index])), f"obstacle {index}")

    def _choose(self, event: Any) -> None:
        names = self._studio.scene.shape_names
        if event.target.value in names:
            self.chosen = names.index(event.target.value)
            self.show(self._studio.scene, self._studio.state.request.robot.reach)

    def _index(self, scene: Scene) -> int:
        """Return the index of the chosen obstacle in a scene that is not empty."""
        return min(self.chosen, len(scene) - 1)

    def _move(self, axis: int, event: Any) -> None:
        def moved(shape: Any) -> Any:
            centre = obstacles.centre_of(shape)
            centre[axis] = event.target.value * 1e-3
            return obstacles.moved(shape, centre)

        self._change(moved)

    def _resize(self, event: Any) -> None:
        self._change(lambda shape: obstacles.resized(shape, event.target.value * 1e-3))

    def _remove(self, _: Any) -> None:
        scene = self._studio.scene
        if len(scene):
            self._studio.set_scene(obstacles.without_shape(scene, self._index(scene)))

    def _choose_scene(self, event: Any) -> None:
        name = event.target.value
        if name != CHOOSE:
            self._load(lambda: obstacles.scene_of_catalogue(name), event.client)
            # The list does not name the current scene: its obstacles may have been moved.
            event.target.value = CHOOSE

    def _load_file(self, event: Any) -> None:
        name, content = uploaded(event)
        self._load(lambda: parse_scene_upload(name, content), event.client)

    def _load(self, read: Callable[[], Scene], client: Any) -> None:
        def work() -> None:
            scene = read()
            self._studio.set_scene(scene)
            reach = self._studio.state.request.robot.reach
            notify(client, "Scene loaded", obstacles.summary(scene, reach), good=True)

        self._studio.queue.run(work, client)

    def _send(self, event: Any) -> None:
        def work() -> None:
            content = scene_text(self._studio.scene).encode()
            event.client.send_file_download("arcreach-scene.toml", content, save_immediately=True)

        self._studio.queue.run(work, event.client)

    def show(self, scene: Scene, reach: float) -> None:
        """Show the obstacles, and the position and the size of the chosen one."""
        names = scene.shape_names or (NONE,)
        index = min(self.chosen, len(names) - 1)
        if self.choice.options != names:
            self.choice.options = names
        self.choice.value = names[index]
        self.remove.disabled = not len(scene)
        shape = scene[index] if len(scene) else None
        self._show_position(shape, reach)
        self._show_size(shape, reach)

    def _show_position(self, shape: Any, reach: float) -> None:
        centre = 1e3 * obstacles.centre_of(shape) if shape is not None else np.zeros(3)
        far = float(np.ceil(max(FAR * 1e3 * reach, np.abs(centre).max())))
        for slider, value in zip(self.position, centre, strict=True):
            slider.disabled = shape is None or not obstacles.movable(shape)
            if slider.max != far:
                slider.min, slider.max = -far, far
            slider.value = round(float(value), 1)

    def _show_size(self, shape: Any, reach: float) -> None:
        size = None if shape is None else obstacles.size_of(shape)
        self.size.disabled = size is None
        if size is None:
            return
        low = round(max(min(SMALLEST * 1e3 * reach, size * 1e3), 0.1), 1)
        high = float(np.ceil(max(LARGEST * 1e3 * reach, size * 1e3)))
        if (self.size.min, self.size.max) != (low, high):
            self.size.min, self.size.max = low, high
        self.size.value = round(size * 1e3, 1)
