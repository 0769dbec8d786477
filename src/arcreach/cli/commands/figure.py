"""`arcreach figure`: draw figures for papers in the column widths and type size of journals."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from arcreach import _text
from arcreach._io import is_stream
from arcreach._typing import Array
from arcreach.cli.arguments import (
    TO_HELP,
    Axis,
    BaseLink,
    MethodName,
    MethodOptions,
    OptionalScene,
    PlanarName,
    PositionTol,
    RobotName,
    Rotation,
    SceneName,
    SceneScale,
    Start,
    TipLink,
    complete,
    complete_robot,
    read_scene,
)
from arcreach.cli.configurations import (
    is_bare,
    note_outside,
    parse_configuration,
    parse_pulls,
    parse_start,
    with_unit,
)
from arcreach.cli.method_options import parse_options
from arcreach.cli.output import check_figure, note, print_table, printable
from arcreach.cli.progress import announce_compiling
from arcreach.cli.targets import parse_number, parse_numbers, parse_target
from arcreach.cli.tendon_output import with_tendons
from arcreach.errors import MethodError, SceneError
from arcreach.files import PlanarScene, load_chain, load_planar_scene, load_robot, load_scene, planar_catalogue
from arcreach.ik.method import find_method
from arcreach.ik.own_methods import load_method
from arcreach.ik.reach_map import AXES, reach_map
from arcreach.planning.contact.contact_plan import ContactPlans
from arcreach.planning.contact.plan import plan_contact
from arcreach.robots.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from arcreach.calibration import TipCovariance

app = typer.Typer(
    no_args_is_help=True, help="Figures for papers: 3.5 or 7.16 inches wide, 8 pt, as .svg, .pdf or .png."
)


class Width(enum.StrEnum):
    """The width of a figure."""

    COLUMN = "column"
    PAGE = "page"


Out = Annotated[File, typer.Option("--out", help="File to write: .svg, .pdf or .png.")]
WidthChoice = Annotated[
    Width | None,
    typer.Option("--width", help="One column (3.5 in) or a page (7.16 in); by default as suits the figure."),
]
Methods = Annotated[
    str | None,
    typer.Option("--methods", help="Separated by commas, also module:function; by default some that accept the robot."),
]
Seed = Annotated[int, typer.Option("--seed", help="RNG seed; equal seeds give equal figures.")]

FIGURES = {
    "pose": "shaded tubes and frames of a robot in one pose or several",
    "workspace": "share of directions in which the tip can point, cell by cell",
    "reach": "share of directions reached and dexterity in a plane, by solving",
    "times": "histograms of the time per solve, by method",
    "convergence": "error against the iteration, by method",
    "success": "share reached against the limit of the bend, with Wilson bands",
    "iterations": "coordinates and errors of one solve, iteration by iteration",
    "links": "an iteration of a FABRIK method as tangents and chords",
    "contact": "paths around obstacles with contacts, and as an elastic rod",
    "search": "arcs that the contact planner tries, kept and discarded",
    "clearance": "distance from obstacles along a path, element by element",
}


@app.command(help=f"Draw {FIGURES['contact']}.")
def contact(
    scenes: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENE...", help="Planar scenes: names or .toml files.", autocompletion=complete(planar_catalogue)
        ),
    ],
    out: Out,
    rod: Annotated[bool, typer.Option("--rod/--no-rod", help="Add a row with the elastic rod.")] = True,
    width: WidthChoice = None,
) -> None:
    """Draw the contact plans of planar scenes side by side."""
    check_figure(out)
    loaded = [load_planar_scene(name) for name in scenes]
    for one in loaded:
        _check_target(one)
    from arcreach import figures

    with announce_compiling():
        plans = {title: _planned(one) for title, one in zip(_titles(scenes, loaded), loaded, strict=True)}
        drawn = figures.contact(
            plans, rod=rod, **width_option(width or (Width.COLUMN if len(plans) == 1 else Width.PAGE))
        )
    save(drawn, out)


@app.command(help=f"Draw {FIGURES['search']}.")
def search(
    scene: PlanarName,
    out: Out,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of the search, a panel each.")] = 2,
    automatic: Annotated[
        bool, typer.Option("--auto", help="Allow contact with every convex corner and disc, not only at given points.")
    ] = False,
    width: WidthChoice = None,
) -> None:
    """Draw the rounds of the contact planner's search side by side."""
    check_figure(out)
    loaded = load_planar_scene(scene)
    _check_target(loaded)
    from arcreach import figures

    with announce_compiling():
        drawn = figures.contact_search(_planned(loaded, automatic, trace=True), rounds=rounds, **width_option(width))
    save(drawn, out)


