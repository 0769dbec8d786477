"""Keep compiled kernels on disk beside those of the CPU, in the directory of these very sources.

numba-cuda keeps kernels too, but one that is made inside a function it knows again only in the process that made it.
Here the maker says what went into it: sizes, and the robot where it is for one alone.
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

# What is written here shapes the kernels. Read now: an edit under a running process is not what it runs.
_SOURCES = b"".join(source.read_bytes() for source in sorted(Path(__file__).parent.glob("*.py")))


def keep(kernels: Iterable[Any], *made_of: object) -> None:
    """Load the kernels from disk when they are called, or compile them and leave them there.

    `made_of` is all that tells them from others of the same name: bytes, or what `repr` shows in full.
    """
    if is_simulated(load()):
        return
    # The directory is named by the sources of all kernels.
    digest = hashlib.sha256(CACHE_DIRECTORY.name.encode() + _SOURCES)
    for part in made_of:
        data = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    # Another version of numba-cuda may keep them otherwise: they are then compiled by every process, as without this.
    with contextlib.suppress(Exception), own_cache_directory():
        for kernel in kernels:
            options = sorted(kernel.targetoptions.items())
            kernel._cache = _shelf()(kernel.py_func, f"{digest.hexdigest()} {options}")


@functools.cache
def _shelf() -> Any:
    """The class of numba-cuda that keeps a kernel, with a file for each.

    Its own has an index of all kernels of a name, which two processes that compile at once for two robots spoil.
    """
    import numba_cuda
    from numba.cuda.dispatcher import CUDACache

    class Shelf(CUDACache):
        def __init__(self, py_func: Any, made_of: str) -> None:
            super().__init__(py_func)
            self.made_of = made_of

        def file_of(self, sig: Any, codegen: Any) -> str:
            which = repr((self.made_of, str(sig), codegen.magic_tuple(), numba_cuda.__version__))
            return f"{self._impl.filename_base}.{hashlib.sha256(which.encode()).hexdigest()[:32]}.nbc"

        # A file that cannot be read or written costs time, not the answer.
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
            # Here, where numba's lock is held: threads that launch the kernel would all do it, at once.
            kernel.bind()
            return kernel

        def _save_overload(self, sig: Any, data: Any) -> None:
            self._impl.locator.ensure_cache_path()
            self._cache_file._save_data(self.file_of(sig, data.codegen), self._impl.reduce(data))

    return Shelf
