"""Compile kernels: the only module that imports numba.

A compiled kernel is kept on disk, in a folder that only this user can write to. numba notices an edit in the file of a
cached function but not in the files of the functions it calls, so the cache directory carries a hash of every kernel
source: any edit opens a new, empty one.
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

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent
_COMPILING = "numba:compile"


def kernel_hash() -> str:
    """Hash of all kernel sources, of this module and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    kernels = (path for folder in ("elements", "kernels") for path in sorted((PACKAGE / folder).rglob("*.py")))
    for source in (Path(__file__), *kernels):
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
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


def _danger(folder: Path) -> str | None:
    """Why a folder must not be loaded from: its files run as code, so nobody but this user may have written them."""
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
    """Whether somebody else left something in a folder while it was open to others."""
    if not hasattr(os, "getuid"):
        return None
    for place, folders, files in os.walk(folder):
        if any(os.lstat(os.path.join(place, name)).st_uid not in {0, os.getuid()} for name in (*folders, *files)):
            return "holds files of another user"
    return None


def _open_cache() -> Path:
    """Create the cache directory of these sources; without a safe and writable home it lies among temporary files."""
    shared = Path(tempfile.gettempdir()) / f"arcreach-{os.getuid() if hasattr(os, 'getuid') else ''}"
    for parent in (_cache_home(), shared):
        if parent is None:
            continue
        with contextlib.suppress(OSError, ValueError):
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = parent / kernel_hash()
            # With a parent that others can write to, the folder may be theirs too: it is not even created.
            reason = _danger(parent)
            if reason is None:
                folder.mkdir(mode=0o700, exist_ok=True)
                reason = _danger(folder) or _planted(folder)
            if reason is not None:
                _warn_of(parent, reason)
            elif os.access(folder, os.W_OK):
                # Nobody else looks inside, whatever the modes of the files that numba writes.
                folder.chmod(0o700)
                return folder
    return Path(tempfile.mkdtemp(prefix="arcreach-"))


def _warn_of(folder: Path, reason: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(
            f"arcreach: compiled kernels are not kept in {folder}: it {reason}, and what lies there is run as code. "
            "Delete it, or set ARCREACH_CACHE_DIR to a folder that only you can write to.\n"
        )


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

    Arithmetic is strict IEEE, so that a kernel gives the same bits whether it is called singly or inlined in a batch;
    division by zero gives inf or nan as in NumPy. A `fast` kernel may fuse and reorder: the inner steps of a solver,
    whose answer is judged by strict kernels. An `inline` one is copied to where it is called, for steps that pass
    dozens of numbers in registers. A `batch` kernel serves rows `start` to `stop`, lets other threads run meanwhile and
    allocates its scratch; of the others only those that are marked `allocates` do, or return arrays.
    """
    if function is None:
        return functools.partial(_compiled, fast=fast, inline=inline, nogil=batch, counts_references=batch or allocates)
    return _compiled(function)


def _compiled(
    function: Function, fast: bool = False, inline: bool = False, nogil: bool = False, counts_references: bool = False
) -> Function:
    """Compile with all options explicit: numba passes options that are not set on from the first caller.

    A strict kernel that a fast one calls first would else be compiled, and kept on disk, with fast arithmetic. Nothing
    calls a kernel through C, so that wrapper is left out. Counting references to arrays takes a fifth of a solve.
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
    """A kernel f(kind, *arguments) that calls the one of that kind; the last one serves all other kinds.

    A chain of cases that is copied to where it is called, and kept on disk with its callers only: what numba keeps of a
    function that holds others is not found again.
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
    """numba's cache on disk, with a file for each signature, opened when a kernel is first called.

    numba numbers the files in an index per function. Two processes that compile at once take the same number, and one
    then loads the other's code. It also tries to write to the folder of every function, which takes longer at import
    than all else that is done for a kernel.
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

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        # A file that is missing, cut off or of no use costs time, not the answer.
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
    """What a kernel asks of another: integers and booleans, not this integer, so that one version serves all values.

    A variable that begins as 0 and is counted up in a loop has the type "literal 0" at first, and numba compiles all
    kernels it is passed to for that type, which none then calls.
    """
    template = compiled.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        unliteral = numba.types.unliteral
        answer = template(
            [unliteral(argument) for argument in arguments],
            {name: unliteral(argument) for name, argument in keywords.items()},
        )
        # numba refuses a view that is returned without counting references, but not a tuple that holds one.
        if not counts_references and any(_holds_array(signature.return_type) for signature in answer[0].cases):
            raise numba.errors.UnsupportedError(f"kernel {compiled.__name__} returns an array; mark it `allocates`")
        return answer

    return get_call_template


def _holds_array(kind: Any) -> bool:
    return isinstance(kind, numba.types.Array) or any(map(_holds_array, getattr(kind, "types", ())))


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


class _CompileListener(event.Listener):
    """Calls a function each time numba begins to compile something; loading from the cache is silent."""

    def __init__(self, started: Callable[[Any], None]) -> None:
        self.started = started

    def on_start(self, event: Any) -> None:
        self.started(event)

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def on_compile(started: Callable[[], None], announces: bool = False) -> Iterator[None]:
    """Call `started` each time numba begins to compile something inside the block; loading from the cache is silent.

    With `announces` the caller tells the user, and the line on stderr is left out.
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
# How many callers tell the user themselves, and whether the line was written in this process.
_announcers = 0
_announced = False


def _announce(event: Any) -> None:
    """Say on stderr, once in a process, that a kernel of this library is being compiled."""
    global _announced  # noqa: PLW0603
    quiet = os.environ.get("ARCREACH_QUIET", "0") not in {"", "0"}
    if _announced or _announcers or quiet or sys.stderr is None:
        return
    dispatcher = (event.data or {}).get("dispatcher")
    if dispatcher is None or dispatcher.__module__.startswith("arcreach."):
        _announced = True
        sys.stderr.write(COMPILING_LINE + "\n")
        sys.stderr.flush()


event.register(_COMPILING, _CompileListener(_announce))


def tell_compiling() -> None:
    """Tell `on_compile` of a compilation that numba does not tell of: that of a kernel for a GPU."""
    with event.trigger_event(_COMPILING):
        pass
