"""Forward kinematics and Jacobians of batches on a GPU, by the functions of `kernels.chain.kinematics`."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from arcreach.errors import ConfigurationError
from arcreach.gpu import driver
from arcreach.gpu.host_memory import locked_array
from arcreach.gpu.kernel_cache import attach_cache
from arcreach.gpu.streams import Layout, Slot, memory_errors, piece_rows, stream_pieces
from arcreach.kernels.chain import kinematics as chain_kernels

# A module global: the simulator replaces it while a kernel runs.
cuda = driver.load()

jacobian = driver.from_kernel(chain_kernels.jacobian)
tip_pose = driver.from_kernel(chain_kernels.tip_pose)

# Threads per block.
WIDE = 256


@functools.cache
def _kernels() -> dict[str, Any]:
    """Return the kernels by the name of their `Robot` method; they are compiled at the first call."""

    @cuda.jit
    def poses(n: Any, chain: Any, Q: Any, out: Any) -> None:
        for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, n, cuda.gridDim.x * cuda.blockDim.x):
            tip_pose(chain, Q[i], out[i])

    @cuda.jit
    def jacobians(n: Any, chain: Any, Q: Any, out: Any) -> None:
        for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, n, cuda.gridDim.x * cuda.blockDim.x):
            jacobian(chain, Q[i], out[i])

    built = {"tip_pose": poses, "jacobian": jacobians}
    attach_cache(built.values())
    return built


def on_device(values: Any) -> bool:
    """Return whether an array is on a GPU."""
    return hasattr(values, "__cuda_array_interface__") or hasattr(values, "copy_to_host")


def device_rows(values: Any, field: str, width: int) -> Any:
    """Return a device array as rows (n, width) of 64-bit floats, without a copy."""
    array = values if driver.is_simulated(cuda) else cuda.as_cuda_array(values)
    shape = tuple(array.shape)
    if array.dtype != np.float64 or len(shape) != 2 or shape[1] != width:
        raise ConfigurationError(
            f"{field} on the device has the shape {shape} and the type {array.dtype}; give float64 of shape "
            f"(n, {width})"
        )
    if not array.is_c_contiguous():
        raise ConfigurationError(f"{field} on the device is not C-contiguous; give a contiguous copy")
    return array


def run_rows(name: str, chain: Any, dof: int, q: Any, shape: tuple[int, ...]) -> Any:
    """Evaluate `name` for every row of q (n, dof); host arrays are streamed through the device."""
    kernel = _kernels()[name]
    packed = cuda.to_device(chain)
    wide = 4 if driver.is_simulated(cuda) else WIDE

    def call(n: int, rows: Any, out: Any, stream: Any) -> None:
        blocks = min(math.ceil(n / wide), 64 * driver.multiprocessors())
        kernel[blocks, wide, stream](n, packed, rows, out)

    layout = Layout((((dof,), np.float64),), ((shape, np.float64),))
    if on_device(q):
        rows = device_rows(q, "q", dof)
        with memory_errors(layout, len(rows)):
            out = cuda.device_array((len(rows), *shape))
        if len(rows):
            call(len(rows), rows, out, 0)
        return out
    n = len(q)
    out = locked_array((n, *shape), np.float64)
    if n:
        capacity = piece_rows(layout, n)
        pieces = [(start, min(start + capacity, n)) for start in range(0, n, capacity)]

        def launch(slot: Slot, start: int, stop: int) -> None:
            call(stop - start, slot.inputs[0], slot.outputs[0], slot.stream)

        stream_pieces(layout, capacity, pieces, [q], [out], launch)
    return out
