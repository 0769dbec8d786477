"""`arcreach ik`: compute configurations that bring the tip to targets."""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from arcreach._text import count
from arcreach.cli.arguments import (
    Actuators,
    AngleTol,
    AsJson,
    Axis,
    BaseLink,
    HoldNames,
    Margin,
    MethodName,
    MethodOptions,
    NarrowLimits,
    OptionalScene,
    PortAxis,
    PortRadius,
    PositionTol,
    Prefer,
    RobotName,
    Rotation,
    SceneScale,
    Start,
    Through,
    TipLink,
    To,
    one_of,
)
from arcreach.cli.configurations import parse_posture, parse_start
from arcreach.cli.ik_results import check_files, result_columns, write_columns
from arcreach.cli.method_options import parse_options
from arcreach.cli.output import EXIT_INTERRUPTED, console, exit_by, note, picked, print_json
from arcreach.cli.progress import announce_compiling
from arcreach.cli.targets import parse_number, parse_surroundings, parse_target, read_targets
from arcreach.cli.tendon_output import print_tendons, with_tendons
from arcreach.errors import MethodError
from arcreach.files import load_robot, write_csv_log
from arcreach.ik.own_methods import load_method
from arcreach.ik.solution import Solution, Solutions
from arcreach.ik.solve import TRACE_ROWS, solve, solve_batch
from arcreach.ik.solve_all import MOST, free_directions, solve_all
from arcreach.ik.target import Target
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import AnyRobot

FILE_HELP = "CSV file of targets: columns x,y,z and optionally ax,ay,az, r00 to r22 or ZYX_1 to ZYX_3."
# Targets between two progress reports: at first, and at most. A report is due about every CHUNK_SECONDS.
FIRST_CHUNK = 10
CHUNK = 20_000
CHUNK_SECONDS = 1.0
# Number of solutions shown if there are infinitely many.
FEW = 5
# Options that have no effect with --file, --all or a single --to.
IDLE = {
    "file": ("axis", "rotation", "all", "trace"),
    "all": ("variant", "option", "scene", "through", "max-iterations", "max-time", "trace", "out", "method"),
    "to": ("out",),
}


