from types import SimpleNamespace

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import clearance

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


def test_bad_input_is_named():
    with pytest.raises(MethodError, match="scene has no obstacles"):
        clearance(PATH)
    with pytest.raises(MethodError, match="points = 1"):
        clearance(PATH, BALL, points=1)
    with pytest.raises(MethodError, match="the path has 1 point;"):
        clearance(SimpleNamespace(robot=ROBOT, q=PATH.q[:1]), BALL)
