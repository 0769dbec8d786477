import csv

import numpy as np
import pytest

import arcreach as ar
from arcreach.cli.configurations import read_configurations
from arcreach.errors import ConfigurationError, FileError, MethodError
from arcreach.files import CsvLog, write_csv_log, write_csv_path


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


def test_a_slide_called_x_keeps_its_column(tmp_path):
    names = {"X": (1, 0, 0), "y": (0, 1, 0)}
    robot = ar.Robot([ar.Link((1.0, 0, 0)), *(ar.Prismatic(0.0, 1.0, axis, name=name) for name, axis in names.items())])
    q = robot.sample(4, seed=0)
    write_csv_path(robot, q, tmp_path / "path.csv")
    columns = columns_of(tmp_path / "path.csv")
    assert np.array_equal(np.array([columns["X"], columns["y"]], float).T, q)
    assert np.array_equal(np.array([columns["tip_x"], columns["tip_y"]], float).T, robot.tip_pose(q)[:, :2, 3])
    assert np.array_equal(read_configurations(tmp_path / "path.csv", robot), q)


def test_a_log_has_a_row_per_iteration(tmp_path):
    robot = ar.load_robot("two-section")
    target = ar.Target(robot.tip_pose(robot.sample(1, seed=1)[0])[:3, 3])
    solution = ar.solve(robot, target, "fabrikx", trace=True)
    write_csv_log(robot, solution, tmp_path / "log.csv")
    columns = columns_of(tmp_path / "log.csv")
    assert columns["iteration"] == [str(k) for k in range(len(solution.trace))]
    assert np.array_equal(np.array(columns["position_error"], float), solution.trace.position_error)


def test_a_loop_of_ones_own_is_logged_until_it_fails(tmp_path):
    log = CsvLog(tmp_path / "loop.csv", ["k", "1 / k", "what"])

    def loop():
        with log:
            for k in (3, 2, 1, 0):
                log.put(k, np.float64(1) / 3 if k == 3 else 1 / k, "a, b")
                if k == 2:
                    log.write()
                    assert len(columns_of(tmp_path / "loop.csv")["k"]) == 2

    with pytest.raises(ZeroDivisionError):
        loop()
    columns = columns_of(tmp_path / "loop.csv")
    assert columns == {"k": ["3", "2", "1"], "1 / k": [repr(1 / 3), "0.5", "1.0"], "what": ["a, b"] * 3}
    assert log.fields == ("k", "1 / k", "what")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: CsvLog("loop.txt", ["a"]), r"not known; give \.csv"),
        (lambda: CsvLog("loop.csv", ["a", "a"]), "field 'a' is not accepted; give every field a name of its own"),
        (lambda: CsvLog("loop.csv", ["a", 1]), "field 1 is not accepted"),
        (lambda: CsvLog("loop.csv", ["a", " "]), "field ' ' is not accepted"),
        (lambda: CsvLog("loop.csv", ["a", "b"]).put(1), "1 values are given for 2 fields"),
    ],
)
def test_bad_fields_and_rows_are_named(call, words):
    with pytest.raises(FileError, match=words):
        call()


def test_bad_input_is_named(tmp_path):
    robot = ar.load_robot("two-section")
    with pytest.raises(FileError, match=r"not known; give \.csv"):
        write_csv_path(robot, robot.sample(2, seed=0), tmp_path / "path.txt")
    with pytest.raises(ConfigurationError, match=r"give a path \(n, 4\)"):
        write_csv_path(robot, robot.neutral, tmp_path / "path.csv")
    solution = ar.solve(robot, ar.Target([0.01, 0.0, 0.09]), "fabrikx", max_iterations=2)
    with pytest.raises(MethodError, match="trace=True"):
        write_csv_log(robot, solution, tmp_path / "log.csv")


def test_a_trace_keeps_joints_called_like_its_columns(tmp_path):
    robot = ar.Robot([ar.Revolute((0, 0, 1), name="iteration"), ar.Section(0.1, 1.5)])
    found = ar.solve(robot, [0.02, 0.01, 0.09], trace=True)
    write_csv_log(robot, found, tmp_path / "log.csv")
    columns = columns_of(tmp_path / "log.csv")
    assert np.array_equal(np.array(columns["iteration"], float), found.trace.q[:, 0])
    assert columns["trace_iteration"] == [str(k) for k in range(len(found.trace))]
    assert next(iter(columns)) == "trace_iteration"
