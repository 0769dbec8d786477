import json
import math
import os
import re
import sys
import time
import tomllib

import jsonschema
import numpy as np
import pytest
from tests import reference

import arcreach as ar
from arcreach.files.catalogues import ROBOTS, catalogue_text
from arcreach.files.toml.robot_file import json_schema

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


def test_a_continuous_joint_and_all_options_make_the_round_trip(tmp_path):
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
    "empty elements": ("elements = []", ["elements = []", "at least one entry"]),
    "unknown key": ('nmae = "x"\n' + SECTION, ["nmae = 'x' is an unknown key", "did you mean 'name'?"]),
    "unknown key in an element": (
        SECTION + "wieght = 1",
        ["elements[0].wieght = 1 is an unknown key", "accepted here"],
    ),
    "unknown kind": ('[[elements]]\nkind = "sektion"', ["elements[0].kind = 'sektion'", "did you mean 'section'?"]),
    "no kind": ("[[elements]]\nlength = 1", ["elements[0].kind is missing"]),
    "bend_max in degrees": (SECTION.replace('"90 deg"', "90"), ["bend_max = 90", "90 degrees are 1.5708 radians"]),
    "long table declared twice": (f"[{'k' * 500}]\n" * 2, ["Cannot declare ('kkk", "(at line 2, column 502)"]),
    "missing field": (
        '[[elements]]\nkind = "section"\nlength = 1',
        ["elements[0].bend_max is missing", "largest bend"],
    ),
    "unknown unit": (SECTION.replace("90 deg", "90 grad"), ["elements[0].bend_max = '90 grad'", "unit 'grad'", "deg"]),
    "wrong quantity": (SECTION.replace("50 mm", "50 deg"), ["elements[0].length = '50 deg'", "units of length"]),
    "number as flag": (SECTION + "twist = 1", ["elements[0].twist = 1", "true or false"]),
    "flag as number": (SECTION + "radius = true", ["elements[0].radius = True", "metres"]),
    "number as name": ("name = 3\n" + SECTION, ["name = 3", "text"]),
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
    "unknown robot": ('[[elements]]\nkind = "robot"\nrobot = "ur-5"', ["'ur-5' is not a robot", "did you mean 'ur5'?"]),
    "symbolic robot inside": ('[[elements]]\nkind = "robot"\nrobot = "librergm3-matrix"', ["has no elements"]),
    "elements is a number": ("elements = 3", ["elements = 3", "list"]),
    "element is a number": ("elements = [3]", ["elements[0] = 3", "give a table"]),
    "kind is a list": ("[[elements]]\nkind = [1]", ["elements[0].kind = [1]"]),
    "kind of a row is a list": (
        '[[elements]]\nkind = "dh"\nrows = [{ kind = [1] }]',
        ["elements[0].rows[0].kind = [1]"],
    ),
    "row is a number": ('[[elements]]\nkind = "dh"\nrows = [1]', ["elements[0].rows[0] = 1", "give a table"]),
    "row without limits": (
        '[[elements]]\nkind = "dh"\nrows = [{ kind = "prismatic" }]',
        ["elements[0].rows[0].lower is missing; give the smallest stroke"],
    ),
    "no dh table": ('[[elements]]\nkind = "dh"', ["elements[0].rows is missing; give the list of rows"]),
    "huge integer": (SECTION.replace('"50 mm"', "1" + "0" * 400), ["elements[0].length = 1000", "too large"]),
    "huge weight": (SECTION + f"length_weights = [{10**400}]", ["elements[0].length_weights[0] = 1000", "too large"]),
    "huge axis": (f'[[elements]]\nkind = "revolute"\naxis = [{10**400}, 0, 0]', ["elements[0].axis[0] = 1000"]),
    "endless integer": (SECTION.replace('"50 mm"', "1" * 5000), ["is not valid TOML", "thousands of digits"]),
    "endless hexadecimal": (SECTION.replace('"50 mm"', "0x" + "f" * 5000), ["thousands of digits"]),
    "rpy in degrees": (
        '[[elements]]\nkind = "link"\nrpy = [0, 90, 0]',
        ["rpy = [0.0, 90.0, 0.0] is not accepted", "write '90 deg'"],
    ),
    "infinite rpy": ('[[elements]]\nkind = "link"\nrpy = [inf, 0, 0]', ["elements[0].rpy[0] = inf", "finite number"]),
    "weights of 1e308": (
        SECTION + "length_weights = [1e308, 1e308]\nbend_weights = [1, 1]",
        ["length_weights", "finite sum"],
    ),
    "long key": (f"{'k' * 10**5} = 1\n" + SECTION, ["is an unknown key"]),
    "key of two lines": ('"a\\nb" = 1\n' + SECTION, ["'a\\nb' = 1 is an unknown key"]),
    "long kind": (f'[[elements]]\nkind = "{"k" * 10**5}"', ["elements[0].kind = 'kkk"]),
    "long unit": (SECTION.replace("50 mm", "1 " + "m" * 10**5), ["elements[0].length"]),
    "long robot": (f'[[elements]]\nkind = "robot"\nrobot = "{"r" * 10**5}"', ["is not a robot of the catalogue"]),
    "long name": (f'name = "{"n" * 10**5}"\n' + SECTION, ["robot: name = 'nnn"]),
    "nested": ("x = " + "[" * 10**5, ["nested too deeply"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_say_field_value_and_remedy(case, tmp_path):
    text, words = BAD[case]
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert "robot.toml" in message
    assert "\n" not in message
    assert len(message) < 400 + len(str(tmp_path))
    for word in words:
        assert word in message


def test_all_problems_are_found_at_once(tmp_path):
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, SECTION.replace("50 mm", "-1 mm") + SECTION.replace("90 deg", "9 turn") + "radius = -1")
    assert len(caught.value.problems) == 3
    assert "and 2 more" in str(caught.value)


def test_a_bad_entry_does_not_hide_the_others(tmp_path):
    text = """
        name = "a/b"
        nmae = 1
        [[elements]]
        kind = "section"
        length = "1 kg"
        bend_max = 1
        radius = -1
        wieght = 2
        [[elements]]
        kind = "section"
        length = -1
        bend_max = 9
        [[elements]]
        kind = "dh"
        rows = [{ lower = 4 }, { b = 1 }, { lower = 5 }]
        [[elements]]
        kind = "x"
        [[elements]]
        kind = "revolute"
        name = 3
        lower = "x"
        axis = [0, 0, 0]
        [[elements]]
        kind = "dh"
        convention = 3
        rows = [{ lower = 6 }]
    """
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, text)
    assert [problem.partition(" = ")[0] for problem in caught.value.problems] == [
        "nmae", "robot: name", "elements[0].length", "elements[0].wieght", "elements[0]: section: radius",
        "elements[1]: section: length", "elements[1]: section: bend_max", "elements[2].rows[1].b",
        "elements[2]: rows[0]: revolute: lower", "elements[2]: rows[2]: revolute: lower", "elements[3].kind",
        "elements[4].lower", "elements[4].name", "elements[4]: revolute: axis", "elements[5].convention",
        "elements[5]: rows[0]: revolute: lower",
    ]  # fmt: skip


