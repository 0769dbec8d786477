"""Steps of a path within `max_step`."""

import numpy as np
import pytest

import arcreach as ar


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["position", "axis"])
@pytest.mark.parametrize("max_step", [0.1, 0.05])
def test_a_joint_that_does_not_move_the_tip_rests_beyond_the_workspace(kind, max_step):
    arm = ar.load_robot("panda")
    q = np.array([0.3, 0.2, -0.2, -1.8, 0.3, 2.0, 0.5])
    T = arm.tip_pose(q)
    points = T[:3, 3] + np.linspace(0.0, 1.0, 30)[:, None] * [0.45, 0.0, 0.1]
    axes = np.tile(T[:3, 2], (30, 1)) if kind == "axis" else None
    path = ar.follow(arm, points, axes=axes, start=q, max_step=max_step)
    assert 0 < path.reached_points.sum() < len(path)
    # Joint 7 turns about the axis of the tip.
    np.testing.assert_allclose(path.q[:, 6], 0.5, atol=1e-9)
