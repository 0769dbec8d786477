import json

import numpy as np
import pytest

import arcreach as ar

Q = "30deg,0,20deg,90deg"


def test_urdf(run, tmp_path):
    code, out, _ = run("export", "ur5", "--out", tmp_path / "arm.urdf", "--json")
    assert code == 0
    assert json.loads(out)["bytes"] == (tmp_path / "arm.urdf").stat().st_size
    q = ar.load_robot("ur5").sample(2, seed=0)
    assert np.array_equal(ar.load_robot(tmp_path / "arm.urdf").tip_pose(q), ar.load_robot("ur5").tip_pose(q))


def test_openscad_of_a_pose_and_of_a_path(run, tmp_path):
    code, out, _ = run("export", "two-section", "--q", Q, "--out", tmp_path / "pose.scad")
    assert code == 0
    assert out.startswith(str(tmp_path / "pose.scad"))
    row = (tmp_path / "pose.scad").read_text().split("path = [\n  [")[1].split("]")[0]
    np.testing.assert_allclose([float(cell) for cell in row.split(",")], (30, 0, 20, 90), rtol=1e-14)
    (tmp_path / "path.csv").write_text(",".join(ar.load_robot("two-section").coordinates) + "\n0,0,0,0\n1,0,1,0\n")
    for options, rows in (((), 2), (("--points", 7), 7)):
        run("export", "two-section", "--path", tmp_path / "path.csv", "--out", tmp_path / "path.scad", *options)
        text = (tmp_path / "path.scad").read_text()
        assert text.split("path = [\n")[1].split("\n];")[0].count("\n") == rows - 1


def test_a_pose_outside_the_limits_is_noted(run, tmp_path):
    for q, noted in (("91deg,0,0,0", True), (Q, False)):
        code, _, err = run("export", "two-section", "--q", q, "--out", tmp_path / "pose.scad")
        assert code == 0
        assert ("note: this configuration is outside the robot's limits\n" in err) == noted


def test_openscad_of_all_poses_of_a_matrix_robot(run, tmp_path):
    pytest.importorskip("sympy")
    (tmp_path / "path.csv").write_text("q0,q1,q2\n0,0,45deg\n0.5,10mm,1\n")
    call = ("--path", tmp_path / "path.csv", "--all-poses", "--out", tmp_path / "poses.scad")
    assert run("export", "librergm3-matrix", *call)[0] == 0
    text = (tmp_path / "poses.scad").read_text()
    assert "all_poses = true;" in text
    assert text.split("\npath = [\n  [")[1].startswith("0, 0, 45],\n")


@pytest.mark.parametrize("ending", ["stl", "glb"])
def test_solids(run, tmp_path, ending):
    trimesh = pytest.importorskip("trimesh")
    assert run("export", "two-section", "--out", tmp_path / f"body.{ending}")[0] == 0
    low, high = trimesh.load(tmp_path / f"body.{ending}").bounds
    np.testing.assert_allclose(high[2] - low[2], ar.load_robot("two-section").reach, atol=1e-6)


def test_csv_of_a_path_and_of_a_solve(run, tmp_path):
    (tmp_path / "path.csv").write_text(",".join(ar.load_robot("two-section").coordinates) + "\n0,0,0,0\n1,0,1,0\n")
    run("export", "two-section", "--path", tmp_path / "path.csv", "--points", 5, "--out", tmp_path / "many.csv")
    assert len((tmp_path / "many.csv").read_text().splitlines()) == 6
    code, _, _ = run(
        "export", "two-section", "--to", "10mm,0,95mm", "--method", "fabrikx", "--out", tmp_path / "log.csv"
    )
    assert code == 0
    assert (tmp_path / "log.csv").read_text().startswith("iteration,section-1.bend")
    assert run("export", "two-section", "--to", "1m,0,0", "--out", tmp_path / "log.csv")[0] == 1


def test_mjcf(run, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    assert run("export", "two-section", "--out", tmp_path / "model.xml")[0] == 0
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml")).nu == 0
    code, _, err = run("export", "two-section", "--q", Q, "--out", tmp_path / "pose.xml")
    assert code != 0
    assert "--q has no meaning for .xml" in err


def test_c_sources(run, tmp_path):
    code, out, _ = run("export", "two-section", "--format", "c", "--precision", "float64", "--out", tmp_path / "c")
    assert code == 0
    assert out == f"{tmp_path / 'c'}: 13 files\n"
    assert "typedef double ar_real" in (tmp_path / "c" / "src" / "arcreach_robot.h").read_text()
    _, out, _ = run("export", "two-section", "--format", "c", "--out", tmp_path / "c", "--json")
    assert all((tmp_path / path).is_file() for path in json.loads(out)["files"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("two-section", "--out", "c", "--format", "rust"), "--format rust is not known; give c"),
        (("two-section", "--out", "c", "--format", "c", "--q", Q), "--q has no meaning with --format c"),
        (("two-section", "--out", "c", "--format", "c", "--all-poses"), "--all-poses has no meaning with --format c"),
        (("two-section", "--out", "c", "--format", "c", "--precision", "half"), "give 'float32' or 'float64'"),
        (("two-section", "--out", "c", "--format", "c", "--method", "fabrikx"), "give auto"),
        (("two-section", "--out", "a.scad", "--precision", "float32"), "without --format c"),
        (("librergm3-matrix", "--out", "c", "--format", "c"), "is not a chain of elements"),
        (("two-section", "--out", "arm.c"), "give --format c and a folder as --out"),
        (("two-section", "--out", "body.step"), "give .urdf, .stl, .glb, .scad, .csv"),
        (("two-section", "--out", "no/such/folder/body.stl"), "folder does not exist"),
        (("two-section", "--out", "body.csv"), "give --path or --to"),
        (("two-section", "--out", "body.csv", "--q", Q), "--q has no meaning for .csv; give --path or --to"),
        (("ur5", "--out", "arm.urdf", "--q", "0,0,0,0,0,0"), "leave it out"),
        (("two-section", "--out", "body.stl", "--path", "path.csv"), "--path has no meaning for .stl; give --q"),
        (("two-section", "--out", "a.scad", "--path", "path.csv", "--q", Q), "both given"),
        (("two-section", "--out", "a.scad", "--points", 3), "without --path"),
        (("two-section", "--out", "a.scad", "--all-poses"), "--all-poses has no meaning without --path"),
        (("two-section", "--out", "a.scad", "--axis", "0,0,1"), "without --to"),
        (("two-section", "--out", "a.scad", "--method", "auto"), "without --to"),
        (("two-section", "--out", "arm.urdf"), "URDF has no joint for"),
        (("librergm3-matrix", "--out", "body.stl"), "has no body"),
        (("librergm3-matrix", "--out", "body.csv", "--path", "path.csv", "--points", 5), "has no body"),
    ],
)
def test_bad_input_is_exit_code_2(run, arguments, words):
    if "matrix" in arguments[0]:
        pytest.importorskip("sympy")
    code, out, err = run("export", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert len(err.strip().splitlines()) == 1
