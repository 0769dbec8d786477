import itertools
import math

import numpy as np
import pytest
from tests import reference

from arcreach.errors import TargetError
from arcreach.ik.target import Target, Targets


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
    assert Target.from_pose(pose) == target


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
        ({"position": [1, 2, 3], "axis": [0, 0, 0]}, "axis is zero; give a direction"),
        ({"position": [1, 2, 3], "axis": [0, math.inf, 0]}, "axis[1] = inf"),
        ({"position": [1, 2, 3], "axis": [0, 0, 1], "rotation": np.eye(3)}, "both given"),
        ({"position": [1, 2, 3], "rotation": np.eye(3) * 1.1}, "rotation = [[1.1"),
        ({"position": [1, 2, 3], "rotation": np.diag([1, 1, -1])}, "is not a rotation"),
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
        (lambda pose: pose @ np.diag([1, 1, -1, 1]), "is not a rotation"),
        (lambda pose: pose[:3], "pose has the shape (3, 4)"),
    ],
)
def test_bad_poses(change, words):
    pose = reference.shift((1, 2, 3))
    with pytest.raises(TargetError) as caught:
        Target.from_pose(change(pose))
    assert words in str(caught.value)


POSES = np.stack([reference.shift((1, 2, z)) @ reference.rot_y(0.3 * z) for z in range(5)])


CONVENTIONS = ["".join(axes) for axes in itertools.product("xyz", repeat=3) if axes[0] != axes[1] != axes[2]]
TURNS = {"x": reference.rot_x, "y": reference.rot_y, "z": reference.rot_z}


@pytest.mark.parametrize("convention", [*CONVENTIONS, *map(str.upper, CONVENTIONS)])
def test_euler_angles_of_every_convention(convention):
    rng = np.random.default_rng(0)
    middle = 0.0 if convention[0] == convention[2] else math.pi / 2
    locked = [[0.4, middle, -1.1], [-2.0, middle - math.pi, 0.3], [0.0, 0.0, 0.0], [1e-9, -1e-9, 1e-9]]
    for angles in [*rng.uniform(-math.pi, math.pi, (20, 3)), *locked]:
        factors = [TURNS[axis](angle)[:3, :3] for axis, angle in zip(convention.lower(), angles, strict=True)]
        # About moving axes each turn comes after those before it, about fixed axes in front of them.
        expected = np.linalg.multi_dot(factors if convention.isupper() else factors[::-1])
        target = Target.from_euler([1, 2, 3], angles, convention)
        np.testing.assert_allclose(target.rotation, expected, rtol=0, atol=1e-15)
        back = Target.from_euler([1, 2, 3], target.euler(convention), convention)
        np.testing.assert_allclose(back.rotation, expected, rtol=0, atol=4e-15)
    many = rng.uniform(-4, 4, (5, 3))
    batch = Targets.from_euler(POSES[:, :3, 3], many, convention)
    assert batch == Targets.from_list(
        [Target.from_euler(*row, convention) for row in zip(batch.positions, many, strict=True)]
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 2, 3], [0, 0], "ZYX"), "angles has the shape (2,)"),
        (([1, 2, 3], [0, 0, math.nan], "ZYX"), "angles = "),
        (([1, 2, 3], [0, 0, 0], "ZZX"), "convention = 'ZZX' is not accepted; give three axes"),
        (([1, 2, 3], [0, 0, 0], "zYX"), "convention = 'zYX'"),
        (([1, 2, 3], [0, 0, 0], "rpy"), "convention = 'rpy'"),
        (([1, 2, 3], [0, 0, 0], None), "convention = None"),
        (([1, 2], [0, 0, 0], "ZYX"), "position has the shape (2,)"),
    ],
)
def test_bad_euler_angles(arguments, words):
    with pytest.raises(TargetError) as caught:
        Target.from_euler(*arguments)
    assert words in str(caught.value)


def test_only_a_pose_has_euler_angles():
    with pytest.raises(TargetError, match="only a whole pose has Euler angles"):
        Target([1, 2, 3]).euler("ZYX")


def test_targets_of_every_kind_from_arrays_poses_and_a_list():
    for kind, arrays in (
        ("position", ()),
        ("axis", (POSES[:, :3, 2],)),
        ("rotation", (None, POSES[:, :3, :3])),
    ):
        targets = Targets(POSES[:, :3, 3], *arrays)
        assert targets == Targets.from_poses(POSES, kind)
        assert targets == Targets.from_list(list(targets))
        assert (targets.kind, len(targets)) == (kind, 5)
        np.testing.assert_array_equal(targets.positions, POSES[:, :3, 3])
        assert (targets.axes is None) == (kind == "position")
        assert (targets.rotations is None) == (kind != "rotation")
    np.testing.assert_array_equal(targets.rotations, POSES[:, :3, :3])
    np.testing.assert_array_equal(targets.axes, POSES[:, :3, 2])


def test_targets_are_sliced_masked_and_printed():
    targets = Targets.from_poses(POSES)
    assert targets[3] == targets[-2] == Target.from_pose(POSES[3])
    for rows in (slice(1, 4), slice(None, None, 2), np.array([4, 0]), np.arange(5) > 2, []):
        np.testing.assert_array_equal(targets[rows].positions, POSES[rows, :3, 3])
    assert [target.kind for target in targets[:2]] == ["rotation", "rotation"]
    assert targets != targets[:4]
    assert repr(targets[:1]) == "<Targets: 1 pose>"
    assert repr(Targets(POSES[:, :3, 3], POSES[:, :3, 2])) == "<Targets: 5 positions with axes>"
    with pytest.raises(TypeError, match="give a whole number, a slice, a mask"):
        targets[1.5]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Targets([[1, 2]]), "positions has the shape (1, 2); give numbers of shape (n, 3)"),
        (lambda: Targets(POSES[:, :3, 3], POSES[:2, :3, 2]), "axes has the shape (2, 3)"),
        (lambda: Targets(POSES[:, :3, 3], rotations=[np.eye(3) * 2] * 5), "rotation of target 0"),
        (lambda: Targets.from_poses(POSES.transpose(0, 2, 1)), "pose 0 has the last row [1.0, 2.0, 0.0, 1.0]"),
        (lambda: Targets.from_poses(POSES, "pose"), "give 'position', 'axis' or 'rotation'"),
        (lambda: Targets.from_list([]), "give at least one"),
        (lambda: Targets.from_list([Target([1, 2, 3]), [1, 2, 3]]), "targets[1] = [1, 2, 3] is not accepted"),
        (lambda: Targets.from_list([Target([1, 2, 3]), Target([1, 2, 3], [0, 0, 1])]), "targets of one kind"),
    ],
)
def test_bad_lists_of_targets(make, words):
    with pytest.raises(TargetError) as caught:
        make()
    assert words in str(caught.value)
