import csv
import io
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest

import arcreach as ar
from arcreach.cli.method_options import parse_options
from arcreach.cli.targets import read_targets

ARM = ar.load_robot("three-section")
REACHABLE = ("ik", "three-section", "--to", "20mm,10mm,92mm", "--axis", "0.3,0.15,1")


def test_one_target(run):
    code, out, _ = run(*REACHABLE)
    assert code == 0
    assert out.startswith("reached: ")
    assert all(name in out for name in ARM.coordinates)
    code, out, _ = run(*REACHABLE, "--json")
    data = json.loads(out)
    assert data["reached"] is True
    pose = ARM.tip_pose(data["q"])
    np.testing.assert_allclose(pose[:3, 3], [0.02, 0.01, 0.092], atol=1e-6)


def test_not_reached_is_exit_code_1(run):
    code, out, _ = run("ik", "three-section", "--to", "0,0,1m", "--json")
    assert code == 1
    assert json.loads(out)["status"] == "OUT_OF_REACH"


@pytest.mark.parametrize("rotation", ["1,0,0,0,-1,0,0,0,-1", "0,2,0,0", "ZYX:0,0,180deg", "xzx: 90deg,0, 0.25turn"])
def test_rotations_as_matrix_quaternion_or_euler_angles(run, rotation):
    code, out, _ = run("ik", "ur5", "--to", "400mm,100mm,300mm", "--rotation", rotation, "--json")
    assert code == 0
    pose = ar.load_robot("ur5").tip_pose(json.loads(out)["q"])
    np.testing.assert_allclose(pose[:3, :3], np.diag([1, -1, -1]), atol=2e-3)


@pytest.mark.compiled
def test_all_branches(run):
    code, out, _ = run("ik", "ur5", "--to", "400mm,100mm,300mm", "--rotation", "0,1,0,0", "--all", "--json")
    assert code == 0
    assert len(json.loads(out)) == 8
    _, out, _ = run("ik", "ur5", "--to", "400mm,100mm,300mm", "--rotation", "0,1,0,0", "--all")
    assert out.startswith("8 solutions")


@pytest.mark.compiled
def test_the_posture_is_chosen(run):
    call = ("ik", "panda", "--to", "400mm,200mm,300mm", "--axis", "0,0,-1", "--json")
    narrow = json.loads(run(*call, "--prefer", "rest", "--limits", "joint1=-10deg,10deg")[1])
    assert narrow["reached"]
    assert abs(narrow["q"][0]) <= math.radians(10.0)
    held = json.loads(run(*call, "--hold", "joint3", "--hold", "joint5")[1])
    assert held["q"][2] == held["q"][4] == 0.0


def test_a_redundant_robot_has_infinitely_many_solutions(run):
    target = ("ik", "iiwa-14", "--to", "400mm,100mm,300mm", "--rotation", "0,1,0,0", "--all")
    code, out, _ = run(*target)
    assert code == 0
    first, *rest = out.splitlines()
    motion = "the robot can move in 1 direction while the tip stays at the target"
    # The effort is that of the search for all of them.
    assert re.fullmatch(f"infinitely many solutions: {motion}; 5 of them; [0-9]+ iterations, .*s", first)
    assert all("iteration" not in line for line in rest)
    assert sum(line.startswith("reached: ") for line in rest) == 5
    assert "found from 1 start\n" in out
    assert "starts" not in out.replace("found from 2 starts", "")
    code, out, err = run(*target, "--most", "3", "--json")
    assert len(json.loads(out)) == 3
    assert err.startswith("infinitely many solutions: ")
    # Nothing is said of infinitely many where there is none.
    code, out, err = run("ik", "iiwa-14", "--to", "400,100,300", "--all")
    assert code == 1
    assert out.startswith("0 solutions; the nearest:\nout of reach: ")
    assert "positions are metres: were millimetres meant?\n" in out
    code, out, err = run("ik", "iiwa-14", "--to", "400,100,300", "--all", "--json")
    assert (code, json.loads(out)) == (1, [])
    assert "0 solutions; the nearest: out of reach: " in err


