import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError, MissingExtraError, RobotError
from arcreach.files import write_solid
from arcreach.files.exports.solid_files import COLOURS, DARK, STEEL, part_colour
from arcreach.robots.body_mesh import body_mesh

trimesh = pytest.importorskip("trimesh")

ROBOTS = ("three-section", "ur5-bending-tool", "librergm3", "telescopic-sections")


def bounds_of(robot, q):
    vertices = body_mesh(robot, q, sides=48).vertices
    return vertices.min(axis=0), vertices.max(axis=0)


@pytest.mark.parametrize("name", ROBOTS)
def test_an_stl_is_one_watertight_surface_in_metres(name, tmp_path):
    robot = ar.load_robot(name)
    # At the neutral configuration the slide of librergm3 stands at 0.
    for q in (robot.neutral, robot.sample(1, seed=3)[0]):
        write_solid(robot, q, tmp_path / "body.stl")
        mesh = trimesh.load(tmp_path / "body.stl")
        assert mesh.is_watertight
        assert mesh.is_winding_consistent
        assert mesh.volume > 0.0
        np.testing.assert_allclose(mesh.bounds, bounds_of(robot, q), atol=1e-7)


def section(scale=1.0, **fields):
    return ar.Section(0.05 * scale, 1.5, radius=0.004 * scale, **fields)


@pytest.mark.parametrize("sides", [6, 24, 48])
@pytest.mark.parametrize(
    ("between", "q"),
    [
        (ar.Revolute(), [0.0]),
        # This turn would undo an angular offset of 0.1 rad per part.
        (ar.Revolute(), [-0.2]),
        (ar.Revolute((1, 0, 0)), [0.7]),
        (ar.Revolute((0, 1, 0)), [0.7]),
        (ar.Revolute((0.6, 0, 0.8)), [0.7]),
        (ar.Prismatic(0.0, 0.1, radius=0.004), [0.0]),
        (ar.Link((0, 0, 0.01), radius=0.004), []),
        (ar.Link(rotation=((0, -1, 0), (1, 0, 0), (0, 0, 1))), []),
    ],
)
def test_sections_with_another_element_between_them_share_no_edge(between, q, sides, tmp_path):
    for base, bends in ((section(), ([0.0, 0.0], [0.3, 0.4])), (section(twist=True), ([0.8, -0.6],))):
        robot = ar.Robot([base, between, section()])
        for bend in bends:
            write_solid(robot, [*bend, *q, 0.8, 0.1], tmp_path / "body.stl", sides)
            assert trimesh.load(tmp_path / "body.stl").is_watertight


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1.0, 1e4])
def test_a_robot_of_any_size_is_watertight(scale, tmp_path):
    robot = ar.Robot([section(scale), ar.Revolute((1, 0, 0)), section(scale), ar.Prismatic(0.0, 0.1 * scale)])
    write_solid(robot, robot.neutral, tmp_path / "body.stl")
    mesh = trimesh.load(tmp_path / "body.stl", process=False)
    # By default trimesh merges vertices that are 1e-8 apart, whatever the size.
    mesh.apply_scale(1.0 / scale)
    mesh.merge_vertices()
    assert mesh.is_watertight
    body = body_mesh(robot, robot.neutral, sides=48, joined=True)
    expected = trimesh.Trimesh(body.vertices / scale, body.faces, process=False)
    assert mesh.volume == pytest.approx(expected.volume, rel=1e-5)
    np.testing.assert_allclose(mesh.bounds, expected.bounds, atol=1e-7)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_glb_has_a_closed_coloured_part_per_element(name, tmp_path):
    robot = ar.load_robot(name)
    q = robot.sample(1, seed=3)[0]
    write_solid(robot, q, tmp_path / "body.glb")
    scene = trimesh.load(tmp_path / "body.glb")
    np.testing.assert_allclose(scene.bounds, bounds_of(robot, q), atol=1e-6)
    parts = body_mesh(robot, q).parts
    assert len(scene.geometry) == len(parts)
    assert set(scene.graph.nodes_geometry) == {robot.element_names[part.element] for part in parts}
    assert all(mesh.is_watertight for mesh in scene.geometry.values())


def test_a_straight_robot_stands_on_its_base(tmp_path):
    robot = ar.load_robot("three-section")
    write_solid(robot, robot.neutral, tmp_path / "body.stl")
    low, high = trimesh.load(tmp_path / "body.stl").bounds
    np.testing.assert_allclose(low, (-0.003, -0.003, 0.0), atol=1e-7)
    np.testing.assert_allclose(high, (0.003, 0.003, robot.reach), atol=1e-7)


def test_sections_have_colours_in_turn_and_the_rest_is_grey():
    robot = ar.load_robot("ur5-bending-tool")
    colours = [part_colour(robot, part) for part in body_mesh(robot, robot.neutral).parts]
    assert colours[-3:] == list(COLOURS[:3])
    assert set(colours[:-3]) == {STEEL, DARK}


def test_bad_input_is_named(tmp_path, monkeypatch):
    robot = ar.load_robot("two-section")
    with pytest.raises(FileError, match=r"give \.stl, \.glb"):
        write_solid(robot, robot.neutral, tmp_path / "body.step")
    with pytest.raises(FileError, match="cannot be written"):
        write_solid(robot, robot.neutral, tmp_path / "none" / "body.stl")
    with pytest.raises(RobotError, match="has no body"):
        write_solid("two-section", robot.neutral, tmp_path / "body.stl")
    import sys

    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r"arcreach\[plan\]"):
        write_solid(robot, robot.neutral, tmp_path / "body.stl")
