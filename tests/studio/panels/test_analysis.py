"""The analysis tab: a solve with a trace, row by row, and its CSV file."""

import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar
from arcreach.ik.log import csv_log
from arcreach.studio.panels.analysis import trace_row
from arcreach.studio.state.request import POSE, Tuning


def test_every_joint_step_forwards_and_backwards(studio):
    robot = ar.load_robot("ur5")
    studio.set_robot(robot)
    studio.panels.target.aim.value = POSE
    studio.set_aim(POSE)
    studio.change(method="finite-rotation", tuning=Tuning(1e-3, 0.01))
    settle(studio)
    tab, request = studio.panels.analysis, studio.state.request
    trace = ar.solve(
        robot,
        request.target,
        "finite-rotation",
        start=robot.neutral,
        position_tol=1e-3,
        angle_tol=0.01,
        max_time=1.0,
        trace=True,
        joint_steps=True,
    ).trace
    with client_of(studio) as client:
        client.set(tab.solve, True)
        until(lambda: "joint step" in tab.table.content)
        assert studio.player.frame == 0
        assert not studio.player.playing
        for button, row in (("Next", 1), ("Next", 2), ("Back", 1), ("Last", len(trace) - 1), ("First", 0), ("Back", 0)):
            client.set(tab.step, button)
            until(lambda row=row: studio.player.frame == row and f"{row} of {len(trace) - 1}" in tab.table.content)
            until(lambda row=row: np.array_equal(studio.q, trace.q[row]))
            assert tab.row.value == row
        client.set(tab.row, 3)
        until(lambda: np.array_equal(studio.q, trace.q[3]))
        assert studio.answer.results[0].position_error == trace.position_error[3]
        client.set(tab.save, True)
        until(lambda: client.of_type("FileTransferPart"))
        assert client.of_type("FileTransferStartDownload")[0]["filename"] == "arcreach-trace-finite-rotation.csv"
        assert bytes(client.of_type("FileTransferPart")[0]["content"]).decode() == csv_log(robot, trace)
        # Without a trace there is nothing to step through.
        client.set(studio.panels.trajectory.close, True)
        until(lambda: not tab.step.visible and tab.table.content == "")


def test_the_numbers_of_a_row():
    robot = ar.load_robot("ur5")
    target = ar.Target.from_pose(robot.tip_pose([0.3, -1.2, 1.0, 0.2, 0.5, 0.1]))
    trace = ar.solve(robot, target, "finite-rotation", start=robot.neutral, trace=True, joint_steps=True).trace
    columns = trace.columns
    start, first = (trace_row(robot, trace, k, True) for k in (0, 1))
    assert (start["objective"], start["step"]) == ("–", "–")
    assert first["macro iteration"] == "1"
    assert first["objective"] == "distance"
    name, size = first["step"].split(" ")
    assert name == robot.coordinates[int(columns["coordinate"][1])]
    assert float(size.rstrip("°").replace("−", "-")) == pytest.approx(np.degrees(columns["step"][1]), abs=5e-4)
    assert list(first)[-3:] == ["distance", "long axis angle", "cross axis angle"]
    k = int(np.argmax(columns["limit"] != 0.0))
    limited = trace_row(robot, trace, k, True)["step"]
    assert ("limit" in limited) == bool(columns["limit"][k])
    # A method without numbers of its own shows its errors.
    plain = ar.solve(robot, target, "dls", start=robot.neutral, trace=True).trace
    assert list(trace_row(robot, plain, 1, True)) == ["iteration", "error", "angle"]
    assert list(trace_row(robot, plain, 1, False)) == ["iteration", "error"]
