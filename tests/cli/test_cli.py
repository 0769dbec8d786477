import csv
import io
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import typer

import arcreach as ar
from arcreach._jit import INTERPRETING_LINE
from arcreach.cli import app


def test_version(run):
    assert run("--version") == (0, f"arcreach {ar.__version__}\n", "")


def test_help_names_the_commands_and_exit_codes(run):
    _, out, _ = run("--help")
    for word in ("robots", "info", "fk", "check", "warm-up", "Exit codes", "--install-completion"):
        assert word in out


def test_robots(run):
    code, out, _ = run("robots")
    assert code == 0
    assert all(name in out for name in ar.catalogue())
    code, out, _ = run("robots", "--json")
    rows = json.loads(out)
    assert [row["name"] for row in rows] == list(ar.catalogue())
    assert {"name", "dof", "reach", "source"} == set(rows[0])


def test_robots_without_sympy_still_lists_all(run, monkeypatch):
    from arcreach.files import catalogue_robot

    catalogue_robot.cache_clear()
    monkeypatch.setitem(sys.modules, "sympy", None)
    _, out, _ = run("robots", "--json")
    row = next(row for row in json.loads(out) if row["name"] == "librergm3-matrix")
    assert "arcreach[symbolic]" in row["source"]
    catalogue_robot.cache_clear()


@pytest.mark.parametrize("name", ar.catalogue())
def test_info_of_every_robot(run, name):
    robot = ar.load_robot(name)
    code, out, _ = run("info", name)
    assert code == 0
    assert all(coordinate in out for coordinate in robot.coordinates)
    _, out, _ = run("info", name, "--json")
    data = json.loads(out)
    assert data["dof"] == robot.dof == len(data["coordinates"])
    assert len(data["elements"]) == len(robot.elements)


def test_info_reads_for_people(run):
    _, out, _ = run("info", "mixed-sections")
    for words in ("8 dof", "at most 0.15 m", "25 mm + up to 25 mm", "extensible.length", "37.5 mm", "-180°"):
        assert words in out


def test_fk_of_one_configuration(run):
    robot = ar.load_robot("three-section")
    code, out, err = run("fk", "three-section", "--q", "30deg,0.5,20 deg,-90deg,0,0")
    assert code == 0
    assert err == "" or "Compiling" in err
    q = [math.pi / 6, 0.5, math.pi / 9, -math.pi / 2, 0, 0]
    x = robot.tip_pose(q)[0, 3] * 1e3
    assert f"x {x:.6f}" in out
    _, out, _ = run("fk", "three-section", "--q", "30deg,0.5,20 deg,-90deg,0,0", "--json")
    data = json.loads(out)
    np.testing.assert_array_equal(data["pose"], robot.tip_pose(q))
    assert data["within_limits"] is True


def test_fk_takes_lengths_with_units_and_notes_broken_limits(run):
    code, out, err = run("fk", "telescopic-sections", "--q", "60deg,0,10mm,0,0,50mm,0,0,2cm", "--json")
    assert code == 0
    assert json.loads(out)["within_limits"] is False
    _, _, err = run("fk", "telescopic-sections", "--q", "60deg,0,10mm,0,0,50mm,0,0,2cm")
    assert "outside the robot's limits" in err


def test_degrees_without_a_unit_get_a_hint(run, tmp_path):
    hint = "hint: section-1.bend = 30 is 4.8 turns; angles are radians: were degrees meant?\n"
    code, out, err = run("fk", "three-section", "--q", "30,0,45,90,0,0")
    assert code == 0
    assert err.startswith(f"--q: {hint}")
    assert "hint" not in out
    assert "hint" not in run("fk", "three-section", "--q", "30rad,0,45rad,90rad,0,0")[2]
    assert run("fk", "three-section", "--q", "30deg,0,45deg,90deg,0,0")[2] == ""
    assert run("fk", "three-section", "--q", "1.0,3.1,0,0,0,0.")[2] == ""
    path = tmp_path / "q.csv"
    path.write_text("0,0,0,0,0,0\n30,0,0,0,0,0\n30,0,0,0,0,0\n")
    assert run("fk", "three-section", "--file", path)[2].endswith(f"q.csv, line 2: {hint}")


