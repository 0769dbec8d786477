"""Plans, replays, path files, contact plans and all solutions, played on the page."""

import threading
from pathlib import Path

import numpy as np
import pytest
from tests.studio.waiting import settle, until
from tests.studio.wire import client_of

import arcreach as ar
from arcreach.errors import FileError
from arcreach.studio.player.animation import Animation
from arcreach.studio.player.background import Background
from arcreach.studio.stage.contact import ContactMotion
from arcreach.studio.state.request import POSITION


def test_a_plan_is_played_and_saved(studio, instantly):
    robot = studio.state.request.robot
    work = instantly((np.linspace(robot.neutral, studio.q, 20), "2 corners"))
    with client_of(studio) as client:
        client.set(studio.panels.trajectory.start, True)
        until(lambda: "begins here" in studio.panels.trajectory.text.content)
        client.set(studio.panels.trajectory.plan, True)
        until(lambda: studio.player.frame > 2)
        assert work.asked[0][0] == "plan"
        assert np.array_equal(work.asked[0][1][1], studio.jobs.start)
        assert studio.stage.path is not None
        client.set(studio.panels.trajectory.pause, True)
        until(lambda: not studio.player.playing)
        frame = studio.player.frame
        client.set(studio.panels.view.save, True)
        until(lambda: client.of_type("FileTransferStartDownload"))
        assert client.of_type("FileTransferStartDownload")[0]["filename"] == "arcreach-studio.html"
    assert studio.player.frame == frame
    assert studio.stage.target.handle.visible
    # Moving the target pauses the animation, which stays open.
    studio.player.play()
    studio.aim_at(studio.state.request.pose)
    assert not studio.player.playing
    assert studio.player.animation is not None
    # The saved page has its frames; the page keeps showing the robot where the user left it.
    settle(studio)
    drawn = [mesh.vertices.copy() for mesh in studio.stage.robot._meshes]
    assert "<html" in studio.as_html().lower()
    for mesh, vertices in zip(studio.stage.robot._meshes, drawn, strict=True):
        assert np.array_equal(mesh.vertices, vertices)


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_another_robot_closes_the_animation_of_the_first(studio, name):
    robot = studio.state.request.robot
    studio.jobs.mark_start()
    studio.jobs.present(plan_from(robot.neutral, studio.q, 200), robot)
    until(lambda: studio.player.frame > 1)
    studio.set_robot(ar.load_robot(name))
    other = studio.state.request.robot
    assert studio.player.animation is None
    assert not studio.player.playing
    assert studio.stage.path is None
    assert not studio.panels.trajectory.close.visible
    assert np.array_equal(studio.jobs.start, other.neutral)
    settle(studio)
    solved = studio.q
    studio.player.play()
    studio.player.seek(3)
    assert not studio.player.playing
    assert "<html" in studio.as_html().lower()
    assert studio.q is solved
    # A plan of the first robot that comes late is dropped.
    studio.jobs.present(plan_from(robot.neutral, robot.neutral, 20), robot)
    assert studio.player.animation is None
    studio.jobs.present(plan_from(other.neutral, studio.q, 20), other)
    until(lambda: studio.player.frame > 1)


@pytest.mark.parametrize("leave", [False, True], ids=["pause", "leave"])
def test_a_frame_that_a_pause_overtakes_is_not_shown(studio, monkeypatch, leave):
    robot, change_unless = studio.state.request.robot, studio.state.change_unless
    plan = plan_from(robot.neutral, studio.q, 200)
    mine = 0.5 * plan.q[-1]

    def interrupted(cancelled, **fields):
        if fields["q"] is not None and np.array_equal(fields["q"], plan.q[2]):
            if leave:
                studio.pose(mine)
            else:
                studio.player.pause()
        return change_unless(cancelled, **fields)

    monkeypatch.setattr(studio.state, "change_unless", interrupted)
    studio.player.open(plan)
    until(lambda: not studio.player.playing)
    settle(studio)
    assert studio.player.frame == studio.panels.trajectory.frame.value == 1
    assert np.array_equal(studio.q, mine if leave else plan.q[1])


def plan_from(start, end, n):
    return Animation("plan", "2 corners", np.linspace(start, end, n))


