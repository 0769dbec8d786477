import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar
from arcreach.studio.panels.sliders import shown_value, slider_groups


def test_groups_of_sliders():
    groups = slider_groups(ar.load_robot("ur5-bending-tool"))
    assert [title for title, _ in groups] == ["Joints", "Section 1", "Section 2", "Section 3"]
    assert [spec.label for spec in groups[1][1]] == ["bend °", "direction °"]
    assert len(groups[0][1]) == 6
    inserted = slider_groups(ar.load_robot("inserted-three-section"))
    assert inserted[0][0] == "Joint"
    assert inserted[0][1][0].label.endswith(" mm")
    assert sum(len(specs) for _, specs in inserted) == ar.load_robot("inserted-three-section").dof


def test_sliders_show_degrees_and_millimetres():
    robot = ar.Robot([ar.Revolute(lower=-np.inf, upper=np.inf), ar.Link((0, 0, 1)), ar.Prismatic(0.0, 0.05)])
    specs = slider_groups(robot)[0][1]
    q = np.array([np.radians(370.0), 0.0123])
    assert [shown_value(spec, q) for spec in specs] == [10.0, 12.3]
    assert (specs[0].low, specs[0].high, specs[1].high) == (-180.0, 180.0, 50.0)


@pytest.mark.parametrize("name", ["ten-section", "panda", "librergm3"])
def test_every_coordinate_has_one_slider(name):
    robot = ar.load_robot(name)
    specs = [spec for _, group in slider_groups(robot) for spec in group]
    assert [spec.coordinate for spec in specs] == list(range(robot.dof))


def test_a_slider_sets_the_pose_and_the_target_follows(studio):
    with client_of(studio) as client:
        client.set(studio.panels.sliders.handles[0], 12.5)
        until(lambda: studio.q[0] == pytest.approx(np.radians(12.5)))
        settle(studio)
    assert studio.answer.results[0].status == "set by hand"
    assert np.allclose(studio.stage.target.pose, studio.state.request.robot.tip_pose(studio.q), atol=1e-9)


def test_the_sliders_show_the_solution(studio):
    robot = studio.state.request.robot
    goal = robot.tip_pose(np.array([0.3, 0.2, 0.4, -0.5, 0.6, 1.0]))
    studio.aim_at(goal)
    until(lambda: studio.answer.request.pose is goal)
    settle(studio)
    shown = [handle.value for handle in studio.panels.sliders.handles]
    assert np.allclose(np.radians(shown), studio.q, atol=np.radians(0.051))
