"""Fits of synthetic robots whose parameters are known, and data that are refused."""

import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.reference import rot

import arcreach as ar
from arcreach.calibration import read_measurements, robot_fit
from arcreach.calibration.parameters import DEFAULT, GROUPS, Parametrisation
from arcreach.calibration.prediction import Prediction
from arcreach.calibration.robot_fit import SPREADS, _prior
from arcreach.cli import main
from arcreach.errors import Interrupted

pytest.importorskip("scipy")
NOISE = 1e-4


def nominal(sections=1, **fields):
    tendons = [ar.Tendon(0.005, math.radians(angle), **fields) for angle in (0, 120, 240)]
    return ar.Robot([ar.Section(0.08, 3.0, tendons=tendons) for _ in range(sections)], "nominal")


def measured(robot=None, rows=80, seed=0, noise=NOISE, free=DEFAULT, **given):
    """Rows of a robot whose parameters differ from the given ones, and the true values."""
    rng = np.random.default_rng(seed)
    model = Parametrisation(robot or nominal(), free)
    z = 0.4 * rng.normal(size=len(model.parameters))
    z[[p.name == "base.turn_z" for p in model.parameters]] = 20.0
    truth = model.values(z)
    real = model.robot_for(truth)
    pulls = rng.uniform(-3e-3, 6e-3, (rows, len(real.tendons)))
    poses = real.tip_pose(real.from_pulls(pulls, elastic=model.elastic).q)
    positions = poses[:, :3, 3] + noise * rng.normal(size=(rows, 3))
    commands = np.repeat(np.arange(rows // 4), 4)
    return ar.Measurements(pulls, positions, commands=commands, **given), truth, poses


@pytest.fixture(scope="module")
def fitted():
    data, truth, _ = measured()
    return ar.fit(nominal(), data), truth


def test_parameters_are_found_within_their_errors(fitted):
    fit, truth = fitted
    assert np.all(np.abs(fit.values - truth) < 4.5 * fit.errors)
    assert fit.held_out_errors.mean() < 4.0 * NOISE
    assert fit.errors[0] < 1e-3
    assert "rows held out" in str(fit)


def test_the_robot_predicts_what_was_measured(fitted):
    fit, _ = fitted
    tips = fit.robot.tip_pose(fit.robot.from_pulls(fit.data.pulls, elastic=True).q)[:, :3, 3]
    assert np.linalg.norm(tips - fit.data.positions, axis=1).mean() < 3.0 * NOISE


def test_commands_are_held_out_whole(fitted):
    fit, _ = fitted
    for command in np.unique(fit.data.commands):
        assert len(set(fit.held_out[fit.data.commands == command])) == 1
    assert fit.held_out.mean() == 0.5


def test_outliers_do_not_steer_the_fit():
    data, _, _ = measured(seed=1)
    spoilt = data.positions.copy()
    spoilt[::11] += 0.03
    fit = ar.fit(nominal(), ar.Measurements(data.pulls, spoilt), held_out=0.0)
    # Least squares would be 2 to 5 mm off.
    assert np.linalg.norm(fit.predicted - data.positions, axis=1).mean() < 10.0 * NOISE


def test_poses_and_points_along_the_body():
    robot = nominal(2)
    data, truth, poses = measured(robot, rows=24, seed=2, noise=0.0)
    real = Parametrisation(robot, DEFAULT).robot_for(truth)
    middle = real.frames(real.from_pulls(data.pulls, elastic=True).q)[:, 2, :3, 3]
    given = {"rotations": poses[:, :3, :3], "points": middle[:, None], "arc_lengths": [0.08]}
    fit = ar.fit(robot, ar.Measurements(data.pulls, data.positions, **given), held_out=0.0)
    assert fit.fitted_errors.max() < 1e-5


@pytest.mark.parametrize(
    "tendons",
    [{}, {"rate": 30.0}, {"discs": 50}, {"transmits": "both", "pretension": 3.0, "stiffness": 2e4}],
    ids=["straight", "helical", "discs", "rods"],
)
@pytest.mark.parametrize("stretch", [0.0, 0.03])
def test_derivatives_are_those_of_differences(tendons, stretch):
    own = [ar.Tendon(0.005, math.radians(angle), **tendons) for angle in (0, 120, 240)]
    first = ar.Section(0.06, 2.5, stretch=stretch, tendons=own)
    robot = ar.Robot([first, ar.Link((0, 0, 0.01)), ar.Section(0.07, 2.0, tendons=own)])
    data, _, poses = measured(robot, rows=8, noise=1e-3, free=GROUPS)
    data = ar.Measurements(data.pulls, data.positions, poses[:, :3, :3], poses[:, None, :3, 3], [0.03])
    model = Prediction(Parametrisation(robot, GROUPS), data)
    z = 0.3 * np.random.default_rng(1).normal(size=len(model.parametrisation.parameters))
    J = model.jacobian(z)
    for i, parameter in enumerate(model.parametrisation.parameters):
        step = np.zeros(len(z))
        # Equilibria of tendons that are not straight are found to about 1e-8 m, which a small step would magnify.
        step[i] = 1e-3
        numerical = (model.residuals(z + step) - model.residuals(z - step)) / 2e-3
        np.testing.assert_allclose(J[:, :, i], numerical, atol=2e-5, err_msg=parameter.name)


def commanded(drawn, radii=(0.0048, 0.005, 0.0051), shifts=(0.0, 0.02, -0.03)):
    """Rows of a robot with other radii and angles, whose pulls a controller computed from the drawing."""
    pulls = drawn.pulls(drawn.sample(100, seed=0))
    angles = [t.angle + shift for t, shift in zip(drawn.elements[0].tendons, shifts, strict=True)]
    section = replace(drawn.elements[0], tendons=[ar.Tendon(*pair) for pair in zip(radii, angles, strict=True)])
    tips = ar.Robot([section]).tip_pose(ar.Robot([section]).from_pulls(pulls).q)[:, :3, 3]
    return ar.Measurements(pulls, tips + NOISE * np.random.default_rng(0).normal(size=tips.shape))


def test_rigid_tendons_without_elongation_count_in_the_derivatives():
    """The pulls of a drawing are met exactly by the robot as drawn."""
    drawn = nominal()
    model = Prediction(Parametrisation(drawn, ("radii", "angles")), commanded(drawn))
    z = np.zeros(len(model.parametrisation.parameters))
    numerical = [(model.residuals(step) - model.residuals(-step)) / 2e-4 for step in 1e-4 * np.eye(len(z))]
    np.testing.assert_allclose(model.jacobian(z), np.stack(numerical, axis=2), atol=1e-8)


def test_pulls_of_the_drawing_do_not_determine_the_base():
    """All commands fit together, so angles and radii act as a change of the base and of the bends does."""
    drawn = ar.Robot([ar.Section(0.08, 2.0, tendons=nominal().elements[0].tendons)])
    with pytest.raises(ar.TargetError, match=r"do not determine base.turn_z, section-1.tendon-1.radius"):
        ar.fit(drawn, commanded(drawn), ["base", "angles", "radii"])


def test_what_only_the_prior_determines_is_weak():
    """With tendons that are always taut, equal changes of all pretensions do nothing."""

    def robot(pretension):
        tendons = [replace(t, stiffness=5e3, pretension=pretension) for t in nominal().elements[0].tendons]
        return ar.Robot([ar.Section(0.08, 3.0, bending_stiffness=0.01, tendons=tendons)])

    rng = np.random.default_rng(0)
    pulls, built = rng.uniform(-2e-3, 2e-3, (60, 3)), robot(20.0)
    tips = built.tip_pose(built.from_pulls(pulls, elastic=True).q)[:, :3, 3] + NOISE * rng.normal(size=(60, 3))
    fit = ar.fit(robot(0.0), ar.Measurements(pulls, tips), ["base", "pretension"], held_out=0.0)
    assert fit.weak == tuple(p.name for p in fit.parameters if p.group == "pretension")
    assert f"poorly determined: {fit.weak[0]}" in str(fit)


def test_without_held_out_rows_the_result_is_the_optimum_for_its_weights(monkeypatch):
    """Positions and rotations have other scatters than assumed at first."""
    searches = []
    result = robot_fit._result
    monkeypatch.setattr(robot_fit, "_result", lambda search, *given: searches.append(search) or result(search, *given))
    free = ("base", "lengths", "angles", "radii")
    for seed in range(3):
        data, _, poses = measured(free=free, seed=seed)
        axes = np.random.default_rng(seed).normal(size=(len(data), 3))
        R = [R @ rot(axis / np.linalg.norm(axis), 0.02)[:3, :3] for R, axis in zip(poses[:, :3, :3], axes, strict=True)]
        fit = ar.fit(nominal(), ar.Measurements(data.pulls, data.positions, R), free, held_out=0.0)
        search = searches[-1]
        _, z = search._least_squares(search.z, fit.data, 100)
        assert np.abs((search.parametrisation.values(z) - fit.values) / fit.errors).max() < 0.3


def test_what_the_data_cannot_determine_is_named():
    data, _, _ = measured(nominal(2), rows=24)
    pulls = data.pulls.copy()
    pulls[:, 3:] = -0.02
    with pytest.raises(ar.TargetError, match=r"do not determine .*section-2.tendon-1.radius"):
        ar.fit(nominal(2, stiffness=1e4), ar.Measurements(pulls, data.positions), held_out=0.0)


def test_the_prior_is_that_of_shared_and_own_errors():
    model = Parametrisation(nominal(2), DEFAULT)
    names = [p.name for p in model.parameters]
    matrix = _prior(model)
    based = np.array([p.group == "base" for p in model.parameters])
    assert not matrix[based].any()
    assert not matrix[:, based].any()
    covariance = np.linalg.inv((matrix.T @ matrix)[np.ix_(~based, ~based)])

    def between(first, second):
        where = [np.flatnonzero(~based).tolist().index(names.index(name)) for name in (first, second)]
        return covariance[where[0], where[1]]

    own, section, _ = SPREADS["angle"]
    # The first angle is kept, so those of its section are measured from it and share its error, but no turn.
    assert between("section-1.tendon-2.angle", "section-1.tendon-2.angle") == pytest.approx(2.0 * own**2)
    assert between("section-1.tendon-2.angle", "section-1.tendon-3.angle") == pytest.approx(own**2)
    assert between("section-2.tendon-1.angle", "section-2.tendon-1.angle") == pytest.approx(own**2 + section**2)
    assert between("section-2.tendon-1.angle", "section-2.tendon-3.angle") == pytest.approx(section**2)
    assert between("section-1.tendon-2.angle", "section-2.tendon-1.angle") == pytest.approx(0.0, abs=1e-9)
    slack, _, tightened = SPREADS["slack"]
    assert between("section-1.tendon-1.slack", "section-2.tendon-3.slack") == pytest.approx(tightened**2)
    assert between("section-1.tendon-1.slack", "section-1.tendon-1.slack") == pytest.approx(slack**2 + tightened**2)
    assert between("section-1.tendon-1.slack", "section-1.tendon-1.radius") == pytest.approx(0.0, abs=1e-9)


def test_rigid_tendons_have_no_slack():
    robot = nominal()
    data, _, _ = measured(robot, free=("base", "radii"))
    assert ar.fit(robot, data, ["base", "radii"]).held_out_errors.mean() < 3.0 * NOISE
    with pytest.raises(ar.TargetError, match="need a stiffness"):
        ar.fit(robot, data, ["base", "pretension"])


def test_the_model_of_the_tendons_is_chosen_and_named():
    stiff, free = nominal(stiffness=5e3), ["base", "radii"]
    stiff = ar.Robot([replace(section, bending_stiffness=0.01) for section in stiff.elements])
    data, truth, _ = measured(nominal(), free=free)  # of rigid tendons
    wrong, right = ar.fit(stiff, data, free), ar.fit(stiff, data, free, elastic=False)
    assert wrong.elastic
    assert not right.elastic
    assert right.held_out_errors.mean() < 3.0 * NOISE < 0.2 * wrong.held_out_errors.mean()
    assert np.all(np.abs(right.values - truth) < 4.5 * right.errors)
    assert "tendons: rigid" in str(right)
    assert "predict with from_pulls(pulls, elastic=True)" in str(wrong)
    assert repr(right).startswith("<Fit: 40 rows fitted: ")
    for fit in (wrong, right):
        tips = fit.robot.tip_pose(fit.robot.from_pulls(data.pulls, fit.elastic).q)[:, :3, 3]
        np.testing.assert_allclose(tips[~fit.held_out], fit.predicted[~fit.held_out], atol=1e-12)


@pytest.mark.parametrize(
    ("elastic", "free", "words"),
    [
        (False, DEFAULT, "rigid tendons have no stiffness, pretension, rest; leave these groups out of free"),
        (True, ["radii"], "elastic = True needs a stiffness of every section and tendon"),
        ("rigid", ["radii"], "elastic = 'rigid' is not accepted"),
    ],
)
def test_models_that_cannot_be_fitted_are_refused(elastic, free, words):
    data, _, _ = measured()
    with pytest.raises((ar.TargetError, ar.RobotError), match=words):
        ar.fit(nominal(), data, free, elastic=elastic)


def test_an_interrupted_fit_keeps_its_best():
    data, _, _ = measured()

    def stop(done, total):
        if done > 12:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        ar.fit(nominal(), data, progress=stop)
    best = caught.value.result
    assert not best.complete
    assert best.tip_errors.mean() < 0.02


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": 4}, "rows to fit cannot determine"),
        ({"free": ["lengths", "colour"]}, "free = .*colour.* give a list of some of base"),
        ({"free": "base"}, "give a list"),
        ({"held_out": 1.0}, "held_out = 1.0"),
        ({"pulls": 1e3}, "pulls has .* m for a robot of 0.08 m; give metres"),
        ({"positions": 1e3}, "tip positions are .* m apart"),
    ],
)
def test_refused(change, words):
    data, _, _ = measured()
    rows = slice(change.pop("rows", None))
    scales = [change.pop(name, 1.0) for name in ("pulls", "positions")]
    with pytest.raises(ar.TargetError, match=words):
        ar.fit(nominal(), ar.Measurements(data.pulls[rows] * scales[0], data.positions[rows] * scales[1]), **change)


