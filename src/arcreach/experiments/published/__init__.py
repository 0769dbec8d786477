"""The authors' printed numbers, one CSV file per table."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import resources

from arcreach.experiments.engine.experiment import Printed


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a printed table, given its file name without ending; missing numbers are empty strings."""
    text = resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def number(row: dict[str, str], column: str, unit: float = 1.0) -> float | None:
    """Return a printed number in SI units; None if it is not printed."""
    return float(row[column]) * unit if row.get(column) else None


def printed(
    name: str, case: str, method: str = "", labels: Mapping[str, str] | None = None, source: str = ""
) -> list[Printed]:
    """Return the rows of a printed table for a comparison.

    `case` is a template of a row's columns; `method` replaces the column of that name. `labels` maps the authors' names
    of methods to ours, where they differ; with it the rows keep the authors' names.
    """
    rows = table(name)
    unit, size = ("us", 1e-6) if "mean_time_us" in rows[0] else ("ms", 1e-3)
    return [
        Printed(
            case.format_map(row),
            (labels or {}).get(theirs := method or row["method"], theirs),
            number(row, "success_percent"),
            number(row, f"mean_time_{unit}", size),
            number(row, f"median_time_{unit}", size),
            number(row, "mean_iterations"),
            number(row, "median_iterations"),
            "" if labels is None else theirs,
            number(row, "worst_case_success_percent"),
            source,
        )
        for row in rows
    ]


def iterations_within(budget: float, row: dict[str, str], column: str = "mean_time_ms", unit: float = 1e-3) -> int:
    """Return the iterations that fit into a time budget in seconds, at the authors' mean time per iteration.

    A limit in iterations gives the same rows on every machine.
    """
    one = float(row[column]) * unit / float(row["mean_iterations"])
    return round(budget / one)
