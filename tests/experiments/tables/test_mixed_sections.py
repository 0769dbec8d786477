"""Figures and tables of the mixed sections, from counts without a run."""

from types import SimpleNamespace

import numpy as np
import pytest

from arcreach.experiments import find_experiment
from arcreach.experiments.engine import convergence
from arcreach.experiments.report.statistics import Summary
from arcreach.experiments.tables.mixed_sections import READING, largest_leads, robot_panels

COUNT = 10


def summary(case, method, reached):
    return Summary(case, method, COUNT, reached, 0, 1e-6, 1e-6, 1e-6, 1.0, 1.0)


@pytest.fixture
def run():
    found = [
        summary(f"{kinds} {bend}°", method, reached)
        for kinds, shares in {"FFF": (2, 9), "TET": (8, 1)}.items()
        for bend in (9, 90, 180)
        for method, reached in zip(("fabrikx", "jacobian"), shares, strict=True)
    ]
    experiment = find_experiment("mixed-sections")
    return SimpleNamespace(experiment=experiment, settings=None, summaries=found, methods=("fabrikx", "jacobian"))


def test_every_robot_has_its_panel(run):
    pytest.importorskip("matplotlib")
    panels = {panel.get_title(): panel for panel in robot_panels(run).axes}
    assert len(panels) == 27
    lines = {line.get_label(): line for line in panels["TET"].lines}
    assert list(lines["fabrikx"].get_xdata()) == [9, 90, 180]
    assert list(lines["fabrikx"].get_ydata()) == [80.0] * 3
    assert not panels["EEE"].lines


def test_a_reading_converges_on_the_robots_of_its_rows(run, monkeypatch):
    solved = []

    def solve(robot, *_, **__):
        solved.append(robot)
        return SimpleNamespace(trace=SimpleNamespace(position_error=np.ones(2)))

    monkeypatch.setattr(convergence, "solve", solve)
    run.settings = run.experiment.settings(1)
    [call] = [call for call in run.experiment.calls if call.label == READING]
    case = run.experiment.cases(run.settings)[-1]
    assert len(list(convergence._errors(run.experiment, run, case, call))) == len(solved) == convergence.TARGETS
    assert all(section.coupled for section in case.robot.sections)
    assert not any(section.coupled for robot in solved for section in robot.sections)


def test_leads_have_their_cases(run):
    [(method, ahead, best, behind, worst)] = largest_leads(run)
    assert (method, ahead, behind) == ("fabrikx", "70.0", "70.0")
    assert (best.split()[0], worst.split()[0]) == ("TET", "FFF")
