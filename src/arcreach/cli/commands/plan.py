"""`arcreach plan`: plan a collision-free path from a configuration to a target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcreach._io import CSV_ENDINGS, check_output
from arcreach.cli.arguments import (
    AsJson,
    Axis,
    BaseLink,
    FigurePath,
    HoldNames,
    NarrowLimits,
    Prefer,
    RobotName,
    Rotation,
    SceneName,
    SceneScale,
    TipLink,
    To,
    one_of,
)
from arcreach.cli.configurations import parse_inside, parse_posture
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
from arcreach.cli.output import check_figure, console, exit_by, note, note_unwritten, picked, print_json
from arcreach.cli.progress import announce_compiling
from arcreach.cli.targets import parse_number, parse_target
from arcreach.errors import MethodError
from arcreach.files import load_chain, load_scene
from arcreach.planning.motion.plan import plan as find_plan
from arcreach.planning.motion.plan_result import Plan


def plan(
    robot: RobotName,
    start: Annotated[str, typer.Option("--from", help="Start configuration, written as --q of fk.")],
    scene: SceneName,
    scale: SceneScale = None,
    to: To = None,
    axis: Axis = None,
    rotation: Rotation = None,
    goal: Annotated[str | None, typer.Option("--goal", help="Goal configuration, in place of --to.")] = None,
    margin: Annotated[str, typer.Option("--margin", help="Distance to keep from every obstacle.")] = "0mm",
    goals: Annotated[
        int | None,
        typer.Option("--goals", help="Goal configurations at the target; by default 8, or 1 without joints."),
    ] = None,
    max_time: Annotated[float, typer.Option("--max-time", help="Seconds of search.")] = 5.0,
    seed: Annotated[int, typer.Option("--seed", help="RNG seed; equal seeds give equal paths.")] = 0,
    simplify: Annotated[bool, typer.Option("--simplify/--no-simplify", help="Shorten the path.")] = True,
    shorten_time: Annotated[
        float, typer.Option("--shorten-time", help="Seconds spent on shortening the path, within --max-time.")
    ] = 0.0,
    self_collision: Annotated[
        bool, typer.Option("--self-collision", help="Keep the robot clear of itself too.")
    ] = False,
    points: Annotated[
        int | None,
        typer.Option("--points", help="With --out: write this many points along the motion instead of its corners."),
    ] = None,
    prefer: Prefer = None,
    hold: HoldNames = None,
    limits: NarrowLimits = None,
    max_speed: MaxSpeed = None,
    max_acceleration: MaxAcceleration = None,
    max_jerk: MaxJerk = None,
    rate: Rate = None,
    motors: Motors = None,
    motor_output: MotorOutput = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the path to this CSV file.")] = None,
    figure: FigurePath = None,
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Plan a motion from a configuration to a target, certified clear of obstacles along its whole length.

    Exit code 0 when a path is found, 1 when none is.
    """
    one_of(to=to, goal=goal)
    if goal is not None and (axis is not None or rotation is not None):
        raise MethodError("--axis and --rotation have no meaning with --goal; leave them out")
    if goal is not None and goals is not None:
        raise MethodError("--goals has no meaning with --goal, which is the only one; leave one of them out")
    if points is not None and out is None:
        raise MethodError("--points has no meaning without --out; give both")
    if points is not None and max_speed is not None:
        raise MethodError("--points has no meaning with --max-speed; leave one of them out")
    if out is not None:
        check_output(out, CSV_ENDINGS)
    check_figure(figure)
    check_timing(max_speed, max_acceleration, max_jerk, rate)
    loaded = load_chain(robot, "plan", base, tip)
    timing = parse_timing(loaded, max_speed, max_acceleration, max_jerk)
    check_motors(loaded, motors, motor_output, max_speed)
    obstacles = load_scene(scene, scale)
    q_start = parse_inside(start, loaded, "--from")
    q_goal = None if goal is None else parse_inside(goal, loaded, "--goal")
    target = None if to is None else parse_target(to, axis, rotation)
    wishes = parse_posture(loaded, prefer, hold, limits)
    with announce_compiling():
        found = find_plan(
            loaded,
            q_start,
            target,
            obstacles,
            goal=q_goal,
            margin=parse_number("--margin", margin, "length"),
            goals=goals,
            max_time=max_time,
            seed=seed,
            simplify=simplify,
            shorten_time=shorten_time,
            self_collision=self_collision,
            **wishes,
        )
        timed = timed_motion(found, timing, rate)
    noted: dict[str, Any] = {}
    if timed is not None:
        noted = write_motion(timed, out, motors, motor_output)
    elif not found.reached:
        note_unwritten("no path is found", out, motors)
    elif out is not None:
        found.to_csv(out, points)
    if as_json:
        print_json({**_as_data(found, scene), **noted})
        note(found.hint)
    else:
        console().print(str(found), highlight=False, soft_wrap=True)
        if timed is not None:
            console().print(str(timed), highlight=False, soft_wrap=True)
    if figure is not None:
        from arcreach import figures

        figures.save(figures.scene(found, target=target), figure)
    exit_by(found.reached)


def _as_data(found: Plan, scene: str) -> dict[str, Any]:
    return {
        "robot": found.robot.name,
        "scene": found.scene.name or scene,
        "coordinates": found.robot.coordinates,
        "reached": found.reached,
        "status": found.status.name,
        **picked(found, "q", "clearance", "position_error", "angle_error", "goals", "motions", "seconds"),
    }
