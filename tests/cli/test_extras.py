"""Missing extras: every command names the one it needs before it compiles or writes anything."""

import json
import os
import subprocess
import sys

import pytest

PLAN = "plan two-section --from 0,0,0,0 --to 0,0,90mm --scene clutter-20"
# A package that is blocked, the extra that installs it, and commands that need it.
NEEDS = [
    ("polars", "cluster", "experiment run compare --robot two-section"),
    ("polars", "cluster", "experiment run hierarchical"),
    ("polars", "cluster", "experiment report runs"),
    ("polars", "cluster", "ik three-section --file targets.csv --out results.parquet"),
    ("distributed", "cluster", "experiment run compare --cluster local:2"),
    ("matplotlib", "figures", "experiment report runs"),
    ("matplotlib", "figures", "follow three-section --waypoints targets.csv --out path.csv --figure path.png"),
    ("matplotlib", "figures", f"{PLAN} --figure plan.png"),
    ("matplotlib", "figures", "contact slalom --figure slalom.png"),
    ("matplotlib", "figures", "grasp grasp-one --figure grasp.png"),
    ("matplotlib", "figures", "figure pose two-section --out pose.png"),
    ("matplotlib", "figures", "figure workspace two-section --out workspace.png"),
    ("matplotlib", "figures", "figure times two-section --out times.png"),
    ("matplotlib", "figures", "figure convergence two-section --out convergence.png"),
    ("matplotlib", "figures", "figure success two-section --out success.png"),
    ("matplotlib", "figures", "figure iterations librergm3 --to 200mm,50mm,1060mm --out iterations.png"),
    ("matplotlib", "figures", "figure contact slalom --out contact.png"),
    ("ruckig", "ruckig", f"{PLAN} --max-speed 1 --max-acceleration 1 --max-jerk 9"),
    ("shapely", "plan", "grasp polygon.toml"),
    ("trimesh", "plan", "export three-section --out body.stl"),
    ("mujoco", "mujoco", "export three-section --out model.xml"),
    ("trimesh", "plan", "ik three-section --to 20mm,10mm,92mm --scene box.toml"),
    ("trimesh", "plan", "follow three-section --waypoints targets.csv --scene box.toml --out path.csv"),
    ("viser", "studio", "studio --no-browser"),
    ("sympy", "symbolic", "fk librergm3-matrix --q 0,0,0,0,0,0,0"),
]

# Runs each command in one process, with the package blocked, and reports exit codes, output and compilations.
SCRIPT = """
import contextlib, io, json, sys
from arcreach import _jit
from arcreach.cli import main

reported = []
for package, command in json.loads(sys.argv[1]):
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == package}
    sys.modules[package] = None
    sys.argv = ["arcreach", *command.split()]
    out, err, compiled, code = io.StringIO(), io.StringIO(), [], "returned"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _jit.on_compile(lambda: compiled.append(1)):
        try:
            main()
        except SystemExit as end:
            code = end.code
        except BaseException as error:
            code = repr(error)
    reported.append([code, out.getvalue(), err.getvalue(), len(compiled)])
    del sys.modules[package]
    sys.modules.update(kept)
print(json.dumps(reported))
"""

POLYGON = """
object = "block"
[[elements]]
kind = "section"
length = 0.3
bend_max = "350 deg"
[[obstacles]]
kind = "polygon"
name = "block"
points = [[0.02, 0.1], [0.04, 0.1], [0.04, 0.12], [0.02, 0.12]]
"""
BOX = '[[obstacles]]\nkind = "mesh"\npath = "part.stl"\n'


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("core")
    (folder / "targets.csv").write_text("x,y,z\n0.02,0.01,0.092\n")
    (folder / "polygon.toml").write_text(POLYGON)
    (folder / "box.toml").write_text(BOX)
    (folder / "part.stl").write_text("solid\nendsolid\n")
    # An empty cache: whatever a command needs would have to be compiled.
    cache = tmp_path_factory.mktemp("cache")
    commands = json.dumps([(package, command) for package, _, command in NEEDS])
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, commands],
        cwd=folder,
        env=os.environ | {"ARCREACH_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = sorted(path.name for path in folder.iterdir())
    return json.loads(ran.stdout), found


@pytest.mark.parametrize("k", range(len(NEEDS)), ids=[f"{package}: {command}" for package, _, command in NEEDS])
def test_the_missing_extra_is_named_first(reported, k):
    code, out, err, compiled = reported[0][k]
    assert f"pip install 'arcreach[{NEEDS[k][1]}]'" in err
    assert NEEDS[k][0] in err.lower()
    assert len(err.splitlines()) == 1
    assert (code, out, compiled) == (2, "", 0)


def test_nothing_was_written(reported):
    assert reported[1] == ["box.toml", "part.stl", "polygon.toml", "targets.csv"]
