"""`arcreach studio`: the page in the browser."""

from __future__ import annotations

import contextlib
import threading
import webbrowser
from typing import Annotated

import typer

from arcreach.cli.arguments import ROBOT_HELP, BaseLink, OptionalScene, SceneScale, TipLink, complete_robot, read_scene
from arcreach.cli.output import printable
from arcreach.cli.progress import announce_compiling
from arcreach.files import load_robot

# Longest time in seconds to wait for the compilation of the first solve.
COMPILED = 300.0
REMOTE = "warning: everybody who can connect to this machine can use the page; there is no password"


def studio(
    robot: Annotated[
        str,
        typer.Argument(metavar="[ROBOT]", help=ROBOT_HELP, autocompletion=complete_robot),
    ] = "three-section",
    scene: OptionalScene = None,
    scale: SceneScale = None,
    port: Annotated[int, typer.Option("--port", help="Port of the page; 0 takes any free one.")] = 8080,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Accept connections from other machines; set --host.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """Drag a target in the browser and watch the robot follow.

    Only this machine can open the page, unless --allow-remote is given. Ends with Ctrl-C.
    """
    from arcreach.studio.app import Studio
    from arcreach.studio.state.robots import drawable

    loaded = drawable(load_robot(robot, base, tip))
    obstacles = read_scene(scene, scale)
    with contextlib.ExitStack() as stack, contextlib.suppress(KeyboardInterrupt):
        with announce_compiling():
            page = stack.enter_context(Studio(loaded, obstacles, host=host, port=port, allow_remote=allow_remote))
            if allow_remote:
                typer.echo(REMOTE, err=True)
            typer.echo(f"{printable(loaded.name or 'the robot')} is at {page.url} - end with Ctrl-C")
            if browser:
                webbrowser.open(page.url)
            page.settle(COMPILED)
        wait()


def wait() -> None:
    """Wait for Ctrl-C."""
    threading.Event().wait()
