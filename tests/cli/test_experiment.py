"""`arcreach experiment`: list, run, report, and what is refused."""

import pytest

from arcreach.cli.commands import experiment
from arcreach.experiments import NAMES

pytest.importorskip("polars")


def test_list_names_every_experiment(run):
    code, out, _ = run("experiment", "list")
    assert code == 0
    assert all(name in out for name in NAMES)


def test_run_and_report(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = run("experiment", "run", "hierarchical", "--targets", "1", "--out", tmp_path)
    assert code == 0
    assert "hierarchical: 1 of 1 reached" in out
    assert str(tmp_path) in err
    code, out, _ = run("experiment", "report", tmp_path)
    assert code == 0
    assert out.split() == [str(tmp_path / "report.md"), str(tmp_path / "report.html")]
    # A second run finds everything there.
    assert run("experiment", "run", "hierarchical", "--targets", "1", "--out", tmp_path)[0] == 0


@pytest.mark.compiled
def test_all_experiments_run_one_after_another(run, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "NAMES", ("hierarchical", "single-section"))
    code, out, err = run("experiment", "run", "all", "--targets", "1", "--seed", "3", "--out", tmp_path)
    assert code == 0
    assert "hierarchical: 1 of 1 reached" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hierarchical", "single-section"]
    assert all(str(tmp_path / name) in err for name in experiment.NAMES)
    # A second run finds everything there.
    assert run("experiment", "run", "all", "--targets", "1", "--seed", "3", "--out", tmp_path)[0] == 0


@pytest.mark.compiled
def test_the_robot_of_a_comparison_is_named(run, tmp_path):
    call = ("experiment", "run", "compare", "--targets", "1", "--methods", "auto")
    assert "robot: three-section; --robot chooses another\n" in run(*call, "--out", tmp_path / "a")[2]
    assert "robot: " not in run(*call, "--out", tmp_path / "b", "--robot", "two-section")[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "all", "--robot", "ur5"), "--methods and --robot are for one experiment"),
        (("run", "all", "--methods", "lm"), "--methods and --robot are for one experiment"),
        (("run", "all", "--targets", "0"), "targets = 0"),
        (("run", "nothing"), "experiment = 'nothing' is not known"),
        (("run", "scaling", "--targets", "some"), "--targets some"),
        (("run", "scaling", "--targets", "0"), "targets = 0"),
        (("run", "scaling", "--methods", "lm"), "method = 'lm'"),
        (("run", "scaling", "--robot", "ur5"), "--robot"),
        (("run", "scaling", "--seed", "-1"), "seed = -1"),
        (("run", "compare", "--robot", "no-robot"), "no-robot"),
        (("report", "/nowhere"), "/nowhere"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("experiment", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_the_wrong_folder_is_refused(run, tmp_path):
    assert run("experiment", "run", "hierarchical", "--targets", "1", "--out", tmp_path)[0] == 0
    code, _, err = run("experiment", "run", "hierarchical", "--targets", "1", "--out", tmp_path, "--seed", "1")
    assert code == 2
    assert "seed = 0" in err
    code, _, err = run("experiment", "run", "hierarchical", "--targets", "1", "--out", tmp_path, "--no-resume")
    assert code == 2
    assert "already" in err
