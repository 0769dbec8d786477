"""Load numba-cuda and find the GPU, or state in one sentence why none can be used."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arcreach._interpreter import callees, with_callees
from arcreach.errors import DeviceError

EXTRA = "pip install 'arcreach[gpu]'"

# Threads per warp, largest number of registers per thread, bytes of shared memory that the driver reserves per block.
WARP = 32
MOST_REGISTERS = 255
SHARED_OF_A_BLOCK = 1024
# Most warps per multiprocessor, measured: with more of them each thread has too few registers.
MOST_WARPS = 16


@dataclass(frozen=True)
class Device:
    """A GPU as its driver describes it."""

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory: int  # bytes


class _NoDevice:
    """Stand-in for `numba.cuda` without a GPU: every use raises the DeviceError that says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __getattr__(self, name: str) -> Any:
        # Python itself looks up dunder names and expects an AttributeError.
        raise AttributeError(name) if name.startswith("__") else DeviceError(self.reason)


@functools.cache
def load() -> Any:
    """Return the module `numba.cuda`, or a stand-in that raises DeviceError when it is used.

    Loading does not raise, so that modules of GPU kernels can be imported without a GPU.
    """
    try:
        return _find()
    except DeviceError as error:
        return _NoDevice(str(error))


def _find() -> Any:
    """Return the module `numba.cuda` with a usable device; raise DeviceError if there is none."""
    if importlib.util.find_spec("_numba_cuda_redirector") is None:
        raise DeviceError(f"device 'cuda' needs numba-cuda, which is not installed; run: {EXTRA}")
    try:
        # Replaces the older module inside numba by numba-cuda; its start-up file usually has done so already.
        import _numba_cuda_redirector  # noqa: F401
        from numba import cuda as module
    except Exception as error:
        raise DeviceError(f"device 'cuda' is not usable: numba-cuda does not load ({first_line(error)})") from error
    # Small batches leave the GPU partly idle; a warning about it helps nobody.
    warnings.filterwarnings("ignore", message=".*[Gg]rid size.*under-utili[sz]ation.*")
    cuda: Any = module
    if is_simulated(cuda):
        return cuda
    try:
        if cuda.is_available() and len(cuda.gpus) > 0:
            cuda.current_context()
            return cuda
        reason = "no NVIDIA GPU or no driver was found"
    except Exception as error:
        reason = first_line(error)
    raise DeviceError(f"device 'cuda' is not usable here: {reason}; use device='cpu' or device='auto'")


def is_simulated(cuda: Any) -> bool:
    """Return whether kernels run in numba's simulator (NUMBA_ENABLE_CUDASIM=1), as in the tests."""
    return "simulator" in cuda.jit.__module__


def from_kernel(function: Any) -> Any:
    """Return a CPU kernel as GPU kernels call it: itself, or in the simulator a wrapper that unwraps its arrays."""
    cuda = load()
    if isinstance(cuda, _NoDevice) or not is_simulated(cuda):
        return function

    def call(*arguments: Any) -> Any:
        return function(*(_unwrapped(argument) for argument in arguments))

    return call


def _unwrapped(argument: Any) -> Any:
    """Replace the simulator's array wrappers in an argument by their NumPy arrays."""
    if isinstance(argument, tuple):
        parts = map(_unwrapped, argument)
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    if type(argument).__name__ == "FakeWithinKernelCUDAArray":
        argument = argument._item
    return argument._ary if type(argument).__name__ == "FakeCUDAArray" else argument


@functools.cache
def with_exchanged(kernel: Any, exchanged: tuple[tuple[Any, Any], ...]) -> Any:
    """Return a copy of a CPU kernel with some of the kernels it calls, directly or indirectly, replaced.

    `exchanged` holds pairs of a kernel and its replacement. A kernel that calls none of them is returned unchanged.
    """
    for left_out, other in exchanged:
        if kernel is left_out:
            return other
    called = callees(kernel.py_func)
    changed = {name: with_exchanged(callee, exchanged) for name, callee in called.items()}
    return kernel if changed == called else device_function(with_callees(kernel.py_func, changed))


def copy_in(host: Any, device: Any, stream: Any) -> None:
    """Start copying a contiguous host array to the first rows of a device array."""
    cuda = load()
    if is_simulated(cuda):
        device[: len(host)].copy_to_device(host)
    else:
        # Bypass the array methods: their slicing and checks take longer than the kernels of a piece.
        cuda.cudadrv.driver.host_to_device(device, host, host.nbytes, stream)


def copy_out(device: Any, host: Any, stream: Any) -> None:
    """Start copying the first rows of a device array to a contiguous host array."""
    cuda = load()
    if is_simulated(cuda):
        device[: len(host)].copy_to_host(host)
    else:
        cuda.cudadrv.driver.device_to_host(host, device, host.nbytes, stream)


def device_function(function: Callable[..., Any]) -> Any:
    """Compile a device function, inlined into the kernels that call it."""
    cuda = load()
    return cuda.jit(function, device=True, **({} if is_simulated(cuda) else {"forceinline": True}))


def kernel_of_warps(shared: int) -> Any:
    """Return a decorator for kernels with one warp per block that limits registers for the best occupancy.

    `shared` bytes of shared memory per block determine how many blocks are resident, MOST_WARPS at most. They share the
    registers evenly: spilling costs less than idle multiprocessors.
    """
    cuda = load()
    gpu = cuda.get_current_device()
    warps = min(gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // (shared + SHARED_OF_A_BLOCK), MOST_WARPS)
    # A multiprocessor has four equal partitions; registers are allocated in groups of eight.
    warps = max(warps // 4 * 4, 4)
    registers = gpu.MAX_REGISTERS_PER_MULTIPROCESSOR // (WARP * warps) // 8 * 8
    return cuda.jit(max_registers=min(registers, MOST_REGISTERS))


def unusable() -> str | None:
    """Return why no GPU can be used, or None if one can."""
    cuda = load()
    return cuda.reason if isinstance(cuda, _NoDevice) else None


def chosen(device: Any) -> str:
    """Resolve `device` to "cpu" or "cuda"; "auto" is "cuda" where a GPU can be used."""
    if device == "auto":
        return "cpu" if unusable() else "cuda"
    if device == "cuda":
        reason = unusable()
        if reason is not None:
            raise DeviceError(reason)
    elif device != "cpu":
        raise DeviceError(f"device = {device!r} is not accepted; give 'cpu', 'cuda' or 'auto'")
    return str(device)


def devices() -> list[Device]:
    """Return the GPUs of this machine; raise DeviceError where none can be used."""
    cuda = load()
    if is_simulated(cuda):
        return [Device("simulator", (0, 0), 2, 0)]
    return [_describe(cuda, index) for index in range(len(cuda.gpus))]


def _describe(cuda: Any, index: int) -> Device:
    gpu = cuda.gpus[index]
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else str(gpu.name)
    with gpu:
        memory = cuda.current_context().get_memory_info().total
    return Device(name, tuple(gpu.compute_capability), int(gpu.MULTIPROCESSOR_COUNT), int(memory))


@functools.cache
def multiprocessors() -> int:
    """Return the number of multiprocessors of the current device."""
    cuda = load()
    return 1 if is_simulated(cuda) else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


def free_memory() -> int:
    """Return the bytes that can still be allocated on the current device."""
    cuda = load()
    return 1 << 30 if is_simulated(cuda) else int(cuda.current_context().get_memory_info().free)


def first_line(error: BaseException) -> str:
    """Return the first line of an error message; driver errors add pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
