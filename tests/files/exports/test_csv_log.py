import csv

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import ConfigurationError, FileError, MethodError
from arcreach.files import write_csv_log, write_csv_path


def columns_of(file):
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_a_path_has_coordinates_and_poses_with_all_their_digits(tmp_path):
    robot = ar.load_robot("two-section")
    q = robot.sample(5, seed=0)
    write_csv_path(robot, q, tmp_path / "path.csv")
    columns = columns_of(tmp_path / "path.csv")
    for k, name in enumerate(robot.coordinates):
        assert np.array_equal(np.array(columns[name], float), q[:, k])
    poses = robot.tip_pose(q)
    assert np.array_equal(np.array([columns["x"], columns["y"], columns["z"]], float).T, poses[:, :3, 3])
    assert np.array_equal(np.array(columns["r12"], float), poses[:, 1, 2])
    # It is a path as `Path` reads it.
    assert np.array_equal(ar.Path.from_csv(tmp_path / "path.csv", robot).q, q)


def test_a_log_has_a_row_per_iteration(tmp_path):
    robot = ar.load_robot("two-section")
    target = ar.Target(robot.tip_pose(robot.sample(1, seed=1)[0])[:3, 3])
    solution = ar.solve(robot, target, "fabrikx", trace=True)
    write_csv_log(robot, solution, tmp_path / "log.csv")
    columns = columns_of(tmp_path / "log.csv")
    assert columns["iteration"] == [str(k) for k in range(len(solution.trace))]
    assert np.array_equal(np.array(columns["position_error"], float), solution.trace.position_error)


def test_bad_input_is_named(tmp_path):
    robot = ar.load_robot("two-section")
    with pytest.raises(FileError, match=r"not known; give \.csv"):
        write_csv_path(robot, robot.sample(2, seed=0), tmp_path / "path.txt")
    with pytest.raises(ConfigurationError, match=r"give a path \(n, 4\)"):
        write_csv_path(robot, robot.neutral, tmp_path / "path.csv")
    solution = ar.solve(robot, ar.Target([0.01, 0.0, 0.09]), "fabrikx", max_iterations=2)
    with pytest.raises(MethodError, match="trace=True"):
        write_csv_log(robot, solution, tmp_path / "log.csv")
