"""`auto` on a GPU: targets stream through the kernels of `gpu.kernels`, for one robot or many alike."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import DeviceError, MethodError
from arcreach.gpu import driver, lookup
from arcreach.gpu import kernels as gpu_kernels
from arcreach.gpu.host_memory import locked_array
from arcreach.gpu.kernel_cache import keep
from arcreach.gpu.streams import (
    Layout,
    Slot,
    borrowed_slots,
    memory_errors,
    piece_rows,
    stream_pieces,
    synchronize,
)
from arcreach.gpu.unroll import Writer
from arcreach.ik.methods.auto import MOST_STEPS, ROTATION_SEEDS, SEEDS
from arcreach.ik.smooth_chain import seed_table, smooth_chain
from arcreach.ik.target import FARTHEST
from arcreach.kernels.auto_device_steps import AT_ONCE, advance, forget_columns
from arcreach.kernels.chain import tip_motion
from arcreach.kernels.layout import ARC, AXIS, POSITION, ROTATION
from arcreach.kernels.limits import unwind
from arcreach.kernels.seeds import place_seed
from arcreach.kernels.smooth_variables import to_coordinates
from arcreach.kernels.trigonometry import LARGEST_ANGLE, sincos, sincos_reduced
from arcreach.robots.checks import ROTATION_TOLERANCE, shown
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

Array = npt.NDArray[np.float64]

# Variables and moves that the kernels are compiled for, the least that holds the robot.
SIZES = (8, 16, 32, 64)
LARGEST = SIZES[-1]
# Variables of a robot whose kernels can be made for it alone: their Jacobians lie in shared memory.
LARGEST_SPECIALISED = 24
# The functions that are written out for it, and all that they call.
WRITTEN_OUT = (advance, place_seed, to_coordinates, unwind, tip_motion)
# Threads that a multiprocessor holds at once though each has all the registers it can have.
FEWEST_RESIDENT = 256
# Targets that a thread of a shared launch solves one after another: enough to even out hard ones.
TARGETS_PER_THREAD = 16
# Rows of a piece of targets that lie on the device: nothing is copied, so pieces only bound the scratch.
LARGEST_PIECE_THERE = 1 << 24
_NO_FAULT = np.iinfo(np.int64).max
# What is chosen here shapes the kernels, see `keep`.
_SOURCE = Path(__file__).read_bytes()


@dataclass(frozen=True)
class Question:
    """What is asked of the targets of a batch, as `Problem` has it."""

    mode: int
    position_tol: float
    angle_tol: float
    max_iterations: int | None
    seed: int


@dataclass(frozen=True)
class Answer:
    """Row by row what was found; arrays of the host, or of the device where the targets lie there."""

    q: Any
    status: Any
    iterations: Any
    position_error: Any
    angle_error: Any
    seconds: float
    fault: int | None  # the first target that is not accepted


def refusal(robot: Robot) -> str | None:
    """Why the kernels cannot serve a robot; None where they can."""
    chain = smooth_chain(robot)
    largest = max(chain.variables, robot.dof, len(chain.moves))
    if largest > LARGEST:
        return f"its {largest} variables or moving elements are more than the {LARGEST} that fit a thread of the GPU"
    return None


@dataclass(frozen=True)
class _Family:
    """Robots of one size as the kernels read them: stacked arrays on the device."""

    robots: int
    variables: int
    dof: int
    rows: int
    moves: Any
    shapes: Any
    chains: Any
    facts: Any
    tables: Any
    seeds: Any

    def part(self, first: int, last: int) -> _Family:
        """The robots from first to last."""
        stacked = (self.moves, self.shapes, self.chains, self.facts, self.tables, self.seeds)
        return _Family(last - first, self.variables, self.dof, self.rows, *(one[first:last] for one in stacked))


def _family(robots: Sequence[Robot], mode: int, seed: int) -> _Family:
    """The robots on the device, kept with the first of them for the next call."""
    kept: dict[Any, tuple[tuple[Robot, ...], _Family]] = robots[0].__dict__.setdefault("_device", {})
    key = (mode, seed, len(robots))
    known = kept.get(key)
    if known is not None and all(a is b for a, b in zip(known[0], robots, strict=True)):
        return known[1]
    chains = [smooth_chain(robot, mode) for robot in robots]
    tables = [seed_table(robot, mode, _seed_count(mode), seed) for robot in robots]
    degree = max(chain.shapes.shape[1] for chain in chains)
    shapes = [np.pad(chain.shapes, ((0, 0), (0, degree - chain.shapes.shape[1]))) for chain in chains]
    facts = [
        (chain.scale, chain.weight, float(chain.symmetric), table.turn_weight, robot.moving_reach)
        for robot, chain, table in zip(robots, chains, tables, strict=True)
    ]
    columns = lookup.KEY_ROWS[mode]
    to_device = driver.load().to_device
    family = _Family(
        len(robots), chains[0].variables, robots[0].dof, len(chains[0].moves),
        to_device(np.stack([chain.moves for chain in chains])),
        to_device(np.stack(shapes)),
        to_device(np.stack([robot._chain for robot in robots])),
        to_device(np.array(facts)),
        to_device(np.stack([np.ascontiguousarray(table.keys[columns, :].T) for table in tables])),
        to_device(np.stack([table.seeds for table in tables])),
    )  # fmt: skip
    if len(kept) >= 4:
        kept.clear()
    kept[key] = tuple(robots), family
    return family


def alike(robot: Robot) -> tuple[int, ...]:
    """What robots must have in common to share a launch."""
    chain = smooth_chain(robot)
    return chain.variables, robot.dof, len(chain.moves), len(robot._chain), chain.shapes.shape[0]


def _seed_count(mode: int) -> int:
    return ROTATION_SEEDS if mode == ROTATION else SEEDS


def _size(needed: int) -> int:
    return next(size for size in SIZES if size >= needed)


@functools.cache
def _kernels(mode: int, variables: int, rows: int, started: bool) -> gpu_kernels.Kernels:
    """Kernels for every robot of up to that size."""
    built: gpu_kernels.Kernels = gpu_kernels.build(mode, _seed_count(mode), variables, rows, started)
    keep(built, _SOURCE, mode, _seed_count(mode), variables, rows, started)
    return built


def _special_kernels(robot: Robot, mode: int, started: bool) -> gpu_kernels.Kernels:
    """Kernels for one robot: its numbers are constants, its loops written out."""
    kept: dict[tuple[int, bool], gpu_kernels.Kernels] = robot.__dict__.setdefault("_device_kernels", {})
    if (mode, started) not in kept:
        cuda, chain = driver.load(), smooth_chain(robot, mode)
        special: dict[str, Any] = {
            "moves": chain.moves.copy(), "shapes": chain.shapes, "chain": robot._chain.copy(), "scale": chain.scale,
            "weight": chain.weight, "symmetric": chain.symmetric,
        }  # fmt: skip
        if not driver.is_simulated(cuda):
            writer = writer_for(cuda, robot, driver.device_function)
            special |= {kernel.__name__: writer.write(kernel) for kernel in WRITTEN_OUT}
        kept[mode, started] = gpu_kernels.build(
            mode, _seed_count(mode), max(chain.variables, robot.dof), len(chain.moves), started, special
        )
        arrays = chain.moves, chain.shapes, robot._chain, robot.lower, robot.upper
        keep(
            kept[mode, started], _SOURCE, mode, _seed_count(mode), started, chain.scale, chain.weight, chain.symmetric,
            *(array.tobytes() for array in arrays),
        )  # fmt: skip
    return kept[mode, started]


def writer_for(cuda: Any, robot: Robot, compiled: Callable[[Callable[..., Any]], Any]) -> Writer:
    """What writes out the loops over this robot's elements in the functions that the kernels call."""
    chain = smooth_chain(robot)
    turns = {
        "moves.shape[0]": len(chain.moves),
        "n": chain.variables,
        "v.shape[0]": chain.variables,
        "row < chain.shape[0]": [row for row, record in enumerate(robot._chain) if record.kind != ARC],
    }
    limits = np.abs([robot.lower, robot.upper])
    # The reduction that serves every angle is long, and a kernel that is too long waits for its own instructions.
    exchanged = {sincos: sincos_reduced} if limits.max(initial=0.0) <= LARGEST_ANGLE else {}

    def fence() -> None:
        cuda.threadfence_block()

    names = {"cuda": cuda, forget_columns.__name__: compiled(fence)}
    return Writer(turns, compiled, names, exchanged, frozenset({"J"}))


