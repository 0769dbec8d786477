import math

import numpy as np
import pytest
from tests import reference

from arcreach.errors import TargetError
from arcreach.ik.target import Target


def test_three_kinds_of_target():
    assert Target([1, 2, 3]).axis is None
    target = Target([1, 2, 3], axis=[0, 0, 5])
    np.testing.assert_array_equal(target.position, [1, 2, 3])
    np.testing.assert_array_equal(target.axis, [0, 0, 1])
    assert target.rotation is None
    turn = reference.random_rotation(np.random.default_rng(0))
    target = Target([1, 2, 3], rotation=turn)
    np.testing.assert_array_equal(target.rotation, turn)
    np.testing.assert_array_equal(target.axis, turn[:, 2])
    pose = reference.shift((1, 2, 3))
    pose[:3, :3] = turn
    np.testing.assert_array_equal(Target.from_pose(pose).row, target.row)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_an_axis_of_any_size(size):
    axis = Target([0, 0, 1], axis=[size, 0, size]).axis
    np.testing.assert_allclose(axis, [math.sqrt(0.5), 0, math.sqrt(0.5)], rtol=1e-15)


def quaternion_product(a, b):
    """The product of two quaternions w, x, y, z, by the rules for i, j and k."""
    (v, *u), (w, *x) = a, b
    return np.array([v * w - np.dot(u, x), *(v * np.array(x) + w * np.array(u) + np.cross(u, x))])


def test_a_quaternion_has_its_scalar_part_first():
    half = math.sqrt(0.5)
    # A quarter turn about z takes x to y.
    quarter = Target([1, 2, 3], quaternion=[half, 0, 0, half])
    np.testing.assert_allclose(quarter.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_array_equal(Target([1, 2, 3], quaternion=[1, 0, 0, 0]).rotation, np.eye(3))
    rng = np.random.default_rng(0)
    for _ in range(20):
        quaternion, vector = rng.normal(size=4), rng.normal(size=3)
        conjugate = quaternion * [1, -1, -1, -1]
        turned = quaternion_product(quaternion_product(quaternion, [0, *vector]), conjugate)[1:]
        turned /= np.dot(quaternion, quaternion)
        for size in (1.0, 1e200, 1e-200):
            rotation = Target([0, 0, 0], quaternion=size * quaternion).rotation
            np.testing.assert_allclose(rotation @ vector, turned, rtol=0, atol=1e-14 * np.linalg.norm(vector))


def test_repr_shows_what_is_asked():
    assert repr(Target([1, 2, 3])) == "Target(position=[1.0, 2.0, 3.0])"
    assert "axis=[0.0, 0.0, 1.0]" in repr(Target([1, 2, 3], axis=[0, 0, 2]))
    assert "rotation=[[1.0," in repr(Target([1, 2, 3], rotation=np.eye(3)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"position": [1, 2]}, "position has the shape (2,)"),
        ({"position": "here"}, "position = 'here'"),
        ({"position": ["0.1", "0.2", "0.3"]}, "position = "),
        ({"position": [1j, 0, 0]}, "position = "),
        ({"position": np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])}, "position = "),
        ({"position": [1, 2, math.nan]}, "position[2] = nan"),
        ({"position": [1, 2, 3], "axis": [0, 0, 0]}, "is zero"),
        ({"position": [1, 2, 3], "axis": [0, math.inf, 0]}, "axis[1] = inf"),
        ({"position": [1, 2, 3], "axis": [0, 0, 1], "rotation": np.eye(3)}, "both given"),
        ({"position": [1, 2, 3], "rotation": np.eye(3) * 1.1}, "is no rotation"),
        ({"position": [1, 2, 3], "rotation": np.diag([1, 1, -1])}, "is no rotation"),
        ({"position": [1, 2, 3], "rotation": np.eye(4)}, "rotation has the shape (4, 4)"),
        ({"position": [1, 2, 3], "quaternion": [0, 0, 0, 0]}, "quaternion is zero; give w, x, y, z"),
        ({"position": [1, 2, 3], "quaternion": [1, 0, 0]}, "quaternion has the shape (3,); give numbers of shape (4)"),
        ({"position": [1, 2, 3], "quaternion": [1, 0, 0, math.inf]}, "give finite numbers w, x, y, z"),
        ({"position": [1, 2, 3], "quaternion": [1, 0, 0, 0], "axis": [0, 0, 1]}, "beside axis or rotation"),
    ],
)
def test_bad_targets(arguments, words):
    with pytest.raises(TargetError) as caught:
        Target(**arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda pose: pose.T, "is it transposed?"),
        (lambda pose: pose * 1.1, "last row"),
        (lambda pose: pose + np.diag([0, np.nan, 0, 0]), "rotation[1, 1] = nan"),
        (lambda pose: pose + np.eye(4, k=3) * 1e13, "metres up to 1e12"),
        (lambda pose: pose @ np.diag([1, 1, -1, 1]), "is no rotation"),
        (lambda pose: pose[:3], "pose has the shape (3, 4)"),
    ],
)
def test_bad_poses(change, words):
    pose = reference.shift((1, 2, 3))
    with pytest.raises(TargetError) as caught:
        Target.from_pose(change(pose))
    assert words in str(caught.value)
