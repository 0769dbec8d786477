"""`Solver`: the threads that answer requests."""

from __future__ import annotations

from collections.abc import Callable

from arcreach.robots.initial import initial_pose
from arcreach.studio.state.answer import SECOND_BUDGET, Answer, better_of, solve_request
from arcreach.studio.state.request import Request
from arcreach.studio.state.state import State
from arcreach.studio.worker import Worker

# Draws an answer; the flag marks a second attempt at the same request.
Show = Callable[[Answer, bool], None]


class Solver:
    """Answers the latest request, starting from the configuration shown.

    Configurations that the user sets have a thread of their own, so that a slow method does not delay a slider.
    """

    def __init__(self, state: State, show: Show) -> None:
        self._state, self._show = state, show
        self._solving: Worker[Request] = Worker("solver", self._answer)
        self._posing: Worker[Request] = Worker("poser", self._answer)

    def post(self, request: Request) -> None:
        """Queue a request; it is answered unless a later one replaces it first."""
        (self._solving if request.q is None else self._posing).post(request)

    def stop(self) -> None:
        """End both threads."""
        self._solving.stop()
        self._posing.stop()

    def _answer(self, request: Request) -> None:
        shown = self._state.answer
        start = shown.q if shown.request.robot is request.robot else initial_pose(request.robot)
        found = solve_request(request, start)
        self._show(found, False)
        # No newer request has come: try again with more time.
        if not found.reached and request.q is None and self._state.request is request:
            self._show(better_of(found, solve_request(request, start, SECOND_BUDGET)), True)
