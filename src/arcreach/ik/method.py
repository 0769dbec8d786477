"""`Method`: a named solver and the robots and targets it accepts; `Problem` and `Outcome`: its input and output."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import numpy.typing as npt

from arcreach._checks import shown
from arcreach._jit import settled
from arcreach._threads import SMALLEST_PIECE, spread
from arcreach._typing import Array
from arcreach.elements import ELEMENTS
from arcreach.errors import MethodError
from arcreach.ik.methods import MODULES
from arcreach.ik.solution import Solution
from arcreach.ik.target import KINDS, Targets
from arcreach.kernels.methods.iteration import Answers
from arcreach.kernels.solver.contexts import Task
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    AnyRobot = TypeVar("AnyRobot", bound=Robot | SymbolicRobot, default=Robot)
else:
    # Python 3.11 knows no defaults of type variables.
    from typing import TypeVar

    AnyRobot = TypeVar("AnyRobot")


ALL_ELEMENTS = frozenset(element.kind for element in ELEMENTS)
ALL_TARGETS = frozenset(KINDS)


@functools.cache
def no_rows(dof: int) -> Array:
    """Return the shared empty array (0, dof) that stands for no starts and no trace."""
    return np.empty((0, dof))


@dataclass(slots=True)
class Problem(Generic[AnyRobot]):
    """What a method is asked to solve: targets of one kind for a robot, tolerances and limits of the effort.

    The robot of a plain `Problem` is a chain. A method that also serves robots given as a matrix takes `Problem[Any]`.
    """

    robot: AnyRobot
    targets: Targets
    start: Array | None  # (n, dof), within the limits, a copy of what was given
    position_tol: float
    angle_tol: float
    max_iterations: int | None  # None: the method's own limit
    max_time: float  # seconds per target, may be infinite
    seed: int
    variant: str
    threads: int | None
    trace: Array  # (capacity, dof): filled with the configurations of the only target; capacity 0 where not wanted
    options: dict[str, Any] = field(default_factory=dict)
    scene: Any = None  # Scene or None: obstacles to keep `margin` metres away from
    margin: float = 0.0


@dataclass(slots=True)
class Outcome:
    """The answers of a method, a row per target; a status that contradicts the recomputed errors is corrected."""

    q: Array  # (n, dof), within the limits
    status: npt.NDArray[np.int64]
    iterations: npt.NDArray[np.int64]
    seconds: Array
    traced: int = 0  # rows of the trace that were filled
    columns: dict[str, Array] = field(default_factory=dict)  # further numbers of each traced row, by name
    # Position and angle errors, where the method computed them exactly and set the status by them.
    errors: tuple[Array, Array] | None = None

    @classmethod
    def empty(cls, problem: Problem[Any]) -> Outcome:
        """Return an outcome of uninitialised arrays for a problem."""
        n = len(problem.targets)
        return cls(
            np.empty((n, problem.robot.dof)), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64)
        )


# For single solves: numba's overload resolution is skipped, which takes longer than some of them.
_entry = functools.cache(settled)
_NOT_TRACED = np.zeros(1, np.int64), np.empty((0, 0))


def run_kernel(
    problem: Problem[Any],
    kernel: Callable[..., Any],
    *arguments: Any,
    max_steps: int,
    start: Callable[[Any], Array] = operator.attrgetter("neutral"),
    columns: tuple[str, ...] = (),
    smallest: int = SMALLEST_PIECE,
) -> Outcome:
    """Call `kernel(start, stop, *arguments, task, answers)` over all targets of a problem.

    `max_steps` and `start`, a function of the robot, are used where the caller gave none. `columns` names further
    numbers that the kernel writes for each traced row; a thread gets at least `smallest` rows. The types of `arguments`
    must be the same in every call with this kernel.
    """
    n, capacity = len(problem.targets), len(problem.trace)
    first = start(problem.robot) if problem.start is None else problem.start
    q = np.array(first, np.float64, order="C", ndmin=2)
    if len(q) != n:
        q = np.repeat(q, n, axis=0)
    outcome = Outcome(q, np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n))
    # By position, and with shared arrays where nothing is traced: some solves take under a microsecond.
    mode, rows = problem.targets.packed
    task = Task(
        rows, mode, problem.position_tol, problem.angle_tol, 1, problem.max_iterations or max_steps, problem.max_time,
        problem.start is not None, False, problem.trace,
    )  # fmt: skip
    traced, told = (np.zeros(1, np.int64), np.empty((capacity, len(columns)))) if capacity else _NOT_TRACED
    answers = Answers(q, outcome.status, outcome.iterations, outcome.seconds, traced, told)
    if n == 1:
        _entry(kernel)(0, 1, *arguments, task, answers)
    else:
        spread(kernel, n, *arguments, task, answers, threads=problem.threads, smallest=smallest)
    if capacity:
        outcome.traced = int(traced[0])
        outcome.columns = dict(zip(columns, told.T, strict=True))
    return outcome


@dataclass(frozen=True)
class Method:
    """A method of inverse kinematics and the robots and targets it accepts."""

    name: str
    summary: str
    source: str  # key of the bibliography
    run: Callable[[Problem[Any]], Outcome]
    # Fast path for a single target without a trace: the checked answer.
    solve_one: Callable[[Problem[Any]], Solution] | None = None
    elements: frozenset[str] = ALL_ELEMENTS
    targets: frozenset[str] = ALL_TARGETS
    variants: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    # Further condition: returns why a robot is not accepted, or None.
    refuses: Callable[[Robot], str | None] = lambda _: None
    # Whether it avoids the obstacles of a scene; the answers of others are only checked.
    avoids: bool = False
    # Whether it also serves a robot given as a matrix, by forward kinematics and limits alone.
    symbolic: bool = False

    def refusal(self, robot: Robot | SymbolicRobot, kind: str | None = None) -> str | None:
        """Return why the method does not serve this robot, or targets of this kind; None where it does."""
        if not isinstance(robot, Robot):
            if not self.symbolic:
                return "it needs a chain of elements, the robot is given as a matrix"
            return self._target_refusal(kind)
        foreign = sorted({element.kind for element in robot.elements} - self.elements)
        if foreign:
            return f"it accepts {', '.join(sorted(self.elements))}, the robot has a {foreign[0]}"
        if robot.dof == 0:
            return "the robot has nothing to move"
        return self._target_refusal(kind) or self.refuses(robot)

    def _target_refusal(self, kind: str | None) -> str | None:
        if kind is None or kind in self.targets:
            return None
        return f"it serves targets of {', '.join(sorted(self.targets))}, not {kind}"

    def check_options(self, options: Iterable[str]) -> None:
        """Raise MethodError for an option that the method does not know."""
        for option in options:
            if option not in self.options:
                known = ", ".join(sorted(self.options)) or "none"
                raise MethodError(f"option '{option}' is not known to method '{self.name}'; its options: {known}")


_methods: dict[str, Method] = {}
# Methods that a user named for one command: found by name, not listed.
_adopted: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Register a method under its name."""
    if method.name in _methods:
        raise MethodError(f"method '{method.name}' is registered already; give another name")
    _methods[method.name] = method
    return method


