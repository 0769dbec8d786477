import math
import re
from pathlib import Path

import numpy as np
import pytest

import arcreach as ar
from arcreach.files import scene_catalogue
from arcreach.files.toml.scene_file import parse_scene

PAGE = Path(__file__).parents[3] / "docs" / "scenes.md"

SCENE = ar.Scene(
    [
        ar.Sphere((0.1, 0.2, 1 / 3), 0.1, name="ball"),
        ar.Capsule((0, 0, 0), (1, 0, 0), 0.2, margin=0.01),
        ar.Box((1, 2, 3), (0.5, 0, 0), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
        ar.HalfSpace((0, 0, 1), (0, 0, -0.1)),
    ],
    name="all kinds",
    source="made up",
)


def test_a_scene_is_read_as_it_was_written(tmp_path):
    ar.save_scene(SCENE, tmp_path / "scene.toml")
    again = ar.load_scene(tmp_path / "scene.toml")
    assert again == SCENE
    assert again.source == "made up"


@pytest.mark.parametrize("shapes", [[], [ar.Polygon(((0, 0), (1, 0), (0, 1))), ar.Disc((1, 2), 0.5, name="post")]])
def test_empty_and_planar_scenes_too(shapes, tmp_path):
    ar.save_scene(ar.Scene(shapes), tmp_path / "scene.toml")
    assert ar.load_scene(tmp_path / "scene.toml") == ar.Scene(shapes)


def test_texts_carry_units():
    text = """
    [[obstacles]]
    kind = "box"
    size = ["10 mm", "2 cm", 0.03]
    centre = ["1 mm", 0, 0]
    rpy = [0, 0, "90 deg"]
    margin = "1 mm"
    """
    (box,) = parse_scene(text, "text")
    assert box.size == (0.01, 0.02, 0.03)
    assert box.margin == 0.001
    np.testing.assert_allclose(box.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[obstacles]]\nkind = 'cone'", ["obstacles[0].kind = 'cone'", "'sphere', 'capsule', 'box', 'half-space'"]),
        ("[[obstacles]]\ncentre = [0, 0, 0]", ["obstacles[0].kind is missing"]),
        ("obstacles = 3", ["obstacles = 3", "a list"]),
        ("name = 'x'", ["obstacles is missing"]),
        ("obstacle = []\nobstacles = []", ["obstacle = []", "did you mean 'obstacles'"]),
        ("[[obstacles]]\nkind = 'sphere'\ncentre = [0, 0, 0]", ["obstacles[0].radius is missing"]),
        ("[[obstacles]]\nkind = 'sphere'\ncentre = [0, 0]\nradius = 1", ["obstacles[0].centre", "list of three"]),
        ("[[obstacles]]\nkind = 'sphere'\ncentre = [0, 0, 0]\nradius = -1", ["obstacles[0]: sphere: radius = -1.0"]),
        ("[[obstacles]]\nkind = 'sphere'\ncentre = [0, 0, 0]\nradius = nan", ["radius = nan"]),
        ("[[obstacles]]\nkind = 'sphere'\ncentre = [0, 0, '1 kg']\nradius = 1", ["centre[2] = '1 kg'", "unknown unit"]),
        ("[[obstacles]]\nkind = 'half-space'\nnormal = [0, 0, 0]", ["normal = (0.0, 0.0, 0.0)", "not zero"]),
        (
            "[[obstacles]]\nkind = 'box'\nsize = [1, 1, 1]\nrpy = [0, 0, 0]\n"
            "rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
            ["rotation and rpy are both given"],
        ),
        ("[[obstacles]]\nkind = 'box'\nsize = [1, 1, 1]\ncolour = 'red'", ["colour = 'red' is an unknown key"]),
        (
            "[[obstacles]]\nkind = 'disc'\ncentre = [0, 0]\nradius = 1\n[[obstacles]]\nkind = 'box'\nsize = [1, 1, 1]",
            ["do not mix"],
        ),
        ("obstacles = [", ["not valid TOML"]),
    ],
)
def test_bad_files_are_refused(text, words, tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with pytest.raises(ar.FileError) as caught:
        ar.load_scene(path)
    assert "scene.toml" in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_every_problem_is_listed():
    text = "\n".join(
        [
            "[[obstacles]]\nkind = 'sphere'\ncentre = [0]\nradius = -1",
            "[[obstacles]]\nkind = 'half-space'\nnormal = [0, 0, 0]\nmargin = '-1 mm'",
            "[[obstacles]]\nkind = 'box'\nsize = [1, 1, 0]",
        ]
    )
    with pytest.raises(ar.FileError) as caught:
        parse_scene(text, "text")
    assert len(caught.value.problems) == 5
    assert "and 4 more" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ar.load_scene(3), ["source = 3"]),
        (lambda: ar.load_scene("cluter-20"), ["did you mean 'clutter-20'"]),
        (lambda: ar.load_scene("nowhere.toml"), ["no such file"]),
        (lambda: ar.save_scene(SCENE, "scene.json"), [".toml"]),
        (lambda: ar.save_scene(SCENE, 3), ["path = 3"]),
        (lambda: ar.save_scene([], "scene.toml"), ["scene = []", "Scene"]),
    ],
)
def test_bad_arguments_are_refused(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ar.FileError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_meshes_are_found_beside_the_file(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "parts").mkdir()
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "parts" / "cube.stl")
    (tmp_path / "scene.toml").write_text("[[obstacles]]\nkind = 'mesh'\npath = 'parts/cube.stl'\ncells = 8\n")
    scene = ar.load_scene(tmp_path / "scene.toml")
    (tmp_path / "elsewhere").mkdir()
    ar.save_scene(scene, tmp_path / "elsewhere" / "again.toml")
    assert ar.load_scene(tmp_path / "elsewhere" / "again.toml") == scene


