"""`Jogging`: the loop that moves the robot while an operator holds an axis, and records motions."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arcreach._typing import Array
from arcreach.studio.state.devices import Devices
from arcreach.studio.state.jog import BASE, jogged
from arcreach.studio.state.state import State

_log = logging.getLogger(__name__)

# Period of the loop in seconds, and the longest time that one iteration covers, so that a late one does not jump.
PERIOD, LONGEST = 0.02, 0.06
# Longest recording in seconds.
LONGEST_RECORDING = 120.0
# Number of iterations over which the rate shown is averaged.
SHOWN = 25


@dataclass
class JogSettings:
    """Frame of the motion, speed limits in m/s and rad/s, and step sizes in metres and radians."""

    frame: str = BASE
    speed: tuple[float, float] = (0.1, 0.5)
    step: tuple[float, float] = (1e-3, 0.02)


class Jogging:
    """A loop that every PERIOD seconds moves the robot by the held axes and records; `move` shows a configuration."""

    def __init__(
        self, state: State, devices: Devices, move: Callable[[Array], None], report: Callable[[], None]
    ) -> None:
        self._state, self._devices, self._move, self._report = state, devices, move, report
        self.settings = JogSettings()
        self.recording = False
        self.blocked = False  # the last motion was refused: the entry point or a limit blocked it
        self._taken: list[tuple[float, Array]] = []
        self._iterations: deque[float] = deque(maxlen=SHOWN)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arcreach-jog", daemon=True)
        self._thread.start()

    @property
    def rate(self) -> float:
        """Iterations of the loop per second; 0 while no axis is held and nothing is recorded."""
        times = list(self._iterations)
        return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0

    @property
    def recorded(self) -> Array:
        """The recorded configurations (n, dof), PERIOD seconds apart, each the latest one at that time."""
        taken = list(self._taken)
        if not taken:
            return np.empty((0, self._state.request.robot.dof))
        times = np.array([when for when, _ in taken])
        # Iterations may be late, so the recording is resampled at even times.
        instants = np.arange(0.0, times[-1] - times[0] + 0.5 * PERIOD, PERIOD) + times[0]
        return np.array([taken[k][1] for k in np.searchsorted(times, instants + 1e-9) - 1])

    def record(self) -> None:
        """Begin a recording with the configuration shown, in place of the previous recording."""
        self._taken = [(time.monotonic(), self._state.q.copy())]
        self.recording = True

    def forget(self) -> None:
        """Drop the recording, which belongs to the previous robot."""
        self.recording = self.blocked = False
        self._taken = []

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        last = time.monotonic()
        moving = False
        while not self._stopped.wait(max(0.0, last + PERIOD - time.monotonic())):
            now = time.monotonic()
            duration, last = min(now - last, LONGEST), now
            try:
                was_moving, moving = moving, self._iterate(duration)
            except Exception:
                was_moving, moving = moving, False
                _log.exception("an iteration of the jog loop failed")
            if moving:
                self._iterations.append(now)
            elif was_moving:
                self._iterations.clear()
            if moving or was_moving:
                self._report()

    def _iterate(self, duration: float) -> bool:
        """Move by the held axes and the next tapped step, and record; return whether there was anything to do."""
        motion = np.repeat(self.settings.speed, 3) * duration * self._devices.axes()
        step = self._devices.next_step()
        if step is not None:
            motion = motion + np.repeat(self.settings.step, 3) * step
        if motion.any():
            self._advance(motion)
        # Read before `recording`: another robot ends a recording, then replaces this list.
        taken = self._taken
        if self.recording:
            taken.append((time.monotonic(), self._state.q.copy()))
            if taken[-1][0] - taken[0][0] >= LONGEST_RECORDING:
                self.recording = False
        return bool(motion.any()) or self.recording

    def _advance(self, motion: Array) -> None:
        request = self._state.request
        q = self._state.latest_q
        moved = jogged(request.robot, q, motion, self.settings.frame, request.aim, request.hold, request.port)
        self.blocked = request.port is not None and moved is q
        if not self.blocked:
            self._move(moved)
