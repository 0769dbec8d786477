"""Forward kinematics and Jacobians of many configurations on a GPU, a thread each, by the functions of `chain`."""

from arcreach._cuda.driver import from_kernel, load
from arcreach.kernels import chain as chain_kernels

# Of the module, not passed on: the simulator puts its own in the place of a global name.
cuda = load()

jacobian = from_kernel(chain_kernels.jacobian)
tip_pose = from_kernel(chain_kernels.tip_pose)


def build():
    """Return the kernels, by the name of the method of `Robot` they serve, compiled when called. Source: derived."""

    @cuda.jit
    def poses(n, chain, Q, out):
        for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, n, cuda.gridDim.x * cuda.blockDim.x):
            tip_pose(chain, Q[i], out[i])

    @cuda.jit
    def jacobians(n, chain, Q, out):
        for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, n, cuda.gridDim.x * cuda.blockDim.x):
            jacobian(chain, Q[i], out[i])

    return {"tip_pose": poses, "jacobian": jacobians}
