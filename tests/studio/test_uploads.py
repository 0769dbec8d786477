import io
import zipfile

import pytest

import arcreach as ar
from arcreach.errors import FileError
from arcreach.studio.panels.events import all_of
from arcreach.studio.shelf import Shelf
from arcreach.studio.uploads import LARGEST_UPLOAD, plain_name, robot_of_upload, tips_of_upload

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


def test_the_tips_of_a_urdf():
    text = b"""<robot name="y"><link name="base"/><link name="a"/><link name="b"/><link name="plate"/>
    <joint name="1" type="fixed"><parent link="base"/><child link="plate"/></joint>
    <joint name="2" type="continuous"><parent link="base"/><child link="a"/></joint>
    <joint name="3" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    # A link that nothing moves is no tip.
    assert tips_of_upload("y.urdf", text) == ("b", "a")
    assert tips_of_upload("mine.toml", GOOD) == ()
    with pytest.raises(FileError, match=r"y\.urdf: .* loop"):
        tips_of_upload(
            "y.urdf", text.replace(b'<parent link="base"/><child link="a"/>', b'<parent link="b"/><child link="a"/>')
        )
    with pytest.raises(FileError, match=r"^y\.urdf: is not valid XML"):
        tips_of_upload("y.urdf", b"<robot")


def test_a_tip_that_cannot_be_read_gives_way_to_the_next():
    text = b"""<robot name="hand"><link name="base"/><link name="finger"/><link name="thumb"/>
    <joint name="1" type="revolute"><parent link="base"/><child link="finger"/><limit lower="-1" upper="1"/>
    <mimic joint="2"/></joint>
    <joint name="2" type="revolute"><parent link="base"/><child link="thumb"/><origin xyz="0 0 1"/>
    <limit lower="-1" upper="1"/></joint></robot>"""
    shelf = Shelf()
    name = shelf.receive("hand.urdf", text)
    assert (shelf[name].tip, shelf[name].tips) == ("thumb", ("finger", "thumb"))
    with pytest.raises(FileError, match="mimic"):
        shelf.receive(
            "hand.urdf",
            text.replace(
                b'<limit lower="-1" upper="1"/></joint>', b'<limit lower="-1" upper="1"/><mimic joint="1"/></joint>'
            ),
        )
