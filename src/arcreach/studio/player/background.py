"""`Background`: run tasks in a process of their own, where they can be cancelled.

The process is a program of its own: multiprocessing would rerun a user's script that has no `__main__` guard.
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
from arcreach.studio.player.tasks import TASKS

Done = Callable[[Any], None]
Failed = Callable[[str], None]

# The folder that holds arcreach comes last in the path: nothing in it may replace another package.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from arcreach.studio.player.background import main; main()"


class Process:
    """A process that reads tasks from its stdin and writes their results to its stdout."""

    def __init__(self) -> None:
        # -P: a file of the current folder with the name of a module, such as pickle.py, must not be imported.
        line = [sys.executable, "-P", "-c", PROGRAM, str(Path(__file__).parents[3])]
        self._program = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603, our own
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self.tasks: IO[bytes] = self._program.stdin
        self.results: IO[bytes] = self._program.stdout

    def alive(self) -> bool:
        """Return whether the process is running."""
        return self._program.poll() is None

    def end(self) -> None:
        """Kill the process and close its pipes."""
        self._program.kill()
        self._program.wait()
        for stream in (self.tasks, self.results):
            # Closing may fail on unwritten data, which is dropped.
            with contextlib.suppress(OSError):
                stream.close()


class Background:
    """One process, started for the first task and kept for the next; it runs the latest task only.

    Tasks are numbered, and results of earlier ones are dropped. Cancelling a task kills the process: a search cannot be
    stopped from outside.
    """

    def __init__(self, launch: Callable[[], Any] = Process) -> None:
        self._launch = launch
        self._lock = threading.Lock()
        self._process: Any = None
        self._revision = 0
        self._busy = False

    def start(self, task: str, arguments: tuple[Any, ...], done: Done, failed: Failed) -> None:
        """Run a task in place of the current one; a thread calls `done` or `failed`, unless the task is cancelled."""
        with self._lock:
            if self._busy:
                self._end()
            self._revision += 1
            self._busy = True
            number = self._revision
        threading.Thread(
            target=self._do, args=(number, (task, arguments), done, failed), name="arcreach-background", daemon=True
        ).start()

    def cancel(self) -> bool:
        """End the current task; return whether there was one."""
        with self._lock:
            if not self._busy:
                return False
            self._revision += 1
            self._busy = False
            self._end()
            return True

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._revision += 1
            self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def _do(self, number: int, task: Any, done: Done, failed: Failed) -> None:
        try:
            process = self._launched(number)
            if process is None:
                return
            pickle.dump(task, process.tasks)
            process.tasks.flush()
            good, value = pickle.load(process.results)  # noqa: S301, from our own process
            whole = True
        except (EOFError, BrokenPipeError):
            # The process was killed by a cancellation, or died.
            good, value, whole = False, "the work ended without an answer", False
        except Exception as error:
            # The process cannot be started, the task cannot be pickled, or the result cannot be unpickled.
            good, value, whole = False, _failure(error), False
        with self._lock:
            if number != self._revision:
                return
            if not whole:
                # Part of a message may be left in the pipes.
                self._end()
            self._busy = False
        (done if good else failed)(value)

    def _launched(self, number: int) -> Any:
        """Return the process, started if there is none; None if task `number` was cancelled or replaced meanwhile."""
        with self._lock:
            if number != self._revision:
                return None
            if self._process is not None and not self._process.alive():
                self._end()
            if self._process is None:
                self._process = self._launch()
            return self._process


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """Run tasks until their stream ends."""
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            task, arguments = pickle.load(tasks)  # noqa: S301, from the process that started this one
            pickle.dump(_outcome(task, arguments), results)
            results.flush()


def _outcome(task: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Run a task; return whether it succeeded, and its value or the error message."""
    try:
        return True, TASKS[task](*arguments)
    except ArcreachError as error:
        return False, str(error)
    except Exception as error:
        return False, _failure(error)


def _failure(error: Exception) -> str:
    return f"the work failed: {type(error).__name__}: {error}"


def main() -> None:
    """Serve on stdin and stdout; output of other packages is redirected to stderr."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, results)
