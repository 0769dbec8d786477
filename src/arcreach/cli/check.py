"""`arcreach check`: what is wrong with a robot file, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arcreach.cli.output import EXIT_BAD_INPUT, AsJson, BaseLink, TipLink, print_json
from arcreach.errors import FileError
from arcreach.files.robots import load_robot


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Robot file, .toml or .urdf.")],
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Check a robot file and list every problem in it."""
    try:
        robot = load_robot(file, base, tip)
        problems: tuple[str, ...] = ()
    except FileError as error:
        problems = error.problems
    if as_json:
        print_json({"file": str(file), "ok": not problems, "problems": problems})
    elif problems:
        for problem in problems:
            typer.echo(f"{file}: {problem}" if not problem.startswith(str(file)) else problem, err=True)
    else:
        typer.echo(f"{file}: a good robot file: {robot!r}")
    if problems:
        raise typer.Exit(EXIT_BAD_INPUT)
