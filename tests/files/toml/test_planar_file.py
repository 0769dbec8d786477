import pytest

import arcreach as ar
from arcreach.errors import FileError
from arcreach.files import load_planar_scene, planar_catalogue
from arcreach.files.toml.planar_file import parse_planar_scene

HEAD = '[[elements]]\nkind = "section"\nlength = 0\nstretch = "0.4 m"\nbend_max = "360 deg"\n'
GOOD = (
    'name = "desk"\ntarget = ["50 mm", 0.2]\ncontacts = [[0.1, "20 cm"]]\nobject = "cup"\nbend_radius = "2 cm"\n'
    + HEAD
    + '[[obstacles]]\nkind = "disc"\nname = "cup"\ncentre = ["1 in", 0.1]\nradius = "5 mm"\n'
    + '[[obstacles]]\nkind = "polygon"\npoints = [[0.1, 0.2], [0.2, 0.2], [0.1, "300 mm"]]\n'
)


def test_a_file_becomes_a_scene(tmp_path):
    path = tmp_path / "desk.toml"
    path.write_text(GOOD, encoding="utf-8")
    scene = load_planar_scene(path)
    assert scene.name == "desk"
    assert scene.target == (0.05, 0.2)
    assert scene.contacts == ((0.1, 0.2),)
    assert scene.bend_radius == 0.02
    assert scene.robot == ar.Robot([ar.Section(0.0, bend_max=scene.robot.elements[0].bend_max, stretch=0.4)], "desk")
    assert scene.obstacles[0] == ar.Disc((0.0254, 0.1), 0.005, "cup")
    assert scene.object == scene.obstacles[0]
    assert scene.obstacles[1] == ar.Polygon([(0.1, 0.2), (0.2, 0.2), (0.1, 0.3)])


@pytest.mark.parametrize("name", planar_catalogue())
def test_every_scene_that_comes_along_loads_and_says_where_it_is_from(name):
    scene = load_planar_scene(name)
    assert scene.name == name
    assert "ours" in scene.source
    assert (scene.target is None) != (scene.object is None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("obstacles = 1", ["elements is missing", "obstacles = 1"]),
        (HEAD + '[[obstacles]]\nkind = "dsc"', ["obstacles[0].kind = 'dsc'"]),
        (HEAD + '[[obstacles]]\nkind = "disc"\nradius = 1', ["obstacles[0].centre is missing; give the centre"]),
        (HEAD + '[[obstacles]]\nkind = "disc"\ncentre = [0, 1, 2]\nradius = 1', ["give a list of two"]),
        (HEAD + '[[obstacles]]\nkind = "disc"\ncentre = [0, 1]\nradius = "1 deg"', ["unknown unit 'deg'"]),
        (HEAD + '[[obstacles]]\nkind = "disc"\ncentre = [0, 1]\nradius = 1\ncolor = 2', ["unknown key"]),
        ("tagret = 1\n" + HEAD + "obstacles = []", ["did you mean 'target'"]),
        (
            "target = [nan, 0]\ncontacts = [[0, inf]]\nbend_radius = '-1 mm'\nobstacles = []\n" + HEAD,
            [
                "target[0] = nan is not accepted; give a finite number",
                "contacts[0][1] = inf",
                "bend_radius = '-1 mm' is not accepted; give a number above 0",
            ],
        ),
        ("object = 'x'\nobstacles = []\n" + HEAD, ["object = 'x' is the name of 0 obstacles"]),
        (
            "[[elements]]\nkind = 'section'\nlength = -1\nbend_max = 1\n"
            "[[obstacles]]\nkind = 'polygon'\npoints = [[0, 0], [1, 1]]\n"
            "[[obstacles]]\nkind = 'disc'\ncentre = [0, 1]\nradius = 0",
            ["length = -1.0", "obstacles[0]: polygon: points has 2 corners", "obstacles[1]: disc: radius = 0.0"],
        ),
        ("obstacles = [", ["is not valid TOML"]),
    ],
)
def test_all_problems_are_reported(text, words):
    with pytest.raises(FileError) as caught:
        parse_planar_scene(text, "desk.toml")
    told = "\n".join(caught.value.problems)
    for word in words:
        assert word in told
    assert str(caught.value).startswith("desk.toml: ")


def test_unknown_names():
    with pytest.raises(FileError, match="did you mean 'slalom'"):
        load_planar_scene("slalon")
    with pytest.raises(FileError, match="source = 3"):
        load_planar_scene(3)
    with pytest.raises(FileError, match="no such file"):
        load_planar_scene("nowhere.toml")
