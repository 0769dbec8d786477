"""Cache compiled GPU kernels on disk, in the directory of the CPU kernels' cache.

numba-cuda's own cache does not recognise closures in another process. Here the builder names the cache key: sizes, and
the robot for kernels that are compiled for it alone.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from arcreach._jit import CACHE_DIRECTORY, own_cache_directory, tell_compiling
from arcreach.gpu.driver import is_simulated, load

# Part of the cache key. Read at import: later edits do not affect this process.
_SOURCES = b"".join(source.read_bytes() for source in sorted(Path(__file__).parent.glob("*.py")))


def attach_cache(kernels: Iterable[Any], *key: object) -> None:
    """Attach the disk cache to kernels: a kernel's first call loads it from disk, or compiles and stores it.

    `key` is every compile-time parameter, as bytes or with a complete `repr`.
    """
    if is_simulated(load()):
        return
    # The directory's name is a hash of all CPU kernel sources.
    digest = hashlib.sha256(CACHE_DIRECTORY.name.encode() + _SOURCES)
    for part in key:
        data = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    # If numba-cuda's cache classes have changed, nothing is cached and every process compiles its kernels.
    with contextlib.suppress(Exception), own_cache_directory():
        for kernel in kernels:
            options = sorted(kernel.targetoptions.items())
            kernel._cache = _shelf()(kernel.py_func, f"{digest.hexdigest()} {options}")


@functools.cache
def _shelf() -> Any:
    """Return numba-cuda's cache class with one file per kernel.

    The original keeps an index per function, which concurrent processes corrupt.
    """
    import numba_cuda
    from numba.cuda.dispatcher import CUDACache

    class Shelf(CUDACache):
        def __init__(self, py_func: Any, key: str) -> None:
            super().__init__(py_func)
            self.key = key

        def file_of(self, sig: Any, codegen: Any) -> str:
            which = repr((self.key, str(sig), codegen.magic_tuple(), numba_cuda.__version__))
            return f"{self._impl.filename_base}.{hashlib.sha256(which.encode()).hexdigest()[:32]}.nbc"

        # A cache file that cannot be read or written costs a compilation, and raises nothing.
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            with contextlib.suppress(Exception):
                return super().load_overload(sig, target_context)
            tell_compiling()
            return None

        def save_overload(self, sig: Any, data: Any) -> None:
            with contextlib.suppress(Exception):
                super().save_overload(sig, data)

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            data = self._cache_file._load_data(self.file_of(sig, target_context.codegen()))
            kernel = self._impl.rebuild(target_context, data)
            # Under numba's lock: otherwise concurrent launches bind the kernel at the same time.
            kernel.bind()
            return kernel

        def _save_overload(self, sig: Any, data: Any) -> None:
            self._impl.locator.ensure_cache_path()
            self._cache_file._save_data(self.file_of(sig, data.codegen), self._impl.reduce(data))

    return Shelf
