import io
import zipfile

import pytest

from arcreach.errors import FileError
from arcreach.studio.panels.events import problems_of
from arcreach.studio.state.uploads import (
    LARGEST_UPLOAD,
    parse_robot_upload,
    parse_scene_upload,
    plain_name,
    upload_tips,
)

GOOD = b"""
name = "mine"
[[elements]]
kind = "section"
length = "50 mm"
bend_max = "90 deg"
"""


def test_a_robot_file_is_read_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = parse_robot_upload("mine.toml", GOOD)
    assert (robot.name, robot.dof) == ("mine", 2)
    assert list(tmp_path.iterdir()) == []


def test_a_urdf_is_known_by_its_content():
    text = b"""<robot name="arm"><link name="a"/><link name="b"/>
    <joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1"/></joint></robot>"""
    assert parse_robot_upload("arm.txt", text).coordinates == ("turn",)


def test_a_bad_field_is_named():
    with pytest.raises(FileError, match=r"^mine\.toml: elements\[0\]\.bend_max = '90 dag' is not accepted"):
        parse_robot_upload("mine.toml", GOOD.replace(b"90 deg", b"90 dag"))
    with pytest.raises(FileError) as raised:
        parse_robot_upload("mine.toml", GOOD.replace(b"length", b"lenght"))
    said = problems_of(raised.value)
    assert "elements[0].length is missing" in said
    assert "elements[0].lenght = '50 mm' is an unknown key; did you mean 'length'" in said


def test_other_files_are_refused():
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
            parse_robot_upload("file", content)


def test_a_matrix_has_no_body():
    from importlib.resources import files

    text = (files("arcreach.files.catalogues") / "robots" / "librergm3-matrix.toml").read_bytes()
    with pytest.raises(FileError, match="no body to draw"):
        parse_robot_upload("matrix.toml", text)


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\windows\\passwd", "/abs/passwd", "a\x00b/pass\x1b[31mwd"])
def test_only_the_last_part_of_a_name_is_shown(name):
    shown = plain_name(name)
    assert "/" not in shown
    assert "\\" not in shown
    assert shown.isprintable()
    assert shown.endswith("wd")
    assert parse_robot_upload(name, GOOD) == parse_robot_upload("mine.toml", GOOD)


def test_an_empty_name():
    assert plain_name("///") == "the file"
    assert len(plain_name("x" * 1000)) == 60


def test_the_tips_of_a_urdf():
    text = b"""<robot name="y"><link name="base"/><link name="a"/><link name="b"/><link name="plate"/>
    <joint name="1" type="fixed"><parent link="base"/><child link="plate"/></joint>
    <joint name="2" type="continuous"><parent link="base"/><child link="a"/></joint>
    <joint name="3" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    # A link that nothing moves is no tip.
    assert upload_tips("y.urdf", text) == ("b", "a")
    assert upload_tips("mine.toml", GOOD) == ()
    with pytest.raises(FileError, match=r"y\.urdf: .* loop"):
        upload_tips(
            "y.urdf", text.replace(b'<parent link="base"/><child link="a"/>', b'<parent link="b"/><child link="a"/>')
        )
    with pytest.raises(FileError, match=r"^y\.urdf: is not valid XML"):
        upload_tips("y.urdf", b"<robot")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'[[obstacles]]\nkind = "mesh"\npath = "/etc/passwd"\n',
            r"obstacles\[0\]\.path = '/etc/passwd' is not accepted on the page",
        ),
        (b'[[obstacles]]\nkind = "sphere"\ncentre = [0, 0, 1]\nradius = -1\n', "radius"),
        (b'[[obstacles]]\nkind = "sphere"\ncentre = [0, 0, 1]\nradius = 1\n' * 301, "at most 300"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_bad_scene_is_refused(content, said):
    with pytest.raises(FileError, match=said):
        parse_scene_upload("scene.toml", content)
