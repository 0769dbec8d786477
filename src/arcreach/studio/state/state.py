"""`State`: the latest request, the answer shown, the chosen robot, and the history for undo."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from arcreach._typing import Array
from arcreach.errors import StudioError
from arcreach.robots.initial import initial_pose
from arcreach.scenes.scene import Scene
from arcreach.studio.state.answer import Answer, solve_request
from arcreach.studio.state.obstacles import initial_scene
from arcreach.studio.state.request import Request
from arcreach.studio.state.robots import RobotEntry

# Largest number of steps that can be undone.
DEPTH = 100
# A change within this many seconds of another of the same kind is undone with it, in one step.
PAUSE = 1.5


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state before a change by the user."""

    request: Request
    answer: Answer
    entry: RobotEntry
    own_scene: Scene | None


class State:
    """The latest request and the answer shown. Requests are numbered; older answers never replace newer ones.

    `own_scene` holds the obstacles that the user gave or changed; they stay when another robot is chosen. If it is
    None, each robot has an initial scene of its own.
    """

    def __init__(self, entry: RobotEntry, given_scene: Scene | None) -> None:
        self.entry = entry
        self.given_scene = self.own_scene = given_scene
        q, scene = self.initial()
        self._lock = threading.Lock()
        self._request = Request(entry.robot, entry.robot.tip_pose(q), q=q, scene=scene)
        self._answer = solve_request(self._request, q)
        self._shown = -1
        self._history: deque[Snapshot] = deque(maxlen=DEPTH)
        self._kind, self._time = "", 0.0

    @property
    def request(self) -> Request:
        """The latest request."""
        return self._request

    @property
    def answer(self) -> Answer:
        """The answer shown."""
        return self._answer

    @property
    def q(self) -> Array:
        """The configuration shown."""
        return self._answer.q

    @property
    def latest_q(self) -> Array:
        """The latest requested configuration, which may not be shown yet; the one shown if a target was requested."""
        requested = self._request.q
        return self.q if requested is None else requested

    @property
    def settled(self) -> bool:
        """Whether the answer shown belongs to the latest request."""
        return self._shown >= self._request.revision

    def initial(self) -> tuple[Array, Scene]:
        """Return the configuration and the scene with which the chosen robot starts."""
        q = initial_pose(self.entry.robot)
        return q, initial_scene(self.entry.robot, q) if self.own_scene is None else self.own_scene

    def change(self, **fields: Any) -> Request:
        """Replace fields of the latest request, and return the new request."""
        changed = self.change_unless(lambda: False, **fields)
        assert changed is not None
        return changed

    def change_unless(self, cancelled: Callable[[], bool], **fields: Any) -> Request | None:
        """Change the request unless `cancelled()`; return the new request, or None if cancelled.

        `cancelled` is called under the lock, so that a late frame cannot replace the request of a user who stops the
        animation.
        """
        with self._lock:
            if cancelled():
                return None
            # A new q, which is None for a new target, invalidates the equilibrium of the pulls.
            defaults = {"pulled": None} if "q" in fields else {}
            self._request = replace(self._request, revision=self._request.revision + 1, **{**defaults, **fields})
            return self._request

    def accept(self, answer: Answer) -> bool:
        """Show an answer, unless the answer to a later request is shown; return whether it was accepted."""
        with self._lock:
            if answer.request.revision < self._shown:
                return False
            self._shown = answer.request.revision
            self._answer = answer
            return True

    def record(self, kind: str = "") -> None:
        """Keep the state before a change, unless the change continues the last one of its kind, as in a drag."""
        now = time.monotonic()
        if not kind or kind != self._kind or now - self._time > PAUSE:
            self._history.append(Snapshot(self._request, self._answer, self.entry, self.own_scene))
        self._kind, self._time = kind, now

    def undo(self) -> Snapshot:
        """Remove the state before the last change from the history, and return it."""
        if not self._history:
            raise StudioError("there is nothing to undo")
        self._kind = ""
        return self._history.pop()
