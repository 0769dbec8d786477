import itertools
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


def test_every_view_shows_the_path_of_the_tip(tmp_path):
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


def test_poses_in_each_other_are_drawn_one_over_the_other():
    robot = ar.Robot([ar.Prismatic(0.0, 0.1, radius=0.004), ar.Section(0.05, 1.5, radius=0.004)])
    path = SimpleNamespace(robot=robot, q=np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]))
    # A ball before them stays before all of them.
    ball = ar.Sphere((0.03, 0.0, 0.05), 0.01)
    drawn = scene(path, [ball], poses=5, views=((0.0, 18.0),)).get_axes()[0].collections[0]
    colours = drawn.get_facecolors()[:, :3]
    widths = [np.ptp(outline.vertices[:, 0]) for outline in drawn.get_paths()]
    bodies = [k for k, width in enumerate(widths) if np.isclose(width, 8.0, atol=0.1)]
    # The farther the slide is out, the nearer is the body as a whole to an eye above it, and the bluer it is.
    heights = [drawn.get_paths()[k].vertices[:, 1] for k in bodies]
    blue = colours[bodies, 2] - colours[bodies, 0]
    pairs = 0
    for k, after in itertools.combinations(range(len(bodies)), 2):
        if min(heights[k].max(), heights[after].max()) - max(heights[k].min(), heights[after].min()) > 0.5:
            assert blue[k] <= blue[after] + 1e-9
            pairs += 1
    assert pairs > 50
    shaded = [k for k, width in enumerate(widths) if np.isclose(width, 20.0, atol=0.2)]
    assert min(shaded) > max(bodies)


def test_a_base_link_without_a_radius_is_drawn():
    robot = ar.Robot([ar.Link((0, 0, 0.2)), ar.Revolute((0, 1, 0)), ar.Link((0.3, 0, 0))])
    figure = scene(SimpleNamespace(robot=robot, q=np.array([[0.0], [0.1]])), views=((0.0, 0.0),))
    drawn = np.concatenate([path.vertices for path in figure.get_axes()[0].collections[0].get_paths()])
    assert ((drawn[:, 1] > 50.0) & (drawn[:, 1] < 150.0)).any()


def test_bad_input_is_named():
    for poses in (1, 2.5):
        with pytest.raises(MethodError, match=f"poses = {poses} is not accepted; give a whole number from 2"):
            scene(motion(), OBSTACLES, poses=poses)
    with pytest.raises(MethodError, match="views is empty"):
        scene(motion(), OBSTACLES, views=())