def test_names_of_coordinates_in_capitals(run, tmp_path):
    path = tmp_path / "q.csv"
    q = "1,0.1,0,0.2,0,0.3"
    plain = run("fk", "three-section", "--q", "0.1,1,0.2,0,0.3,0", "--json")[1]
    names = "Section-1.Direction,SECTION-1.BEND,section-2.direction,section-2.bend,section-3.direction,Section-3.bend"
    path.write_text(f"{names}\n{q}\n")
    found = json.loads(run("fk", "three-section", "--file", path, "--json")[1])["poses"][0]
    assert found["pose"] == json.loads(plain)["pose"]


def test_fk_of_a_symbolic_robot(run):
    code, out, _ = run("fk", "librergm3-matrix", "--q=-10deg,5mm,45deg", "--json")
    assert code == 0
    expected = ar.load_robot("librergm3").tip_pose([-math.pi / 18, 0.005, math.pi / 4])
    np.testing.assert_allclose(json.loads(out)["pose"], expected, atol=1e-15)


def test_the_case_of_a_header_does_not_matter(run, tmp_path):
    path = tmp_path / "robot.toml"
    ar.save_robot(ar.Robot([ar.Prismatic(0.0, 0.1, name="slide_m"), ar.Section(0.1, 1.0)]), path)
    (tmp_path / "q.csv").write_text("Slide_m,Section-1.bend,section-1.direction\n0.05,0.0,0.0\n")
    out = run("fk", path, "--file", tmp_path / "q.csv", "--json")[1]
    assert json.loads(out)["poses"][0]["pose"][2][3] == pytest.approx(0.15)


def test_fk_of_a_file_with_and_without_header(run, tmp_path):
    robot = ar.load_robot("two-section")
    Q = robot.sample(5, seed=0)
    path = tmp_path / "q.csv"
    path.write_text("\n".join(",".join(map(repr, map(float, q))) for q in Q))
    code, out, _ = run("fk", "two-section", "--file", path, "--json")
    assert code == 0
    poses = [row["pose"] for row in json.loads(out)["poses"]]
    np.testing.assert_array_equal(poses, robot.tip_pose(Q))
    order = [2, 0, 3, 1]
    lines = [",".join(["note", *(robot.coordinates[k] for k in order)])]
    lines += [",".join(["x", *(repr(float(q[k])) for k in order)]) for q in Q]
    path.write_text("\n".join(lines) + "\n")
    _, out, _ = run("fk", "two-section", "--file", path, "--json")
    np.testing.assert_array_equal([row["pose"] for row in json.loads(out)["poses"]], robot.tip_pose(Q))
    _, out, _ = run("fk", "two-section", "--file", path)
    rows = list(csv.DictReader(io.StringIO(out)))
    np.testing.assert_array_equal([[float(row[k]) for k in "xyz"] for row in rows], robot.tip_pose(Q)[:, :3, 3])
    assert [row["within_limits"] for row in rows] == ["true"] * 5