def test_rows_are_counted_from_0_and_a_bad_one_is_checked_on(tmp_path):
    rows = """
        { alpha = 90 },
        { kind = "prismatic", alpha = 45, name = "a/b" },
        { kind = "screw", alpha = 45 },
        { alpha = "90 mm", theta = 45, lower = "-10 mm" },
        1,
        { d = nan },
    """
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, f'[[elements]]\nkind = "dh"\nconvention = "x"\nrows = [{rows}]')
    assert [re.split(" = | is", problem)[0] for problem in caught.value.problems] == [
        "elements[0].convention", "elements[0].rows[1].lower", "elements[0].rows[1].upper", "elements[0].rows[2].kind",
        "elements[0].rows[3].alpha", "elements[0].rows[3].lower", "elements[0].rows[4]",
        "elements[0]: rows[0]: alpha", "elements[0]: rows[1]: alpha", "elements[0]: rows[1]: revolute: name",
        "elements[0]: rows[3]: theta", "elements[0]: rows[5]: d",
    ]  # fmt: skip


def test_a_hint_names_the_entry_of_the_file(tmp_path):
    limits = "lower = -180\nupper = 180\n"
    row = "{ lower = -90, upper = 90 }"
    text = f'[[elements]]\nkind = "revolute"\n{limits}[[elements]]\nkind = "dh"\nrows = [{{}}, {row}]\n'
    with pytest.warns(UserWarning, match="were degrees meant") as warned:
        load(tmp_path, text)
    path = tmp_path / "robot.toml"
    assert [str(one.message).partition(" are up to")[0] for one in warned] == [
        f"{path}: elements[0]: revolute: hint: limits -180 to 180",
        f"{path}: elements[1]: rows[1]: revolute: hint: limits -90 to 90",
    ]
    assert {one.filename for one in warned} == {__file__}
    # Also where another field of the entry is refused.
    with pytest.warns(UserWarning, match=r"robot.toml: elements\[0\]: revolute: hint"), pytest.raises(ar.FileError):
        load(tmp_path, f'[[elements]]\nkind = "revolute"\naxis = [0, 0, "z"]\n{limits}')


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
        ('"d"]', '"x"]', ["matrix[0][3]", "'x' is not a coordinate"]),
        ("0.25]", "true]", ["matrix"]),
        ("0.25]", "]", ["matrix[2]", "at least 4 entries"]),
        ('"20 mm"', '"20 deg"', ["coordinates[1].upper", "unknown unit 'deg'"]),
        ('"20 mm"', '"-20 mm"', ["coordinate 'd'", "lower"]),
        ('name = "q"', 'name = "2q"', ["coordinates[0].name = '2q'"]),
        ('quantity = "length"', 'quantity = "mass"', ["coordinates[1].quantity = 'mass'"]),
        ('quantity = "length"', "step = 1", ["coordinates[1].step = 1 is an unknown key"]),
        ('"-sin(q)"', '"sin(q)"', ["not a rotation"]),
        ("lower = 0", "lower = false", ["coordinates[1].lower = False", "metres"]),
        ("lower = 0", "lower = {}", ["coordinates[1].lower = {}", "metres"]),
        ("lower = 0", "", ["coordinates[1].lower is missing; give the smallest length"]),
        ('name = "q"', 'name = "lambda"', ["coordinates[0].name = 'lambda'", "another name"]),
        ('name = "q"', 'name = "pi"', ["coordinates[0].name = 'pi'", "another name"]),
        ('name = "q"', 'name = "E"', ["coordinates[0].name = 'E'"]),
        ('name = "q"', 'name = "cos"', ["coordinates[0].name = 'cos'"]),
        ('name = "q"', 'name = "sqrt"', ["coordinates[0].name = 'sqrt'"]),
        ('name = "q"', 'name = "d"', ["coordinates[1].name = 'd' is used twice"]),
        ('name = "q"', "", ["coordinates[0].name is missing; give the name of the coordinate"]),
        ("0.25]", "{}]", ["matrix[2][3] = {}", "give a number or a formula"]),
        ("0.25]", f"{10**400}]", ["matrix[2][3] = 1000", "too large"]),
        ("0.25]", f'"{"sin(" * 150}q{")" * 150}"]', ["nested too deeply"]),
        ("0.25]", '"q**(0/0)"]', ["matrix[2][3]", "not a finite real number"]),
    ],
)
def test_bad_symbolic_files(old, new, words, tmp_path):
    assert old in SYMBOLIC
    with pytest.raises(ar.FileError) as caught:
        load(tmp_path, SYMBOLIC.replace(old, new, 1))
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in " | ".join(caught.value.problems)