OWN = '''
import arcreach as ar

def rest(robot, target):
    """Always the rest pose."""
    return robot.neutral

def outside(robot, target):
    return robot.upper + 1.0

def broken(robot, target):
    raise RuntimeError("no answer")

def short(robot, target):
    return [1.0, 2.0]

METHOD = ar.Method("ccd", "takes the name of another", "derived", run=lambda problem: None)
'''


def test_a_method_of_ones_own(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_for_ik.py").write_text(OWN)
    pose = ARM.tip_pose(ARM.neutral)
    to = ",".join(map(repr, pose[:3, 3].tolist()))
    code, out, _ = run("ik", "three-section", "--to", to, "--method", "own_for_ik:rest", "--trace", "t.csv", "--json")
    data = json.loads(out)
    assert (code, data["method"], data["q"]) == (0, "own_for_ik:rest", ARM.neutral.tolist())
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 2
    assert "own_for_ik:rest" not in ar.methods()
    code, out, _ = run("ik", "three-section", "--to", to, "--method", "own_for_ik:outside", "--json")
    assert code == 1
    assert ARM.within_limits(json.loads(out)["q"])
    for name, words in (
        ("broken", "failed on target 0: RuntimeError('no answer')"),
        ("short", "gave [1.0, 2.0] for target 0; give a configuration (6,)"),
        ("OWN", "cannot be loaded"),
        ("METHOD", "the name 'ccd' is already used by another method"),
    ):
        code, out, err = run("ik", "three-section", "--to", to, "--method", f"own_for_ik:{name}")
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1


def test_method_start_tolerances_and_trace(run, tmp_path):
    trace = tmp_path / "trace.csv"
    code, out, _ = run(
        *REACHABLE,
        "--method",
        "jacobian",
        "--start",
        "10deg,0,10deg,0,10deg,0",
        "--position-tol",
        "10um",
        "--angle-tol",
        "0.1deg",
        "--max-time",
        "5",
        "--trace",
        trace,
        "--json",
    )
    data = json.loads(out)
    assert data["method"] == "jacobian"
    rows = list(csv.DictReader(io.StringIO(trace.read_text())))
    assert len(rows) == data["iterations"] + 1
    assert float(rows[-1]["position_error"]) == pytest.approx(data["position_error"])
    assert code == (0 if data["reached"] else 1)


def test_options_of_a_method_and_a_robot_given_as_a_matrix(run, tmp_path):
    pytest.importorskip("sympy")
    log = tmp_path / "run.csv"
    solved = []
    for robot in ("librergm3", "librergm3-matrix"):
        code, out, _ = run(
            "ik",
            robot,
            "--to",
            "200mm,50mm,1060mm",
            "--method",
            "hierarchical",
            "--start",
            "0,0,45deg",
            "--position-tol",
            "10um",
            "--option",
            "order=[q0, q2, q1]",
            "--option",
            "divisions=50",
            "--option",
            "ranges=[360deg, 600mm, 300deg]",
            "--option",
            "jump=none",
            "--log",
            log,
            "--json",
        )
        assert code == 0
        solved.append(json.loads(out)["q"])
        rows = list(csv.DictReader(io.StringIO(log.read_text())))
        assert len(rows) == json.loads(out)["iterations"] + 1
        assert {float(row["divisions"]) for row in rows} >= {50.0, 62.0, 77.0}
        assert float(rows[-1]["position_error"]) <= 1e-5
    np.testing.assert_allclose(*solved, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=3", 3),
        ("a=-2.5e-3", -2.5e-3),
        ("a=90deg", np.pi / 2),
        ("a = 20 mm", 0.02),
        ("a=farthest", "farthest"),
        ("a='two words'", "two words"),
        ('a="1"', "1"),
        ("a=[section-1.bend, 2, 'x']", ["section-1.bend", 2, "x"]),
        ("a=[]", []),
        ("a=none", None),
        ("a=True", True),
    ],
)
def test_option_values(text, value):
    assert parse_options([text]) == {"a": value}


def targets_file(tmp_path, n=20):
    poses = ARM.tip_pose(ARM.sample(n, seed=0))
    path = tmp_path / "targets.csv"
    lines = ["x,y,z,ax,ay,az"]
    lines += [",".join(map(repr, [*pose[:3, 3].tolist(), *pose[:3, 2].tolist()])) for pose in poses]
    path.write_text("\n".join(lines))
    return path, poses


