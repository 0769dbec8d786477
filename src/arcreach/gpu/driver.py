"""Where numba-cuda is loaded, and what it finds: a usable GPU, or one sentence that says why there is none."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arcreach.errors import DeviceError

EXTRA = "pip install 'arcreach[gpu]'"

# Threads that run in step; registers that one can have; bytes of shared memory that a block takes for itself.
WARP = 32
MOST_REGISTERS = 255
SHARED_OF_A_BLOCK = 1024
# Warps of a multiprocessor, measured: with more of them too little is left in registers.
MOST_WARPS = 16


@dataclass(frozen=True)
class Device:
    """A GPU as its driver describes it."""

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory: int  # bytes


class _NoDevice:
    """Stand-in for `numba.cuda` where there is no GPU: any use raises the DeviceError that says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __getattr__(self, name: str) -> Any:
        # Python itself looks for names in double underscores and expects an AttributeError.
        raise AttributeError(name) if name.startswith("__") else DeviceError(self.reason)


@functools.cache
def load() -> Any:
    """The module `numba.cuda`, or a stand-in that raises DeviceError when it is used.

    It does not raise by itself, so that modules of GPU kernels can be imported without a GPU.
    """
    try:
        return _find()
    except DeviceError as error:
        return _NoDevice(str(error))


def _find() -> Any:
    """The module `numba.cuda` with a device behind it; raises DeviceError where there is none."""
    if importlib.util.find_spec("_numba_cuda_redirector") is None:
        raise DeviceError(f"device 'cuda' needs numba-cuda, which is not installed; run: {EXTRA}")
    try:
        # Puts numba-cuda in the place of the older module inside numba; a start-up file usually has done so already.
        import _numba_cuda_redirector  # noqa: F401
        from numba import cuda as module
    except Exception as error:
        raise DeviceError(f"device 'cuda' is not usable: numba-cuda does not load ({first_line(error)})") from error
    # Small batches fill only a part of the GPU; that is not news to whoever sends one.
    warnings.filterwarnings("ignore", message=".*[Gg]rid size.*under-utili[sz]ation.*")
    cuda: Any = module
    if is_simulated(cuda):
        return cuda
    try:
        present = cuda.is_available() and len(cuda.gpus) > 0
        reason = "no NVIDIA GPU or no driver was found" if not present else ""
        if present:
            cuda.current_context()
    except Exception as error:
        reason = first_line(error)
    if reason:
        raise DeviceError(f"device 'cuda' is not usable here: {reason}; use device='cpu' or device='auto'")
    return cuda


def is_simulated(cuda: Any) -> bool:
    """Whether kernels run in numba's simulator (NUMBA_ENABLE_CUDASIM=1), as they do in the tests."""
    return "simulator" in cuda.jit.__module__


def from_kernel(function: Any) -> Any:
    """A function of the CPU as a kernel may call it: itself, and in the simulator one that unwraps arrays first."""
    cuda = load()
    if isinstance(cuda, _NoDevice) or not is_simulated(cuda):
        return function

    def call(*arguments: Any) -> Any:
        return function(*(_unwrapped(argument) for argument in arguments))

    return call


def _unwrapped(argument: Any) -> Any:
    """The NumPy array that the simulator hides, or the argument as it is."""
    if type(argument).__name__ == "FakeWithinKernelCUDAArray":
        return argument._item._ary
    return argument


def copy_in(host: Any, device: Any, stream: Any) -> None:
    """Start to copy an array of the host, without gaps, to the first rows of one of the device."""
    cuda = load()
    if is_simulated(cuda):
        device[: len(host)].copy_to_device(host)
    else:
        # Not by their methods: slicing and checking takes Python longer than a piece takes to solve.
        cuda.cudadrv.driver.host_to_device(device, host, host.nbytes, stream)


def copy_out(device: Any, host: Any, stream: Any) -> None:
    """Start to copy the first rows of an array of the device to one of the host, without gaps."""
    cuda = load()
    if is_simulated(cuda):
        device[: len(host)].copy_to_host(host)
    else:
        cuda.cudadrv.driver.device_to_host(host, device, host.nbytes, stream)


def device_function(function: Callable[..., Any]) -> Any:
    """A function that kernels call, compiled into each of them."""
    return load().jit(function, device=True, forceinline=True)


def kernel_of_warps(shared: int) -> Any:
    """What makes kernels of one warp a block, with as many registers as leave room for all their blocks.

    Blocks need `shared` bytes of shared memory, which says how many can run at once, MOST_WARPS at the most. What a
    thread has no registers for lies on its stack, and costs less than it saves: the other warps run while one waits.
    """
    cuda = load()
    gpu = cuda.get_current_device()
    warps = min(gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // (shared + SHARED_OF_A_BLOCK), MOST_WARPS)
    # Each of the four parts of a multiprocessor has as many; registers are given out by eight.
    warps = max(warps // 4 * 4, 4)
    registers = gpu.MAX_REGISTERS_PER_MULTIPROCESSOR // (WARP * warps) // 8 * 8
    return cuda.jit(max_registers=min(registers, MOST_REGISTERS))


def unusable() -> str | None:
    """Why there is no GPU to use; None where there is one."""
    cuda = load()
    return cuda.reason if isinstance(cuda, _NoDevice) else None


def chosen(device: Any) -> str:
    """What a caller's device comes to, "cpu" or "cuda": "auto" is a GPU where one can be used."""
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
    """The GPUs of this machine; raises DeviceError where none can be used."""
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
    """How many blocks of threads run side by side at least."""
    cuda = load()
    return 1 if is_simulated(cuda) else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


def free_memory() -> int:
    """Bytes that can still be allocated on the current device."""
    cuda = load()
    return 1 << 30 if is_simulated(cuda) else int(cuda.current_context().get_memory_info().free)


def first_line(error: BaseException) -> str:
    """What an error says, without the pages that drivers add."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
