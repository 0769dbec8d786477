"""`History`: *Undo* and *Reset*. Every change by hand keeps the state of the page before it."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcreach.scenes.scene import Scene
from arcreach.studio.safety import StudioError
from arcreach.studio.shelf import Known
from arcreach.studio.solving import Answer
from arcreach.studio.wish import AXIS, NO_METHOD, Wish

if TYPE_CHECKING:
    from arcreach.studio.app import Studio

# States that are kept.
DEPTH = 100
# Changes of one kind that follow each other within so many seconds are one step.
PAUSE = 1.5


@dataclass(frozen=True, eq=False)
class State:
    """All that one step brings back: what was asked, what was shown, the robot, and the visitor's own obstacles."""

    wish: Wish
    answer: Answer
    name: str
    known: Known
    own_scene: Scene | None


class History:
    """A stack of states, one for each thing that a hand did."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._states: deque[State] = deque(maxlen=DEPTH)
        self._kind, self._time = "", 0.0

    def __len__(self) -> int:
        return len(self._states)

    def note(self, kind: str = "") -> None:
        """Keep the state before a change, unless the change continues the last one of its kind, as in a drag."""
        studio, now = self._studio, time.monotonic()
        if not kind or kind != self._kind or now - self._time > PAUSE:
            self._states.append(State(studio.desk.wish, studio.answer, studio.name, studio.known, studio.own_scene))
        self._kind, self._time = kind, now

    def undo(self) -> None:
        """Go back to what was there before the last change by hand."""
        if not self._states:
            raise StudioError("there is nothing to undo")
        self._kind = ""
        studio, state = self._studio, self._states.pop()
        wish = state.wish
        studio.films.leave()
        with studio.drawing(), studio.server.atomic():
            studio.own_scene = state.own_scene
            if wish.robot is not studio.desk.wish.robot:
                studio.shelf.put_back(state.name, state.known)
                studio.show_robot(state.name)
            studio.choices.show(wish)
            studio.obstacles_tab.avoid.value = wish.avoid
            studio.stage.place_target(wish.pose)
            again = studio.desk.change(
                pose=wish.pose, aim=wish.aim, method=wish.method, compared=wish.compared, scene=wish.scene,
                avoid=wish.avoid, q=wish.q,
            )  # fmt: skip
            # From the configuration that was shown then: what was reached is reached at once, by the same one.
            if state.answer.wish.robot is wish.robot:
                studio.show(Answer(again, state.answer.results), noted=False)
        studio.post(again)

    def reset(self) -> None:
        """Show the robot as at first: its first pose and obstacles, and what is aimed at by default."""
        studio = self._studio
        choices = studio.choices
        with studio.drawing():
            self.note()
            studio.own_scene = studio.given_scene
            choices.aim.value, choices.compared.value, choices.method.value = AXIS, NO_METHOD, "auto"
            studio.obstacles_tab.avoid.value = True
            studio.show_robot(studio.name)
            studio.post(studio.desk.change(q=None))