def test_a_file_of_targets(run, tmp_path):
    path, poses = targets_file(tmp_path)
    code, out, err = run("ik", "three-section", "--file", path)
    assert code == 0
    assert "20 of 20 targets reached" in err
    rows = list(csv.DictReader(io.StringIO(out)))
    q = np.array([[float(row[name]) for name in ARM.coordinates] for row in rows])
    np.testing.assert_allclose(ARM.tip_pose(q)[:, :3, 3], poses[:, :3, 3], atol=1e-6)
    _, out, _ = run("ik", "three-section", "--file", path, "--json")
    assert [row["status"] for row in json.loads(out)] == ["REACHED"] * 20


def test_a_header_in_capitals(run, tmp_path):
    path, _ = targets_file(tmp_path, 3)
    path.write_text(path.read_text().replace("x,y,z,ax,ay,az", "X, Y,Z,AX,Ay,az"))
    code, _, err = run("ik", "three-section", "--file", path)
    assert code == 0
    assert "3 of 3 targets reached" in err


@pytest.mark.compiled
def test_an_interrupt_keeps_what_was_solved(run, tmp_path, monkeypatch):
    from arcreach.cli.commands import ik

    path, _ = targets_file(tmp_path, 40)
    solved = []

    def stopped(*arguments, **options):
        if len(solved) == 2:
            raise KeyboardInterrupt
        solved.append(ar.solve_batch(*arguments, **options))
        return solved[-1]

    monkeypatch.setattr(ik, "solve_batch", stopped)
    # Pieces of 10 and 20, however long they take.
    monkeypatch.setattr(ik, "CHUNK_SECONDS", 1e9)
    code, _, err = run("ik", "three-section", "--file", path, "--out", tmp_path / "out.csv")
    assert code == 130
    assert "interrupted: 30 of 30 targets reached, 10 not tried" in err
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    np.testing.assert_array_equal([float(row["section-1.bend"]) for row in rows[:10]], solved[0].q[:, 0])
    assert len(rows) == 30


# Sends Ctrl-C to its own process at the first target of the second piece.
STOPPING = """
import os, signal

signal.signal(signal.SIGINT, signal.default_int_handler)
calls = 0

def rest(robot, target):
    global calls
    calls += 1
    if calls == 11:
        os.kill(os.getpid(), signal.SIGINT)
    return robot.neutral
"""


