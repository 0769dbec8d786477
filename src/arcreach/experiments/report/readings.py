"""Conclusions on printed tables, each with its numbers.

A table agrees, is explained by a reading of the source (an assumption about its settings, which the source may print
elsewhere), or stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arcreach.experiments.engine.experiment import Printed, Reading
from arcreach.experiments.report.parts import Table
from arcreach.experiments.report.statistics import NONE, Summary, number_text
from arcreach.experiments.report.verdicts import AGREES, DIFFERS, UNKNOWN, Verdict, difference, farthest

WITHIN_POINTS = 4.0
EXPLAINED = 0.75
RULE = (
    "A reading is an assumption about what the authors ran. It explains a table when at least "
    f"{100 * EXPLAINED:.0f} % of the printed shares come within {WITHIN_POINTS:g} points."
)


@dataclass(frozen=True)
class Beside:
    """A printed row, our row for the same method, and the row of the reading."""

    table: str
    printed: Printed
    ours: Summary | None
    reading: Summary

    @property
    def residue(self) -> float | None:
        """The share of the reading minus the printed one, in points."""
        return difference(self.reading, self.printed)


def name_of(printed: Printed) -> str:
    """Return the name under which the authors print a row."""
    return printed.label or printed.method


def beside(run: Any) -> Iterator[tuple[Reading, Beside]]:
    """Yield every printed row that has a reading in a run."""
    experiment = run.experiment
    summaries = {(one.case, one.method): one for one in (*run.summaries, *run.overall)}
    for reading in experiment.readings:
        for printed in experiment.printed():
            table = printed.table or experiment.source
            own = summaries.get((printed.case, reading.label))
            if own is not None and name_of(printed) == reading.of and reading.table in ("", table):
                yield reading, Beside(table, printed, summaries.get((printed.case, printed.method)), own)


def reading_table(run: Any) -> Table | None:
    """Return a table of the printed rows that have a reading, with ours, the reading and its residue."""
    rows = []
    for _, one in beside(run):
        residue = one.residue
        rows.append(
            (
                one.table,
                one.printed.case or "all cases",
                name_of(one.printed),
                number_text(one.printed.success),
                _share(one.ours),
                _share(one.reading),
                NONE if residue is None else f"{residue:+.1f}",
                _iterations(one.printed),
                _iterations(one.ours),
                _iterations(one.reading),
            )
        )
    if not rows:
        return None
    columns = (
        "table",
        "case",
        "printed as",
        "printed %",
        "ours %",
        "reading %",
        "residue",
        "iterations printed",
        "ours",
        "reading",
    )
    return Table(columns, tuple(rows), f"{RULE} Iterations are median/mean.", text_columns=3)


def conclusions(run: Any) -> dict[tuple[str, str], str]:
    """Return a sentence for every printed table and every method printed in it."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for one in run.verdicts:
        groups.setdefault((one.table, one.method), []).append(one)
    readings: dict[tuple[str, str], tuple[Reading, list[float]]] = {}
    for reading, row in beside(run):
        _, residues = readings.setdefault((row.table, reading.of), (reading, []))
        if row.residue is not None:
            residues.append(row.residue)
    reasons = run.experiment.reasons
    return {key: conclusion(found, readings.get(key), reasons.get(key[1], UNKNOWN)) for key, found in groups.items()}


def conclusion(found: Sequence[Verdict], known: tuple[Reading, Sequence[float]] | None, reason: str) -> str:
    """Return the sentence on the verdicts of a printed table and method, with its reading and the residues if known."""
    differing = [one for one in found if one.outcome == DIFFERS]
    if not differing:
        agreeing = sum(one.outcome == AGREES for one in found)
        others = "" if agreeing == len(found) else ", the others are near"
        return f"Agrees: {agreeing} of {len(found)} numbers agree{others}."
    if known is None or not known[1]:
        return (
            f"Open: {len(differing)} of {len(found)} numbers differ, the farthest by {farthest(found, False)}. {reason}"
        )
    reading, residues = known
    close = sum(abs(residue) <= WITHIN_POINTS for residue in residues)
    if close < EXPLAINED * len(residues):
        start = f"Open: the nearest reading is {reading.text}"
    elif reading.printed_in:
        start = f"Explained by {reading.text}, printed in {reading.printed_in}"
    else:
        start = f"Explained by a reading: {reading.text}"
    worst = max(residues, key=abs)
    within = f"{close} of {len(residues)} shares within {WITHIN_POINTS:g} points of the printed ones"
    return f"{start}; {within}, the farthest {worst:+.1f}. {reading.remains}".strip()


def _share(summary: Summary | None) -> str:
    return NONE if summary is None else f"{summary.share:.1f}"


def _iterations(one: Printed | Summary | None) -> str:
    return NONE if one is None else f"{number_text(one.median_iterations)}/{number_text(one.mean_iterations)}"