def solve_rows(
    robots: Sequence[Robot],
    question: Question,
    positions: Any,
    turned: Any,
    start: Any = None,
    specialised: bool | None = None,
    done: Callable[[int], None] = lambda _: None,
) -> Answer:
    """Solve an equal share of the targets for each robot, in order: positions (n, 3), turned (n, 0), (n, 3) or (n, 9).

    Arrays are all on the host, or all on the device; the answer is where they are. Robots must be `alike`.
    """
    n = len(positions)
    began = time.perf_counter()
    if n == 0:
        make: Any = np.empty if isinstance(positions, np.ndarray) else driver.load().device_array
        q, none, codes = make((0, robots[0].dof), np.float64), make(0, np.float64), make(0, np.int64)
        return Answer(q, codes, codes, none, none, 0.0, None)
    batch = batch_of(robots, question, n, start is not None, specialised)
    if isinstance(positions, np.ndarray):
        solved = batch.on_host(positions, turned, start, done)
    else:
        solved = batch.on_device(positions, turned, start, done)
    fault = min(batch.faults, default=_NO_FAULT)
    q, status, iterations, distance, angle = solved
    seconds = time.perf_counter() - began
    return Answer(q, status, iterations, distance, angle, seconds, None if fault == _NO_FAULT else fault)


