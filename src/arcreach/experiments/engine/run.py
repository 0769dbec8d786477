"""Run an experiment: compute the blocks that are not there yet, and write each as soon as it is known."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from arcreach._extras import require
from arcreach._jit import kernel_hash
from arcreach._threads import available_threads
from arcreach.errors import FileError
from arcreach.experiments.catalogue import find_experiment
from arcreach.experiments.engine._polars import import_polars
from arcreach.experiments.engine.experiment import Block, Columns, Experiment, Settings
from arcreach.experiments.engine.store import Store, describe, session_name

Result = tuple[Block, Columns]
# Seconds between two notes of how far a session has come.
NOTE_EVERY = 5.0


@dataclass
class Progress:
    """How far a run is, told after every block."""

    total: int  # rows of all blocks
    done: int = 0  # rows that are there
    fresh: int = 0  # rows of this session
    reached: int = 0  # of the fresh ones
    left: float = float("nan")  # seconds
    block: Block | None = None


@dataclass
class _Clock:
    """Guesses the time left: rows cost what they cost in the first block of their case and method.

    A first block is small and says too much of what comes once; so later blocks tell by how much.
    """

    workers: int
    waiting: dict[tuple[str, str], int] = field(default_factory=dict)
    first: dict[tuple[str, str], float] = field(default_factory=dict)  # seconds a row
    spent_later: dict[str, list[float]] = field(default_factory=dict)  # of a method: seconds, and those expected

    def expect(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            key = block.case, block.method
            self.waiting[key] = self.waiting.get(key, 0) + block.count

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
    """Run an experiment into the folder `out`, going on with what is there; `report` hears of every block."""
    experiment = find_experiment(name)
    import_polars()
    if cluster is not None:
        require("distributed", "--cluster")
    store = Store(out)
    with store.locked():
        store.begin(describe(experiment, settings, kernel_hash()), resume)
        blocks = experiment.blocks(settings)
        left = store.left(blocks)
        total = sum(block.count for block in blocks)
        progress = Progress(total, total - sum(block.count for block in left))
        session = _Session(store, threads or available_threads(), cluster, settings.device)
        try:
            for block, columns in _results(experiment, settings, left, session, progress):
                store.write(block, columns, dict(experiment.extras))
                progress.block = block
                progress.done += block.count
                progress.fresh += block.count
                progress.reached += int(np.sum(columns["reached"]))
                session.note(progress)
                report(progress)
        finally:
            session.note(progress, ended=True)
        if progress.done != total:
            raise FileError(f"{out}: {total - progress.done} rows did not come back; run the same command again")
    return store


@dataclass
class _Session:
    """One call of `run_experiment`, as its file tells it."""

    store: Store
    threads: int
    cluster: str | None
    device: str
    name: str = field(default_factory=session_name)
    began: float = field(default_factory=time.perf_counter)
    noted: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = {
            "began": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
            "threads": self.threads,
            "cluster": self.cluster,
            "device": self.device,
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
            # A note that cannot be written must not hide why the run ends.
            if not ended:
                raise


def machine() -> dict[str, Any]:
    """Processor, cores and versions: what a time depends on."""
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
    """The name of the processor, as far as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit of the sources, where they are a checkout."""
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
) -> Iterator[Result]:
    if session.cluster is not None:
        from arcreach.experiments.engine.cluster import connected

        with connected(session.cluster) as send:
            clock = _Clock(send.workers)
            clock.expect(left)
            for block, columns, seconds in send(experiment.name, settings, left):
                clock.spent(block, seconds)
                progress.left = clock.left()
                yield block, columns
        return
    clock = _Clock(session.threads)
    clock.expect(left)
    for block, columns, seconds in _here(experiment, settings, left, session.threads):
        clock.spent(block, seconds)
        progress.left = clock.left()
        yield block, columns


def _here(
    experiment: Experiment, settings: Settings, left: list[Block], threads: int
) -> Iterator[tuple[Block, Columns, float]]:
    """The blocks that are timed one after another while nothing else runs, the others side by side."""
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
                # A few more than threads, so that none waits while a file is written.
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
    """A block, its rows, and the seconds that they took."""
    began = time.perf_counter()
    columns = experiment.rows(block, settings)
    return block, columns, time.perf_counter() - began


def remote_rows(name: str, settings: Settings, block: Block) -> tuple[Block, Columns, float]:
    """`timed_rows` for another process, which knows experiments by name."""
    return timed_rows(find_experiment(name), settings, block)
