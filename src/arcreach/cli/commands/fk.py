"""`arcreach fk`: compute the pose of the tip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcreach._io import csv_text
from arcreach._text import coordinate_lines
from arcreach._typing import Array
from arcreach.cli.arguments import Actuators, AsJson, BaseLink, RobotName, TipLink, one_of
from arcreach.cli.configurations import note_outside, parse_configuration, parse_pulls, read_configurations, read_pulls
from arcreach.cli.output import console, print_json
from arcreach.cli.progress import announce_compiling
from arcreach.cli.tendon_output import print_tendons, tendon_columns, with_tendons
from arcreach.elements import Joint
from arcreach.errors import MethodError
from arcreach.files import load_robot
from arcreach.files.exports.csv_log import pose_columns
from arcreach.ik.log import coordinate_columns
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import AnyRobot


def fk(
    robot: RobotName,
    q: Annotated[
        str | None, typer.Option("--q", help="Coordinates separated by commas, as 30deg,0,0.5 or 20mm.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="CSV file, one configuration per line.")] = None,
    actuators: Actuators = False,
    pulls: Annotated[
        str | None, typer.Option("--pulls", help="Pulls of all tendons, as 2mm,0,-1mm; --q gives the joints.")
    ] = None,
    pulls_file: Annotated[
        Path | None, typer.Option("--pulls-file", help="CSV file, the pulls of all tendons per line.")
    ] = None,
    elastic: Annotated[
        bool, typer.Option("--elastic", help="With pulls: solve the elastic equilibrium; tendons may be slack.")
    ] = False,
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Compute the pose of the tip for one configuration, or, as CSV, for each configuration of a file.

    With --pulls or --pulls-file the configurations are those that the pulls of the tendons produce.
    """
    driven = pulls is not None or pulls_file is not None
    one_of(q=None if driven else q, file=file, pulls=pulls, **{"pulls-file": pulls_file})
    if elastic and not driven:
        raise MethodError("--elastic has no meaning without --pulls or --pulls-file; leave it out")
    if actuators and driven:
        raise MethodError("--actuators has no meaning with --pulls, whose output has the pulls; leave it out")
    loaded = load_robot(robot, base, tip)
    chain = with_tendons(loaded, "--pulls" if driven else "--actuators") if driven or actuators else None
    many = file is not None or pulls_file is not None
    given = _given(loaded, file, pulls_file, q, pulls)
    others = _joints(q, chain) if driven and chain is not None and q is not None else None
    tendons: dict[str, Any] = {}
    with announce_compiling(loaded):
        configurations = given
        if chain is not None and driven:
            found = chain.from_pulls(given, elastic, others)
            configurations = found.q
            tendons = {"pulls": given, "residual": found.residual}
            tendons |= {"tensions": found.tensions, "slack": found.slack} if elastic else {}
        elif chain is not None:
            tendons = {"pulls": chain.pulls(given)}
        poses = loaded.tip_pose(configurations)
        inside = loaded.within_limits(configurations)
    if as_json:
        _print_json(loaded, {"q": configurations, "pose": poses, "within_limits": inside, **tendons}, many)
    elif many:
        columns = coordinate_columns(loaded, configurations) if driven else {}
        columns |= pose_columns(poses, columns)
        columns["within_limits"] = ["true" if kept else "false" for kept in inside]
        typer.echo(csv_text(columns | ({} if chain is None else tendon_columns(chain, tendons))), nl=False)
    else:
        _print_pose(poses)
        if driven:
            lines = coordinate_lines(loaded.coordinates, loaded.quantities, configurations.tolist())
            typer.echo("\n".join(["configuration:", *lines]))
        if chain is not None:
            print_tendons(chain, tendons)
        note_outside(loaded, configurations)


def _given(robot: AnyRobot, file: Path | None, pulls_file: Path | None, q: str | None, pulls: str | None) -> Array:
    """Return the configurations or pulls that the options give."""
    if pulls_file is not None:
        return read_pulls(pulls_file, robot)  # type: ignore[arg-type]
    if pulls is not None:
        return parse_pulls(pulls, robot)  # type: ignore[arg-type]
    return read_configurations(file, robot) if file is not None else parse_configuration(str(q), robot)


def _joints(q: str, robot: Robot) -> Array:
    """Return the configuration that gives the joints beside pulls; refuse it for a robot without joints."""
    if not any(isinstance(element, Joint) for element in robot.elements):
        raise MethodError(f"--q has no meaning with pulls, since robot '{robot.name}' has no joints; leave it out")
    return parse_configuration(q, robot)


def _print_json(robot: AnyRobot, results: dict[str, Any], many: bool) -> None:
    if not many:
        print_json({"robot": robot.name, **results})
        return
    rows = zip(*(values.tolist() for values in results.values()), strict=True)
    print_json({"robot": robot.name, "poses": [dict(zip(results, row, strict=True)) for row in rows]})


def _print_pose(pose: Array) -> None:
    out = console()
    x, y, z = pose[:3, 3] * 1e3
    out.print(f"tip at x {x:z.6f}, y {y:z.6f}, z {z:z.6f} mm", highlight=False)
    out.print("pose T_base_tip (metres):", highlight=False)
    for row in pose:
        out.print("  " + "  ".join(f"{value:z14.9f}" for value in row), highlight=False)
