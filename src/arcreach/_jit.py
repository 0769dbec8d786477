"""Compile kernels; no other module but `gpu` imports numba.

Compiled kernels are cached on disk, in a folder that only this user can write to. numba notices an edit in the file of
a cached function but not in the files of the functions it calls. The name of the cache directory is therefore a hash of
all kernel sources, and an edit starts an empty cache.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import numba
from numba.core import caching, event

from arcreach import _interpreter

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent
_COMPILING = "numba:compile"


def kernel_hash() -> str:
    """Return a hash of all kernel sources, this module and numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    kernels = (path for folder in ("elements", "kernels") for path in sorted((PACKAGE / folder).rglob("*.py")))
    for source in (Path(__file__), *kernels):
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path | None:
    """Return the folder of all caches: ARCREACH_CACHE_DIR, NUMBA_CACHE_DIR or the platform's; None without a home."""
    try:
        for variable, folder in (("ARCREACH_CACHE_DIR", ""), ("NUMBA_CACHE_DIR", "arcreach")):
            if chosen := os.environ.get(variable):
                return Path(chosen).expanduser() / folder
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "arcreach"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "arcreach"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arcreach"
    except RuntimeError:
        return None


def _danger(folder: Path) -> str | None:
    """Return why a folder must not be loaded from, or None: its files are run, so only this user may write to it."""
    if not hasattr(os, "getuid"):
        return None
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid not in {0, os.getuid()}:
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by others"
    return None


def _planted(folder: Path) -> str | None:
    """Return a reason if a folder holds files of another user."""
    if not hasattr(os, "getuid"):
        return None
    for place, folders, files in os.walk(folder):
        if any(os.lstat(os.path.join(place, name)).st_uid not in {0, os.getuid()} for name in (*folders, *files)):
            return "holds files of another user"
    return None


def _open_cache() -> Path:
    """Create the cache directory of these sources, a temporary one if no folder is safe and writable."""
    shared = Path(tempfile.gettempdir()) / f"arcreach-{os.getuid() if hasattr(os, 'getuid') else ''}"
    for parent in (_cache_home(), shared):
        if parent is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = parent / kernel_hash()
            # If others can write to the parent, the folder could be theirs too.
            reason = _danger(parent)
            if reason is None:
                folder.mkdir(mode=0o700, exist_ok=True)
                reason = _danger(folder) or _planted(folder)
            if reason is not None:
                _warn_of(parent, reason)
            elif os.access(folder, os.W_OK):
                # Private, whatever the modes of the files that numba writes.
                folder.chmod(0o700)
                return folder
    return Path(tempfile.mkdtemp(prefix="arcreach-"))


