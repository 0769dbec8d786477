from types import SimpleNamespace

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import clearance
from arcreach.planning.motion.motion_check import motion_between

ROBOT = ar.load_robot("two-section")
PATH = SimpleNamespace(robot=ROBOT, q=np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]]), margin=0.002)
BALL = [ar.Sphere((0.06, 0.0, 0.06), 0.01)]


def lines_of(figure):
    return {line.get_label(): line for line in figure.axes[0].get_lines()}


def test_lines_are_the_clearance_of_the_motion():
    lines = lines_of(clearance(PATH, BALL, points=20))
    whole = lines["whole robot"].get_ydata()
    assert len(whole) == 20
    np.testing.assert_allclose(whole[0], 1e3 * ar.clearance(ROBOT, PATH.q[0], BALL))
    np.testing.assert_allclose(whole[-1], 1e3 * ar.clearance(ROBOT, PATH.q[-1], BALL))
    elements = [lines[name].get_ydata() for name in lines if name.startswith("section")]
    np.testing.assert_allclose(np.min(elements, axis=0), whole)
    # The path of the tip begins at 0 and is at least as long as the straight line to the end.
    way = lines["whole robot"].get_xdata()
    tips = 1e3 * ROBOT.tip_pose(PATH.q)[:, :3, 3]
    assert way[0] == 0.0
    assert way[-1] >= np.linalg.norm(tips[1] - tips[0]) * (1 - 1e-9)


def test_the_certified_line_lies_below_and_is_missing_in_a_collision():
    lines = lines_of(clearance(PATH, BALL, points=50))
    (name,) = [name for name in lines if name.startswith("certified")]
    sure = lines[name].get_ydata()[0]
    least = lines["whole robot"].get_ydata().min()
    assert 0.9 * least < sure <= least + 1e-6
    assert "margin" in lines
    hit = lines_of(clearance(PATH, [ar.Sphere((0.0, 0.0, 0.05), 0.01)], points=10, margin=0.0))
    assert not [name for name in hit if name.startswith("certified")]
    assert "margin" not in hit
    assert hit["whole robot"].get_ydata().min() < 0.0


def test_elements_that_stay_away_are_in_the_legend():
    # The tip passes the ball; the base stays away from it.
    robot = ar.load_robot("three-section")
    path = SimpleNamespace(robot=robot, q=np.array([[0.0] * 6, [0.3, 0.0, 0.3, 0.0, 0.3, 0.0]]))
    ball = [ar.Sphere((0.05, 0.0, 0.1), 0.005)]
    lines = lines_of(clearance(path, ball, points=20))
    drawn = [name for name in lines if name in robot.element_names]
    (others,) = [name for name in lines if "≥" in name]
    assert len(drawn) < 3
    start = "section-1: ≥ " if len(drawn) == 2 else "2 others: ≥ "
    assert others.startswith(start)
    # An element that is drawn comes below the highest point of the whole robot.
    whole = lines["whole robot"].get_ydata()
    assert all(lines[name].get_ydata().min() <= whole.max() for name in drawn)
    left_out = [k for k, name in enumerate(robot.element_names) if name not in drawn]
    motion = motion_between(robot, path.q, 20)
    nearest = 1e3 * ar.clearance(robot, motion, ball, per_element=True).distance[:, left_out].min()
    assert float(others.split()[-2]) == pytest.approx(nearest, rel=5e-3)


def test_the_zone_of_contact_has_no_colour_of_an_element():
    from matplotlib.colors import to_rgb

    from arcreach.figures.drawing.theme import COLOURS

    panel = clearance(PATH, BALL, points=20).axes[0]
    elements = {to_rgb(colour) for colour in COLOURS}
    level = [line for line in panel.get_lines() if list(line.get_ydata()) == [0.0, 0.0]]
    assert len(level) == 1
    assert to_rgb(level[0].get_color()) not in elements
    assert all(to_rgb(patch.get_facecolor()) not in elements for patch in panel.patches)


def test_bad_input_is_named():
    with pytest.raises(MethodError, match="scene has no obstacles"):
        clearance(PATH)
    for points in (1, 2.5):
        with pytest.raises(MethodError, match=f"points = {points} is not accepted; give a whole number from 2"):
            clearance(PATH, BALL, points=points)
    with pytest.raises(MethodError, match="the path has 1 point;"):
        clearance(SimpleNamespace(robot=ROBOT, q=PATH.q[:1]), BALL)
