"""Compile kernels: the only module that imports numba.

A compiled kernel is kept on disk. numba notices an edit in the file of a cached function but not in the files of the
functions it calls, so the cache directory carries a hash of every kernel source: any edit opens a new, empty one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

KERNEL_FOLDER = Path(__file__).parent / "kernels"


def kernel_hash() -> str:
    """Hash of all kernel sources, of this module and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in (Path(__file__), *sorted(KERNEL_FOLDER.rglob("*.py"))):
        digest.update(source.relative_to(KERNEL_FOLDER.parent).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path:
    """Where compiled kernels of all versions lie: the user's choice, numba's, or the platform's cache folder."""
    for variable, folder in (("ARCREACH_CACHE_DIR", ""), ("NUMBA_CACHE_DIR", "arcreach")):
        if chosen := os.environ.get(variable):
            return Path(chosen).expanduser() / folder
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "arcreach"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "arcreach"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arcreach"


def _open_cache() -> Path:
    """Create the cache directory of these sources; without a writable home it lives as long as the process's tmp."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    for home in (_cache_home(), Path(tempfile.gettempdir()) / f"arcreach-{user}"):
        folder = home / kernel_hash()
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return Path(tempfile.mkdtemp(prefix="arcreach-"))


CACHE_DIRECTORY = _open_cache()


@contextlib.contextmanager
def _own_cache_directory() -> Iterator[None]:
    """Point numba at our cache while a function is decorated, so that other code in the process keeps its own."""
    config: Any = numba.config
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
    with _own_cache_directory():
        return cast(Function, numba.njit(cache=True, error_model="numpy")(function))


def batch_kernel(function: Function) -> Function:
    """Compile a kernel that serves rows `start` to `stop` of a batch and lets other threads run meanwhile."""
    with _own_cache_directory():
        return cast(Function, numba.njit(cache=True, error_model="numpy", nogil=True)(function))


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
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
