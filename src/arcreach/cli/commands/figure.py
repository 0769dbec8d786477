"""`arcreach figure`: figures for papers, in the widths and the type of journals."""

from __future__ import annotations

import enum
import math
from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from arcreach._io import is_stream
from arcreach.cli.commands.contact import check_figure
from arcreach.cli.commands.contact import complete_scene as complete_planar
from arcreach.cli.commands.plan import complete_scene
from arcreach.cli.configurations import parse_configuration
from arcreach.cli.options import parse_options
from arcreach.cli.output import (
    BaseLink,
    MethodName,
    RobotName,
    TipLink,
    announce_compiling,
    complete_robot,
    console,
    printable,
)
from arcreach.cli.scenes import SCENE_HELP, SceneScale, read_scene
from arcreach.cli.targets import parse_target
from arcreach.errors import MethodError, SceneError
from arcreach.files import units
from arcreach.files.robots import load_robot
from arcreach.files.scenes import load_scene
from arcreach.files.toml.planar_file import load_planar_scene
from arcreach.ik.own_methods import load_method
from arcreach.robots.mesh import check_chain
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = typer.Typer(
    no_args_is_help=True, help="Figures for papers: 3.5 or 7.16 inches wide, 8 pt, as .svg, .pdf or .png."
)


class Width(enum.StrEnum):
    """The width of a figure."""

    COLUMN = "column"
    PAGE = "page"


