import math

import pytest

from arcreach.ik.solution import Status
from arcreach.studio import text as written


@pytest.mark.parametrize(
    ("metres", "text"),
    [
        (0.0, "0.00 mm"),
        (3e-5, "0.03 mm"),
        (0.0382, "38 mm"),
        (0.0012, "1.2 mm"),
        (-0.006, "−6.0 mm"),
        (-1e-9, "0.00 mm"),
    ],
)
def test_millimetres(metres, text):
    assert written.millimetres(metres) == text


def test_degrees_and_times():
    assert written.degrees(math.radians(0.14)) == "0.1°"
    assert written.degrees(math.radians(38.0)) == "38°"
    assert [written.milliseconds(t) for t in (4e-6, 4e-4, 2.0)] == ["0.004 ms", "0.40 ms", "2.0 s"]


def test_out_of_reach_says_by_how_much():
    assert written.status(Status.OUT_OF_REACH, 0.038, 0.0) == "out of reach, 38 mm short"


def test_errors_too_small_to_be_seen_are_left_out():
    assert written.status(Status.REACHED, 1e-7, 1e-4) == "reached"
    assert written.status(Status.STALLED, 0.0021, 1e-4) == "not reached, 2.1 mm off"
    assert written.status(Status.STALLED, 1e-7, math.radians(11.0)) == "not reached, 11° off"
    assert written.status(Status.STALLED, 0.0021, math.radians(11.0)) == "not reached, 2.1 mm and 11° off"
    assert written.status(Status.STALLED, 0.0, 0.0) == "not reached"


def test_every_status_has_its_text():
    said = {status: written.status(status, 0.01, 0.0) for status in Status}
    assert len(set(said.values())) == len(Status)
    # The time limit is not named: more time seldom helps.
    assert said[Status.TIME_LIMIT] == "not found, the closest is 10 mm off"
    assert written.status(Status.TIME_LIMIT, 0.0, 0.0) == "not quite reached"
    assert "obstacle" in said[Status.COLLISION]
    assert written.status(Status.COLLISION, 0.0, 0.0) == "an obstacle is in the way"
