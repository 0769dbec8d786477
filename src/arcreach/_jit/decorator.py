"""`kernel`, the decorator of compiled functions; `by_kind` and `compile_source` generate further ones."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, overload

import numba

from arcreach._jit.dispatcher import KernelDispatcher

Function = TypeVar("Function", bound=Callable[..., Any])

# Fuse multiply-adds, reorder sums, divide by multiplying with the reciprocal, ignore the sign of zero; NaN and
# infinity keep their meaning.
_FAST = {"contract", "reassoc", "nsz", "arcp"}


@overload
def kernel(function: Function, /) -> Function: ...


@overload
def kernel(
    *, fast: bool = False, inline: bool = False, batch: bool = False, allocates: bool = False
) -> Callable[[Function], Function]: ...


def kernel(
    function: Function | None = None,
    /,
    *,
    fast: bool = False,
    inline: bool = False,
    batch: bool = False,
    allocates: bool = False,
) -> Function | Callable[[Function], Function]:
    """Compile a function of numbers, arrays, records, None and tuples of them, which raises no exceptions.

    Arithmetic is strict IEEE, so that single calls and batches give the same bits; division by zero gives inf or nan as
    in NumPy. `fast` allows fused and reordered operations, for the inner steps of a solver, whose result strict kernels
    check. `inline` copies the kernel into its callers, for steps that pass dozens of numbers in registers. A `batch`
    kernel releases the GIL and may allocate scratch; most process rows `start` to `stop`. Other kernels may allocate or
    return arrays only if marked `allocates`.
    """
    if function is None:
        return functools.partial(_compiled, fast=fast, inline=inline, nogil=batch, counts_references=batch or allocates)
    return _compiled(function)


def _compiled(
    function: Function,
    fast: bool = False,
    inline: bool = False,
    nogil: bool = False,
    counts_references: bool = False,
    cached: bool = True,
) -> Function:
    """Compile a function with every numba option set explicitly.

    Numba gives an unset option the value it has in the first caller: a strict kernel that a fast one calls first would
    be compiled and cached with fast arithmetic. The C wrapper is omitted because nothing calls kernels from C.
    Reference counting takes a fifth of a solve, so it is optional.
    """
    config: Any = numba.config
    if config.DISABLE_JIT:
        return function
    options = {
        "error_model": "numpy",
        "fastmath": _FAST if fast else False,
        "forceinline": inline,
        "nogil": nogil,
        "no_cfunc_wrapper": True,
    }
    return cast(Function, KernelDispatcher(function, options, counts_references, cached))


def by_kind(cases: Sequence[tuple[int, Callable[..., Any]]]) -> Callable[..., Any]:
    """Return a kernel f(kind, *arguments) that dispatches by kind; the last case serves all other kinds.

    The generated functions are inlined into their callers and cached with those, because numba cannot cache a closure
    over other kernels.
    """
    _, otherwise = cases[-1]

    def last(kind: int, *arguments: Any) -> Any:
        return otherwise(*arguments)

    found = _inlined(last)
    for code, function in reversed(cases[:-1]):
        found = _case(code, function, found)
    return found


def _case(code: int, function: Callable[..., Any], rest: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(kind: int, *arguments: Any) -> Any:
        if kind == code:
            return function(*arguments)
        return rest(kind, *arguments)

    return _inlined(chosen)


def _inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    return _compiled(function, inline=True, cached=False)


def compile_source(source: str, name: str, interpreted: bool = False) -> Callable[..., Any]:
    """Compile one batch kernel from generated source, uncached; if `interpreted`, return it as a Python function."""
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), namespace)  # noqa: S102
    function: Callable[..., Any] = namespace[name]
    return function if interpreted else numba.njit(error_model="numpy", nogil=True)(function)
