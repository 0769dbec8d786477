"""Remember how numba resolves the calls of operators and built-in functions while kernels are compiled.

For each use of an operator numba tries all its overloads again, which takes a sixth of the compile time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core import targetconfig
from numba.core.types.functions import BaseFunction

_function_type: Any = BaseFunction
_resolve = BaseFunction.get_call_type
# Signatures by function, argument types and compiler options. Entries keep the objects alive whose ids are in the keys.
_signatures: dict[tuple[Any, ...], tuple[Any, ...]] = {}
_options: dict[int, tuple[Any, Any]] = {}


@contextlib.contextmanager
def remembered() -> Iterator[None]:
    """Resolve each combination of argument types once inside the block; call it under numba's compiler lock."""
    if _function_type.get_call_type is not _resolve:
        yield
        return
    _function_type.get_call_type = _get_call_type
    try:
        yield
    finally:
        _function_type.get_call_type = _resolve
        _signatures.clear()
        _options.clear()


def _get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    key = id(self), id(context), tuple(args), tuple(kws.items()), _options_of(targetconfig.ConfigStack.top_or_none())
    if key not in _signatures:
        _signatures[key] = _resolve(self, context, args, kws), self, context
    return _signatures[key][0]


def _options_of(flags: Any) -> Any:
    """Return the options of a compilation as a key; numba's own hash of them is slow."""
    if id(flags) not in _options:
        _options[id(flags)] = flags and tuple(sorted((k, repr(v)) for k, v in flags._values.items())), flags
    return _options[id(flags)][0]
