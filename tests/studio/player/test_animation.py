import numpy as np

import arcreach as ar
from arcreach.studio.player.animation import Animation, replay_animation
from arcreach.studio.state.answer import solve_request
from arcreach.studio.state.request import POSITION, Request

ROBOT = ar.Robot([ar.Section(0.05, 2.0, radius=0.003)] * 2, name="two")
Q = np.array([0.8, 0.3, 0.9, -0.4])


def test_a_replay_waits_for_the_slower_method():
    request = Request(ROBOT, ROBOT.tip_pose(Q), POSITION, "dls", "jacobian-transpose")
    found = solve_request(request, ROBOT.neutral, 10.0, trace=True)
    shown = replay_animation(found)
    lengths = [len(result.trace) for result in found.results]
    assert len(shown) == max(lengths)
    assert np.array_equal(shown.q[-1], found.results[0].q)
    assert np.array_equal(shown.ghost[-1], found.results[1].q)
    first = shown.answer(0, request)
    assert [result.method for result in first.results] == ["dls", "jacobian-transpose"]
    assert first.results[0].position_error == found.results[0].trace.position_error[0]
    assert first.results[0].status == f"iteration 0 of {lengths[0] - 1}"
    last = shown.answer(len(shown) - 1, request)
    assert last.results == found.results
    assert 2.0 <= shown.rate <= 30.0


def test_a_replay_without_iterations():
    shown = replay_animation(solve_request(Request(ROBOT, ROBOT.tip_pose(Q), q=Q), Q))
    assert len(shown) == 0
    assert shown.text == "by hand: set by hand; no iterations were recorded"


def test_the_frame_of_a_plan():
    scene = ar.Scene([ar.Sphere((1.0, 0.0, 0.0), 0.1)])
    request = Request(ROBOT, ROBOT.tip_pose(Q), scene=scene)
    frame = Animation("plan", "two corners", np.array([ROBOT.neutral, Q])).answer(1, request)
    assert np.array_equal(frame.q, Q)
    assert frame.results[0].status == "frame 2 of 2"
    assert frame.results[0].clearance > 0.8
