"""`Worker`: a thread that does the latest of what it is asked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from arcreach.studio.mailbox import Mailbox

Item = TypeVar("Item")

_log = logging.getLogger(__name__)


class Worker(Generic[Item]):
    """Calls `job` with what was posted last, one at a time, until it is stopped.

    A job that fails is logged and forgotten: the page must outlive it.
    """

    def __init__(self, name: str, job: Callable[[Item], None]) -> None:
        self._job = job
        self._mailbox: Mailbox[Item] = Mailbox()
        # As a daemon: a job that never ends must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name=f"arcreach-{name}", daemon=True)
        self._thread.start()

    def post(self, item: Item) -> None:
        """Ask for this, and for nothing that was asked before and is not begun."""
        self._mailbox.post(item)

    def stop(self, timeout: float = 1.0) -> None:
        """Begin nothing new, and wait a little for what is under way."""
        self._mailbox.close()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._mailbox.closed:
            item = self._mailbox.take()
            if item is None:
                continue
            try:
                self._job(item)
            except Exception:
                _log.exception("the studio could not do what was asked")
