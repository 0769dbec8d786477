"""`arcreach fk`: compute the pose of the tip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcreach._typing import Array, Booleans
from arcreach.cli.arguments import AsJson, BaseLink, RobotName, TipLink, one_of
from arcreach.cli.configurations import parse_configuration, read_configurations
from arcreach.cli.output import console, note, print_json
from arcreach.cli.progress import COMPILING, COMPILING_SYMBOLIC, announce_compiling
from arcreach.files import load_robot
from arcreach.robots.symbolic import SymbolicRobot


def fk(
    robot: RobotName,
    q: Annotated[
        str | None, typer.Option("--q", help="Coordinates separated by commas, as 30deg,0,0.5 or 20mm.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="CSV file, one configuration per line.")] = None,
    base: BaseLink = None,
    tip: TipLink = None,
    as_json: AsJson = False,
) -> None:
    """Compute the pose of the tip for one configuration, or, as CSV, for each configuration of a file."""
    one_of(q=q, file=file)
    loaded = load_robot(robot, base, tip)
    configurations = read_configurations(file, loaded) if file is not None else parse_configuration(str(q), loaded)
    with announce_compiling(COMPILING_SYMBOLIC if isinstance(loaded, SymbolicRobot) else COMPILING):
        poses = loaded.tip_pose(configurations)
        inside = loaded.within_limits(configurations)
    if as_json:
        _print_json(loaded.name, configurations, poses, inside)
    elif file is not None:
        _print_csv(poses, inside)
    else:
        _print_pose(poses, bool(inside))


def _print_json(name: str, q: Array, poses: Array, inside: Any) -> None:
    if q.ndim == 1:
        print_json({"robot": name, "q": q, "pose": poses, "within_limits": inside})
        return
    rows = zip(q, poses, inside, strict=True)
    print_json({"robot": name, "poses": [{"q": a, "pose": b, "within_limits": bool(c)} for a, b, c in rows]})


def _print_pose(pose: Array, inside: bool) -> None:
    out = console()
    x, y, z = pose[:3, 3] * 1e3
    out.print(f"tip at x {x:.6f}, y {y:.6f}, z {z:.6f} mm", highlight=False)
    out.print("pose T_base_tip (metres):", highlight=False)
    for row in pose:
        out.print("  " + "  ".join(f"{value:14.9f}" for value in row), highlight=False)
    if not inside:
        note("note: this configuration is outside the robot's limits")


def _print_csv(poses: Array, inside: Booleans) -> None:
    """Print one line per configuration: position in metres, rotation row by row."""
    rotation = [f"r{i}{j}" for i in range(3) for j in range(3)]
    typer.echo(",".join(["x", "y", "z", *rotation, "within_limits"]))
    for pose, kept in zip(poses, inside, strict=True):
        numbers = map(repr, [*pose[:3, 3].tolist(), *pose[:3, :3].ravel().tolist()])
        typer.echo(",".join([*numbers, "true" if kept else "false"]))
