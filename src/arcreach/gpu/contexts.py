"""Named tuples of the GPU kernels, in addition to those of the solver, and device functions that all kernels share."""

import functools
from typing import Any, NamedTuple

import numpy as np

from arcreach.gpu.driver import WARP, device_function, from_kernel, is_simulated, load, with_exchanged
from arcreach.gpu.nvvm_hints import unrolled_rows, unrolled_variables
from arcreach.kernels.chain.layout import ROTATION
from arcreach.kernels.math.trigonometry import LARGEST_ANGLE, sincos, sincos_reduced
from arcreach.kernels.solver import gpu_lookup, loops, variables
from arcreach.kernels.solver.contexts import Goal, Model, Task, Work
from arcreach.kernels.solver.descent import forget_columns

# A module global: the simulator replaces it while a kernel runs.
cuda = load()

# Values of `chosen` other than the index of a seed: the caller's start, the caller's start with the target no farther
# from it than a step of a path, and a rejected target.
FROM_START = -1
NEAR_START = -2
REFUSED = -3

# Columns of `Models.numbers`.
SCALE, WEIGHT, REACH, SYMMETRIC, SCALED, FRONT_KIND, LEVER = range(7)


class Targets(NamedTuple):
    """The targets of a batch, one per row."""

    positions: Any  # (n, 3)
    turned: Any  # (n, 0), axes (n, 3) or rotations (n, 9)
    start: Any  # (n, dof) if the caller gives starts


class Models(NamedTuple):
    """Models of robots of one size, stacked."""

    chains: Any  # (robots, elements)
    moving: Any  # (robots, moving elements)
    polynomials: Any
    ends: Any
    numbers: Any  # (robots, 7)


class Robots(NamedTuple):
    """Models and tables of robots of one size, stacked."""

    models: Any  # 0 in kernels compiled for one robot
    keys: Any  # (robots, seeds, columns), the columns that the mode needs
    first_keys: Any  # the same with the constants `Table.near_rest`, to choose the first seed
    seeds: Any  # (robots, seeds, variables)
    turn_weights: Any  # (robots,)


class Limits(NamedTuple):
    """Tolerances and step budget, known at run time only."""

    position_tol: float
    angle_tol: float
    max_steps: int


class Accepted(NamedTuple):
    """Bounds of accepted targets."""

    farthest: float  # metres along each axis
    defect: float  # deviation of a matrix from a rotation


class Found(NamedTuple):
    """Final solver variables, status codes and step counts of the descents."""

    V: Any  # (n, variables)
    codes: Any  # (n,)
    steps: Any  # (n,)


class Answers(NamedTuple):
    """The result arrays of the caller."""

    q: Any  # (n, dof)
    status: Any  # (n,)
    iterations: Any
    position_error: Any
    angle_error: Any


class Queue(NamedTuple):
    """Indices of targets left for the next kernel."""

    items: Any
    count: Any  # (1,)


class Kind(NamedTuple):
    """Compile-time parameters of a set of kernels."""

    mode: int
    seeds: int
    variables: int  # capacity
    rows: int  # capacity, in moving elements
    started: bool  # the caller gives starts
    robot: Model | None = None  # the only robot, whose numbers become constants

    @property
    def shared(self) -> bool:
        """Whether Jacobians are in shared memory, interleaved by thread."""
        return self.robot is not None and not is_simulated(cuda)

    @property
    def height(self) -> int:
        """Residual components per Jacobian column in shared memory."""
        return 6 if self.mode == ROTATION else 5

    def function(self, kernel: Any) -> Any:
        """Return the device function of a CPU kernel, as these kernels call it.

        For one robot, loops over its moving elements and variables are unrolled. A fence after each evaluation keeps
        the compiler from holding the shared Jacobian in registers as well, which would spill others. `sincos` loses its
        branch for large angles if the robot's limits allow it, because long kernels stall on instruction fetches.
        """
        if not self.shared:
            return from_kernel(kernel)
        replacements = _replacements()
        if largest_angle(self.robot) <= LARGEST_ANGLE:
            replacements += ((sincos, sincos_reduced),)
        return with_exchanged(kernel, replacements)


