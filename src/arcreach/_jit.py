"""Compile kernels: the only module that imports numba.

A compiled kernel is kept on disk. numba notices an edit in the file of a cached function but not in the files of the
functions it calls, so the cache directory carries a hash of every kernel source: any edit opens a new, empty one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

KERNEL_FOLDER = Path(__file__).parent / "kernels"
_COMPILING = "numba:compile"


def kernel_hash() -> str:
    """Hash of all kernel sources, of this module and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in (Path(__file__), *sorted(KERNEL_FOLDER.rglob("*.py"))):
        digest.update(source.relative_to(KERNEL_FOLDER.parent).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path | None:
    """Where compiled kernels of all versions lie: the user's choice, numba's, or the platform's cache folder.

    None where that needs a home directory and the user has none.
    """
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


def _is_private(folder: Path) -> bool:
    """Whether a folder is this user's own and no other can write into it: what lies there is run as code."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _open_cache() -> Path:
    """Create the cache directory of these sources; without a writable home it lies among temporary files.

    Everyone may write there, so another user may have made the folder before: it is then not used.
    """
    home = _cache_home()
    shared = Path(tempfile.gettempdir()) / f"arcreach-{os.getuid() if hasattr(os, 'getuid') else ''}"
    for parent in (home, shared):
        if parent is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            parent.mkdir(mode=0o777 if parent is home else 0o700, parents=True, exist_ok=True)
            if parent is shared and not _is_private(parent):
                continue
            folder = parent / kernel_hash()
            folder.mkdir(exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return Path(tempfile.mkdtemp(prefix="arcreach-"))


CACHE_DIRECTORY = _open_cache()


_configuring = threading.RLock()


@contextlib.contextmanager
def own_cache_directory() -> Iterator[None]:
    """Point numba at our cache while a function is decorated, so that other code in the process keeps its own."""
    config: Any = numba.config
    with _configuring:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(CACHE_DIRECTORY)
        try:
            yield
        finally:
            config.CACHE_DIR = before


def kernel(function: Function) -> Function:
    """Compile a function of plain floats and arrays that allocates nothing and raises nothing.

    Arithmetic is strict IEEE: no contraction, no reordering. A kernel then gives the same bits whether it is called
    singly or inlined in a batch. Division by zero gives inf or nan as in NumPy.
    """
    with own_cache_directory():
        return cast(Function, numba.njit(cache=True, error_model="numpy")(function))


# Multiply-adds may be fused and sums reordered; NaN and infinity keep their meaning.
_FAST = {"contract", "reassoc", "nsz", "arcp"}


def fast_kernel(function: Function) -> Function:
    """Compile the inner step of a solver, whose answer is judged by strict kernels, so that its rounding is free.

    It is inlined where it is called: a step passes dozens of numbers in registers.
    """
    with own_cache_directory():
        return cast(Function, numba.njit(cache=True, error_model="numpy", fastmath=_FAST, forceinline=True)(function))


def fast_loop(function: Function) -> Function:
    """Compile a solver's loop over fast kernels; it is called, not inlined, so that it is compiled once."""
    with own_cache_directory():
        return cast(Function, numba.njit(cache=True, error_model="numpy", fastmath=_FAST)(function))


def fast_batch_kernel(function: Function) -> Function:
    """Compile a solver's loop over rows `start` to `stop`; single solves are batches of one, so both agree."""
    with own_cache_directory():
        return cast(Function, numba.njit(cache=True, error_model="numpy", fastmath=_FAST, nogil=True)(function))


def batch_kernel(function: Function) -> Function:
    """Compile a kernel that serves rows `start` to `stop` of a batch and lets other threads run meanwhile."""
    with own_cache_directory():
        return cast(Function, numba.njit(cache=True, error_model="numpy", nogil=True)(function))


def settled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel for arguments whose types never change: from the second call on numba does not look for a version.

    That search takes longer than a short kernel. Arrays of another type or layout must never be passed to it.
    """
    if not hasattr(function, "get_overload"):
        return function
    compiled: Any = function
    entry: Callable[..., Any] | None = None

    def call(*arguments: Any) -> Any:
        nonlocal entry
        if entry is None:
            answer = compiled(*arguments)
            entry = compiled.get_overload(tuple(compiled.typeof_pyval(argument) for argument in arguments))
            return answer
        return entry(*arguments)

    return call


# The clock of the C library, called by name so that kernels that use it can be cached.
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
    """The clock that kernels can call. Windows lacks the call: there no time passes, and time limits do not bind."""
    if getattr(numba.config, "DISABLE_JIT", 0):
        return _read_python_clock
    return kernel(_stopped_clock) if sys.platform == "win32" else kernel(_read_clock)


# Seconds of a clock that only goes forward; `buffer` is scratch, two int64.
clock = _choose_clock()


def compile_source(source: str, name: str, interpreted: bool = False) -> Callable[..., Any]:
    """Compile one batch kernel from source text that this library generated; kept in memory only.

    `interpreted` gives the plain Python function, for a first try that is not worth a compilation.
    """
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), namespace)  # noqa: S102
    function: Callable[..., Any] = namespace[name]
    return function if interpreted else numba.njit(error_model="numpy", nogil=True)(function)


@contextlib.contextmanager
def on_compile(started: Callable[[], None]) -> Iterator[None]:
    """Call `started` each time numba begins to compile something inside the block; loading from the cache is silent."""

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            started()

        def on_end(self, event: Any) -> None:
            pass

    listener = Listener()
    event.register(_COMPILING, listener)
    try:
        yield
    finally:
        event.unregister(_COMPILING, listener)


def tell_compiling() -> None:
    """Tell `on_compile` of a compilation that numba does not tell of: that of a kernel for a GPU."""
    with event.trigger_event(_COMPILING):
        pass
