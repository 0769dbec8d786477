import math
from pathlib import Path

import numpy as np
import pytest
from tests.reference import rot_x, rot_y, rot_z, shift

import arcreach as ar
from arcreach.files.toml import sizes
from arcreach.files.urdf import parse_urdf

FILE = Path(__file__).parent / "arm.urdf"
TEXT = FILE.read_text()


def test_a_chain_from_base_to_tip():
    robot = ar.load_robot(FILE, base="base_link", tip="tool0")
    assert robot.name == "small arm 2-0"
    assert robot.coordinates == ("turn", "shoulder", "stroke")
    np.testing.assert_array_equal(robot.lower, [-math.inf, -1.5, 0.0])
    np.testing.assert_array_equal(robot.upper, [math.inf, 1.0, 0.2])
    q = [0.4, -0.3, 0.1]
    pose = shift((0, 0, 0.3)) @ rot_z(q[0])
    pose = pose @ shift((0.1, 0, 0)) @ rot_z(0.5) @ rot_x(math.pi / 2) @ rot_z(q[1])
    pose = pose @ shift((q[2], 0, 0)) @ shift((0, 0, 0.05)) @ rot_y(0.2)
    np.testing.assert_allclose(robot.tip_pose(q), pose, atol=1e-15)


def test_base_and_tip_may_be_inside():
    robot = ar.load_robot(FILE, base="column", tip="slide")
    assert robot.coordinates == ("shoulder", "stroke")
    assert ar.load_robot(FILE, tip="column").coordinates == ("turn",)


def test_urdf_robots_can_be_saved_as_robot_files(tmp_path):
    robot = ar.load_robot(FILE, tip="tool0")
    ar.save_robot(robot, tmp_path / "arm.toml")
    assert ar.load_robot(tmp_path / "arm.toml") == robot


def one_joint(body, kind="revolute"):
    return (
        '<robot name="r"><link name="a"/><link name="b"/>'
        f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{body}</joint></robot>'
    )


