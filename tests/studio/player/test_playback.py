import threading

import numpy as np
from tests.studio.waiting import until

from arcreach.studio.player.animation import Animation
from arcreach.studio.player.playback import Playback


def animation(n):
    return Animation("test", "", np.zeros((n, 4)))


def playback(shown, ended=lambda: None):
    """A player whose frames are appended to a list."""
    player = Playback(lambda frame: player.advance(frame) and shown.append(frame), ended)
    return player


def test_an_animation_is_played_to_its_end():
    shown, ended = [], threading.Event()
    player = playback(shown, ended.set)
    player.load(animation(60))
    player.play()
    assert player.playing
    assert ended.wait(60.0)
    assert not player.playing
    assert shown == list(range(60))
    player.play()
    until(lambda: len(shown) > 61)
    player.stop()
    assert shown[60:62] == [0, 1]


def test_a_frame_that_fails_pauses_and_the_next_animation_plays(caplog):
    shown, ended = [], threading.Event()

    def show(frame):
        if player.animation.title == "bad":
            raise ValueError("another robot")
        if player.advance(frame):
            shown.append(frame)

    player = Playback(show, ended.set)
    player.load(Animation("bad", "", np.zeros((3, 4))))
    player.play()
    assert ended.wait(60.0)
    assert not player.playing
    assert "another robot" in caplog.text
    ended.clear()
    player.load(animation(3))
    player.play()
    assert ended.wait(60.0)
    player.stop()
    assert shown == [0, 1, 2]


def test_pause_and_seek():
    shown = []
    player = playback(shown)
    player.seek(3)
    player.play()
    assert not player.playing
    player.load(animation(1000))
    player.play()
    until(lambda: len(shown) > 3)
    player.pause()
    frame = player.frame
    assert not player.playing
    player.seek(500)
    assert player.frame == 500
    player.seek(5000)
    assert player.frame == 999
    player.stop()
    assert frame < 500


def test_a_frame_that_a_pause_overtakes_is_not_the_one_shown():
    shown, entered, paused = [], threading.Event(), threading.Event()

    def show(frame):
        if frame == 2:
            entered.set()
            assert paused.wait(60.0)
        if player.advance(frame):
            shown.append(frame)

    player = Playback(show, lambda: None)
    player.load(animation(60))
    player.play()
    assert entered.wait(60.0)
    player.pause()
    assert player.frame == 1
    # Nor is it shown late, in place of the frame of a new start.
    player.seek(10)
    player.play()
    paused.set()
    until(lambda: len(shown) > 3)
    player.stop()
    assert shown[:4] == [0, 1, 10, 11]


def test_the_late_last_frame_of_an_animation_does_not_end_the_next():
    entered, loaded, shown = threading.Event(), threading.Event(), []

    def show(frame):
        if not loaded.is_set() and frame == 1:
            entered.set()
            assert loaded.wait(60.0)
        if player.advance(frame):
            shown.append(frame)

    player = Playback(show, lambda: None)
    player.load(animation(2))
    player.play()
    assert entered.wait(60.0)
    player.load(animation(60))
    player.play()
    loaded.set()
    until(lambda: len(shown) > 3)
    player.stop()
    assert shown[:4] == [0, 0, 1, 2]
