import re
import shutil
import subprocess

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import ConfigurationError, FileError, RobotError
from arcreach.files import openscad_text, write_openscad
from arcreach.robots.body_mesh import body_mesh

needs_openscad = pytest.mark.skipif(shutil.which("openscad") is None, reason="the command openscad is not installed")

MIXED = ar.Robot(
    [
        ar.Revolute((0, 0, 1), name="turn"),
        ar.Link((0, 0.02, 0.1), ((1, 0, 0), (0, 0, -1), (0, 1, 0)), radius=0.01),
        ar.Parallelogram((0.05, 0, 0.05), (0, 1, 0), radius=0.008),
        ar.Prismatic(0.0, 0.05, radius=0.006),
        ar.Section(0.02, 1.5, stretch=0.03, radius=0.004, length_weights=(1, 2), bend_weights=(2, 1), twist=True),
        ar.Section(0.04, 2.0, radius=0.003),
    ],
    name="mixed",
)


def rendered(model, *options):
    """The corners of the solid that OpenSCAD makes of a model, in metres."""
    solid = model.with_suffix(".stl")
    command = ["openscad", "-o", str(solid), *options, str(model)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    # CGAL calls a closed surface simple.
    assert re.search(r"Simple:\s+yes", done.stderr)
    numbers = np.array(re.findall(r"vertex (\S+) (\S+) (\S+)", solid.read_text()), dtype=float)
    return 1e-3 * numbers.min(axis=0), 1e-3 * numbers.max(axis=0)


def bounds_of(robot, q):
    vertices = body_mesh(robot, q, sides=32).vertices
    return vertices.min(axis=0), vertices.max(axis=0)


@needs_openscad
@pytest.mark.parametrize("bends", [(0.0, 0.0), (0.6, 1.0)])
def test_openscad_renders_the_pose(bends, tmp_path):
    robot = ar.load_robot("two-section")
    q = [bends[0], 0.4, bends[1], -2.0]
    write_openscad(robot, q, tmp_path / "pose.scad")
    np.testing.assert_allclose(rendered(tmp_path / "pose.scad"), bounds_of(robot, q), atol=2e-6)


@needs_openscad
def test_openscad_renders_every_kind_of_element_at_a_step_of_a_path(tmp_path):
    path = MIXED.sample(3, seed=1)
    # Spheres and drums have other corners there: what they differ by is a share of their radius.
    write_openscad(MIXED, path, tmp_path / "path.scad")
    np.testing.assert_allclose(rendered(tmp_path / "path.scad", "-Dstep=2"), bounds_of(MIXED, path[2]), atol=3e-4)


def test_the_path_stands_in_millimetres_and_degrees():
    path = MIXED.sample(4, seed=0)
    text = openscad_text(MIXED, path)
    rows = text.split("path = [\n")[1].split("\n];")[0].splitlines()
    values = np.array([[float(cell) for cell in row.strip(" [],").split(",")] for row in rows])
    scale = [180.0 / np.pi if quantity == "angle" else 1e3 for quantity in MIXED.quantities]
    np.testing.assert_allclose(values, path * scale, rtol=1e-15)
    assert "$t" in text
    for k, name in enumerate(MIXED.coordinates):
        assert f"q[{k}]  {name}" in text
    for kind in ("revolute(", "link(", "parallelogram(", "prismatic(", "section("):
        assert f"\n  {kind}" in text


def test_the_same_robot_is_the_same_text():
    assert openscad_text(MIXED, MIXED.neutral) == openscad_text(MIXED, MIXED.neutral)


def test_bad_input_is_named(tmp_path):
    with pytest.raises(FileError, match=r"not known; give \.scad"):
        write_openscad(MIXED, MIXED.neutral, tmp_path / "pose.stl")
    with pytest.raises(ConfigurationError, match="no rows"):
        openscad_text(MIXED, np.empty((0, MIXED.dof)))
    with pytest.raises(RobotError, match="give a Robot or a SymbolicRobot"):
        openscad_text("two-section", [0.0, 0.0, 0.0])


def table(text, name):
    rows = text.split(f"\n{name} = [\n")[1].split("\n];")[0].splitlines()
    return np.array([[float(cell) for cell in row.strip(" [],").split(",")] for row in rows])


def test_all_poses_and_the_path_of_the_tip():
    path = MIXED.sample(4, seed=0)
    text = openscad_text(MIXED, path, all_poses=True)
    assert "\nall_poses = true;\n" in text
    np.testing.assert_allclose(table(text, "tips"), 1e3 * MIXED.tip_pose(path)[:, :3, 3], rtol=1e-15)
    # The animation is the same file with one word changed.
    assert openscad_text(MIXED, path) == text.replace("all_poses = true", "all_poses = false")


def test_a_matrix_robot_is_written_by_its_poses():
    pytest.importorskip("sympy")
    robot, chain = ar.load_robot("librergm3-matrix"), ar.load_robot("librergm3")
    path = chain.sample(3, seed=0)
    text = openscad_text(robot, path, all_poses=True)
    np.testing.assert_allclose(table(text, "tips"), 1e3 * chain.tip_pose(path)[:, :3, 3], atol=1e-9)
    assert text.count("\n  link([[") == text.count("\n  frame(") == 1
    assert "q[1]  q1 (mm)" in text


@needs_openscad
def test_openscad_renders_all_poses(tmp_path):
    robot = ar.load_robot("two-section")
    path = robot.sample(3, seed=1)
    write_openscad(robot, path, tmp_path / "poses.scad", all_poses=True)
    low, high = rendered(tmp_path / "poses.scad")
    bounds = np.array([bounds_of(robot, q) for q in path])
    np.testing.assert_allclose([low, high], [bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)], atol=1e-3)
