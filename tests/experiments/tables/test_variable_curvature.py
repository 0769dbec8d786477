"""The source's prediction for many arcs, from counts without a run."""

from types import SimpleNamespace

from arcreach.experiments.report.statistics import Summary
from arcreach.experiments.tables.variable_curvature import DRAWN, prediction

METHOD = "fabrikx iterative"


def run(*cases):
    return SimpleNamespace(summaries=[Summary(case, METHOD, 100, 90, 0, 1e-6, 1e-6, 1e-6, 1.0, 1.0) for case in cases])


def test_the_prediction_needs_all_four_robots():
    four = [f"robot {k}" for k in range(1, 5)]
    [text] = prediction(run(*four, DRAWN))
    assert "through ours 90 %" in text.text
    # An interrupted run has some of the cases.
    assert list(prediction(run("robot 1", DRAWN))) == []
    assert list(prediction(run(*four))) == []
