import json
import math
import os
import sys
import tomllib

import jsonschema
import numpy as np
import pytest
from tests import reference

import arcreach as ar
from arcreach.files.robot_file import json_schema

SECTION = '[[elements]]\nkind = "section"\nlength = "50 mm"\nbend_max = "90 deg"\n'


def load(tmp_path, text):
    path = tmp_path / "robot.toml"
    path.write_text(text, encoding="utf-8")
    return ar.load_robot(path)


def test_the_example_of_the_documentation(tmp_path):
    text = """
        name = "three-section"
        source = "dissertation, table 3.2"
        [[elements]]
        kind = "section"
        length = "33.3 mm"
        bend_max = "60 deg"
        radius = "3 mm"
    """
    robot = load(tmp_path, text)
    assert robot == ar.Robot([ar.Section(0.0333, math.pi / 3, radius=0.003)], name="three-section")
    assert robot.source == "dissertation, table 3.2"


def test_every_kind_of_entry(tmp_path):
    text = """
        [[elements]]
        kind = "link"
        translation = ["1 cm", 0, 0.2]
        rpy = ["90 deg", 0, 0]
        [[elements]]
        kind = "revolute"
        lower = "-inf"
        upper = inf
        axis = [0, 2, 0]
        [[elements]]
        kind = "prismatic"
        lower = 0
        upper = "3 mm"
        [[elements]]
        kind = "parallelogram"
        link = ["100 mm", 0, 0]
        [[elements]]
        kind = "dh"
        convention = "modified"
        rows = [{ a = 0.1, alpha = "90 deg" }, { kind = "prismatic", lower = "1 mm", upper = "2 mm" }]
        [[elements]]
        kind = "robot"
        robot = "two-section"
    """
    robot = load(tmp_path, text)
    link, revolute, prismatic, parallelogram = robot.elements[:4]
    np.testing.assert_allclose(link.rotation, reference.rot_x(math.pi / 2)[:3, :3], atol=1e-16)
    assert link.translation == (0.01, 0.0, 0.2)
    assert revolute == ar.Revolute((0, 1, 0), -math.inf, math.inf)
    assert prismatic == ar.Prismatic(0.0, 0.003)
    assert parallelogram == ar.Parallelogram((0.1, 0.0, 0.0))
    assert robot.elements[5:7] == (ar.Revolute(), ar.Prismatic(0.001, 0.002))
    assert robot.elements[-2:] == ar.load_robot("two-section").elements


