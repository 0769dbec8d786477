"""Files that commands write: what cannot be written is refused before anything is computed for it."""

import os
import stat
import sys

import pytest
import typer

from arcreach.cli import app as entry
from arcreach.cli.commands import contact, experiment, export, figure, fit, follow, grasp, ik, plan
from arcreach.cli.output import OUTPUTS as WRITTEN

# Every option that names a file to write, with a command that gets as far as computing, and the endings it accepts.
FIGURE = ".pdf, .png, .svg"
TIMING = "--max-speed 1 --max-acceleration 1 --motor-output bends"
OUTPUTS = {
    ("ik", "--out"): ("ik three-section --file targets.csv", ".csv, .json, .parquet"),
    ("ik", "--trace"): ("ik three-section --to 20mm,10mm,92mm", ".csv"),
    ("follow", "--out"): ("follow three-section --waypoints targets.csv", ".csv"),
    ("follow", "--figure"): ("follow three-section --waypoints targets.csv", FIGURE),
    ("follow", "--motors"): (f"follow three-section --waypoints targets.csv {TIMING}", ".csv"),
    ("fit", "--out"): ("fit tendon-driven rows.csv", ".toml"),
    ("fit", "--figure"): ("fit tendon-driven rows.csv", FIGURE),
    ("plan", "--out"): ("plan two-section --from 0,0,0,0 --to 0,0,90mm --scene clutter-20", ".csv"),
    ("plan", "--figure"): ("plan two-section --from 0,0,0,0 --to 0,0,90mm --scene clutter-20", FIGURE),
    ("plan", "--motors"): (f"plan two-section --from 0,0,0,0 --to 0,0,90mm --scene clutter-20 {TIMING}", ".csv"),
    ("contact", "--figure"): ("contact slalom", FIGURE),
    ("grasp", "--figure"): ("grasp grasp-one", FIGURE),
    ("export", "--out"): ("export ur5 --to 400mm,100mm,300mm", ".urdf, .stl, .glb, .scad, .csv"),
    ("figure pose", "--out"): ("figure pose two-section", FIGURE),
    ("figure workspace", "--out"): ("figure workspace two-section", FIGURE),
    ("figure times", "--out"): ("figure times two-section", FIGURE),
    ("figure convergence", "--out"): ("figure convergence two-section", FIGURE),
    ("figure success", "--out"): ("figure success two-section", FIGURE),
    ("figure iterations", "--out"): ("figure iterations librergm3 --to 200mm,50mm,1060mm", FIGURE),
    ("figure reach", "--out"): ("figure reach two-section --cells 3", FIGURE),
    ("figure links", "--out"): ("figure links two-section --to 20mm,10mm,70mm", FIGURE),
    ("figure contact", "--out"): ("figure contact slalom", FIGURE),
    ("figure search", "--out"): ("figure search slalom", FIGURE),
    ("figure clearance", "--out"): ("figure clearance two-section --path path.csv --scene clutter-20", FIGURE),
}
FOLDERS = {
    ("experiment run", "--out"): "experiment run hierarchical --targets 1",
    ("experiment report", "--out"): "experiment report runs",
}
NAMES = {f"--{name}" for name in WRITTEN}
# Inputs beside the robot or scene that every command begins with.
OTHER_INPUTS = {
    "ik three-section --file targets.csv": "--out",
    "ik two-section --to 0,0,90mm --scene targets.csv": "--trace",
    "follow three-section --waypoints targets.csv": "--out",
    "fit tendon-driven targets.csv": "--out",
    "plan two-section --from 0,0,0,0 --to 0,0,90mm --scene targets.csv": "--figure",
    "export two-section --path targets.csv --points 20": "--out",
    "figure contact slalom targets.csv": "--out",
    "figure clearance two-section --path targets.csv --scene clutter-20": "--out",
}


def outputs_of(command, name=""):
    if hasattr(command, "commands"):
        for one, inner in command.commands.items():
            yield from outputs_of(inner, f"{name} {one}".strip())
        return
    for parameter in command.params:
        yield from ((name, option) for option in parameter.opts if option in NAMES)