Out = Annotated[File, typer.Option("--out", help="File to write: .svg, .pdf or .png.")]
WidthChoice = Annotated[
    Width | None, typer.Option("--width", help="One column (3.5 in) or a page (7.16 in); what suits it by default.")
]
Methods = Annotated[
    str | None,
    typer.Option("--methods", help="With commas between, also module:function; some that serve the robot by default."),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the random numbers; the same seed, the same figure.")]
SceneName = Annotated[str | None, typer.Option("--scene", help=SCENE_HELP, autocompletion=complete_scene)]

FIGURES = {
    "pose": "shaded tubes and frames of a robot in one pose or several",
    "workspace": "in how many directions the tip can point, cell by cell",
    "times": "histograms of the time per solve, by method",
    "convergence": "error against the iteration, by method",
    "success": "share reached against the limit of the bend, with Wilson bands",
    "iterations": "coordinates and errors of one solve, iteration by iteration",
    "contact": "ways around what is touched, and what an elastic rod makes of them",
    "clearance": "distance from obstacles along a path, element by element",
}


@app.command("list")
def list_figures() -> None:
    """List the figures."""
    table = Table(box=None, pad_edge=False)
    table.add_column("name")
    table.add_column("what it shows")
    for name, words in FIGURES.items():
        table.add_row(name, words)
    console().print(table)


@app.command(help=f"Draw {FIGURES['pose']}.")
def pose(
    robot: RobotName,
    out: Out,
    q: Annotated[
        list[str] | None,
        typer.Option(
            "--q", help="Configuration, as --q of fk; the rest pose by default. Of several the last one stands out."
        ),
    ] = None,
    scene: SceneName = None,
    scale: SceneScale = None,
    view: Annotated[str | None, typer.Option("--view", help="Azimuth and elevation of the eye: -60deg,20deg.")] = None,
    frames: Annotated[bool, typer.Option("--frames/--no-frames", help="Frames of base, sections and tip.")] = True,
    names: Annotated[bool, typer.Option("--names/--no-names", help="Names of sections beside them.")] = True,
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """A robot in one pose."""
    check_figure(out)
    loaded = _chain(load_robot(robot, base, tip))
    rows = [parse_configuration(text, loaded) for text in q or []] or [loaded.neutral]
    options: dict[str, Any] = {} if view is None else {"view": _view(view)}
    obstacles = read_scene(scene, scale) or ()
    from arcreach import figures

    with announce_compiling():
        drawn = figures.pose(loaded, rows, scene=obstacles, frames=frames, names=names, **options, **_wide(width))
    _save(drawn, out)


@app.command(help=f"Draw {FIGURES['workspace']}.")
def workspace(
    robots: Annotated[
        list[str],
        typer.Argument(metavar="ROBOT...", help="Names of the catalogue or files.", autocompletion=complete_robot),
    ],
    out: Out,
    samples: Annotated[int, typer.Option("--samples", min=100, help="Random configurations of each robot.")] = 400_000,
    cell: Annotated[str | None, typer.Option("--cell", help="Size of a cell: 2mm.")] = None,
    seed: Seed = 0,
    width: WidthChoice = None,
) -> None:
    """A map of the workspace, or several side by side."""
    check_figure(out)
    loaded = {name: load_robot(name) for name in robots}
    size = None if cell is None else units.parse(cell, "length")
    if size is not None and size <= 0.0:
        raise MethodError(f"--cell {cell} is not accepted; give a length above 0")
    from arcreach import figures

    maps = {}
    with announce_compiling():
        for name, one in loaded.items():
            # All maps have cells of one size: that of the first robot.
            places, shares, size = figures.tip_directions(one, samples=samples, seed=seed, cell=size)
            maps["" if len(loaded) == 1 else one.name or name] = (places, 100.0 * shares)
        assert size is not None
        drawn = figures.workspace(maps, cell=size, label="directions of the tip (%)", **_wide(width))
    _save(drawn, out)


@app.command(help=f"Draw {FIGURES['times']}.")
def times(
    robot: RobotName,
    out: Out,
    methods: Methods = None,
    targets: Annotated[int, typer.Option("--targets", min=1, help="Random poses of the robot.")] = 2_000,
    seed: Seed = 0,
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """Histograms of times; they are measured, so no two runs are quite alike."""
    check_figure(out)
    loaded = load_robot(robot, base, tip)
    from arcreach import figures

    with announce_compiling():
        measured = figures.measure_times(loaded, _split(methods), targets=targets, seed=seed)
    _save(figures.solve_times(measured, **_wide(width)), out)


@app.command(help=f"Draw {FIGURES['convergence']}.")
def convergence(
    robot: RobotName,
    out: Out,
    methods: Methods = None,
    targets: Annotated[int, typer.Option("--targets", min=1, help="Random poses of the robot.")] = 50,
    seed: Seed = 0,
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """How errors fall."""
    check_figure(out)
    loaded = load_robot(robot, base, tip)
    from arcreach import figures

    with announce_compiling():
        bands = figures.measure_convergence(loaded, _split(methods), targets=targets, seed=seed)
    _save(figures.convergence({"": bands}, **_wide(width)), out)


@app.command(help=f"Draw {FIGURES['success']}.")
def success(
    robot: RobotName,
    out: Out,
    methods: Methods = None,
    limits: Annotated[
        str | None, typer.Option("--limits", help="Limits of the bend: 30deg,60deg,90deg; 15° to 180° by default.")
    ] = None,
    targets: Annotated[int, typer.Option("--targets", min=1, help="Random poses for each limit.")] = 500,
    seed: Seed = 0,
    width: WidthChoice = None,
) -> None:
    """Success against the limit of the bend."""
    check_figure(out)
    loaded = _chain(load_robot(robot))
    options: dict[str, Any] = {}
    if limits is not None:
        options["limits"] = [units.parse(text.strip(), "angle") for text in limits.split(",")]
    from arcreach import figures

    with announce_compiling():
        counts = figures.measure_success(loaded, _split(methods), targets=targets, seed=seed, **options)
    _save(figures.success(counts, **_wide(width)), out)


@app.command(help=f"Draw {FIGURES['iterations']}.")
def iterations(
    robot: RobotName,
    out: Out,
    to: Annotated[str, typer.Option("--to", help="Position of the tip: 20mm,10mm,120mm.")],
    axis: Annotated[str | None, typer.Option("--axis", help="Direction of the tip's z axis: 0,0,1.")] = None,
    rotation: Annotated[str | None, typer.Option("--rotation", help="Rotation of the tip, as in ik.")] = None,
    method: MethodName = "hierarchical",
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="Option of the method, as in ik.")
    ] = None,
    start: Annotated[str | None, typer.Option("--start", help="Configuration to begin from, as --q of fk.")] = None,
    position_tol: Annotated[str, typer.Option("--position-tol", help="Tolerance of the position.")] = "1um",
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """The log of one solve."""
    check_figure(out)
    loaded = load_robot(robot, base, tip)
    options = parse_options(option or [])
    from arcreach import figures
    from arcreach.ik.solve import solve

    chosen = load_method(method)
    chosen.check_options(options)
    begin = None if start is None else loaded.clip(parse_configuration(start, loaded, "--start"))
    with announce_compiling():
        solution = solve(
            loaded, parse_target(to, axis, rotation), chosen.name, start=begin, trace=True,
            position_tol=units.parse(position_tol, "length"), **options,
        )  # fmt: skip
    typer.echo(printable(str(solution)), err=True)
    _save(figures.iterations(loaded, solution, **_wide(width)), out)


@app.command(help=f"Draw {FIGURES['contact']}.")
def contact(
    scenes: Annotated[
        list[str],
        typer.Argument(metavar="SCENE...", help="Planar scenes: names or .toml files.", autocompletion=complete_planar),
    ],
    out: Out,
    rod: Annotated[bool, typer.Option("--rod/--no-rod", help="A second row with the elastic rod.")] = True,
    width: WidthChoice = None,
) -> None:
    """Contact plans of one planar scene, or of several side by side."""
    check_figure(out)
    loaded = [load_planar_scene(name) for name in scenes]
    for one in loaded:
        if one.target is None:
            raise SceneError(f"scene '{one.name}' has no target to reach; give one that has")
    from arcreach import figures
    from arcreach.planning.contact.plan import plan_contact

    with announce_compiling():
        plans = {
            one.name or "scene": plan_contact(
                one.robot, one.target, one.obstacles, one.contacts, bend_radius=one.bend_radius
            )
            for one in loaded
            if one.target is not None
        }
        drawn = figures.contact(plans, rod=rod, **_wide(width or (Width.COLUMN if len(plans) == 1 else Width.PAGE)))
    _save(drawn, out)


@app.command(help=f"Draw {FIGURES['clearance']}.")
def clearance(
    robot: RobotName,
    out: Out,
    path: Annotated[File, typer.Option("--path", help="CSV file of a path, as plan and follow write it.")],
    scene: Annotated[str, typer.Option("--scene", help=SCENE_HELP, autocompletion=complete_scene)],
    scale: SceneScale = None,
    margin: Annotated[str, typer.Option("--margin", help="Distance that was to be kept.")] = "0mm",
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """Clearance along a path."""
    check_figure(out)
    loaded = _chain(load_robot(robot, base, tip))
    obstacles = load_scene(scene, scale)
    from arcreach import figures
    from arcreach.planning.motion.path import Path

    way = Path.from_csv(path, loaded)
    with announce_compiling():
        drawn = figures.clearance(way, obstacles, margin=units.parse(margin, "length"), **_wide(width))
    _save(drawn, out)


def _chain(robot: Robot | SymbolicRobot) -> Robot:
    check_chain(robot, "this figure")
    assert isinstance(robot, Robot)
    return robot


def _wide(width: Width | None) -> dict[str, Any]:
    """The width in millimetres, where one is asked for."""
    from arcreach import figures

    if width is None:
        return {}
    return {"width": figures.ONE_COLUMN if width == Width.COLUMN else figures.TWO_COLUMNS}


def _split(methods: str | None) -> list[str] | None:
    """The names of methods, those of the user's own loaded."""
    if methods is None:
        return None
    return [load_method(name.strip()).name for name in methods.split(",") if name.strip()]


def _view(text: str) -> tuple[float, float]:
    cells = text.split(",")
    if len(cells) != 2:
        raise MethodError(f"--view has {len(cells)} values; give two, azimuth and elevation, as -60deg,20deg")
    azimuth, elevation = (math.degrees(units.parse(cell.strip(), "angle")) for cell in cells)
    return azimuth, elevation


def _save(figure: Figure, out: File) -> None:
    from arcreach import figures

    figures.save(figure, out)
    wide, high = (25.4 * size for size in figure.get_size_inches())
    typer.echo(printable(f"{out}: {wide:.1f} x {high:.1f} mm"), err=is_stream(out))
