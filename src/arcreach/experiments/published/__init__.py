"""The numbers that the authors print, one file per table, as they stand there."""

from __future__ import annotations

import csv
from importlib import resources


def table(name: str) -> list[dict[str, str]]:
    """The rows of a printed table by its file's name without ending; what is not printed is an empty text."""
    text = resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def number(row: dict[str, str], column: str, unit: float = 1.0) -> float | None:
    """A printed number in SI units; None where there is none."""
    return float(row[column]) * unit if row.get(column) else None


def iterations_within(budget: float, row: dict[str, str], column: str = "mean_time_ms", unit: float = 1e-3) -> int:
    """The iterations for which a budget in seconds has time, at the authors' own mean time of an iteration.

    A limit in iterations gives the same rows on every machine.
    """
    one = float(row[column]) * unit / float(row["mean_iterations"])
    return round(budget / one)
