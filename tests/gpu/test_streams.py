"""Pieces of a batch and page-locked memory, with arrays of the host in place of a device's."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from arcreach.gpu import driver, host_memory, streams
from arcreach.gpu.host_memory import BLOCK, locked_array


def to_device(device, host, size, stream):
    assert size == host.nbytes
    device[: len(host)] = host


def to_host(host, device, size, stream):
    assert size == host.nbytes
    host[:] = device[: len(host)]


@pytest.fixture
def pinned(monkeypatch):
    """A device whose driver locks pages; the addresses that are locked, and the sizes."""
    found = {}

    class Lock:
        def __init__(self, owner, address, size, mapped):
            assert address % host_memory.PAGE == size % BLOCK == 0
            assert found.setdefault(address, size) == size
            self.address = address

        def __del__(self):
            found.pop(self.address)

    fake = SimpleNamespace(
        jit=SimpleNamespace(__module__="numba.cuda"),
        cudadrv=SimpleNamespace(driver=SimpleNamespace(host_to_device=to_device, device_to_host=to_host)),
        device_array=np.zeros,
        stream=lambda: SimpleNamespace(synchronize=lambda: None),
        current_context=lambda: SimpleNamespace(mempin=Lock),
    )
    for module in (driver, streams, host_memory):
        monkeypatch.setattr(module, "load", lambda: fake)
    monkeypatch.setattr(streams, "_kept", type(streams._kept)())
    monkeypatch.setattr(host_memory, "_locked_bytes", 0)
    yield found
    host_memory.release_free_blocks()
    assert found == {}


@pytest.mark.parametrize("count", [1, 2, 16])
def test_pieces_cover_a_batch_in_order(pinned, count):
    layout = streams.Layout((((2,), float), ((), np.int32)), (((), float),))
    n = 1000
    given, more, found = np.arange(2.0 * n).reshape(n, 2), np.arange(n, dtype=np.int32), np.empty(n)
    launched, ended = [], []

    def launch(slot, start, stop):
        launched.append((start, stop))
        # No slot is used again before its piece has ended.
        assert len(launched) - len(ended) <= streams.SLOTS
        rows, plus = (part[: stop - start] for part in slot.inputs)
        slot.outputs[0][: stop - start] = rows.sum(axis=1) + plus

    edges = [n * k // count for k in range(count + 1)]
    pieces = list(itertools.pairwise(edges))
    streams.stream_pieces(layout, n, pieces, [given, more], [found], launch, lambda _, *piece: ended.append(piece))
    np.testing.assert_array_equal(found, given.sum(axis=1) + more)
    assert launched == ended == pieces
    assert len(streams._kept[layout, n]) == min(count, streams.SLOTS)


def test_a_piece_that_fails_ends_the_batch_when_nothing_is_written_any_more(pinned, monkeypatch):
    waited = []
    monkeypatch.setattr(streams, "synchronize", waited.append)
    layout = streams.Layout((((), float),), (((), float),))

    def launch(slot, start, stop):
        if start == 4:
            raise ValueError("no")

    pieces = [(k, k + 2) for k in range(0, 20, 2)]
    with pytest.raises(ValueError, match="no"):
        streams.stream_pieces(layout, 2, pieces, [np.zeros(20)], [np.zeros(20)], launch)
    assert len({id(stream) for stream in waited}) == streams.SLOTS
    assert streams._kept == {}


def test_memory_is_reused_when_its_last_array_is_gone(pinned):
    first = locked_array((BLOCK // 8, 3), np.float64)
    assert first.shape == (BLOCK // 8, 3)
    assert first.flags.c_contiguous
    assert first.flags.writeable
    address = first.ctypes.data
    assert pinned == {address: 3 * BLOCK}
    part = first[7:, 1]
    part[:] = 4.0
    del first
    other = locked_array((3 * BLOCK,), np.uint8)
    assert other.ctypes.data != address
    assert (part == 4.0).all()
    del part
    # A little smaller fits too, half as large would be waste.
    again = locked_array((2 * BLOCK + 1,), np.int8)
    assert again.ctypes.data == address
    assert again.dtype == np.int8
    assert len(again) == 2 * BLOCK + 1
    del again
    assert locked_array((BLOCK,), np.uint8).ctypes.data != address


def test_no_more_is_locked_than_may_be(pinned, monkeypatch):
    monkeypatch.setattr(host_memory, "most_locked", lambda: 4 * BLOCK)
    held = locked_array((2 * BLOCK,), np.uint8)
    del held
    # Free slots make room.
    larger = locked_array((4 * BLOCK,), np.uint8)
    assert list(pinned.values()) == [4 * BLOCK]
    assert locked_array((BLOCK,), np.uint8).shape == (BLOCK,)
    assert locked_array((BLOCK - 1,), np.uint8).shape == (BLOCK - 1,)
    assert list(pinned.values()) == [4 * BLOCK]
    del larger


def test_a_share_of_the_memory_may_be_locked(monkeypatch):
    host_memory.most_locked.cache_clear()
    assert host_memory.most_locked() > BLOCK
    monkeypatch.delattr("os.sysconf")
    host_memory.most_locked.cache_clear()
    assert host_memory.most_locked() == host_memory.LOCKED_BYTES
    host_memory.most_locked.cache_clear()


def test_memory_that_cannot_be_locked_is_plain_memory(pinned, monkeypatch):
    def mempin(*_, mapped):
        raise RuntimeError("not permitted")

    monkeypatch.setattr(host_memory.load(), "current_context", lambda: SimpleNamespace(mempin=mempin))
    assert locked_array((BLOCK,), np.uint8).nbytes == BLOCK
    assert host_memory._locked_bytes == 0