def ik(
    robot: RobotName,
    to: To = None,
    axis: Axis = None,
    rotation: Rotation = None,
    file: Annotated[Path | None, typer.Option("--file", help=FILE_HELP)] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Results of --file: .csv, .json or .parquet.")] = None,
    method: MethodName = "auto",
    variant: Annotated[str | None, typer.Option("--variant", help="Variant of the method.")] = None,
    option: MethodOptions = None,
    start: Start = None,
    prefer: Prefer = None,
    hold: HoldNames = None,
    limits: NarrowLimits = None,
    position_tol: PositionTol = "1um",
    angle_tol: AngleTol = "0.001rad",
    max_iterations: Annotated[int | None, typer.Option("--max-iterations", help="Step budget per target.")] = None,
    max_time: Annotated[float | None, typer.Option("--max-time", help="Seconds per target.")] = None,
    scene: OptionalScene = None,
    scale: SceneScale = None,
    margin: Margin = None,
    through: Through = None,
    port_radius: PortRadius = None,
    port_axis: PortAxis = None,
    every: Annotated[bool, typer.Option("--all", help="All branches, nearest to --start first.")] = False,
    most: Annotated[
        int | None,
        typer.Option(
            "--most", min=1, help="With --all: largest number of solutions; default 64, or 5 if infinitely many."
        ),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", "--log", help="Write every iteration to this CSV file.")
    ] = None,
    actuators: Actuators = False,
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Compute one or all configurations for a target, or one configuration for each target of a file.

    Exit code 0 if every target is reached, or with --all if there is a solution; 1 if not; 130 if interrupted.
    """
    one_of(to=to, file=file)
    chosen = {
        "axis": axis,
        "rotation": rotation,
        "out": out,
        "method": None if method == "auto" else method,
        "variant": variant,
        "option": option or None,
        "max-iterations": max_iterations,
        "max-time": max_time,
        "scene": scene,
        "through": through,
        "all": every or None,
        "trace": trace,
    }
    if most is not None and not every:
        raise MethodError("--most has no meaning without --all; leave it out")
    mode = "file" if file is not None else "all" if every else "to"
    for name in IDLE[mode]:
        if chosen[name] is not None:
            raise MethodError(f"--{name} has no meaning with --{mode}; leave one of them out")
    check_files(out, trace)
    options = parse_options(option or [])
    # The method's options are checked before they are merged with the keywords of `solve`.
    own = load_method(method)
    own.check_options(options, _advice)
    loaded = load_robot(robot, base, tip)
    driven = with_tendons(loaded, "--actuators") if actuators else None
    common: dict[str, Any] = {
        "position_tol": parse_number("--position-tol", position_tol, "length"),
        "angle_tol": parse_number("--angle-tol", angle_tol, "angle"),
        "start": parse_start(start, loaded),
        **parse_posture(loaded, prefer, hold, limits),
    }
    # Keywords that `solve` and `solve_batch` accept, but not `solve_all`.
    further = parse_surroundings(scene, scale, margin, through, port_radius, port_axis)
    further |= {"method": own.name, "variant": variant, "max_iterations": max_iterations, "max_time": max_time}
    further |= options
    if file is not None:
        reached = _many(loaded, driven, file, out, as_json, {**common, **further})
    elif every:
        if not isinstance(loaded, Robot):
            raise MethodError(f"--all needs a chain of elements; robot '{loaded.name}' is given as a matrix")
        reached = _every(loaded, driven, parse_target(str(to), axis, rotation), common, most, as_json)
    else:
        reached = _one(loaded, driven, parse_target(str(to), axis, rotation), {**common, **further}, trace, as_json)
    exit_by(reached)


def _advice(unknown: str) -> str:
    """Return the option of this command that has the name of an unknown option of a method; "" if there is none."""
    settings = inspect.signature(solve).parameters.keys() & inspect.signature(ik).parameters.keys() - {"robot"}
    return f"; --{unknown.replace('_', '-')} is an option of ik" if unknown in settings else ""


def _one(
    robot: AnyRobot, driven: Robot | None, target: Target, options: dict[str, Any], trace: Path | None, as_json: bool
) -> bool:
    with announce_compiling(robot):
        solution = solve(robot, target, trace=trace is not None, **options)
    if trace is not None:
        write_csv_log(robot, solution, trace)
        if solution.trace is not None and len(solution.trace) == TRACE_ROWS:
            note(f"{trace}: its first {TRACE_ROWS} rows; the solve took {count(solution.iterations, 'iteration')}")
    if as_json:
        print_json(_as_data(robot, solution, driven))
        note(solution.hint)
    else:
        _print(solution, driven)
    return solution.reached


def _every(
    robot: Robot, driven: Robot | None, target: Target, options: dict[str, Any], most: int | None, as_json: bool
) -> bool:
    with announce_compiling():
        free = free_directions(robot, target)
        solutions = solve_all(robot, target, **options, most=most or (FEW if free else MOST))
        nearest = None if solutions else solve(robot, target, **options)
    text = count(len(solutions), "solution")
    if free and solutions:
        motion = f"the robot can move in {count(free, 'direction')} while the tip stays at the target"
        text = f"infinitely many solutions: {motion}; {len(solutions)} of them"
    if as_json:
        print_json([_as_data(robot, solution, driven) for solution in solutions])
        note(text if free and solutions else "" if nearest is None else f"{text}; the nearest: {nearest}")
        return bool(solutions)
    if nearest is not None:
        typer.echo(f"{text}; the nearest:")
        _print(nearest, driven)
        return False
    typer.echo(f"{text}; {solutions[0].effort}")
    for solution in solutions:
        _print(solution, driven)
        typer.echo(f"  found from {count(solution.hits, 'start')}")
    return bool(solutions)


def _many(
    robot: AnyRobot, driven: Robot | None, file: Path, out: Path | None, as_json: bool, options: dict[str, Any]
) -> bool:
    targets = read_targets(file)
    n = len(targets)
    parts: list[Solutions] = []
    interrupted = False
    done = 0
    with announce_compiling(robot) as say:
        try:
            size = FIRST_CHUNK
            while done < n:
                began = time.monotonic()
                parts.append(solve_batch(robot, targets[done : done + size], **options))
                done += len(parts[-1])
                say("solving", done, n, "target")
                # An interrupt loses no more than about CHUNK_SECONDS of work.
                fitting = size * CHUNK_SECONDS / max(time.monotonic() - began, 1e-6)
                size = max(1, min(2 * size, int(fitting), CHUNK))
        except KeyboardInterrupt:
            interrupted = True
    reached = sum(int(part.reached.sum()) for part in parts)
    write_columns(result_columns(robot, parts, driven), out, as_json)
    note(next((part.hint for part in parts if part.hint), ""))
    if interrupted:
        note(f"interrupted: {reached} of {count(done, 'target')} reached, {n - done} not tried")
        raise typer.Exit(EXIT_INTERRUPTED)
    note(f"{reached} of {count(n, 'target')} reached")
    return reached == n


def _as_data(robot: AnyRobot, solution: Solution, driven: Robot | None) -> dict[str, Any]:
    """Return a solution as data for JSON."""
    pulls = {} if driven is None else {"tendons": driven.tendons, "pulls": driven.pulls(solution.q)}
    return {
        "robot": robot.name,
        "coordinates": robot.coordinates,
        "q": solution.q,
        **pulls,
        "reached": solution.reached,
        "status": solution.status.name,
        **picked(solution, "position_error", "angle_error", "iterations", "seconds", "interpreted", "method", "hits"),
        **picked(solution, "clearance", "port_distance"),
    }


def _print(solution: Solution, driven: Robot | None) -> None:
    console().print(solution.describe(), highlight=False, soft_wrap=True)
    if driven is not None:
        print_tendons(driven, {"pulls": driven.pulls(solution.q)})
