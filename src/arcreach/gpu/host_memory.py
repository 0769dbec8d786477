"""A pool of page-locked host memory, which the GPU copies to and from by DMA.

Locking pages takes longer than solving the targets that fill them, so a block is reused once the last array in it has
been garbage-collected.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach.gpu.driver import is_simulated, load

# Limit of the memory locked by all blocks: this share of the physical memory, or if its size is unknown these bytes.
# Arrays beyond the limit are pageable, and their copies take seven times as long.
LOCKED_SHARE = 0.25
LOCKED_BYTES = 4 << 30
# Block sizes are multiples of a huge page, because huge pages are faulted in and locked ten times faster.
BLOCK = 2 << 20
PAGE = 4096
# Smallest number of bytes per thread when pages are faulted in.
TOUCHED = 4 << 20


@dataclass(eq=False)
class _Block:
    memory: npt.NDArray[np.uint8]
    pin: Any  # unlocks the pages when it is deleted


class _Lease:
    """Owner of the arrays in a block; the block is free again once its owner has been garbage-collected."""

    def __init__(self, block: _Block) -> None:
        self.__array_interface__ = block.memory.__array_interface__
        # `append` is atomic. A lock could deadlock, since garbage collection may run while this thread holds it.
        weakref.finalize(self, _free.append, block).atexit = False


_free: list[_Block] = []
_lock = threading.Lock()
_locked_bytes = 0


def locked_array(shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Return an uninitialised array in page-locked memory; in pageable memory if it is small or above the limit."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    # Small arrays copy fast anyway, and a caller may keep thousands; the simulator copies nothing.
    if size < BLOCK or is_simulated(load()):
        return np.empty(shape, dtype)
    with _lock:
        block = _take_free_block(size) or _new_block(-(-size // BLOCK) * BLOCK)
    if block is None:
        return np.empty(shape, dtype)
    array: npt.NDArray[Any] = np.asarray(_Lease(block))[:size].view(dtype).reshape(shape)
    return array


def release_free_blocks() -> None:
    """Release all free blocks."""
    global _locked_bytes  # noqa: PLW0603
    with _lock:
        while _free:
            _locked_bytes -= _free.pop().memory.nbytes


def _take_free_block(size: int) -> _Block | None:
    """Remove a block of `size` to twice `size` bytes from the free ones and return it; None if there is none."""
    fitting = [block for block in tuple(_free) if size <= block.memory.nbytes <= 2 * size]
    if not fitting:
        return None
    least = min(fitting, key=lambda block: block.memory.nbytes)
    _free.remove(least)
    return least


def _new_block(size: int) -> _Block | None:
    """Return a new locked block, or None if it cannot be locked; release free blocks to stay below the limit."""
    global _locked_bytes  # noqa: PLW0603
    most = most_locked()
    while _free and _locked_bytes + size > most:
        _locked_bytes -= _free.pop(0).memory.nbytes
    if _locked_bytes + size > most:
        return None
    # Page-aligned, so that no page belongs to two blocks.
    memory = np.empty(size + PAGE, np.uint8)
    skipped = -memory.ctypes.data % PAGE
    memory = memory[skipped : skipped + size]
    # Fault the pages in with all threads; the driver would do it with one.
    spread(_touch, size, memory, smallest=TOUCHED)
    # The driver refuses with errors of several types, for instance above RLIMIT_MEMLOCK; the array is then pageable.
    with contextlib.suppress(Exception):
        pin = load().current_context().mempin(memory, memory.ctypes.data, size, mapped=False)
        _locked_bytes += size
        return _Block(memory, pin)
    return None


@functools.cache
def most_locked() -> int:
    """Return the bytes that may be locked."""
    try:
        return int(LOCKED_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return LOCKED_BYTES


def _touch(start: int, stop: int, memory: npt.NDArray[np.uint8]) -> None:
    memory[start:stop:PAGE] = 0
