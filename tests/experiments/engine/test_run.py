"""Runs: the same rows whatever interrupts or spreads them."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from arcreach.errors import FileError, MethodError
from arcreach.experiments import Run, find_experiment, run_experiment
from arcreach.experiments.engine.store import Store

# Two blocks for every case and method, the second a short one: more than a run is killed.
NAME, TARGETS, METHODS = "jacobian", 1050, ("auto", "fabrikx", "chords", "chords reading", "jacobian")
SETTINGS = find_experiment(NAME).settings(TARGETS, 3, METHODS)
KILLS = 3
COMMAND = [
    sys.executable,
    "-c",
    "from arcreach.cli import main; main()",
    "experiment",
    "run",
    NAME,
    "--targets",
    str(TARGETS),
    "--seed",
    "3",
    "--methods",
    ",".join(METHODS),
    "--threads",
    "2",
]


def rows(folder):
    """All rows in order, without the one column that a clock writes."""
    return Store(folder).rows().collect().drop("seconds").sort("case", "method", "target")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run_experiment(NAME, SETTINGS, folder, threads=1)
    return rows(folder)


@pytest.mark.compiled
def test_no_row_is_missing_and_none_is_there_twice(whole):
    assert len(whole) == 3 * len(METHODS) * TARGETS
    assert whole.select("case", "method", "target").n_unique() == len(whole)
    assert whole.filter(whole["method"] == "auto")["reached"].all()


@pytest.mark.compiled
def test_threads_do_not_change_the_rows(whole, tmp_path):
    run_experiment(NAME, SETTINGS, tmp_path, threads=3)
    assert rows(tmp_path).equals(whole)


@pytest.mark.compiled
def test_fewer_targets_are_the_first_of_more(whole, tmp_path):
    run_experiment(NAME, find_experiment(NAME).settings(700, 3, ("auto",)), tmp_path, threads=2)
    assert rows(tmp_path).equals(whole.filter((whole["method"] == "auto") & (whole["target"] < 700)))


@pytest.mark.compiled
def test_another_seed_gives_other_rows(whole, tmp_path):
    run_experiment(NAME, find_experiment(NAME).settings(100, 4, ("auto",)), tmp_path, threads=2)
    same = whole.filter((whole["method"] == "auto") & (whole["target"] < 100))
    assert not rows(tmp_path)["position_error"].equals(same["position_error"])


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_several_times_and_resumed(whole, tmp_path):
    command = [*COMMAND, "--out", str(tmp_path)]
    chance = random.Random(7)
    kills = 0
    while kills < KILLS:
        before = len(list(tmp_path.glob("rows/*.parquet")))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = before + chance.randint(1, 3)
        while process.poll() is None and len(list(tmp_path.glob("rows/*.parquet"))) < wanted:
            time.sleep(0.002)
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(chance.random() * 0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    assert len(list(tmp_path.glob("rows/*.parquet"))) < len(find_experiment(NAME).blocks(SETTINGS))
    subprocess.run(command, check=True, capture_output=True)
    assert not list(tmp_path.rglob(".arcreach-*"))
    assert rows(tmp_path).equals(whole)


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_interrupted_by_a_key_and_resumed(whole, tmp_path):
    process = subprocess.Popen([*COMMAND, "--out", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and len(list(tmp_path.glob("rows/*.parquet"))) < 3:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert b"interrupted; run the same command again to continue" in err
    assert b"Traceback" not in err
    kept = rows(tmp_path)
    assert 0 < len(kept) < len(whole)
    assert not list(tmp_path.rglob(".arcreach-*"))
    assert not Store(tmp_path).sessions()[0]["finished"]
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("rows/*")}
    subprocess.run([*COMMAND, "--out", str(tmp_path)], check=True, capture_output=True)
    assert rows(tmp_path).equals(whole)
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())


@pytest.mark.compiled
def test_a_finished_run_computes_nothing_again(tmp_path):
    settings = find_experiment(NAME).settings(50, 0, ("auto",))
    run_experiment(NAME, settings, tmp_path, threads=1)
    told = []
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("rows/*")}
    run_experiment(NAME, settings, tmp_path, threads=1, report=told.append)
    assert told == []
    assert stamps == {path: path.stat().st_mtime_ns for path in tmp_path.glob("rows/*")}
    assert len(Store(tmp_path).sessions()) == 2


def test_a_finished_run_that_lost_rows_and_was_interrupted_is_not_finished(tmp_path, monkeypatch):
    settings = find_experiment("tube").settings(1, 0, ("follow position",))
    experiment = type(find_experiment("tube"))
    monkeypatch.setattr(experiment, "rows", lambda _, block, settings: {"reached": np.ones(block.count, bool)})
    run_experiment("tube", settings, tmp_path, threads=1)
    assert Run(tmp_path).finished
    next(tmp_path.glob("rows/*.parquet")).unlink()
    monkeypatch.setattr(experiment, "rows", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run_experiment("tube", settings, tmp_path, threads=1)
    assert not Run(tmp_path).finished


@pytest.mark.compiled
def test_progress_counts_up_to_all_rows(tmp_path):
    told = []
    settings = find_experiment(NAME).settings(1200, 0, ("auto",))
    run_experiment(NAME, settings, tmp_path, threads=2, report=lambda one: told.append((one.done, one.total, one.left)))
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})
    assert told[-1][0] == told[-1][1] == 3600
    assert all(left >= 0.0 for _, _, left in told)
    assert told[-1][2] == pytest.approx(0.0)


def test_an_unknown_experiment_is_refused():
    with pytest.raises(MethodError, match="not known"):
        find_experiment("table-9")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"targets": 0}, "targets"),
        ({"targets": True}, "targets"),
        ({"targets": "many"}, "targets"),
        ({"seed": -1}, "seed"),
        ({"methods": ["nothing"]}, "method"),
        ({"device": "gpu"}, "device"),
    ],
)
def test_bad_settings_are_refused(given, words):
    with pytest.raises(MethodError, match=words):
        find_experiment(NAME).settings(**given)


def test_only_auto_gets_the_device_which_is_not_part_of_a_run(tmp_path, monkeypatch):
    from arcreach.experiments.engine import comparison
    from arcreach.experiments.engine.experiment import Block, Settings
    from arcreach.experiments.tables import workspace

    told = []

    def listening(robot, positions, *rest, **options):
        told.append((options["method"], options.pop("device", None)))
        return solve_batch(robot, positions, *rest, **options)

    for module in (comparison, workspace):
        solve_batch = module.solve_batch
        monkeypatch.setattr(module, "solve_batch", listening)
    one = find_experiment("scaling").settings(2, 0, ("auto", "fabrikx"))
    run_experiment("scaling", one, tmp_path, threads=1)
    assert {device for _, device in told} == {None}
    told.clear()
    (tmp_path / "rows").rename(tmp_path / "before")
    (tmp_path / "rows").mkdir()
    other = find_experiment("scaling").settings(2, 0, ("auto", "fabrikx"), device="cuda")
    assert other == one
    run_experiment("scaling", other, tmp_path, threads=1)
    assert set(told) == {("auto", "cuda"), ("fabrikx", None)}
    assert [session["device"] for session in Store(tmp_path).sessions()] == ["cpu", "cuda"]
    told.clear()
    for method in ("auto", "chords"):
        workspace.EXPERIMENT.rows(Block("2 sections", method, 5000, 2), Settings(targets=1, device="auto"))
    assert set(told) == {("auto", "auto"), ("chords", None)}


def test_a_method_stands_for_its_variants_and_all_for_every_method():
    experiment = find_experiment("variable-curvature")
    assert experiment.settings(methods=["fabrikx", "auto"]).methods == (
        "auto",
        "fabrikx iterative",
        "fabrikx polynomial",
    )
    assert experiment.settings(methods=["all", "auto"]) == experiment.settings()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((FileError, OSError)):
        run_experiment("hierarchical", find_experiment("hierarchical").settings(), tmp_path / "file" / "run")
