"""`Player`: show an animation on the stage; play, pause, seek and close it."""

from __future__ import annotations

from collections.abc import Callable

from arcreach.studio.panels.trajectory import TrajectoryTab
from arcreach.studio.player.animation import Animation
from arcreach.studio.player.playback import Playback
from arcreach.studio.stage.stage import Stage
from arcreach.studio.state.answer import Answer
from arcreach.studio.state.state import State
from arcreach.studio.worker import Worker


class Player:
    """One animation at a time. `show` draws an answer on the page."""

    def __init__(self, state: State, stage: Stage, tab: TrajectoryTab, show: Callable[[Answer], None]) -> None:
        self._state, self._stage, self._tab, self._show = state, stage, tab, show
        self._playback = Playback(lambda frame: self._show_frame(frame, playing=True), lambda: tab.show_playing(False))
        # A slider asks for more frames than can be drawn; only the latest one is drawn.
        self._scrubber: Worker[int] = Worker("scrubber", lambda frame: self._show_frame(frame, playing=False))

    @property
    def animation(self) -> Animation | None:
        """The animation that is open."""
        return self._playback.animation

    @property
    def frame(self) -> int:
        """The index of the frame shown."""
        return self._playback.frame

    @property
    def playing(self) -> bool:
        """Whether the frames advance."""
        return self._playback.playing

    def open(self, animation: Animation, playing: bool = True) -> None:
        """Show an animation in place of the current one, and play it or stay at its first frame."""
        with self._stage.drawing():
            self._playback.load(animation)
            self._stage.show_contact(animation.contact)
            path = None if animation.q is None else self._state.request.robot.tip_pose(animation.q)[:, :3, 3]
            self._stage.set_path(path)
            self._tab.show_animation(len(animation))
            self._tab.say(f"{animation.title}: {animation.text}")
        if playing:
            self.play()
        else:
            # Not seek(0): the user may have gone to another frame already.
            self._scrubber.post(self.frame)

    def leave(self) -> None:
        """Pause when the user changes something, and close a contact plan."""
        if self.playing:
            self.pause()
        if self._stage.links.drawn:
            with self._stage.drawing():
                self._stage.set_links({})
        self.close_contact()

    def close_contact(self) -> None:
        """Close a contact plan, which hides the robot, its target and the obstacles."""
        if self._stage.contact is not None:
            self.close()

    def close(self) -> None:
        """Close the animation and show the robot alone."""
        self._playback.load(None)
        with self._stage.drawing():
            had_contact = self._stage.contact is not None
            self._stage.show_contact(None)
            self._stage.set_path(None)
            self._stage.set_links({})
            self._tab.show_animation(0)
            self._tab.say("")
            if had_contact:
                self._stage.draw(self._state.answer)

    def play(self) -> None:
        """Play on from the current frame, or from the first one after the end."""
        self._playback.play()
        self._tab.show_playing(self.playing)

    def pause(self) -> None:
        """Stop at the current frame."""
        self._playback.pause()
        self._tab.show_playing(False)

    def seek(self, frame: int) -> None:
        """Go to a frame and pause."""
        self._tab.show_playing(False)
        self._playback.seek(frame)
        self._scrubber.post(self.frame)

    def stop(self) -> None:
        """End the threads."""
        self._playback.stop()
        self._scrubber.stop()

    def _show_frame(self, frame: int, playing: bool) -> None:
        with self._stage.drawing():
            # Read under the lock: choosing another robot closes the animation under the same lock.
            animation = self.animation
            if animation is None or frame >= len(animation):
                return

            def skip_frame() -> bool:
                return playing and not self._playback.advance(frame)

            if animation.q is None:
                if not skip_frame():
                    self._tab.frame.value = frame
                    self.draw_frame(frame)
                return
            request = self._state.change_unless(skip_frame, q=animation.q[frame])
            if request is not None:
                self._tab.frame.value = frame
                self._show(animation.answer(frame, request))
                self._stage.set_links(animation.links(frame))

    def draw_frame(self, frame: int) -> None:
        """Draw a frame on the stage and change nothing else."""
        animation = self.animation
        if self._stage.contact is not None:
            self._stage.contact.draw(frame)
        elif animation is not None and animation.q is not None:
            self._stage.draw_robot(animation.q[frame], None if animation.ghost is None else animation.ghost[frame])
