"""Print results, tables, JSON, notes and errors; check the files that a command writes; and the exit codes."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from arcreach._extras import require
from arcreach._io import called, check_output
from arcreach.errors import FileError

EXIT_REACHED = 0
EXIT_NOT_REACHED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

# Parameters of commands that name a file to write.
OUTPUTS = ("out", "trace", "motors", "figure")

# JSON does not escape these control characters, and a terminal obeys some of them.
_CONTROL = re.compile("[\x7f-\x9f]")


def exit_by(reached: bool) -> NoReturn:
    """End the command with the exit code for a result."""
    raise typer.Exit(EXIT_REACHED if reached else EXIT_NOT_REACHED)


def never_fail_to_encode() -> None:
    """Print `?` for characters that the encoding of stdout lacks; stderr already prints escapes for them."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def console() -> Console:
    """Return the console of stdout."""
    return Console(emoji=False)


def printable(text: str) -> str:
    """Return a text on one line with control characters escaped, so that none reaches the terminal."""
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else repr(character)[1:-1]


def printable_lines(text: str) -> str:
    """Apply `printable` to every line of a text."""
    return "\n".join(printable(line) for line in text.splitlines())


def plain(text: str) -> str:
    """Return a text that rich prints as it is, without markup and control characters."""
    return escape(printable(text))


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Collection[str] = (),
    whole: Collection[str] = (),
    rule: bool = True,
) -> None:
    """Print a table on stdout.

    Columns `right` are right-aligned. Long texts continue on the next line, except in the columns `whole`. `rule`
    draws a line below the headings.
    """
    table = Table(box=box.SIMPLE_HEAD if rule else None, pad_edge=False)
    for heading in headings:
        justify = "right" if heading in right else "left"
        table.add_column(heading, justify=justify, no_wrap=heading in whole, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(plain, row))
    console().print(table)


def print_json(value: Any) -> None:
    """Print a value as JSON, as `json_text` returns it."""
    # ASCII escapes keep the text complete if the output's encoding cannot hold it.
    text = json_text(value, escape_all=not (sys.stdout.encoding or "").lower().startswith("utf"))
    typer.echo(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def json_text(value: Any, escape_all: bool = True) -> str:
    """Return a value as JSON; numbers that JSON lacks, such as NaN, become null."""
    return json.dumps(_jsonable(value), indent=2, ensure_ascii=escape_all, allow_nan=False)


def picked(thing: Any, *names: str) -> dict[str, Any]:
    """Return attributes of a result by their names."""
    return {name: getattr(thing, name) for name in names}


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


def note(text: str) -> None:
    """Print a line on stderr, such as a hint; print nothing if the text is empty."""
    if text:
        typer.echo(printable(text), err=True)


def note_unwritten(why: str, *files: Path | None) -> None:
    """Print a note for each file that is not written, with the reason; None stands for a file not asked for."""
    for file in files:
        note(f"note: {called(file)} is not written, because {why}" if file is not None else "")


def keeping_inputs(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with a check, before anything else, that it does not write over one of its inputs."""

    @functools.wraps(command)
    def checked(**options: Any) -> None:
        _check_inputs_kept(options)
        command(**options)

    return checked


def _check_inputs_kept(options: Mapping[str, Any]) -> None:
    """Refuse an output that is one of the command's inputs, also by another spelling or a link."""
    inputs: list[Any] = []
    for name, value in options.items():
        if name not in OUTPUTS:
            inputs += value if isinstance(value, (list, tuple)) else [value]
    for name in OUTPUTS:
        out = options.get(name)
        if out is not None and any(_is_same_file(out, given) for given in inputs):
            raise FileError(f"--{name} {called(out)} is an input of this command; give another file to write")


def _is_same_file(out: Path, given: Any) -> bool:
    # A folder may have the name of a robot or an experiment.
    if not isinstance(given, (str, Path)) or not os.path.isfile(out):
        return False
    with contextlib.suppress(OSError, ValueError):
        return os.path.samefile(out, given)
    return False


def check_figure(path: Path | None) -> None:
    """Refuse a figure that could not be written, before anything is computed for it."""
    if path is None:
        return
    from arcreach.figures.drawing import theme

    check_output(path, theme.ENDINGS)
    require("matplotlib")