def unregister(name: str) -> None:
    """Remove a registered method, for example to register another one under its name."""
    _methods.pop(find_method(name).name, None)


def adopt(method: Method) -> Method:
    """Make a method known to `find_method` alone; lists of all methods leave it out."""
    known = {**methods(), **_adopted}.get(method.name, method)
    if known is not method:
        raise MethodError(f"method '{method.name}' is another method's name already; give another name")
    _adopted[method.name] = method
    return method


def methods() -> dict[str, Method]:
    """Return all methods by name, `auto` first."""
    for module in MODULES:
        _load(module)
    return dict(sorted(_methods.items(), key=lambda item: (item[0] != "auto", item[0])))


def find_method(name: str) -> Method:
    """Return the method of that name."""
    if isinstance(name, str) and name not in _methods:
        # Importing all methods takes longer than a first solve.
        module = name.replace("-", "_")
        if module in MODULES:
            _load(module)
    if not isinstance(name, str) or name not in _methods:
        if isinstance(name, str) and name in _adopted:
            return _adopted[name]
        known = methods()
        if not isinstance(name, str) or name not in known:
            raise MethodError(f"method = {shown(name)} is not known; give one of {', '.join(known)}")
    return _methods[name]


def _load(module: str) -> None:
    importlib.import_module(f"arcreach.ik.methods.{module}")


def markdown_table() -> str:
    """The methods as a Markdown table."""
    lines = ["| method | what it is | elements | targets | variants | source |", "|---|---|---|---|---|---|"]
    for method in methods().values():
        elements = "all" if method.elements == ALL_ELEMENTS else ", ".join(sorted(method.elements))
        source = "ours" if method.source == "derived" else f"[{method.source}]"
        cells = (
            f"`{method.name}`", method.summary, elements, ", ".join(sorted(method.targets)),
            ", ".join(method.variants), source,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