def test_meshes_of_vertices_are_written(tmp_path):
    pytest.importorskip("trimesh")
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    mesh = ar.Mesh(vertices=[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], faces=faces, scale=0.1)
    ar.save_scene(ar.Scene([mesh]), tmp_path / "scene.toml")
    assert ar.load_scene(tmp_path / "scene.toml") == ar.Scene([mesh])


@pytest.mark.parametrize("name", scene_catalogue())
def test_catalogue(name):
    scene = ar.load_scene(name)
    assert scene.name == name
    assert scene.source


@pytest.mark.parametrize(("name", "count"), [("clutter-20", 20), ("clutter-60", 60)])
def test_clutter_leaves_the_straight_pose_free(name, count):
    scene, robot = ar.load_scene(name), ar.load_robot("three-section")
    assert len(scene) == count
    assert ar.clearance(robot, robot.neutral, scene) >= 0.006
    # Every ball can be touched, and none lies in another.
    centres, sizes = scene.balls[:, :3], scene.balls[:, 3]
    assert (np.linalg.norm(centres, axis=1) - sizes <= robot.reach + 0.003).all()
    apart = np.linalg.norm(centres[:, None] - centres, axis=-1) - sizes[:, None] - sizes
    assert (apart[~np.eye(count, dtype=bool)] >= 0.0).all()


def test_the_page_s_files_load():
    blocks = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    files = [block for block in blocks if "[[obstacles]]" in block]
    assert files
    for text in files:
        assert len(parse_scene(text, "page")) > 0


def test_a_mesh_file_is_a_scene_with_its_scale(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "part.STL"
    path.write_bytes(trimesh.creation.box((10.0, 20.0, 30.0)).export(file_type="stl"))
    assert ar.load_scene(path)[0].length == pytest.approx(math.hypot(10.0, 20.0, 30.0))
    assert ar.load_scene(str(path), scale=0.001)[0].length == pytest.approx(math.hypot(0.01, 0.02, 0.03))
    for scale in (0.0, -1.0, math.nan, "mm"):
        with pytest.raises(ar.SceneError, match="scale"):
            ar.load_scene(path, scale=scale)
    with pytest.raises(ar.FileError, match=r"scale = 0\.001 is for a mesh file"):
        ar.load_scene("clutter-20", scale=0.001)
