"""`Editor`: what the tab of obstacles asks for. Obstacles are added, dragged, sized, removed, loaded and saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arcreach.scenes.clearance import clearance
from arcreach.scenes.scene import Scene
from arcreach.studio import obstacles, scenes, uploads
from arcreach.studio.panels.events import tell

if TYPE_CHECKING:
    from arcreach.studio.app import Studio

# A new obstacle leaves this much room to the robot, in reaches.
ROOM = 0.02


class Editor:
    """Changes the scene of the page."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    @property
    def scene(self) -> Scene:
        """The obstacles."""
        return self._studio.scene

    def add_obstacle(self, kind: str) -> None:
        """One more obstacle, beside the robot and the others."""
        robot, q = self._studio.desk.wish.robot, self._studio.q
        scene = obstacles.beside(
            self.scene, kind, robot.reach, lambda one: float(clearance(robot, q, one)) > ROOM * robot.reach
        )
        self._studio.obstacles_tab.chosen = len(scene) - 1
        self._studio.set_scene(scene)

    def change_obstacle(self, index: int, shape: Any) -> None:
        """Another obstacle in place of one."""
        if 0 <= index < len(self.scene):
            self._studio.set_scene(obstacles.with_shape(self.scene, index, shape), f"obstacle {index}")

    def remove_obstacle(self, index: int) -> None:
        """One obstacle less."""
        if 0 <= index < len(self.scene):
            self._studio.set_scene(obstacles.without_shape(self.scene, index))

    def set_avoid(self, avoid: bool) -> None:
        """Whether methods that can avoid obstacles do."""
        self._studio.change(avoid=avoid)

    def connect(self, index: int) -> None:
        """Let an obstacle be dragged, in the plane of the screen; it is the chosen one from then on."""
        stage, grip = self._studio.stage, self._studio.grip
        handle = stage.obstacles[index]

        async def dragged(event: Any) -> None:
            if index >= len(self.scene) or not obstacles.movable(self.scene[index]):
                return
            place = grip.place(event, handle.position)
            if place is not None:
                self._studio.obstacles_tab.chosen = index
                self.change_obstacle(index, obstacles.moved(self.scene[index], place / stage.scale))

        handle.on_drag(dragged)

    def choose_scene(self, name: str, client: Any = None) -> None:
        """The obstacles of a scene of the catalogue."""
        self._studio.errand(lambda: self._load(scenes.of_catalogue(name), client), client)

    def receive_scene(self, name: str, content: bytes, client: Any) -> None:
        """The obstacles of a scene file that a visitor sent."""
        self._studio.errand(lambda: self._load(uploads.scene_of_upload(name, content), client), client)

    def _load(self, scene: Scene, client: Any) -> None:
        self._studio.set_scene(scene)
        if client is not None:
            tell(client, "Scene loaded", scenes.described(scene, self._studio.desk.wish.robot.reach), good=True)

    def save_scene(self, client: Any) -> None:
        """Send the obstacles to a visitor as a scene file."""
        self._studio.errand(lambda: scenes.send(self.scene, client), client)
