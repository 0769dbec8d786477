"""Summaries of rows, Wilson intervals, and numbers as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arcreach._text import length, number
from arcreach.experiments.report.parts import Table
from arcreach.figures.success import wilson

NONE = "–"


def failure_table(
    failures: Sequence[tuple[str, int, float, float]], printed: Mapping[str, tuple[float, float]]
) -> Table:
    """Return a table of the median errors of targets that were not reached, by method, ours and the printed ones."""
    rows = []
    for method, count, position, angle in failures:
        theirs = printed.get(method)
        texts = (NONE, NONE) if theirs is None else (length(theirs[0]), f"{theirs[1]:.3g} rad")
        ours = (length(position), f"{angle:.3g} rad" if angle > 0.0 else NONE)
        rows.append((method, str(count), *ours, *(texts if printed else ())))
    columns = ("method", "not reached", "median position error", "median angle error")
    beside = ("position error, printed", "angle error, printed") if printed else ()
    return Table((*columns, *beside), tuple(rows), "Targets that were not reached, all cases together.", text_columns=1)


def time_text(seconds: float | None) -> str:
    """Return a time in s, ms or µs."""
    if seconds is None or not math.isfinite(seconds):
        return NONE
    # Rounded first: 999.6 µs is 1 ms with three digits.
    rounded = float(f"{seconds:.2e}")
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if rounded >= size:
            return f"{number(rounded / size)} {unit}" if rounded < 1e3 else f"{seconds:.0f} {unit}"
    return f"{seconds / 1e-6:.2f} µs"


def number_text(value: float | None) -> str:
    """Return a number with three significant digits, from 1000 on as a whole number; a dash if there is none."""
    return NONE if value is None or not math.isfinite(value) else number(value) if value < 1e3 else f"{value:.0f}"


@dataclass(frozen=True)
class Summary:
    """The summary of a case and a method; times in seconds and iterations are those of targets that were reached."""

    case: str
    method: str
    count: int
    reached: int
    late: int  # reached after the printed time budget
    mean_time: float
    median_time: float
    p99_time: float
    mean_iterations: float
    median_iterations: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the share reached."""
        low, high = wilson(self.reached, self.count)
        return float(low), float(high)

    @property
    def share(self) -> float:
        """The share reached in per cent."""
        return 100.0 * self.reached / max(self.count, 1)

    @property
    def share_text(self) -> str:
        """The share in per cent with its interval."""
        low, high = (100.0 * end for end in self.interval)
        digits = 2 if high - low > 0.02 else 4
        return f"{self.share:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"

    @property
    def time_text(self) -> str:
        """The median time."""
        return time_text(self.median_time)
