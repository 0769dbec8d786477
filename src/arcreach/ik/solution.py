"""What a solve gives back: one `Solution`, or the `Solutions` of a batch."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.kernels import layout

Array = npt.NDArray[np.float64]


class Status(enum.IntEnum):
    """How a solve ended. Whatever it says, q is the best configuration found and lies within the limits."""

    REACHED = layout.REACHED
    STALLED = layout.STALLED
    ITERATION_LIMIT = layout.ITERATION_LIMIT
    TIME_LIMIT = layout.TIME_LIMIT
    OUT_OF_REACH = layout.OUT_OF_REACH
    COLLISION = layout.COLLISION


STATUS_BY_CODE = tuple(Status)

_WORDS = {
    Status.REACHED: "reached",
    Status.STALLED: "not reached: no progress",
    Status.ITERATION_LIMIT: "not reached: iteration limit",
    Status.TIME_LIMIT: "not reached: time limit",
    Status.OUT_OF_REACH: "out of reach",
    Status.COLLISION: "not reached: an obstacle is in the way",
}


@dataclass(slots=True)
class Trace:
    """The way of a solve: every configuration it stood at, with the errors there."""

    q: Array
    position_error: Array
    angle_error: Array
    # What a method tells of its steps beside that, by name: an array with an entry per step.
    columns: dict[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.q)


@dataclass(slots=True)
class Solution:
    """The result of one solve; errors are those of `q` by the robot's own forward kinematics."""

    q: Array
    status: Status
    position_error: float
    angle_error: float
    iterations: int
    seconds: float
    method: str
    trace: Trace | None = None
    hits: int = 1
    clearance: float | None = None  # metres to the nearest obstacle, where a scene was given

    @property
    def reached(self) -> bool:
        """Whether position and orientation are within the tolerances."""
        return self.status == Status.REACHED

    def __str__(self) -> str:
        errors = f"{self.position_error * 1e6:.3g} µm, {self.angle_error:.2e} rad off"
        free = "" if self.clearance is None else f", clearance {self.clearance * 1e3:.4g} mm"
        effort = f"{self.iterations} iterations, {self.seconds * 1e6:.0f} µs"
        return f"{_WORDS[self.status]}: {errors}{free}; {effort} ({self.method})"


@dataclass(slots=True)
class Solutions:
    """The results of a batch: the names of `Solution` with a leading axis of n.

    Of targets that lie on a GPU `q`, `status`, both errors and `iterations` lie there too.
    """

    q: Array
    status: npt.NDArray[np.int64]
    position_error: Array
    angle_error: Array
    iterations: npt.NDArray[np.int64]
    seconds: Array
    method: str
    clearance: Array | None = None

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """For each target whether it was reached (n,)."""
        status: Any = self.status
        found = status.copy_to_host() if hasattr(status, "copy_to_host") else status
        reached: npt.NDArray[np.bool_] = np.equal(found, Status.REACHED)
        return reached

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, i: int) -> Solution:
        return Solution(
            self.q[i],
            STATUS_BY_CODE[self.status[i]],
            float(self.position_error[i]),
            float(self.angle_error[i]),
            int(self.iterations[i]),
            float(self.seconds[i]),
            self.method,
            clearance=None if self.clearance is None else float(self.clearance[i]),
        )

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        if not len(self):
            return f"no targets ({self.method})"
        share = 100.0 * self.reached.mean()
        effort = f"median {np.median(self.seconds) * 1e6:.2f} µs, {np.median(self.iterations):.0f} iterations"
        return f"{self.reached.sum()} of {len(self)} reached ({share:.4g} %); {effort} ({self.method})"
