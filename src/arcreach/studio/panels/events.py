"""Event handlers of inputs, and notifications to the client that triggered them."""

from __future__ import annotations

import functools
import logging
import weakref
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from arcreach.errors import ArcreachError

if TYPE_CHECKING:
    import arcreach.studio.app

    Studio = arcreach.studio.app.Studio
else:
    # The page imports the panels; they name its type only in annotations.
    Studio = Any

_log = logging.getLogger(__name__)

# Seconds for which a confirmation and an error are shown.
SHORT, LONG = 8.0, 30.0
# Largest number of invalid fields of a file that one message lists.
MOST_PROBLEMS = 12

# The messages shown to each client.
_messages: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def from_client(function: Callable[[Any], None]) -> Callable[[Any], Awaitable[None]]:
    """Wrap a handler: ignore events without a client, run events in order, report errors to the client.

    viser also calls handlers when the server itself writes a value. Those events have no client.
    """

    @functools.wraps(function)
    async def handler(event: Any) -> None:
        if event.client is None:
            return
        try:
            function(event)
        except Exception as error:
            report(error, event.client)

    return handler


class TaskQueue:
    """Runs functions one after another outside the event loop; errors are shown to the client."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="arcreach-tasks")

    def run(self, work: Callable[[], None], client: Any = None) -> None:
        """Queue a function."""

        def reported() -> None:
            try:
                work()
            except Exception as error:
                report(error, client)

        self._pool.submit(reported)

    def stop(self) -> None:
        """Cancel queued functions; a running one finishes."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def report(error: Exception, client: Any = None) -> None:
    """Show an error to a client; log input errors without a client, and all other errors with their traceback."""
    if isinstance(error, ArcreachError):
        title, text = "Not accepted", problems_of(error)
        if client is None:
            _log.warning("not accepted: %s", text)
    else:
        title, text = "This did not work", f"{type(error).__name__}: {error}"
        _log.error("a request to the studio failed", exc_info=error)
    if client is not None:
        notify(client, title, text)


def uploaded(event: Any) -> tuple[str, bytes]:
    """Return the name and the content of an uploaded file."""
    file = event.target.value
    return file.name, file.content


def problems_of(error: Exception) -> str:
    """Return the message of an error; for a file, up to MOST_PROBLEMS invalid fields."""
    problems = getattr(error, "problems", ())
    if len(problems) < 2:
        return str(error)
    more = len(problems) - MOST_PROBLEMS
    return "; ".join(problems[:MOST_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")


def notify(client: Any, title: str, text: str, *, good: bool = False) -> None:
    """Show a message to one client."""
    color, seconds = ("green", SHORT) if good else ("red", LONG)
    message = client.add_notification(title, text, color=color, auto_close_seconds=seconds)
    _messages.setdefault(client, []).append(message)


def dismiss(clients: Iterable[Any]) -> None:
    """Close the messages of these clients."""
    for client in clients:
        for message in _messages.pop(client, ()):
            message.remove()
