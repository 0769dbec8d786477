"""`arcreach export`: write a robot for other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as File
from typing import Annotated, Any

import typer

from arcreach._extras import require
from arcreach._io import check_ending, check_output, is_stream
from arcreach._typing import Array
from arcreach.cli.arguments import AsJson, BaseLink, RobotName, TipLink
from arcreach.cli.configurations import note_outside, parse_configuration, read_configurations
from arcreach.cli.output import exit_by, print_json, printable
from arcreach.cli.progress import announce_compiling
from arcreach.cli.targets import parse_target
from arcreach.errors import FileError, MethodError
from arcreach.files import load_robot, write_csv_log, write_csv_path, write_openscad, write_solid, write_urdf
from arcreach.files.exports.c.writer import export_c
from arcreach.files.exports.html import export_html
from arcreach.files.exports.mjcf import export_mjcf
from arcreach.ik.own_methods import load_method
from arcreach.ik.solve import solve
from arcreach.robots.body_mesh import check_chain
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import AnyRobot, SymbolicRobot

# Optional package that each file ending needs.
NEEDED = {".stl": "trimesh", ".glb": "trimesh", ".xml": "mujoco", ".html": "ziglang"}
# Input options that each file ending accepts; "" stands for the robot alone.
SOURCES = {
    ".urdf": ("",),
    ".stl": ("", "q"),
    ".glb": ("", "q"),
    ".scad": ("", "q", "path"),
    ".csv": ("path", "to"),
    ".html": ("", "q"),
    ".xml": ("",),
}


def export(
    robot: RobotName,
    out: Annotated[
        File, typer.Option("--out", help="File: .scad, .urdf, .xml, .stl, .glb, .csv, .html; for C a folder.")
    ],
    q: Annotated[str | None, typer.Option("--q", help="Configuration, as --q of fk; without it the rest pose.")] = None,
    path: Annotated[
        File | None, typer.Option("--path", help="CSV file of a path, as written by arcreach plan or follow.")
    ] = None,
    points: Annotated[
        int | None, typer.Option("--points", help="With --path: number of poses along it; without it the file's rows.")
    ] = None,
    all_poses: Annotated[
        bool, typer.Option("--all-poses", help="With --path and .scad: all poses and the tip's path in one picture.")
    ] = False,
    to: Annotated[str | None, typer.Option("--to", help="Target of the solve to log, written as --to of ik.")] = None,
    axis: Annotated[str | None, typer.Option("--axis", help="With --to: direction of the tip's z axis.")] = None,
    rotation: Annotated[str | None, typer.Option("--rotation", help="With --to: rotation of the tip.")] = None,
    method: Annotated[str | None, typer.Option("--method", help="With --to or --format c: as in ik.")] = None,
    form: Annotated[str | None, typer.Option("--format", help="c: C99 solver; html: a page that solves.")] = None,
    precision: Annotated[str | None, typer.Option("--precision", help="Numbers in C: float32 or float64.")] = None,
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Write a robot for other programs; the ending of --out chooses the format.

    .scad  OpenSCAD model of a pose, or of a path as an animation or with all its poses

    .urdf  the chain of links and joints; reading it gives bit-identical numbers

    .xml  MJCF model for MuJoCo: sections as chains of short links, tendons as actuators

    .stl, .glb  the body in one pose, in metres

    .csv  a path (--path), or the iterations of a solve (--to); exit code 1 if the target is not reached

    .html  a page that solves by itself, without a server; --q is its first configuration

    --format c  a folder of C99 sources that solve for this robot, for microcontrollers
    """
    if form == "html":
        check_ending(out, (".html",))
    elif form is not None:
        unused = {"q": q, "path": path, "points": points, "to": to, "axis": axis, "rotation": rotation}
        unused["all-poses"] = all_poses or None
        _write_sources(load_robot(robot, base, tip), out, form, precision, method, unused, as_json)
        return
    if precision is not None:
        raise MethodError("--precision has no meaning without --format c; leave it out")
    ending = _check_source(out, q=q, path=path, to=to)
    if points is not None and path is None:
        raise MethodError("--points has no meaning without --path; leave it out")
    for name, value in (("axis", axis), ("rotation", rotation), ("method", method)):
        if value is not None and to is None:
            raise MethodError(f"--{name} has no meaning without --to; leave it out")
    if all_poses and (path is None or ending != ".scad"):
        raise MethodError("--all-poses has no meaning without --path and an --out ending in .scad; leave it out")
    loaded = load_robot(robot, base, tip)
    reached = True
    with announce_compiling(loaded):
        given = None if q is None else parse_configuration(q, loaded)
        if given is not None:
            note_outside(loaded, given)
        if to is not None:
            target = parse_target(to, axis, rotation)
            solution = solve(loaded, target, load_method(method or "auto").name, trace=True)
            write_csv_log(loaded, solution, out)
            reached = solution.reached
        elif ending == ".html":
            export_html(loaded, out, given)  # type: ignore[arg-type]
        elif path is not None:
            _write(loaded, _read_path(loaded, path, points), out, ending, all_poses)
        else:
            _write(loaded, loaded.neutral if given is None else given, out, ending)
    if as_json:
        print_json({"robot": loaded.name, "file": str(out), "bytes": out.stat().st_size})
    elif not is_stream(out):
        typer.echo(printable(f"{out}: {out.stat().st_size} bytes"))
    exit_by(reached)


