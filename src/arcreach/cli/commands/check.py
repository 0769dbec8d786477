"""`arcreach check`: list every problem of a robot or scene file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from arcreach._io import called, may_exist
from arcreach._text import count
from arcreach.cli.arguments import AsJson, BaseLink, TipLink
from arcreach.cli.output import EXIT_BAD_INPUT, note, print_json, printable
from arcreach.errors import ArcreachError, FileError
from arcreach.files import PlanarScene, catalogue, planar_catalogue, scene_catalogue
from arcreach.files.load import read_any
from arcreach.files.toml.problems import problems_of
from arcreach.robots.hints import reach_hint
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.hints import extent_hint
from arcreach.scenes.scene import Scene


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Robot or scene file, .toml or .urdf, or a mesh, .stl or .obj.")
    ],
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Check a robot file, a scene or a planar scene, and list every problem in it."""
    problems: Sequence[str] = ()
    kind = ""
    try:
        if not may_exist(file):
            if str(file) in catalogue():
                raise FileError(f"is a robot of the catalogue, not a file; arcreach info {file} shows it")
            if str(file) in (*scene_catalogue(), *planar_catalogue()):
                raise FileError("is a scene of the catalogue, not a file; such scenes need no check")
        content = read_any(file, base, tip)
        kind, summary = _described(content)
        note(_hint(content))
    except ArcreachError as error:
        problems = problems_of(error)
    if as_json:
        print_json({"file": str(file), "ok": not problems, "kind": kind or None, "problems": problems})
    elif problems:
        for problem in problems:
            note(f"{called(file)}: {problem}")
    else:
        typer.echo(printable(f"{called(file)}: a valid {kind}: {summary}"))
    if problems:
        raise typer.Exit(EXIT_BAD_INPUT)


def _hint(content: Robot | SymbolicRobot | Scene | PlanarScene) -> str:
    """Return a hint where the lengths of a file are probably millimetres; else ""."""
    if isinstance(content, Scene):
        return extent_hint(content)
    if isinstance(content, PlanarScene):
        return reach_hint(content.robot) or extent_hint(Scene(content.obstacles))
    return reach_hint(content)


def _described(content: object) -> tuple[str, str]:
    """Return the kind of a file, and its content in a line."""
    if isinstance(content, PlanarScene):
        return "planar scene", f"{content.robot!r} and {count(len(content.obstacles), 'obstacle')}"
    return ("scene" if isinstance(content, Scene) else "robot file"), repr(content)
