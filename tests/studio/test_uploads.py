import io
import zipfile

import pytest

import arcreach as ar
from arcreach.errors import FileError
from arcreach.studio.panels.events import all_of
from arcreach.studio.uploads import LARGEST_UPLOAD, plain_name, robot_of_upload

GOOD = b"""
name = "mine"
[[elements]]
kind = "section"
length = "50 mm"
bend_max = "90 deg"
"""


def test_a_robot_file_is_read_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = robot_of_upload("mine.toml", GOOD)
    assert (robot.name, robot.dof) == ("mine", 2)
    assert list(tmp_path.iterdir()) == []


def test_a_urdf_is_known_by_its_content():
    text = b"""<robot name="arm"><link name="a"/><link name="b"/>
    <joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1"/></joint></robot>"""
    assert robot_of_upload("arm.txt", text).coordinates == ("turn",)


def test_a_bad_field_is_named():
    with pytest.raises(FileError, match=r"^mine\.toml: elements\[0\]\.bend_max = '90 dag' is not accepted"):
        robot_of_upload("mine.toml", GOOD.replace(b"90 deg", b"90 dag"))
    with pytest.raises(FileError) as raised:
        robot_of_upload("mine.toml", GOOD.replace(b"length", b"lenght"))
    said = all_of(raised.value)
    assert "elements[0].length is missing" in said
    assert "elements[0].lenght = '50 mm' is an unknown key; did you mean 'length'" in said


def test_what_is_no_robot_file_is_refused():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("robot.toml", GOOD)
    for content, reason in (
        (archive.getvalue(), "is a zip archive"),
        (b"\xff\xfe\x00\x01", "is not UTF-8 text"),
        (b"hello, world", "is not valid TOML"),
        (b"", "elements is missing"),
        (b"a" * (LARGEST_UPLOAD + 1), "at most 2 MB"),
        (b'name = "x"\n[[elements]]\nkind = "link"\n', "at least one joint or section"),
    ):
        with pytest.raises(FileError, match=reason):
            robot_of_upload("file", content)


def test_a_matrix_has_no_body():
    from importlib.resources import files

    text = (files("arcreach.files.catalogue") / "librergm3-matrix.toml").read_bytes()
    with pytest.raises(FileError, match="no body to draw"):
        robot_of_upload("matrix.toml", text)


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\windows\\passwd", "/abs/passwd", "a\x00b/pass\x1b[31mwd"])
def test_a_path_in_a_name_is_only_a_name(name):
    shown = plain_name(name)
    assert "/" not in shown
    assert "\\" not in shown
    assert shown.isprintable()
    assert shown.endswith("wd")
    assert robot_of_upload(name, GOOD) == robot_of_upload("mine.toml", GOOD)


def test_a_name_of_nothing():
    assert plain_name("///") == "the file"
    assert len(plain_name("x" * 1000)) == 60


def test_the_errors_are_those_of_the_library():
    assert issubclass(FileError, ar.ArcreachError)
