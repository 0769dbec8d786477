"""Run a kernel in the Python interpreter until it is worth compiling.

After an installation, compiling the solver takes 15 s, and an interpreted solve 10 ms. A process therefore interprets
single calls of kernels that are not compiled yet, up to a total time.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any

import numpy as np


def _allowance() -> float:
    """Return the seconds that a process may interpret: ARCREACH_INTERPRET, by default 2, much less than compiling."""
    try:
        return float(os.environ.get("ARCREACH_INTERPRET", ""))
    except ValueError:
        return 2.0


# Seconds of interpretation that this process has left, and the end of the current interpretation.
_left = _allowance()
_deadline = 0.0
# Number of interpreted calls so far; times measured while it grows are not those of compiled code.
calls = 0
# Name of a kernel's attribute with a replacement to interpret, if its own code cannot be interpreted.
SUBSTITUTE = "interpreted_as"
# Kernels as Python functions, by kernel.
_copies: dict[Any, Callable[..., Any]] = {}


class _TimeoutError(Exception):
    """Ends an interpretation that takes too long."""


def callees(function: FunctionType) -> dict[str, Any]:
    """Return the kernels that a function calls, by their names among its globals and closure variables."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    named |= inspect.getclosurevars(function).nonlocals
    return {name: value for name, value in named.items() if hasattr(value, "py_func")}


def with_callees(function: FunctionType, replaced: dict[str, Any]) -> FunctionType:
    """Return a copy of a function that calls the functions in `replaced`, found by name."""
    held = inspect.getclosurevars(function).nonlocals
    cells = tuple(CellType(replaced.get(name, held[name])) for name in function.__code__.co_freevars)
    return FunctionType(function.__code__, {**function.__globals__, **replaced}, function.__name__, closure=cells)


def stop_interpreting() -> None:
    """Compile every kernel at its first call from now on."""
    global _left  # noqa: PLW0603
    _left = 0.0


def attempt(kernel: Any, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Interpret a call; return whether it ended in time, and its result.

    If the time runs out, or Python raises an arithmetic error where compiled code gives nan or infinity, the arrays are
    restored, and from then on every kernel is compiled at its first call.
    """
    global _left, _deadline, calls  # noqa: PLW0603
    if _left <= 0.0:
        return False, None
    start = time.perf_counter()
    saved = [(array, array.copy()) for array in _writable(arguments)]
    _deadline = start + _left
    try:
        with np.errstate(all="ignore"):
            answer = _interpreted(kernel)(*arguments)
        calls += 1
        return True, answer
    except (_TimeoutError, ArithmeticError, ValueError):
        # `math.sqrt` and its like raise ValueError.
        for array, before in saved:
            array[...] = before
        _left = 0.0
        return False, None
    finally:
        _left -= time.perf_counter() - start


def _interpreted(kernel: Any) -> Callable[..., Any]:
    """Return a kernel as Python code, whose callees are Python code too; each call checks the deadline."""
    if kernel in _copies:
        return _copies[kernel]

    def call(*arguments: Any) -> Any:
        if time.perf_counter() > _deadline:
            raise _TimeoutError
        return function(*arguments)

    # Stored before its callees are copied, for kernels that call themselves.
    _copies[kernel] = call
    function = getattr(kernel, SUBSTITUTE, None) or with_callees(
        kernel.py_func, {name: _interpreted(callee) for name, callee in callees(kernel.py_func).items()}
    )
    return call


def _writable(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the arrays among arguments that a kernel may write to, those inside tuples included."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _writable(argument)
        elif isinstance(argument, np.ndarray) and argument.flags.writeable:
            yield argument
