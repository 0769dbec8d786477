"""The results of solves: one `Solution`, or the `Solutions` of a batch."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import chosen_rows, positive
from arcreach._typing import Array, Booleans, Integers
from arcreach.errors import TargetError
from arcreach.ik.judge import judge
from arcreach.ik.target import Target, Targets
from arcreach.kernels.chain import layout
from arcreach.robots.hints import position_hint
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot


class Status(enum.IntEnum):
    """How a solve or a plan ended. In every case q is the best configuration found and lies within the limits."""

    REACHED = layout.REACHED  # within the tolerances; margin and port, if given, are kept
    STALLED = layout.STALLED  # no descent made further progress, or the method's result fails `judge`
    ITERATION_LIMIT = layout.ITERATION_LIMIT
    TIME_LIMIT = layout.TIME_LIMIT
    OUT_OF_REACH = layout.OUT_OF_REACH  # farther from the first moving element than the tip can be
    COLLISION = layout.COLLISION  # reached only with a clearance below the margin, or the target is inside an obstacle
    PORT_MISSED = layout.PORT_MISSED  # the target is reached, but the body does not pass the port


# Indexed by code, which is faster than `Status(code)`.
STATUS_BY_CODE = tuple(Status)

# Statuses that concern the body: the errors of the tip do not show them.
_BODY = (Status.COLLISION, Status.PORT_MISSED)

_TEXTS = {
    Status.REACHED: "reached",
    Status.STALLED: "not reached: no progress",
    Status.ITERATION_LIMIT: "not reached: iteration limit",
    Status.TIME_LIMIT: "not reached: time limit",
    Status.OUT_OF_REACH: "out of reach",
    Status.COLLISION: "not reached: an obstacle is in the way",
    Status.PORT_MISSED: "not reached: the body misses the port",
}


@dataclass(slots=True)
class Trace:
    """The configurations of a solve with their errors: row 0 is the start, row k follows iteration k.

    `auto` adds accepted steps only, and a row for every restart.
    """

    q: Array
    position_error: Array
    angle_error: Array
    # Further numbers that a method records, by name: an array with an entry per iteration.
    columns: dict[str, Array] = field(default_factory=dict)
    # Virtual links of the FABRIK methods by stage of an iteration, in order: "forward", "backward", and "adjusted" for
    # `chords`. Arrays (n, sections, 3, 3) of start, joint (where the tangents meet) and end of every section, in metres
    # in the frame of the base. Joints of `chords` and stages that were not run are NaN; row 0 has "backward" alone.
    links: dict[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.q)


@dataclass(slots=True)
class Solution:
    """The result of one solve; errors are computed from `q` by exact forward kinematics."""

    q: Array
    status: Status
    position_error: float
    angle_error: float
    iterations: int
    seconds: float
    method: str
    trace: Trace | None = None
    hits: int = 1  # starts that ended at this solution, in `solve_all`
    clearance: float | None = None  # metres to the nearest obstacle, if a scene was given
    hint: str = ""  # possible wrong units of target or start, if it was not reached
    robot: Robot | SymbolicRobot | None = field(default=None, repr=False)
    target: Target | None = field(default=None, repr=False)
    port_distance: float | None = None  # metres from the port's point to the centre line, if a port was given
    interpreted: bool = False  # whether kernels were interpreted, so that `seconds` is not the time of compiled code
    of_all: bool = False  # whether `iterations` and `seconds` are those of `solve_all`, for all its solutions together

    @property
    def reached(self) -> bool:
        """Whether the tip is within the tolerances, and the body keeps the margin and passes the port, if given."""
        return self.status == Status.REACHED

    def check(self, position_tol: float = 1e-6, angle_tol: float = 1e-3) -> Solution:
        """Return this solution with the errors of its `q` recomputed and the status for these tolerances.

        Obstacles and ports are not checked again: COLLISION and PORT_MISSED stay.
        """
        if self.robot is None or self.target is None:
            raise TargetError("the solution has no robot or target; check one that `solve` returned")
        tolerances = positive("position_tol", position_tol, "metres"), positive("angle_tol", angle_tol, "radians")
        status = np.array([self.status], np.int64)
        errors = judge(self.robot, self.q[None], self.target.batch, tolerances, status)
        status_now = self.status if self.status in _BODY else STATUS_BY_CODE[status[0]]
        return replace(
            self,
            status=status_now,
            position_error=errors[0].item(),
            angle_error=errors[1].item(),
            hint="" if status_now == Status.REACHED else self.hint,
        )

    def describe(self) -> str:
        """Return `str(self)` and a line per coordinate, by name, in degrees or millimetres."""
        if self.robot is None:
            return str(self)
        lines = _text.coordinate_lines(self.robot.coordinates, self.robot.quantities, self.q.tolist())
        return "\n".join([str(self), *lines])

    def __str__(self) -> str:
        errors = f"{_text.errors(self.position_error, self.angle_error)} off"
        clearance = "" if self.clearance is None else f", clearance {_text.length(self.clearance, 4)}"
        port = "" if self.port_distance is None else f", {_text.length(self.port_distance, 4)} from the port"
        effort = "" if self.of_all else f"; {self.effort}"
        method = f"{self.method}, interpreted" if self.interpreted else self.method
        return with_hint(f"{_TEXTS[self.status]}: {errors}{clearance}{port}{effort} ({method})", self.hint)

    @property
    def effort(self) -> str:
        """Iterations and time as text."""
        return f"{_text.count(self.iterations, 'iteration')}, {_text.seconds(self.seconds)}"


def with_hint(text: str, hint: str) -> str:
    """Return a printed result followed by the hint, if any."""
    return f"{text}; {hint}" if hint else text


@dataclass(slots=True)
class Solutions:
    """The results of a batch: the fields of `Solution` as arrays with a leading axis of n.

    For targets on a GPU `q`, `status`, both errors and `iterations` stay on the device. `targets` is None if
    plain arrays were solved on a GPU, because no copy of them is kept on the host.
    """

    q: Array
    status: Integers
    position_error: Array
    angle_error: Array
    iterations: Integers
    seconds: Array
    method: str
    clearance: Array | None = None
    hint: str = ""
    robot: Robot | SymbolicRobot | None = field(default=None, repr=False)
    targets: Targets | None = field(default=None, repr=False)
    port_distance: Array | None = None

    @property
    def reached(self) -> Booleans:
        """Whether each target was reached (n,)."""
        return np.asarray(_on_host(self.status) == Status.REACHED)

    def check(self, position_tol: float = 1e-6, angle_tol: float = 1e-3) -> Solutions:
        """Return these solutions with all errors recomputed and the status for these tolerances, as by `Solution`."""
        if self.robot is None or self.targets is None:
            raise TargetError("these solutions have no robot or targets; solve `Targets` to check them")
        tolerances = positive("position_tol", position_tol, "metres"), positive("angle_tol", angle_tol, "radians")
        q, before = _on_host(self.q), _on_host(self.status)
        status = before.copy()
        errors = judge(self.robot, q, self.targets, tolerances, status)
        judged = np.where(np.isin(before, _BODY), before, status)
        hint = "" if (judged == Status.REACHED).all() else self.hint
        return replace(self, q=q, status=judged, position_error=errors[0], angle_error=errors[1], hint=hint)

    def __len__(self) -> int:
        return len(self.q)

    @overload
    def __getitem__(self, i: int) -> Solution: ...

    @overload
    def __getitem__(self, i: slice | Sequence[int] | Sequence[bool] | npt.NDArray[Any]) -> Solutions: ...

    def __getitem__(self, i: Any) -> Solution | Solutions:
        """Return the result of target `i`; several results for a slice, a mask (n,) or an array of indices."""
        rows = chosen_rows(i)
        if isinstance(rows, int):
            status = STATUS_BY_CODE[self.status[rows]]
            return Solution(
                self.q[rows],
                status,
                float(self.position_error[rows]),
                float(self.angle_error[rows]),
                int(self.iterations[rows]),
                float(self.seconds[rows]),
                self.method,
                clearance=None if self.clearance is None else float(self.clearance[rows]),
                hint="" if status == Status.REACHED else self._hint(rows),
                robot=self.robot,
                target=None if self.targets is None else self.targets[rows],
                port_distance=None if self.port_distance is None else float(self.port_distance[rows]),
            )

        def chosen(values: Any) -> Any:
            # Arrays on a GPU take slices only; a mask or indices choose from a copy on the host.
            return values[rows] if isinstance(rows, slice) else _on_host(values)[rows]

        found = Solutions(
            chosen(self.q),
            chosen(self.status),
            chosen(self.position_error),
            chosen(self.angle_error),
            chosen(self.iterations),
            chosen(self.seconds),
            self.method,
            None if self.clearance is None else chosen(self.clearance),
            robot=self.robot,
            targets=None if self.targets is None else self.targets[rows],
            port_distance=None if self.port_distance is None else chosen(self.port_distance),
        )
        if self.hint and not found.reached.all():
            found.hint = self._hint(rows)
        return found

    def _hint(self, rows: Any) -> str:
        """Return the hint of some rows."""
        if not self.hint or self.robot is None or self.targets is None:
            return self.hint
        return position_hint(self.robot, self.targets.positions[rows])

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        if not len(self):
            return f"no targets ({self.method})"
        # Rounded down, so that 100 % means all.
        share = math.floor(1e4 * float(self.reached.mean())) / 100.0
        steps = _text.count(round(float(np.median(self.iterations))), "iteration")
        effort = f"median {_text.seconds(float(np.median(self.seconds)))}, {steps}"
        text = f"{self.reached.sum()} of {len(self)} reached ({share:g} %); {effort} ({self.method})"
        return with_hint(text, self.hint)


def _on_host(values: Any) -> npt.NDArray[Any]:
    """Return an array on the host; one on a GPU is copied."""
    host: npt.NDArray[Any] = values.copy_to_host() if hasattr(values, "copy_to_host") else values
    return host
