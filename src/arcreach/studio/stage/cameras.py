"""The cameras of clients: views that fit the part of the screen that the panels leave free."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._typing import Array

# Radians, narrower than viser's default: less distortion at the edge of the picture.
FIELD_OF_VIEW = 0.62
# Direction to the camera, and the point it looks at in reaches of the robot.
VIEWS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "3D": ((1.65, -1.65, 0.67), (0.2, 0.2, 0.38)),
    "Front": ((0.0, -1.0, 0.0), (0.0, 0.0, 0.45)),
    "Side": ((1.0, 0.0, 0.0), (0.0, 0.0, 0.45)),
    # Not exactly from above: the up direction on the screen would be undefined.
    "Top": ((0.0, -0.03, 1.0), (0.0, 0.0, 0.4)),
}
FIRST = "3D"
# Half the width and height of a view in reaches: fits the robot, the target and its handles.
HALF = 0.78
# Camera positions that differ by less are equal.
SAME = 1e-3


def placed(view: str, width: int, height: int) -> tuple[Array, Array]:
    """Return the position and the look-at point of a view on a canvas of this size in pixels."""
    towards, centre = (np.array(vector) for vector in VIEWS[view])
    towards = towards / np.linalg.norm(towards)
    # Device pixels differ in size between screens: only the ratio matters.
    distance = HALF / (math.tan(0.5 * FIELD_OF_VIEW) * min(1.0, width / max(height, 1)))
    return centre + distance * towards, centre


# Position and look-at point before the size of the canvas is known.
INITIAL = placed(FIRST, 800, 800)


@dataclass
class _Fitted:
    """A view that is adjusted to the canvas of a client."""

    view: str
    # All positions that were set: a slow client reports old ones long after they were set.
    given: list[Array]
    # Whether the client has reported one of them. Until then it reports earlier positions: the defaults of three.js and
    # viser while the page loads, later the position to which the user had moved the camera.
    arrived: bool = False


class Cameras:
    """Gives each client the first view, and adjusts it while panels open, until the user moves the camera."""

    def __init__(self, server: Any) -> None:
        camera = server.initial_camera
        camera.position, camera.look_at = (tuple(point) for point in INITIAL)
        camera.up, camera.fov, camera.near, camera.far = (0.0, 0.0, 1.0), FIELD_OF_VIEW, 0.02, 60.0
        self._fitted: dict[int, _Fitted] = {}
        server.on_client_connect(self._greet)
        server.on_client_disconnect(self._forget)

    async def _greet(self, client: Any) -> None:
        self._fitted[client.client_id] = _Fitted(FIRST, [INITIAL[0]])
        # viser also calls this handler for the first report of a new client, which sets the view.
        client.camera.on_update(self._moved)

    async def _forget(self, client: Any) -> None:
        self._fitted.pop(client.client_id, None)

    async def _moved(self, camera: Any) -> None:
        fitted = self._fitted.get(camera.client.client_id)
        if fitted is None:
            return
        if _among(camera.position, fitted.given):
            fitted.arrived = True
        elif fitted.arrived:
            # Only the user moves the camera from a position that was set to one that was not.
            self._fitted.pop(camera.client.client_id, None)
            return
        if not _among(camera.position, [placed(fitted.view, camera.image_width, camera.image_height)[0]]):
            self._place(camera, fitted)

    def show(self, client: Any, view: str) -> None:
        """Set a client's camera to a view."""
        last = self._fitted.get(client.client_id)
        self._fitted[client.client_id] = fitted = _Fitted(view, [] if last is None else last.given)
        self._place(client.camera, fitted)

    def _place(self, camera: Any, fitted: _Fitted) -> None:
        position, look_at = placed(fitted.view, camera.image_width, camera.image_height)
        if not _among(position, fitted.given):
            fitted.given.append(position)
        # Set atomically: with only some of these set, the camera could turn about the vertical.
        with camera.client.atomic():
            camera.position, camera.look_at, camera.up_direction = position, look_at, (0.0, 0.0, 1.0)


def _among(position: Any, given: list[Array]) -> bool:
    return any(np.allclose(position, other, atol=SAME) for other in given)
