"""Compute blocks on a Dask cluster. Rows are sent back and written here, so workers need no shared disk."""

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
from arcreach.errors import MethodError
from arcreach.experiments.engine.experiment import Block, Columns, Settings
from arcreach.experiments.engine.run import remote_rows

# Number of failed workers that a block survives, and blocks submitted ahead per worker.
RETRIES = 10
AHEAD = 4
# Seconds to wait for a scheduler and its first worker, and for its port to accept a connection.
PATIENCE = 30
KNOCK = 5

_LOCAL = re.compile(r"local:([1-9]\d*)")


@dataclass
class Send:
    """Computes blocks on the workers of a Dask client."""

    client: Any
    workers: int

    def __call__(self, name: str, settings: Settings, blocks: list[Block]) -> Iterator[tuple[Block, Columns, float]]:
        """Yield the rows of every block as they arrive, in any order."""
        from distributed import as_completed

        waiting = iter(blocks)
        first = itertools.islice(waiting, AHEAD * self.workers)
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
        return self.client.submit(remote_rows, name, settings, block, pure=False, retries=RETRIES)


@contextlib.contextmanager
def connected(address: str) -> Iterator[Send]:
    """Connect to a cluster by its address, or start N processes on this machine for `local:N`."""
    dask, distributed = require("dask", "--cluster"), require("distributed", "--cluster")
    # Dask replaces a failed worker and computes its blocks again.
    with dask.config.set({"distributed.scheduler.allowed-failures": RETRIES}):
        local = _LOCAL.fullmatch(address)
        if local is not None:
            with (
                distributed.LocalCluster(
                    n_workers=int(local[1]),
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    silence_logs=50,
                ) as own,
                distributed.Client(own) as client,
            ):
                yield Send(client, int(local[1]))
            return
        if address.startswith("local:") or not re.fullmatch(r"([a-z]+://)?[^:\s]+:\d+", address):
            raise MethodError(f"--cluster {shown(address)} is not accepted; give local:N or the scheduler's host:port")
        _knock(address)
        try:
            client = distributed.Client(address, timeout=PATIENCE)
        except (OSError, TimeoutError) as error:
            raise MethodError(f"--cluster {address}: no scheduler answers there ({error})") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise MethodError(f"--cluster {address}: the scheduler has no workers; start at least one") from None
            yield Send(client, max(1, len(client.scheduler_info()["workers"])))


def _knock(address: str) -> None:
    """Refuse an address at once if nothing listens there; Dask would keep trying until its timeout."""
    scheme, _, location = address.rpartition("://")
    if scheme not in ("", "tcp", "tls"):
        return
    host, _, port = location.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK):
            pass
    except (OSError, OverflowError) as error:
        raise MethodError(f"--cluster {address}: no scheduler answers there ({error})") from None
