"""`arcreach robots`: list the catalogue."""

from __future__ import annotations

import math
from typing import Any

from arcreach.cli.arguments import AsJson
from arcreach.cli.output import print_json, print_table
from arcreach.errors import MissingExtraError
from arcreach.files import catalogue, catalogue_robot


def robots(as_json: AsJson = False) -> None:
    """List the robots that come with arcreach."""
    rows: list[dict[str, Any]] = []
    for name in catalogue():
        try:
            robot = catalogue_robot(name)
            rows.append({"name": name, "dof": robot.dof, "reach": robot.reach, "source": robot.source})
        except MissingExtraError as error:
            rows.append({"name": name, "dof": None, "reach": None, "source": str(error)})
    if as_json:
        print_json(rows)
        return
    lines = []
    for row in rows:
        known = row["reach"] is not None and math.isfinite(row["reach"])
        reach = f"{row['reach']:.3g} m" if known else ""
        lines.append((row["name"], str(row["dof"] or ""), reach, row["source"]))
    headings = ("robot", "dof", "reach", "source of the numbers")
    print_table(headings, lines, right=("dof", "reach"), whole=("robot", "reach"))