def _warn_of(folder: Path, reason: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(
            f"arcreach: compiled kernels are not kept in {folder}: it {reason}, and its files are run as code. "
            "Delete it, or set ARCREACH_CACHE_DIR to a folder that only you can write to.\n"
        )


CACHE_DIRECTORY = _open_cache()


_configuring = threading.RLock()


@contextlib.contextmanager
def own_cache_directory() -> Iterator[None]:
    """Set numba's cache directory inside the block; other code in the process keeps its own."""
    config: Any = numba.config
    with _configuring:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(CACHE_DIRECTORY)
        try:
            yield
        finally:
            config.CACHE_DIR = before


# Multiply-adds may be fused and sums reordered; NaN and infinity keep their meaning.
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
    """Compile a function of plain floats, arrays and named tuples of them that raises nothing.

    Arithmetic is strict IEEE, so that single calls and batches give the same bits; division by zero gives inf or nan as
    in NumPy. `fast` allows fused and reordered operations, for the inner steps of a solver, whose result strict kernels
    check. `inline` copies the kernel into its callers, for steps that pass dozens of numbers in registers. A `batch`
    kernel processes rows `start` to `stop`, releases the GIL and may allocate scratch; other kernels may allocate or
    return arrays only if marked `allocates`.
    """
    if function is None:
        return functools.partial(_compiled, fast=fast, inline=inline, nogil=batch, counts_references=batch or allocates)
    return _compiled(function)


def _compiled(
    function: Function, fast: bool = False, inline: bool = False, nogil: bool = False, counts_references: bool = False
) -> Function:
    """Compile with all options set, because numba inherits options that are not set from the first caller.

    Otherwise a strict kernel that a fast one calls first would be compiled, and cached, with fast arithmetic. The
    wrapper for C is omitted because nothing calls kernels through C. Reference counts take a fifth of a solve.
    """
    njit: Any = numba.njit
    compiled = njit(
        error_model="numpy",
        fastmath=_FAST if fast else False,
        forceinline=inline,
        nogil=nogil,
        no_cfunc_wrapper=True,
        _nrt=counts_references,
    )(function)
    if hasattr(compiled, "enable_caching"):
        compiled._cache = _OneFileEach(function)
        compiled.get_call_template = _call_template(compiled, counts_references)
    return cast(Function, compiled)


def by_kind(cases: Sequence[tuple[int, Callable[..., Any]]]) -> Callable[..., Any]:
    """Return a kernel f(kind, *arguments) that dispatches by kind; the last case is the default.

    The cases are inlined into their callers and cached with them: numba cannot cache a closure over other kernels.
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
    njit: Any = numba.njit
    compiled = njit(error_model="numpy", fastmath=False, forceinline=True, no_cfunc_wrapper=True, _nrt=False)(function)
    return cast(Callable[..., Any], compiled)


class _OneFileEach(caching.FunctionCache):
    """numba's disk cache with one file per signature, opened at a kernel's first call.

    numba's index numbers the files of a function, and two processes that compile at once can take the same number and
    load each other's code. numba also writes a trial file per function at import, which would dominate import time.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function

    @functools.cached_property
    def _opened(self) -> Any:
        with own_cache_directory():
            return caching.FunctionCache(self._py_func)

    def _file(self, signature: Any, codegen: Any) -> str:
        which = repr(self._index_key(signature, codegen))
        return f"{self._opened._impl.filename_base}.{hashlib.sha256(which.encode()).hexdigest()[:32]}.nbc"

    def holds(self, signature: Any, target_context: Any) -> bool:
        """Return whether a compiled version is on disk."""
        return os.path.exists(os.path.join(self._opened.cache_path, self._file(signature, target_context.codegen())))

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        # An unreadable file only costs a compilation.
        with contextlib.suppress(Exception):
            data = self._opened._cache_file._load_data(self._file(signature, target_context.codegen()))
            return self._opened._impl.rebuild(target_context, data)
        return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        cache = self._opened
        if cache._impl.check_cachable(data):
            cache._impl.locator.ensure_cache_path()
            cache._cache_file._save_data(self._file(signature, data.codegen), cache._impl.reduce(data))


def _call_template(compiled: Any, counts_references: bool) -> Callable[[Any, Any], Any]:
    """Return `get_call_template` with literal types removed, so that one version of a kernel serves all values.

    A loop counter has the type "literal 0" at first, and numba would compile every kernel it is passed to for that
    type, a version that is never called.
    """
    template = compiled.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        unliteral = numba.types.unliteral
        answer = template(
            [unliteral(argument) for argument in arguments],
            {name: unliteral(argument) for name, argument in keywords.items()},
        )
        # Without reference counts numba rejects a kernel that returns an array, but not a tuple that holds one.
        if not counts_references and any(_holds_array(signature.return_type) for signature in answer[0].cases):
            raise numba.errors.UnsupportedError(f"kernel {compiled.__name__} returns an array; mark it `allocates`")
        return answer

    return get_call_template


def _holds_array(kind: Any) -> bool:
    return isinstance(kind, numba.types.Array) or any(map(_holds_array, getattr(kind, "types", ())))


def settled(function: Callable[..., Any], interpretable: bool = True) -> Callable[..., Any]:
    """Return a kernel for single calls, all with arguments of the same types and layouts.

    Until the kernel is worth compiling it is interpreted; one with a time limit is not `interpretable`, because the
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
                _announce(INTERPRETING_LINE)
                return answer
        answer = compiled(*arguments)
        entry = compiled.get_overload(types)
        return answer

    return call


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


def compile_source(source: str, name: str, interpreted: bool = False) -> Callable[..., Any]:
    """Compile one batch kernel from generated source, without caching; `interpreted` returns the Python function."""
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), namespace)  # noqa: S102
    function: Callable[..., Any] = namespace[name]
    return function if interpreted else numba.njit(error_model="numpy", nogil=True)(function)


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
    "arcreach: compiling kernels, once per installation and up to a minute; `arcreach warm-up` does all of it ahead of "
    "time, ARCREACH_QUIET=1 hides this line"
)
INTERPRETING_LINE = (
    "arcreach: kernels are not compiled yet, so first calls run a thousand times slower, in the Python interpreter; "
    "`arcreach warm-up` compiles all kernels, ARCREACH_QUIET=1 hides this line"
)
# Number of active `announces` blocks, and the lines printed in this process.
_announcers = 0
_announced: set[str] = set()


def _announce(line: str) -> None:
    """Print a line once per process."""
    if line not in _announced and sys.stderr is not None and os.environ.get("ARCREACH_QUIET", "0") in {"", "0"}:
        _announced.add(line)
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def _announce_compiling(event: Any) -> None:
    """Print COMPILING_LINE when a kernel of this library is compiled and no caller announces it."""
    dispatcher = (event.data or {}).get("dispatcher")
    if not _announcers and (dispatcher is None or (dispatcher.__module__ or "").startswith("arcreach.")):
        _announce(COMPILING_LINE)


event.register(_COMPILING, _CompileListener(_announce_compiling))


def tell_compiling() -> None:
    """Report the compilation of a GPU kernel to `on_compile`; numba has no event for it."""
    with event.trigger_event(_COMPILING):
        pass
