"""Single calls of kernels from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arcreach import _interpreter
from arcreach._jit.announcements import INTERPRETING_LINE, announce


def settled(function: Callable[..., Any], interpretable: bool = True) -> Callable[..., Any]:
    """Return a function for single calls of a kernel, all with arguments of the same types and layouts.

    An `interpretable` kernel is interpreted until it is worth compiling; kernels with a time limit are not, because the
    limit is meant for compiled code. Calls of the compiled kernel skip numba's overload resolution, which takes longer
    than a short kernel.
    """
    if not hasattr(function, "get_overload"):
        return function
    compiled: Any = function
    entry: Callable[..., Any] | None = None

    def call(*arguments: Any) -> Any:
        nonlocal entry
        if entry is not None:
            return entry(*arguments)
        types = tuple(compiled.typeof_pyval(argument) for argument in arguments)
        if interpretable and types not in compiled.overloads and not compiled._cache.holds(types, compiled.targetctx):
            done, answer = _interpreter.attempt(compiled, arguments)
            if done:
                announce(INTERPRETING_LINE)
                return answer
        answer = compiled(*arguments)
        entry = compiled.get_overload(types)
        return answer

    return call