BAD_FK = {
    "too few": (["two-section", "--q", "1,2"], ["--q: has 2 values; give 4", "section-1.bend"]),
    "unit": (["two-section", "--q", "1mm,0,0,0"], ["section-1.bend", "unknown unit 'mm'"]),
    "word": (["two-section", "--q", "a,0,0,0"], ["section-1.bend", "'a' is not a valid angle"]),
    "infinite": (["two-section", "--q", "inf,0,0,0"], ["q[0] (section-1.bend) = inf"]),
    "neither": (["two-section"], ["exactly one of --q or --file"]),
    "both": (["two-section", "--q", "0,0,0,0", "--file", "x"], ["exactly one of --q or --file"]),
    "pulls too": (["tendon-driven", "--file", "q.csv", "--pulls", "0"], ["exactly one of", "--pulls"]),
    "too few pulls": (["tendon-driven", "--pulls", "0,0"], ["--pulls: has 2 values; give 9", "section-1.tendon-1"]),
    "pull in degrees": (["tendon-driven", "--pulls", "1deg" + ",0" * 8], ["section-1.tendon-1", "unit 'deg'"]),
    "no tendons": (["two-section", "--pulls", "0"], ["--pulls needs tendons", "two-section", "elements.tendons"]),
    "no actuators": (["librergm3-matrix", "--q", "0,0,0", "--actuators"], ["--actuators needs tendons"]),
    "elastic q": (["tendon-driven", "--q", "0,0,0,0,0,0", "--elastic"], ["--elastic has no meaning"]),
    "both ways": (["tendon-driven", "--pulls", "0", "--actuators"], ["--actuators has no meaning"]),
    "pulls without joints": (
        ["tendon-driven", "--q", "30deg,0,0,0,0,0", "--pulls", "0,0,0,0,0,0,0,0,0"],
        ["--q has no meaning with pulls", "robot 'tendon-driven' has no joints; leave it out"],
    ),
    "empty robot": (["", "--q", "0"], ["source = '' is empty; give a name of the catalogue"]),
    "no robot": (["nope", "--q", "0"], ["'nope' is neither"]),
    "no file": (["two-section", "--file", "nope.csv"], ["nope.csv: no such file"]),
    "thousands of digits": (["two-section", "--q", "1" * 5000 + ",0,0,0"], ["section-1.bend", "5000 characters"]),
    "long robot": (["n" * 10**5, "--q", "0"], ["cannot be read"]),
    "control characters": (["\x1b[31m\n", "--q", "0"], [r"'\x1b[31m\n' is neither"]),
    "tip of a catalogue robot": (["ur5", "--q", "0", "--tip", "t"], ["URDF"]),
}


@pytest.mark.parametrize("case", BAD_FK)
def test_bad_fk_is_one_line_and_exit_code_2(run, case):
    arguments, words = BAD_FK[case]
    code, out, err = run("fk", *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert len(err) < 400
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (",".join(ar.load_robot("two-section").coordinates), "has a first line of names only; give one configuration"),
        ("1,2,3\n", "has 3 values"),
        ("0,0,0,0\n0,x,0,0\n", "line 2: section-1.direction: 'x'"),
        ("section-1.bend,b,c,d\n1,2,3,4\n", "lacks the coordinate 'section-1.direction'"),
        (",".join(ar.load_robot("two-section").coordinates) + "\n1,2,3\n", "line 2: has 3 values"),
        ("0,0,nan,0\n", "section-2.bend: 'nan'"),
        ("\n\n0,0,0,0\n\n0,x,0,0\n", "line 5: section-1.direction: 'x'"),
        ("0,0,0,0\r0,x,0,0\r", "line 2: section-1.direction: 'x'"),
        ("0,0,0," + "0" * 200_000, "line 1: is not valid CSV"),
        (",".join([*ar.load_robot("two-section").coordinates, "section-2.bend"]) + "\n", "'section-2.bend' twice"),
    ],
)
def test_bad_files_of_configurations(run, tmp_path, text, words):
    path = tmp_path / "q.csv"
    path.write_text(text)
    code, _, err = run("fk", "two-section", "--file", path)
    assert code == 2
    assert words in err


