"""`arcreach follow`: steps with units, progress, Ctrl-C, hints."""

import csv
import io
import json
import time

import numpy as np
import pytest

import arcreach as ar
from arcreach.cli import motors, progress

ARM = ar.load_robot("three-section")
# A prismatic joint in front of three sections: angles and a length.
INSERTED = ar.load_robot("inserted-three-section")


def waypoints_file(tmp_path, robot=ARM, n=8, scale=1.0):
    q = robot.sample(1, seed=3)[0]
    points = scale * np.linspace(robot.tip_pose(q)[:3, 3], robot.tip_pose(robot.clip(q + 0.05))[:3, 3], n)
    path = tmp_path / "waypoints.csv"
    path.write_text("X,y,Z\n" + "\n".join(",".join(map(repr, row)) for row in points.tolist()))
    return path, points


def configurations(text, robot):
    rows = list(csv.DictReader(io.StringIO(text)))
    return np.array([[float(row[name]) for name in robot.coordinates] for row in rows])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("3deg", [np.inf, *[np.radians(3.0)] * 6]),
        ("0.5mm", [5e-4, *[np.inf] * 6]),
        ("0.5mm, 3deg", [5e-4, *[np.radians(3.0)] * 6]),
        ("0.01", [0.01] * 7),
    ],
)
def test_the_largest_step_takes_units(run, tmp_path, text, steps):
    path, points = waypoints_file(tmp_path, INSERTED, 4)
    out = tmp_path / "path.csv"
    code, _, _ = run("follow", "inserted-three-section", "--waypoints", path, "--max-step", text, "--out", out)
    assert code == 0
    expected = ar.follow(INSERTED, points, max_step=steps)
    # The file has directions without jumps by full turns.
    wrapped = INSERTED.clip(configurations(out.read_text(), INSERTED))
    np.testing.assert_allclose(wrapped, expected.q, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3kg", "--max-step 3kg is not accepted; give an angle, a length or both, as 3deg,5mm"),
        ("3deg,4deg", "--max-step 3deg,4deg is not accepted"),
        ("3deg,0.1", "--max-step 3deg,0.1 is not accepted"),
        ("5mm", "--max-step 5mm: robot 'three-section' has no length among its coordinates"),
        ("-3deg", "max_step = "),
        ("", "--max-step  is not accepted"),
    ],
)
def test_steps_that_are_refused(run, tmp_path, text, words):
    path, _ = waypoints_file(tmp_path)
    code, out, err = run("follow", "three-section", "--waypoints", path, f"--max-step={text}")
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_margin_needs_a_scene(run, tmp_path):
    path, _ = waypoints_file(tmp_path)
    code, out, err = run("follow", "three-section", "--waypoints", path, "--margin", "2mm")
    assert (code, out) == (2, "")
    assert err == "error: --margin has no meaning without --scene; leave it out\n"


@pytest.mark.compiled
def test_progress_is_shown_when_it_takes_long(run, tmp_path, monkeypatch):
    path, _ = waypoints_file(tmp_path)
    start = "--start=" + ",".join(map(repr, ARM.sample(1, seed=3)[0].tolist()))
    arguments = ("follow", "three-section", "--waypoints", path, start)
    monkeypatch.setattr(progress, "SAY_AFTER", 0.0)
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    code, out, err = run(*arguments)
    assert code == 0
    assert out.startswith("8 of 8 points reached (8 waypoints, 0 inserted)")
    lines = [line for line in err.splitlines() if line.startswith("following: ")]
    assert lines[0] == "following: 0 of 8 waypoints"
    assert lines[-1] == "following: 8 of 8 waypoints"
    assert len(lines) == 9


