"""Batches of targets on a GPU: choose kernels, split the batch into pieces, launch."""

from __future__ import annotations

import functools
import itertools
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arcreach.gpu import driver
from arcreach.gpu import kernels as gpu_kernels
from arcreach.gpu.contexts import Accepted, Answers, Found, Kind, Limits, Models, Queue, Robots, Targets
from arcreach.gpu.host_memory import locked_array
from arcreach.gpu.kernel_cache import attach_cache
from arcreach.gpu.lookup import KEY_ROWS
from arcreach.gpu.streams import (
    Layout,
    Slot,
    borrowed_slots,
    memory_errors,
    piece_rows,
    stream_pieces,
    synchronize,
)
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION
from arcreach.kernels.solver.contexts import Model, Table, Task
from arcreach.kernels.solver.gpu_lookup import TARGETS_AT_ONCE

# Capacities, in variables and moving elements, that kernels for any robot are compiled for.
SIZES = (8, 16, 32, 64)
LARGEST = SIZES[-1]
# Largest number of variables of a robot with specialised kernels: their Jacobians must fit into shared memory.
LARGEST_SPECIALISED = 24
# Threads that are resident per multiprocessor even at the highest register count.
FEWEST_RESIDENT = 256
# Targets per thread if robots share a launch: enough to balance hard and easy ones.
TARGETS_PER_THREAD = 16
# Most rows per piece if the arrays are on the device: nothing is copied, pieces only bound the scratch.
LARGEST_DEVICE_PIECE = 1 << 24
# Entries per cache, of kernels and of device copies of models and tables.
KEPT = 64
_NO_FAULT = np.iinfo(np.int64).max

# A robot, as `robot.model.model_and_table` returns it.
Searched = tuple[Model, Table]
T = TypeVar("T")

_built: OrderedDict[Any, gpu_kernels.Kernels] = OrderedDict()
_stacks: OrderedDict[Any, tuple[Any, Robots]] = OrderedDict()
_lock = threading.Lock()


def too_large(model: Model, variables: int) -> int | None:
    """Return the number of variables or moving elements if it exceeds the largest kernels, else None."""
    largest = max(variables, len(model.moving))
    return largest if largest > LARGEST else None


def alike(searched: Searched) -> tuple[int, ...]:
    """Return the sizes that robots must have in common to share a launch."""
    model, table = searched
    return table.seeds.shape[1], len(model.moving), len(model.chain), model.polynomials.shape[0]


def kept(store: OrderedDict[Any, T], key: Any, make: Callable[[], T]) -> T:
    """Return the entry of an LRU cache, made if it is missing."""
    with _lock:
        if key not in store:
            store[key] = make()
            if len(store) > KEPT:
                store.popitem(last=False)
        store.move_to_end(key)
        return store[key]


def _stacked(robots: Sequence[Searched], mode: int) -> Robots:
    """Return models and tables of robots on the device, cached."""
    key = mode, *(id(part) for robot in robots for part in robot)
    # The entry holds the robots, so that their ids stay unique.
    return kept(_stacks, key, lambda: (tuple(robots), _on_device(robots, mode)))[1]


def _on_device(robots: Sequence[Searched], mode: int) -> Robots:
    degree = max(model.polynomials.shape[1] for model, _ in robots)
    columns = list(KEY_ROWS[mode])
    models = (
        (
            model.chain,
            model.moving,
            np.pad(model.polynomials, ((0, 0), (0, degree - model.polynomials.shape[1]))),
            model.ends,
            (model.scale, model.weight, model.reach, model.symmetric, model.scaled, model.front_kind, model.lever),
        )
        for model, _ in robots
    )
    tables = (
        (
            table.keys[columns, :].T,
            np.vstack([table.near_rest, table.keys[columns[1:], :]]).T,
            table.seeds,
            table.turn_weight,
        )
        for _, table in robots
    )
    to_device = driver.load().to_device

    def stacked(rows: Iterable[tuple[Any, ...]]) -> list[Any]:
        return [to_device(np.ascontiguousarray(np.stack(part))) for part in zip(*rows, strict=True)]

    return Robots(Models(*stacked(models)), *stacked(tables))


def _cache_key(kind: Kind) -> tuple[Any, ...]:
    """Return the cache key of kernels."""
    return *kind[:-1], *(part.tobytes() if isinstance(part, np.ndarray) else part for part in kind.robot or ())


def _kernels(kind: Kind) -> gpu_kernels.Kernels:
    """Return the kernels of a kind, cached."""
    cache_key = _cache_key(kind)

    def make() -> gpu_kernels.Kernels:
        built = gpu_kernels.build(kind)
        attach_cache(built, *cache_key)
        return built

    return kept(_built, cache_key, make)


