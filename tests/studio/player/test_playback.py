import threading

import numpy as np
from tests.studio.waiting import until

from arcreach.studio.player.animation import Animation
from arcreach.studio.player.playback import Playback


def animation(n):
    return Animation("test", "", np.zeros((n, 4)))


def test_an_animation_is_played_to_its_end():
    shown, ended = [], threading.Event()
    player = Playback(shown.append, ended.set)
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
    player = Playback(shown.append, lambda: None)
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
