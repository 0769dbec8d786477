"""What the commands share: printing tables, JSON and errors, and the word about compiling."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from arcreach._jit import on_compile
from arcreach._text import count, seconds
from arcreach.errors import FileError
from arcreach.files.catalogue import catalogue

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

# Seconds until a command tells how far it has come, and between two lines where stderr is no terminal.
SAY_AFTER = 2.0
LINE_EVERY = 10.0

COMPILING = "Compiling kernels: once per installation (arcreach warm-up does it ahead of time)"
COMPILING_SYMBOLIC = "Compiling the robot's formulas: in every run, some seconds"

# JSON leaves these control characters as they are, and a terminal obeys some of them.
_CONTROL = re.compile("[\x7f-\x9f]")


def complete_robot(incomplete: str) -> list[str]:
    """Names of the catalogue for the shell's completion."""
    return [name for name in catalogue() if name.startswith(incomplete)]


RobotName = Annotated[
    str,
    typer.Argument(metavar="ROBOT", help="Name of the catalogue, .toml or .urdf file.", autocompletion=complete_robot),
]
MethodName = Annotated[
    str, typer.Option("--method", help="See arcreach methods; or module:function, a method of your own.")
]
BaseLink = Annotated[str | None, typer.Option("--base", help="URDF: link where the chain begins.")]
TipLink = Annotated[str | None, typer.Option("--tip", help="URDF: link where the chain ends.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


def never_fail_to_encode() -> None:
    """Print `?` for what the encoding of stdout lacks, in place of an error; stderr writes escapes by itself."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def console() -> Console:
    """The console of stdout."""
    return Console(emoji=False)


def printable(text: str) -> str:
    """A text on one line, with control characters written out, so that none reaches the terminal."""
    if text.isprintable():
        return text
    return "".join(_written_out(character) for character in text)


def _written_out(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else repr(character)[1:-1]


def print_json(value: Any) -> None:
    """Print a value as JSON; numbers that JSON does not know become null."""
    # Escapes keep the text whole where the output cannot hold it.
    escape_all = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(_jsonable(value), indent=2, ensure_ascii=escape_all, allow_nan=False)
    typer.echo(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def print_error(error: Exception) -> None:
    """Print an error as one line on stderr."""
    typer.echo(printable(f"error: {error}"), err=True)


def plain(text: str) -> str:
    """A user's text, with nothing in it that rich would take for markup or the terminal for a command."""
    return escape(printable(text))


class Pace:
    """How far a command has come, in words, with about how long the rest will take."""

    def __init__(self) -> None:
        self.first: tuple[float, int] | None = None

    def words(self, doing: str, done: int, total: int, noun: str) -> str:
        """`following: 12 of 75 waypoints, about 40 s left`; without a guess until the pace is known."""
        now = time.monotonic()
        text = f"{doing}: {done} of {count(total, noun)}"
        if self.first is None or done <= max(self.first[1], 1):
            # The first one also took what is done once, such as loading kernels; and a count may begin anew.
            self.first = now, done
            return text
        left = (now - self.first[0]) * (total - done) / (done - self.first[1])
        return f"{text}, about {seconds(left, 2)} left"


# Tells how far a command has come: what it does, how many are done and of all, and of which things.
Say = Callable[[str, int, int, str], None]


@contextlib.contextmanager
def announce_compiling(message: str = COMPILING) -> Iterator[Say]:
    """Say on stderr when something is being compiled: a spinner on a terminal, a line elsewhere.

    The function it gives tells how far the command has come. Its text is shown from SAY_AFTER seconds on: beside the
    spinner, or elsewhere as a line now and then.
    """
    stderr = Console(stderr=True)
    status = stderr.status(message)
    announced = False
    began = said = time.monotonic()
    pace, latest = Pace(), ""
    timer: threading.Timer | None = None

    def started() -> None:
        nonlocal announced
        if announced:
            return
        announced = True
        if stderr.is_terminal:
            status.start()
        else:
            sys.stderr.write(message + "\n")

    def say(doing: str, done: int, total: int, noun: str) -> None:
        nonlocal latest, timer
        latest = pace.words(doing, done, total, noun)
        early = began + SAY_AFTER - time.monotonic()
        if early <= 0.0:
            show(latest)
        elif timer is None:
            # The next step may take long: what is known is then said without waiting for it.
            timer = threading.Timer(early, lambda: show(latest))
            timer.daemon = True
            timer.start()

    def show(text: str) -> None:
        nonlocal said
        now = time.monotonic()
        if stderr.is_terminal:
            status.update(text)
            status.start()
        elif said == began or now - said >= LINE_EVERY:
            said = now
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    with on_compile(started, announces=True):
        try:
            yield say
        finally:
            if timer is not None:
                timer.cancel()
            status.stop()


def note(text: str) -> None:
    """A line on stderr beside the result, such as a hint; nothing where the text is empty."""
    if text:
        typer.echo(printable(text), err=True)


def _jsonable(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    return value


def one_of(**given: Any) -> None:
    """Refuse unless exactly one of these options is given."""
    if sum(value is not None for value in given.values()) != 1:
        names = " or ".join(f"--{name}" for name in given)
        raise FileError(f"give exactly one of {names}")
