"""Mistakes made with a serial arm, in Python and on the command line: an error or a status, never a wrong answer."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import run  # noqa: F401

import arcreach as ar
from arcreach.ik.solution import Status

URDF = Path(__file__).parents[1] / "files" / "arm.urdf"
ARM = ar.load_robot("ur5")
Q = np.array([0.3, -1.0, 1.2, -0.8, 1.1, 0.4])
POSE = ARM.tip_pose(Q)
TARGET = ar.Target.from_pose(POSE)
PLACE = ",".join(map(repr, POSE[:3, 3].tolist()))


MISTAKES = {
    "tip that is not a link": (lambda: ar.load_robot(URDF, tip="tool1"), ar.FileError, "tip = 'tool1' is not a link"),
    "base that is not a link": (
        lambda: ar.load_robot(URDF, base="base", tip="tool0"), ar.FileError, "did you mean 'base_link'",
    ),
    "no tip where there are several": (lambda: ar.load_robot(URDF), ar.FileError, "choose one as tip"),
    "base behind the tip": (
        lambda: ar.load_robot(URDF, base="slide", tip="column"), ar.FileError, "does not carry tip = 'column'",
    ),
    "tip of a robot that is no URDF": (lambda: ar.load_robot("ur5", tip="tool0"), ar.FileError, "links of a URDF"),
    "missing file": (lambda: ar.load_robot("ur5e.urdf"), ar.FileError, "ur5e.urdf: no such file"),
    "misspelt robot": (lambda: ar.load_robot("ur-5"), ar.FileError, "did you mean 'ur5'"),
    "short start": (lambda: ar.solve(ARM, TARGET, start=Q[:5]), ar.ConfigurationError, "give 6 numbers"),
    "long start": (lambda: ar.solve(ARM, TARGET, start=[*Q, 0]), ar.ConfigurationError, "give 6 numbers"),
    "start that is not a number": (
        lambda: ar.solve(ARM, TARGET, start=[*Q[:5], math.nan]), ar.ConfigurationError, "wrist-3) = nan",
    ),
    "start by name": (lambda: ar.solve(ARM, TARGET, start="home"), ar.ConfigurationError, "'home' is not accepted"),
    "starts of another batch": (lambda: ar.solve(ARM, TARGET, start=[Q, Q]), ar.TargetError, "2 rows for 1 target"),
    "scaled rotation": (
        lambda: ar.Target(POSE[:3, 3], rotation=1.1 * POSE[:3, :3]), ar.TargetError, "is not a rotation",
    ),
    "scaled rotation in a batch": (
        lambda: ar.solve_batch(ARM, [POSE[:3, 3]], rotations=[1.1 * POSE[:3, :3]]), ar.TargetError, "is not a rotation",
    ),
    "mirrored rotation": (
        lambda: ar.Target(POSE[:3, 3], rotation=POSE[:3, :3] @ np.diag([1, 1, -1])), ar.TargetError, "determinant +1",
    ),
    "quaternion for a matrix": (
        lambda: ar.Target(POSE[:3, 3], rotation=[1, 0, 0, 0]), ar.TargetError, "give numbers of shape (3, 3)",
    ),
    "scaled pose": (lambda: ar.Target.from_pose(1.1 * POSE), ar.TargetError, "last row"),
    "position that is not a number": (lambda: ar.Target([math.nan, 0, 0.3]), ar.TargetError, "position[0] = nan"),
    "rotation that is not a number": (
        lambda: ar.Target([0.3, 0, 0.3], rotation=np.full((3, 3), math.nan)), ar.TargetError, "nan",
    ),
    "infinite position": (lambda: ar.Target([0.3, math.inf, 0.3]), ar.TargetError, "position[1] = inf"),
    "one position for a batch": (lambda: ar.solve_batch(ARM, POSE[:3, 3]), ar.TargetError, "positions (n, 3)"),
    "half a pose for a target": (lambda: ar.solve(ARM, POSE[:2]), ar.TargetError, "arcreach.Target"),
    "robot by name": (lambda: ar.solve("ur5", TARGET), ar.MethodError, "robot = 'ur5' is not accepted"),
    "unknown method": (lambda: ar.solve(ARM, TARGET, "levenberg"), ar.MethodError, "give one of auto"),
    "method with an underscore": (lambda: ar.solve(ARM, TARGET, "svd_dls"), ar.MethodError, "svd-dls"),
    "function for a method": (
        lambda: ar.solve(ARM, TARGET, lambda *given: ARM.neutral), ar.MethodError, "register an arcreach.Method",
    ),
    "method for sections": (
        lambda: ar.solve(ARM, ar.Target(POSE[:3, 3]), "fabrikx"), ar.MethodError, "cannot serve robot 'ur5'",
    ),
    "method for other targets": (lambda: ar.solve(ARM, TARGET, "fabrikx"), ar.MethodError, "not rotation"),
    "option of another method": (
        lambda: ar.solve(ARM, TARGET, "sdls", damping=0.1), ar.MethodError, "it accepts: largest_step",
    ),
    "misspelt argument": (
        lambda: ar.solve_batch(ARM, [TARGET], max_iter=9), ar.MethodError, "did you mean max_time or max_iterations?",
    ),
    "axis beside a position": (
        lambda: ar.solve(ARM, POSE[:3, 3], axis=[0, 0, 1]), ar.MethodError, "axis is an argument of Target",
    ),
    "argument of a batch": (
        lambda: ar.solve(ARM, TARGET, device="cuda"), ar.MethodError, "device is an argument of solve_batch",
    ),
    "held at a value": (
        lambda: ar.solve(ARM, TARGET, hold={ARM.coordinates[0]: 0.5}), ar.TargetError, "give names",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_raise_and_say_what_would_be_accepted(mistake):
    call, error, words = MISTAKES[mistake]
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((URDF, "--tip", "tool1", "--to", "0.1,0,0.3"), "tip = 'tool1' is not a link"),
        ((URDF, "--to", "0.1,0,0.3"), "choose one as tip"),
        (("ur5", "--tip", "tool0", "--to", PLACE), "links of a URDF"),
        (("ur5e.urdf", "--to", PLACE), "no such file"),
        (("ur-5", "--to", PLACE), "did you mean 'ur5'"),
        (("ur5", "--file", "targets.csv"), "targets.csv: no such file"),
        (("ur5", "--to", PLACE, "--start", "1,2,3,4,5"), "has 5 values; give 6"),
        (("ur5", "--to", PLACE, "--start", "1,2,3,4,5,nan"), "wrist-3: 'nan' is not a valid angle"),
        (("ur5", "--to", PLACE, "--rotation", "1.1,0,0,0,1.1,0,0,0,1.1"), "is not a rotation"),
        (("ur5", "--to", "nan,0,0.3"), "'nan' is not a valid length"),
        (("ur5", "--to", PLACE, "--method", "levenberg"), "give one of auto"),
        (("ur5", "--to", PLACE, "--method", "fabrikx"), "cannot serve robot 'ur5'"),
        (("ur5", "--to", PLACE, "--method", "single-section"), "cannot serve robot 'ur5'"),
    ],
)
def test_mistakes_on_the_command_line(run, tmp_path, monkeypatch, arguments, words):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    code, out, err = run("ik", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("method", ["auto", "jacobian", "jacobian-transpose", "dls", "svd-dls", "sdls", "lm"])
def test_millimetres_for_metres_are_out_of_reach(method):
    found = ar.solve(ARM, ar.Target(1000 * POSE[:3, 3], rotation=POSE[:3, :3]), method)
    assert found.status == Status.OUT_OF_REACH
    assert "out of reach" in str(found)
    assert ARM.within_limits(found.q)
    assert found.position_error > 100


def test_out_of_reach_on_the_command_line(run):  # noqa: F811
    code, out, _ = run("ik", "ur5", "--to", "3,0,0", "--method", "lm")
    assert code == 1
    assert out.startswith("out of reach")
    code, out, _ = run("ik", "ur5", "--to", "3,0,0", "--json")
    data = json.loads(out)
    assert (code, data["status"], data["reached"]) == (1, "OUT_OF_REACH", False)


@pytest.mark.parametrize("method", ["jacobian", "jacobian-transpose", "dls", "svd-dls", "sdls", "lm"])
def test_a_start_outside_the_limits_is_moved_inside_and_the_trace_shows_where_to(method):
    # Degrees for radians.
    start = np.array([10.0, -90.0, 90.0, 0.0, 90.0, 0.0])
    assert not ARM.within_limits(start)
    found = ar.solve(ARM, TARGET, method, start=start, trace=True, max_iterations=30)
    np.testing.assert_array_equal(found.trace.q[0], ARM.clip(start))
    assert ARM.within_limits(found.trace.q).all()
    inside = ar.solve(ARM, TARGET, method, start=ARM.clip(start), max_iterations=30)
    np.testing.assert_array_equal(found.q, inside.q)


def test_a_start_outside_the_limits_on_the_command_line(run, tmp_path):  # noqa: F811
    log = tmp_path / "log.csv"
    run("ik", "ur5", "--to", PLACE, "--method", "lm", "--start", "10,-90,90,0,90,0", "--log", log)
    names, first = (line.split(",") for line in log.read_text().splitlines()[:2])
    moved = [float(first[names.index(name)]) for name in ARM.coordinates]
    np.testing.assert_allclose(moved, ARM.clip([10.0, -90.0, 90.0, 0.0, 90.0, 0.0]), rtol=1e-12)
