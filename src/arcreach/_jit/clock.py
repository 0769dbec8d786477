"""A clock that kernels can read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numba

from arcreach import _interpreter
from arcreach._jit.decorator import kernel

# The C library's clock, called by name because kernels with a function pointer cannot be cached.
_types: Any = numba.types
_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1
_clock_gettime = _types.ExternalFunction("clock_gettime", _types.int32(_types.int32, _types.uintp))


def _read_clock(buffer: Any) -> float:
    _clock_gettime(_CLOCK_MONOTONIC, buffer.ctypes.data)
    return buffer[0] + 1e-9 * buffer[1]  # type: ignore[no-any-return]


def _read_python_clock(buffer: Any) -> float:
    return time.perf_counter()


def _stopped_clock(buffer: Any) -> float:
    return 0.0


def _choose_clock() -> Callable[[Any], float]:
    """Return the clock for kernels. Windows has no `clock_gettime`, so time limits have no effect there."""
    if getattr(numba.config, "DISABLE_JIT", 0):
        return _read_python_clock
    compiled = kernel(_stopped_clock) if sys.platform == "win32" else kernel(_read_clock)
    setattr(compiled, _interpreter.SUBSTITUTE, _read_python_clock)
    return compiled


# Monotonic time in seconds; `buffer` is scratch, two int64.
clock = _choose_clock()