@pytest.mark.compiled
def test_the_signal_of_ctrl_c_ends_without_a_traceback(tmp_path):
    path, _ = targets_file(tmp_path, 40)
    (tmp_path / "stopping.py").write_text(STOPPING)
    command = ("ik", "three-section", "--file", path, "--method", "stopping:rest", "--out", "out.csv")
    done = subprocess.run(
        [sys.executable, "-m", "arcreach", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    # The first piece is complete, the second was interrupted.
    assert done.stderr.splitlines()[-1] == "interrupted: 0 of 10 targets reached, 30 not tried"
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 11


def test_slips_of_units_get_a_hint(run, tmp_path):
    words = "positions are metres: were millimetres meant?"
    code, out, err = run("ik", "three-section", "--to", "20,10,92")
    assert (code, err) == (1, "")
    assert out.splitlines()[0].endswith(words)
    _, out, err = run("ik", "three-section", "--to", "20,10,92", "--json")
    assert json.loads(out)["status"] == "OUT_OF_REACH"
    assert err.rstrip().endswith(words)
    path = tmp_path / "targets.csv"
    path.write_text("x,y,z\n20,10,92\n")
    assert words in run("ik", "three-section", "--file", path)[2]
    _, _, err = run("ik", "three-section", "--to", "20mm,10mm,92mm", "--start", "30,0,0,0,0,0")
    assert err.startswith("--start: hint: section-1.bend = 30 is 4.8 turns; angles are radians: were degrees meant?")
    assert run("ik", "three-section", "--to", "20mm,10mm,92mm", "--start", "30deg,0,0,0,0,0")[2] == ""


def test_a_start_outside_the_limits_is_changed(run, tmp_path):
    start = "90deg,0,40mm,0,0,50mm,0,0,50mm"
    (tmp_path / "targets.csv").write_text("x,y,z\n0,0,0.12\n")
    for command in (
        ("ik", "extensible-sections", "--to", "0,0,120mm"),
        ("follow", "extensible-sections", "--waypoints", tmp_path / "targets.csv"),
    ):
        code, _, err = run(*command, "--start", start)
        assert code == 0
        # The length is between its limits, but the bend is too large for it.
        assert "start: extensible-1.length = 40 mm is changed to " in err
        assert " to keep the limits" in err


def test_results_by_ending(run, tmp_path):
    path, _ = targets_file(tmp_path)
    code, out, _ = run("ik", "three-section", "--file", path, "--out", tmp_path / "a.csv", "--json")
    assert (code, len(json.loads(out))) == (0, 20)
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 21
    assert run("ik", "three-section", "--file", path, "--out", tmp_path / "a.json")[0] == 0
    assert len(json.loads((tmp_path / "a.json").read_text())) == 20
    polars = pytest.importorskip("polars")
    assert run("ik", "three-section", "--file", path, "--out", tmp_path / "a.parquet")[0] == 0
    assert polars.read_parquet(tmp_path / "a.parquet").height == 20


def test_a_json_file_has_null_for_infinity(run, tmp_path):
    path, _ = targets_file(tmp_path, 2)
    (tmp_path / "empty.toml").write_text("obstacles = []\n")
    arguments = ("ik", "three-section", "--file", path, "--scene", tmp_path / "empty.toml")
    assert run(*arguments, "--out", tmp_path / "a.json")[0] == 0
    written = json.loads((tmp_path / "a.json").read_text())
    assert [row["clearance"] for row in written] == [None, None]
    assert [row["clearance"] for row in json.loads(run(*arguments, "--json")[1])] == [None, None]


def test_parquet_without_polars_names_the_extra(run, tmp_path, monkeypatch):
    path, _ = targets_file(tmp_path, 2)
    monkeypatch.setitem(sys.modules, "polars", None)
    code, _, err = run("ik", "three-section", "--file", path, "--out", tmp_path / "a.parquet")
    assert code == 2
    assert "arcreach[cluster]" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("three-section",), "exactly one of --to or --file"),
        (("three-section", "--to", "1,2"), "--to has 2 values; give 3"),
        (("three-section", "--to", "1deg,2,3"), "--to: "),
        (("three-section", "--to", "0,0,nan"), "--to: "),
        (("three-section", "--to", "0,0,1", "--axis", "0,0,0"), "zero"),
        (("three-section", "--to", "0,0,1", "--axis", "0,0,x"), "--axis: 'x' is not a number"),
        (("three-section", "--to", "0,0,1", "--axis", "0,0,1", "--rotation", "1,0,0,0"), "both given"),
        (
            ("three-section", "--to", "0,0,1", "--rotation", "1,0,0"),
            "--rotation has 3 values; give 4 or 9 (a quaternion or",
        ),
        (("ur5", "--to", "0,0,1", "--rotation", "90deg,0,0"), "for Euler angles name their convention, as ZYX:90deg"),
        (("three-section", "--to", "0,0,1", "--rotation", "0,0,0,0"), "quaternion is zero"),
        (("three-section", "--to", "0,0,1", "--rotation", "ZZX:0,0,0"), "convention = 'ZZX' is not accepted"),
        (("three-section", "--to", "0,0,1", "--rotation", "ZYX:0,0"), "--rotation has 2 values; give 3"),
        (("three-section", "--to", "0,0,1", "--rotation", "ZYX:0,0,1mm"), "--rotation: '1mm' has the unknown unit"),
        (("ur5", "--to", "0,0,1", "--most", "3"), "--most has no meaning without --all"),
        (("ur5", "--to", "0,0,1", "--method", "no_such_module:f"), "'no_such_module:f' cannot be loaded"),
        (("three-section", "--to", "0,0,1", "--rotation", "1.1,0,0,0,1.1,0,0,0,1.1"), "not a rotation"),
        (("three-section", "--to", "0,0,1", "--method", "magic"), "method = 'magic'"),
        (("three-section", "--to", "0,0,1", "--method", "fabrikx", "--variant", "x"), "variant = 'x'"),
        (("three-section", "--to", "0,0,1", "--start", "1,2"), "give 6"),
        (("three-section", "--to", "0,0,1", "--prefer", "0.5"), "--prefer: has 1 values"),
        (("three-section", "--to", "0,0,1", "--prefer", ""), "--prefer '' is not known; give one of rest"),
        (("ur5", "--to", "0,0,1", "--limits", "base"), "give NAME=LOW,HIGH"),
        (("ur5", "--to", "0,0,1", "--limits", "base=1mm,2mm"), "--limits: base: "),
        (("ur5", "--to", "0,0,1", "--limits", "base=0,1", "--limits", "base=0,2"), "--limits of base are given twice"),
        (
            ("three-section", "--to", "0,0,1", "--limits", "section-1.bend=0,90deg"),
            "limits['section-1.bend'] = 0° to 90° is beyond the robot's own, 0° to 60°; give narrower ones",
        ),
        (
            ("telescopic-sections", "--to", "0,0,1", "--limits", "telescopic-1.length=0,60mm"),
            "own, 0 mm to 50 mm; give",
        ),
        (("ur5", "--to", "0,0,1", "--hold", "knee"), "hold = ['knee'] is not accepted"),
        (("three-section", "--to", "0,0,1", "--max-time", "-1"), "max_time = -1"),
        (("three-section", "--to", "0,0,1", "--position-tol", "0"), "position_tol = 0"),
        (("three-section", "--to", "0,0,1", "--position-tol", "5deg"), "--position-tol: '5deg' has the unknown unit"),
        (
            ("librergm3-matrix", "--to", "0,0,1"),
            "method 'auto' cannot serve robot 'librergm3-matrix': it needs a chain",
        ),
        (("librergm3-matrix", "--to", "0,0,1", "--all"), "--all needs a chain of elements"),
        (("three-section", "--to", "0,0,1", "--option", "divisions"), "give name=value"),
        (("three-section", "--to", "0,0,1", "--option", "=3"), "give name=value"),
        (("three-section", "--to", "0,0,1", "--option", "a=1", "--option", "a=2"), "--option a is given twice"),
        (("three-section", "--to", "0,0,1", "--option", "a=[1,2"), "lacks its closing bracket"),
        (("three-section", "--to", "0,0,1", "--option", "a=1+1"), "option a: '1+1' is not accepted"),
        (("three-section", "--to", "0,0,1", "--option", "a=[1,[2]]"), "option a: '[2]' is not accepted"),
        (("three-section", "--to", "0,0,1", "--option", "start=3"), "method 'auto' has no option 'start'"),
        (
            ("three-section", "--to", "0,0,1", "--option", "max_iterations=5"),
            "none; --max-iterations is an option of ik",
        ),
        (("three-section", "--to", "0,0,1", "--all", "--option", "a=1"), "--option has no meaning with --all"),
        (("three-section", "--file", "missing.csv"), "no such file"),
        (("three-section", "--file", "missing.csv", "--axis", "0,0,1"), "--axis has no meaning with --file"),
        (("three-section", "--file", "missing.csv", "--out", "none/a.csv"), "its folder does not exist"),
        (("three-section", "--to", "0,0,1", "--out", "a.csv"), "--out has no meaning with --to"),
        (("three-section", "--to", "0,0,1", "--all", "--method", "fabrikx"), "--method has no meaning with --all"),
    ],
)
def test_bad_input(run, arguments, words):
    code, out, err = run("ik", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("x,y,z\n", "has a first line of names only; give a target per line after it"),
        ("x,y\n1,2\n", "lacks 'z'"),
        ("x,y,z\n1,2\n", "line 2: has 2 values"),
        ("x,y,z\n1,2,a\n", "line 2: z: "),
        ("x,y,z\n\n\n1,2,a\n", "line 4: z: "),
        ("x,y,z,ax,ay\n0,0,1,0,0\n", "lacks 'az'"),
        ("x,y,z,x\n0,0,1,0\n", "repeats 'x'"),
        ("x,y,z,ax,ay,az,r00\n", "axes and rotations"),
        ("x,y,z,ax,ay,az,ZYX_1\n", "axes and angles"),
        ("x,y,z,qx,qy,qz\n0,0,1,0,0,0\n", "lacks 'qw'"),
        ("x,y,z,qw,qx,qy,qz\n0,0,1,0,0,0,0\n", "the quaternion of target 0 is zero"),
        ("x,y,z,ZYX_1,ZYX_2,zyx_3\n", "lacks 'ZYX_3'"),
        ("x,y,z,zYX_1,zYX_2,zYX_3\n", "convention = 'zYX' is not accepted"),
        ("x,y,z,ZYX_1,ZYX_2,ZYX_3\n0,0,1,0,0,1mm\n", "line 2: ZYX_3: '1mm' has the unknown unit 'mm'"),
        ("x,y,z\n" + "1" * 200_000, "is not valid CSV"),
    ],
)
def test_bad_files(run, tmp_path, text, words):
    path = tmp_path / "targets.csv"
    path.write_text(text)
    code, _, err = run("ik", "three-section", "--file", path)
    assert run("ik", "three-section", "--file", path, "--out", tmp_path / "out.xyz")[0] == 2
    assert code == 2
    assert words in err


