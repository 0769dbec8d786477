"""Where the cameras of visitors stand: views that fit into what the panels leave of a screen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arcreach._typing import Array

# Narrower than viser's own: tubes at the edge of the picture are not drawn out.
FIELD_OF_VIEW = 0.62
# Towards the camera, and the point in the middle of the picture, in reaches of the robot.
VIEWS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "3D": ((1.65, -1.65, 0.67), (0.2, 0.2, 0.38)),
    "Front": ((0.0, -1.0, 0.0), (0.0, 0.0, 0.45)),
    "Side": ((1.0, 0.0, 0.0), (0.0, 0.0, 0.45)),
    # Not quite from above, which would leave open which way is up on the screen.
    "Top": ((0.0, -0.03, 1.0), (0.0, 0.0, 0.4)),
}
FIRST = "3D"
# Half of what a view shows in width and in height, in reaches: the robot, the target and its handles.
HALF = 0.78
# Positions that differ by less are the same to a camera.
SAME = 1e-3


def placed(view: str, width: int, height: int) -> tuple[Array, Array]:
    """Position and look-at point of a view on a canvas of so many pixels."""
    towards, centre = (np.array(vector) for vector in VIEWS[view])
    towards = towards / np.linalg.norm(towards)
    # Pixels of the canvas are those of the device, whose number on a screen varies: only their ratio counts.
    distance = HALF / (math.tan(0.5 * FIELD_OF_VIEW) * min(1.0, width / max(height, 1)))
    return centre + distance * towards, centre


class Cameras:
    """Gives every visitor the first view, and fits it anew while panels open, until a hand moves the camera."""

    def __init__(self, server: Any) -> None:
        camera = server.initial_camera
        camera.position, camera.look_at = (tuple(point) for point in placed(FIRST, 800, 800))
        camera.up, camera.fov, camera.near, camera.far = (0.0, 0.0, 1.0), FIELD_OF_VIEW, 0.02, 60.0
        # For every visitor the view, and the positions that it was given.
        self._views: dict[int, tuple[str, list[Array]]] = {}
        server.on_client_connect(self._greet)
        server.on_client_disconnect(self._forget)

    async def _greet(self, client: Any) -> None:
        self.show(client, FIRST)
        client.camera.on_update(self._moved)

    async def _forget(self, client: Any) -> None:
        self._views.pop(client.client_id, None)

    async def _moved(self, camera: Any) -> None:
        view, given = self._views.get(camera.client.client_id, ("", []))
        if not any(np.allclose(camera.position, position, atol=SAME) for position in given):
            self._views.pop(camera.client.client_id, None)
        elif not np.allclose(placed(view, camera.image_width, camera.image_height)[0], given[-1], atol=SAME):
            self.show(camera.client, view)

    def show(self, client: Any, view: str) -> None:
        """Place a visitor's camera."""
        camera = client.camera
        position, look_at = placed(view, camera.image_width, camera.image_height)
        kept = self._views.get(client.client_id, ("", []))[1]
        # What the camera had a moment ago may still be on its way here.
        self._views[client.client_id] = (view, [*kept[-3:], np.array(camera.position), position])
        # In one step: a camera between two of these settings could turn about the vertical.
        with client.atomic():
            camera.position, camera.look_at, camera.up_direction = position, look_at, (0.0, 0.0, 1.0)
