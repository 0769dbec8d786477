import numpy as np
import pytest
from tests.planning.motion.test_follow import planar_arm

import arcreach as ar
from arcreach.errors import FileError, MethodError

POINTS = np.array([[1.5, 0.1, 0.0], [1.2, 0.8, 0.0], [1.5, 1.0, 0.0]])


@pytest.fixture
def path():
    return ar.follow(planar_arm(), POINTS, start=[0.5, -1.0], max_step=0.3)


def test_a_path_is_read_as_it_was_written(path, tmp_path):
    file = tmp_path / "path.csv"
    path.to_csv(file)
    read = ar.Path.from_csv(file, path.robot)
    for name in ("q", "waypoint", "status"):
        np.testing.assert_array_equal(getattr(read, name)[:, ...], getattr(path, name)[:, ...])
    assert read.targets == path.targets
    np.testing.assert_allclose(read.position_error, path.position_error, atol=1e-15)
    assert (read.clearance is None) == (path.clearance is None)
    read.to_csv(file)
    np.testing.assert_array_equal(ar.Path.from_csv(file, path.robot).q, path.q)
    assert [entry.name for entry in tmp_path.iterdir()] == ["path.csv"]


def test_axes_rotations_and_clearances_are_kept(tmp_path):
    robot = ar.load_robot("three-section")
    poses = robot.tip_pose(robot.sample(3, seed=0))
    for options in ({"axes": poses[:, :3, 2]}, {"rotations": poses[:, :3, :3]}):
        path = ar.follow(robot, poses[:, :3, 3], start=robot.neutral, max_iterations=1, **options)
        path.to_csv(tmp_path / "path.csv")
        read = ar.Path.from_csv(tmp_path / "path.csv", robot)
        np.testing.assert_allclose(read.angle_error, path.angle_error, atol=1e-12)
        assert read.targets.kind == path.targets.kind


def test_errors_are_computed_anew(path, tmp_path):
    file = tmp_path / "path.csv"
    path.to_csv(file)
    lines = file.read_text().splitlines()
    names = lines[0].split(",")
    cells = lines[1].split(",")
    cells[names.index("position_error")] = "0.0"
    cells[names.index("x")] = str(float(cells[names.index("x")]) + 0.25)
    file.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    assert ar.Path.from_csv(file, path.robot).position_error[0] == pytest.approx(0.25, rel=1e-3)


def test_coordinates_alone_make_a_path(tmp_path):
    file = tmp_path / "q.csv"
    file.write_text("revolute-2, revolute-1\n0.5, 0.1\n0.6, 0.2\n")
    path = ar.Path.from_csv(file, planar_arm())
    np.testing.assert_array_equal(path.q, [[0.1, 0.5], [0.2, 0.6]])
    assert path.reached
    np.testing.assert_allclose(path.position_error, 0.0, atol=1e-15)
    file.write_text("revolute-1,revolute-2,ax,ay,az\n0.1,0.5,1,0,0\n")
    path = ar.Path.from_csv(file, planar_arm())
    assert path.targets.kind == "axis"
    np.testing.assert_allclose(path.position_error, 0.0, atol=1e-15)


def test_without_statuses_the_errors_decide(path, tmp_path):
    file = tmp_path / "targets.csv"
    file.write_text("revolute-1,revolute-2,x,y,z\n0.1,0.5,9,9,9\n")
    read = ar.Path.from_csv(file, path.robot)
    assert read.status.tolist() == [ar.Status.OUT_OF_REACH]
    assert read.position_error[0] > 1.0


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no points"),
        ("revolute-1,revolute-2\n", "no points"),
        ("revolute-1\n0.1\n", "lacks the coordinate 'revolute-2'"),
        ("revolute-1,revolute-2\n0.1\n", "line 2: has 1 values"),
        ("revolute-1,revolute-2\n0.1,far\n", "revolute-2 = 'far'"),
        ("revolute-1,revolute-2,revolute-1\n0.1,0,0\n", "twice"),
        ("revolute-1,revolute-2,status\n0.1,0,FINE\n", "FINE"),
        ("revolute-1,revolute-2,x\n0.1,0,1\n", "lacks 'y'"),
        *(
            (f"revolute-1,revolute-2,waypoint\n0.1,0,{cell}\n", f"line 2: waypoint = '{cell}'.* whole number, -1 for")
            for cell in ("1.7", "-5", "1e300")
        ),
    ],
)
def test_bad_files_are_named(tmp_path, text, word):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(FileError, match=word):
        ar.Path.from_csv(file, planar_arm())


