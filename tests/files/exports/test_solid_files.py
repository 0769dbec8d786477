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
