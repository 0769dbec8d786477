"""Write the report of runs: `report.md` with its figures, and `report.html` in one file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arcreach._extras import require
from arcreach._io import check_folder, make_folder, write_text
from arcreach.errors import FileError
from arcreach.experiments.catalogue import NAMES
from arcreach.experiments.engine import convergence
from arcreach.experiments.engine.comparison import Comparison
from arcreach.experiments.engine.experiment import CPU, OURS
from arcreach.experiments.engine.records import Run
from arcreach.experiments.engine.store import ROBOT_TEXT, RUN_FILE
from arcreach.experiments.report import charts
from arcreach.experiments.report.comparison_tables import MOST_CASES, comparison_tables
from arcreach.experiments.report.pages import as_html, as_markdown, write_figures
from arcreach.experiments.report.parts import Drawing, Heading, Items, Part, Table, Text
from arcreach.experiments.report.readings import conclusions, reading_table
from arcreach.experiments.report.statistics import NONE, number_text, time_text
from arcreach.experiments.report.verdicts import RULE, by_table, counts, group_table, times_as_fast

TITLE = "Published tables, computed again"
# Title of runs of which none has printed numbers.
OWN_TITLE = "Comparison of methods"
TABLES = ", or read from the tables of the sources"
# With more methods than this, dots could not be distinguished.
FEW_METHODS = 6


def runs_in(folder: str | os.PathLike[str]) -> list[Run]:
    """Return the run in a folder, or the runs in its subfolders, in the order of the experiments."""
    root = Path(folder)
    if not root.is_dir():
        raise FileError(f"{root}: is not a folder; give one that `arcreach experiment run` wrote")
    if (root / RUN_FILE).is_file():
        return [Run(root)]
    found = [Run(path.parent) for path in sorted(root.glob(f"*/{RUN_FILE}"))]
    if not found:
        raise FileError(f"{root}: holds no run; give a folder that `arcreach experiment run` wrote")
    return sorted(found, key=lambda run: (NAMES.index(run.experiment.name), str(run.store.folder)))


def write_report(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> list[Path]:
    """Write the report of one or several runs; return the paths of its two pages."""
    require("polars")
    require("matplotlib")
    require("jinja2")
    check_folder(out)
    runs = runs_in(folder)
    parts = list(page(runs))
    figures = make_folder(Path(out) / "figures")
    write_figures(parts, figures)
    markdown, html = Path(out) / "report.md", Path(out) / "report.html"
    write_text(markdown, as_markdown(parts))
    write_text(html, as_html(parts, figures))
    return [markdown, html]


def page(runs: Sequence[Run]) -> Iterator[Part]:
    """Yield all parts of a report."""
    single = runs[0] if len(runs) == 1 else None
    printed = any(run.experiment.source != OURS for run in runs)
    several = TITLE if printed else OWN_TITLE
    yield Heading(several if single is None else single.experiment.title, 1)
    yield Text(
        f"Every number on this page is computed from the rows of runs{TABLES if printed else ''}; none is written by "
        "hand. Reached means: the tip is within the tolerances and the configuration within its limits, by forward "
        "kinematics, whatever status the method returns. Shares come with their 95 % Wilson interval."
        + (f" {RULE}" if printed else "")
    )
    if single is None and printed:
        yield Heading("What agrees, what does not, and why", 2)
        yield _agreement(runs)
    if single is None:
        yield Heading("The runs", 2)
        yield _overview(runs)
    for k, run in enumerate(runs):
        title = _title(run, runs)
        if single is None:
            yield Heading(title, 2)
        alone = title == run.experiment.title
        for part in _sections(run):
            # Figures of two runs of one experiment need different names.
            yield part if alone or not isinstance(part, Drawing) else replace(part, name=f"{part.name}-{k + 1}")
    yield Heading("Machine and versions", 2)
    yield from _machines(runs)


def _title(run: Run, runs: Sequence[Run]) -> str:
    """Return the title of a run: that of its experiment, with the folder if another run has the same experiment."""
    title = run.experiment.title
    several = sum(one.experiment is run.experiment for one in runs) > 1
    return f"{title} ({run.store.folder.name})" if several else title


def _agreement(runs: Sequence[Run]) -> Table:
    """Return a table with a row for every printed table, and for every source without numbers to compare."""
    rows = []
    for run in runs:
        experiment = run.experiment
        tables = by_table(run.verdicts)
        for name, found in tables.items():
            own = [one for one in experiment.printed() if (one.table or experiment.source) == name]
            speed = times_as_fast(own, [*run.summaries, *run.overall])
            faster = NONE if speed is None else f"{number_text(speed)} ×"
            reasons = {method: text for (table, method), text in conclusions(run).items() if table == name}
            why = " ".join(f"{method}: {text}" if len(reasons) > 1 else text for method, text in reasons.items())
            rows.append((name, _title(run, runs), *counts(found), faster, why))
        if not tables and experiment.source != OURS:
            why = "The run has none of the methods." if experiment.printed() else experiment.differences[0]
            rows.append((experiment.source, _title(run, runs), "0", *[NONE] * 5, why))
    columns = ("source", "experiment", "numbers", "agree", "near", "differ", "farthest apart", "faster", "conclusion")
    caption = (
        "Printed numbers and ours, table by table; verdicts leave out times. Faster is the median ratio of the "
        "printed time of a solve to ours, on machines of different years."
    )
    return Table(columns, tuple(rows), caption, prose=True)


def _overview(runs: Sequence[Run]) -> Table:
    rows = []
    for run in runs:
        seconds = sum(one["seconds"] for one in run.sessions)
        total = sum(one.count for one in run.overall)
        best = [one for one in run.overall if one.method == "auto"]
        # Most cells of a map lie outside the workspace; not reaching them is not a failure.
        compared = bool(best) and isinstance(run.experiment, Comparison)
        auto = f"{best[0].count - best[0].reached} of {best[0].count}" if compared else NONE
        theirs = str(run.experiment.full) if run.experiment.count_printed else NONE
        counted = (str(run.description["targets"]), theirs, str(total))
        rows.append((_title(run, runs), run.experiment.source, *counted, auto, time_text(seconds)))
    columns = (
        "experiment",
        "source",
        "targets of a case",
        "the authors'",
        "rows",
        "not reached by auto",
        "time of the run",
    )
    return Table(columns, tuple(rows), "The experiments of this page.")


def _sections(run: Run) -> Iterator[Part]:
    experiment, known = run.experiment, run.description
    if known["robot"] is not None:
        yield Text(f"Robot: {known['robot']['name'] or 'unnamed'}.")
        # Runs of earlier versions have the elements as code only.
        yield Items(tuple(known.get(ROBOT_TEXT) or (f"`{element}`" for element in known["robot"]["elements"])))
    yield Text(f"Source: {experiment.source}. Targets: {experiment.law}.")
    state = "" if run.finished else " The run is not finished: numbers are those of the rows computed so far."
    theirs = f" (the authors: {experiment.full})" if experiment.count_printed else ""
    threads = " and ".join(sorted({_workers(one) for one in run.sessions}))
    yield Text(
        f"{known['targets']} targets of each case{theirs}, seed {known['seed']}; "
        f"{time_text(sum(one['seconds'] for one in run.sessions))} in all, {threads}.{state}"
    )
    if run.verdicts:
        yield group_table(run.verdicts, conclusions(run))
        readings = reading_table(run)
        if readings is not None:
            yield readings
    if isinstance(experiment, Comparison) and run.methods:
        own = list(experiment.parts(run))
        if experiment.takes_robot:
            yield from own
        yield from comparison_tables(run)
        if not experiment.takes_robot:
            yield from own
        yield from _pictures(run)
    else:
        yield from experiment.parts(run)
    if experiment.reasons or experiment.differences:
        yield Heading("Known differences", 3)
        yield Items((*(f"{name}: {why}" for name, why in experiment.reasons.items()), *experiment.differences))


def _workers(session: dict[str, Any]) -> str:
    device = session.get("device", CPU)
    aside = "" if device == CPU else f" and auto on {device}"
    if session["cluster"]:
        return f"cluster {session['cluster']}{aside}"
    return f"{session['threads']} thread{'' if session['threads'] == 1 else 's'}{aside}"


def _pictures(run: Run) -> Iterator[Part]:
    name = run.experiment.name
    if len(run.cases) <= MOST_CASES // 3:
        if len(run.methods) <= FEW_METHODS:
            figure, caption = charts.share_bars(run), "Share of targets reached, with 95 % Wilson intervals."
        else:
            figure, caption = charts.share_matrix(run), _matrix_caption(run)
        yield Drawing(f"{name}-shares", figure, caption)
    figure = charts.time_distributions(run)
    shown = "some cases" if len(run.cases) > charts.MOST_PANELS else "every case"
    yield Drawing(
        f"{name}-times",
        figure,
        f"Share of targets reached within a time, one thread, {shown}; a curve ends at the total share reached.",
    )
    falling = convergence.curves(run)
    if falling:
        yield Drawing(
            f"{name}-convergence",
            charts.convergence(falling),
            "Position error against the iteration: median of "
            f"{convergence.TARGETS} targets, and the middle half as a band; auto shows the best of its starts so far.",
        )


def _matrix_caption(run: Run) -> str:
    caption = "Share of targets reached in per cent, rounded down; the table of cases has the 95 % Wilson intervals."
    if len(run.summaries) == len(run.cases) * len(run.methods):
        return caption
    unfinished = "" if run.finished else ", or the run has not come to it"
    return f"{caption} Grey cells with a dash: the method does not accept the case{unfinished}."


def _machines(runs: Sequence[Run]) -> Iterator[Part]:
    rows = []
    for run in runs:
        for session in run.sessions:
            versions = ", ".join(f"{name} {text}" for name, text in session["versions"].items())
            rows.append(
                (
                    run.experiment.name,
                    session["began"],
                    f"{session['processor']}, {session['cores']} cores",
                    f"Python {session['python']}, {versions}",
                    session["commit"] or "–",
                    session["kernels"][:12],
                    time_text(session["seconds"]),
                    f"{session['rows'] / max(session['seconds'], 1e-9):.0f}",
                )
            )
    columns = ("experiment", "started", "processor", "versions", "commit", "kernels", "time", "rows per second")
    yield Table(columns, tuple(rows), "One row per session; an interrupted run has several.", text_columns=6)