def choose_kernels(
    robots: Sequence[Searched], task: Task, specialised: bool | None
) -> tuple[Kind, gpu_kernels.Kernels]:
    """Return the kind and the kernels for robots.

    Specialised kernels take up to a minute to compile, so by default only those that the process already has are used.
    """
    model, table = robots[0]
    seeds, variables = table.seeds.shape
    own = Kind(task.mode, seeds, variables, len(model.moving), task.started, model)
    if specialised is None:
        specialised = len(robots) == 1 and _cache_key(own) in _built
    if specialised and variables <= LARGEST_SPECIALISED:
        return own, _kernels(own)
    size = next(size for size in SIZES if size >= max(variables, len(model.moving)))
    kind = Kind(task.mode, seeds, size, size, task.started)
    return kind, _kernels(kind)


@dataclass
class Batch:
    """A batch of n targets: an equal share for each robot, in order; the robots must be `alike`.

    `solve` takes the targets; those of `task` are ignored.
    """

    robots: Sequence[Searched]
    task: Task
    accepted: Accepted
    dof: int
    n: int
    specialised: bool | None = None
    fault: int | None = None  # index of the first rejected target, after `solve`

    def __post_init__(self) -> None:
        self.stack = _stacked(self.robots, self.task.mode)
        self.kind, self.kernels = choose_kernels(self.robots, self.task, self.specialised)
        if self.kind.robot is not None:
            self.stack = self.stack._replace(models=0)
        turned = {POSITION: 0, AXIS: 3, ROTATION: 9}[self.task.mode]
        widths = (3, turned, self.dof if self.task.started else 0)
        f64, i32 = np.float64, np.int32
        variables = self.stack.seeds.shape[2]
        self.layout = Layout(
            tuple(((width,), f64) for width in widths if width),
            (((self.dof,), f64), ((), np.int64), ((), np.int64), ((), f64), ((), f64)),
            (((variables,), f64), ((), np.int8), ((), i32), ((), i32), ((), i32), ((), i32), ((3,), f64)),
        )

    def solve(self, targets: Targets, done: Callable[[int], None]) -> Answers:
        """Solve targets in host or device arrays; the answers are arrays of the same kind."""
        host = isinstance(targets.positions, np.ndarray)
        if self.n == 0:
            return self._host_answers() if host else self._device_answers()
        return self._from_host(targets, done) if host else self._from_device(targets, done)

    def pieces(self, capacity: int) -> tuple[int, list[tuple[int, int]]]:
        """Return a slot's rows, and even pieces (first, last), which hold whole robots if there are several."""
        unit = self.n // len(self.robots) if len(self.robots) > 1 else 1
        rows = max(capacity // unit, 1) * unit
        capacity = max(rows, capacity)
        count = math.ceil(self.n / rows)
        # Pieces of even size leave no small one at the end.
        rows = math.ceil(math.ceil(self.n / unit) / count) * unit
        edges = [*range(0, self.n, rows), self.n]
        return capacity, list(itertools.pairwise(edges))

    def _host_answers(self) -> Answers:
        return Answers(*(locked_array((self.n, *shape), dtype) for shape, dtype in self.layout.outputs))

    def _device_answers(self) -> Answers:
        types = (np.float64, np.int8, np.int32, np.float64, np.float64)
        shapes = ((self.n, *shape) for shape, _ in self.layout.outputs)
        return Answers(*map(driver.load().device_array, shapes, types))

    def _from_host(self, targets: Targets, done: Callable[[int], None]) -> Answers:
        """Stream host arrays through the device."""
        answers = self._host_answers()
        capacity, pieces = self.pieces(piece_rows(self.layout, self.n))
        given: list[npt.NDArray[Any]] = [part for part in targets if part is not None and part.shape[1]]

        def ended(slot: Slot, first: int, last: int) -> None:
            self.note_fault(slot, first)
            done(last - first)

        stream_pieces(self.layout, capacity, pieces, given, answers, self.launch, ended)
        return answers

    def _from_device(self, targets: Targets, done: Callable[[int], None]) -> Answers:
        """Solve device arrays without copies."""
        scratch = Layout((), (), self.layout.scratch)
        capacity, pieces = self.pieces(piece_rows(scratch, self.n, 1, LARGEST_DEVICE_PIECE))
        with memory_errors(self.layout, self.n):
            answers = self._device_answers()
        with borrowed_slots(scratch, capacity, 1) as slots:
            slot = slots[0]
            for first, last in pieces:
                slot.inputs = [part[first:last] for part in targets if part is not None]
                slot.outputs = [part[first:last] for part in answers]
                self.launch(slot, first, last)
                synchronize(slot.stream)
                self.note_fault(slot, first)
                done(last - first)
            slot.inputs, slot.outputs = [], []
        return answers

    def launch(self, slot: Slot, first: int, last: int) -> None:
        """Launch the kernels of a piece; its inputs are on the device or being copied on the slot's stream."""
        n = m = last - first
        robots, count = self.stack, 1
        if len(self.robots) > 1:
            m = self.n // len(self.robots)
            models, *tables = robots
            these = slice(first // m, last // m)
            robots = Robots(Models(*(part[these] for part in models)), *(part[these] for part in tables))
            count = n // m
        if not slot.small:
            _add_counters(slot)
        small, stream, kernels = slot.small, slot.stream, self.kernels
        V, codes, steps, chosen, waiting, hard, axes = slot.scratch
        found, waiting, hard = Found(V, codes, steps), Queue(waiting, small["waiting"]), Queue(hard, small["hard"])
        none = _nothing(self.dof)
        given = iter(slot.inputs)
        positions = next(given)
        turned = none if self.task.mode == POSITION else next(given)
        start = next(given) if self.task.started else none
        targets = Targets(positions, turned, start)
        limits = Limits(self.task.position_tol, self.task.angle_tol, self.task.max_steps)
        wide, narrow, warp = _blocks(self.kind)
        # Bounds of the grids: a kernel loops over the rows that exceed its grid.
        most = 64 * driver.multiprocessors()
        driver.copy_in(small["fresh"], small["counters"], stream)
        kernels.choose[(min(math.ceil(m / (TARGETS_AT_ONCE * wide)), most), count), wide, stream](
            m, targets, limits, robots, self.accepted, axes, chosen, small["fault"]
        )
        if self.task.mode == AXIS:
            targets = Targets(positions, axes, start)
        if count > 1:
            blocks = math.ceil(m / (narrow * TARGETS_PER_THREAD))
        else:
            blocks = min(math.ceil(m / narrow), resident_blocks(kernels.first, narrow))
        kernels.first[(blocks, count), narrow, stream](m, targets, limits, robots, chosen, found, waiting)
        blocks = min(math.ceil(n / narrow), resident_blocks(kernels.retry, narrow))
        kernels.retry[blocks, narrow, stream](m, targets, limits, robots, chosen, found, waiting, hard)
        blocks = min(n, 16 * driver.multiprocessors())
        kernels.search[blocks, warp, stream](m, targets, limits, robots, chosen, found, hard)
        kernels.finish[(min(math.ceil(m / wide), most), count), wide, stream](
            m, targets, limits, robots, found, Answers(*slot.outputs)
        )
        driver.copy_out(small["fault"], small["read"], stream)

    def note_fault(self, slot: Slot, first: int) -> None:
        """Record the first rejected target; pieces finish in the order of their targets."""
        fault = int(slot.small["read"][0])
        if self.fault is None and fault != _NO_FAULT:
            self.fault = first + fault


def _add_counters(slot: Slot) -> None:
    """Add device counters to a slot, with host arrays for their initial values and for the first one's result."""
    cuda = driver.load()
    counters = cuda.device_array(3, np.int64)
    names = ("fault", "waiting", "hard")
    slot.small.update({name: counters[k : k + 1] for k, name in enumerate(names)})
    # Page-locked: copies of pageable memory wait for the stream.
    slot.small.update(counters=counters, fresh=cuda.pinned_array(3, np.int64), read=cuda.pinned_array(1, np.int64))
    slot.small["fresh"][:] = (_NO_FAULT, 0, 0)


@functools.cache
def _nothing(dof: int) -> Any:
    """Return a device array (1, dof), a placeholder for an input that is not given."""
    return driver.load().to_device(np.zeros((1, dof)))


def _blocks(kind: Kind) -> tuple[int, int, int]:
    """Return the threads per block of `choose` and `finish`, of `first` and `retry`, and of `search`.

    They are few in the simulator.
    """
    if driver.is_simulated(driver.load()):
        return 4, 4, driver.WARP
    most = gpu_kernels.BLOCK_THREADS
    return most, most if kind.robot is None else driver.WARP, driver.WARP


def resident_blocks(kernel: Any, threads: int) -> int:
    """Return how many blocks of a kernel are resident on the device at once."""
    if driver.is_simulated(driver.load()):
        return 2
    # Copied, as another thread may add a signature. Before the first call there is none: assume what always fits.
    held = (made.max_cooperative_grid_blocks(threads) for made in tuple(kernel.overloads.values()))
    return max(min(held, default=max(FEWEST_RESIDENT // threads, 1) * driver.multiprocessors()), 1)
