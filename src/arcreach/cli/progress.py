"""Report compilation and progress on stderr."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console

from arcreach._jit import announce, on_compile
from arcreach._text import count, seconds
from arcreach.robots.symbolic import AnyRobot, SymbolicRobot

# Seconds until a command reports its progress, and between two lines if stderr is not a terminal.
SAY_AFTER = 2.0
LINE_EVERY = 10.0

COMPILING = "Compiling kernels: once per installation (arcreach warm-up does it ahead of time)"
WARMING_UP = "Compiling kernels: once per installation, in about a minute"
COMPILING_SYMBOLIC = "Compiling the robot's formulas: in every run, some seconds"


class Pace:
    """Describes the progress of a command; with `estimates` also the remaining time, from the pace so far."""

    def __init__(self, estimates: bool = True) -> None:
        self.estimates = estimates
        self.first: tuple[float, int] | None = None

    def words(self, doing: str, done: int, total: int, noun: str) -> str:
        """Return `following: 12 of 75 waypoints, about 40 s left`; without an estimate until the pace is known."""
        now = time.monotonic()
        text = f"{doing}: {done} of {count(total, noun)}"
        if not self.estimates or done == total:
            return text
        if self.first is None or done <= max(self.first[1], 1):
            # No estimate yet: the first item includes one-off costs, such as loading kernels. A count may restart.
            self.first = now, done
            return text
        left = (now - self.first[0]) * (total - done) / (done - self.first[1])
        return f"{text}, about {seconds(left, 2)} left"


# Progress callback of a command; its arguments: activity, items done, items in all, noun for an item.
Say = Callable[[str, int, int, str], None]


@contextlib.contextmanager
def announce_compiling(robot: AnyRobot | None = None, warming_up: bool = False) -> Iterator[Say]:
    """Report compilation on stderr: a spinner on a terminal, a line otherwise.

    A symbolic `robot` and `warming_up` have messages of their own. The block receives a progress callback. Its text is
    shown after SAY_AFTER seconds: beside the spinner, or as a line every LINE_EVERY seconds and at the end. The last
    count of a warm-up stays on a terminal too.
    """
    symbolic = isinstance(robot, SymbolicRobot)
    message = WARMING_UP if warming_up else COMPILING_SYMBOLIC if symbolic else COMPILING
    stderr = Console(stderr=True)
    status = stderr.status(message)
    announced = False
    began = said = time.monotonic()
    # No estimate of a warm-up: its steps take from a tenth of a second to ten, and a second process does half of them.
    pace, latest, shown = Pace(estimates=not warming_up), "", ""
    timer: threading.Timer | None = None

    def started() -> None:
        nonlocal announced
        if announced:
            return
        announced = True
        if stderr.is_terminal:
            status.start()
        elif symbolic:
            sys.stderr.write(message + "\n")
        else:
            announce(message)

    def say(doing: str, done: int, total: int, noun: str) -> None:
        nonlocal latest, timer
        latest = pace.words(doing, done, total, noun)
        early = began + SAY_AFTER - time.monotonic()
        if early <= 0.0:
            show(latest)
        elif timer is None:
            # The next item may take long: the timer shows the latest text without waiting for it.
            timer = threading.Timer(early, lambda: show(latest))
            timer.daemon = True
            timer.start()

    def show(text: str) -> None:
        nonlocal said, shown
        now = time.monotonic()
        if stderr.is_terminal:
            shown = text
            status.update(text)
            status.start()
        elif said == began or now - said >= LINE_EVERY:
            said, shown = now, text
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    with on_compile(started, announces=True):
        try:
            yield say
        finally:
            if timer is not None:
                timer.cancel()
            status.stop()
            if shown and (warming_up if stderr.is_terminal else shown != latest):
                sys.stderr.write(latest + "\n")
                sys.stderr.flush()