def _write_sources(
    robot: AnyRobot, out: File, form: str, precision: str | None, method: str | None, unused: Any, as_json: bool
) -> None:
    """Write the solver of a robot as C sources."""
    if form != "c":
        raise MethodError(f"--format {form} is not known; give c or html, or leave it out: the ending of --out decides")
    for name, value in unused.items():
        if value is not None:
            raise MethodError(f"--{name} has no meaning with --format c; leave it out")
    with announce_compiling():
        written = export_c(robot, out, precision or "float32", method or "auto")  # type: ignore[arg-type]
    if as_json:
        print_json({"robot": robot.name, "folder": str(out), "files": [str(path) for path in written]})
    else:
        typer.echo(printable(f"{out}: {len(written)} files"))


def _check_source(out: File, **given: Any) -> str:
    """Return the ending to write; refuse options that do not fit it before anything is computed."""
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise FileError(f"--{chosen[0]} and --{chosen[1]} are both given; give one of them")
    source = chosen[0] if chosen else ""
    if out.suffix.lower() in {".c", ".h"}:
        raise FileError(f"{out}: C sources are several files; give --format c and a folder as --out")
    # A stream has no ending: use the first format that accepts the input.
    fitting = tuple(ending for ending, sources in SOURCES.items() if source in sources)
    ending = check_output(out, fitting if is_stream(out) else tuple(SOURCES))
    accepted = SOURCES[ending]
    if source not in accepted:
        wanted = " or ".join(f"--{name}" for name in accepted if name)
        if chosen:
            hint = f"give {wanted}" if wanted else "leave it out"
            raise FileError(f"{out}: --{chosen[0]} has no meaning for {ending}; {hint}")
        raise FileError(f"{out}: {ending} is written from a path or a solve; give {wanted}")
    if ending in NEEDED:
        require(NEEDED[ending])
    return ending


def _read_path(robot: AnyRobot, path: File, points: int | None) -> Array:
    from arcreach.planning.motion.path import Path

    if isinstance(robot, SymbolicRobot) and points is None:
        return read_configurations(path, robot)
    check_chain(robot, "a motion between the points of a path")
    assert isinstance(robot, Robot)
    found = Path.from_csv(path, robot)
    return found.q if points is None else found.sampled(points)


def _write(robot: AnyRobot, q: Array, out: File, ending: str, all_poses: bool = False) -> None:
    writers: dict[str, Callable[[], None]] = {
        ".csv": lambda: write_csv_path(robot, q, out),
        ".urdf": lambda: write_urdf(robot, out),  # type: ignore[arg-type]
        ".scad": lambda: write_openscad(robot, q, out, all_poses=all_poses),
        ".xml": lambda: export_mjcf(robot, out),  # type: ignore[arg-type]
    }
    # The writers refuse a robot given as formulas, hence the ignored types.
    writers.get(ending, lambda: write_solid(robot, q, out))()  # type: ignore[arg-type]
