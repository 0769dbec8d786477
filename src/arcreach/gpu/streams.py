"""Stream the rows of a batch through the GPU in pieces, so that copies overlap kernels.

A slot is a CUDA stream with the arrays of one piece: page-locked host arrays for its inputs, and device arrays. All CPU
threads copy the inputs of a piece into its slot; the GPU copies results straight into the caller's result arrays.
Several slots are in flight, and they bound the device memory, whatever the size of the batch.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach.errors import DeviceError
from arcreach.gpu.driver import copy_in, copy_out, first_line, free_memory, is_simulated, load
from arcreach.gpu.host_memory import locked_array, release_free_blocks

# Slots of a batch: one is filled, one copied to the device, one solved, one copied back.
SLOTS = 4
# Most bytes copied per piece. Small pieces start the first kernels early; large ones amortise Python's launch overhead.
LARGEST_PIECE = 1 << 28
# Fewest rows per slot that must fit into the free memory.
SMALLEST_PIECE = 1 << 10
# Fewest rows that a thread copies into a slot at once.
COPIED = 1 << 16
# Share of the free device memory that slots may take.
SHARE_OF_MEMORY = 0.5
# Layouts whose slots are kept for the next call: page-locked memory is slow to allocate.
KEPT = 4

Row = tuple[tuple[int, ...], Any]  # shape and dtype per row of the batch


@dataclass(frozen=True)
class Layout:
    """Arrays of a batch, per row: inputs, outputs, and scratch on the device."""

    inputs: tuple[Row, ...]
    outputs: tuple[Row, ...]
    scratch: tuple[Row, ...] = ()

    @property
    def copied_bytes(self) -> int:
        """Bytes copied per row, in both directions."""
        return _bytes_of(self.inputs + self.outputs)

    @property
    def row_bytes(self) -> int:
        """Bytes per row on the device."""
        return self.copied_bytes + _bytes_of(self.scratch)


def _bytes_of(rows: tuple[Row, ...]) -> int:
    return sum(np.dtype(dtype).itemsize * math.prod(shape) for shape, dtype in rows)


@dataclass
class Slot:
    """A stream with the arrays of one piece."""

    stream: Any
    host_inputs: list[Any]
    inputs: list[Any]
    outputs: list[Any]
    scratch: list[Any]
    small: dict[str, Any] = field(default_factory=dict)  # counters, added by `batch`


_kept: OrderedDict[tuple[Layout, int], list[Slot]] = OrderedDict()
_lock = threading.Lock()


def piece_rows(layout: Layout, rows: int, slots: int | None = None, largest: int | None = None) -> int:
    """Return the number of rows of a slot: a power of two, so that batches of many sizes share slots.

    The number is bounded by the free memory, by LARGEST_PIECE or `largest` rows, and by the size of the batch.
    """
    slots = slots or SLOTS
    needed = slots * max(layout.row_bytes, 1)
    room = _room(layout, needed)
    if room < SMALLEST_PIECE:
        # Release the slots kept for other layouts.
        forget_slots()
        room = _room(layout, needed)
    if room < SMALLEST_PIECE:
        raise DeviceError(
            f"the GPU has {free_memory() / 2**20:.0f} MiB free, {SMALLEST_PIECE} rows of this batch need "
            f"{needed * SMALLEST_PIECE / SHARE_OF_MEMORY / 2**20:.0f} MiB; free memory on it, or use device='cpu'"
        )
    wanted = 1 << (max(rows, 1) - 1).bit_length()
    largest = largest or max(LARGEST_PIECE // max(layout.copied_bytes, 1), 1)
    return min(1 << (min(room, largest).bit_length() - 1), wanted)


def _room(layout: Layout, needed: int) -> int:
    """Return the number of rows that fit into kept slots or into free memory."""
    with _lock:
        kept = max(
            (size for (known, size), slots in _kept.items() if known == layout and len(slots) == SLOTS), default=0
        )
    return max(int(SHARE_OF_MEMORY * free_memory() / needed), kept)


def forget_slots() -> None:
    """Release slots and page-locked memory that are not in use."""
    with _lock:
        _kept.clear()
    release_free_blocks()


def stream_pieces(
    layout: Layout,
    capacity: int,
    pieces: Sequence[tuple[int, int]],
    inputs: Sequence[npt.NDArray[Any]],
    outputs: Sequence[npt.NDArray[Any]],
    launch: Callable[[Slot, int, int], None],
    ended: Callable[[Slot, int, int], None] = lambda slot, start, stop: None,
) -> None:
    """Process the rows of `inputs` piece by piece into `outputs`.

    `launch(slot, start, stop)` starts the kernels of a piece without waiting; `ended` is called for each piece, in
    order, when its results have arrived.
    """
    with borrowed_slots(layout, capacity, min(SLOTS, len(pieces))) as slots:
        under_way: deque[tuple[Slot, int, int]] = deque()

        def end_oldest() -> None:
            synchronize(under_way[0][0].stream)
            ended(*under_way.popleft())

        try:
            for slot, (start, stop) in zip(itertools.cycle(slots), pieces, strict=False):
                if len(under_way) == len(slots):
                    end_oldest()
                given = [array[start:stop] for array in inputs]
                spread(_copy_rows, stop - start, given, slot.host_inputs, smallest=COPIED)
                under_way.append((slot, start, stop))
                _send(slot, start, stop, outputs, launch)
            while under_way:
                end_oldest()
        finally:
            # Finish all copies before the memory is reused, also after an error.
            for slot in slots:
                synchronize(slot.stream)


def _copy_rows(start: int, stop: int, given: list[npt.NDArray[Any]], copies: list[npt.NDArray[Any]]) -> None:
    for source, target in zip(given, copies, strict=True):
        np.copyto(target[start:stop], source[start:stop])


def _send(
    slot: Slot,
    start: int,
    stop: int,
    outputs: Sequence[npt.NDArray[Any]],
    launch: Callable[[Slot, int, int], None],
) -> None:
    n = stop - start
    for host, device in zip(slot.host_inputs, slot.inputs, strict=True):
        copy_in(host[:n], device, slot.stream)
    launch(slot, start, stop)
    for host, device in zip(outputs, slot.outputs, strict=True):
        copy_out(device, host[start:stop], slot.stream)


def synchronize(stream: Any) -> None:
    """Wait for all work on a stream."""
    if not is_simulated(load()):
        stream.synchronize()


@contextlib.contextmanager
def borrowed_slots(layout: Layout, capacity: int, count: int) -> Iterator[list[Slot]]:
    """Lend `count` slots of a layout, kept ones first; keep them afterwards unless an error occurred."""
    with _lock:
        slots = _kept.pop((layout, capacity), [])
    with memory_errors(layout, capacity):
        while len(slots) < count:
            slots.append(_slot(layout, capacity))
    yield slots[:count]
    with _lock:
        _kept[layout, capacity] = slots
        while len(_kept) > KEPT:
            _kept.popitem(last=False)


def _slot(layout: Layout, capacity: int) -> Slot:
    cuda = load()

    def arrays(make: Callable[..., Any], rows: tuple[Row, ...]) -> list[Any]:
        return [make((capacity, *shape), dtype) for shape, dtype in rows]

    return Slot(
        # The simulator has no streams.
        0 if is_simulated(cuda) else cuda.stream(),
        arrays(locked_array, layout.inputs),
        arrays(cuda.device_array, layout.inputs),
        arrays(cuda.device_array, layout.outputs),
        arrays(cuda.device_array, layout.scratch),
    )


@contextlib.contextmanager
def memory_errors(layout: Layout, rows: int) -> Iterator[None]:
    """Turn a failed allocation into a DeviceError that names its size, and release kept memory."""
    try:
        yield
    except Exception as error:
        if "memory" not in str(error).lower():
            raise
        forget_slots()
        raise DeviceError(
            f"the GPU lacks memory for {rows} rows of {layout.row_bytes} bytes ({first_line(error)}); free memory on "
            "it, or use device='cpu'"
        ) from error
