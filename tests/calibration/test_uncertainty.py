"""The covariance of the tip against Monte Carlo, and what it refuses."""

import math

import numpy as np
import pytest

import arcreach as ar


def driven_robot(**fields):
    tendons = [ar.Tendon(0.0045, math.radians(angle), stiffness=2e4, **fields) for angle in (0, 120, 240)]
    return ar.Robot([ar.Section(0.06, 2.5, bending_stiffness=1e-2, tendons=tendons) for _ in range(2)])


def assert_samples_agree(found, count=20_000):
    sampled = np.cov(found.sample(count, seed=1).T)
    assert np.abs(sampled - found.matrix).max() < 0.05 * np.abs(found.matrix).max()


def test_coordinates_with_their_correlation():
    robot = ar.Robot([ar.Revolute((0, 0, 1)), ar.Section(0.1, 2.0, stretch=0.05)])
    q = np.array([0.3, 1.0, 0.4, 0.14])
    A = np.random.default_rng(0).normal(size=(4, 4)) * [[1e-3], [1e-3], [1e-3], [1e-4]]
    found = ar.tip_covariance(robot, q, coordinates=A @ A.T)
    J = robot.jacobian(q)
    assert np.allclose(found.pose, J @ A @ A.T @ J.T, rtol=1e-12)
    assert_samples_agree(found)


def test_axes_are_those_of_the_ellipsoid():
    found = ar.tip_covariance(driven_robot(), [0.6, 0.3, 0.9, -1.0], coordinates=[1e-3, 2e-3, 3e-3, 1e-3])
    lengths = np.linalg.norm(found.axes, axis=0)
    assert np.allclose(found.axes @ found.axes.T, found.matrix)
    assert list(lengths) == sorted(lengths, reverse=True)


@pytest.mark.parametrize("q", [[0.6, 0.3, 0.9, -1.0], [0.0, 0.0, 0.0, 0.0]], ids=["bent", "straight"])
@pytest.mark.parametrize("elastic", [False, True])
def test_pulls(q, elastic):
    robot = driven_robot(pretension=20.0)
    found = ar.tip_covariance(robot, q, pulls=np.full(6, 2e-5), elastic=elastic)
    assert np.allclose(found.position, robot.tip_pose(q)[:3, 3])
    assert_samples_agree(found)
    # Tendons at 120 degrees: uncorrelated pulls make the straight robot equally uncertain along x and y.
    if q[0] == 0.0:
        assert found.matrix[0, 0] == pytest.approx(found.matrix[1, 1], rel=1e-6)


def test_rigid_pulls_match_the_pseudo_inverse():
    robot = driven_robot()
    q = np.array([0.6, 0.3, 0.9, -1.0])
    found = ar.tip_covariance(robot, q, pulls=np.full(6, 1e-4))
    J = robot.jacobian(q) @ np.linalg.pinv(robot.pull_jacobian(q))
    # The pseudo-inverse weighs coordinates; with all of them determined by the pulls that does not matter.
    assert np.allclose(found.pose, 1e-8 * J @ J.T, rtol=1e-4, atol=1e-14)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "either coordinates or pulls"),
        ({"coordinates": [1, 1, 1, 1], "pulls": [1] * 6}, "either"),
        ({"coordinates": [1, 1]}, "4 standard deviations"),
        ({"coordinates": [1, 1, -1, 1]}, "negative"),
        ({"coordinates": np.diag([1.0, 1, -1, 1])}, "not a covariance"),
        ({"coordinates": [1, 1, 1, 1], "elastic": True}, "elastic has no meaning with coordinates"),
        ({"pulls": [math.nan] * 6}, "6 standard deviations"),
    ],
)
def test_refused(given, words):
    with pytest.raises(ar.ConfigurationError, match=words):
        ar.tip_covariance(driven_robot(), [0, 0, 0, 0], **given)


def test_a_robot_without_tendons_has_no_pulls():
    with pytest.raises(ar.RobotError, match="no tendons"):
        ar.tip_covariance(ar.Robot([ar.Section(0.1, 2.0)]), [0, 0], pulls=[1.0])
