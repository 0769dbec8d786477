"""`Playback`: a thread that steps through the frames of an animation."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import numpy as np

from arcreach.studio.player.animation import Animation

_log = logging.getLogger(__name__)


class Playback:
    """Calls `show` with the index of each frame at the animation's rate, and `ended` after the last or a failed one.

    `show` calls `advance` when it draws the frame, so that a pause in between leaves `frame` at the one shown.
    """

    def __init__(self, show: Callable[[int], None], ended: Callable[[], None]) -> None:
        self._show, self._ended = show, ended
        self._lock = threading.Lock()
        self._go = threading.Event()
        self._closed = False
        self.animation: Animation | None = None
        self.frame = 0  # the one shown
        self._due = 0  # the next one to show while playing
        self._thread = threading.Thread(target=self._run, name="arcreach-player", daemon=True)
        self._thread.start()

    @property
    def playing(self) -> bool:
        """Whether the animation is playing."""
        return self._go.is_set()

    def load(self, animation: Animation | None) -> None:
        """Load an animation, or none, and pause at its first frame."""
        with self._lock:
            self._go.clear()
            self.animation, self.frame = animation, 0

    def play(self) -> None:
        """Play from the current frame; from the first one if the animation has ended."""
        with self._lock:
            if self.animation is None or not len(self.animation):
                return
            self._due = self.frame if self.frame < len(self.animation) - 1 else 0
            self._go.set()

    def pause(self) -> None:
        """Stop at the current frame."""
        with self._lock:
            self._go.clear()

    def advance(self, frame: int) -> bool:
        """Record a frame as shown; return False if it is no longer due, after a pause, a seek or another load."""
        with self._lock:
            if not self._is_due(self.animation, frame):
                return False
            self.frame = frame
            return True

    def seek(self, frame: int) -> None:
        """Go to a frame and pause."""
        with self._lock:
            self._go.clear()
            if self.animation is not None and len(self.animation):
                self.frame = int(np.clip(frame, 0, len(self.animation) - 1))

    def stop(self) -> None:
        """End the thread."""
        self._closed = True
        self._go.set()
        if self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _run(self) -> None:
        pace = threading.Event()
        while not self._closed:
            self._go.wait()
            with self._lock:
                animation, frame = self.animation, self._due
            if animation is None or self._closed:
                # The animation was closed during the wait, or the thread is to end.
                continue
            more = self._shown(frame) and frame < len(animation) - 1
            if more:
                pace.wait(1.0 / animation.rate)
            with self._lock:
                if not self._is_due(animation, frame):
                    continue
                if more:
                    self._due += 1
                    continue
                self._go.clear()
            self._ended()

    def _is_due(self, animation: Animation | None, frame: int) -> bool:
        return self._go.is_set() and self.animation is animation and self._due == frame

    def _shown(self, frame: int) -> bool:
        """Show a frame; log an error and return False if that fails."""
        try:
            self._show(frame)
        except Exception:
            _log.exception("the studio could not show a frame of an animation")
            return False
        return True
