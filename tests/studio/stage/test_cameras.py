"""The cameras: the robot, the target and its handles fit any canvas."""

import numpy as np
import pytest
from tests.studio.waiting import until
from tests.studio.wire import CAMERA, client_of

from arcreach.studio.stage.cameras import FIELD_OF_VIEW, HALF, INITIAL, VIEWS, placed


def pixel(point, view, width, height):
    """Where a point of the stage is on a canvas."""
    position, look_at = placed(view, width, height)
    ahead = (look_at - position) / np.linalg.norm(look_at - position)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    seen = np.asarray(point) - position
    focal = 0.5 * height / np.tan(0.5 * FIELD_OF_VIEW) / (seen @ ahead)
    return 0.5 * width + focal * (seen @ right), 0.5 * height - focal * (seen @ np.cross(right, ahead))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("width", "height"), [(652, 800), (390, 456), (1170, 1368), (812, 820), (1300, 700)])
def test_a_view_fits_any_canvas(view, width, height):
    centre = np.array(VIEWS[view][1])
    x, y = pixel(centre, view, width, height)
    assert (x, y) == pytest.approx((0.5 * width, 0.5 * height))
    position, look_at = placed(view, width, height)
    right = np.cross(look_at - position, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    for side in (-1.0, 1.0):
        x, y = pixel(centre + side * HALF * right, view, width, height)
        assert -1e-6 <= x <= width + 1e-6
        assert 0.0 <= y <= height


def last_position(client):
    return np.array(client.of_type("SetCameraPositionMessage")[-1]["position"])


def test_a_view_is_adjusted_until_the_user_moves_the_camera(page):
    with client_of(page) as client:
        until(lambda: client.of_type("SetCameraPositionMessage"))
        assert np.allclose(last_position(client), placed("3D", 800, 600)[0])
        narrow = {**CAMERA, "image_width": 400, "image_height": 800}
        # The panels have opened: the canvas is narrower.
        client.send(**{**narrow, "position": last_position(client).tolist()})
        until(lambda: np.allclose(last_position(client), placed("3D", 400, 800)[0]))
        count = len(client.of_type("SetCameraPositionMessage"))
        # The user moves the camera, and another change of the canvas leaves it there.
        client.send(**{**narrow, "position": (3.0, 0.0, 0.5)})
        client.send(**{**narrow, "image_width": 700, "position": (3.0, 0.0, 0.5)})
        client.set(page.panels.view.camera, "Top")
        until(lambda: np.allclose(last_position(client), placed("Top", 700, 800)[0]))
        assert len(client.of_type("SetCameraPositionMessage")) == count + 1


def test_a_slow_client_gets_the_view_of_its_last_canvas(page):
    with client_of(page) as client:
        until(lambda: client.of_type("SetCameraPositionMessage"))
        first = last_position(client)
        # A panel slides open, and the client does not yet apply the positions it is sent.
        for width in (700, 600, 500, 400, 300):
            client.send(**{**CAMERA, "image_width": width, "image_height": 800, "position": first.tolist()})
            until(lambda width=width: np.allclose(last_position(client), placed("3D", width, 800)[0]))
        count = len(client.of_type("SetCameraPositionMessage"))
        # Now it reports the first of them, and is still given the last.
        late = placed("3D", 700, 800)[0].tolist()
        client.send(**{**CAMERA, "image_width": 300, "image_height": 800, "position": late})
        until(lambda: len(client.of_type("SetCameraPositionMessage")) > count)
        assert np.allclose(last_position(client), placed("3D", 300, 800)[0])


def test_the_reports_of_a_page_that_loads_slowly_are_no_movements_of_the_user(page):
    with client_of(page) as client:
        until(lambda: client.of_type("SetCameraPositionMessage"))
        wide, narrow = ({**CAMERA, "image_width": width, "image_height": 800} for width in (1280, 617))
        # As a browser with slow frames sends them: the default of three.js, that of viser, the initial camera.
        for position in ([-5.0, 0.0, 0.0], [3.0, 3.0, 3.0], INITIAL[0].tolist()):
            client.send(**{**wide, "position": position})
        client.send(**{**narrow, "position": INITIAL[0].tolist()})
        until(lambda: np.allclose(last_position(client), placed("3D", 617, 800)[0]))


def test_the_initial_camera_may_come_after_the_first_view(page):
    narrow = {**CAMERA, "image_width": 617, "image_height": 800}
    with client_of(page, narrow) as client:
        first, _ = placed("3D", 617, 800)
        # Before it comes the position for a canvas of unknown size.
        until(lambda: client.of_type("SetCameraPositionMessage") and np.allclose(last_position(client), first))
        before = len(client.of_type("SetCameraPositionMessage"))
        for position in (first, INITIAL[0]):
            client.send(**{**narrow, "position": position.tolist()})
        until(lambda: len(client.of_type("SetCameraPositionMessage")) > before)
        assert np.allclose(last_position(client), first)
