"""What a person does on the page, told apart from what the server writes itself."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from arcreach.errors import ArcreachError

# Seconds that a message stays.
SHORT, LONG = 8.0, 30.0
# Bad fields of a file that one message names.
MOST_PROBLEMS = 6


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
        except (ArcreachError, ValueError) as error:
            tell(event.client, "Not accepted", all_of(error))

    return handler


def all_of(error: Exception) -> str:
    """What an error says, with all bad fields of a file and not only the first."""
    problems = getattr(error, "problems", ())
    return str(error) if len(problems) < 2 else "; ".join(problems[:MOST_PROBLEMS])


def tell(client: Any, title: str, text: str, *, good: bool = False) -> None:
    """Show a message to one visitor."""
    client.add_notification(title, text, color="green" if good else "red", auto_close_seconds=SHORT if good else LONG)
