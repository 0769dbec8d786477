"""Reach maps: against an arm whose workspace is known, saved and read back, bad input."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError, MethodError, TargetError


def arm():
    """Two links of 0.5 m and 0.3 m in the plane y = 0: its tip reaches a ring."""
    hinge = ar.Revolute(axis=[0, 1, 0], lower=-math.pi, upper=math.pi)
    return ar.Robot([hinge, ar.Link([0.0, 0.0, 0.5]), hinge, ar.Link([0.0, 0.0, 0.3])], "arm")


def test_the_ring_of_a_planar_arm():
    radii = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    positions = np.stack([radii * math.sin(0.4), 0.0 * radii, radii * math.cos(0.4)], axis=1)
    found = ar.reach_map(arm(), positions, directions=0)
    assert found.reached.shape == (5, 1)
    np.testing.assert_array_equal(found.share, [0.0, 1.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(found.dexterity[[0, 4]], 0.0)
    assert "3 of 5 positions reached" in str(found)


def test_a_map_has_a_row_per_position_and_a_column_per_direction(tmp_path):
    robot = arm()
    q = np.array([0.3, 0.8])
    pose = robot.tip_pose(q)
    found = ar.reach_map(robot, [pose[:3, 3], [0.0, 0.2, 0.4]], directions=[pose[:3, 2], [0.0, 2.0, 0.0]])
    np.testing.assert_array_equal(found.reached, [[True, False], [False, False]])
    np.testing.assert_array_equal(found.share, [0.5, 0.0])
    assert found.dexterity[0, 0] == found.mean_dexterity[0]
    found.save(tmp_path / "map.npz")
    again = ar.ReachMap.load(tmp_path / "map.npz", robot)
    np.testing.assert_array_equal(again.reached, found.reached)
    np.testing.assert_array_equal(again.directions, found.directions)
    np.testing.assert_allclose(found.directions, [pose[:3, 2], [0.0, 1.0, 0.0]], atol=1e-15)


@pytest.mark.compiled
def test_the_grid_holds_the_workspace_and_directions_are_even():
    robot = ar.load_robot("two-section")
    found = ar.reach_map(robot, cells=3, directions=6)
    tips = robot.tip_pose(robot.sample(500, seed=1))[:, :3, 3]
    size = np.diff(np.unique(found.positions[:, 0])).max()
    inside = np.abs(tips[:, None] - found.positions[None]).max(axis=2) <= 0.51 * size
    assert inside.any(axis=1).mean() > 0.99
    np.testing.assert_allclose(np.linalg.norm(found.directions, axis=1), 1.0)
    np.testing.assert_allclose(found.directions.mean(axis=0), 0.0, atol=0.1)
    assert found.reached.shape == (len(found.positions), 6)


def test_a_layer_is_a_plane_of_the_grid():
    robot = arm()
    grid, plane = (ar.reach_map(robot, cells=4, directions=0, layer=layer) for layer in (None, ("z", 0.25)))
    np.testing.assert_array_equal(plane.positions[:, 2], 0.25)
    for axis in range(2):
        np.testing.assert_array_equal(np.unique(plane.positions[:, axis]), np.unique(grid.positions[:, axis]))


def test_bad_input_is_refused(tmp_path):
    for layer in ("y", ("w", 0.0), ("y", math.inf), ("y", "0mm")):
        with pytest.raises(TargetError, match="layer"):
            ar.reach_map(arm(), layer=layer)
    with pytest.raises(TargetError, match="both given"):
        ar.reach_map(arm(), [[0.0, 0.0, 0.6]], layer=("y", 0.0))
    with pytest.raises(MethodError, match="robot"):
        ar.reach_map("panda")
    with pytest.raises(TargetError, match="cells"):
        ar.reach_map(arm(), cells=1)
    with pytest.raises(TargetError, match="positions"):
        ar.reach_map(arm(), np.empty((0, 3)))
    with pytest.raises(TargetError, match="directions"):
        ar.reach_map(arm(), directions=[[0.0, 0.0, 0.0]])
    with pytest.raises(FileError, match="npz"):
        ar.reach_map(arm(), [[0.0, 0.0, 0.6]], directions=0).save(tmp_path / "map.csv")


def test_files_that_are_no_maps_are_refused(tmp_path):
    file = tmp_path / "map.npz"
    with pytest.raises(FileError, match="no such file"):
        ar.ReachMap.load(file)
    ar.reach_map(arm(), [[0.0, 0.0, 0.6]], directions=0).save(file)
    whole = file.read_bytes()
    np.save(tmp_path / "array.npy", np.zeros(3))
    array = (tmp_path / "array.npy").read_bytes()
    for content in (b"", b"no", whole[:200], whole[:60] + b"????" + whole[64:], array):
        file.write_bytes(content)
        with pytest.raises(FileError, match="reach map"):
            ar.ReachMap.load(file)


def test_a_map_is_written_under_the_name_that_was_given(tmp_path):
    ar.reach_map(arm(), [[0.0, 0.0, 0.6]], directions=0).save(tmp_path / "MAP.NPZ")
    assert ar.ReachMap.load(tmp_path / "MAP.NPZ").reached.all()


def test_the_grid_of_a_robot_without_length_is_one_cell():
    found = ar.reach_map(ar.Robot([ar.Revolute()]), cells=3, directions=0)
    np.testing.assert_array_equal(found.positions, [[0.0, 0.0, 0.0]])
    assert found.reached.all()


def test_a_layer_beyond_the_robot_is_refused():
    with pytest.raises(ar.TargetError, match=r"layer y = 90 m is beyond the robot"):
        ar.reach_map(ar.load_robot("three-section"), cells=4, layer=("y", 90.0))


def test_a_map_without_directions_names_none():
    assert "direction" not in str(ar.reach_map(ar.load_robot("two-section"), cells=4, directions=0))