def batch_of(
    robots: Sequence[Robot], question: Question, n: int, started: bool = False, specialised: bool | None = None
) -> Batch:
    """What `solve_rows` runs: robots on the device and the kernels that serve them."""
    family = _family(robots, question.mode, question.seed)
    if specialised is None:
        # Compiling takes up to a minute, which few batches are worth; kernels that are there are used.
        specialised = len(robots) == 1 and (question.mode, started) in robots[0].__dict__.get("_device_kernels", {})
    if specialised and max(family.variables, family.dof) <= LARGEST_SPECIALISED:
        kernels = _special_kernels(robots[0], question.mode, started)
        narrow = driver.WARP
    else:
        narrow = gpu_kernels.NARROW
        size = _size(max(family.variables, family.dof, family.rows))
        kernels = _kernels(question.mode, size, size, started)
    return Batch(family, question, kernels, started, n // len(robots), narrow)


@dataclass
class Batch:
    """One call: the same robots, question and kernels for every piece."""

    family: _Family
    question: Question
    kernels: gpu_kernels.Kernels
    started: bool
    per_robot: int
    narrow: int  # threads of a block of `first` and `retry`

    def __post_init__(self) -> None:
        turned = {POSITION: 0, AXIS: 3, ROTATION: 9}[self.question.mode]
        f64 = np.float64
        inputs: list[Any] = [((3,), f64)]
        if turned:
            inputs.append(((turned,), f64))
        if self.started:
            inputs.append(((self.family.dof,), f64))
        self.layout = Layout(
            tuple(inputs),
            (((self.family.dof,), f64), ((), np.int64), ((), np.int64), ((), f64), ((), f64)),
            (
                ((self.family.variables,), f64), ((), np.int8), ((), np.int32), ((), np.int32), ((), np.int32),
                ((), np.int32), ((3,), f64),
            ),
        )  # fmt: skip
        self.faults: list[int] = []

    def pieces(self, capacity: int) -> tuple[int, list[tuple[int, int]]]:
        """The rows of a slot, and even pieces that part the targets of a robot only if there is no other robot."""
        n = self.per_robot * self.family.robots
        unit = self.per_robot if self.family.robots > 1 else 1
        rows = max(capacity // unit, 1) * unit
        capacity = max(rows, capacity)
        count = math.ceil(n / rows)
        # Even pieces: the last one is not worth less than its launch.
        rows = math.ceil(math.ceil(n / unit) / count) * unit
        edges = [*range(0, n, rows), n]
        return capacity, list(itertools.pairwise(edges))

    def on_host(self, positions: Array, turned: Array, start: Array | None, done: Callable[[int], None]) -> list[Any]:
        """Stream arrays of the host through the device."""
        n = len(positions)
        inputs = [positions]
        if self.question.mode != POSITION:
            inputs.append(turned)
        if start is not None:
            inputs.append(start)
        outputs = [locked_array((n, *shape), dtype) for shape, dtype in self.layout.outputs]
        capacity, pieces = self.pieces(piece_rows(self.layout, n))

        def ended(slot: Slot, first: int, last: int) -> None:
            self.note_fault(slot, first)
            done(last - first)

        stream_pieces(self.layout, capacity, pieces, inputs, outputs, self.launch, ended)
        return outputs

    def on_device(self, positions: Any, turned: Any, start: Any, done: Callable[[int], None]) -> list[Any]:
        """Solve arrays that lie on the device, without a copy; the answer stays there."""
        cuda = driver.load()
        n = len(positions)
        scratch = Layout((), (), self.layout.scratch)
        capacity, pieces = self.pieces(piece_rows(scratch, n, 1, LARGEST_PIECE_THERE))
        with memory_errors(self.layout, n):
            outputs = [
                cuda.device_array((n, self.family.dof)), cuda.device_array(n, np.int8), cuda.device_array(n, np.int32),
                cuda.device_array(n), cuda.device_array(n),
            ]  # fmt: skip
        with borrowed_slots(scratch, capacity, 1) as slots:
            slot = slots[0]
            for first, last in pieces:
                slot.inputs = [part[first:last] for part in (positions, turned, start) if part is not None]
                slot.outputs = [part[first:last] for part in outputs]
                self.launch(slot, first, last)
                synchronize(slot.stream)
                self.note_fault(slot, first)
                done(last - first)
            slot.inputs, slot.outputs = [], []
        return outputs

    def launch(self, slot: Slot, first: int, last: int) -> None:
        """Start to solve the targets of a piece: its inputs are on the device, or on their way."""
        cuda = driver.load()
        n = last - first
        family, question = self.family, self.question
        m = n
        if family.robots > 1:
            family = family.part(first // self.per_robot, last // self.per_robot)
            m = self.per_robot
        none = _nothing(family.dof)
        given = iter(slot.inputs)
        positions = next(given)
        turned = none if question.mode == POSITION else next(given)
        start = next(given) if self.started else none
        V, codes, steps, chosen, waiting, hard, axes = slot.scratch
        small = slot.small
        if not small:
            fresh = np.array([_NO_FAULT, 0, 0])
            small["fresh"] = cuda.to_device(fresh)
            small["counters"] = cuda.device_array_like(fresh)
            for k, counter in enumerate(("fault", "count", "hard")):
                small[counter] = small["counters"][k : k + 1]
            # Page-locked, or the copy waits for all that was started before it.
            small["read"] = cuda.pinned_array(1, np.int64)
        stream = slot.stream
        small["counters"].copy_to_device(small["fresh"], stream=stream)
        kernels = self.kernels
        wide, narrow, warp = _blocks(cuda, self.narrow)
        spread = min(math.ceil(m / wide), 64 * driver.multiprocessors()), family.robots
        few = min(math.ceil(m / (AT_ONCE * wide)), 64 * driver.multiprocessors()), family.robots
        kernels.choose[few, wide, stream](
            m, positions, turned, start, family.tables, family.seeds, family.moves, family.shapes, family.facts,
            FARTHEST, ROTATION_TOLERANCE, axes, chosen, small["fault"],
        )  # fmt: skip
        if question.mode == AXIS:
            turned = axes
        limits = question.position_tol, question.angle_tol
        most = question.max_iterations or MOST_STEPS
        if family.robots > 1:
            blocks = math.ceil(m / (narrow * TARGETS_PER_THREAD))
        else:
            blocks = min(math.ceil(m / narrow), resident_blocks(kernels.first, narrow))
        kernels.first[(blocks, family.robots), narrow, stream](
            m, positions, turned, start, chosen, family.seeds, family.moves, family.shapes, family.facts, *limits, most,
            V, codes, steps, waiting, small["count"],
        )  # fmt: skip
        kernels.retry[min(math.ceil(n / narrow), resident_blocks(kernels.retry, narrow)), narrow, stream](
            m, positions, turned, chosen, family.tables, family.seeds, family.moves, family.shapes, family.facts,
            *limits, most, V, codes, steps, waiting, small["count"], hard, small["hard"],
        )  # fmt: skip
        kernels.search[min(n, 16 * driver.multiprocessors()), warp, stream](
            m, positions, turned, start, chosen, family.tables, family.seeds, family.moves, family.shapes, family.facts,
            *limits, _seed_count(question.mode), most, V, codes, steps, hard, small["hard"],
        )  # fmt: skip
        kernels.finish[spread, wide, stream](
            m, positions, turned, start, V, codes, steps, family.chains, family.moves, family.facts, *limits,
            *slot.outputs,
        )  # fmt: skip
        small["fault"].copy_to_host(small["read"], stream=stream)

    def note_fault(self, slot: Slot, first: int) -> None:
        """Note the first target that is not accepted of a piece that is done, where there is one."""
        fault = int(slot.small["read"][0])
        if fault != _NO_FAULT:
            self.faults.append(first + fault)


@functools.cache
def _nothing(dof: int) -> Any:
    """An array (1, dof) on the device, in the place of one that is not given."""
    return driver.load().to_device(np.zeros((1, dof)))


def _blocks(cuda: Any, narrow: int) -> tuple[int, int, int]:
    """Threads of a block; in the simulator each is a thread of Python, so a few must do."""
    if driver.is_simulated(cuda):
        return 4, 4, driver.WARP
    return gpu_kernels.WIDE, narrow, driver.WARP


def resident_blocks(kernel: Any, threads: int) -> int:
    """How many blocks of a kernel the device holds at once: one more would wait until the others are done."""
    if driver.is_simulated(driver.load()):
        return 2
    # By signature, to which another thread may add one; none before the first call, which takes what always fits.
    held = (made.max_cooperative_grid_blocks(threads) for made in tuple(kernel.overloads.values()))
    return max(min(held, default=max(FEWEST_RESIDENT // threads, 1) * driver.multiprocessors()), 1)


def check_device(robot: Any, method: str, **not_served: Any) -> None:
    """Refuse what the GPU does not do, by name."""
    if method != "auto":
        raise DeviceError(f"device 'cuda' serves method 'auto', not '{method}'; use device='cpu'")
    for name, value in not_served.items():
        if value is not None:
            raise DeviceError(f"{name} is not served on device 'cuda'; leave it out, or use device='cpu'")
    if isinstance(robot, SymbolicRobot):
        raise DeviceError(f"robot '{robot.name}' is given as a matrix; device 'cuda' serves chains of elements")
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    reason = refusal(robot)
    if reason is not None:
        raise DeviceError(f"robot '{robot.name}' is too large for device 'cuda': {reason}; use device='cpu'")
