"""`DrawnRobot`: a robot's body in the scene."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.studio.stage import colours
from arcreach.studio.stage.body import Body
from arcreach.studio.stage.colours import Colour


class DrawnRobot:
    """Meshes that are sent once; afterwards only their points change. A ghost is drawn in one colour, transparent."""

    def __init__(
        self,
        server: Any,
        name: str,
        body: Body,
        scale: float,
        ghost: Colour | None = None,
        opacity: float | None = None,
    ) -> None:
        self.body, self._scale = body, scale
        places = body.vertices(body.robot.neutral)
        # A ghost stands on the plate of the robot itself.
        self._shown = [i for i, colour in enumerate(body.colours) if ghost is None or colour != colours.BASE]
        self._meshes = [
            server.scene.add_mesh_simple(
                f"/{name}/{i}", scale * places[i], body.faces[i], color=ghost or body.colours[i], opacity=opacity,
                cast_shadow=ghost is None, receive_shadow=False, visible=False,
            )
            for i in self._shown
        ]  # fmt: skip
        self._name, self._server = name, server

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return all(mesh.visible for mesh in self._meshes)

    def draw(self, q: Array | None) -> None:
        """Show the robot at a configuration, or hide it."""
        if q is not None:
            places = self.body.vertices(q)
            for i, mesh in zip(self._shown, self._meshes, strict=True):
                mesh.vertices = (self._scale * places[i]).astype(np.float32)
        for mesh in self._meshes:
            mesh.visible = q is not None

    def remove(self) -> None:
        """Remove it from the scene."""
        self._server.scene.remove_by_name(f"/{self._name}")
