"""`arcreach check`: what is wrong with a robot file, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arcreach._io import called, may_exist
from arcreach.cli.output import EXIT_BAD_INPUT, AsJson, BaseLink, TipLink, print_json, printable
from arcreach.errors import FileError
from arcreach.files.catalogue import catalogue
from arcreach.files.robots import read_robot


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Robot file, .toml or .urdf.")],
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Check a robot file and list every problem in it."""
    problems: tuple[str, ...] = ()
    robot = ""
    try:
        if str(file) in catalogue() and not may_exist(file):
            raise FileError(f"is a robot of the catalogue and no file; arcreach info {file} shows it")
        robot = repr(read_robot(file, base, tip))
    except FileError as error:
        problems = error.problems
    if as_json:
        print_json({"file": str(file), "ok": not problems, "problems": problems})
    elif problems:
        for problem in problems:
            typer.echo(printable(f"{called(file)}: {problem}"), err=True)
    else:
        typer.echo(printable(f"{called(file)}: a good robot file: {robot}"))
    if problems:
        raise typer.Exit(EXIT_BAD_INPUT)
