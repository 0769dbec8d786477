"""`arcreach robots`: the catalogue."""

from __future__ import annotations

import math
from typing import Any

from rich import box
from rich.table import Table

from arcreach.cli.output import AsJson, console, plain, print_json
from arcreach.errors import MissingExtraError
from arcreach.files.catalogue import catalogue, catalogue_robot


def robots(as_json: AsJson = False) -> None:
    """List the robots that come with arcreach."""
    rows: list[dict[str, Any]] = []
    for name in catalogue():
        try:
            robot = catalogue_robot(name)
        except MissingExtraError as error:
            rows.append({"name": name, "dof": None, "reach": None, "source": str(error)})
            continue
        rows.append({"name": name, "dof": robot.dof, "reach": robot.reach, "source": robot.source})
    if as_json:
        print_json(rows)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("robot", no_wrap=True)
    table.add_column("dof", justify="right")
    table.add_column("reach", justify="right", no_wrap=True)
    table.add_column("source of the numbers")
    for row in rows:
        known = row["reach"] is not None and math.isfinite(row["reach"])
        reach = f"{row['reach']:.3g} m" if known else ""
        table.add_row(row["name"], str(row["dof"] or ""), reach, plain(row["source"]))
    console().print(table)
