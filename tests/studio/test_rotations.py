import numpy as np
import pytest

from arcreach.studio.rotations import pose_of, quaternion, rotation_of, turned_to


def test_there_and_back():
    rng = np.random.default_rng(0)
    for wxyz in [*rng.normal(size=(50, 4)), *np.eye(4), np.array([1e-9, 1.0, 0.0, 0.0])]:
        matrix = rotation_of(wxyz)
        assert np.allclose(matrix @ matrix.T, np.eye(3))
        assert np.allclose(rotation_of(quaternion(matrix)), matrix)
        assert np.linalg.norm(quaternion(matrix)) == pytest.approx(1.0)


def test_a_quarter_turn_about_z():
    half = np.sqrt(0.5)
    pose = pose_of((half, 0.0, 0.0, half), (1.0, 2.0, 3.0))
    assert np.allclose(pose @ [1.0, 0.0, 0.0, 1.0], [1.0, 3.0, 3.0, 1.0])


def test_no_length_is_no_turn():
    assert np.array_equal(rotation_of((0.0, 0.0, 0.0, 0.0)), np.eye(3))


@pytest.mark.parametrize(
    "axis", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8), (1.0, 0.0, 0.0), (0.0, 1e-9, -1.0)]
)
def test_turned_to_an_axis(axis):
    start = rotation_of((0.9, 0.1, -0.3, 0.2))
    goal = start @ np.array(axis)
    for rotation, wanted in ((start, goal / np.linalg.norm(goal)), (np.eye(3), np.array(axis) / np.linalg.norm(axis))):
        turned = turned_to(rotation, wanted)
        assert np.allclose(turned.T @ turned, np.eye(3), atol=1e-9)
        assert np.linalg.det(turned) == pytest.approx(1.0)
        assert np.allclose(turned[:, 2], wanted, atol=1e-9)
    # By the smallest angle: what is across does not turn about the axis.
    assert np.allclose(turned_to(np.eye(3), np.array([0.6, 0.0, 0.8]))[:, 1], (0.0, 1.0, 0.0))
