"""The Tendons tab: pulls move the robot, the robot moves the pulls."""

import numpy as np
import pytest
from tests.robots.test_actuation import driven_robot
from tests.studio.waiting import settle

import arcreach as ar
from arcreach.calibration.parameters import is_elastic
from arcreach.studio.panels.tendons import slider_limits

DRIVEN = ar.load_robot("tendon-driven")


@pytest.fixture
def driven(studio):
    studio.set_robot(DRIVEN)
    settle(studio)
    return studio


def shown_pulls(studio):
    return 1e-3 * np.array([handle.value for handle in studio.panels.tendons.handles])


def test_only_robots_with_tendons_have_the_tab(studio):
    tab, box = studio.panels.tendons, studio.panels.view.boxes["tendons"]
    assert not tab.handles
    assert not box.visible
    assert studio.stage.tendons is None
    studio.set_robot(DRIVEN)
    settle(studio)
    assert len(tab.handles) == 9
    assert box.visible
    studio.set_robot(ar.load_robot("two-section"))
    settle(studio)
    assert not tab.handles
    assert not box.visible


def test_a_pull_moves_the_robot_and_its_target(driven):
    pulls = shown_pulls(driven) + 2e-3 * np.eye(9)[0]
    driven.pull(pulls)
    settle(driven)
    expected = DRIVEN.clip(DRIVEN.from_pulls(pulls, elastic=True, q=driven.q).q)
    assert np.allclose(DRIVEN.tip_pose(driven.q), DRIVEN.tip_pose(expected), atol=1e-9)
    assert np.allclose(driven.stage.target.pose, DRIVEN.tip_pose(driven.q))
    assert np.allclose(shown_pulls(driven), pulls, atol=1e-5)
    assert "Tensions" in driven.panels.tendons.note.content


def test_slack_tendons_are_named_and_dashed(driven):
    assert not driven.stage.tendons.slack.visible
    driven.pull(1e-3 * np.array([2, -8, 0, 3, 0, 0, 12, 0, -3]))
    settle(driven)
    assert "Slack: section-1.tendon-2<" in driven.panels.tendons.note.content
    assert driven.stage.tendons.slack.visible
    driven.undo()
    settle(driven)
    assert driven.state.request.pulled is None
    assert "Slack" not in driven.panels.tendons.note.content
    assert not driven.stage.tendons.slack.visible


def test_a_moved_tip_shows_the_pulls_that_hold_it(driven):
    driven.pose(np.array([0.5, 0.3, 0.4, 1.0, 0.3, 2.0]))
    settle(driven)
    found = DRIVEN.from_pulls(shown_pulls(driven), elastic=True)
    # Within the last digit of the sliders.
    assert np.allclose(DRIVEN.tip_pose(found.q)[:3, 3], DRIVEN.tip_pose(driven.q)[:3, 3], atol=5e-4)


def test_rigid_tendons_show_pulls_that_do_not_fit_together(studio):
    studio.set_robot(driven_robot())
    settle(studio)
    assert not studio.panels.tendons.elastic
    studio.pull(np.full(9, 2e-3))
    settle(studio)
    assert "do not fit together: 2.0 mm residual" in studio.panels.tendons.note.content
    assert slider_limits(driven_robot(pull_min=-0.004, pull_max=0.02))[0] == (-4.0, 20.0)
    assert is_elastic(DRIVEN)


def test_tendons_can_be_hidden(driven):
    core = driven.stage.robot.body.tip_radius
    driven.set_view(tendons=False)
    assert driven.stage.tendons is None
    assert driven.stage.robot.visible
    assert driven.stage.robot.body.tip_radius > core
    driven.set_view(tendons=True)
    assert driven.stage.tendons.taut.visible


def test_further_solutions_follow_the_robot_when_tendons_are_hidden(driven):
    driven.stage.set_branches([driven.q])
    core = driven.stage.branches[0].body.tip_radius
    driven.set_view(tendons=False)
    assert driven.stage.branches[0].visible
    assert driven.stage.branches[0].body.tip_radius > core
    driven.stage.set_branches([])
    driven.set_view(tendons=True)


def test_the_ellipsoid_is_that_of_the_tip(driven):
    assert not driven.stage.tendons.ellipsoid.visible
    driven.set_pull_error(1e-3)
    ellipsoid = driven.stage.tendons.ellipsoid
    assert ellipsoid.visible
    axes = ar.tip_covariance(DRIVEN, driven.q, pulls=np.full(9, 1e-3), elastic=True).axes
    away = np.linalg.norm(ellipsoid.vertices / driven.stage.scale - DRIVEN.tip_pose(driven.q)[:3, 3], axis=1)
    assert away.max() == pytest.approx(np.linalg.norm(axes, axis=0).max(), rel=0.02)
    driven.set_pull_error(None)
    assert not ellipsoid.visible
