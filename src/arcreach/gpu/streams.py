"""Stream the rows of a batch through the GPU: pieces on their own streams, copied while others are computed.

A slot is a stream with room for one piece: page-locked arrays of the host, into which all threads copy what the piece
brings, and arrays of the device. What the GPU finds it copies straight into the arrays of the result. While a piece is
on its way the next one is filled in, so a batch needs no more memory than its result and its slots.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach.errors import DeviceError
from arcreach.gpu.driver import copy_in, copy_out, first_line, free_memory, is_simulated, load
from arcreach.gpu.host_memory import forget_memory, locked_array

# Slots of a batch: one is filled, one is copied to the GPU, one is solved there, one is copied from it.
SLOTS = 4
# Rows of a piece: so few that the first kernels start soon, so many that Python starts them as fast as they end.
LARGEST_PIECE = 1 << 20
SMALLEST_PIECE = 1 << 10
# Rows that a thread copies at a time.
COPIED = 1 << 16
# Of the free memory, so that other programs find some.
SHARE_OF_MEMORY = 0.5
# Kinds of batches whose slots are kept for the next call: page-locked memory is slow to get.
KEPT = 4

Row = tuple[tuple[int, ...], Any]  # shape of what a row holds, dtype


@dataclass(frozen=True)
class Layout:
    """What a row of a batch brings, takes away, and needs meanwhile."""

    inputs: tuple[Row, ...]
    outputs: tuple[Row, ...]
    scratch: tuple[Row, ...] = ()

    @property
    def row_bytes(self) -> int:
        """Bytes on the device per row."""
        rows = self.inputs + self.outputs + self.scratch
        return sum(np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64)) for shape, dtype in rows)


@dataclass
class Slot:
    """Room for one piece."""

    stream: Any
    host_inputs: list[Any]
    inputs: list[Any]
    outputs: list[Any]
    scratch: list[Any]
    small: dict[str, Any] = field(default_factory=dict)  # what a user of slots keeps with them


_kept: OrderedDict[tuple[Layout, int], list[Slot]] = OrderedDict()
_lock = threading.Lock()


def piece_rows(layout: Layout, rows: int, slots: int | None = None, largest: int | None = None) -> int:
    """Rows of a piece: a power of two that fits, is worth a launch, and is not much more than the batch.

    A power of two, so that batches of many sizes share their slots.
    """
    slots = slots or SLOTS
    needed = slots * max(layout.row_bytes, 1)
    room = _room(layout, needed)
    if room < SMALLEST_PIECE:
        # What is kept for batches of another kind is not worth a refusal.
        forget_slots()
        room = _room(layout, needed)
    if room < SMALLEST_PIECE:
        raise DeviceError(
            f"the GPU has {free_memory() / 2**20:.0f} MiB free, {SMALLEST_PIECE} rows of this batch need "
            f"{needed * SMALLEST_PIECE / SHARE_OF_MEMORY / 2**20:.0f} MiB; free memory on it, or use device='cpu'"
        )
    wanted = 1 << (max(rows, 1) - 1).bit_length()
    return min(1 << (room.bit_length() - 1), largest or LARGEST_PIECE, wanted)


def _room(layout: Layout, needed: int) -> int:
    """Rows that fit into the slots of a batch: into those that are kept, or into free memory."""
    with _lock:
        kept = max(
            (size for (known, size), slots in _kept.items() if known == layout and len(slots) == SLOTS), default=0
        )
    return max(int(SHARE_OF_MEMORY * free_memory() / needed), kept)


def forget_slots() -> None:
    """Give the memory of slots and results that are not in use back."""
    with _lock:
        _kept.clear()
    forget_memory()


def stream_pieces(
    layout: Layout,
    capacity: int,
    pieces: Sequence[tuple[int, int]],
    inputs: Sequence[npt.NDArray[Any]],
    outputs: Sequence[npt.NDArray[Any]],
    launch: Callable[[Slot, int, int], None],
    ended: Callable[[Slot, int, int], None] = lambda slot, start, stop: None,
) -> None:
    """Send rows of `inputs` through `launch(slot, start, stop)`, piece by piece; what comes back goes to `outputs`.

    `launch` only starts the kernels; `ended` is called, piece after piece, when they are done.
    """
    count = min(SLOTS, len(pieces))
    with borrowed_slots(layout, capacity, count) as slots, ThreadPoolExecutor(1, "arcreach-gpu") as ahead:
        waiting: deque[tuple[Slot, int, int]] = deque((slots[k % count], *piece) for k, piece in enumerate(pieces))
        under_way: deque[tuple[Slot, int, int]] = deque()

        def end_oldest() -> None:
            synchronize(under_way[0][0].stream)
            ended(*under_way.popleft())

        try:
            filled = ahead.submit(_fill, *waiting[0], inputs)
            while waiting:
                filled.result()
                piece = waiting.popleft()
                if waiting:
                    if len(under_way) == count - 1:
                        end_oldest()
                    filled = ahead.submit(_fill, *waiting[0], inputs)
                under_way.append(piece)
                _send(*piece, outputs, launch)
            while under_way:
                end_oldest()
        finally:
            # Nothing may still be written to memory that is handed out again.
            for slot in slots:
                synchronize(slot.stream)


def _fill(slot: Slot, start: int, stop: int, inputs: Sequence[npt.NDArray[Any]]) -> None:
    given = [array[start:stop] for array in inputs]
    spread(_copy_rows, stop - start, given, slot.host_inputs, smallest=COPIED)


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
    for wanted, device in zip(outputs, slot.outputs, strict=True):
        copy_out(device, wanted[start:stop], slot.stream)


def synchronize(stream: Any) -> None:
    """Wait until everything on a stream is done."""
    if not is_simulated(load()):
        stream.synchronize()


@contextlib.contextmanager
def borrowed_slots(layout: Layout, capacity: int, count: int) -> Iterator[list[Slot]]:
    """So many slots of a layout, taken from those kept; given back afterwards, unless something went wrong."""
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
        # Streams have no meaning in the simulator.
        0 if is_simulated(cuda) else cuda.stream(),
        arrays(locked_array, layout.inputs),
        arrays(cuda.device_array, layout.inputs),
        arrays(cuda.device_array, layout.outputs),
        arrays(cuda.device_array, layout.scratch),
    )


@contextlib.contextmanager
def memory_errors(layout: Layout, rows: int) -> Iterator[None]:
    """Say of a failed allocation how much was asked for, and give back what is kept."""
    try:
        yield
    except Exception as error:
        if "memory" not in str(error).lower():
            raise
        forget_slots()
        raise DeviceError(
            f"the GPU has no room for {rows} rows of {layout.row_bytes} bytes ({first_line(error)}); free memory on "
            "it, or use device='cpu'"
        ) from error
