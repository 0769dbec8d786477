import dataclasses
import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError, RobotError
from arcreach.files import urdf_text, write_urdf
from arcreach.files.rpy import rotation_from_rpy, rpy_of

ROBOTS = {name: ar.load_robot(name) for name in ar.catalogue()}
SERIAL = [
    name
    for name, robot in ROBOTS.items()
    if isinstance(robot, ar.Robot) and not any(isinstance(element, ar.Section) for element in robot.elements)
]


def rotation(seed):
    matrix, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    return matrix * np.sign(np.linalg.det(matrix))


def named(robot):
    """The robot with the names that its elements are called by."""
    pairs = zip(robot.elements, robot.element_names, strict=True)
    return ar.Robot([dataclasses.replace(element, name=name) for element, name in pairs], robot.name)


def test_the_catalogue_has_arms():
    assert {"ur5", "panda", "puma-560", "iiwa-14", "librergm3"} <= set(SERIAL)


@pytest.mark.parametrize("name", SERIAL)
def test_an_arm_of_the_catalogue_reads_back_the_same(name, tmp_path):
    robot = ar.load_robot(name)
    write_urdf(robot, tmp_path / "arm.urdf")
    back = ar.load_robot(tmp_path / "arm.urdf")
    assert back == named(robot)
    assert back.coordinates == robot.coordinates
    q = robot.sample(3, seed=0)
    assert np.array_equal(back.frames(q), robot.frames(q))


@pytest.mark.parametrize("seed", range(8))
def test_any_rotation_axis_limit_and_radius_reads_back_to_the_last_bit(seed, tmp_path):
    rng = np.random.default_rng(seed)
    robot = ar.Robot(
        [
            ar.Link(rng.normal(size=3), rotation(seed), name="mount"),
            ar.Revolute(rng.normal(size=3), -rng.random() / 3.0, rng.random() / 7.0, name="shoulder"),
            ar.Link(rng.normal(size=3), rotation(seed + 100), radius=rng.random(), name="bone"),
            ar.Revolute(rng.normal(size=3), -math.inf, math.inf, name="endless"),
            ar.Prismatic(-rng.random(), rng.random(), rng.normal(size=3), radius=rng.random(), name="slide"),
            ar.Link(name="nothing"),
        ],
        name="my arm",
    )
    write_urdf(robot, tmp_path / "arm.urdf")
    assert ar.load_robot(tmp_path / "arm.urdf") == robot


def test_angles_give_the_rotation_also_where_roll_and_yaw_turn_about_one_axis():
    for pitch in (0.5 * math.pi, -0.5 * math.pi, 0.5 * math.pi - 1e-9, 0.3):
        given = rotation_from_rpy(0.7, pitch, -1.1)
        np.testing.assert_allclose(rotation_from_rpy(*rpy_of(given)), given, atol=1e-15)


def test_an_edited_file_is_what_its_angles_say(tmp_path):
    robot = ar.Robot([ar.Link((1, 0, 0), rotation(3), name="a"), ar.Revolute(name="b")])
    text = urdf_text(robot)
    assert "<arcreach rotation=" in text
    angles = text.split('rpy="')[1].split('"')[0]
    (tmp_path / "arm.urdf").write_text(text.replace(angles, "0.0 0.0 0.0", 1))
    edited = ar.load_robot(tmp_path / "arm.urdf")
    assert edited.elements[0].rotation == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def test_rods_are_drawn_from_joint_to_joint():
    text = urdf_text(ar.Robot([ar.Revolute(), ar.Link((0, 0.4, 0), radius=0.02), ar.Link((0, 0, 0.1))]))
    assert text.count("<visual>") == 2
    # Only a radius that the robot has can be run into.
    assert text.count("<collision>") == 1
    assert '<origin xyz="0.0 0.2 0.0"' in text
    assert '<cylinder radius="0.02" length="0.4"/>' in text


def test_what_urdf_cannot_say_is_refused(tmp_path):
    with pytest.raises(RobotError, match="element 'section-1' is a section, which URDF has no joint for"):
        write_urdf(ar.load_robot("three-section"), tmp_path / "arm.urdf")
    with pytest.raises(RobotError, match="is a parallelogram") as caught:
        urdf_text(ar.Robot([ar.Parallelogram((0, 0, 1)), ar.Section(1.0, 1.0)]))
    assert len(caught.value.problems) == 2
    pytest.importorskip("sympy")
    with pytest.raises(RobotError, match="'librergm3-matrix' has no body to make a URDF from"):
        urdf_text(ar.load_robot("librergm3-matrix"))
    with pytest.raises(FileError, match=r"not known; give \.urdf"):
        write_urdf(ar.load_robot("ur5"), tmp_path / "arm.xml")


@pytest.mark.parametrize("words", ['radius="-1"', 'radius="wide"', 'rotation="a b c d e f g h i"'])
def test_bad_words_of_ours_are_named(words, tmp_path):
    text = urdf_text(ar.Robot([ar.Link((1, 0, 0), radius=0.1, name="a")])).replace(
        'radius="0.1"/>\n  </joint>', f"{words}/></joint>"
    )
    (tmp_path / "arm.urdf").write_text(text)
    with pytest.raises(FileError, match=r"radius|rotation"):
        ar.load_robot(tmp_path / "arm.urdf")
