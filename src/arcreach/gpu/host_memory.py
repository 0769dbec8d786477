"""Page-locked memory of the host, from and to which a GPU copies by itself, kept for the next batch.

To get such memory takes longer than to solve what fills it: it is handed out again when the last array in it is gone.
"""

from __future__ import annotations

import contextlib
import math
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach.gpu.driver import is_simulated, load

# Bytes that are locked at most, in use or kept. The rest is plain memory, to which copies take seven times as long.
MOST_LOCKED = 4 << 30
# Blocks are whole large pages: those are touched and locked in a tenth of the time.
BLOCK = 2 << 20
PAGE = 4096
# Bytes that a thread touches at a time.
TOUCHED = 4 << 20


@dataclass(eq=False)
class _Block:
    memory: npt.NDArray[np.uint8]
    lock: Any  # holds it in place; None where it is plain memory


class _Lease:
    """What an array in a block holds on to: when it is gone the block is free."""

    def __init__(self, block: _Block) -> None:
        self.__array_interface__ = block.memory.__array_interface__
        # The list takes it without a lock: this may happen whenever Python collects garbage.
        weakref.finalize(self, _free.append, block).atexit = False


_free: list[_Block] = []
_lock = threading.Lock()
_locked = 0


def locked_array(shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """An array with any contents, in page-locked memory as far as that may go."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    # A small array is copied in no time, and many of them may be kept; in the simulator nothing is copied.
    if size < BLOCK or is_simulated(load()):
        return np.empty(shape, dtype)
    with _lock:
        block = _kept_block(size) or _new_block(-(-size // BLOCK) * BLOCK)
    if block is None:
        return np.empty(shape, dtype)
    array: npt.NDArray[Any] = np.asarray(_Lease(block))[:size].view(dtype).reshape(shape)
    return array


def forget_memory() -> None:
    """Give back what no array lies in."""
    global _locked  # noqa: PLW0603
    with _lock:
        while _free:
            _locked -= _free.pop().memory.nbytes


def _kept_block(size: int) -> _Block | None:
    """A free block that is not much too large."""
    fitting = [block for block in tuple(_free) if size <= block.memory.nbytes <= 2 * size]
    if not fitting:
        return None
    least = min(fitting, key=lambda block: block.memory.nbytes)
    _free.remove(least)
    return least


def _new_block(size: int) -> _Block | None:
    """A block of so many bytes; free ones make room for it. None where it would be too much."""
    global _locked  # noqa: PLW0603
    while _free and _locked + size > MOST_LOCKED:
        _locked -= _free.pop(0).memory.nbytes
    if _locked + size > MOST_LOCKED:
        return None
    # Pages of its own: a page is locked once.
    memory = np.empty(size + PAGE, np.uint8)
    skipped = -memory.ctypes.data % PAGE
    memory = memory[skipped : skipped + size]
    # Here by all threads; the driver would touch them one by one.
    spread(_touch, size, memory, smallest=TOUCHED)
    with contextlib.suppress(Exception):
        lock = load().current_context().mempin(memory, memory.ctypes.data, size, mapped=False)
        _locked += size
        return _Block(memory, lock)
    return None


def _touch(start: int, stop: int, memory: npt.NDArray[np.uint8]) -> None:
    memory[start:stop:PAGE] = 0
