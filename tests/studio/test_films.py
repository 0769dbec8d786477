"""Long work behind the page, played on it: plans, contact plans, all solutions."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import FileError, TargetError
from arcreach.studio.film import Film
from arcreach.studio.tasks import ContactMotion, Motion
from tests.studio.conftest import Instantly, settle, slide, until, visitor

pytestmark = pytest.mark.usefixtures("fresh")


def test_a_plan_is_played_and_saved(studio, monkeypatch):
    robot = studio.desk.wish.robot
    motion = Motion(np.linspace(robot.neutral, studio.q, 20), "2 corners")
    work = Instantly(motion)
    monkeypatch.setattr(studio.films, "background", work)
    with visitor(studio) as client:
        slide(client, studio.trajectory.start, True)
        until(lambda: studio.films._start is not None)
        slide(client, studio.trajectory.plan, True)
        until(lambda: studio.films.player.moment > 2)
        assert work.asked[0][0] == "plan"
        assert np.array_equal(work.asked[0][1][1], studio.films.start)
        assert studio.stage._path is not None
        slide(client, studio.trajectory.pause, True)
        until(lambda: not studio.films.player.playing)
        moment = studio.films.player.moment
        slide(client, studio.choices.save, True)
        until(lambda: client.of_type("FileTransferStartDownload"), 30.0)
        assert client.of_type("FileTransferStartDownload")[0]["filename"] == "arcreach-studio.html"
    assert studio.films.player.moment == moment
    assert studio.stage.target.visible
    # A hand on the target ends the show, and the film stays at hand.
    studio.films.play()
    studio.aim_at(studio.desk.wish.pose)
    assert not studio.films.player.playing
    assert studio.films.player.film is not None


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_another_robot_takes_out_the_film_of_the_first(studio, name):
    robot = studio.desk.wish.robot
    studio.films.mark_start()
    studio.films._planned(Motion(np.linspace(robot.neutral, studio.q, 200), "2 corners"), robot)
    until(lambda: studio.films.player.moment > 1)
    studio.set_robot(ar.load_robot(name))
    films, other = studio.films, studio.desk.wish.robot
    assert films.player.film is None
    assert not films.player.playing
    assert studio.stage._path is None
    assert not studio.trajectory.close.visible
    assert np.array_equal(films.start, other.neutral)
    settle(studio)
    solved = studio.q
    films.play()
    films.seek(3)
    assert not films.player.playing
    assert "<html" in studio.as_html().lower()
    assert studio.q is solved
    # A plan of the first that comes late is none of this one.
    films._planned(Motion(np.linspace(robot.neutral, robot.neutral, 20), "late"), robot)
    assert films.player.film is None
    films._planned(Motion(np.linspace(other.neutral, studio.q, 20), "2 corners"), other)
    until(lambda: films.player.moment > 1)


def test_a_replay_of_nothing_leaves_no_wish_open(studio, monkeypatch):
    monkeypatch.setattr("arcreach.studio.films.replay", lambda _: Film("iterations", "none were kept"))
    before = studio.desk.wish
    studio.films._replay()
    assert "none were kept" in studio.trajectory.text.content
    assert studio.desk.wish is before
    assert studio.settle(5.0)


def test_work_that_cannot_be_started_is_said(studio, monkeypatch):
    class Broken(Instantly):
        def start(self, *_):
            raise OSError("too many processes")

    monkeypatch.setattr(studio.films, "background", Broken(None))
    studio.films.plan()
    until(lambda: "too many processes" in studio.trajectory.text.content, 10.0)
    assert not studio.trajectory.cancel.visible
    assert not studio.trajectory.plan.disabled


def test_no_way_is_said(studio, monkeypatch):
    robot = studio.desk.wish.robot
    monkeypatch.setattr(studio.films, "background", Instantly(Motion(np.empty((0, robot.dof)), "no path: walls")))
    studio.films.plan()
    until(lambda: "no path: walls" in studio.trajectory.text.content)
    monkeypatch.setattr(studio.films, "background", Instantly("planning needs ompl", good=False))
    studio.films.plan()
    until(lambda: "planning needs ompl" in studio.trajectory.text.content)
    assert not studio.trajectory.cancel.visible
    studio.films.cancel()
    assert "Cancelled" in studio.trajectory.text.content


def test_all_solutions(studio, monkeypatch):
    found = [studio.q, studio.q * 0.9, studio.q * 0.5]
    monkeypatch.setattr(studio.films, "background", Instantly(found))
    studio.set_view(branches=True)
    until(lambda: "3 solutions found" in studio.trajectory.text.content)
    # The first is shown already.
    assert len(studio.stage.branches) == 2
    # They belong to this target: another one has others.
    studio.choices.view["branches"].value = True
    studio.pose(studio.q * 0.8)
    until(lambda: not studio.stage.branches)
    assert not studio.choices.view["branches"].value
    studio.set_view(branches=True)
    until(lambda: studio.stage.branches)
    studio.set_view(branches=False)
    until(lambda: not studio.stage.branches)
    monkeypatch.setattr(studio.films, "background", Instantly([]))
    studio.set_view(branches=True)
    until(lambda: "no solution found" in studio.trajectory.text.content)


def test_a_contact_plan_takes_the_stage_and_gives_it_back(studio, monkeypatch):
    line = np.stack([np.zeros(20), np.zeros(20), np.linspace(0.0, 0.1, 20)], axis=1)
    square = np.array([[0.01, 0.0], [0.05, 0.0], [0.05, 0.05], [0.01, 0.05]])
    motion = ContactMotion(
        "wedge", [line * s for s in np.linspace(0.1, 1.0, 300)], 0.002, [square], [(0.0, 0.2, 0.02)], [(0.01, 0.05)],
        (0.0, 0.1), "1 contact",
    )  # fmt: skip
    monkeypatch.setattr(studio.films, "background", Instantly(motion))
    studio.films.plan_contact("wedge")
    until(lambda: studio.films.player.moment > 1)
    assert not studio.stage.target.visible
    assert not any(mesh.visible for mesh in studio.stage.robot._meshes)
    studio.films.seek(299)
    until(lambda: studio.trajectory.moment.value == 299)
    studio.pose(studio.q)
    settle(studio)
    until(lambda: studio.stage.target.visible)
    assert all(mesh.visible for mesh in studio.stage.robot._meshes)
    assert studio.films.player.film is None


def test_a_path_is_no_scene(studio, tmp_path):
    with pytest.raises(FileError, match="no planar scene of the catalogue"):
        studio.films.plan_contact(str(tmp_path / "scene.toml"))
    with pytest.raises(TargetError, match="aim = 'the moon'"):
        studio.set_aim("the moon")


def test_a_contact_plan_of_nothing(studio, monkeypatch):
    empty = ContactMotion("wedge", [], 0.0, [], [], [], (0.0, 0.1), "no way found")
    monkeypatch.setattr(studio.films, "background", Instantly(empty))
    studio.films.plan_contact("wedge")
    until(lambda: "no way found" in studio.trajectory.text.content)
    assert studio.films.player.film is None
