"""`arcreach experiment`: recompute published tables, and compare methods on a robot."""

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

from arcreach._extras import require
from arcreach._io import check_folder
from arcreach.cli.arguments import complete
from arcreach.cli.output import EXIT_INTERRUPTED, note, print_table
from arcreach.cli.progress import LINE_EVERY, announce_compiling
from arcreach.errors import FileError, MethodError
from arcreach.experiments import NAMES, find_experiment, run_experiment
from arcreach.experiments.engine.experiment import CPU, DEVICES, FULL, Experiment, Settings
from arcreach.experiments.engine.run import Progress as RunProgress
from arcreach.files import load_chain

ALL = "all"

app = typer.Typer(no_args_is_help=True, help="Recompute published tables, or compare methods on your own robot.")


@app.command("list")
def list_experiments() -> None:
    """List the experiments: source, default number of targets, and that of --targets full."""
    every = [find_experiment(name) for name in NAMES]
    rows = [(one.name, one.title, one.source, str(one.small), str(one.full)) for one in every]
    headings = ("name", "what", "source", "targets", "full")
    print_table(headings, rows, right=("targets", "full"), rule=False)


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete(lambda: (*NAMES, ALL)))],
    targets: Annotated[
        str | None,
        typer.Option("--targets", help=f"Targets per case: a number, or '{FULL}' for that of a full run."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="RNG seed; equal seeds give equal rows.")] = 0,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="All cores by default.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Output folder; by default experiments/NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume/--no-resume", help="Continue the run in the folder.")] = True,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Methods, separated by commas; all by default.")
    ] = None,
    robot: Annotated[str | None, typer.Option("--robot", help="For compare: a catalogue name or a file.")] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="A Dask scheduler's address, or local:N for N processes.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help=f"Device of auto: {', '.join(DEVICES)}.")] = CPU,
) -> None:
    """Run an experiment, or 'all' of them one after another, each into its own folder.

    The same command continues an interrupted run.

    The experiment compare also accepts your own methods: --methods all,module:function, where the function takes
    (robot, target) and returns a configuration.
    """
    if name == ALL and (methods is not None or robot is not None):
        raise MethodError("--methods and --robot are for one experiment, not for 'all'; leave them out")
    names = NAMES if name == ALL else (name,)
    # All settings are checked before the first experiment runs.
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
            note(f"interrupted; run the same command again to continue ({folder})")
            raise typer.Exit(EXIT_INTERRUPTED) from None
    if settings.robot is None and find_experiment(name).takes_robot:
        # Imported here, because it imports every method.
        from arcreach.experiments.benchmarks.compare import DEFAULT

        note(f"robot: {DEFAULT}; --robot chooses another")
    polars = require("polars")
    counts = store.rows().group_by("method").agg(polars.col("reached").sum(), polars.len()).collect().rows()
    texts = {method: f"{method}: {reached} of {rows} reached" for method, reached, rows in counts}
    for method in settings.methods:
        if method in texts:
            typer.echo(texts[method])
    note(f"{time.perf_counter() - began:.1f} s; rows in {folder}; arcreach experiment report {folder}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or of several runs.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the report; DIR by default.")] = None,
) -> None:
    """Write the report of one or several runs: report.md with its figures, and report.html in one file."""
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
    loaded = None if robot is None else load_chain(robot, "compare")
    names = [] if methods is None else [part.strip() for part in methods.split(",") if part.strip()]
    return experiment.settings(count, seed, names, loaded, device)


@contextmanager
def _progress(name: str) -> Iterator[Callable[[RunProgress], None]]:
    """Report progress: a bar on a terminal, occasional lines otherwise."""
    stderr = Console(stderr=True)
    if not stderr.is_terminal:
        yield _lines(name)
        return
    columns = (TextColumn(name), BarColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(name, total=1, words="")
        yield lambda state: bar.update(task, total=state.total, completed=state.done, words=_words(state))


def _lines(name: str) -> Callable[[RunProgress], None]:
    said = time.perf_counter()

    def say(state: RunProgress) -> None:
        nonlocal said
        if time.perf_counter() - said >= LINE_EVERY:
            said = time.perf_counter()
            sys.stderr.write(f"{name}: {_words(state)}\n")
            sys.stderr.flush()

    return say


def _words(state: RunProgress) -> str:
    minutes, seconds = divmod(round(state.left), 60)
    share = 100.0 * state.reached / max(state.fresh, 1)
    return f"{state.done} of {state.total} rows, {share:.2f} % reached, {minutes}:{seconds:02d} left"
