"""A pool of page-locked host memory, which the GPU copies to and from by DMA.

Locking pages takes longer than solving the targets that fill them, so blocks are reused once the last array that lies
in them has been garbage-collected.
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

# Most memory that all blocks together may lock: a share of the physical memory, or bytes if its size is unknown.
# Above it arrays are pageable, and copies take seven times as long.
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
    lock: Any  # unlocks the pages when it is deleted


class _Lease:
    """Owner of the arrays in a block; the block is free again once its owner has been garbage-collected."""

    def __init__(self, block: _Block) -> None:
        self.__array_interface__ = block.memory.__array_interface__
        # `append` is atomic. A lock could deadlock, since garbage collection may run while this thread holds it.
        weakref.finalize(self, _free.append, block).atexit = False


_free: list[_Block] = []
_lock = threading.Lock()
_locked = 0


def locked_array(shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Return an uninitialised array in page-locked memory; in pageable memory if it is small or above the limit."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    # Small arrays copy fast anyway, and a caller may keep thousands; the simulator copies nothing.
    if size < BLOCK or is_simulated(load()):
        return np.empty(shape, dtype)
    with _lock:
        block = _kept_block(size) or _new_block(-(-size // BLOCK) * BLOCK)
    if block is None:
        return np.empty(shape, dtype)
    array: npt.NDArray[Any] = np.asarray(_Lease(block))[:size].view(dtype).reshape(shape)
    return array


def forget_memory() -> None:
    """Release all free blocks."""
    global _locked  # noqa: PLW0603
    with _lock:
        while _free:
            _locked -= _free.pop().memory.nbytes


def _kept_block(size: int) -> _Block | None:
    """Return a free block of at least `size` bytes and at most twice as many, or None."""
    fitting = [block for block in tuple(_free) if size <= block.memory.nbytes <= 2 * size]
    if not fitting:
        return None
    least = min(fitting, key=lambda block: block.memory.nbytes)
    _free.remove(least)
    return least


def _new_block(size: int) -> _Block | None:
    """Return a new locked block, or None if it cannot be locked; release free blocks to stay below the limit."""
    global _locked  # noqa: PLW0603
    most = most_locked()
    while _free and _locked + size > most:
        _locked -= _free.pop(0).memory.nbytes
    if _locked + size > most:
        return None
    # Page-aligned, so that no page belongs to two blocks.
    memory = np.empty(size + PAGE, np.uint8)
    skipped = -memory.ctypes.data % PAGE
    memory = memory[skipped : skipped + size]
    # Fault the pages in with all threads; the driver would do it with one.
    spread(_touch, size, memory, smallest=TOUCHED)
    with contextlib.suppress(Exception):
        lock = load().current_context().mempin(memory, memory.ctypes.data, size, mapped=False)
        _locked += size
        return _Block(memory, lock)
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
