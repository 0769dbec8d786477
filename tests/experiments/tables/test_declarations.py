"""Declarations of experiments: cases, blocks, limits and methods; and who judges their rows."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError, MethodError
from arcreach.experiments import NAMES, find_experiment
from arcreach.experiments.engine.comparison import Comparison, accepts
from arcreach.experiments.engine.experiment import Settings
from arcreach.experiments.engine.judge import AXIS, POSITION, ROTATION, errors, judge
from arcreach.ik.solution import Status


def test_a_section_is_drawn_anew_every_500_targets():
    experiment = find_experiment("single-section")
    settings = experiment.settings()
    case = experiment.cases(settings)[3]
    pieces = list(experiment.targets(case, settings, 400, 700))
    assert [len(poses) for _, poses, _ in pieces] == [100, 500, 100]
    assert len({robot for robot, _, _ in pieces}) == 3
    again = np.concatenate([poses for _, poses, _ in experiment.targets(case, settings, 0, 1100)])[400:]
    assert np.array_equal(np.concatenate([poses for _, poses, _ in pieces]), again)


@pytest.mark.compiled
def test_mixed_sections_are_540_cases():
    experiment = find_experiment("mixed-sections")
    settings = experiment.settings(2, 0, ("auto",))
    blocks = experiment.blocks(settings)
    assert len(blocks) == 540
    assert sum(block.count for block in experiment.blocks(experiment.settings("full", 0, ("auto",)))) == 5_400_000
    rows = experiment.rows(blocks[-1], settings)
    assert rows["reached"].all()


def test_every_printed_number_has_a_place():
    for name in NAMES:
        experiment = find_experiment(name)
        if isinstance(experiment, Comparison):
            settings = experiment.settings()
            cases = {case.name for case in experiment.cases(settings)} | {""}
            for one in experiment.printed():
                assert one.case in cases
                assert one.method in experiment.method_labels(settings)


@pytest.mark.parametrize("name", ["tube", "hierarchical", "contact"])
def test_the_number_of_targets_is_kept(name):
    experiment = find_experiment(name)
    assert {block.count for block in experiment.blocks(experiment.settings(2))} == {2}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "workspace"])
def test_blocks_name_every_target_once(name):
    experiment = find_experiment(name)
    blocks = experiment.blocks(experiment.settings())
    rows = {}
    for block in blocks:
        rows.setdefault((block.case, block.method), []).extend(range(block.first, block.first + block.count))
    assert all(found == list(range(len(found))) for found in rows.values())
    assert len({block.stem for block in blocks}) == len(blocks)


def test_a_budget_of_time_becomes_iterations():
    from arcreach.experiments.published import iterations_within
    from arcreach.experiments.tables.variable_curvature import iterations_in_budget

    assert iterations_within(0.030, {"mean_time_ms": "4.5", "mean_iterations": "16"}) == 107
    limits = iterations_in_budget(6)
    # Nothing was reached in 30 ms there: an iteration takes what it takes in 500 ms.
    assert limits["jacobian"] == round(30 * 60 / 401.3)
    assert limits["jacobian 500 ms"] == round(500 * 60 / 401.3)
    experiment = find_experiment("variable-curvature")
    known = {call.label for call in experiment.calls}
    assert all(set(case.limits) <= known for case in experiment.cases(Settings()))


def test_the_judge_believes_nobody():
    robot = ar.load_robot("puma-560")
    q = robot.sample(4, seed=0)
    poses = robot.tip_pose(q)
    moved = q.copy()
    moved[1, 0] += 1e-2
    outside = moved.copy()
    outside[2, 1] = robot.upper[1] + 0.5
    for goal in (POSITION, AXIS, ROTATION):
        judged = judge(robot, outside, poses, goal, 1e-6, 1e-6, np.full(4, Status.REACHED))
        assert judged["reached"].tolist() == [True, False, False, True]
        assert judged["status"].tolist() == ["REACHED", "STALLED", "STALLED", "REACHED"]
    timid = judge(robot, q, poses, ROTATION, 1e-6, 1e-6, np.full(4, Status.TIME_LIMIT))
    assert timid["reached"].all()
    found = ar.solve_batch(robot, poses[:, :3, 3], rotations=poses[:, :3, :3], method="ccd", max_iterations=3)
    distance, angle = errors(robot, found.q, poses, ROTATION)
    assert distance == pytest.approx(found.position_error, abs=1e-12)
    assert angle == pytest.approx(found.angle_error, abs=1e-7)


@pytest.mark.parametrize("name", ["nothing:here", "arcreach:nothing", "arcreach:__version__"])
def test_a_method_that_cannot_be_loaded_is_refused(name):
    with pytest.raises(MethodError, match=r"module:function|a function or"):
        find_experiment("compare").settings(methods=[name])


def test_the_file_of_a_method_must_be_readable(tmp_path, monkeypatch):
    (tmp_path / "gone_method.py").write_text("def rest(robot, target):\n    return robot.neutral\n")
    monkeypatch.syspath_prepend(tmp_path)
    experiment = find_experiment("compare")
    settings = experiment.settings(methods=["gone_method:rest"])
    assert set(experiment.sources(settings)) == {"gone_method:rest"}
    (tmp_path / "gone_method.py").unlink()
    with pytest.raises(FileError, match=r"gone_method\.py: no such file"):
        experiment.sources(settings)


def test_only_compare_takes_a_robot():
    with pytest.raises(MethodError, match="compare"):
        find_experiment("scaling").settings(robot=ar.load_robot("three-section"))


def test_methods_are_only_given_what_they_serve():
    experiment = find_experiment("scaling")
    settings = experiment.settings()
    served = {
        (case.name, call.label)
        for case in experiment.cases(settings)
        for call in experiment.calls
        if accepts(call, case)
    }
    assert {(block.case, block.method) for block in experiment.blocks(settings)} == served
