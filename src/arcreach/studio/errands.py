"""`Errands`: what visitors ask for beside solving, done one after another outside the event loop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from arcreach.studio.panels.events import report


class Errands:
    """A queue of work in one thread; a failure is told to the visitor who asked, or logged."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="arcreach-errand")

    def run(self, work: Callable[[], None], client: Any = None) -> None:
        """Do something soon."""

        def done() -> None:
            try:
                work()
            except Exception as error:
                report(error, client)

        self._pool.submit(done)

    def stop(self) -> None:
        """Begin nothing new."""
        self._pool.shutdown(wait=False, cancel_futures=True)
