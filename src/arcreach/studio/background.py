"""`Background`: long work in a process of its own. What is no longer wanted is cancelled, and its answer dropped.

The process is started as a program and not by multiprocessing, which would run the user's own script once more where
that has no guard for it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from arcreach.errors import ArcreachError
from arcreach.studio.tasks import TASKS

Done = Callable[[Any], None]
Failed = Callable[[str], None]

# The folder that holds arcreach comes last: nothing in it may stand in for another package.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from arcreach.studio.background import main; main()"


class Process:
    """A process that does tasks: what is asked goes in by its stdin, answers come out by its stdout."""

    def __init__(self) -> None:
        # -P: a file in the current folder that is called like a module, say pickle.py, must not be run.
        line = [sys.executable, "-P", "-c", PROGRAM, str(Path(__file__).parents[2])]
        self._program = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603, our own
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self.asked: IO[bytes] = self._program.stdin
        self.answers: IO[bytes] = self._program.stdout

    def alive(self) -> bool:
        """Whether it runs."""
        return self._program.poll() is None

    def end(self) -> None:
        """End it, whatever it does."""
        self._program.kill()
        self._program.wait()
        for stream in (self.asked, self.answers):
            # What was not written cannot be any more.
            with contextlib.suppress(OSError):
                stream.close()


class Background:
    """One process, started when it is first needed and kept warm; one task at a time, the latest.

    Every task has a revision number. An answer whose number is not the latest is dropped; to cancel is to end the
    process, since no search can be stopped from outside.
    """

    def __init__(self, launch: Callable[[], Any] = Process) -> None:
        self._launch = launch
        self._lock = threading.Lock()
        self._process: Any = None
        self._revision = 0
        self._busy = False

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._busy

    def start(self, task: str, arguments: tuple[Any, ...], done: Done, failed: Failed) -> int:
        """Do a task in place of what is under way; `done` or `failed` is called, in a thread, unless cancelled."""
        with self._lock:
            if self._busy or (self._process is not None and not self._process.alive()):
                self._end()
            if self._process is None:
                self._process = self._launch()
            self._revision += 1
            self._busy = True
            number, process = self._revision, self._process
        threading.Thread(
            target=self._do, args=(number, process, (task, arguments), done, failed), name="arcreach-background",
            daemon=True,
        ).start()  # fmt: skip
        return number

    def cancel(self) -> bool:
        """End what is under way; whether there was something."""
        with self._lock:
            if not self._busy:
                return False
            self._revision += 1
            self._end()
            return True

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._revision += 1
            self._end()

    def _end(self) -> None:
        self._busy = False
        if self._process is not None:
            self._process.end()
            self._process = None

    def _do(self, number: int, process: Any, asked: Any, done: Done, failed: Failed) -> None:
        try:
            pickle.dump(asked, process.asked)
            process.asked.flush()
            good, value = pickle.load(process.answers)  # noqa: S301, from our own process
            whole = True
        except (EOFError, OSError):
            # Cancelled, in which case it is somebody else's turn, or died.
            good, value, whole = False, "the work ended without an answer", False
        except Exception as error:
            # What is asked cannot be sent, or the answer cannot be read.
            good, value, whole = False, _failure(error), False
        with self._lock:
            if number != self._revision:
                return
            if not whole:
                # Half a question or half an answer may be left in the pipes.
                self._end()
            self._busy = False
        (done if good else failed)(value)


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Do what is asked, until nobody asks any more."""
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            task, arguments = pickle.load(asked)  # noqa: S301, from the process that started this one
            pickle.dump(_outcome(task, arguments), answers)
            answers.flush()


def _outcome(task: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Whether a task succeeded, and its value or what to say."""
    try:
        return True, TASKS[task](*arguments)
    except ArcreachError as error:
        return False, str(error)
    except Exception as error:
        return False, _failure(error)


def _failure(error: Exception) -> str:
    return f"the work failed: {type(error).__name__}: {error}"


def main() -> None:
    """Serve on stdin and stdout; whatever a package prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)
