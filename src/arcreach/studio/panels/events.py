"""What a person does on the page, told apart from what the server writes itself; and what that person is told."""

from __future__ import annotations

import functools
import logging
import weakref
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from arcreach.errors import ArcreachError

_log = logging.getLogger(__name__)

# Seconds that a message stays.
SHORT, LONG = 8.0, 30.0
# Bad fields of a file that one message names.
MOST_PROBLEMS = 12

# Messages that visitors have been shown.
_told: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def by_hand(function: Callable[[Any], None]) -> Callable[[Any], Awaitable[None]]:
    """A callback that runs only for events of a visitor, in their order, and says to that visitor what is refused.

    viser also calls back for values that the server writes; those are no wish of anybody.
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


def report(error: Exception, client: Any = None) -> None:
    """Tell a visitor what failed; the log gets it too where it is no bad input, or where there is no visitor."""
    if isinstance(error, ArcreachError):
        title, text = "Not accepted", all_of(error)
        if client is None:
            _log.warning("not accepted: %s", text)
    else:
        title, text = "This did not work", f"{type(error).__name__}: {error}"
        _log.error("the studio could not do what was asked", exc_info=error)
    if client is not None:
        tell(client, title, text)


def sent(event: Any) -> tuple[str, bytes]:
    """Name and content of a file that was sent by a button."""
    file = event.target.value
    return file.name, file.content


def all_of(error: Exception) -> str:
    """What an error says, with all bad fields of a file and not only the first."""
    problems = getattr(error, "problems", ())
    if len(problems) < 2:
        return str(error)
    more = len(problems) - MOST_PROBLEMS
    return "; ".join(problems[:MOST_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")


def tell(client: Any, title: str, text: str, *, good: bool = False) -> None:
    """Show a message to one visitor."""
    color, seconds = ("green", SHORT) if good else ("red", LONG)
    shown = client.add_notification(title, text, color=color, auto_close_seconds=seconds)
    _told.setdefault(client, []).append(shown)


def dismiss(clients: Iterable[Any]) -> None:
    """Close the messages of these visitors."""
    for client in clients:
        for shown in _told.pop(client, ()):
            shown.remove()
