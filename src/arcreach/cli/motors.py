"""Options of motor tables, which `plan` and `follow` write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcreach._checks import positive
from arcreach._extras import require
from arcreach._io import CSV_ENDINGS, check_output
from arcreach.cli.output import note
from arcreach.errors import MethodError
from arcreach.planning.timing.motor_table import OUTPUTS, PULLS, motor_table
from arcreach.planning.timing.timed import Timed
from arcreach.robots.robot import Robot

MaxSpeed = Annotated[float | None, typer.Option("--max-speed", help="Limit in rad/s and m/s; adds times to the path.")]
MaxAcceleration = Annotated[float | None, typer.Option("--max-acceleration", help="rad/s2 and m/s2, with --max-speed.")]
MaxJerk = Annotated[float | None, typer.Option("--max-jerk", help="rad/s3 and m/s3, with --max-speed; needs ruckig.")]
Rate = Annotated[
    float | None,
    typer.Option("--rate", help="Samples per second, with --max-speed; by default 100, and at least 100 samples."),
]
Motors = Annotated[
    Path | None,
    typer.Option("--motors", help="With --max-speed: write pulls and their speeds to this CSV file."),
]
MotorOutput = Annotated[
    str | None, typer.Option("--motor-output", help="What --motors writes: pulls, bends or coordinates.")
]


def check_timing(
    max_speed: float | None, max_acceleration: float | None, max_jerk: float | None, rate: float | None
) -> None:
    """Refuse timing options that do not fit together, and --max-jerk without ruckig."""
    if (max_speed is None) != (max_acceleration is None):
        raise MethodError("--max-speed and --max-acceleration belong together; give both or none")
    for option, value in (("--max-jerk", max_jerk), ("--rate", rate)):
        if value is not None and max_speed is None:
            raise MethodError(f"{option} has no meaning without --max-speed; give both")
    given = (max_speed, max_acceleration, max_jerk, rate)
    for option, value in zip(("--max-speed", "--max-acceleration", "--max-jerk", "--rate"), given, strict=True):
        if value is not None:
            positive(option, value, "a number")
    if max_jerk is not None:
        require("ruckig", "--max-jerk")


def check_motors(robot: Robot, motors: Path | None, output: str | None, max_speed: float | None) -> None:
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


def write_motors(motion: Timed, motors: Path | None, output: str | None) -> dict[str, Any]:
    """Write the motor table if one is asked for; print the limits that it exceeds, and return them for JSON."""
    if motors is None:
        return {}
    table = motor_table(motion, output or PULLS)
    table.to_csv(motors)
    for line in table.violations:
        note(f"note: {line}")
    return {"motor_violations": table.violations}
