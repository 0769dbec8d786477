"""Films and the one who plays them: a planned motion, the iterations of a method, a way around obstacles."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arcreach._typing import Array
from arcreach.studio.solving import Answer, Result, judge_clearance
from arcreach.studio.tasks import ContactMotion, Motion
from arcreach.studio.wish import Wish
from arcreach.studio.words import counted, degrees, millimetres

if TYPE_CHECKING:
    from arcreach.planning.motion.path import Path


_log = logging.getLogger(__name__)

# Frames in a second; a replay of few iterations is slower, so that each is seen.
RATE, SLOWEST = 30.0, 2.0
# Seconds that a replay takes where it has few frames.
SHORTEST = 4.0
# Points of a path that are shown: twenty seconds.
MOST_POINTS = 600


@dataclass(frozen=True, eq=False)
class Film:
    """A row of moments: configurations of the robot (n, dof) and of the compared one, or lines of a contact plan."""

    title: str
    text: str
    q: Array | None = None
    ghost: Array | None = None
    contact: ContactMotion | None = None
    traced: tuple[Result, ...] = ()  # of a replay: the methods, with their traces

    def __len__(self) -> int:
        return len(self.contact.lines) if self.contact is not None else 0 if self.q is None else len(self.q)

    @property
    def rate(self) -> float:
        """Frames in a second."""
        return float(np.clip(len(self) / SHORTEST, SLOWEST, RATE))

    def moment(self, i: int, wish: Wish) -> Answer:
        """What is shown at a moment: of a replay the errors at that iteration, of a plan the clearance there."""
        if self.traced:
            return Answer(wish, tuple(_at(result, i, wish) for result in self.traced))
        assert self.q is not None
        free, touched = judge_clearance(wish.robot, self.q[i], wish.scene)
        said = f"moment {i + 1} of {len(self)}"
        return Answer(wish, (Result(self.title, self.q[i], said, not touched, None, None, None, None, free, touched),))


def plan_film(motion: Motion) -> Film:
    """The film of a planned motion."""
    return Film("plan", motion.text, motion.q)


def path_film(path: Path, name: str) -> Film:
    """The film of a path from a file: its points, or as many of them as can be watched."""
    robot, n = path.robot, len(path.q)
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    said = [f"{counted(n, 'point')}, at most {millimetres(float(path.position_error.max()))} off"]
    if float(path.angle_error.max()) > 0.0:
        said[0] += f" and {degrees(float(path.angle_error.max()))}"
    outside = int(np.count_nonzero(~np.asarray(robot.within_limits(path.q))))
    if outside:
        said.append(f"{counted(outside, 'point')} outside the limits of the robot")
    return Film(name, "; ".join(said), path.q[rows])


def _at(result: Result, i: int, wish: Wish) -> Result:
    """The result as it stood at an iteration; the last one for who has finished."""
    trace = result.trace
    assert trace is not None
    k = min(i, len(trace) - 1)
    if k == len(trace) - 1:
        return result
    free, touched = judge_clearance(wish.robot, trace.q[k], wish.scene)
    angle = None if result.angle_error is None else float(trace.angle_error[k])
    return Result(
        result.method, trace.q[k], f"iteration {k} of {len(trace) - 1}", False, float(trace.position_error[k]), angle,
        None, k, free, touched,
    )  # fmt: skip


def replay(answer: Answer) -> Film:
    """The iterations of the methods of an answer with traces, side by side: who has finished waits for the other."""
    traced = tuple(result for result in answer.results if result.trace is not None and len(result.trace))
    untraced = [
        f"{result.method}: {result.status}" + ("" if result.refused else "; no iterations were recorded")
        for result in answer.results
        if result not in traced
    ]
    if not traced:
        return Film("iterations", "; ".join(untraced))
    lengths = [len(result.trace) for result in traced if result.trace is not None]
    n = max(lengths)
    rows = [result.trace.q[np.minimum(np.arange(n), len(result.trace) - 1)] for result in traced if result.trace]
    steps = [f"{result.method} {counted(length - 1, 'step')}" for result, length in zip(traced, lengths, strict=True)]
    said = "; ".join([", ".join(steps), *untraced])
    return Film("iterations", said, rows[0], rows[1] if len(rows) > 1 else None, traced=traced)


class Player:
    """Moves through a film at its rate, in a thread; `show` is called with the number of each moment."""

    def __init__(self, show: Callable[[int], None], ended: Callable[[], None]) -> None:
        self._show, self._ended = show, ended
        self._lock = threading.Lock()
        self._go = threading.Event()
        self._closed = False
        self.film: Film | None = None
        self.moment = 0
        self._thread = threading.Thread(target=self._run, name="arcreach-player", daemon=True)
        self._thread.start()

    @property
    def playing(self) -> bool:
        """Whether it moves on by itself."""
        return self._go.is_set()

    def load(self, film: Film | None) -> None:
        """Put in another film, at its beginning."""
        self.pause()
        with self._lock:
            self.film, self.moment = film, 0

    def play(self) -> None:
        """Go on; from the beginning where it stands at the end."""
        with self._lock:
            if self.film is None or not len(self.film):
                return
            if self.moment >= len(self.film) - 1:
                self.moment = 0
        self._go.set()

    def pause(self) -> None:
        """Stand still."""
        self._go.clear()

    def seek(self, moment: int) -> None:
        """Stand still at a moment."""
        self.pause()
        with self._lock:
            if self.film is not None and len(self.film):
                self.moment = int(np.clip(moment, 0, len(self.film) - 1))

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
                film, moment = self.film, self.moment
            if film is None or not len(film) or self._closed:
                self._go.clear()
                continue
            if not self._shown(moment) or moment >= len(film) - 1:
                self._go.clear()
                self._ended()
                continue
            pace.wait(1.0 / film.rate)
            with self._lock:
                # Somebody may have sought meanwhile: then that moment counts.
                if self.film is film and self.moment == moment and self._go.is_set():
                    self.moment += 1

    def _shown(self, moment: int) -> bool:
        """Show a moment; whether that went well. A film that fails is logged and paused: the next one must play."""
        try:
            self._show(moment)
        except Exception:
            _log.exception("the studio could not show a moment of a film")
            return False
        return True
