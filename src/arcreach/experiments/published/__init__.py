"""The authors' printed numbers, one CSV file per table."""

from __future__ import annotations

import csv
from importlib import resources


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a printed table, given its file name without ending; missing numbers are empty strings."""
    text = resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def number(row: dict[str, str], column: str, unit: float = 1.0) -> float | None:
    """Return a printed number in SI units; None if it is not printed."""
    return float(row[column]) * unit if row.get(column) else None


def iterations_within(budget: float, row: dict[str, str], column: str = "mean_time_ms", unit: float = 1e-3) -> int:
    """Return the iterations that fit into a time budget in seconds, at the authors' mean time per iteration.

    A limit in iterations gives the same rows on every machine.
    """
    one = float(row[column]) * unit / float(row["mean_iterations"])
    return round(budget / one)
