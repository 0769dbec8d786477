"""`arcreach warm-up`: compile ahead of time."""

from __future__ import annotations

import typer

from arcreach import _jit, _warm_up
from arcreach.cli.output import AsJson, announce_compiling, print_json


def warm_up(as_json: AsJson = False) -> None:
    """Compile all kernels now, so that the first real use does not wait."""
    with announce_compiling():
        seconds = _warm_up.warm_up()
    if as_json:
        print_json({"seconds": seconds, "cache": str(_jit.CACHE_DIRECTORY)})
    else:
        typer.echo(f"kernels ready after {seconds:.1f} s, kept in {_jit.CACHE_DIRECTORY}")
