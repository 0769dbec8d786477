import numpy as np
import pytest
from tests.studio.waiting import settle, until

import arcreach as ar
from arcreach.ik.method import Method, Outcome, register, unregister
from arcreach.kernels.chain.layout import STALLED
from arcreach.robots.initial import initial_pose
from arcreach.studio.panels.results import table_of
from arcreach.studio.state.answer import Answer, Result
from arcreach.studio.state.request import Request

ROBOT = ar.load_robot("three-section")


def result(**fields):
    given = {
        "method": "auto",
        "q": ROBOT.neutral,
        "status": "reached",
        "reached": True,
        "position_error": 3e-5,
        "angle_error": 0.002,
        "seconds": 4e-4,
        "iterations": 7,
        "clearance": 0.041,
    }
    return Result(**{**given, **fields})


def test_the_table_shows_both_results():
    shown = table_of(
        Answer(Request(ROBOT, np.eye(4)), (result(), result(method="dls", clearance=-0.006, reached=False)))
    )
    for text in ("0.03 mm", "0.1°", "0.40 ms", "7", "41 mm", "−6.0 mm", "auto: reached", "dls"):
        assert text in shown


def test_missing_values_are_dashes():
    nothing = {"position_error": None, "angle_error": None, "seconds": None, "iterations": None, "clearance": None}
    assert table_of(Answer(Request(ROBOT, np.eye(4)), (result(**nothing),))).count("–") == 5


def test_texts_are_escaped():
    shown = table_of(Answer(Request(ROBOT, np.eye(4)), (result(method="<img src=x>", status="<script>"),)))
    assert "<img" not in shown
    assert "<script" not in shown


def slow(problem):
    """Return a better result at the second attempt, which has more time."""
    budget = problem.max_time
    outcome = Outcome.empty(problem)
    q = initial_pose(problem.robot) * (0.5 if budget < 0.1 else 0.9)
    outcome.q[:], outcome.status[:], outcome.iterations[:], outcome.seconds[:] = q, STALLED, 3, budget
    return outcome


@pytest.mark.usefixtures("studio")
def test_the_chart_agrees_with_the_table(page):
    register(Method("slow", "is better at the second attempt", "derived", slow))
    try:
        page.change(method="slow")
        until(lambda: page.answer.results[0].seconds > 0.1)
        settle(page)
        with page.stage.drawing():
            result = page.answer.results[0]
            error, milliseconds = (line[-1] for line in page.panels.chart.handle.data[1:])
            assert (error, milliseconds) == (1e3 * result.position_error, 1e3 * result.seconds)
    finally:
        unregister("slow")
        page.change(method="auto")
