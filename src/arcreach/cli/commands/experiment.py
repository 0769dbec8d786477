"""`arcreach experiment`: published tables, computed again."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from arcreach._io import check_folder
from arcreach.cli.output import EXIT_INTERRUPTED, LINE_EVERY, announce_compiling, console, plain
from arcreach.errors import FileError, MethodError
from arcreach.experiments import NAMES, find_experiment, run_experiment
from arcreach.experiments.engine._polars import import_polars
from arcreach.experiments.engine.experiment import CPU, DEVICES, FULL, Experiment, Settings
from arcreach.experiments.engine.run import Progress as Told
from arcreach.files.robots import load_robot
from arcreach.robots.robot import Robot

ALL = "all"

app = typer.Typer(no_args_is_help=True, help="Published tables, computed again; and your own robot, by every method.")


def complete_experiment(incomplete: str) -> list[str]:
    """Names of experiments for the shell's completion."""
    return [name for name in (*NAMES, ALL) if name.startswith(incomplete)]


@app.command("list")
def list_experiments() -> None:
    """List the experiments: what is computed, from which source, and how many targets the authors have."""
    table = Table(box=None, pad_edge=False)
    for column in ("name", "what", "source", "targets", "authors"):
        table.add_column(column, justify="right" if column in ("targets", "authors") else "left")
    for name in NAMES:
        one = find_experiment(name)
        table.add_row(name, plain(one.title), plain(one.source), str(one.small), str(one.full))
    console().print(table)


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_experiment)],
    targets: Annotated[
        str | None, typer.Option("--targets", help=f"Targets of each case: a number, or '{FULL}' for the authors'.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same rows.")] = 0,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="All cores by default.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the rows, or of all runs; experiments/NAME by default.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume/--no-resume", help="Go on with what the folder holds.")] = True,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Some of its methods, with commas between; all by default.")
    ] = None,
    robot: Annotated[str | None, typer.Option("--robot", help="compare: a name of the catalogue or a file.")] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="A Dask scheduler's address, or local:N for N processes.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help=f"Where auto computes: {', '.join(DEVICES)}.")] = CPU,
) -> None:
    """Run an experiment, or 'all' of them one after another into folders of their own.

    An interrupted one goes on where it stopped when the same command is given again.

    compare also takes methods of your own: --methods all,module:function, a function of (robot, target) that gives a
    configuration.
    """
    if name == ALL and (methods is not None or robot is not None):
        raise MethodError("--methods and --robot are for one experiment, not for 'all'; leave them out")
    names = NAMES if name == ALL else (name,)
    # All are checked before the first is run.
    every = [(one, _settings(find_experiment(one), targets, seed, methods, robot, device)) for one in names]
    parent = out or Path("experiments")
    folders = [parent if out is not None and name != ALL else parent / one for one in names]
    for folder in folders:
        check_folder(folder)
    for (one, settings), folder in zip(every, folders, strict=True):
        _run(one, settings, folder, threads, cluster, resume)


def _run(name: str, settings: Settings, folder: Path, threads: int | None, cluster: str | None, resume: bool) -> None:
    """Run one experiment into its folder, and print how many targets each method reached."""
    began = time.perf_counter()
    with announce_compiling(), _progress(name) as report:
        try:
            store = run_experiment(
                name, settings, folder, threads=threads, cluster=cluster, resume=resume, report=report
            )
        except KeyboardInterrupt:
            typer.echo(f"interrupted; give the same command again to go on ({folder})", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    polars = import_polars()
    rows = store.rows()
    counted = rows.group_by("method").agg(polars.len().alias("rows"), polars.col("reached").sum()).collect()
    found = {row["method"]: row for row in counted.to_dicts()}
    for method in settings.methods:
        if method in found:
            row = found[method]
            typer.echo(f"{method}: {row['reached']} of {row['rows']} reached")
    typer.echo(f"{time.perf_counter() - began:.1f} s; rows in {folder}; arcreach experiment report {folder}", err=True)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or of several runs.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the report; DIR by default.")] = None,
) -> None:
    """Write report.md with its figures, and report.html in one file, of a run or of several."""
    from arcreach.experiments.report.write import write_report

    for path in write_report(folder, out or folder):
        typer.echo(str(path))


def _settings(
    experiment: Experiment, targets: str | None, seed: int, methods: str | None, robot: str | None, device: str
) -> Settings:
    count: int | str | None = targets
    if targets is not None and targets != FULL:
        if not targets.isascii() or not targets.isdigit():
            raise FileError(f"--targets {targets} is not accepted; give a whole number above 0 or '{FULL}'")
        count = int(targets)
    loaded = None if robot is None else load_robot(robot)
    if loaded is not None and not isinstance(loaded, Robot):
        raise MethodError(f"robot '{loaded.name}' is given as a matrix; compare needs a chain of elements")
    names = [] if methods is None else [part.strip() for part in methods.split(",") if part.strip()]
    return experiment.settings(count, seed, names, loaded, device)


@contextmanager
def _progress(name: str) -> Iterator[Callable[[Told], None]]:
    """A bar with success so far and time left on a terminal, a line now and then elsewhere."""
    stderr = Console(stderr=True)
    if not stderr.is_terminal:
        yield _lines(name)
        return
    columns = (TextColumn(name), BarColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(name, total=1, words="")
        yield lambda told: bar.update(task, total=told.total, completed=told.done, words=_words(told))


def _lines(name: str) -> Callable[[Told], None]:
    said = time.perf_counter()

    def say(told: Told) -> None:
        nonlocal said
        if time.perf_counter() - said >= LINE_EVERY:
            said = time.perf_counter()
            sys.stderr.write(f"{name}: {_words(told)}\n")
            sys.stderr.flush()

    return say


def _words(told: Told) -> str:
    minutes, seconds = divmod(round(told.left), 60)
    share = 100.0 * told.reached / max(told.fresh, 1)
    return f"{told.done} of {told.total} rows, {share:.2f} % reached, {minutes}:{seconds:02d} left"
