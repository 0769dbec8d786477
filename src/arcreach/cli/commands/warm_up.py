"""`arcreach warm-up`: compile kernels ahead of time."""

from __future__ import annotations

from typing import Annotated

import typer

from arcreach import _jit, _warm_up
from arcreach.cli.arguments import AsJson, complete_robot
from arcreach.cli.output import print_json
from arcreach.cli.progress import announce_compiling
from arcreach.files import load_robot


def warm_up(
    device: Annotated[str, typer.Option("--device", help="cuda or auto: also the kernels of a GPU.")] = "cpu",
    robot: Annotated[
        str | None,
        typer.Option("--robot", help="With a GPU: kernels for this robot only.", autocompletion=complete_robot),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile the kernels of solvers, scenes and planners, so that first commands do not wait."""
    loaded = None if robot is None else load_robot(robot)
    with announce_compiling(warming_up=True) as say:
        seconds = _warm_up.warm_up(device, loaded, lambda done, total: say("compiling", done, total, "step"))
    if as_json:
        print_json({"seconds": seconds, "cache": str(_jit.CACHE_DIRECTORY)})
    else:
        typer.echo(f"kernels ready after {seconds:.1f} s, kept in {_jit.CACHE_DIRECTORY}")