def test_files_that_are_none(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe4"')
    (tmp_path / "folder.toml").mkdir()
    with (tmp_path / "large.toml").open("wb") as stream:
        stream.truncate(100_000_000)
    cases = {
        tmp_path / "missing.toml": "no such file",
        tmp_path / "folder.toml": "is a directory",
        tmp_path / "large.toml": "has 100.0 MB; at most 2 MB",
        tmp_path / "latin.toml": "not UTF-8",
        tmp_path: "is a directory",
        "": "source = '' is empty; give a name of the catalogue or the path of a file",
        "three-sectoin": "did you mean 'three-section'?",
        "nothing like it": "arcreach robots lists the catalogue",
        "a\0b.toml": "cannot be read",
        "/dev/null": "not a regular file",
        "n" * 300: "cannot be read (file name too long)",
        f"{'n' * 300}.toml": "cannot be read (file name too long)",
        "n\nn" * 10**5: "cannot be read (file name too long)",
        3: "source = 3",
    }
    for source, words in cases.items():
        with pytest.raises(ar.FileError) as caught:
            ar.load_robot(source)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


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
        tmp_path / "robot.json": "not known; give .toml",
        tmp_path / "folder.toml": "is a directory",
        tmp_path / "none" / "robot.toml": "cannot be written",
    }.items():
        with pytest.raises(ar.FileError, match=words):
            ar.save_robot(robot, path)
    with pytest.raises(ar.FileError, match="give a Robot"):
        ar.save_robot("robot", tmp_path / "robot.toml")


