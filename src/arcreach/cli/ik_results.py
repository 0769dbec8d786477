"""Write the results of a batch of solves."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import typer

from arcreach._extras import require
from arcreach._io import CSV_ENDINGS, check_output, csv_text, write_bytes, write_text
from arcreach.cli.output import json_text, print_json
from arcreach.cli.tendon_output import tendon_columns
from arcreach.ik.log import columns_beside, coordinate_columns
from arcreach.ik.solution import STATUS_BY_CODE, Solutions
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

RESULTS = ("position_error", "angle_error", "iterations", "seconds")
ENDINGS = (".csv", ".json", ".parquet")
PARQUET = "writing Parquet"


def check_files(out: Path | None, trace: Path | None) -> None:
    """Refuse files that could not be written, before anything is solved."""
    if out is not None and check_output(out, ENDINGS) == ".parquet":
        require("polars", PARQUET)
    if trace is not None:
        check_output(trace, CSV_ENDINGS)


def result_columns(
    robot: Robot | SymbolicRobot, parts: Sequence[Solutions], driven: Robot | None = None
) -> dict[str, list[Any]]:
    """Return the results as columns: the coordinates, the pulls of a driven robot, then status, errors and times."""
    q = np.concatenate([part.q for part in parts]) if parts else np.empty((0, robot.dof))
    columns = coordinate_columns(robot, q)
    if driven is not None:
        columns |= tendon_columns(driven, {"pulls": driven.pulls(q)})
    found: dict[str, list[Any]] = {"status": [STATUS_BY_CODE[code].name for part in parts for code in part.status]}
    for name in RESULTS:
        found[name] = [value for part in parts for value in getattr(part, name).tolist()]
    if parts and parts[0].clearance is not None:
        found["clearance"] = np.concatenate([part.clearance for part in parts if part.clearance is not None]).tolist()
    if parts and parts[0].port_distance is not None:
        passed = [part.port_distance for part in parts if part.port_distance is not None]
        found["port_distance"] = np.concatenate(passed).tolist()
    return columns_beside(columns, found, "result_")


def write_columns(columns: dict[str, list[Any]], out: Path | None, as_json: bool) -> None:
    """Write columns to a file in the format of its ending; print them as JSON, or as CSV if there is no file."""
    if out is not None:
        ending = check_output(out, ENDINGS)
        if ending == ".parquet":
            _write_parquet(columns, out)
        else:
            write_text(out, csv_text(columns) if ending == ".csv" else json_text(_records(columns)) + "\n")
    if as_json:
        print_json(_records(columns))
    elif out is None:
        typer.echo(csv_text(columns), nl=False)


def _records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _write_parquet(columns: dict[str, list[Any]], out: Path) -> None:
    stream = BytesIO()
    require("polars", PARQUET).DataFrame(columns).write_parquet(stream)
    write_bytes(out, stream.getvalue())
