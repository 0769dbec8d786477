import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import SceneError
from arcreach.studio.panels.events import by_hand
from arcreach.studio.panels.results import table_of
from arcreach.studio.panels.sliders import knobs_of, shown_value
from arcreach.studio.solving import Answer, Result
from arcreach.studio.wish import Wish

ROBOT = ar.load_robot("three-section")


def result(**fields):
    given = {
        "method": "auto", "q": ROBOT.neutral, "status": "reached", "reached": True, "position_error": 3e-5,
        "angle_error": 0.002, "seconds": 4e-4, "iterations": 7, "clearance": 0.041,
    }  # fmt: skip
    return Result(**{**given, **fields})


def test_the_table_says_all_of_both():
    shown = table_of(Answer(Wish(ROBOT, np.eye(4)), (result(), result(method="dls", clearance=-0.006, reached=False))))
    for text in ("0.03 mm", "0.1°", "0.40 ms", "7", "41 mm", "−6.0 mm", "auto: reached", "dls"):
        assert text in shown


def test_what_is_not_known_is_a_dash():
    nothing = {"position_error": None, "angle_error": None, "seconds": None, "iterations": None, "clearance": None}
    assert table_of(Answer(Wish(ROBOT, np.eye(4)), (result(**nothing),))).count("–") == 5


def test_texts_are_escaped():
    shown = table_of(Answer(Wish(ROBOT, np.eye(4)), (result(method="<img src=x>", status="<script>"),)))
    assert "<img" not in shown
    assert "<script" not in shown


def test_groups_of_sliders():
    groups = knobs_of(ar.load_robot("ur5-bending-tool"))
    assert [title for title, _ in groups] == ["Joints", "Section 1", "Section 2", "Section 3"]
    assert [knob.label for knob in groups[1][1]] == ["bend °", "direction °"]
    assert len(groups[0][1]) == 6
    inserted = knobs_of(ar.load_robot("inserted-three-section"))
    assert inserted[0][0] == "Joint"
    assert inserted[0][1][0].label.endswith(" mm")
    assert sum(len(knobs) for _, knobs in inserted) == ar.load_robot("inserted-three-section").dof


def test_sliders_show_degrees_and_millimetres():
    robot = ar.Robot([ar.Revolute(lower=-np.inf, upper=np.inf), ar.Link((0, 0, 1)), ar.Prismatic(0.0, 0.05)])
    knobs = knobs_of(robot)[0][1]
    q = np.array([np.radians(370.0), 0.0123])
    assert [shown_value(knob, q) for knob in knobs] == [10.0, 12.3]
    assert (knobs[0].low, knobs[0].high, knobs[1].high) == (-180.0, 180.0, 50.0)


class Client:
    def __init__(self):
        self.told = []

    def add_notification(self, title, body, **_):
        self.told.append(body)


def test_only_a_person_has_wishes():
    called = []
    handler = by_hand(called.append)
    asyncio.run(handler(SimpleNamespace(client=None)))
    assert called == []
    event = SimpleNamespace(client=Client())
    asyncio.run(handler(event))
    assert called == [event]


def test_what_is_refused_is_told_to_who_asked():
    def refuse(_):
        raise SceneError("radius = nan is not accepted")

    client = Client()
    asyncio.run(by_hand(refuse)(SimpleNamespace(client=client)))
    assert client.told == ["radius = nan is not accepted"]


@pytest.mark.parametrize("name", ["ten-section", "panda", "librergm3"])
def test_every_coordinate_has_one_slider(name):
    robot = ar.load_robot(name)
    knobs = [knob for _, group in knobs_of(robot) for knob in group]
    assert [knob.coordinate for knob in knobs] == list(range(robot.dof))
