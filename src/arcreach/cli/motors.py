"""Options of timed motions and motor tables, which `plan` and `follow` write."""

from __future__ import annotations

from pathlib import Path as File
from typing import Annotated, Any

import typer

from arcreach._checks import positive
from arcreach._extras import require
from arcreach._io import CSV_ENDINGS, check_output
from arcreach.cli.configurations import parse_by_quantity
from arcreach.cli.output import note
from arcreach.errors import MethodError
from arcreach.planning.motion.path import Path
from arcreach.planning.motion.plan_result import Plan
from arcreach.planning.timing.motor_table import OUTPUTS, PULLS, motor_table
from arcreach.planning.timing.timed import Timed
from arcreach.robots.robot import Robot

MaxSpeed = Annotated[
    str | None,
    typer.Option("--max-speed", help="Limit per second, 60deg,5mm or one number in rad and m; adds times to the path."),
]
MaxAcceleration = Annotated[
    str | None, typer.Option("--max-acceleration", help="The same per second squared, with --max-speed.")
]
MaxJerk = Annotated[
    str | None, typer.Option("--max-jerk", help="The same per second cubed, with --max-speed; needs ruckig.")
]
Rate = Annotated[
    float | None,
    typer.Option("--rate", help="Samples per second, with --max-speed; by default 100, and at least 100 samples."),
]
Motors = Annotated[
    File | None,
    typer.Option("--motors", help="With --max-speed: write pulls and their speeds to this CSV file."),
]
MotorOutput = Annotated[
    str | None, typer.Option("--motor-output", help="What --motors writes: pulls, bends or coordinates.")
]


def check_timing(max_speed: str | None, max_acceleration: str | None, max_jerk: str | None, rate: float | None) -> None:
    """Refuse timing options that do not fit together, and --max-jerk without ruckig."""
    if (max_speed is None) != (max_acceleration is None):
        raise MethodError("--max-speed and --max-acceleration belong together; give both or none")
    for option, value in (("--max-jerk", max_jerk), ("--rate", rate)):
        if value is not None and max_speed is None:
            raise MethodError(f"{option} has no meaning without --max-speed; give both")
    if rate is not None:
        positive("--rate", rate, "a number")
    if max_jerk is not None:
        require("ruckig", "--max-jerk")


def parse_timing(
    robot: Robot, max_speed: str | None, max_acceleration: str | None, max_jerk: str | None
) -> dict[str, Any]:
    """Return the keywords of `timed` that are given; every quantity of the robot's coordinates needs a limit."""
    limits: dict[str, Any] = {}
    texts = {"max_speed": max_speed, "max_acceleration": max_acceleration, "max_jerk": max_jerk}
    for name, text in texts.items():
        if text is None:
            continue
        option = "--" + name.replace("_", "-")
        given = parse_by_quantity(option, text, robot, "60deg,5mm")
        for value in [given] if isinstance(given, float) else given.values():
            positive(option, value, "a number")
        if isinstance(given, float):
            limits[name] = given
            continue
        missing = sorted(set(robot.quantities) - given.keys())
        if missing:
            raise MethodError(f"{option} {text} lacks the {missing[0]}s of robot '{robot.name}'; give 60deg,5mm")
        limits[name] = [given[quantity] for quantity in robot.quantities]
    return limits


def check_motors(robot: Robot, motors: File | None, output: str | None, max_speed: str | None) -> None:
    """Refuse a motor table that could not be written, before anything is computed."""
    if motors is None:
        if output is not None:
            raise MethodError("--motor-output has no meaning without --motors; give both")
        return
    check_output(motors, CSV_ENDINGS)
    if output not in (None, *OUTPUTS):
        raise MethodError(f"--motor-output {output} is not known; give {', '.join(OUTPUTS)}")
    if max_speed is None:
        raise MethodError("--motors needs speeds; give --max-speed and --max-acceleration")
    if output in (None, PULLS) and not robot.tendons:
        raise MethodError(f"--motors: robot '{robot.name}' has no tendons; give --motor-output bends or coordinates")


def timed_motion(path: Plan | Path, timing: dict[str, Any], rate: float | None) -> Timed | None:
    """Return the path with times; None without limits of speed, or if the path does not reach its targets."""
    return path.timed(**timing, rate=rate) if timing and path.reached else None


def write_motion(motion: Timed, out: File | None, motors: File | None, output: str | None) -> dict[str, Any]:
    """Write the motion and the motor table that are asked for, print limits that the table exceeds; return JSON."""
    if out is not None:
        motion.to_csv(out)
    if motors is None:
        return {"duration": motion.duration}
    table = motor_table(motion, output or PULLS)
    table.to_csv(motors)
    for line in table.violations:
        note(f"note: {line}")
    return {"duration": motion.duration, "motor_violations": table.violations}