def test_data_of_another_kind_are_refused():
    with pytest.raises(ar.TargetError, match="data = None is not accepted; give Measurements or the path"):
        ar.fit(nominal(), None)


def test_robots_that_cannot_be_fitted_are_refused():
    data, _, _ = measured()
    with pytest.raises(ar.RobotError, match="sections have tendons"):
        ar.fit(ar.Robot([ar.Section(0.1, 1.0)]), data)
    with pytest.raises(ar.RobotError, match="'revolute-1' is not accepted in a fit"):
        ar.fit(ar.Robot([ar.Revolute((0, 0, 1)), *nominal().elements]), data)
    with pytest.raises(ar.TargetError, match="3 pulls a row; the robot has 6"):
        ar.fit(nominal(2), data)
    telescopic = ar.Robot([replace(nominal().elements[0], length=0.0, stretch=0.08)])
    with pytest.raises(ar.TargetError, match=r"free = \['lengths'\] has no parameters"):
        ar.fit(telescopic, data, ["lengths"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"pulls": [[0.0, math.nan, 0.0]], "positions": [[0, 0, 1]]}, r"pulls\[0\] has a number that is not finite"),
        ({"pulls": [[0.0]], "positions": [[0, 0]]}, r"positions has the shape \(1, 2\); give numbers .* \(n, 3\)"),
        ({"pulls": [[0.0]], "positions": [[0, 0, 1]], "points": [[0, 0, 1]]}, r"give numbers .* \(n, m, 3\)"),
        ({"pulls": [[0.0]], "positions": [[0, 0, 1]] * 2}, "1 rows of pulls and 2 of positions"),
        ({"pulls": [[0.0]], "positions": [[0, 0, 1]], "points": [[[0, 0, 1]]]}, "belong together"),
        ({"pulls": [[0.0]], "positions": [[0, 0, 1]], "commands": ["a", "b"]}, "a label for each"),
    ],
)
def test_measurements_are_checked(given, words):
    with pytest.raises(ar.TargetError, match=words):
        ar.Measurements(**given)


