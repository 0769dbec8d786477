import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError


def test_eq_1_18_steps_in_bend_and_direction_from_a_straight_start():
    robot = ar.Robot([ar.Section(0.05, 1.5, stretch=0.02), ar.Section(0.05, 1.5, stretch=0.02)])
    pose = robot.tip_pose([0.7, 0.4, 0.066, 0.5, 0.9, 0.064])
    target = ar.Target(pose[:3, 3], axis=pose[:3, 2])
    found = ar.solve(robot, target, "dls", variant="published", damping=0.1, trace=True, max_iterations=3)
    first, second = found.trace.q[:2]
    length = 0.05 + 0.02 * np.clip((np.linalg.norm(pose[:3, 3]) - 0.1) / 0.04, 0.0, 1.0)
    np.testing.assert_allclose(first, [0.0, 0.0, length] * 2)
    # The step by plain NumPy: (J^T J + lambda I)^-1 J^T (x_d - x), with lengths in units of their range.
    tip, jacobian = robot.tip_pose(first), robot.jacobian(first)
    weight = robot.model.weight
    scales = np.array([1.0, 1.0, 0.02] * 2)
    J = np.vstack([jacobian[:3], weight * np.cross(jacobian[3:].T, tip[:3, 2]).T]) * scales
    e = np.concatenate([target.position - tip[:3, 3], weight * (target.axis - tip[:3, 2])])
    step = scales * np.linalg.solve(J.T @ J + (0.1 * weight) ** 2 * np.eye(6), J.T @ e)
    moved = first + step
    for k in (0, 3):
        moved[k + 2] = np.clip(moved[k + 2], 0.05, 0.07)
        moved[k] = np.clip(moved[k], 0.0, 1.5 * (moved[k + 2] - 0.05) / 0.02)
    np.testing.assert_allclose(second, moved, atol=1e-12)


def test_the_published_variant_bounds_no_step():
    robot = ar.load_robot("three-section")
    with pytest.raises(MethodError, match="largest_step is for variant bounded"):
        ar.solve(robot, [0.01, 0.0, 0.08], "dls", variant="published", largest_step=0.1)
