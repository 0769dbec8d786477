"""`Worker`: a thread that works on the latest item it was given."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")

_log = logging.getLogger(__name__)


class Worker(Generic[Item]):
    """Calls `job` with the latest item posted, one at a time; items posted in between are skipped.

    A drag posts sixty items a second, and only the last one matters. A job that raises is logged.
    """

    def __init__(self, name: str, job: Callable[[Item], None]) -> None:
        self._job = job
        self._change = threading.Condition()
        self._item: Item | None = None
        self._stopped = False
        # A daemon: a job that never ends must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name=f"arcreach-{name}", daemon=True)
        self._thread.start()

    def post(self, item: Item) -> None:
        """Replace the item that is waiting, if any."""
        with self._change:
            self._item = item
            self._change.notify()

    def stop(self) -> None:
        """Start no further job, and wait up to a second for the current one."""
        with self._change:
            self._stopped = True
            self._change.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._stopped or self._item is not None)
                item, self._item = self._item, None
            if self._stopped or item is None:
                return
            try:
                self._job(item)
            except Exception:
                _log.exception("a job of the studio failed")
