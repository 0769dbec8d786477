"""The command line's entry point: the list of commands, and what happens to errors."""

from __future__ import annotations

import os
import sys

import typer

from arcreach import __version__
from arcreach.cli import check, fk, info, robots, warm_up
from arcreach.cli.output import EXIT_BAD_INPUT, print_error
from arcreach.errors import ArcreachError

app = typer.Typer(
    name="arcreach",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (robots.robots, info.info, fk.fk, check.check):
    app.command()(command)
app.command("warm-up")(warm_up.warm_up)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arcreach {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Kinematics of robots that bend and robots that hinge.

    ROBOT is a name of the catalogue (see `arcreach robots`), a robot file (.toml) or a URDF file.

    Exit codes: 0 done, 1 target not reached, 2 bad input.
    """


def main() -> None:
    """Run the command line; bad input ends with one line on stderr and exit code 2."""
    try:
        app()
    except ArcreachError as error:
        print_error(error)
        sys.exit(EXIT_BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output has gone, `arcreach robots | head -1`: nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
