"""Run an experiment: compute the missing blocks and write each as soon as it is computed."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from arcreach._extras import require
from arcreach._interpreter import stop_interpreting
from arcreach._jit import kernel_hash
from arcreach._threads import available_threads
from arcreach.errors import FileError
from arcreach.experiments.catalogue import find_experiment
from arcreach.experiments.engine.experiment import Block, Columns, Experiment, Settings
from arcreach.experiments.engine.store import Store, describe, session_name

# Seconds between two updates of the session file.
NOTE_EVERY = 5.0


@dataclass
class Progress:
    """The progress of a run, reported after every block."""

    total: int  # rows of all blocks
    done: int = 0  # rows on disk
    fresh: int = 0  # rows computed by this session
    reached: int = 0  # of the fresh ones
    left: float = float("nan")  # estimated seconds until the end


class _Clock:
    """Estimates the time left from the time per row in the first block of each case and method.

    The first block overestimates the time per row, because it includes one-off costs; the later blocks of a method
    correct its estimate.
    """

    def __init__(self, workers: int, blocks: Iterable[Block]) -> None:
        self.workers = workers
        self.waiting: Counter[tuple[str, str]] = Counter()  # rows by case and method
        self.first: dict[tuple[str, str], float] = {}  # seconds per row
        self.spent_later: dict[str, list[float]] = {}  # by method: measured and expected seconds
        for block in blocks:
            self.waiting[block.case, block.method] += block.count

    def spent(self, block: Block, seconds: float) -> None:
        key = block.case, block.method
        self.waiting[key] -= block.count
        if block.first == 0 or key not in self.first:
            self.first[key] = seconds / block.count
        else:
            later = self.spent_later.setdefault(block.method, [0.0, 0.0])
            later[0] += seconds
            later[1] += self.first[key] * block.count

    def left(self) -> float:
        costs: dict[str, list[float]] = {}
        for (_, method), cost in self.first.items():
            costs.setdefault(method, []).append(cost)
        known = [cost for one in costs.values() for cost in one]
        total = 0.0
        for (case, method), count in self.waiting.items():
            alike = costs.get(method, known)
            cost = self.first.get((case, method), sum(alike) / max(len(alike), 1))
            actual, expected = self.spent_later.get(method, (1.0, 1.0))
            total += count * cost * actual / expected
        return total / self.workers


def run_experiment(
    name: str,
    settings: Settings,
    out: str | os.PathLike[str],
    *,
    threads: int | None = None,
    cluster: str | None = None,
    resume: bool = True,
    report: Callable[[Progress], None] = lambda _: None,
) -> Store:
    """Run an experiment into the folder `out`, or continue the run there; `report` is called after every block."""
    experiment = find_experiment(name)
    require("polars")
    if cluster is not None:
        require("distributed")
    store = Store(out)
    with store.locked():
        store.begin(describe(experiment, settings, kernel_hash()), resume)
        blocks = experiment.blocks(settings)
        left = store.left(blocks)
        total = sum(block.count for block in blocks)
        progress = Progress(total, total - sum(block.count for block in left))
        session = _Session(store, threads or available_threads(), cluster, settings.device)
        session.note(progress)
        try:
            for block, columns in _results(experiment, settings, left, session, progress):
                store.write(block, columns, dict(experiment.extras))
                progress.done += block.count
                progress.fresh += block.count
                progress.reached += int(np.sum(columns["reached"]))
                session.note(progress)
                report(progress)
        finally:
            session.note(progress, ended=True)
        if progress.done != total:
            raise FileError(f"{out}: {total - progress.done} rows were not returned; run the same command again")
    return store


class _Session:
    """One call of `run_experiment`, recorded in a file of its own."""

    def __init__(self, store: Store, threads: int, cluster: str | None, device: str) -> None:
        self.store, self.threads, self.cluster = store, threads, cluster
        self.name, self.began, self.noted = session_name(), time.perf_counter(), -math.inf
        self.facts = {
            "began": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
            "threads": threads,
            "cluster": cluster,
            "device": device,
            **machine(),
        }

    def note(self, progress: Progress, ended: bool = False) -> None:
        now = time.perf_counter() - self.began
        if not ended and now - self.noted < NOTE_EVERY:
            return
        self.noted = now
        facts = {**self.facts, "seconds": now, "rows": progress.fresh, "finished": progress.done == progress.total}
        try:
            self.store.write_session(self.name, facts)
        except Exception:
            # A failure to write this file must not hide the error that ended the run.
            if not ended:
                raise


def machine() -> dict[str, Any]:
    """Return the facts that times depend on: processor, cores and versions."""
    versions = {name: version(name) for name in ("arcreach", "numpy", "numba", "polars")}
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
        "commit": _commit(),
        "kernels": kernel_hash(),
    }


def _processor() -> str:
    """Return the name of the processor, or its architecture if the system does not report a name."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    """Return the first digits of the sources' Git commit, or None if it cannot be read."""
    root = Path(__file__).parents[4]
    try:
        head = (root / ".git" / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head[:12]
        return (root / ".git" / head[5:]).read_text(encoding="utf-8").strip()[:12]
    except OSError:
        return None


def _results(
    experiment: Experiment, settings: Settings, left: list[Block], session: _Session, progress: Progress
) -> Iterator[tuple[Block, Columns]]:
    """Yield the blocks as they are computed, here or on a cluster, and update the time left."""
    with contextlib.ExitStack() as stack:
        if session.cluster is None:
            workers, results = session.threads, _here(experiment, settings, left, session.threads)
        else:
            from arcreach.experiments.engine import cluster

            pool = stack.enter_context(cluster.connected(session.cluster))
            workers, results = pool.count, pool(experiment.name, settings, left)
        clock = _Clock(workers, left)
        for block, columns, seconds in results:
            clock.spent(block, seconds)
            progress.left = clock.left()
            yield block, columns


def _here(
    experiment: Experiment, settings: Settings, left: list[Block], threads: int
) -> Iterator[tuple[Block, Columns, float]]:
    """Compute the timed blocks one after another while nothing else runs, then the others in parallel."""
    warm = set()
    for block in left:
        if block.method not in warm:
            warm.add(block.method)
            experiment.warm_up(block, settings)
        if block.first == 0:
            yield timed_rows(experiment, settings, block)
    waiting = iter([block for block in left if block.first > 0])
    with ThreadPoolExecutor(threads, thread_name_prefix="experiment") as pool:
        jobs: set[Future[tuple[Block, Columns, float]]] = set()
        try:
            while True:
                # More jobs than threads, so that no thread waits while a file is written.
                while len(jobs) < 2 * threads and (following := next(waiting, None)) is not None:
                    jobs.add(pool.submit(timed_rows, experiment, settings, following))
                if not jobs:
                    return
                ended, jobs = wait(jobs, return_when=FIRST_COMPLETED)
                for job in ended:
                    yield job.result()
        finally:
            for job in jobs:
                job.cancel()


def timed_rows(experiment: Experiment, settings: Settings, block: Block) -> tuple[Block, Columns, float]:
    """Return a block, its rows, and the seconds that they took."""
    stop_interpreting()
    began = time.perf_counter()
    columns = experiment.rows(block, settings)
    return block, columns, time.perf_counter() - began


def remote_rows(name: str, settings: Settings, block: Block) -> tuple[Block, Columns, float]:
    """Return `timed_rows` of an experiment given by name; the workers of a cluster call this function."""
    return timed_rows(find_experiment(name), settings, block)
