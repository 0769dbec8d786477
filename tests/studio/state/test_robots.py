"""The list of robots: the catalogue, files, tips, and robots that cannot be shown."""

import pytest

import arcreach as ar
from arcreach.errors import FileError, MissingExtraError, RobotError
from arcreach.studio.state.robots import RobotList, drawable, has_body


def test_the_first_tip_that_can_be_read_is_taken():
    text = b"""<robot name="hand"><link name="base"/><link name="finger"/><link name="thumb"/>
    <joint name="1" type="revolute"><parent link="base"/><child link="finger"/><limit lower="-1" upper="1"/>
    <mimic joint="2"/></joint>
    <joint name="2" type="revolute"><parent link="base"/><child link="thumb"/><origin xyz="0 0 1"/>
    <limit lower="-1" upper="1"/></joint></robot>"""
    robots = RobotList()
    entry = robots.add_file("hand.urdf", text)
    assert (entry.tip, entry.tips) == ("thumb", ("finger", "thumb"))
    with pytest.raises(FileError, match="tip = 'moon' is not a link"):
        robots.set_tip("hand", "moon")
    with pytest.raises(FileError, match="mimic"):
        robots.add_file(
            "hand.urdf",
            text.replace(
                b'<limit lower="-1" upper="1"/></joint>', b'<limit lower="-1" upper="1"/><mimic joint="1"/></joint>'
            ),
        )


def test_robots_given_by_a_matrix_are_left_out(monkeypatch):
    def missing(name):
        raise MissingExtraError("sympy", "symbolic", "a matrix")

    assert has_body("ur5")
    assert not has_body("librergm3-matrix")
    monkeypatch.setattr("arcreach.studio.state.robots.catalogue_robot", missing)
    assert not has_body("librergm3-matrix")


def robot_file(elements):
    return b'name = "mine"\n' + b"".join(b"[[elements]]\n" + element for element in elements)


def test_robots_that_the_page_cannot_show():
    hinge, link = b'kind = "revolute"\n', b'kind = "link"\ntranslation = [0, 0, 1]\n'
    with pytest.raises(RobotError, match="reach of 0 m; give it a link"):
        RobotList().add_file("hinge.toml", robot_file([hinge]))
    with pytest.raises(RobotError, match="101 coordinates"):
        RobotList().add_file("long.toml", robot_file([hinge, link] * 101))
    with pytest.raises(RobotError, match="no body"):
        drawable(ar.load_robot("librergm3-matrix"))
    with pytest.raises(RobotError, match="nothing to move"):
        drawable(ar.Robot([ar.Link((0.0, 0.0, 1.0))], name="stick"))