@functools.cache
def _replacements() -> tuple[tuple[Any, Any], ...]:
    """Return the pairs of a CPU kernel and its replacement in kernels for one robot."""

    @device_function
    def fence():
        cuda.threadfence_block()

    return (
        (forget_columns, fence),
        (loops.rows, device_function(unrolled_rows)),
        (loops.variables, device_function(unrolled_variables)),
    )


def largest_angle(model: Model | None) -> float:
    """Return the largest absolute limit of a robot's coordinates."""
    assert model is not None
    moving = model.moving
    return max(float(np.abs(moving[name]).max(initial=0.0)) for name in ("lower", "upper", "bend_max"))


class Parts(NamedTuple):
    """Device functions shared by the kernels of a kind."""

    task_of: Any
    model_of: Any
    work_of: Any
    goal_of: Any
    read_target: Any
    keep: Any


aims = from_kernel(variables.aims)
load_target = from_kernel(gpu_lookup.load_target)
to_front = from_kernel(variables.to_front)


def parts(kind: Kind) -> Parts:
    """Return the device functions shared by the kernels of a kind.

    These functions must not allocate local arrays, which are invalid after the return even if a function is inlined.
    """
    mode, seeds, most, _, started, robot = kind
    known, shared, height = robot is not None, kind.shared, kind.height
    variables_of = kind.function(loops.variables)
    # Without a robot, these are placeholders that are never read.
    zeros: Any = [0] * len(Model._fields)
    one = robot or Model(*zeros)
    CHAIN, MOVING, POLYNOMIALS, ENDS = (np.copy(array) for array in (one.chain, one.moving, one.polynomials, one.ends))
    K_SCALE, K_WEIGHT, K_REACH, K_LEVER = one.scale, one.weight, one.reach, one.lever
    K_SYMMETRIC, K_SCALED, K_FRONT_KIND = one.symmetric, one.scaled, one.front_kind
    f64 = np.float64

    @device_function
    def task_of(limits):
        """Return the task, with placeholders for its targets."""
        return Task(0, mode, limits.position_tol, limits.angle_tol, seeds, limits.max_steps, 0.0, started, True, 0)

    @device_function
    def model_of(robots, r):
        """Return the model of robot r."""
        if known:
            return Model(
                cuda.const.array_like(CHAIN),
                cuda.const.array_like(MOVING),
                cuda.const.array_like(POLYNOMIALS),
                K_SCALE,
                K_WEIGHT,
                K_REACH,
                K_SYMMETRIC,
                K_SCALED,
                K_FRONT_KIND,
                K_LEVER,
                cuda.const.array_like(ENDS),
            )
        else:  # noqa: RET505 - numba prunes the branch not taken
            models = robots.models
            x = models.numbers
            return Model(
                models.chains[r],
                models.moving[r],
                models.polynomials[r],
                x[r, SCALE],
                x[r, WEIGHT],
                x[r, REACH],
                x[r, SYMMETRIC] != 0.0,
                x[r, SCALED] != 0.0,
                int(x[r, FRONT_KIND]),
                x[r, LEVER],
                models.ends[r],
            )

    @device_function
    def work_of(room, n):
        """Return the scratch of a thread for n variables, from arrays of full capacity."""
        if shared:
            columns = cuda.shared.array((most, height, WARP), f64)
            return Work(room.v, room.trial, columns[:, :, cuda.threadIdx.x], room.e, room.y, room.codes)
        elif known:  # noqa: RET505
            return room
        else:
            return Work(room.v[:n], room.trial[:n], room.J[:n], room.e, room.y, room.codes)

    @device_function
    def goal_of(model, task, target):
        """Return a goal; its target is still to be read."""
        distance2, angle = aims(model, task.position_tol, task.angle_tol)
        return Goal(target, mode, distance2, angle)

    @device_function
    def read_target(model, targets, i, goal):
        """Read target i into the goal, in the frame of the first moving element."""
        load_target(targets.positions, targets.turned, i, mode, goal.target)
        to_front(model, mode, goal.target, goal.target)

    @device_function
    def keep(work, i, code, steps, found):
        """Store the result of the descent for target i."""
        for k in range(variables_of(work.v)):
            found.V[i, k] = work.v[k]
        found.codes[i] = code
        found.steps[i] = steps

    return Parts(task_of, model_of, work_of, goal_of, read_target, keep)
