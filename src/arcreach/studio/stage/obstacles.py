"""`DrawnObstacles`: the obstacles in the scene, which can be dragged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.scenes.scene import Scene
from arcreach.studio.stage import colours
from arcreach.studio.stage.shapes import mesh_of
from arcreach.studio.stage.target import Drag
from arcreach.studio.state.obstacles import centre_of, is_wall, movable, moved

WALL_OPACITY = 0.35


class DrawnObstacles:
    """One mesh for each obstacle; `dragged` is called with the index and the new centre in metres."""

    def __init__(self, server: Any, dragged: Callable[[int, Array], None]) -> None:
        self._scene, self._dragged, self._drag = server.scene, dragged, Drag()
        self._scale = 1.0
        self.handles: list[Any] = []
        self._shapes: list[Any] = []
        self.red: frozenset[int] = frozenset()

    def draw(self, scene: Scene, reach: float) -> None:
        """Show the obstacles of a scene, in units of the robot's reach; meshes are reused until `clear`."""
        self._scale = 1.0 / reach
        for handle in self.handles[len(scene) :]:
            handle.remove()
        del self.handles[len(scene) :], self._shapes[len(scene) :]
        for i, shape in enumerate(scene):
            known = self._shapes[i] if i < len(self._shapes) else None
            if known is None or type(known) is not type(shape) or not movable(shape):
                if known is not shape:
                    self._add(i, shape, reach)
            else:
                if moved(known, centre_of(shape)) != shape:
                    self.handles[i].vertices = (self._scale * mesh_of(shape, reach)[0]).astype(np.float32)
                self.handles[i].position = tuple(self._scale * centre_of(shape))
            self._shapes[i : i + 1] = [shape]

    def clear(self) -> None:
        """Remove all obstacles."""
        self.draw(Scene(), 1.0)

    def mark(self, touched: set[int]) -> None:
        """Show the obstacles in collision in red."""
        for i in (touched ^ self.red) & set(range(len(self.handles))):
            self.handles[i].color = colours.VERMILION if i in touched else colours.OBSTACLE
        self.red = frozenset(touched)

    def _add(self, i: int, shape: Any, reach: float) -> None:
        points, faces = mesh_of(shape, reach)
        handle = self._scene.add_mesh_simple(
            f"/obstacles/{i}",
            self._scale * points,
            faces,
            color=colours.OBSTACLE,
            opacity=WALL_OPACITY if is_wall(shape) else None,
            position=tuple(self._scale * centre_of(shape)),
            receive_shadow=False,
        )

        async def dragged(event: Any) -> None:
            centre = self._drag.moved(event, handle.position)
            if centre is not None:
                self._dragged(i, centre / self._scale)

        handle.on_drag(dragged)
        self.handles[i : i + 1] = [handle]
        self.red -= {i}
