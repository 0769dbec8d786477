"""Spread the rows of a batch over threads.

Kernels release the GIL, so a pool of Python threads runs them side by side. numba's own `prange` is not used: its
default threading layer aborts the process when two threads call it at once, and it cannot hand out the rows of a
batch piece by piece when some rows take much longer than others.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from arcreach._interpreter import stop_interpreting

# Fewest rows of a piece: the pool costs about 20 us, and the cheapest kernel takes 25 ns per row.
SMALLEST_PIECE = 1024
# Pieces per thread: enough that no thread waits long for the last one.
PIECES_PER_THREAD = 8

_pools: dict[int, ThreadPoolExecutor] = {}
# Threads do not survive a fork; a child makes its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def available_threads() -> int:
    """Return the number of cores that this process may use; the environment variable ARCREACH_THREADS overrides it."""
    if (chosen := os.environ.get("ARCREACH_THREADS", "")).isdecimal() and int(chosen) > 0:
        return int(chosen)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    kernel: Callable[..., Any],
    rows: int,
    *arguments: Any,
    threads: int | None = None,
    smallest: int = SMALLEST_PIECE,
) -> None:
    """Call `kernel(start, stop, *arguments)` over pieces of at least `smallest` rows that cover `rows`.

    The result does not depend on `threads`.
    """
    if rows < 2 * smallest:
        kernel(0, rows, *arguments)
        return
    # A batch is worth compiling, and an interpreted call that fails would restore rows that other threads have filled.
    stop_interpreting()
    threads = threads or available_threads()
    if threads < 2:
        kernel(0, rows, *arguments)
        return
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="arcreach")
    pieces = min(rows // smallest, threads * PIECES_PER_THREAD)
    edges = [rows * i // pieces for i in range(pieces + 1)]
    jobs = [_pools[threads].submit(kernel, start, stop, *arguments) for start, stop in itertools.pairwise(edges)]
    for job in jobs:
        job.result()
