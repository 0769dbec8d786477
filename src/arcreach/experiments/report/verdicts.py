"""Verdicts on printed numbers: ours agrees, is near, or differs, by `RULE`, and by how much."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from arcreach.experiments.engine.experiment import Printed
from arcreach.experiments.report.parts import Table
from arcreach.experiments.report.statistics import NONE, Summary

AGREES, NEAR, DIFFERS = "agrees", "near", "differs"
RULE = (
    "A share agrees when the printed one lies within the 95 % Wilson interval of ours; other numbers agree when they "
    "are equal after rounding. Shares within a point, and other numbers within a tenth, are near."
)
# Half of the last printed digit of a share, in per cent.
ROUNDING = 0.05
# Largest difference that is near: points for shares, a part of the printed number otherwise.
NEAR_POINTS = 1.0
NEAR_PART = 0.1
POINTS = "points"
UNKNOWN = "The reason is not known."
SHARE, WORST, ITERATIONS = "share reached", "share of the worst case", "iterations"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a printed number; `apart` is ours minus theirs in `unit`, where % means per cent of theirs."""

    table: str
    case: str
    method: str
    quantity: str
    outcome: str
    apart: float
    unit: str = "%"

    def apart_text(self, name_method: bool = True) -> str:
        """Return the difference, with its case and method."""
        where = ", ".join(text for text in (self.case, self.method if name_method else "") if text)
        digits = 1 if self.unit in ("%", POINTS) else 0
        return f"{self.apart:+.{digits}f} {self.unit}" + (f" ({where})" if where else "")


def difference(summary: Summary, theirs: Printed) -> float | None:
    """Return ours minus theirs in points; None if theirs is not printed."""
    return None if theirs.success is None else summary.share - theirs.success


def share_outcome(summary: Summary, printed: float) -> str:
    """Return the verdict on a printed share in per cent."""
    if _within(summary, printed):
        return AGREES
    return NEAR if abs(summary.share - printed) <= NEAR_POINTS else DIFFERS


def number_outcome(ours: float, printed: float) -> str:
    """Return the verdict on a printed count or mean."""
    # The printed number is rounded to a whole one.
    if abs(ours - printed) <= 0.5:
        return AGREES
    return NEAR if abs(ours - printed) <= NEAR_PART * abs(printed) else DIFFERS


def on_number(
    table: str, case: str, method: str, quantity: str, ours: float, printed: float, unit: str = "%"
) -> Verdict:
    """Return the verdict on a mean or a count; the difference is in `unit`, where % means per cent of theirs."""
    apart = 100.0 * (ours - printed) / max(abs(printed), 1.0) if unit == "%" else ours - printed
    return Verdict(table, case, method, quantity, number_outcome(ours, printed), apart, unit)


def on_summary(table: str, summary: Summary, theirs: Printed, worst: Summary | None = None) -> Iterator[Verdict]:
    """Yield the verdicts on the printed numbers of a case and a method."""
    label = theirs.label or theirs.method
    if theirs.success is not None:
        yield _on_share(table, summary, label, SHARE, theirs.success)
    if theirs.worst is not None and worst is not None:
        yield _on_share(table, worst, label, WORST, theirs.worst)
    for ours, printed in (
        (summary.median_iterations, theirs.median_iterations),
        (summary.mean_iterations, theirs.mean_iterations),
    ):
        # Iterations are those of targets that were reached.
        if printed is not None and summary.reached:
            yield on_number(table, summary.case, label, ITERATIONS, ours, printed)


def _on_share(table: str, summary: Summary, label: str, quantity: str, printed: float) -> Verdict:
    outcome = share_outcome(summary, printed)
    return Verdict(table, summary.case, label, quantity, outcome, summary.share - printed, POINTS)


def _within(summary: Summary, printed: float) -> bool:
    low, high = summary.interval
    return 100.0 * low - ROUNDING <= printed <= 100.0 * high + ROUNDING


def times_as_fast(printed: Sequence[Printed], summaries: Sequence[Summary]) -> float | None:
    """Return the median ratio of the printed time of a solve to ours; None if no times are printed."""
    ours = {(one.case, one.method): one for one in summaries}
    found = []
    for theirs in printed:
        own = ours.get((theirs.case, theirs.method))
        if own is None or not own.reached:
            continue
        for time, taken in ((theirs.median_time, own.median_time), (theirs.mean_time, own.mean_time)):
            if time is not None and taken > 0.0:
                found.append(time / taken)
    return statistics.median(found) if found else None


def by_table(found: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Return the verdicts by printed table."""
    tables: dict[str, list[Verdict]] = {}
    for one in found:
        tables.setdefault(one.table, []).append(one)
    return tables


def counts(found: Sequence[Verdict], name_method: bool = True) -> tuple[str, ...]:
    """Return as texts the numbers of verdicts: all, agreeing, near and differing; and the largest difference."""
    numbers = [sum(one.outcome == outcome for one in found) for outcome in (AGREES, NEAR, DIFFERS)]
    return (str(len(found)), *map(str, numbers), farthest(found, name_method))


def farthest(found: Sequence[Verdict], name_method: bool = True) -> str:
    """Return the largest difference as text; differences of shares take precedence."""
    apart = [one for one in found if one.outcome == DIFFERS]
    if not apart:
        return NONE
    return max(apart, key=lambda one: (one.unit == POINTS, abs(one.apart))).apart_text(name_method)


def group_table(found: Sequence[Verdict], conclusions: Mapping[tuple[str, str], str]) -> Table:
    """Return the counts of verdicts by table, method and quantity, with the conclusion on the method."""
    groups: dict[tuple[str, str, str], list[Verdict]] = {}
    for one in found:
        groups.setdefault((one.table, one.method, one.quantity), []).append(one)
    rows = []
    told: set[tuple[str, str]] = set()
    for key, own in groups.items():
        rows.append((*key, *counts(own, name_method=False), "" if key[:2] in told else conclusions[key[:2]]))
        told.add(key[:2])
    columns = ("table", "printed as", "what", "numbers", "agree", "near", "differ", "farthest apart", "conclusion")
    return Table(columns, tuple(rows), "Agreement with the printed numbers.", text_columns=3, prose=True)
