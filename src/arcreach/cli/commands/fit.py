"""`arcreach fit`: fit a robot's parameters to measured pulls and tip positions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from arcreach._io import check_output
from arcreach._text import number
from arcreach.calibration import fit as fit_robot
from arcreach.calibration import read_measurements
from arcreach.calibration.parameters import DEFAULT, GROUPS
from arcreach.cli.arguments import AsJson, FigurePath, RobotName
from arcreach.cli.output import EXIT_INTERRUPTED, check_figure, note, print_json, print_table
from arcreach.cli.progress import announce_compiling
from arcreach.errors import Interrupted
from arcreach.files import load_chain, save_robot

# Factor and symbol with which a unit is displayed.
_SHOWN = {"m": (1e3, "mm"), "rad": (math.degrees(1.0), "°")}


def fit(
    robot: RobotName,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV file of measured pulls and tips.")],
    free: Annotated[
        str,
        typer.Option(
            "--free",
            # Spaces, where lines may break: a longer word would be cut off.
            help=f"Groups of parameters with commas between, some of {', '.join(GROUPS)}.",
            show_default="all but tip",
        ),
    ] = ",".join(DEFAULT),
    elastic: Annotated[
        bool | None,
        typer.Option(
            "--elastic/--rigid",
            help="Model of the tendons; by default elastic if stiffness is free or the robot has all stiffnesses.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the fitted robot to this .toml file.")] = None,
    figure: FigurePath = None,
    held_out: Annotated[float, typer.Option("--held-out", help="Share of the commands that test the fit.")] = 0.5,
    seed: Annotated[int, typer.Option("--seed", help="RNG seed of the choice of held-out commands.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Fit a tendon-driven robot to measured pulls and tip positions.

    DATA has the columns pull_1_mm to pull_9_mm, or the names of the tendons, and tip_x_mm, tip_y_mm, tip_z_mm. Rows
    with the same text in the column command or pattern belong to one command, and are fitted or held out together.
    """
    if out is not None:
        check_output(out, (".toml",))
    check_figure(figure)
    loaded = load_chain(robot, "fit")
    measured = read_measurements(data, loaded)
    interrupted = False
    with announce_compiling() as say:
        try:
            found = fit_robot(
                loaded,
                measured,
                [name.strip() for name in free.split(",")],
                elastic=elastic,
                held_out=held_out,
                seed=seed,
                progress=lambda done, total: say("fitting", done, total, "step"),
            )
        except Interrupted as stop:
            found, interrupted = stop.result, True
    if out is not None:
        save_robot(found.robot, out)
    if figure is not None:
        from arcreach.figures import calibration, save

        save(calibration(found), figure)
    if as_json:
        print_json(
            {
                "robot": loaded.name,
                "parameters": [
                    {"name": p.name, "unit": p.unit, "value": value, "error": error}
                    for p, value, error in zip(found.parameters, found.values, found.errors, strict=True)
                ],
                "elastic": found.elastic,
                "weak": found.weak,
                "length": found.length,
                "held_out": found.held_out,
                "tip_errors": found.tip_errors,
            }
        )
    else:
        rows = []
        for p, value, error in zip(found.parameters, found.values.tolist(), found.errors.tolist(), strict=True):
            factor, unit = _SHOWN.get(p.unit, (1.0, p.unit))
            rows.append((p.name, number(factor * value, 4), number(factor * error, 2), unit))
        print_table(("parameter", "value", "± error", "unit"), rows, right=("value", "± error"))
        typer.echo(str(found))
    if interrupted:
        note("interrupted; this is the best fit so far")
        raise typer.Exit(EXIT_INTERRUPTED)
