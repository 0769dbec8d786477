"""Arguments and options that several commands share, with the shell's completion of their values.

The modules `targets` and `configurations` parse the values, `files.units` numbers with units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from arcreach.errors import FileError, MethodError
from arcreach.files import catalogue, load_scene, planar_catalogue, scene_catalogue
from arcreach.scenes.scene import Scene


def complete(names: Callable[[], Sequence[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes the beginning of one of these names."""

    def completion(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return completion


complete_robot = complete(catalogue)

ROBOT_HELP = "Name of the catalogue, .toml or .urdf file."
SCENE_HELP = "Obstacles: a name of the catalogue, a .toml file, or a mesh such as .stl."
TO_HELP = "Position of the tip: 20mm,10mm,120mm."

RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help=ROBOT_HELP, autocompletion=complete_robot)]
OptionalRobot = Annotated[str | None, typer.Argument(metavar="[ROBOT]", help=ROBOT_HELP, autocompletion=complete_robot)]
BaseLink = Annotated[str | None, typer.Option("--base", help="URDF: link where the chain begins.")]
TipLink = Annotated[str | None, typer.Option("--tip", help="URDF: link where the chain ends.")]
MethodName = Annotated[
    str, typer.Option("--method", help="See arcreach methods; or module:function, a method of your own.")
]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Option of the method: a number, a name, or \\[a,b]."),
]
SceneName = Annotated[str, typer.Option("--scene", help=SCENE_HELP, autocompletion=complete(scene_catalogue))]
OptionalScene = Annotated[
    str | None, typer.Option("--scene", help=SCENE_HELP, autocompletion=complete(scene_catalogue))
]
SceneScale = Annotated[
    float | None, typer.Option("--scale", help="Metres per unit of a mesh given as --scene: 0.001 for millimetres.")
]
Margin = Annotated[str | None, typer.Option("--margin", help="With --scene: distance kept from obstacles, as 2mm.")]
PlanarName = Annotated[
    str,
    typer.Argument(
        metavar="SCENE", help="Planar scene: a name or a .toml file.", autocompletion=complete(planar_catalogue)
    ),
]
To = Annotated[str | None, typer.Option("--to", help=TO_HELP)]
Axis = Annotated[str | None, typer.Option("--axis", help="Direction of the tip's z axis: 0,0,1.")]
Rotation = Annotated[
    str | None,
    typer.Option(
        "--rotation", help="Rotation: nine numbers row by row, a quaternion w,x,y,z, or Euler angles ZYX:90deg,0,0."
    ),
]
Start = Annotated[str | None, typer.Option("--start", help="Start configuration, written as --q of fk.")]
Prefer = Annotated[
    str | None,
    typer.Option("--prefer", help="Preferred posture: rest, middle, limits (stay away from them), or a configuration."),
]
HoldNames = Annotated[
    list[str] | None,
    typer.Option("--hold", metavar="NAME", help="Coordinate or element to hold at its value at the start, or at rest."),
]
NarrowLimits = Annotated[
    list[str] | None,
    typer.Option("--limits", metavar="NAME=LOW,HIGH", help="Narrower limits of a coordinate: joint1=-30deg,30deg."),
]
PositionTol = Annotated[str, typer.Option("--position-tol", help="Tolerance of the position.")]
AngleTol = Annotated[str, typer.Option("--angle-tol", help="Tolerance of the orientation.")]
Through = Annotated[
    str | None, typer.Option("--through", help="Entry point that the body passes: 0mm,0mm,70mm; see Port.")
]
PortRadius = Annotated[str | None, typer.Option("--port-radius", help="With --through: its radius, by default 1mm.")]
PortAxis = Annotated[
    str | None, typer.Option("--port-axis", help="With --through: direction of the body there: 0,0,1.")
]
FigurePath = Annotated[Path | None, typer.Option("--figure", help="Write a figure: .png, .pdf or .svg.")]
Actuators = Annotated[bool, typer.Option("--actuators", help="Show the pulls of the tendons too.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


def read_scene(scene: str | None, scale: float | None, margin: str | None = None) -> Scene | None:
    """Load the obstacles that --scene names, if it is given; without it, refuse the options that belong to it."""
    if scene is None:
        for option, value in (("--scale", scale), ("--margin", margin)):
            if value is not None:
                raise MethodError(f"{option} has no meaning without --scene; leave it out")
        return None
    return load_scene(scene, scale)


def one_of(**given: object) -> None:
    """Refuse the options unless exactly one of them is given."""
    if sum(value is not None for value in given.values()) != 1:
        names = " or ".join(f"--{name}" for name in given)
        raise FileError(f"give exactly one of {names}")