def test_every_output_is_tried():
    assert set(outputs_of(typer.main.get_command(entry.app))) == {*OUTPUTS, *FOLDERS}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "targets.csv").write_text("x,y,z\n0.02,0.01,0.092\n")
    (tmp_path / "path.csv").write_text(
        "section-1.bend,section-1.direction,section-2.bend,section-2.direction\n0,0,0,0\n"
    )
    names = [*(f"pull_{k}_mm" for k in range(1, 10)), "x_mm", "y_mm", "z_mm"]
    (tmp_path / "rows.csv").write_text(f"{','.join(names)}\n{','.join(['0'] * 11)},186.5\n")
    return tmp_path


@pytest.fixture
def idle(monkeypatch):
    """Fail where a command begins to compute."""

    def computing(*_):
        raise AssertionError("the command computes before it has checked its files")

    for module in (contact, experiment, export, figure, fit, follow, grasp, ik, plan):
        monkeypatch.setattr(module, "announce_compiling", computing)


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("output", OUTPUTS, ids=" ".join)
@pytest.mark.usefixtures("idle")
def test_what_cannot_be_written_is_refused_before_computing(run, folder, output):
    pytest.importorskip("matplotlib")
    command, endings = OUTPUTS[output]
    ending = endings.split(", ")[-1]
    (folder / f"folder{ending}").mkdir()
    there = files_in(folder)
    for name, words in {
        "path.xlsx": f"path.xlsx: its ending is not known; give {endings}",
        f"missing/file{ending}": "its folder does not exist; make it first",
        f"targets.csv/file{ending}": "its folder is a file",
        f"folder{ending}": "is a directory",
    }.items():
        code, out, err = run(*command.split(), output[1], name)
        assert (code, out) == (2, "")
        assert words in err
        assert len(err.splitlines()) == 1
    assert files_in(folder) == there
    # With files that can be written it computes.
    with pytest.raises(AssertionError, match="computes before"):
        run(*command.split(), output[1], f"good{ending}")


@pytest.mark.parametrize("output", OUTPUTS, ids=" ".join)
@pytest.mark.usefixtures("idle")
def test_no_command_writes_over_its_robot_or_scene(run, folder, output):
    name, option = output
    words = OUTPUTS[output][0].split()
    words[len(name.split())] = "arm.toml"
    (folder / "arm.toml").write_text("mine")
    (folder / "linked.toml").symlink_to("arm.toml")
    for spelling in ("arm.toml", folder / "arm.toml", f"../{folder.name}/arm.toml", "linked.toml"):
        refused = f"error: {option} {spelling} is an input of this command; give another file to write\n"
        assert run(*words, option, spelling) == (2, "", refused)
    assert (folder / "arm.toml").read_text() == "mine"


@pytest.mark.parametrize("command", OTHER_INPUTS)
@pytest.mark.usefixtures("idle")
def test_no_command_writes_over_another_input(run, folder, command):
    before = (folder / "targets.csv").read_text()
    code, out, err = run(*command.split(), OTHER_INPUTS[command], "targets.csv")
    assert (code, out) == (2, "")
    assert err.endswith("targets.csv is an input of this command; give another file to write\n")
    assert (folder / "targets.csv").read_text() == before


def test_a_folder_may_have_the_name_of_the_robot(run, folder):
    (folder / "two-section").mkdir()
    assert run("export", "two-section", "--format", "c", "--out", "two-section")[0] == 0


@pytest.mark.parametrize("output", FOLDERS, ids=" ".join)
@pytest.mark.usefixtures("idle")
def test_folders_that_cannot_be_made_are_refused(run, folder, output):
    pytest.importorskip("polars")
    pytest.importorskip("matplotlib")
    for name, words in {"targets.csv": "is not a folder", "targets.csv/out": "is a file"}.items():
        code, out, err = run(*FOLDERS[output].split(), output[1], name)
        assert (code, out) == (2, "")
        assert words in err
        assert len(err.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX devices and links")
def test_devices_and_links_stay_what_they_are(run, folder):
    null = folder / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.open("wb").close()
    except OSError:
        null = os.devnull
    (folder / "link.csv").symlink_to("real.csv")
    ik_command = ("ik", "three-section", "--to", "20mm,10mm,92mm", "--method", "fabrikx", "--trace")
    for arguments in (
        ik_command,
        ("ik", "three-section", "--file", "targets.csv", "--out"),
        ("follow", "three-section", "--waypoints", "targets.csv", "--out"),
        ("export", "ur5", "--out"),
    ):
        assert run(*arguments, null)[0] == 0
        assert stat.S_ISCHR(os.stat(null).st_mode)
    assert run(*ik_command, "link.csv")[0] == 0
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("iteration,")