def test_files_that_cannot_be_read_or_written(path, tmp_path):
    with pytest.raises(FileError, match=r"missing\.csv"):
        ar.Path.from_csv(tmp_path / "missing.csv", path.robot)
    path.to_csv(tmp_path / "path.csv")
    with pytest.raises(MethodError, match="robot = 'panda' is not accepted"):
        ar.Path.from_csv(tmp_path / "path.csv", "panda")
    with pytest.raises(FileError, match="cannot be written"):
        path.to_csv(tmp_path / "no folder" / "path.csv")


@pytest.mark.compiled
def test_a_header_in_capitals(tmp_path):
    robot = ar.load_robot("two-section")
    path = ar.follow(robot, robot.tip_pose(robot.sample(3, seed=0))[:, :3, 3])
    path.to_csv(tmp_path / "path.csv")
    first, _, rest = (tmp_path / "path.csv").read_text().partition("\n")
    (tmp_path / "capitals.csv").write_text(f"{first.upper()}\n{rest}")
    read = [ar.Path.from_csv(tmp_path / name, robot) for name in ("path.csv", "capitals.csv")]
    for name in ("q", "waypoint", "status"):
        np.testing.assert_array_equal(getattr(read[0], name), getattr(read[1], name))
    assert read[1].targets == path.targets


def test_directions_are_written_without_jumps_and_read_within_limits(tmp_path):
    robot = ar.Robot([ar.Section(0.1, 1.5)])
    angle = np.linspace(0.3, 0.3 + 4.0 * np.pi, 40)
    path = ar.follow(robot, robot.tip_pose(np.stack([0.0 * angle + 0.8, angle], axis=1))[:, :3, 3])
    assert path.reached
    path.to_csv(tmp_path / "path.csv")
    written = np.genfromtxt(tmp_path / "path.csv", delimiter=",", names=True)["section1direction"]
    assert np.abs(np.diff(written)).max() < 0.4
    assert written[-1] - written[0] == pytest.approx(4.0 * np.pi, abs=1e-4)
    read = ar.Path.from_csv(tmp_path / "path.csv", robot)
    assert robot.within_limits(read.q).all()
    np.testing.assert_allclose(read.q, path.q, atol=1e-12)


def test_coordinates_named_like_other_columns_are_kept(tmp_path):
    slides = [ar.Prismatic(0.0, 0.5, (1, 0, 0), name="x"), ar.Prismatic(0.0, 0.5, (0, 1, 0), name="Status")]
    robot = ar.Robot([*slides, ar.Section(0.1, np.pi / 2)])
    path = ar.follow(robot, [[0.25, 0.3, 0.09], [0.3, 0.3, 0.09]])
    path.to_csv(tmp_path / "path.csv")
    read = ar.Path.from_csv(tmp_path / "path.csv", robot)
    np.testing.assert_array_equal(read.q[:, :2], path.q[:, :2])
    np.testing.assert_array_equal(read.targets.positions, path.targets.positions)
    assert read.reached
    assert "path_x" in (tmp_path / "path.csv").read_text().splitlines()[0]


def test_a_timed_motion_keeps_a_joint_called_time(tmp_path):
    robot = ar.Robot([ar.Revolute((0, 0, 1), name="time"), ar.Link((0.1, 0.0, 0.0))])
    motion = ar.follow(robot, [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0]], start=[0.0]).timed(1.0, 1.0)
    motion.to_csv(tmp_path / "motion.csv")
    lines = np.genfromtxt(tmp_path / "motion.csv", delimiter=",", names=True)
    np.testing.assert_allclose(lines["motion_time"], motion.times)
    np.testing.assert_allclose(lines["time"], motion.q[:, 0])
