"""Compute blocks on a Dask cluster. Workers send rows back and this process writes them: no shared disk is needed."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arcreach._checks import shown
from arcreach._extras import require
from arcreach._jit import kernel_hash
from arcreach.errors import MethodError
from arcreach.experiments.engine.experiment import Block, Columns, Settings
from arcreach.experiments.engine.run import remote_rows

# Failed workers that a block survives on a local cluster, and blocks submitted ahead per worker.
FAILED_WORKERS = 10
AHEAD = 4
# Seconds to wait for a scheduler and its first worker, and for its port to accept a connection.
SCHEDULER_TIMEOUT = 30
CONNECT_TIMEOUT = 5

_LOCAL = re.compile(r"local:([1-9]\d*)")


@dataclass
class Workers:
    """The workers of a Dask client, called to compute blocks."""

    client: Any
    count: int

    def __call__(self, name: str, settings: Settings, blocks: list[Block]) -> Iterator[tuple[Block, Columns, float]]:
        """Yield every block with its rows and its seconds when they arrive, in any order."""
        from distributed import as_completed

        waiting = iter(blocks)
        first = itertools.islice(waiting, AHEAD * self.count)
        done = as_completed([self._submit(name, settings, block) for block in first])
        for future in done:
            result = future.result()
            future.release()
            # The next block is submitted after a result is taken, so that results do not fill the memory.
            block = next(waiting, None)
            if block is not None:
                done.add(self._submit(name, settings, block))
            yield result

    def _submit(self, name: str, settings: Settings, block: Block) -> Any:
        return self.client.submit(remote_rows, name, settings, block, pure=False)


@contextlib.contextmanager
def connected(address: str) -> Iterator[Workers]:
    """Connect to a cluster by its address, or start N processes on this machine for `local:N`."""
    dask, distributed = require("dask"), require("distributed")
    local = _LOCAL.fullmatch(address)
    if local is not None:
        with (
            # A local cluster restarts failed workers and computes their blocks again. A running scheduler has its own
            # limit of failures.
            dask.config.set({"distributed.scheduler.allowed-failures": FAILED_WORKERS}),
            distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=50,
            ) as own,
            distributed.Client(own) as client,
        ):
            yield Workers(client, int(local[1]))
        return
    if address.startswith("local:") or not re.fullmatch(r"([a-z]+://)?(\[[0-9a-f:]+\]|[^:\s]+):\d+", address):
        raise MethodError(f"--cluster {shown(address)} is not accepted; give local:N or the scheduler's host:port")
    _check_listening(address)
    try:
        client = distributed.Client(address, timeout=SCHEDULER_TIMEOUT)
    except (OSError, TimeoutError) as error:
        raise _no_answer(address, error) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SCHEDULER_TIMEOUT)
        except TimeoutError:
            raise MethodError(f"--cluster {address}: the scheduler has no workers; start at least one") from None
        if set(client.run(kernel_hash).values()) != {kernel_hash()}:
            raise MethodError(f"--cluster {address}: workers have another version of arcreach; install this one there")
        # Not `scheduler_info`, which lists at most five workers in some versions of Dask.
        yield Workers(client, max(1, len(client.nthreads())))


def _no_answer(address: str, error: Exception) -> MethodError:
    return MethodError(f"--cluster {address}: no scheduler answers there ({error}); start one, or check host and port")


def _check_listening(address: str) -> None:
    """Refuse an address at once if nothing listens there; Dask would keep trying until its timeout."""
    scheme, _, location = address.rpartition("://")
    if scheme not in ("", "tcp", "tls"):
        return
    host, _, port = location.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_TIMEOUT):
            pass
    except (OSError, OverflowError) as error:
        raise _no_answer(address, error) from None
