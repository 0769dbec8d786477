"""Motor tables of a motion that starts straight and turns through more than a full turn of directions."""

import csv
import dataclasses

import numpy as np
import pytest

import arcreach as ar
from arcreach.planning.timing.timed import timed

# A motion has a thousand rows of pulls.
pytestmark = pytest.mark.compiled


class Rows:
    """The least that can be timed: a robot and its configurations."""

    def __init__(self, robot, q):
        self.robot, self.q = robot, np.asarray(q, dtype=float)


@pytest.fixture(scope="module")
def robot():
    free = ar.Section(0.02, 1.0, stretch=0.01, name="free")
    return ar.Robot([ar.Prismatic(0, 0.1), *ar.load_robot("tendon-driven").elements, free], "inserted")


@pytest.fixture(scope="module")
def motion(robot):
    turn = np.linspace(0.5, 9.0, 12)
    rows = [[0.1 * k / 12, 0.8, t, 0.5, -t, 0.4, 0.3, 0.0, 0.0, 0.025] for k, t in enumerate(turn)]
    return timed(Rows(robot, [robot.neutral, *rows]), 1.0, 3.0, rate=100)


def differences(times, values):
    return (values[2:] - values[:-2]) / (times[2:] - times[:-2])[:, None]


@pytest.mark.parametrize("output", ["pulls", "bends", "coordinates"])
def test_speeds_are_the_derivatives_of_the_values(motion, output):
    table = motion.motor_table(output)
    values = np.stack([drive.values for drive in table.drives], axis=1)
    speeds = np.stack([drive.speeds for drive in table.drives], axis=1)
    # Where sections are straight their directions, and so the coordinates, have no derivative.
    rows = slice(20, -1) if output == "coordinates" else slice(1, -1)
    found = differences(table.times, values)[rows.start - 1 :]
    assert np.abs(found - speeds[rows]).max() < 0.02 * np.abs(speeds).max()
    # Far below the speed of a pull that leaves the straight pose.
    assert np.abs(found - speeds[rows])[:5].max() < 0.02 * np.abs(speeds[:6]).max()


def test_names_and_values_of_each_output(motion, robot):
    pulls, bends, coordinates = (motion.motor_table(output) for output in ("pulls", "bends", "coordinates"))
    assert [drive.name for drive in pulls.drives] == [
        *robot.tendons,
        "prismatic-1",
        "free.bend_x",
        "free.bend_y",
        "free.length",
    ]
    assert np.array_equal(np.stack([drive.values for drive in pulls.drives[:9]], axis=1), robot.pulls(motion.q))
    assert [drive.name for drive in bends.drives][1:3] == ["section-1.bend_x", "section-1.bend_y"]
    x, y = bends.drives[1].values, bends.drives[2].values
    np.testing.assert_allclose(np.hypot(x, y), motion.q[:, 1], atol=1e-12)
    assert tuple(drive.name for drive in coordinates.drives) == robot.coordinates
    direction = coordinates.drives[2].values
    assert np.ptp(direction) > 2 * np.pi
    assert np.abs(np.diff(direction)).max() < 1.0


def test_the_file_names_its_units_and_has_no_exponents(motion, robot, tmp_path):
    table = motion.motor_table()
    table.to_csv(tmp_path / "motors.csv")
    text = (tmp_path / "motors.csv").read_text()
    assert text.startswith("time_s,section-1.tendon-1_mm,section-1.tendon-2_mm,")
    assert "e-" not in text
    assert "-0.000000," not in text
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(motion)
    assert float(rows[7]["time_s"]) == pytest.approx(0.07)
    for name, drive in zip(robot.tendons, table.drives, strict=False):
        assert float(rows[50][f"{name}_mm"]) == pytest.approx(1e3 * drive.values[50], abs=1e-6)
        assert float(rows[50][f"{name}_mm_per_s"]) == pytest.approx(1e3 * drive.speeds[50], abs=1e-6)
    motion.motor_table("bends").to_csv(tmp_path / "bends.csv")
    assert "section-1.bend_x_rad," in (tmp_path / "bends.csv").read_text()


def test_limits_that_are_exceeded_are_named(motion, robot):
    assert motion.motor_table().violations == ()

    def limited(**limits):
        section = robot.elements[1]
        slow = dataclasses.replace(section.tendons[1], **limits)
        tendons = (section.tendons[0], slow, section.tendons[2])
        elements = [robot.elements[0], dataclasses.replace(section, tendons=tendons), *robot.elements[2:]]
        return dataclasses.replace(motion, robot=ar.Robot(elements)).motor_table().violations

    speeds = np.abs(motion.motor_table().drives[1].speeds)
    [line] = limited(speed_max=0.9 * speeds.max())
    worst = int(np.argmax(speeds))
    count = int((speeds > 0.9 * speeds.max()).sum())
    assert line.startswith("section-1.tendon-2 has ")
    assert f"(row {worst + 1})" in line
    assert f"{count} row" in line
    assert "mm/s" in line
    [low, high] = limited(pull_min=-0.001, pull_max=0.001)
    assert "beyond its limit of -1 mm" in low
    assert "beyond its limit of 1 mm" in high


def test_a_table_is_printed_in_one_line(motion):
    assert repr(motion) == f"<Timed: {motion}>"
    table = motion.motor_table()
    low, high = (min(d.values.min() for d in table.drives[:9]), max(d.values.max() for d in table.drives))
    line = str(table)
    assert "\n" not in line
    assert line.startswith("13 drives (section-1.tendon-1, section-1.tendon-2, ...), ")
    assert f"; {1e3 * low:.3g} to {1e3 * high:.3g} mm, up to " in line
    assert line.endswith(" rad/s")
    assert repr(table) == f"<MotorTable: {line}>"
    slow = dataclasses.replace(table, drives=(table.drives[0]._replace(speed_max=0.0),))
    assert str(slow).startswith("1 drive (section-1.tendon-1), ")
    assert str(slow).endswith("; 1 limit exceeded, see violations")


def test_bad_requests_are_named(motion):
    with pytest.raises(ar.TargetError, match="give 'pulls', 'bends', 'coordinates'"):
        motion.motor_table("torques")
    plain = dataclasses.replace(motion, robot=ar.load_robot("three-section"))
    with pytest.raises(ar.RobotError, match="no tendons"):
        plain.motor_table()