HEADER = "command,pull_1_mm,pull_2_mm,pull_3_mm,tip_x_mm,tip_y_mm,tip_z_mm\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (HEADER, "no rows of numbers"),
        (HEADER + "a,1,2,3,4,5,nan\n", "line 2: has a number that is not finite"),
        (HEADER + "a,1,2,3,4,5,six\n", "line 2: has a cell that is missing or not a number"),
        (HEADER.replace("pull_2_mm,", "") + "a,1,3,4,5,6\n", "no column for section-1.tendon-2"),
        (HEADER.replace("pull_2_mm", "pull_2_cm") + "a,1,2,3,4,5,6\n", "columns of the pulls have different units"),
        (HEADER.replace("_mm", "") + "a,1,2,3,0,0,0\n", "pulls has 3 m for a robot of 0.08 m"),
        (HEADER.replace("command", "pull_1_mm") + "1,1,2,3,4,5,6\n", "two columns for section-1.tendon-1"),
        ("x_at_0.06,x_at_.06_mm\n", "two columns for x_at_0.06; remove one"),
    ],
)
def test_files_are_checked(text, words, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(ar.FileError, match=words):
        read_measurements(path, nominal())


def test_columns_by_tendon_names_with_rotations_and_points(tmp_path):
    path = tmp_path / "data.csv"
    names = ",".join(f"section-1.tendon-{i}_cm" for i in (1, 2, 3))
    path.write_text(
        f"{names},x,y,z,qw,qx,qy,qz,x_at_0.04_mm,y_at_0.04_mm,z_at_0.04_mm\n.1,.2,.3,0,0,.08,2,0,0,0,1,2,40\n"
    )
    data = read_measurements(path, nominal())
    np.testing.assert_allclose(data.pulls, [[0.001, 0.002, 0.003]])
    np.testing.assert_allclose(data.rotations, [np.eye(3)])
    np.testing.assert_allclose(data.points, [[[0.001, 0.002, 0.04]]])
    assert data.arc_lengths == [0.04]


def test_a_robot_without_tendons_has_no_measurements(tmp_path):
    with pytest.raises(ar.RobotError, match="robot 'bare' has no tendons"):
        read_measurements(tmp_path / "data.csv", ar.Robot([ar.Section(0.1, 1.0)], "bare"))


def test_names_of_columns_may_have_capitals_and_end_like_units(tmp_path):
    path = tmp_path / "data.csv"
    tendons = [ar.Tendon(0.005, angle, name=f"wire{i}_m") for i, angle in enumerate((0.0, 2.0, 4.0))]
    robot = ar.Robot([ar.Section(0.08, 3.0, tendons=tendons)])
    # Metres without and with the ending are the same unit.
    path.write_text(
        "Command,section-1.wire0_m,section-1.wire1_m_m,Section-1.wire2_M,X,y_m,z\na,1e-3,2e-3,3e-3,0,0,.08\na,0,0,0,0,0,.08\n"
    )
    data = read_measurements(path, robot)
    np.testing.assert_allclose(data.pulls, [[0.001, 0.002, 0.003], [0, 0, 0]])
    assert data.commands.tolist() == ["a", "a"]


def test_command_line(fitted, tmp_path, monkeypatch, capsys):
    fit, _ = fitted
    ar.save_robot(nominal(), tmp_path / "robot.toml")
    rows = np.column_stack([fit.data.commands, 1e3 * fit.data.pulls, 1e3 * fit.data.positions])
    text = "\n".join(",".join(f"{value:.17g}" for value in row) for row in rows)
    (tmp_path / "data.csv").write_text(HEADER + text + "\n")
    given = [tmp_path / "robot.toml", tmp_path / "data.csv", "--out", tmp_path / "out.toml"]
    monkeypatch.setattr(sys, "argv", ["arcreach", "fit", *map(str, given), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    shown = json.loads(capsys.readouterr().out)
    assert np.all(np.abs([p["value"] for p in shown["parameters"]] - fit.values) < fit.errors)
    assert shown["elastic"]
    assert len(ar.load_robot(tmp_path / "out.toml").elements) == 2


def test_the_command_line_takes_the_model(fitted, tmp_path, monkeypatch, capsys):
    ar.save_robot(nominal(), tmp_path / "robot.toml")
    rows = 1e3 * np.column_stack([np.arange(len(fitted[0].data)) / 1e3, fitted[0].data.pulls, fitted[0].data.positions])
    text = "\n".join(",".join(f"{value:.17g}" for value in row) for row in rows)
    (tmp_path / "data.csv").write_text(HEADER + text + "\n")
    given = [str(tmp_path / "robot.toml"), str(tmp_path / "data.csv"), "--rigid", "--free"]
    for free, words in (("base, radii", "tendons: rigid"), ("base,rest", "rigid tendons have no rest")):
        monkeypatch.setattr(sys, "argv", ["arcreach", "fit", *given, free])
        with pytest.raises(SystemExit):
            main()
        assert words in "".join(capsys.readouterr())


def test_help_names_every_group(monkeypatch, capsys):
    # The width of a terminal; a word that does not fit its column is cut off.
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["arcreach", "fit", "--help"])
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert all(name in shown for name in GROUPS)
