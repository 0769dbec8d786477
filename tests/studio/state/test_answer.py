import numpy as np
import pytest

import arcreach as ar
from arcreach.ik.method import Method, register, unregister
from arcreach.studio.state.answer import better_of, judge_clearance, solve_request
from arcreach.studio.state.request import POSITION, Request

ROBOT = ar.Robot([ar.Section(0.05, 2.0, radius=0.003)] * 2, name="two")
Q = np.array([0.8, 0.3, 0.9, -0.4])
POSE = ROBOT.tip_pose(Q)
# The middle of the second section.
INSIDE = ar.Scene([ar.Sphere(tuple(ROBOT.backbone(Q, 5)[3]), 0.01), ar.Sphere((1.0, 0.0, 0.0), 0.01)])


def solved(request, start, **options):
    """Solve without the short time limit of a drag."""
    return solve_request(request, start, 60.0, **options)


def request(**fields):
    return Request(ROBOT, POSE, **{"method": "dls", **fields})


def test_a_target_is_reached_by_forward_kinematics():
    found = solved(request(aim=POSITION), ROBOT.neutral)
    assert found.results[0].reached
    assert found.results[0].status == "reached"
    assert np.allclose(ROBOT.tip_pose(found.q)[:3, 3], POSE[:3, 3], atol=2e-6)
    assert found.results[0].angle_error is None
    assert found.results[0].clearance is None


def test_two_methods_have_the_same_start():
    found = solved(request(compared="jacobian-transpose", aim=POSITION), Q)
    assert [result.method for result in found.results] == ["dls", "jacobian-transpose"]
    assert all(np.allclose(result.q, Q) for result in found.results)


def test_the_distance_out_of_reach_is_in_millimetres():
    pose = POSE.copy()
    pose[:3, 3] = (0.0, 0.0, 0.138)
    result = solved(Request(ROBOT, pose, POSITION, "dls"), ROBOT.neutral).results[0]
    assert not result.reached
    assert result.status == "out of reach, 38 mm short"


def test_a_given_configuration_is_only_judged():
    found = solved(request(q=Q, scene=INSIDE), ROBOT.neutral)
    assert np.array_equal(found.q, Q)
    result = found.results[0]
    assert (result.touched, result.position_error, result.iterations) == ((0,), None, None)
    assert result.status == "runs into an obstacle"
    assert solved(request(q=Q), ROBOT.neutral).results[0].status == "set by hand"


def test_a_given_configuration_is_clipped_to_the_limits():
    found = solved(request(q=np.array([9.0, 0.0, 0.0, 0.0])), ROBOT.neutral)
    assert ROBOT.within_limits(found.q)


def test_a_solution_in_collision_is_not_reached():
    result = solved(request(scene=INSIDE, avoid=False), Q).results[0]
    assert not result.reached
    assert result.touched == (0,)
    assert result.status == "reached, but runs into an obstacle"


def test_a_method_that_does_not_accept_the_target_says_so():
    result = solved(Request(ROBOT, POSE, "whole pose", "fabrikc"), Q).results[0]
    assert np.array_equal(result.q, Q)
    assert not result.reached
    assert "fabrikc" in result.status


def test_a_target_of_nan_is_refused_and_raises_nothing():
    pose = POSE.copy()
    pose[0, 3] = np.nan
    result = solved(Request(ROBOT, pose, POSITION, "dls"), Q).results[0]
    assert not result.reached
    assert "nan" in result.status


def test_a_body_passes_the_entry_point_by_auto_and_other_methods_are_judged():
    robot = ar.load_robot("three-section")
    q = np.array([0.7, 0.0, 0.7, 0.6, 0.7, 1.2])
    pose = robot.tip_pose(q)
    port = ar.Port(tuple(robot.backbone(q, 3)[1] + [2e-3, 0.0, 0.0]), radius=1e-3)
    results = solved(Request(robot, pose, POSITION, "auto", "dls", port=port), q).results
    assert results[0].reached
    assert port.passage(robot, results[0].q).kept[0]
    assert np.allclose(robot.tip_pose(results[0].q)[:3, 3], pose[:3, 3], atol=2e-6)
    assert (results[1].reached, results[1].status) == (False, "reached, but misses the entry point")
    assert np.array_equal(results[1].q, q)
    assert results[1].port_distance == port.passage(robot, q).distance[0] > port.radius
    by_hand = solved(Request(robot, pose, POSITION, port=port, q=q), q).results[0]
    assert (by_hand.status, by_hand.port_distance) == ("misses the entry point", results[1].port_distance)


def test_held_coordinates_keep_the_values_of_the_start():
    start = np.array([*Q[:2], 1.2, -0.2])
    held = solved(request(aim=POSITION, method="auto", held=frozenset({0, 1})), start).results[0]
    assert held.reached
    assert np.array_equal(held.q[:2], Q[:2])
    assert np.allclose(ROBOT.tip_pose(held.q)[:3, 3], POSE[:3, 3], atol=2e-6)
    for method, kept, reason in (("auto", {0}, "hold names a part of a section"), ("fabrikc", {0, 1}, "fabrikc")):
        refused = solved(request(aim=POSITION, method=method, held=frozenset(kept)), start).results[0]
        assert refused.refused
        assert reason in refused.status
        assert np.array_equal(refused.q, start)


def broken(problem):
    raise KeyError("no such joint")


def test_a_method_that_fails_says_so_and_is_logged(caplog):
    register(Method("broken", "fails", "derived", broken))
    try:
        result = solved(request(method="broken"), Q).results[0]
    finally:
        unregister("broken")
    assert result.refused
    assert result.status == "failed by KeyError: 'no such joint'"
    assert "the method broken failed" in caplog.text


def test_the_better_of_two_answers():
    near, far = solved(request(aim=POSITION), Q), solved(request(aim=POSITION, q=ROBOT.neutral), Q)
    assert better_of(far, near).results == near.results
    assert better_of(near, near).results == near.results
    pose = POSE.copy()
    pose[:3, 3] = (0.0, 0.0, 0.2)
    short = solved(Request(ROBOT, pose, POSITION, "dls"), ROBOT.neutral)
    assert not short.reached
    assert better_of(short, near).results == near.results


def test_a_trace_is_recorded_on_demand():
    found = solved(request(aim=POSITION), ROBOT.neutral, trace=True)
    trace = found.results[0].trace
    assert trace is not None
    assert np.array_equal(trace.q[-1], found.q)


def test_clearance():
    nearest, touched = judge_clearance(ROBOT, Q, INSIDE)
    assert nearest is not None
    assert nearest < 0.0
    assert touched == (0,)
    assert judge_clearance(ROBOT, Q, ar.Scene()) == (None, ())
    away, none = judge_clearance(ROBOT, Q, ar.Scene([ar.Sphere((1.0, 0.0, 0.0), 0.01)]))
    assert away == pytest.approx(float(ar.clearance(ROBOT, Q, ar.Sphere((1.0, 0.0, 0.0), 0.01))))
    assert none == ()