def test_random_robots_make_the_round_trip_bit_by_bit(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(100):
        robot = ar.Robot(reference.random_robot(rng).elements, name=f"robot {i}", source='a "quoted"\nsource\x7f ü')
        ar.save_robot(robot, tmp_path / "robot.toml")
        again = ar.load_robot(tmp_path / "robot.toml")
        assert again == robot
        assert again.source == robot.source
        q = robot.sample(1, rng)[0]
        np.testing.assert_array_equal(again.tip_pose(q), robot.tip_pose(q))


def test_a_joint_without_end_and_all_options_make_the_round_trip(tmp_path):
    robot = ar.Robot(
        [
            ar.Revolute(lower=-math.inf, upper=math.inf, name="spin"),
            ar.Section(0.1, 1.0, 0.2, 0.003, (1, 2), (3, 4), True, "tail"),
            ar.Link((0, 0, 1e-300), reference.random_rotation(np.random.default_rng(1)), 0.01),
        ]
    )
    ar.save_robot(robot, tmp_path / "robot.toml")
    assert ar.load_robot(tmp_path / "robot.toml") == robot


@pytest.mark.parametrize("name", ar.catalogue())
def test_the_catalogue_makes_the_round_trip(name, tmp_path):
    robot = ar.load_robot(name)
    ar.save_robot(robot, tmp_path / "robot.toml")
    again = ar.load_robot(tmp_path / "robot.toml")
    assert again == robot
    assert again.source == robot.source
    assert again.coordinates == robot.coordinates


# Each: a file, and what its problems must say.
BAD = {
    "broken TOML": ("name = = 1", ["is not valid TOML", "line 1"]),
    "no elements": ('name = "x"', ["elements is missing"]),
    "empty elements": ("elements = []", ["elements = []", "at least 1"]),
    "unknown key": ('nmae = "x"\n' + SECTION, ["nmae = 'x' is an unknown key", "did you mean 'name'?"]),
    "unknown key in an element": (
        SECTION + "wieght = 1",
        ["elements[0].wieght = 1 is an unknown key", "accepted here"],
    ),
    "unknown kind": ('[[elements]]\nkind = "sektion"', ["elements[0].kind = 'sektion'", "'section'"]),
    "no kind": ("[[elements]]\nlength = 1", ["elements[0].kind is missing"]),
    "missing field": (
        '[[elements]]\nkind = "section"\nlength = 1',
        ["elements[0].bend_max is missing", "largest bend"],
    ),
    "unknown unit": (SECTION.replace("90 deg", "90 grad"), ["elements[0].bend_max = '90 grad'", "unit 'grad'", "deg"]),
    "wrong quantity": (SECTION.replace("50 mm", "50 deg"), ["elements[0].length = '50 deg'", "units of length"]),
    "number as flag": (SECTION + "twist = 1", ["elements[0].twist = 1", "boolean"]),
    "flag as number": (SECTION + "radius = true", ["elements[0].radius = True", "metres"]),
    "number as name": ("name = 3\n" + SECTION, ["name = 3", "string"]),
    "short vector": ('[[elements]]\nkind = "link"\ntranslation = [1, 2]', ["elements[0].translation"]),
    "text in axis": ('[[elements]]\nkind = "revolute"\naxis = [0, 0, "z"]', ["elements[0].axis[2] = 'z'", "number"]),
    "negative length": (SECTION.replace("50 mm", "-50 mm"), ["elements[0]: section: length = -0.05", "0 or more"]),
    "not a number": (SECTION.replace('"50 mm"', "nan"), ["elements[0]: section: length = nan"]),
    "zero axis": ('[[elements]]\nkind = "revolute"\naxis = [0, 0, 0]', ["revolute: axis = (0.0, 0.0, 0.0)"]),
    "lower above upper": ('[[elements]]\nkind = "prismatic"\nlower = 2\nupper = 1', ["prismatic: lower = 2.0"]),
    "weights": (SECTION + "length_weights = [1, 2]", ["bend_weights = (1.0,)", "2 weights"]),
    "duplicate names": ((SECTION + 'name = "a"\n') * 2, ["'a' is used by 2 elements"]),
    "rotation twice": (
        '[[elements]]\nkind = "link"\nrpy = [0, 0, 0]\nrotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]',
        ["rotation and rpy are both given"],
    ),
    "bad dh row": ('[[elements]]\nkind = "dh"\nrows = [{ b = 1 }]', ["elements[0].rows[0].b = 1 is an unknown key"]),
    "no dh rows": ('[[elements]]\nkind = "dh"\nrows = []', ["elements[0].rows = []"]),
    "bad convention": ('[[elements]]\nkind = "dh"\nconvention = "x"\nrows = [{}]', ["convention = 'x'", "'modified'"]),
    "unknown robot": ('[[elements]]\nkind = "robot"\nrobot = "ur-5"', ["'ur-5' is no robot", "did you mean 'ur5'?"]),
    "symbolic robot inside": ('[[elements]]\nkind = "robot"\nrobot = "librergm3-matrix"', ["has no elements"]),
    "elements is a number": ("elements = 3", ["elements = 3", "list"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_say_field_value_and_remedy(case, tmp_path):
    text, words = BAD[case]
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert "robot.toml" in message
    assert "\n" not in message
    for word in words:
        assert word in message


def test_all_problems_are_found_at_once(tmp_path):
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, SECTION.replace("50 mm", "-1 mm") + SECTION.replace("90 deg", "9 turn") + "radius = -1")
    assert len(caught.value.problems) == 2
    assert "and 1 more" in str(caught.value)


SYMBOLIC = """
matrix = [["cos(q)", "-sin(q)", 0, "d"], ["sin(q)", "cos(q)", 0, 0], [0, 0, 1, 0.25], [0, 0, 0, 1]]
[[coordinates]]
name = "q"
lower = "-90 deg"
upper = "90 deg"
[[coordinates]]
name = "d"
quantity = "length"
lower = 0
upper = "20 mm"
"""


def test_a_symbolic_file(tmp_path):
    robot = load(tmp_path, SYMBOLIC)
    assert robot.coordinates == ("q", "d")
    np.testing.assert_array_equal(robot.upper, [math.pi / 2, 0.02])
    pose = reference.shift((0.01, 0, 0.25)) @ reference.rot_z(0.3)
    np.testing.assert_allclose(robot.tip_pose([0.3, 0.01]), pose, atol=1e-16)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"cos(q)"', "\"__import__('os').getcwd()\"", ["matrix[0][0]", "not accepted in a formula"]),
        ('"d"]', '"x"]', ["matrix[0][3]", "'x' is no coordinate"]),
        ("0.25]", "true]", ["matrix"]),
        ("0.25]", "]", ["matrix[2]", "4 items"]),
        ('"20 mm"', '"20 deg"', ["coordinates[1].upper", "unknown unit 'deg'"]),
        ('"20 mm"', '"-20 mm"', ["coordinate 'd'", "lower"]),
        ('name = "q"', 'name = "2q"', ["coordinates[0].name = '2q'"]),
        ('quantity = "length"', 'quantity = "mass"', ["coordinates[1].quantity = 'mass'"]),
        ('quantity = "length"', "step = 1", ["coordinates[1].step = 1 is an unknown key"]),
        ('"-sin(q)"', '"sin(q)"', ["no rotation"]),
    ],
)
def test_bad_symbolic_files(old, new, words, tmp_path):
    assert old in SYMBOLIC
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, SYMBOLIC.replace(old, new, 1))
    for word in words:
        assert word in str(caught.value)


