"""The tab of obstacles: add, choose, move, size, remove."""

from __future__ import annotations

import functools
from typing import Any, Protocol

import numpy as np

from arcreach.scenes.scene import Scene
from arcreach.studio.colours import QUIET
from arcreach.studio.obstacles import KINDS, centre_of, movable, moved, resized, size_of
from arcreach.studio.panels.events import by_hand, sent

NONE, CHOOSE = "none", "choose …"
# Sliders reach this far, in reaches of the robot, and sizes from the first to the second.
FAR, SMALLEST, LARGEST = 1.5, 0.005, 0.5


class Asked(Protocol):
    """What the tab reports, and where it reads."""

    @property
    def scene(self) -> Scene:
        """The obstacles as they are asked for by now; what is drawn may be a moment behind."""

    def add_obstacle(self, kind: str) -> None:
        """One more, of this kind."""

    def change_obstacle(self, index: int, shape: Any) -> None:
        """Another one in its place."""

    def remove_obstacle(self, index: int) -> None:
        """One less."""

    def choose_scene(self, name: str, client: Any = None) -> None:
        """The obstacles of a scene of the catalogue."""

    def receive_scene(self, name: str, content: bytes, client: Any) -> None:
        """A scene file that a visitor sent."""

    def save_scene(self, client: Any) -> None:
        """The obstacles as a scene file."""

    def set_avoid(self, avoid: bool) -> None:
        """Whether the robot keeps clear."""


class ObstaclesTab:
    """Buttons for new obstacles, and the place and size of the chosen one."""

    def __init__(self, gui: Any, asked: Asked, scenes: tuple[str, ...] = ()) -> None:
        self._gui, self._asked = gui, asked
        self._reach = 1.0
        self.chosen = 0
        gui.add_html('<div style="padding:4px 12px;font-size:0.875em">Drag an obstacle, or set it here.</div>')
        self.add = gui.add_button_group("Add", KINDS)
        self.choice = gui.add_dropdown("Obstacle", (NONE,), initial_value=NONE)
        self._sliders = [gui.add_slider(f"{axis} mm", -100.0, 100.0, 0.1, 0.0) for axis in "xyz"]
        self.size = gui.add_slider("size mm", 1.0, 100.0, 0.1, 10.0)
        self.remove = gui.add_button("Remove", icon="trash", color=QUIET)
        self.avoid = gui.add_checkbox("Keep clear", True, hint="Methods that can avoid obstacles do so.")
        with gui.add_folder("Scene", expand_by_default=False):
            self.scene = gui.add_dropdown("Catalogue", (CHOOSE, *scenes), initial_value=CHOOSE)
            self.upload = gui.add_upload_button("Load a scene file", icon="upload", color=QUIET, hint="TOML")
            self.save = gui.add_button("Save the scene", icon="download", color=QUIET, hint="As a TOML file")
        self._connect()

    @property
    def places(self) -> list[Any]:
        """The sliders of x, y and z."""
        return self._sliders

    def _connect(self) -> None:
        self.add.on_click(by_hand(lambda event: self._asked.add_obstacle(event.target.value)))
        self.choice.on_update(by_hand(self._choose_named))
        for axis, slider in enumerate(self._sliders):
            slider.on_update(by_hand(functools.partial(self._move, axis)))
        self.size.on_update(by_hand(self._resize))
        self.remove.on_click(by_hand(self._remove))
        self.avoid.on_update(by_hand(lambda event: self._asked.set_avoid(event.target.value)))
        self.scene.on_update(by_hand(self._choose_scene))
        self.upload.on_upload(by_hand(lambda event: self._asked.receive_scene(*sent(event), event.client)))
        self.save.on_click(by_hand(lambda event: self._asked.save_scene(event.client)))

    def _choose_scene(self, event: Any) -> None:
        if event.target.value != CHOOSE:
            self._asked.choose_scene(event.target.value, event.client)
            # The list offers, and does not say what is there: obstacles may have been moved since.
            event.target.value = CHOOSE

    def _choose_named(self, event: Any) -> None:
        names = self._asked.scene.shape_names
        if event.target.value in names:
            self.chosen = names.index(event.target.value)
            self.show(self._asked.scene, self._reach)

    def _index(self, scene: Scene) -> int:
        """The number of the chosen obstacle, in a scene that has any."""
        return min(self.chosen, len(scene) - 1)

    def _move(self, axis: int, event: Any) -> None:
        scene = self._asked.scene
        if len(scene):
            index = self._index(scene)
            centre = centre_of(scene[index])
            centre[axis] = event.target.value * 1e-3
            self._asked.change_obstacle(index, moved(scene[index], centre))

    def _resize(self, event: Any) -> None:
        scene = self._asked.scene
        if len(scene):
            index = self._index(scene)
            self._asked.change_obstacle(index, resized(scene[index], event.target.value * 1e-3))

    def _remove(self, _: Any) -> None:
        scene = self._asked.scene
        if len(scene):
            self._asked.remove_obstacle(self._index(scene))

    def show(self, scene: Scene, reach: float) -> None:
        """Show what there is, and the place and the size of the chosen one."""
        self._reach = reach
        there = len(scene) > 0
        names = scene.shape_names if there else (NONE,)
        if tuple(self.choice.options) != tuple(names):
            self.choice.options = tuple(names)
        shape = scene[self._index(scene)] if there else None
        self.choice.value = names[self._index(scene)] if there else NONE
        self.remove.disabled = not there
        self._show_place(shape)
        self._show_size(shape)

    def _show_place(self, shape: Any) -> None:
        there = shape is not None and movable(shape)
        centre = 1e3 * centre_of(shape) if shape is not None else np.zeros(3)
        far = float(np.ceil(max(FAR * 1e3 * self._reach, np.abs(centre).max())))
        for slider, value in zip(self._sliders, centre, strict=True):
            slider.disabled = not there
            if slider.max != far:
                slider.min, slider.max = -far, far
            slider.value = round(float(value), 1)

    def _show_size(self, shape: Any) -> None:
        size = None if shape is None else size_of(shape)
        self.size.disabled = size is None
        if size is None:
            return
        low = round(max(min(SMALLEST * 1e3 * self._reach, size * 1e3), 0.1), 1)
        high = float(np.ceil(max(LARGEST * 1e3 * self._reach, size * 1e3)))
        if (self.size.min, self.size.max) != (low, high):
            self.size.min, self.size.max = low, high
        self.size.value = round(size * 1e3, 1)
