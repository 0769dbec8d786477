"""Solve the targets of one arm by one solver, in its own process on one core.

    python -m benchmarks.peers.worker SOLVER ARM FOLDER SECONDS

Writes `<arm>.<solver>.npz`: the solutions, the successes that the solver claims, and nanoseconds of processor time per
target. The time is summed over all threads of the process, because some peers start threads.
"""

import contextlib
import gc
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from . import judge
from .solvers import SOLVERS


def main(name, arm, folder, seconds):
    """Solve until the targets are done or the time is up."""
    with contextlib.suppress(AttributeError):  # available on Linux only
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    chain, poses, starts = judge.read_problems(folder, arm)
    solver_class = SOLVERS[name]
    began = time.process_time()
    solver = solver_class(folder / f"{arm}.urdf", chain)
    handed = [solver.arguments(pose, start) for pose, start in zip(poses, starts, strict=True)]
    for arguments in handed[: judge.WARM_UP]:
        solver.solve(*arguments)
    prepared = time.process_time() - began
    found, nanoseconds = timed(solver, handed[judge.WARM_UP :], seconds)
    answers = [solver.answer(raw) for raw in found]
    nothing = np.full(chain.dof, np.nan)
    np.savez(
        folder / f"{arm}.{name}.npz",
        q=np.array([nothing if q is None else q for q, _ in answers]),
        claimed=np.array([claimed for _, claimed in answers]),
        nanoseconds=nanoseconds,
        prepared=prepared,
        version=version(solver_class.package),
    )


def timed(solver, handed, seconds):
    """Return the raw results and the processor time of each."""
    solve, clock = solver.solve, time.process_time_ns
    found, nanoseconds = [], []
    enough = time.monotonic() + seconds
    gc.collect()
    gc.disable()
    for arguments in handed:
        began = clock()
        raw = solve(*arguments)
        nanoseconds.append(clock() - began)
        found.append(raw)
        if time.monotonic() > enough:
            break
    gc.enable()
    return found, np.array(nanoseconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), float(sys.argv[4]))
