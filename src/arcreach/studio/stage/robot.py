"""`DrawnRobot`: a robot's body in the 3-D view."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.studio.stage import colours
from arcreach.studio.stage.body import Body
from arcreach.studio.stage.colours import Colour


class DrawnRobot:
    """The meshes of a robot: faces are sent once, then only vertices. With `ghost`, all have that colour."""

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
        vertices = body.vertices(body.robot.neutral)
        # The base plate is drawn once, with the robot; ghosts omit it.
        self._shown = [i for i, colour in enumerate(body.colours) if ghost is None or colour != colours.BASE]
        self._meshes = [
            server.scene.add_mesh_simple(
                f"/{name}/{i}",
                scale * vertices[i],
                body.faces[i],
                color=ghost or body.colours[i],
                opacity=opacity,
                cast_shadow=ghost is None,
                receive_shadow=False,
                visible=False,
            )
            for i in self._shown
        ]
        self._name, self._server = name, server

    @property
    def visible(self) -> bool:
        """Whether the robot is visible."""
        return all(mesh.visible for mesh in self._meshes)

    def draw(self, q: Array | None) -> None:
        """Draw the robot at q; None hides it."""
        if q is not None:
            vertices = self.body.vertices(q)
            for i, mesh in zip(self._shown, self._meshes, strict=True):
                mesh.vertices = (self._scale * vertices[i]).astype(np.float32)
        for mesh in self._meshes:
            mesh.visible = q is not None

    def remove(self) -> None:
        """Remove the robot from the 3-D view."""
        self._server.scene.remove_by_name(f"/{self._name}")