def test_a_replay_without_iterations_makes_no_request(studio, monkeypatch):
    monkeypatch.setattr("arcreach.studio.player.jobs.replay_animation", lambda _: Animation("iterations", "none"))
    before = studio.state.request
    studio.jobs.replay()
    until(lambda: "none" in studio.panels.trajectory.text.content)
    assert studio.state.request is before
    settle(studio)


def test_a_job_that_cannot_be_started_says_so(studio, monkeypatch):
    def launch():
        raise OSError("too many processes")

    monkeypatch.setattr(studio.jobs, "background", Background(launch))
    studio.jobs.plan()
    until(lambda: "too many processes" in studio.panels.trajectory.text.content)
    assert not studio.panels.trajectory.cancel.visible
    assert not studio.panels.trajectory.plan.disabled


def test_a_job_is_cancelled_although_other_work_is_in_progress(studio):
    finish = threading.Event()
    studio.queue.run(finish.wait)
    try:
        studio.jobs.plan()
        assert studio.panels.view.boxes["reach"].disabled
        studio.jobs.cancel()
        assert "Cancelled" in studio.panels.trajectory.text.content
        assert not studio.panels.trajectory.cancel.visible
        assert not studio.panels.view.boxes["reach"].disabled
    finally:
        finish.set()


@pytest.mark.parametrize("name", ["reach", "branches"])
def test_the_box_of_a_job_without_a_result_is_unticked(studio, instantly, name):
    box = studio.panels.view.boxes[name]
    instantly("not enough memory", good=False)
    studio.set_view(**{name: True})
    assert "not enough memory" in studio.panels.trajectory.text.content
    assert not box.value
    work = instantly(None)
    work.start = lambda *_: None
    studio.set_view(**{name: True})
    assert box.value
    studio.jobs.cancel()
    assert not box.value


def test_a_plan_that_fails_says_why(studio, instantly):
    instantly((np.empty((0, studio.state.request.robot.dof)), "no path: walls"))
    studio.jobs.plan()
    until(lambda: "no path: walls" in studio.panels.trajectory.text.content)
    instantly("planning needs more memory", good=False)
    studio.jobs.plan()
    until(lambda: "planning needs more memory" in studio.panels.trajectory.text.content)
    assert not studio.panels.trajectory.cancel.visible
    studio.jobs.cancel()
    assert "Cancelled" in studio.panels.trajectory.text.content


def test_all_solutions(studio, instantly):
    found = [studio.q, studio.q * 0.9, studio.q * 0.5]
    instantly(found)
    studio.set_view(branches=True)
    until(lambda: "3 solutions found" in studio.panels.trajectory.text.content)
    # The first one is shown already.
    assert len(studio.stage.branches) == 2
    # Another target has other solutions.
    studio.panels.view.boxes["branches"].value = True
    studio.pose(studio.q * 0.8)
    until(lambda: not studio.stage.branches)
    assert not studio.panels.view.boxes["branches"].value
    studio.set_view(branches=True)
    until(lambda: studio.stage.branches)
    studio.set_view(branches=False)
    until(lambda: not studio.stage.branches)
    instantly([])
    studio.set_view(branches=True)
    until(lambda: "no solution found" in studio.panels.trajectory.text.content)


def test_a_contact_plan_replaces_the_robot_until_the_user_moves_something(studio, instantly):
    line = np.stack([np.zeros(20), np.zeros(20), np.linspace(0.0, 0.1, 20)], axis=1)
    square = np.array([[0.01, 0.0], [0.05, 0.0], [0.05, 0.05], [0.01, 0.05]])
    motion = ContactMotion(
        "wedge",
        [line * s for s in np.linspace(0.1, 1.0, 300)],
        0.002,
        [square],
        [(0.0, 0.2, 0.02)],
        [(0.01, 0.05)],
        (0.0, 0.1),
        "1 contact",
    )
    studio.set_view(workspace=True)
    instantly(motion)
    studio.jobs.plan_contact("wedge")
    until(lambda: studio.player.frame > 1)
    assert not studio.stage.target.handle.visible
    assert not studio.stage.robot.visible
    assert not studio.stage.workspace.visible
    studio.player.seek(299)
    until(lambda: studio.panels.trajectory.frame.value == 299)
    studio.pose(studio.q)
    settle(studio)
    until(lambda: studio.stage.target.handle.visible)
    assert studio.stage.robot.visible
    assert studio.stage.workspace.visible
    assert studio.player.animation is None
    studio.set_view(workspace=False)


