"""Ours beside theirs: the tables of a comparison, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arcreach.experiments.experiment import Printed
from arcreach.experiments.parts import Part, Table, Text
from arcreach.experiments.statistics import NONE, Summary, number_text, time_text

# Half of the last printed digit of a share, in per cent.
ROUNDING = 0.05
# Further apart than this many points, two shares are told as different.
NEAR = 1.0
# More cases than this are shown all together.
MOST_CASES = 60


def comparison_tables(run: Any) -> Iterator[Part]:
    """The table of all cases, and the word on what agrees."""
    printed = run.experiment.printed()
    every = run.summaries if len(run.cases) <= MOST_CASES else []
    overall = run.overall
    if every:
        yield from _verdict(every, printed)
        yield _table(every, printed, "Each case.", show_case=True)
    if len(run.cases) > 1:
        if not every:
            yield from _verdict(overall, printed)
        yield _table(overall, [one for one in printed if not one.case], "All cases together.", show_case=False)
    late = sum(one.late for one in overall)
    if getattr(run.experiment, "budget", None) is not None:
        yield Text(
            f"The authors stop a solve after {time_text(run.experiment.budget)}. Ours are not stopped, so that rows do "
            f"not depend on the clock; {late} of {sum(one.reached for one in overall)} targets were reached later than "
            "that."
        )
    if not every:
        yield _worst(run)


def _match(summary: Summary, printed: Sequence[Printed]) -> list[Printed]:
    return [one for one in printed if (one.case, one.method) == (summary.case, summary.method)]


def difference(summary: Summary, theirs: Printed) -> float | None:
    """Ours less theirs in points; None where theirs is not printed."""
    return None if theirs.success is None else 100.0 * summary.reached / summary.count - theirs.success


def agrees(summary: Summary, theirs: Printed) -> bool:
    """Whether the printed share, as far as its digits tell, lies within the interval of ours."""
    low, high = summary.interval
    return theirs.success is not None and 100.0 * low - ROUNDING <= theirs.success <= 100.0 * high + ROUNDING


def _verdict(summaries: Sequence[Summary], printed: Sequence[Printed]) -> Iterator[Part]:
    pairs = [(one, theirs) for one in summaries for theirs in _match(one, printed) if theirs.success is not None]
    if not pairs:
        return
    same = [pair for pair in pairs if agrees(*pair)]
    near = [pair for pair in pairs if not agrees(*pair) and abs(difference(*pair) or 0.0) <= NEAR]
    apart = [pair for pair in pairs if pair not in same and pair not in near]
    text = f"Of {len(pairs)} printed shares {len(same)} lie within the interval of ours"
    text += f", {len(near)} more within {NEAR:g} point."
    if apart:
        worst = sorted(apart, key=lambda pair: -abs(difference(*pair) or 0.0))
        told = "; ".join(f"{_name(one, theirs)} {difference(one, theirs):+.1f}" for one, theirs in worst[:8])
        more = f" and {len(worst) - 8} more" if len(worst) > 8 else ""
        text += f" The others differ, in points (ours less theirs): {told}{more}."
    yield Text(text)


def _name(one: Summary, theirs: Printed) -> str:
    method = theirs.label or one.method
    return f"{one.case}, {method}" if one.case else method


def _table(summaries: Sequence[Summary], printed: Sequence[Printed], caption: str, show_case: bool) -> Table:
    beside = any(_match(one, printed) for one in summaries)
    rows = [_row(one, theirs, show_case, beside) for one in summaries for theirs in _match(one, printed) or (None,)]
    words = ("case", "method") if show_case else ("method",)
    if beside:
        columns = (
            *words, "targets", "reached % (95 %)", "theirs", "points", "median time", "theirs", "mean time", "theirs",
            "iterations", "theirs",
        )  # fmt: skip
    else:
        columns = (*words, "targets", "reached % (95 %)", "median time", "mean time", "99 % within", "iterations")
    note = " Times of one thread and iterations (median/mean) are those of targets that were reached."
    return Table(columns, tuple(rows), caption + note, len(words))


def _row(one: Summary, theirs: Printed | None, show_case: bool, beside: bool) -> tuple[str, ...]:
    label = one.method if theirs is None or not theirs.label else f"{one.method} ({theirs.label})"
    words = (one.case, label) if show_case else (label,)
    ours = (str(one.count), one.share_text)
    times = time_text(one.median_time), time_text(one.mean_time)
    iterations = f"{number_text(one.median_iterations)}/{number_text(one.mean_iterations)}" if one.reached else NONE
    if not beside:
        return (*words, *ours, *times, time_text(one.p99_time), iterations)
    if theirs is None:
        return (*words, *ours, NONE, NONE, times[0], NONE, times[1], NONE, iterations, NONE)
    points = difference(one, theirs)
    printed = f"{number_text(theirs.median_iterations)}/{number_text(theirs.mean_iterations)}"
    return (
        *words, *ours, NONE if theirs.success is None else f"{theirs.success:g}",
        NONE if points is None else f"{points:+.1f}" + (" ✓" if agrees(one, theirs) else ""), times[0],
        time_text(theirs.median_time), times[1], time_text(theirs.mean_time), iterations, printed,
    )  # fmt: skip


def _worst(run: Any) -> Table:
    """The case in which each method reaches least."""
    rows = []
    for method in run.methods:
        own = [one for one in run.summaries if one.method == method]
        if own:
            worst = min(own, key=lambda one: one.reached / one.count)
            failures = sum(one.count - one.reached for one in own)
            rows.append((method, worst.case, worst.share_text, str(failures)))
    columns = ("method", "worst case", "reached % (95 %)", "not reached in all cases")
    return Table(columns, tuple(rows), f"The worst of {len(run.cases)} cases.")
