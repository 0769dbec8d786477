"""`arcreach follow`: move the tip along waypoints, past singular configurations and among obstacles."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from arcreach._io import CSV_ENDINGS, check_output
from arcreach._text import count
from arcreach.cli.arguments import (
    AngleTol,
    AsJson,
    BaseLink,
    FigurePath,
    HoldNames,
    Margin,
    MethodName,
    NarrowLimits,
    OptionalScene,
    PortAxis,
    PortRadius,
    PositionTol,
    Prefer,
    RobotName,
    SceneScale,
    Start,
    Through,
    TipLink,
)
from arcreach.cli.configurations import parse_by_quantity, parse_posture, parse_start
from arcreach.cli.motors import (
    MaxAcceleration,
    MaxJerk,
    MaxSpeed,
    MotorOutput,
    Motors,
    Rate,
    check_motors,
    check_timing,
    parse_timing,
    timed_motion,
    write_motion,
)
from arcreach.cli.output import EXIT_INTERRUPTED, check_figure, exit_by, note, note_unwritten, picked, print_json
from arcreach.cli.progress import announce_compiling
from arcreach.cli.targets import parse_number, parse_surroundings, read_targets
from arcreach.errors import FileError, Interrupted
from arcreach.files import catalogue_waypoints, load_chain, scene_catalogue
from arcreach.ik.own_methods import load_method
from arcreach.ik.solution import STATUS_BY_CODE
from arcreach.ik.target import Targets
from arcreach.planning.motion.follow import follow as follow_path
from arcreach.robots.robot import Robot


def follow(
    robot: RobotName,
    waypoints: Annotated[
        Path | None, typer.Option("--waypoints", help="CSV file of targets, columns x,y,z,...; see ik --file.")
    ] = None,
    scene: OptionalScene = None,
    scale: SceneScale = None,
    margin: Margin = None,
    through: Through = None,
    port_radius: PortRadius = None,
    port_axis: PortAxis = None,
    position_only: Annotated[
        bool, typer.Option("--position-only", help="Ignore the orientations of the waypoints.")
    ] = False,
    start: Start = None,
    prefer: Prefer = None,
    hold: HoldNames = None,
    limits: NarrowLimits = None,
    method: MethodName = "auto",
    max_step: Annotated[
        str | None, typer.Option("--max-step", help="Largest change of a coordinate per point: 3deg, 5mm or 3deg,5mm.")
    ] = None,
    position_tol: PositionTol = "1um",
    angle_tol: AngleTol = "0.001rad",
    out: Annotated[Path | None, typer.Option("--out", help="Write the path to this CSV file.")] = None,
    max_speed: MaxSpeed = None,
    max_acceleration: MaxAcceleration = None,
    max_jerk: MaxJerk = None,
    rate: Rate = None,
    motors: Motors = None,
    motor_output: MotorOutput = None,
    figure: FigurePath = None,
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Move the tip along waypoints, clear of obstacles at the points and between them.

    Tubes of the catalogue have waypoints of their own: arcreach follow inserted-three-section --scene tube-curved.

    Exit code 0 when every point is reached, 1 when one is not.
    """
    if out is not None:
        check_output(out, CSV_ENDINGS)
    check_figure(figure)
    check_timing(max_speed, max_acceleration, max_jerk, rate)
    loaded = load_chain(robot, "follow", base, tip)
    timing = parse_timing(loaded, max_speed, max_acceleration, max_jerk)
    check_motors(loaded, motors, motor_output, max_speed)
    surroundings = parse_surroundings(scene, scale, margin, through, port_radius, port_axis)
    targets = _targets(waypoints, scene)
    if position_only:
        targets = Targets(targets.positions)
    options: dict[str, Any] = {
        "method": load_method(method).name,
        "position_tol": parse_number("--position-tol", position_tol, "length"),
        "angle_tol": parse_number("--angle-tol", angle_tol, "angle"),
        "max_step": None if max_step is None else _steps(max_step, loaded),
        **surroundings,
        "start": parse_start(start, loaded),
        **parse_posture(loaded, prefer, hold, limits),
    }
    interrupted = False
    with announce_compiling() as say:
        try:
            path = follow_path(
                loaded,
                targets,
                progress=lambda done, total: say("following", done, total, "waypoint"),
                **options,
            )
        except Interrupted as stop:
            path, interrupted = stop.result, True
        timed = None if interrupted else timed_motion(path, timing, rate)
    noted: dict[str, Any] = {}
    if timed is not None:
        noted = write_motion(timed, out, motors, motor_output)
    elif out is not None:
        path.to_csv(out)
    if timing and timed is None:
        why = "not every point is reached"
        note(f"note: {out} has no times, because {why}" if out is not None else "")
        note_unwritten(why, motors)
    if figure is not None:
        from arcreach.figures import joint_paths, save

        save(joint_paths({loaded.name or robot: path}), figure)
    if as_json:
        print_json(
            {
                "robot": loaded.name,
                "coordinates": loaded.coordinates,
                **picked(path, "q", "waypoint"),
                "status": [STATUS_BY_CODE[code].name for code in path.status],
                **picked(path, "position_error", "angle_error", "clearance", "port_distance", "seconds"),
                **noted,
            }
        )
        note(path.hint)
    else:
        typer.echo(str(path))
        if timed is not None:
            typer.echo(str(timed))
    if interrupted:
        done = path.waypoint.max(initial=-1) + 1
        note(f"interrupted after {done} of {count(len(targets), 'waypoint')}")
        raise typer.Exit(EXIT_INTERRUPTED)
    exit_by(path.reached)


def _steps(text: str, robot: Robot) -> float | list[float]:
    """Parse the largest step of every coordinate; a quantity that is not given has no largest one."""
    given = parse_by_quantity("--max-step", text, robot, "3deg,5mm")
    return given if isinstance(given, float) else [given.get(quantity, math.inf) for quantity in robot.quantities]


def _targets(waypoints: Path | None, scene: str | None) -> Targets:
    """Return the waypoints of the file, or those of a tube of the catalogue."""
    if waypoints is not None:
        return read_targets(waypoints)
    if scene is None or scene not in scene_catalogue():
        raise FileError("--waypoints is missing; give a CSV file with the columns x,y,z, or a tube of the catalogue")
    rows = catalogue_waypoints(scene)
    return Targets(rows[:, :3], rows[:, 3:])