@pytest.mark.parametrize("change", ["obstacle", "view"])
def test_what_a_contact_plan_hides_closes_it(studio, instantly, change):
    line = np.stack([np.zeros(20), np.zeros(20), np.linspace(0.0, 0.1, 20)], axis=1)
    instantly(ContactMotion("wedge", [line] * 9, 0.002, [], [(0.0, 0.2, 0.02)], [], (0.0, 0.1), "0 contacts"))
    studio.jobs.plan_contact("wedge")
    until(lambda: studio.stage.contact is not None)
    if change == "obstacle":
        studio.panels.obstacles.add_obstacle("ball")
    else:
        studio.set_view(frames=True)
        assert studio.panels.view.boxes["frames"].value
        studio.set_view(frames=False)
    settle(studio)
    assert studio.stage.contact is None
    assert studio.stage.robot.visible
    assert all(handle.visible for handle in studio.stage.obstacles.handles)


def test_a_contact_plan_needs_a_scene_of_the_catalogue(studio, tmp_path):
    with pytest.raises(FileError, match="not a planar scene of the catalogue"):
        studio.jobs.plan_contact(str(tmp_path / "scene.toml"))


def test_a_contact_plan_without_a_path(studio, instantly):
    instantly(ContactMotion("wedge", [], 0.0, [], [], [], (0.0, 0.1), "no path found"))
    studio.jobs.plan_contact("wedge")
    until(lambda: "no path found" in studio.panels.trajectory.text.content)
    assert studio.player.animation is None


def test_iterations_are_replayed(studio):
    studio.change(method="dls", compared="jacobian-transpose", aim=POSITION)
    settle(studio)
    with client_of(studio) as client:
        client.set(studio.panels.trajectory.replay, True)
        until(lambda: studio.player.animation is not None)
        animation = studio.player.animation
        assert len(animation) > 1
        until(lambda: studio.player.frame > 0)
        client.set(studio.panels.trajectory.pause, True)
        until(lambda: not studio.player.playing)
        client.set(studio.panels.trajectory.frame, 0)
        until(lambda: np.array_equal(studio.q, animation.q[0]))
        assert studio.answer.results[0].status.startswith("iteration 0 of ")
        assert np.array_equal(studio.answer.results[1].q, animation.ghost[0])
        client.set(studio.panels.trajectory.close, True)
        until(lambda: studio.player.animation is None)
    assert not studio.panels.trajectory.close.visible


def test_a_path_file_is_played(studio, tmp_path):
    robot = studio.state.request.robot
    Q = np.linspace(robot.neutral, studio.q, 40)
    Q[-1, 0] = robot.upper[0] + 0.5
    names = ",".join(robot.coordinates)
    rows = "\n".join(",".join(map(repr, row.tolist())) for row in Q)
    with client_of(studio) as client:
        client.upload(studio.panels.trajectory.upload, "my path.csv", f"{names}\n{rows}\n".encode())
        until(lambda: studio.player.animation is not None)
        animation = studio.player.animation
        assert np.array_equal(animation.q, Q)
        assert animation.title == "my path.csv"
        assert "40 points" in animation.text
        assert "1 point outside the limits" in animation.text
        until(lambda: studio.player.frame > 1)
        studio.player.pause()
        client.upload(studio.panels.trajectory.upload, "other.csv", b"a,b\n1,2\n")
        until(client.notifications)
        assert "other.csv: its first line lacks the coordinate" in client.notifications()[-1]["body"]


def test_a_path_as_the_library_writes_it_is_played(studio, tmp_path):
    robot = studio.state.request.robot
    points = robot.tip_pose(np.linspace(studio.q * 0.9, studio.q, 5))[:, :3, 3]
    path = ar.follow(robot, points, start=studio.q * 0.9)
    path.to_csv(tmp_path / "path.csv")
    with client_of(studio) as client:
        client.upload(studio.panels.trajectory.upload, "path.csv", Path(tmp_path / "path.csv").read_bytes())
        until(lambda: studio.player.animation is not None)
    assert np.allclose(studio.player.animation.q, path.q)


@pytest.mark.compiled
def test_the_first_replay_plays(studio):
    """As the page opens, with its obstacle and the method auto."""
    with client_of(studio) as client:
        client.set(studio.panels.trajectory.replay, True)
        until(lambda: studio.panels.trajectory.text.content)
    assert not studio.panels.trajectory.play.disabled