def test_a_file_of_euler_angles(tmp_path):
    path = tmp_path / "targets.csv"
    path.write_text("x,y,z,ZYX_1,ZYX_2,ZYX_3\n1mm,2mm,3mm,90deg,0,10deg\n0,0,0,0.1,0.2,0.3\n")
    angles = [[math.pi / 2, 0, math.radians(10)], [0.1, 0.2, 0.3]]
    assert read_targets(path) == ar.Targets.from_euler([[0.001, 0.002, 0.003], [0, 0, 0]], angles, "ZYX")


def test_a_file_of_quaternions_in_any_order_of_columns(tmp_path):
    path = tmp_path / "targets.csv"
    path.write_text("x,y,z,qx,qy,qz,qw\n10mm,0,90mm,0,0,2,0\n0,0,0.1,0,0,0,1\n")
    wanted = [ar.Target([0.01, 0, 0.09], quaternion=[0, 0, 0, 2]), ar.Target([0, 0, 0.1], rotation=np.eye(3))]
    assert read_targets(path) == ar.Targets.from_list(wanted)


def test_columns_that_are_not_read_are_named(run, tmp_path):
    path = tmp_path / "targets.csv"
    path.write_text("x,y,z,roll,pitch,yaw\n0,0,0.09,0,0,1\n")
    assert "columns that are not read: roll, pitch, yaw" in run("ik", "three-section", "--file", path)[2]