def test_fk_of_a_robot_that_does_not_move(run, tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text('[[elements]]\nkind = "link"\ntranslation = [0, 0, 1]\n')
    code, out, _ = run("fk", path, "--q", "")
    assert code == 0
    assert "z 1000.0" in out


def test_check_lists_every_problem(run, tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text('nmae = "x"\n[[elements]]\nkind = "section"\nlength = "1 kg"\nbend_max = 1\n')
    code, out, err = run("check", path)
    assert code == 2
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(str(path)) for line in lines)
    code, out, _ = run("check", path, "--json")
    assert code == 2
    assert len(json.loads(out)["problems"]) == 2
    path.write_text('[[elements]]\nkind = "section"\nlength = "1 mm"\nbend_max = 1\n')
    code, out, _ = run("check", path)
    assert code == 0
    assert "a valid robot file" in out
    code, out, _ = run("check", path, "--json")
    assert json.loads(out) == {"file": str(path), "ok": True, "kind": "robot file", "problems": []}


def test_a_robot_of_many_metres_is_asked_about(run, tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text('[[elements]]\nkind = "section"\nlength = 80\nbend_max = 1\n')
    for command in ("check", "info"):
        code, _, err = run(command, path)
        assert code == 0
        assert "the reach is 80 m; lengths are metres: were millimetres meant?" in err


SCENE = '[[obstacles]]\nkind = "sphere"\ncentre = [0, 0, 1]\nradius = {}\n'
PLANAR = (
    "target = [0.1, 0.2]\n[[elements]]\nkind = 'section'\nlength = 0.3\nbend_max = 1\n"
    "[[obstacles]]\nkind = 'disc'\ncentre = [{}, 0.1]\nradius = 0.01\n"
)


def test_check_reads_scenes(run, tmp_path):
    path = tmp_path / "scene.toml"
    for kind, text, good, words in (
        ("scene", SCENE, "0.1", "obstacles[0]: sphere: radius"),
        ("planar scene", PLANAR, "0.1", "obstacles[0].centre[0] = 'x'"),
    ):
        path.write_text(text.format(good))
        code, out, _ = run("check", path)
        assert (code, out.count("\n")) == (0, 1)
        assert f"{path}: a valid {kind}: " in out
        assert json.loads(run("check", path, "--json")[1])["kind"] == kind
        path.write_text(text.format("-1" if kind == "scene" else '"x"'))
        code, out, err = run("check", path)
        assert (code, out) == (2, "")
        assert words in err


MESH = "kind = 'mesh'\nvertices = [[0, 0, 0], [60, 0, 0], [0, 80, 0], [0, 0, 50]]\nfaces = "


@pytest.mark.parametrize(
    ("entry", "far"),
    [
        ("kind = 'sphere'\ncentre = [30, 5, 110]\nradius = 10", "sphere-1 extends 124 m"),
        ("kind = 'box'\nsize = [100, 20, 30]", "box-1 extends 53.2 m"),
        ("kind = 'capsule'\na = [0, 0, 0]\nb = [0, 0, 90]\nradius = 2\nmargin = 1", "capsule-1 extends 93 m"),
        (MESH + "[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]", "mesh-1 extends 80 m"),
        ("kind = 'disc'\ncentre = [30, 40]\nradius = 10", "disc-1 extends 60 m"),
        ("kind = 'wall'\npoints = [[0, 0], [30, 40]]", "wall-1 extends 50 m"),
        ("kind = 'half-space'\nnormal = [0, 0, 1]\npoint = [0, 0, -110]", ""),
        ("kind = 'sphere'\ncentre = ['30 mm', '5 mm', '110 mm']\nradius = '10 mm'", ""),
    ],
)
def test_obstacles_in_millimetres_are_asked_about(run, tmp_path, entry, far):
    path = tmp_path / "scene.toml"
    path.write_text(f"[[obstacles]]\n{entry}\n")
    code, _, err = run("check", path)
    assert code == 0
    assert err == (f"hint: {far} from the base; lengths are metres: were millimetres meant?\n" if far else "")


def test_no_scene_of_the_catalogue_is_asked_about(run):
    paths = [*(Path(ar.__file__).parent / "files/catalogues").glob("[sp]*/*.toml")]
    assert len(paths) > 10
    for path in paths:
        assert run("check", path)[::2] == (0, "")


def test_a_planar_scene_in_millimetres_is_asked_about(run, tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(PLANAR.format("90"))
    assert "disc-1 extends 90 m" in run("check", path)[2]
    path.write_text(PLANAR.format("0.1").replace("length = 0.3", "length = 300"))
    assert "the reach is 300 m" in run("check", path)[2]


def test_files_of_another_kind_are_named(run, tmp_path):
    for name, content in {
        "arm.urdf.xacro": b'<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="a"/>',
        "part.stl": bytes(84),
        "scene.toml": SCENE.format("0.1").encode(),
        "arm.toml": b'[[elements]]\nkind = "revolute"\n',
        "planar.toml": PLANAR.format("0.1").encode(),
        "notes.txt": b"nothing",
    }.items():
        (tmp_path / name).write_bytes(content)
    ik = ("ik", "two-section", "--to", "0,0,90mm", "--scene")
    for arguments, words in {
        ("info", "arm.urdf.xacro"): "is a xacro file; run xacro on it first",
        ("check", "arm.urdf.xacro"): "is a xacro file; run xacro on it first",
        ("info", "part.stl"): "is a mesh, which has no joints; give it as an obstacle",
        ("info", "scene.toml"): "describes a scene, not a robot",
        (*ik, "arm.toml"): "describes a robot, not a scene",
        (*ik, "planar.toml"): "describes a planar scene",
        (*ik, "notes.txt"): "its ending is not known; give .toml, .stl",
        (*ik, "scene.toml", "--scale", "0.001"): "scale = 0.001 is for a mesh file",
        (*ik[:-1], "--scale", "0.001"): "--scale has no meaning without --scene",
    }.items():
        code, out, err = run(*(str(tmp_path / word) if (tmp_path / word).is_file() else word for word in arguments))
        assert (code, out) == (2, "")
        assert words in err


@pytest.mark.compiled
def test_a_mesh_is_a_scene(run, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((10.0, 10.0, 10.0))
    box.apply_translation((60.0, 0.0, 60.0))
    path = tmp_path / "part.stl"
    box.export(path)
    # The near edge of the box is 55 of its units beside and above the robot's base.
    for options, low, high in (((), 77.0, 78.0), (("--scale", "0.001"), 0.0, 0.06)):
        code, out, err = run("ik", "three-section", "--to", "20mm,10mm,92mm", "--scene", path, *options, "--json")
        assert code == 0
        # One line, without the place in our source that Python adds to a warning.
        assert ("if the file is in millimetres, give scale=0.001" in err) == (not options)
        assert "UserWarning" not in err
        assert low < json.loads(out)["clearance"] < high
    assert run("check", path)[1].startswith(f"{path}: a valid scene: ")


def test_the_commands_that_print_json_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text("utf-8")
    sentence = re.search(r"These commands take `--json`: ([^.]*)\.", page)[1]
    commands = typer.main.get_command(app.app).commands
    having = {name for name, one in commands.items() if any("--json" in option.opts for option in one.params)}
    assert set(re.findall(r"`([a-z-]+)`", sentence)) == having


@pytest.mark.parametrize(
    ("name", "words"), [("ur5", "is a robot of the catalogue"), ("none.toml", "no such file"), ("x.urdf", "no such")]
)
def test_check_needs_a_file_and_names_it_once(run, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("check", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"{name}: {words}")
    assert err.count(f"{name}: ") == 1
    _, out, _ = run("check", name, "--json")
    (problem,) = json.loads(out)["problems"]
    assert problem.startswith(words)


def test_check_prints_json_without_an_extra_too(run, tmp_path, monkeypatch):
    path = tmp_path / "robot.toml"
    path.write_text((Path(ar.__file__).parent / "files/catalogues/robots/librergm3-matrix.toml").read_text("utf-8"))
    monkeypatch.setitem(sys.modules, "sympy", None)
    code, out, _ = run("check", path, "--json")
    assert code == 2
    assert "arcreach[symbolic]" in json.loads(out)["problems"][0]


def test_usage_errors_are_exit_code_2(run):
    assert run("info", "--devices", "--tip", "t")[0] == 2
    assert run("fly")[0] == 2
    assert run("fk")[0] == 2


def test_names_with_markup_are_printed_as_they_are(run, tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text('source = "[bold]x[/nope] :smile: \\u001b[31m \\u009b1m"\n[[elements]]\nkind = "revolute"\n')
    code, out, _ = run("info", path)
    assert code == 0
    assert r"[bold]x[/nope] :smile: \x1b[31m \x9b1m" in out
    _, out, _ = run("info", path, "--json")
    assert not {"\x1b", "\x9b"} & set(out)
    assert json.loads(out)["source"].endswith("\x1b[31m \x9b1m")


def test_long_names_are_never_cut(run, tmp_path):
    path = tmp_path / "robot.toml"
    name = "name-" * 12
    path.write_text(f'[[elements]]\nkind = "section"\nname = "{name}"\nlength = 1\nbend_max = 1\n')
    _, out, _ = run("info", path)
    assert "…" not in out
    assert f"{name}.direction"[-12:] in out.replace(" ", "").replace("\n", "")


def test_completion_of_robot_names():
    from arcreach.cli.arguments import complete_robot

    assert complete_robot("ur") == ["ur5", "ur5-bending-tool"]


# As plain Python all methods at once take half a minute, and compile nothing.
@pytest.mark.compiled
def test_warm_up(run):
    code, out, _ = run("warm-up", "--json")
    assert code == 0
    assert json.loads(out)["seconds"] > 0


def test_warm_up_counts_its_steps(run, monkeypatch):
    from arcreach import _warm_up
    from arcreach.cli import progress

    done = []
    monkeypatch.setattr(_warm_up, "_cpu_steps", lambda: [lambda i=i: done.append(i) for i in range(3)])
    monkeypatch.setattr(progress, "SAY_AFTER", 0.0)
    _, out, told = run("warm-up")
    assert "kernels ready" in out
    assert "compiling: 1 of 3 steps\n" in told
    assert "left" not in told
    _warm_up.run_backwards()
    assert done == [0, 1, 2, 2, 1, 0]


@pytest.mark.parametrize(("frozen", "processes"), [(False, 1), (True, 0)])
def test_a_frozen_program_starts_no_second_process(monkeypatch, frozen, processes):
    from arcreach import _jit, _warm_up

    started = []
    monkeypatch.setenv("ARCREACH_THREADS", "2")
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    monkeypatch.setattr(_warm_up.subprocess, "Popen", lambda command, **_: started.append(command) or Mock())
    with _warm_up._helper():
        _jit.tell_compiling()
        _jit.tell_compiling()
    assert len(started) == processes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--device", "tpu"], "device = 'tpu' is not accepted; give 'cpu', 'cuda' or 'auto'"),
        (["--robot", "ur5"], "robot is for the kernels of a GPU; give device='cuda', or leave it out"),
        (["--device", "auto", "--robot", "nobody"], "nobody"),
    ],
)
def test_a_warm_up_that_cannot_be_is_refused(run, options, words):
    code, _, told = run("warm-up", *options)
    assert code == 2
    assert words in " ".join(told.split())


def arcreach_command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", "from arcreach.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


@pytest.mark.compiled
def test_compiling_is_announced_on_stderr_the_first_time_only(tmp_path):
    # A single call is interpreted, and one line says so; with no time for that it is compiled.
    environment = {**os.environ, "ARCREACH_CACHE_DIR": str(tmp_path), "ARCREACH_QUIET": "0"}
    environment["ARCREACH_INTERPRET"] = "60"
    arguments = ("fk", "two-section", "--q", "1,0,0,0", "--json")
    interpreted = arcreach_command(*arguments, env=environment)
    assert interpreted.stderr == INTERPRETING_LINE + "\n"
    environment["ARCREACH_INTERPRET"] = "0"
    first = arcreach_command(*arguments, env=environment)
    second = arcreach_command(*arguments, env=environment)
    assert "Compiling kernels" in first.stderr
    assert "ARCREACH_QUIET" not in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout
    # A program that interprets until its time is up, and then compiles, prints no second line.
    environment = {**environment, "ARCREACH_CACHE_DIR": str(tmp_path / "other"), "ARCREACH_INTERPRET": "0.02"}
    both = arcreach_command("ik", "three-section", "--to", "40mm,20mm,70mm", "--axis", "1,0,0", env=environment)
    assert both.stderr.count("\n") == 1


@pytest.mark.compiled
def test_a_symbolic_robot_is_not_said_to_be_compiled_once(tmp_path):
    for command in (("fk", "--q", "0,0,0"), ("export", "--out", str(tmp_path / "model.scad"))):
        done = arcreach_command(command[0], "librergm3-matrix", *command[1:])
        assert "in every run" in done.stderr
        assert "once per installation" not in done.stderr


def test_output_that_cannot_be_encoded_is_replaced():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = arcreach_command("info", "two-section", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "90?" in done.stdout
    done = arcreach_command("check", "ü.toml", "--json", env=environment)
    assert json.loads(done.stdout)["file"] == "ü.toml"


@pytest.mark.parametrize(
    "arguments", ["robots", "fk two-section --file many.csv", "fk two-section --file many.csv --json"]
)
def test_a_closed_pipe_is_no_error(arguments, tmp_path):
    # More than a pipe holds, so that writing fails before the program ends.
    (tmp_path / "many.csv").write_text("0.1,0,0.1,0\n" * 5000)
    command = (
        f"{sys.executable} -c 'from arcreach.cli import main; main()' {arguments} | head -1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == "" or "Compiling" in done.stderr