LIMIT = '<limit lower="-1" upper="1"/>'
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{i} "{f"&lol{i - 1};" * 10 if i else "&lol;" * 10}">' for i in range(10))
    + ']><robot name="&lol9;"><link name="a"/></robot>'
)
BAD = {
    "XML bomb": (BOMB, "has a DOCTYPE"),
    "external entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>', "has a DOCTYPE"),
    "no XML": ("hello", "is not valid XML"),
    "empty": ("", "is not valid XML"),
    "unclosed": ("<robot>", "is not valid XML"),
    "other root": ("<sdf/>", "its root is 'sdf', not 'robot'"),
    "xacro": ('<robot xmlns:xacro="x"><xacro:macro/></robot>', "is a xacro file"),
    "no links": ('<robot name="x"/>', "has no links"),
    "link without name": ("<robot><link/></robot>", "a <link> has no name"),
    "joint without name": ('<robot><link name="a"/><joint/></robot>', "a <joint> has no name"),
    "no joints": ('<robot><link name="a"/></robot>', "same link"),
    "unknown parent": ('<robot><link name="a"/><joint name="j"><parent link="x"/></joint></robot>', "parent = 'x'"),
    "no child": ('<robot><link name="a"/><joint name="j"><parent link="a"/></joint></robot>', "child = None"),
    "link twice": ('<robot><link name="a"/><link name="a"/></robot>', "link 'a': the name is used twice"),
    "link of two lines": ('<robot><link name="a"/><joint name="j&#10;k"/></robot>', "joint 'j\\nk': parent = None"),
    "long type": (one_joint("", "t" * 10**5), "type = 'ttt"),
    "no limit": (one_joint(""), "joint 'j': limit is missing"),
    "bad limit": (one_joint('<limit lower="x" upper="1"/>'), "limit lower = 'x'"),
    "infinite limit": (one_joint('<limit lower="-inf" upper="1"/>'), "limit lower = '-inf'"),
    "lower above upper": (one_joint('<limit lower="2" upper="1"/>'), "lower = 2.0"),
    "floating": (one_joint("", "floating"), "type = 'floating' is not accepted"),
    "no type": (one_joint("", ""), "type = ''"),
    "mimic": (one_joint(LIMIT + '<mimic joint="k"/>'), "mimics another joint"),
    "zero axis": (one_joint(LIMIT + '<axis xyz="0 0 0"/>'), "axis = (0.0, 0.0, 0.0)"),
    "short origin": (one_joint(LIMIT + '<origin xyz="0 0"/>'), "origin xyz = '0 0'"),
    "nan origin": (one_joint(LIMIT + '<origin rpy="0 0 nan"/>'), "origin rpy = 'nan'"),
    "two parents": (
        one_joint(LIMIT).replace("</robot>", '<joint name="k"><parent link="a"/><child link="b"/></joint></robot>'),
        "has two parent joints",
    ),
    "same joint name": (
        one_joint(LIMIT).replace("</robot>", '<joint name="j"><parent link="b"/><child link="a"/></joint></robot>'),
        "used twice",
    ),
    "loop": (
        one_joint(LIMIT).replace("</robot>", '<joint name="k"><parent link="b"/><child link="a"/></joint></robot>'),
        "loop",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_urdf(case):
    text, words = BAD[case]
    with pytest.raises(ar.FileError) as caught:
        parse_urdf(text, "arm.urdf")
    message = str(caught.value)
    assert message.startswith("arm.urdf: ")
    assert words in message
    assert "\n" not in message
    assert len(message) < 300


def test_all_bad_joints_are_reported():
    text = tree(["a", "b", "c"], range(3)).replace("continuous", "floating", 2)
    with pytest.raises(ar.FileError) as caught:
        parse_urdf(text, "x")
    assert [problem.partition(" is")[0] for problem in caught.value.problems] == [
        "joint 'a': type = 'floating'",
        "joint 'b': type = 'floating'",
    ]


def test_a_loop_beside_a_chosen_tip_is_found():
    text = one_joint(LIMIT).replace("</robot>", '<joint name="k"><parent link="b"/><child link="a"/></joint></robot>')
    with pytest.raises(ar.FileError, match="loop"):
        parse_urdf(text, "x", tip="b")


@pytest.mark.parametrize(
    ("base", "tip", "words"),
    [
        (None, None, "has 3 last links ('tool0', 'finger_left', 'finger_right'); choose one as tip (--tip"),
        (None, "tool", "tip = 'tool' is not a link of the file; did you mean 'tool0'?"),
        ("world", "tool0", "base = 'world' is not a link of the file; the links are 'base_link'"),
        ("tool0", "column", "base = 'tool0' does not carry tip = 'column'"),
        (None, "finger_right", "joint 'right': mimics another joint"),
        ("tool0", "tool0", "same link"),
    ],
)
def test_bad_choices_of_base_and_tip(base, tip, words):
    with pytest.raises(ar.FileError) as caught:
        ar.load_robot(FILE, base=base, tip=tip)
    assert words in str(caught.value)


def test_elements_of_other_namespaces_are_ignored():
    text = one_joint(LIMIT).replace("</robot>", "<controller:gazebo_ros_controller_manager/></robot>")
    assert parse_urdf(text, "arm.urdf").coordinates == ("j",)


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    with pytest.raises(ar.FileError, match=r"has 100\.0 MB"):
        ar.load_robot(path)


def tree(names, parents):
    links = "".join(f'<link name="{i}"/>' for i in range(len(names) + 1))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{i}"/>'
        '<origin xyz="0 0 1"/></joint>'
        for i, (name, parent) in enumerate(zip(names, parents, strict=True), start=1)
    )
    return f"<robot>{links}{joints}</robot>"


def test_names_that_become_alike_are_numbered():
    names = ["a/b", "a:b", "a-b", "n" * 70, "n" * 80, "n" * 64 + "-origin", "///", "a-b-2"]
    robot = parse_urdf(tree(names, range(len(names))), "x")
    assert robot.coordinates[:3] == ("a-b", "a-b-2", "a-b-3")
    assert robot.coordinates[-1] == "a-b-2-2"
    assert len(set(robot.element_names)) == 2 * len(names)
    assert max(map(len, robot.element_names)) == 64


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_large_trees_are_read(shape):
    n = sizes.MOST_ELEMENTS if shape == "chain" else 5000
    text = tree(["j" * 70 + str(i) for i in range(n)], range(n) if shape == "chain" else [0] * n)
    if shape == "chain":
        assert parse_urdf(text, "x", base="10").dof == n - 10
    else:
        with pytest.raises(ar.FileError, match="has 5000 last links"):
            parse_urdf(text, "x", base="0")
