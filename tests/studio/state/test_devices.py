"""Messages of operators: what they hold, and what a hostile page may send."""

import json

import numpy as np
import pytest

from arcreach.studio.state import devices as module
from arcreach.studio.state.devices import MOUSE_REST, STICK_REST, Devices, parse_message

STANDARD = {"id": "Xbox 360 Controller", "mapping": "standard", "axes": [0.0] * 4, "buttons": [0.0] * 17}
MOUSE = {"id": "SpaceMouse Wireless (Vendor: 256f Product: c62e)", "mapping": "", "axes": [0.0] * 6, "buttons": [0, 0]}


def message(**fields):
    return json.dumps(fields)


def axes_of(pad, axis=None, button=None, value=1.0):
    given = {**pad, "axes": list(pad["axes"]), "buttons": list(pad["buttons"])}
    if axis is not None:
        given["axes"][axis] = value
    if button is not None:
        given["buttons"][button] = value
    return parse_message(message(pads=[given]))[0].tolist()


def test_all_pages_together_and_one_that_is_closed():
    devices = Devices()
    assert devices.hear(1, message(held=[1, 0, 0, 0, 0, -1]))
    assert devices.hear(2, message(held=[1, 0.5, 0, 0, 0, 0]))
    assert devices.axes().tolist() == [1.0, 0.5, 0.0, 0.0, 0.0, -1.0]
    devices.forget(2)
    assert devices.axes().tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, -1.0]


def test_a_page_that_falls_silent_lets_go(monkeypatch):
    devices, now = Devices(), [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    devices.hear(1, message(held=[0, 1, 0, 0, 0, 0]))
    now[0] += 0.9 * module.SILENCE
    assert devices.axes()[1] == 1.0
    now[0] += 0.2 * module.SILENCE
    assert not devices.axes().any()


def test_steps_are_taken_once_and_in_order():
    devices = Devices()
    devices.hear(1, message(step=[0, 0, 3.5, 0, 0, 0]))
    devices.hear(1, message(step=[0, -1, 0, 0, 0, 0]))
    assert devices.next_step().tolist() == [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert devices.next_step().tolist() == [0.0, -1.0, 0.0, 0.0, 0.0, 0.0]
    assert devices.next_step() is None
    assert not devices.axes().any()


@pytest.mark.parametrize(
    ("pad", "moved", "axis", "sign"),
    [
        (STANDARD, {"axis": 0}, 0, 1),
        (STANDARD, {"axis": 1}, 1, -1),
        (STANDARD, {"button": 7}, 2, 1),
        (STANDARD, {"button": 6}, 2, -1),
        (STANDARD, {"axis": 3}, 3, -1),
        (STANDARD, {"axis": 2}, 4, 1),
        (STANDARD, {"button": 4}, 5, 1),
        (STANDARD, {"button": 5}, 5, -1),
        (MOUSE, {"axis": 0}, 0, 1),
        (MOUSE, {"axis": 1}, 1, -1),
        (MOUSE, {"axis": 2}, 2, -1),
        (MOUSE, {"axis": 3}, 3, 1),
        (MOUSE, {"axis": 4}, 4, -1),
        (MOUSE, {"axis": 5}, 5, -1),
    ],
)
def test_the_axes_of_gamepads_and_3d_mice(pad, moved, axis, sign):
    wanted = np.zeros(6)
    wanted[axis] = sign
    assert np.allclose(axes_of(pad, **moved), wanted)


def test_a_stick_at_rest_moves_nothing_and_grows_from_there():
    assert axes_of(STANDARD, axis=0, value=0.9 * STICK_REST)[0] == 0.0
    assert 0.0 < axes_of(STANDARD, axis=0, value=1.1 * STICK_REST)[0] < 0.05
    assert axes_of(MOUSE, axis=0, value=0.9 * MOUSE_REST)[0] == 0.0
    # A joystick of another layout is not guessed at.
    other = {**STANDARD, "mapping": ""}
    assert not any(axes_of(other, axis=0))
    devices = Devices()
    devices.hear(1, message(pads=[STANDARD]))
    assert devices.pads == ["Xbox 360 Controller"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[1, 2]",
        "3",
        "null",
        '{"held": 7}',
        '{"held": ["x"]}',
        '{"held": [NaN]}',
        '{"step": [1e999]}',
        '{"pads": [{}]}',
        '{"pads": [7]}',
        '{"pads": [{"id": "a", "axes": 1, "buttons": []}], "mapping": "standard"}',
        "[" * 5000,
        '{"held": [' + "0," * 9000 + "0]}",
        b"\xff\xfe",
    ],
)
def test_malformed_messages_are_refused(text):
    devices = Devices()
    understood = devices.hear(1, text)
    assert not understood or not devices.axes().any()
    assert devices.next_step() is None