def test_the_last_count_is_shown(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SAY_AFTER", 0.0)
    for warming_up in (False, True):
        with progress.announce_compiling(warming_up=warming_up) as say:
            for done in range(1, 29):
                say("compiling", done, 28, "step")
        assert capsys.readouterr().err == "compiling: 1 of 28 steps\ncompiling: 28 of 28 steps\n"


def test_speeds_have_units(tmp_path, run):
    q = INSERTED.sample(1, seed=3)[0]
    path = tmp_path / "waypoints.csv"
    path.write_text("x,y,z\n" + ",".join(map(repr, INSERTED.tip_pose(q)[:3, 3].tolist())))
    call = ("follow", "inserted-three-section", "--waypoints", path, "--motors", tmp_path / "motors.csv")
    call = (*call, "--motor-output", "coordinates", "--max-acceleration", "4")
    for text, words in (
        ("1rad", "--max-speed 1rad lacks the lengths of robot 'inserted-three-section'"),
        ("1kg", "--max-speed 1kg is not accepted; give an angle, a length or both, as 60deg,5mm"),
        ("-1deg,5mm", "--max-speed = "),
    ):
        code, _, err = run(*call, f"--max-speed={text}")
        assert (code, words in err) == (2, True)
    limits = motors.parse_timing(INSERTED, "1rad,5mm", "4", None)
    assert limits == {"max_speed": [0.005, *[1.0] * 6], "max_acceleration": 4.0}


def test_progress_is_reported_while_one_step_takes_long(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SAY_AFTER", 0.05)
    with progress.announce_compiling() as say:
        say("following", 0, 8, "waypoint")
        deadline = time.monotonic() + 60.0
        err = ""
        while not err and time.monotonic() < deadline:
            time.sleep(0.01)
            err = capsys.readouterr().err
    assert err == "following: 0 of 8 waypoints\n"


@pytest.mark.compiled
def test_an_interrupt_writes_the_path_so_far(run, tmp_path, monkeypatch):
    from arcreach.cli.commands import follow as command

    path, points = waypoints_file(tmp_path)
    start = ARM.sample(1, seed=3)[0]

    def stopped(*arguments, progress, **options):
        def stop(done, total):
            progress(done, total)
            if done == 3:
                raise KeyboardInterrupt

        return ar.follow(*arguments, progress=stop, **options)

    monkeypatch.setattr(command, "follow_path", stopped)
    text = "--start=" + ",".join(map(repr, start.tolist()))
    code, out, err = run("follow", "three-section", "--waypoints", path, text, "--out", tmp_path / "path.csv")
    assert code == 130
    assert out.startswith("3 of 3 points reached")
    assert "interrupted after 3 of 8 waypoints" in err
    expected = ar.follow(ARM, points[:3], start=start)
    np.testing.assert_array_equal(configurations((tmp_path / "path.csv").read_text(), ARM), expected.q)


@pytest.mark.compiled
def test_waypoints_in_millimetres_get_a_hint(run, tmp_path):
    path, _ = waypoints_file(tmp_path, n=2, scale=1e3)
    code, out, _ = run("follow", "three-section", "--waypoints", path)
    assert code == 1
    assert out.rstrip().endswith("positions are metres: were millimetres meant?")
    assert "e+" not in out
    _, out, err = run("follow", "three-section", "--waypoints", path, "--json")
    assert set(json.loads(out)["status"]) == {"OUT_OF_REACH"}
    assert err.rstrip().endswith("positions are metres: were millimetres meant?")


def test_the_time_left_is_guessed_from_what_followed_the_first(monkeypatch):
    times = iter([100.0, 110.0, 112.0, 113.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    pace = progress.Pace()
    assert pace.words("following", 1, 11, "waypoint") == "following: 1 of 11 waypoints"
    assert pace.words("following", 3, 11, "waypoint") == "following: 3 of 11 waypoints, about 40 s left"
    # Another beginning is tried.
    assert pace.words("following", 1, 11, "waypoint") == "following: 1 of 11 waypoints"
    assert pace.words("following", 2, 11, "waypoint") == "following: 2 of 11 waypoints, about 9 s left"


@pytest.mark.compiled
def test_motor_tables_and_their_limits(run, tmp_path):
    robot = ar.load_robot("tendon-driven")
    path, _ = waypoints_file(tmp_path, robot, 4)
    motors = tmp_path / "motors.csv"
    call = ("follow", "tendon-driven", "--waypoints", path, "--motors", motors)
    assert "--motors needs speeds" in run(*call)[2]
    code, out, _ = run(*call, "--max-speed", "1", "--max-acceleration", "5", "--rate", "100", "--json")
    assert code == 0
    assert json.loads(out)["motor_violations"] == []
    header = motors.read_text().partition("\n")[0].split(",")
    wanted = [f"{name}_mm{ending}" for ending in ("", "_per_s") for name in robot.tendons]
    assert header == ["time_s", *wanted]
    found = np.loadtxt(motors, delimiter=",", skiprows=1)
    assert np.abs(robot.from_pulls(1e-3 * found[:, 1:10]).residual).max() < 1e-7
    motors.unlink()
    assert run(*call, "--max-speed", "1")[0] == 2
    waypoints_file(tmp_path, robot, 2, scale=3.0)
    code, _, err = run(*call, "--max-speed", "1", "--max-acceleration", "5")
    assert code == 1
    assert "motors.csv is not written, because not every point is reached" in err
    assert not motors.exists()


@pytest.mark.compiled
def test_a_path_with_times(run, tmp_path):
    path, _ = waypoints_file(tmp_path)
    out = tmp_path / "motion.csv"
    call = ("follow", "three-section", "--waypoints", path, "--out", out, "--max-speed", "1", "--max-acceleration", "2")
    code, text, _ = run(*call)
    assert code == 0
    assert " samples" in text
    code, text, _ = run(*call, "--rate", "50", "--json")
    assert code == 0
    motion = np.genfromtxt(out, delimiter=",", names=True)
    assert motion.dtype.names[:2] == ("time", "section1bend")
    np.testing.assert_allclose(np.diff(motion["time"]), 0.02)
    assert json.loads(text)["duration"] == motion["time"][-1]
    # The path that does not reach every waypoint is kept, without times.
    waypoints_file(tmp_path, n=2, scale=3.0)
    code, _, err = run(*call)
    assert code == 1
    assert f"note: {out} has no times, because not every point is reached\n" in err
    assert out.read_text().startswith("section-1.bend,")
