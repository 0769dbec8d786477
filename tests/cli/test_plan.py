import json
import re

import numpy as np
import pytest

import arcreach as ar

CALL = ("plan", "three-section", "--from", "0,0,0,0,0,0", "--scene", "clutter-20")
TARGET = "--to=-48mm,-19.3mm,79mm"
TIMING = ("--max-speed", "1", "--max-acceleration", "2")


@pytest.mark.compiled
def test_a_path_is_printed_written_and_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, _ = run(*CALL, TARGET, "--out", tmp_path / "path.csv", "--figure", tmp_path / "path.png", "--json")
    assert code == 0
    data = json.loads(out)
    assert data["reached"]
    assert data["clearance"] > 0.0
    robot = ar.load_robot("three-section")
    path = ar.Path.from_csv(tmp_path / "path.csv", robot)
    np.testing.assert_allclose(robot.tip_pose(path.q), robot.tip_pose(data["q"]), rtol=0.0, atol=1e-12)
    # Straight at the start: in the file its directions are those in which it will bend.
    np.testing.assert_allclose(path.q[0, 1::2], path.q[1, 1::2])
    np.testing.assert_allclose(robot.tip_pose(path.q[-1])[:3, 3], (-0.048, -0.0193, 0.079), atol=1e-6)
    assert (tmp_path / "path.png").stat().st_size > 10_000
    code, out, _ = run(*CALL, TARGET, "--out", tmp_path / "path.csv", "--points", "50")
    assert code == 0
    assert "certified clearance" in out
    assert len(ar.Path.from_csv(tmp_path / "path.csv", robot)) == 50


@pytest.mark.compiled
def test_a_path_with_times(run, tmp_path):
    code, out, _ = run(*CALL, TARGET, *TIMING, "--out", tmp_path / "motion.csv")
    assert code == 0
    # 100 samples per second.
    assert re.search(r"\d\.\d+ s, \d\d\d samples", out)
    assert (tmp_path / "motion.csv").read_text().startswith("time,section-1.bend")
    motors = ("--motors", tmp_path / "motors.csv", "--motor-output", "bends")
    code, _, _ = run(*CALL, TARGET, *TIMING, "--rate", "50", "--out", tmp_path / "motion.csv", *motors)
    assert code == 0
    assert (tmp_path / "motors.csv").read_text().startswith("time_s,section-1.bend_x_rad,section-1.bend_y_rad,")
    times = np.genfromtxt(tmp_path / "motion.csv", delimiter=",", names=True)["time"]
    np.testing.assert_allclose(np.diff(times), 0.02)


@pytest.mark.compiled
def test_posture_and_limits_of_a_plan(run):
    posture = ("--prefer", "rest", "--limits", "section-1.bend=0,60deg")
    code, out, _ = run(*CALL, TARGET, *posture, "--json")
    assert code == 0
    bends = np.array(json.loads(out)["q"])[:, ::2]
    assert bends[:, 0].max() <= np.radians(60) + 1e-12
    assert bends[-1].sum() < np.array(json.loads(run(*CALL, TARGET, "--json")[1])["q"])[-1, ::2].sum() + 1e-6
    assert run(*CALL, TARGET, "--hold", "elbow")[0] == 2


@pytest.mark.compiled
def test_no_path_ends_with_code_1(run, tmp_path):
    path, motors = tmp_path / "path.csv", tmp_path / "motors.csv"
    path.write_text("older")
    code, out, err = run(*CALL, "--to", "0,0,1", "--out", path)
    assert code == 1
    assert "out of reach" in out
    assert f"note: {path} is not written, because no path is found\n" in err
    assert path.read_text() == "older"
    _, _, err = run(*CALL, "--to", "0,0,1", *TIMING, "--motors", motors, "--motor-output", "bends")
    assert f"note: {motors} is not written, because no path is found\n" in err
    assert not motors.exists()


def test_degrees_without_a_unit_are_named_once(run):
    for options in (("--goal", "40,170,30,0,20,0"), ("--goal", "0,0,0,0,0,0", "--from", "40,0,0,0,0,0")):
        code, out, err = run(*CALL, *options)
        assert (code, out) == (2, "")
        assert err.count("were degrees meant?") == 1
        assert err.endswith("is outside the robot's limits; give a configuration inside them\n")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((*CALL, "--to=-37.4mm,-6.6mm,21.6mm"), "inside obstacle 'sphere-1'"),
        ((*CALL,), "exactly one of --to or --goal"),
        ((*CALL, "--goal", "0,0,0,0,0,0", "--axis", "0,0,1"), "--axis"),
        ((*CALL, TARGET, "--max-speed", "1"), "belong together"),
        ((*CALL, TARGET, "--points", "50"), "--points has no meaning without --out"),
        ((*CALL, "--goal", "0,0,0,0,0,0", "--goals", "2"), "--goals has no meaning with --goal"),
        ((*CALL, TARGET, "--rate", "50"), "--rate has no meaning without --max-speed"),
        ((*CALL, TARGET, "--max-speed", "0", "--max-acceleration", "2"), "--max-speed = 0.0"),
        ((*CALL, TARGET, "--max-speed", "1", "--max-acceleration", "2", "--rate", "-1"), "--rate = -1.0"),
        ((*CALL, TARGET, "--motors", "m.csv", "--motor-output", "bends"), "--motors needs speeds; give --max-speed"),
        ((*CALL, TARGET, "--motor-output", "bends"), "--motor-output has no meaning without --motors"),
        ((*CALL, TARGET, *TIMING, "--motors", "m.csv"), "robot 'three-section' has no tendons"),
        ((*CALL, TARGET, *TIMING, "--motors", "m.csv", "--motor-output", "x"), "give pulls, bends, coordinates"),
        ((*CALL, TARGET, *TIMING, "--motors", "m.xlsx"), ".csv"),
        ((*CALL, TARGET, "--out", "path.xlsx"), ".csv"),
        ((*CALL, TARGET, "--figure", "path.gif"), ".png"),
        ((*CALL, TARGET, "--margin", "-1mm"), "margin"),
        (("plan", "three-section", "--from", "9,0,0,0,0,0", "--scene", "clutter-20", TARGET), "limits"),
        (("plan", "three-section", "--from", "0,0,0,0,0,0", "--scene", "cluter-20", TARGET), "clutter-20"),
    ],
)
def test_bad_input_ends_with_code_2(run, arguments, word):
    code, _, err = run(*arguments)
    assert code == 2
    assert word in err


@pytest.mark.compiled
def test_a_goal_is_a_configuration(run):
    goal = "0.3,1,0,0,0,0"
    code, out, err = run(*CALL, "--goal", goal, "--json")
    assert (code, err) == (0, "")
    np.testing.assert_allclose(json.loads(out)["q"][-1], [0.3, 1, 0, 0, 0, 0], atol=1e-9)


def test_ctrl_c_ends_with_code_130(run, monkeypatch):
    from arcreach.cli.commands import plan

    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "find_plan", stopped)
    code, out, err = run(*CALL, TARGET)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
