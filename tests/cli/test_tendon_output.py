"""Tendons and their pulls in the output of `info` and `fk`."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest

import arcreach as ar


def test_info_shows_tendons(run, tmp_path):
    robot = ar.load_robot("tendon-driven")
    _, out, _ = run("info", "tendon-driven")
    for words in (*robot.tendons, "4.5 mm", "320°", "6 discs", "50 mm/s", "21.7 mm"):
        assert words in out
    data = json.loads(run("info", "tendon-driven", "--json")[1])["tendons"]
    assert [tendon["name"] for tendon in data] == list(robot.tendons)
    assert data[0]["pull_min"] is None
    assert data[0]["pull_range"][1] == pytest.approx(robot.pulls([math.pi / 2, 0, 0, 0, 0, 0])[0])
    path = tmp_path / "helical.toml"
    tendon = ar.Tendon(0.004, 0.0, rate=20.0, transmits="both", pull_min=-0.02, pull_max=0.02)
    ar.save_robot(ar.Robot([ar.Section(0.05, 1.0, tendons=[tendon])]), path)
    for words in ("helical", "both", "-20 to"):
        assert words in run("info", path)[1]
    for limit, words in ({"pull_max": 0.003}, "at most 3 mm"), ({"pull_min": -0.002}, "at least -2"):
        ar.save_robot(ar.Robot([ar.Section(0.05, 1.0, tendons=[ar.Tendon(0.004, 0.0, **limit)])]), path)
        assert words in run("info", path)[1]


def test_fk_shows_pulls(run, tmp_path):
    robot = ar.load_robot("tendon-driven")
    Q = robot.sample(3, seed=0)
    q = ",".join(map(repr, Q[0].tolist()))
    _, out, _ = run("fk", "tendon-driven", "--q", q, "--actuators")
    assert re.search(rf"section-3.tendon-3 +{robot.pulls(Q[0])[8] * 1e3:.5f}", out)
    data = json.loads(run("fk", "tendon-driven", "--q", q, "--actuators", "--json")[1])
    assert data["pulls"] == robot.pulls(Q[0]).tolist()
    (tmp_path / "q.csv").write_text("\n".join(",".join(map(repr, q)) for q in Q.tolist()))
    [_, row, _] = csv.DictReader(
        io.StringIO(run("fk", "tendon-driven", "--file", tmp_path / "q.csv", "--actuators")[1])
    )
    assert [float(row[f"{name}_mm"]) for name in robot.tendons] == (robot.pulls(Q[1]) * 1e3).tolist()
    assert list(row)[:4] == ["x", "y", "z", "r00"]


def test_fk_of_pulls(run, tmp_path):
    robot = ar.load_robot("tendon-driven")
    Q = robot.sample(2, seed=3)
    P = robot.pulls(Q)
    text = ",".join(f"{1e3 * pull!r}mm" for pull in P[0].tolist())
    _, out, _ = run("fk", "tendon-driven", "--pulls", text)
    assert all(words in out for words in ("configuration:", "section-3.bend", "residual, mm"))
    assert "tension" not in out
    data = json.loads(run("fk", "tendon-driven", "--pulls", text, "--json")[1])
    np.testing.assert_allclose(data["pose"], robot.tip_pose(Q[0]), atol=1e-9)
    assert np.abs(data["residual"]).max() < 1e-9
    path = tmp_path / "pulls.csv"
    order = [8, 0, 1, 2, 3, 4, 5, 6, 7]
    lines = [",".join(["time_s", *(f"{robot.tendons[j]}_mm" for j in order)])]
    lines += [",".join(["0", *(repr(pulls[j] * 1e3) for j in order)]) for pulls in P.tolist()]
    path.write_text("\n".join(lines))
    rows = list(csv.DictReader(io.StringIO(run("fk", "tendon-driven", "--pulls-file", path, "--elastic")[1])))
    found = robot.from_pulls(P, elastic=True)
    for k, row in enumerate(rows):
        np.testing.assert_allclose([float(row[name]) for name in robot.coordinates], found.q[k], atol=1e-9)
        np.testing.assert_allclose([float(row[f"{name}_N"]) for name in robot.tendons], found.tensions[k], atol=1e-6)
    text = "0.5," + ",".join(["0"] * 8)
    assert "were millimetres meant?" in run("fk", "tendon-driven", "--pulls", text)[2]


def test_fk_of_pulls_takes_the_other_coordinates(run, tmp_path):
    robot = ar.Robot([ar.Prismatic(0, 0.1), *ar.load_robot("tendon-driven").elements], "inserted")
    ar.save_robot(robot, tmp_path / "robot.toml")
    pulls = ",".join(["0"] * 9)
    data = json.loads(
        run("fk", tmp_path / "robot.toml", "--pulls", pulls, "--q", "30mm,0,0,0,0,0,0", "--elastic", "--json")[1]
    )
    assert data["q"] == [0.03, 0, 0, 0, 0, 0, 0]
    assert data["slack"] == [False] * 9
