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


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_legend_has_what_is_drawn():
    path = motion()
    assert legend_of(scene(path)) == ["start", "goal", "path of the tip"]
    assert legend_of(scene(path, OBSTACLES[:1])) == ["start", "goal", "path of the tip", "obstacle"]
    path.reached = False
    assert legend_of(scene(path, target=[0.1, 0.0, 0.1])) == ["start", "end", "path of the tip", "target"]


def test_a_plan_without_a_path_shows_its_start_and_the_target():
    robot = ar.load_robot("two-section")
    target = ar.Target([0.03, 0.0, 0.3])
    plan = ar.plan(robot, robot.neutral, target, [OBSTACLES[0]])
    assert not plan.reached
    assert legend_of(scene(plan)) == ["start", "obstacle"]
    figure = scene(plan, target=target, views=((0.0, 0.0),))
    assert legend_of(figure) == ["start", "target", "obstacle"]
    panel = figure.get_axes()[0]
    rings = [line.get_xydata()[0] for line in panel.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(rings, [(0.0, 300.0)] * 2, atol=1e-9)
    assert panel.get_ylim()[1] > 300.0
    # The only pose is the start, which is grey.
    drawn = panel.collections[0]
    bodies = [k for k, one in enumerate(drawn.get_paths()) if np.ptp(one.vertices[:, 0]) < 20.0]
    colours = drawn.get_facecolors()[bodies, :3]
    assert np.ptp(colours, axis=1).max() < 0.1
    plan_with_target = SimpleNamespace(robot=robot, q=plan.q, target=target, reached=False)
    assert legend_of(scene(plan_with_target)) == ["start", "target"]


@pytest.mark.parametrize(("view", "front"), [((-60.0, 18.0), False), ((120.0, 18.0), True)])
def test_a_wall_is_as_high_as_the_motion(view, front):
    path = motion()
    panel = scene(path, [ar.HalfSpace((0, -1, 0), (0, 0.1, 0))], views=(view,)).get_axes()[0]
    (plane,) = panel.patches
    corners = plane.get_xy()
    heights = corners[:, 1] / np.cos(np.radians(18.0))
    tips = 1e3 * path.robot.tip_pose(path.q)[:, 2, 3]
    assert np.ptp(heights) > tips.max()
    low, high = np.array([panel.get_xlim(), panel.get_ylim()]).T
    assert ((corners >= low) & (corners <= high)).all()
    assert (plane.get_zorder() > panel.collections[0].get_zorder()) is front


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