def test_hints_at_degrees_of_a_rotation(run):
    arguments = "ik", "ur5", "--to", "400mm,100mm,300mm", "--rotation"
    assert "were degrees meant?" in run(*arguments, "ZYX:0,0,180")[2]
    assert "were degrees meant?" not in run(*arguments, "ZYX:0,0,540deg")[2]


def test_an_unknown_preference_names_the_known_ones(run):
    code, _, err = run("ik", "three-section", "--to", "0,0,90mm", "--prefer", "resting")
    assert code == 2
    known = "give one of rest, middle, limits, or a configuration; did you mean 'rest'?"
    assert err == f"error: --prefer 'resting' is not known; {known}\n"


def test_methods(run):
    _, out, _ = run("methods")
    assert all(name in out for name in ar.methods())
    _, out, _ = run("methods", "--json")
    assert [entry["name"] for entry in json.loads(out)] == list(ar.methods())
    _, out, _ = run("methods", "--markdown")
    assert out.startswith("| method |")
    assert run("methods", "--markdown", "--json")[::2] == (
        2,
        "error: --markdown and --json are both given; give one of them\n",
    )


def test_pulls_are_shown_beside_coordinates(run, tmp_path):
    robot = ar.load_robot("tendon-driven")
    _, out, _ = run("ik", "tendon-driven", "--to", "30mm,20mm,160mm", "--actuators")
    assert all(name in out for name in robot.tendons)
    data = json.loads(run("ik", "tendon-driven", "--to", "30mm,20mm,160mm", "--actuators", "--json")[1])
    assert data["tendons"] == list(robot.tendons)
    assert data["pulls"] == robot.pulls(data["q"]).tolist()
    path = tmp_path / "targets.csv"
    path.write_text("x,y,z\n0.03,0.02,0.16\n0.02,0.02,0.17\n")
    run("ik", "tendon-driven", "--file", path, "--actuators", "--out", tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    q = [[float(row[name]) for name in robot.coordinates] for row in rows]
    found = [[float(row[f"{name}_mm"]) for name in robot.tendons] for row in rows]
    assert found == (robot.pulls(q) * 1e3).tolist()
    assert "--actuators needs tendons" in run("ik", "three-section", "--to", "0,0,0.09", "--actuators")[2]


def test_columns_of_targets_may_name_their_units(run, tmp_path):
    path = tmp_path / "targets.csv"
    call = ("ik", "ur5", "--file", path)
    path.write_text("x,y,z,ZYX_1,ZYX_2,ZYX_3\n0.4,0.1,0.3,0,0,180deg\n")
    expected = run(*call)[1].rpartition(",")[0]
    path.write_text("X_mm,y_mm,z_m,ZYX_1_deg,ZYX_2_deg,ZYX_3_deg,note_mm\n400,100,0.3,0,0,180,7\n")
    code, out, err = run(*call)
    assert (code, out.rpartition(",")[0]) == (0, expected)
    assert "columns that are not read: note_mm\n" in err
    path.write_text("x,y,z,x_mm\n0.4,0.1,0.3,7\n")
    assert "columns that are not read: x_mm\n" in run(*call)[2]


def test_tables_with_semicolons_are_explained(run, tmp_path):
    path = tmp_path / "targets.csv"
    for text in ("x;y;z\n0.02;0.01;0.09\n", "0,02;0,01;0,09\n"):
        path.write_text(text)
        code, _, err = run("ik", "three-section", "--file", path)
        assert code == 2
        assert "line 1: has semicolons; separate columns by commas" in err


def test_a_trace_that_is_cut_off_is_noted(run, tmp_path, monkeypatch):
    monkeypatch.setattr("arcreach.ik.solve.TRACE_ROWS", 5)
    monkeypatch.setattr("arcreach.cli.commands.ik.TRACE_ROWS", 5)
    path = tmp_path / "trace.csv"
    call = ("ik", "three-section", "--to", "40mm,20mm,70mm", "--axis", "1,0,0", "--method", "lm", "--trace", path)
    _, _, err = run(*call)
    assert "its first 5 rows; the solve took " in err
    assert len(path.read_text().splitlines()) == 6


def test_unknown_methods_get_a_suggestion(run):
    assert run("ik", "ur5", "--to", "0.3,0.3,0.3", "--method", "atuo")[2].endswith("; did you mean 'auto'?\n")
    for name, known in (("LM", "lm"), ("Chords", "chords")):
        err = run("ik", "ur5", "--to", "0.3,0.3,0.3", "--method", name)[2]
        assert err.endswith(f"svd-dls; did you mean '{known}'?\n")
    assert run("experiment", "run", "comp")[2].endswith("; did you mean 'compare'?\n")
    with pytest.raises(ar.TargetError, match="did you mean 'lengths'"):
        ar.fit(ar.load_robot("tendon-driven"), [], free=["length"])


def test_results_keep_a_joint_called_status(run, tmp_path):
    robot = tmp_path / "robot.toml"
    ar.save_robot(ar.Robot([ar.Revolute((0, 0, 1), name="status"), ar.Section(0.1, 1.5)]), robot)
    (tmp_path / "targets.csv").write_text("x,y,z\n0.03491895,0.0147635,0.08966951\n")
    out = run("ik", robot, "--file", tmp_path / "targets.csv")[1]
    names, values = (line.split(",") for line in out.splitlines()[:2])
    row = dict(zip(names, values, strict=True))
    assert row["result_status"] == "REACHED"
    assert math.isfinite(float(row["status"]))
