"""`Mailbox`: one slot between those who ask and the one who works. Only the latest is kept."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Mailbox(Generic[Item]):
    """Whoever posts never waits, and what nobody has taken yet is replaced.

    A hand moves sixty times a second. Where an answer takes longer, what was asked in between is of no interest.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._item: Item | None = None
        self._closed = False

    def post(self, item: Item) -> None:
        """Put an item in place of what is there; a closed mailbox lets it fall."""
        with self._change:
            if not self._closed:
                self._item = item
                self._change.notify()

    def take(self, timeout: float | None = None) -> Item | None:
        """Wait for an item and take it; None when the mailbox is closed, or nothing came within the timeout."""
        with self._change:
            self._change.wait_for(lambda: self._closed or self._item is not None, timeout)
            item, self._item = self._item, None
            return item

    def close(self) -> None:
        """Wake whoever waits: nothing more will come."""
        with self._change:
            self._closed, self._item = True, None
            self._change.notify_all()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed
