import threading

import numpy as np

import arcreach as ar
from arcreach.studio.film import Film, Player, plan_film, replay
from arcreach.studio.solving import Answer, answer
from arcreach.studio.tasks import Motion
from arcreach.studio.wish import POSITION, Wish
from tests.studio.conftest import until

ROBOT = ar.Robot([ar.Section(0.05, 2.0, radius=0.003)] * 2, name="two")
Q = np.array([0.8, 0.3, 0.9, -0.4])


def film(n):
    return Film("test", "", np.zeros((n, 4)))


def test_a_film_is_played_to_its_end():
    shown, ended = [], threading.Event()
    player = Player(shown.append, ended.set)
    player.load(film(60))
    player.play()
    assert player.playing
    assert ended.wait(20.0)
    assert not player.playing
    assert shown == list(range(60))
    player.play()
    until(lambda: len(shown) > 61)
    player.stop()
    assert shown[60:62] == [0, 1]


def test_a_moment_that_fails_pauses_and_the_next_film_plays(caplog):
    shown, ended = [], threading.Event()

    def show(moment):
        if player.film.title == "bad":
            raise ValueError("another robot")
        shown.append(moment)

    player = Player(show, ended.set)
    player.load(Film("bad", "", np.zeros((3, 4))))
    player.play()
    assert ended.wait(5.0)
    assert not player.playing
    assert "another robot" in caplog.text
    ended.clear()
    player.load(film(3))
    player.play()
    assert ended.wait(5.0)
    player.stop()
    assert shown == [0, 1, 2]


def test_pause_and_seek():
    shown = []
    player = Player(shown.append, lambda: None)
    player.seek(3)
    player.play()
    assert not player.playing
    player.load(film(1000))
    player.play()
    until(lambda: len(shown) > 3)
    player.pause()
    moment = player.moment
    assert not player.playing
    player.seek(500)
    assert player.moment == 500
    player.seek(5000)
    assert player.moment == 999
    player.stop()
    assert moment < 500


def test_a_replay_waits_for_the_slower_method():
    wish = Wish(ROBOT, ROBOT.tip_pose(Q), POSITION, "dls", "jacobian-transpose")
    found = answer(wish, ROBOT.neutral, 10.0, trace=True)
    shown = replay(found)
    lengths = [len(result.trace) for result in found.results]
    assert len(shown) == max(lengths)
    assert np.array_equal(shown.q[-1], found.results[0].q)
    assert np.array_equal(shown.ghost[-1], found.results[1].q)
    first = shown.moment(0, wish)
    assert [result.method for result in first.results] == ["dls", "jacobian-transpose"]
    assert first.results[0].position_error == found.results[0].trace.position_error[0]
    assert first.results[0].status == f"iteration 0 of {lengths[0] - 1}"
    last = shown.moment(len(shown) - 1, wish)
    assert last.results == found.results
    assert 2.0 <= shown.rate <= 30.0


def test_a_replay_of_nothing():
    wish = Wish(ROBOT, ROBOT.tip_pose(Q), q=Q)
    shown = replay(Answer(wish, answer(wish, Q).results))
    assert len(shown) == 0
    assert shown.text == "by hand: set by hand; no iterations were recorded"


def test_a_plan_as_film():
    shown = plan_film(Motion(np.array([ROBOT.neutral, Q]), "two corners"))
    wish = Wish(ROBOT, ROBOT.tip_pose(Q), scene=ar.Scene([ar.Sphere((1.0, 0.0, 0.0), 0.1)]))
    moment = shown.moment(1, wish)
    assert np.array_equal(moment.q, Q)
    assert moment.results[0].status == "moment 2 of 2"
    assert moment.results[0].clearance > 0.8
