"""Stream the rows of a batch through the GPU: pieces on their own streams, copied while others are computed.

A slot is a stream with room for one piece: page-locked arrays on the host, through which the driver copies without
waiting, and arrays on the device. Each slot is served by a thread of its own, which fills it, starts its kernels and
empties it; while one thread waits for its kernels another copies. So a batch needs no more memory than its slots.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import DeviceError
from arcreach.gpu.driver import first_line, free_memory, is_simulated, load

# Slots of a batch: two would do if copying took as long as computing, the rest hides that it does not.
SLOTS = 8
# Rows of a piece: so few that the first kernels start soon, so many that the GPU is full.
LARGEST_PIECE = 1 << 18
SMALLEST_PIECE = 1 << 10
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
    host_outputs: list[Any]
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
    """Give the memory of slots that are not in use back."""
    with _lock:
        _kept.clear()


def stream_pieces(
    layout: Layout,
    capacity: int,
    pieces: Sequence[tuple[int, int]],
    inputs: Sequence[npt.NDArray[Any]],
    outputs: Sequence[npt.NDArray[Any]],
    launch: Callable[[Slot, int, int], None],
    done: Callable[[int], None] = lambda _: None,
) -> None:
    """Send rows of `inputs` through `launch(slot, start, stop)`, piece by piece; what comes back goes to `outputs`."""
    # The simulator serves one thread at a time.
    most = 1 if is_simulated(load()) else SLOTS
    with borrowed_slots(layout, capacity, min(most, len(pieces))) as slots:
        waiting = iter(pieces)
        if len(slots) == 1:
            for start, stop in waiting:
                _serve(slots[0], start, stop, inputs, outputs, launch)
                done(stop - start)
            return
        free = list(slots)

        def work(piece: tuple[int, int]) -> int:
            slot = free.pop()
            try:
                _serve(slot, *piece, inputs, outputs, launch)
            finally:
                free.append(slot)
            return piece[1] - piece[0]

        cuda = load()
        # A new thread would take the first GPU, whichever the caller has chosen.
        here = cuda.get_current_device().id
        with ThreadPoolExecutor(len(slots), "arcreach-device", cuda.select_device, (here,)) as pool:
            for count in pool.map(work, waiting):
                done(count)


def _serve(
    slot: Slot,
    start: int,
    stop: int,
    inputs: Sequence[npt.NDArray[Any]],
    outputs: Sequence[npt.NDArray[Any]],
    launch: Callable[[Slot, int, int], None],
) -> None:
    n = stop - start
    for given, host, device in zip(inputs, slot.host_inputs, slot.inputs, strict=True):
        np.copyto(host[:n], given[start:stop])
        device[:n].copy_to_device(host[:n], stream=slot.stream)
    launch(slot, start, stop)
    for host, device in zip(slot.host_outputs, slot.outputs, strict=True):
        device[:n].copy_to_host(host[:n], stream=slot.stream)
    synchronize(slot.stream)
    for wanted, host in zip(outputs, slot.host_outputs, strict=True):
        np.copyto(wanted[start:stop], host[:n])


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
    simulated = is_simulated(cuda)
    # Page-locked memory and streams have no meaning in the simulator.
    host = np.empty if simulated else cuda.pinned_array

    def arrays(make: Callable[..., Any], rows: tuple[Row, ...]) -> list[Any]:
        return [make((capacity, *shape), dtype) for shape, dtype in rows]

    return Slot(
        0 if simulated else cuda.stream(),
        arrays(host, layout.inputs),
        arrays(host, layout.outputs),
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