def test_files_that_are_none(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe4"')
    (tmp_path / "folder.toml").mkdir()
    with (tmp_path / "large.toml").open("wb") as stream:
        stream.truncate(100_000_000)
    cases = {
        tmp_path / "missing.toml": "no such file",
        tmp_path / "folder.toml": "is a directory",
        tmp_path / "large.toml": "has 100.0 MB; at most 1 MB",
        tmp_path / "latin.toml": "not UTF-8",
        tmp_path: "is a directory",
        "three-sectoin": "did you mean 'three-section'?",
        "nothing like it": "arcreach robots lists the catalogue",
        "a\0b.toml": "cannot be read",
        "/dev/null": "not a regular file",
        3: "source = 3",
    }
    for source, words in cases.items():
        with pytest.raises(ar.FileError) as caught:
            ar.load_robot(source)
        assert words in str(caught.value)


def test_a_byte_order_mark_is_no_problem(tmp_path):
    (tmp_path / "robot.toml").write_bytes(b"\xef\xbb\xbf" + SECTION.encode())
    assert ar.load_robot(tmp_path / "robot.toml").dof == 2


def test_base_and_tip_are_for_urdf():
    with pytest.raises(ar.FileError, match="base and tip choose links of a URDF"):
        ar.load_robot("ur5", tip="tool0")


def test_saving_where_it_cannot_be(tmp_path):
    robot = ar.load_robot("two-section")
    (tmp_path / "folder.toml").mkdir()
    for path, words in {
        tmp_path / "robot.json": "ends in .toml",
        tmp_path / "folder.toml": "is a directory",
        tmp_path / "none" / "robot.toml": "cannot be written",
    }.items():
        with pytest.raises(ar.FileError, match=words):
            ar.save_robot(robot, path)
    with pytest.raises(ar.FileError, match="give a Robot"):
        ar.save_robot("robot", tmp_path / "robot.toml")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_saving_keeps_the_old_file_when_it_fails_and_its_mode_when_not(tmp_path, monkeypatch):
    path = tmp_path / "robot.toml"
    ar.save_robot(ar.load_robot("two-section"), path)
    path.chmod(0o600)
    with monkeypatch.context() as patch:

        def full(_):
            raise OSError(28, "No space left on device")

        patch.setattr(os, "fsync", full)
        with pytest.raises(ar.FileError, match="no space left"):
            ar.save_robot(ar.load_robot("ten-section"), path)
    assert ar.load_robot(path).name == "two-section"
    assert os.listdir(tmp_path) == ["robot.toml"]
    ar.save_robot(ar.load_robot("ten-section"), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_schema_accepts_the_catalogue_and_refuses_what_the_reader_refuses():
    schema = json_schema()
    json.dumps(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for name in ar.catalogue():
        text = (ar.files.catalogue.files(ar.files.catalogue.__name__) / f"{name}.toml").read_text()
        validator.validate(tomllib.loads(text))
    for case in ("no elements", "unknown key", "unknown kind", "missing field", "unknown unit", "number as flag"):
        assert not validator.is_valid(tomllib.loads(BAD[case][0]))
