"""Tell users, and callers that show progress, that kernels are being compiled."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import event

_COMPILING = "numba:compile"


class _CompileListener(event.Listener):
    """Calls a function whenever numba starts to compile; loading from the cache does not count."""

    def __init__(self, started: Callable[[Any], None]) -> None:
        self.started = started

    def on_start(self, event: Any) -> None:
        self.started(event)

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def on_compile(started: Callable[[], None], announces: bool = False) -> Iterator[None]:
    """Call `started` whenever numba starts to compile inside the block; loading from the cache does not count.

    With `announces` the caller informs the user, and COMPILING_LINE is not printed.
    """
    global _announcers  # noqa: PLW0603
    listener = _CompileListener(lambda _: started())
    event.register(_COMPILING, listener)
    _announcers += announces
    try:
        yield
    finally:
        _announcers -= announces
        event.unregister(_COMPILING, listener)


COMPILING_LINE = (
    "arcreach: compiling kernels, once per installation and up to a minute; `arcreach warm-up` does it ahead of time, "
    "ARCREACH_QUIET=1 hides this line"
)
INTERPRETING_LINE = (
    "arcreach: kernels are not compiled yet: first calls are interpreted, which is slower, and a run that goes on "
    "compiles, once per installation; `arcreach warm-up` does it ahead of time, ARCREACH_QUIET=1 hides this line"
)
# Number of active `announces` blocks, and whether a line was printed in this process.
_announcers = 0
_announced = False


def announce(line: str) -> None:
    """Print a line on kernels, once per process: one that first interprets and later compiles needs no second line."""
    global _announced  # noqa: PLW0603
    if not _announced and sys.stderr is not None and os.environ.get("ARCREACH_QUIET", "0") in {"", "0"}:
        _announced = True
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def _announce_compiling(event: Any) -> None:
    """Print COMPILING_LINE when a kernel of this library is compiled and no caller announces it."""
    dispatcher = (event.data or {}).get("dispatcher")
    if not _announcers and (dispatcher is None or (dispatcher.__module__ or "").startswith("arcreach.")):
        announce(COMPILING_LINE)


event.register(_COMPILING, _CompileListener(_announce_compiling))


def tell_compiling() -> None:
    """Report the compilation of a GPU kernel to `on_compile`; numba has no event for it."""
    with event.trigger_event(_COMPILING):
        pass
