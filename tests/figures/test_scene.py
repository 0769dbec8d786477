from types import SimpleNamespace

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import save, scene


def motion():
    """A path without a scene of its own: two configurations of an arm with a link and a section."""
    robot = ar.Robot([ar.Revolute((0, 1, 0)), ar.Link((0, 0, 0.1), radius=0.01), ar.Section(0.1, 1.5)])
    return SimpleNamespace(robot=robot, q=np.array([[0.0, 0.0, 0.0], [0.6, 1.0, 0.5]]))


OBSTACLES = [
    ar.Sphere((0.1, 0.1, 0.1), 0.02),
    ar.Capsule((-0.1, 0, 0), (-0.1, 0, 0.1), 0.01),
    ar.Box((0.02, 0.04, 0.06), (0.0, -0.1, 0.05)),
    ar.HalfSpace((0, 0, 1), (0, 0, -0.02)),
]


def test_every_view_shows_the_way_of_the_tip(tmp_path):
    path = motion()
    figure = scene(path, OBSTACLES, poses=3, views=((0.0, 0.0), (90.0, 0.0)))
    panels = figure.get_axes()
    assert len(panels) == 2
    tip = 1e3 * path.robot.tip_pose(path.q[-1])[:3, 3]
    # Seen along x: y to the right and z up; seen along y: -x to the right.
    for panel, right in zip(panels, (tip[1], -tip[0]), strict=True):
        x, y = panel.get_lines()[0].get_data()
        np.testing.assert_allclose((x[-1], y[-1]), (right, tip[2]), atol=1e-9)
        low, high = panel.get_xlim()
        assert low < right < high
    save(figure, tmp_path / "scene.png")
    assert (tmp_path / "scene.png").stat().st_size > 10_000


def test_balls_have_their_true_size():
    # One view along x, so that the ball's silhouette is a circle about (y, z) in millimetres.
    figure = scene(motion(), [OBSTACLES[0]], views=((0.0, 0.0),))
    outlines = [path.vertices for path in figure.get_axes()[0].collections[0].get_paths()]
    sizes = [np.linalg.norm(outline - (100.0, 100.0), axis=1) for outline in outlines]
    assert any(np.allclose(size[:-1], 20.0) for size in sizes)


def test_nearer_things_are_drawn_later():
    path = motion()
    before, behind = ar.Sphere((0.5, 0.0, 0.1), 0.03), ar.Sphere((-0.5, 0.0, 0.1), 0.05)
    outlines = scene(path, [before, behind], views=((0.0, 0.0),)).get_axes()[0].collections[0].get_paths()
    radii = [np.linalg.norm(outline.vertices[:-1] - (0.0, 100.0), axis=1) for outline in outlines]
    near = next(i for i, radius in enumerate(radii) if np.allclose(radius, 30.0))
    far = next(i for i, radius in enumerate(radii) if np.allclose(radius, 50.0))
    assert far < near


def test_bad_input_is_named():
    with pytest.raises(MethodError, match="poses = 1"):
        scene(motion(), OBSTACLES, poses=1)
    with pytest.raises(MethodError, match="views is empty"):
        scene(motion(), OBSTACLES, views=())