@app.command("list")
def list_figures() -> None:
    """List the figures."""
    print_table(("name", "what it shows"), list(FIGURES.items()), rule=False)


@app.command(help=f"Draw {FIGURES['pose']}.")
def pose(
    robot: RobotName,
    out: Out,
    q: Annotated[
        list[str] | None,
        typer.Option(
            "--q", help="Configuration, as --q of fk; by default the rest pose. If repeated, all but the last are pale."
        ),
    ] = None,
    scene: OptionalScene = None,
    scale: SceneScale = None,
    view: Annotated[str | None, typer.Option("--view", help="Azimuth and elevation of the eye: -60deg,20deg.")] = None,
    frames: Annotated[bool, typer.Option("--frames/--no-frames", help="Frames of base, sections and tip.")] = True,
    names: Annotated[bool, typer.Option("--names/--no-names", help="Names of sections beside them.")] = True,
    tendons: Annotated[
        bool, typer.Option("--tendons/--no-tendons", help="Tendons and discs of sections that have them.")
    ] = True,
    pulls: Annotated[
        str | None, typer.Option("--pulls", help="Pulls of all tendons, as 2mm,0,-1mm; --q gives the joints.")
    ] = None,
    elastic: Annotated[
        bool, typer.Option("--elastic", help="With --pulls: sections and tendons as springs; slack tendons are dashed.")
    ] = False,
    pull_error: Annotated[
        str | None,
        typer.Option("--pull-error", help="Standard deviation of every pull; draws the tip's error ellipsoid."),
    ] = None,
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """Draw a robot in one pose or several."""
    check_figure(out)
    if elastic and pulls is None and pull_error is None:
        raise MethodError("--elastic has no meaning without --pulls or --pull-error; leave it out")
    loaded = load_chain(robot, "this figure", base, tip)
    if pull_error is not None:
        with_tendons(loaded, "--pull-error")
    rows: Any = [parse_configuration(text, loaded) for text in q or []] or [loaded.neutral]
    for row in rows:
        note_outside(loaded, row)
    if pulls is not None:
        if len(rows) > 1:
            raise MethodError(f"--pulls draws one pose; give --q once, not {len(rows)} times")
        rows = loaded.from_pulls(parse_pulls(pulls, with_tendons(loaded, "--pulls")), elastic, rows[0])
    options: dict[str, Any] = {}
    if view is not None:
        options["view"] = _view(view)
    obstacles = read_scene(scene, scale) or ()
    from arcreach import figures

    with announce_compiling():
        if pull_error is not None:
            shown = rows[-1] if pulls is None else rows.q
            options["uncertainty"] = _pull_uncertainty(loaded, shown, pull_error, elastic)
        drawn = figures.pose(
            loaded, rows, scene=obstacles, frames=frames, names=names, tendons=tendons, **options, **width_option(width)
        )
    save(drawn, out)


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
    """Draw maps of workspaces side by side."""
    check_figure(out)
    loaded = [load_robot(name) for name in robots]
    size = None if cell is None else parse_number("--cell", cell, "length")
    if size is not None and not 0.0 < size < math.inf:
        raise MethodError(f"--cell {cell} is not accepted; give a length above 0")
    from arcreach import figures

    maps = {}
    with announce_compiling():
        for title, one in zip(_titles(robots, loaded), loaded, strict=True):
            # The cell size of the first robot is used for all maps.
            corners, shares, size = figures.tip_directions(one, samples=samples, seed=seed, cell=size)
            maps["" if len(loaded) == 1 else title] = (corners, 100.0 * shares)
        assert size is not None
        highest = max(float(shares.max()) for _, shares in maps.values())
        drawn = figures.workspace(
            maps, cell=size, label="directions of the tip (%)", limits=(0.0, highest), **width_option(width)
        )
    save(drawn, out)


@app.command(help=f"Draw {FIGURES['reach']}.")
def reach(
    robot: RobotName,
    out: Out,
    layer: Annotated[str, typer.Option("--layer", help="Plane, by an axis and its coordinate: z=100mm.")] = "y=0mm",
    cells: Annotated[int, typer.Option("--cells", min=2, help="Cells along the longest side of the workspace.")] = 30,
    directions: Annotated[
        int, typer.Option("--directions", min=0, help="Directions of the tip's z axis; 0 for positions alone.")
    ] = 32,
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """Draw a plane of a reach map."""
    check_figure(out)
    axis, equals, at = layer.partition("=")
    if not equals or axis.strip() not in AXES:
        raise MethodError(f"--layer {layer} is not accepted; give x, y or z and its coordinate: y=0mm")
    plane = axis.strip(), parse_number("--layer", at, "length")
    loaded = load_chain(robot, "this figure", base, tip)
    from arcreach import figures

    with announce_compiling():
        found = reach_map(loaded, directions=directions, cells=cells, layer=plane)
        note(str(found))
        if directions:
            tried = _text.count(directions, "direction")
            note(f"white cells are reached in none of {tried}; --directions 0 maps positions alone")
        drawn = figures.reach_map(found, **width_option(width))
    save(drawn, out)


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
    """Draw histograms of measured times."""
    check_figure(out)
    loaded = load_robot(robot, base, tip)
    from arcreach import figures

    with announce_compiling(loaded):
        measured = figures.measure_times(loaded, _split(methods), targets=targets, seed=seed)
    save(figures.solve_times(measured, **width_option(width)), out)


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
    """Draw the error against the iteration."""
    check_figure(out)
    loaded = load_robot(robot, base, tip)
    from arcreach import figures
    from arcreach.figures.measure import POSITION_TOL

    with announce_compiling(loaded):
        bands = figures.measure_convergence(loaded, _split(methods), targets=targets, seed=seed)
    save(figures.convergence({"": bands}, tolerance=POSITION_TOL, **width_option(width)), out)


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
    """Draw the share reached against the limit of the bend."""
    check_figure(out)
    loaded = load_chain(robot, "this figure")
    options: dict[str, Any] = {}
    if limits is not None:
        options["limits"] = [parse_number("--limits", text, "angle") for text in limits.split(",")]
    from arcreach import figures

    with announce_compiling():
        counts = figures.measure_success(loaded, _split(methods), targets=targets, seed=seed, **options)
    save(figures.success(counts, **width_option(width)), out)


@app.command(help=f"Draw {FIGURES['iterations']}.")
def iterations(
    robot: RobotName,
    out: Out,
    to: Annotated[str, typer.Option("--to", help=TO_HELP)],
    axis: Axis = None,
    rotation: Rotation = None,
    method: MethodName = "hierarchical",
    option: MethodOptions = None,
    start: Start = None,
    position_tol: PositionTol = "1um",
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """Draw the iterations of one solve."""
    check_figure(out)
    loaded = load_robot(robot, base, tip)
    options = parse_options(option or [])
    from arcreach import figures
    from arcreach.ik.solve import solve

    chosen = load_method(method)
    chosen.check_options(options)
    begin = parse_start(start, loaded)
    with announce_compiling(loaded):
        solution = solve(
            loaded,
            parse_target(to, axis, rotation),
            chosen.name,
            start=begin,
            trace=True,
            position_tol=parse_number("--position-tol", position_tol, "length"),
            **options,
        )
    note(str(solution))
    if options.get("joint_steps"):
        save(figures.joint_steps(solution, **width_option(width)), out)
    else:
        save(figures.iterations(loaded, solution, **width_option(width)), out)


@app.command(help=f"Draw {FIGURES['links']}.")
def links(
    robot: RobotName,
    out: Out,
    to: Annotated[str, typer.Option("--to", help=TO_HELP)],
    axis: Axis = None,
    method: MethodName = "fabrikx",
    option: MethodOptions = None,
    start: Start = None,
    iteration: Annotated[int, typer.Option("--iteration", min=1, help="Iteration to draw.")] = 1,
    width: WidthChoice = None,
) -> None:
    """Draw the virtual links of one iteration of fabrikc, fabrikx or chords."""
    check_figure(out)
    loaded = load_chain(robot, "this figure")
    options = parse_options(option or [])
    find_method(method).check_options(options)
    from arcreach import figures
    from arcreach.ik.solve import solve

    begin = parse_start(start, loaded)
    with announce_compiling():
        solution = solve(loaded, parse_target(to, axis, None), method, start=begin, trace=True, **options)
    note(str(solution))
    save(figures.virtual_links(solution, iteration=iteration, **width_option(width)), out)


@app.command(help=f"Draw {FIGURES['clearance']}.")
def clearance(
    robot: RobotName,
    out: Out,
    path: Annotated[File, typer.Option("--path", help="CSV file of a path, as written by arcreach plan or follow.")],
    scene: SceneName,
    scale: SceneScale = None,
    margin: Annotated[str, typer.Option("--margin", help="Required distance from obstacles.")] = "0mm",
    width: WidthChoice = None,
    base: BaseLink = None,
    tip: TipLink = None,
) -> None:
    """Draw the clearance along a path."""
    check_figure(out)
    loaded = load_chain(robot, "this figure", base, tip)
    obstacles = load_scene(scene, scale)
    from arcreach import figures
    from arcreach.planning.motion.path import Path

    with announce_compiling():
        drawn = figures.clearance(
            Path.from_csv(path, loaded),
            obstacles,
            margin=parse_number("--margin", margin, "length"),
            **width_option(width),
        )
    save(drawn, out)


def _titles(given: Sequence[str], loaded: Sequence[Any]) -> list[str]:
    """Return a title for each robot or scene: its name; where names are equal what was given, numbered if needed."""
    named = [one.name or name for name, one in zip(given, loaded, strict=True)]
    for titles in named, given:
        if len(set(titles)) == len(titles):
            return list(titles)
    return [f"{name} ({k})" for k, name in enumerate(given, 1)]


def _view(text: str) -> tuple[float, ...]:
    """Return azimuth and elevation in degrees; refuse numbers without a unit that are more than a turn in radians."""
    angles = parse_numbers("--view", text, (2,), "angle", "azimuth and elevation")
    cells = [cell.strip() for cell in text.split(",")]
    if any(is_bare(cell) and abs(angle) > math.tau for cell, angle in zip(cells, angles, strict=True)):
        degrees = ",".join(with_unit(cell, "deg") for cell in cells)
        raise MethodError(f"--view = {text} is not accepted; give angles with units: {degrees}")
    return tuple(map(math.degrees, angles))


def _split(methods: str | None) -> list[str] | None:
    """Return the method names, and load the user's own methods."""
    if methods is None:
        return None
    return [load_method(name.strip()).name for name in methods.split(",") if name.strip()]


def _pull_uncertainty(robot: Robot, q: Array, text: str, elastic: bool) -> TipCovariance:
    from arcreach.calibration import tip_covariance

    error = parse_number("--pull-error", text, "length")
    if not 0.0 < error < math.inf:
        raise MethodError(f"--pull-error {text} is not accepted; give a length above 0")
    return tip_covariance(robot, q, pulls=np.full(len(robot.tendons), error), elastic=elastic)


def _check_target(scene: PlanarScene) -> None:
    if scene.target is None:
        raise SceneError(f"scene '{scene.name}' has no target to reach; give one that has")


def _planned(scene: PlanarScene, automatic: bool = False, trace: bool = False) -> ContactPlans:
    contacts = None if automatic else scene.contacts
    return plan_contact(
        scene.robot, scene.target, scene.obstacles, contacts, bend_radius=scene.bend_radius, trace=trace
    )


def width_option(width: Width | None) -> dict[str, Any]:
    """Return the keyword for the width, if one is given."""
    return {} if width is None else {"width": width.value}


def save(figure: Figure, out: File) -> None:
    """Write a figure and print its size."""
    from arcreach import figures

    figures.save(figure, out)
    width, height = (25.4 * size for size in figure.get_size_inches())
    typer.echo(printable(f"{out}: {width:.1f} x {height:.1f} mm"), err=is_stream(out))
