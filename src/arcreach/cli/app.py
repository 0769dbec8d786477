"""The entry point of the command line: the commands, and the handling of errors."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import NoReturn

import typer

from arcreach import __version__
from arcreach.cli.commands import (
    check,
    contact,
    experiment,
    export,
    figure,
    fit,
    fk,
    follow,
    grasp,
    ik,
    info,
    methods,
    plan,
    robots,
    studio,
    warm_up,
)
from arcreach.cli.output import EXIT_BAD_INPUT, EXIT_INTERRUPTED, keeping_inputs, never_fail_to_encode, note
from arcreach.errors import ArcreachError

app = typer.Typer(
    name="arcreach",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (
    robots.robots,
    info.info,
    fk.fk,
    ik.ik,
    fit.fit,
    methods.methods,
    follow.follow,
    plan.plan,
    contact.contact,
    grasp.grasp,
    export.export,
    check.check,
    studio.studio,
):
    app.command()(command)
app.command("warm-up")(warm_up.warm_up)
app.add_typer(experiment.app, name="experiment")
app.add_typer(figure.app, name="figure")
for group in (app, experiment.app, figure.app):
    for registered in group.registered_commands:
        assert registered.callback is not None
        registered.callback = keeping_inputs(registered.callback)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arcreach {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Forward and inverse kinematics and motion planning of continuum robots and serial arms.

    ROBOT is a name of the catalogue (see `arcreach robots`), a robot file (.toml) or a URDF file.

    Exit codes: 0 done, 1 target not reached, 2 bad input, 130 interrupted.
    """


def main() -> None:
    """Run the command line; bad input ends with one line on stderr and exit code 2."""
    never_fail_to_encode()
    try:
        try:
            with _warnings_as_notes():
                app()
        except ArcreachError as error:
            note(f"error: {error}")
            sys.exit(EXIT_BAD_INPUT)
        finally:
            # Flush here, where errors are caught; at exit Python would flush outside of every handler.
            sys.stdout.flush()
    except BrokenPipeError:
        _end_without_a_reader()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except SystemExit as end:
        # typer turns a closed pipe into exit code 1.
        if isinstance(end.__context__, BrokenPipeError):
            _end_without_a_reader()
        raise


@contextlib.contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings of the library as one line each, without the source location that Python adds."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_, **__: note(str(message))
        yield


def _end_without_a_reader() -> NoReturn:
    """Exit silently after the reader of the output has gone, as in `arcreach robots | head -1`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    sys.exit(0)
