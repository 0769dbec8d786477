"""What a solve gives back: one `Solution`, or the `Solutions` of a batch."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import shown
from arcreach._typing import Array
from arcreach.kernels.chain import layout


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
    hint: str = ""  # a probable slip of units, where the target is far out of reach

    @property
    def reached(self) -> bool:
        """Whether position and orientation are within the tolerances."""
        return self.status == Status.REACHED

    def __str__(self) -> str:
        off = f"{_text.errors(self.position_error, self.angle_error)} off"
        free = "" if self.clearance is None else f", clearance {_text.length(self.clearance, 4)}"
        effort = f"{_text.count(self.iterations, 'iteration')}, {_text.seconds(self.seconds)}"
        return with_hint(f"{_WORDS[self.status]}: {off}{free}; {effort} ({self.method})", self.hint)


def with_hint(text: str, hint: str) -> str:
    """A printed result and, where there is one, the hint after it."""
    return f"{text}; {hint}" if hint else text


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
    hint: str = ""

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """For each target whether it was reached (n,)."""
        status: Any = self.status
        found = status.copy_to_host() if hasattr(status, "copy_to_host") else status
        reached: npt.NDArray[np.bool_] = np.equal(found, Status.REACHED)
        return reached

    def __len__(self) -> int:
        return len(self.q)

    @overload
    def __getitem__(self, i: int) -> Solution: ...

    @overload
    def __getitem__(self, i: slice | Sequence[int] | Sequence[bool] | npt.NDArray[Any]) -> Solutions: ...

    def __getitem__(self, i: Any) -> Solution | Solutions:
        """The result of target `i`; the results of several for a slice, a mask (n,) or an array of indices."""
        if isinstance(i, (int, np.integer)) and not isinstance(i, bool):
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
        rows = i if isinstance(i, slice) else np.asarray(i)
        if not isinstance(rows, slice):
            if rows.ndim == 1 and not rows.size:
                rows = rows.astype(np.int64)
            if rows.ndim != 1 or rows.dtype.kind not in "iub":
                raise TypeError(
                    f"index {shown(i)} is not accepted; give a whole number, a slice, a mask or indices (m,)"
                )

        def chosen(values: Any) -> Any:
            # Arrays on a GPU know slices only; what is chosen from them by a mask or by indices comes to the host.
            on_device = hasattr(values, "copy_to_host") and not isinstance(rows, slice)
            return (values.copy_to_host() if on_device else values)[rows]

        found = Solutions(
            chosen(self.q),
            chosen(self.status),
            chosen(self.position_error),
            chosen(self.angle_error),
            chosen(self.iterations),
            chosen(self.seconds),
            self.method,
            None if self.clearance is None else chosen(self.clearance),
        )
        if self.hint and not found.reached.all():
            found.hint = self.hint
        return found

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        if not len(self):
            return f"no targets ({self.method})"
        share = 100.0 * self.reached.mean()
        steps = _text.count(round(float(np.median(self.iterations))), "iteration")
        effort = f"median {_text.seconds(float(np.median(self.seconds)))}, {steps}"
        text = f"{self.reached.sum()} of {len(self)} reached ({share:.4g} %); {effort} ({self.method})"
        return with_hint(text, self.hint)