@pytest.mark.parametrize("name", ["robot", "robot.toml"])
def test_a_folder_without_permission(name, tmp_path, monkeypatch):
    # The mode of a folder does not keep root out, so the refusal is played.
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(ar.FileError, match=r"cannot be read \(permission denied\)"):
        ar.load_robot(tmp_path / name)


def test_what_cannot_be_saved_leaves_nothing_behind(tmp_path):
    surrogate = ar.Robot([ar.Link()], source="\ud800")
    with pytest.raises(ar.FileError, match="not a Unicode character"):
        ar.save_robot(surrogate, tmp_path / "robot.toml")
    for name in ("n" * 300 + ".toml", "a\0b.toml"):
        with pytest.raises(ar.FileError, match="cannot be written"):
            ar.save_robot(ar.load_robot("two-section"), tmp_path / name)
    with pytest.raises(ar.FileError, match=r"would have 1\d\.\d MB; at most 2 MB"):
        ar.save_robot(ar.Robot([ar.Link()], source="x" * 12_000_000), tmp_path / "robot.toml")
    assert os.listdir(tmp_path) == []
    ar.save_robot(ar.load_robot("two-section"), tmp_path / ("n" * 250 + ".toml"))


def test_two_robots_of_the_catalogue_are_distinguished_by_a_prefix(tmp_path):
    entry = '[[elements]]\nkind = "robot"\nrobot = "{}"\nprefix = "{}"\n'
    robot = load(tmp_path, entry.format("two-section", "left ") + entry.format("two-section", "right "))
    assert robot.element_names == ("left section-1", "left section-2", "right section-1", "right section-2")
    with pytest.raises(ar.FileError, match=r"elements\[0\]: section: name = 'a/section-1'"):
        load(tmp_path, entry.format("two-section", "a/"))


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
        text = catalogue_text(ROBOTS, name)
        validator.validate(tomllib.loads(text))
    for case in ("no elements", "unknown key", "unknown kind", "missing field", "unknown unit", "number as flag"):
        assert not validator.is_valid(tomllib.loads(BAD[case][0]))


def test_patterns_of_the_schema_are_read_in_a_moment():
    start = time.perf_counter()
    patterns = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(json_schema()))
    assert patterns
    for pattern in set(patterns):
        for text in ("1" * 20_000 + "x", "1" + " " * 20_000 + "x", " " * 20_000 + "x", "a" * 20_000 + "!"):
            assert not re.match(json.loads(pattern), text)
    assert time.perf_counter() - start < 2
