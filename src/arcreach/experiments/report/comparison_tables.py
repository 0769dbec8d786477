"""The tables of a comparison: our numbers beside the printed ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arcreach.experiments.engine.experiment import Printed
from arcreach.experiments.report.parts import Part, Table, Text
from arcreach.experiments.report.statistics import NONE, Summary, number_text, time_text
from arcreach.experiments.report.verdicts import difference, share_outcome

# With more cases than this, only the totals and each method's worst case are shown.
MOST_CASES = 60


def comparison_tables(run: Any) -> Iterator[Part]:
    """Yield the tables of cases and totals; with many cases, the worst ones."""
    printed = run.experiment.printed()
    every = run.summaries if len(run.cases) <= MOST_CASES else []
    overall = run.overall
    if every:
        yield _table(every, printed, "Each case.", show_case=True)
    if len(run.cases) > 1:
        yield _table(overall, [one for one in printed if not one.case], "All cases together.", show_case=False)
    late = sum(one.late for one in overall)
    if run.experiment.budget is not None:
        yield Text(
            f"The authors stop a solve after {time_text(run.experiment.budget)}. Ours are not stopped, so that rows do "
            f"not depend on the clock; {late} of {sum(one.reached for one in overall)} targets were reached later than "
            "that."
        )
    if not every:
        yield _worst(run)


def _match(summary: Summary, printed: Sequence[Printed]) -> list[Printed]:
    return [one for one in printed if (one.case, one.method) == (summary.case, summary.method)]


def _table(summaries: Sequence[Summary], printed: Sequence[Printed], caption: str, show_case: bool) -> Table:
    beside = any(_match(one, printed) for one in summaries)
    rows = [_row(one, theirs, show_case, beside) for one in summaries for theirs in _match(one, printed) or (None,)]
    names = ("case", "method") if show_case else ("method",)
    if beside:
        columns = (
            *names,
            "targets",
            "reached % (95 %)",
            "theirs",
            "points",
            "verdict",
            "median time",
            "theirs",
            "mean time",
            "theirs",
            "iterations",
            "theirs",
        )
    else:
        columns = (*names, "targets", "reached % (95 %)", "median time", "mean time", "99 % within", "iterations")
    note = " Times of one thread and iterations (median/mean) are those of targets that were reached."
    return Table(columns, tuple(rows), caption + note, len(names))


def _row(one: Summary, theirs: Printed | None, show_case: bool, beside: bool) -> tuple[str, ...]:
    label = one.method
    if theirs is not None and theirs.label.replace("-", "") not in ("", one.method.replace(" ", "")):
        label += f" ({theirs.label})"
    names = (one.case, label) if show_case else (label,)
    ours = (str(one.count), one.share_text)
    times = time_text(one.median_time), time_text(one.mean_time)
    iterations = f"{number_text(one.median_iterations)}/{number_text(one.mean_iterations)}" if one.reached else NONE
    if not beside:
        return (*names, *ours, *times, time_text(one.p99_time), iterations)
    if theirs is None:
        return (*names, *ours, NONE, NONE, NONE, times[0], NONE, times[1], NONE, iterations, NONE)
    points = difference(one, theirs)
    printed = f"{number_text(theirs.median_iterations)}/{number_text(theirs.mean_iterations)}"
    return (
        *names,
        *ours,
        NONE if theirs.success is None else f"{theirs.success:g}",
        NONE if points is None else f"{points:+.1f}",
        NONE if theirs.success is None else share_outcome(one, theirs.success),
        times[0],
        time_text(theirs.median_time),
        times[1],
        time_text(theirs.mean_time),
        iterations,
        printed,
    )


def _worst(run: Any) -> Table:
    """Return a table of the case in which each method reaches the smallest share."""
    rows, printed = [], run.experiment.printed()
    for method in run.methods:
        own = [one for one in run.summaries if one.method == method]
        if own:
            worst = min(own, key=lambda one: one.share)
            failures = sum(one.count - one.reached for one in own)
            theirs = next((one.worst for one in printed if one.method == method and one.worst is not None), None)
            rows.append((method, worst.case, worst.share_text, number_text(theirs), str(failures)))
    columns = ("method", "worst case", "reached % (95 %)", "theirs", "not reached in all cases")
    return Table(columns, tuple(rows), f"The worst of {len(run.cases)} cases.")
