"""`Method`: a named solver and the robots and targets it accepts; `Problem` and `Outcome`: its input and output."""

from __future__ import annotations

import functools
import importlib
import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import numpy as np
import numpy.typing as npt

from arcreach import _interpreter
from arcreach._checks import shown, suggestion
from arcreach._jit import settled
from arcreach._threads import SMALLEST_PIECE, spread
from arcreach._typing import Array
from arcreach.elements import ELEMENTS, HeldSection
from arcreach.errors import MethodError
from arcreach.ik.methods import MODULES
from arcreach.ik.solution import Solution
from arcreach.ik.target import KINDS, Targets
from arcreach.kernels.methods.iteration import Answers
from arcreach.kernels.solver.contexts import Task
from arcreach.kernels.solver.preference import Preference
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    GivenRobot = TypeVar("GivenRobot", bound=Robot | SymbolicRobot, default=Robot)
else:
    # Python 3.11 has no defaults of type variables.
    from typing import TypeVar

    GivenRobot = TypeVar("GivenRobot")


ALL_ELEMENTS = frozenset(element.kind for element in ELEMENTS)
ALL_TARGETS = frozenset(KINDS)
# position_tol, angle_tol, max_iterations, max_time, seed, variant, threads, in the order of `Problem`. `solve` passes
# the same tuple for equal settings of one robot, so methods may compare settings by identity.
Settings: TypeAlias = tuple[float, float, int | None, float, int, str, int | None]


@functools.cache
def no_rows(dof: int) -> Array:
    """Return the shared empty array (0, dof) that stands for no starts and no trace."""
    return np.empty((0, dof))


@dataclass(slots=True)
class Problem(Generic[GivenRobot]):
    """The input of a method: targets of one kind for a robot, tolerances, iteration and time limits.

    `Problem` alone means a `Robot`; methods that also accept a `SymbolicRobot` take `Problem[Any]`.
    """

    robot: GivenRobot
    targets: Targets
    start: Array | None  # (n, dof), within the limits; a copy of the caller's
    position_tol: float
    angle_tol: float
    max_iterations: int | None  # None: the method's own limit
    max_time: float  # seconds per target, may be infinite
    seed: int
    variant: str
    threads: int | None
    trace: Array  # (capacity, dof): receives the iterates of a single target; no rows without a trace
    options: dict[str, Any] = field(default_factory=dict)
    scene: Any = None  # Scene or None: obstacles to keep `margin` metres away from
    margin: float = 0.0
    port: Any = None  # Port or None: a point that the body passes
    preference: Preference | None = None

    def task(self, max_starts: int, max_steps: int, judged: bool) -> Task:
        """Return the targets and settings as kernels read them; `max_steps` applies without an iteration limit."""
        mode, rows = self.targets.packed
        # Positional arguments save time: some solves take under a microsecond.
        return Task(
            rows,
            mode,
            self.position_tol,
            self.angle_tol,
            max_starts,
            self.max_iterations or max_steps,
            self.max_time,
            self.start is not None,
            judged,
            self.trace,
        )


@dataclass(slots=True)
class Outcome:
    """The answers of a method, a row per target.

    Without `errors`, `solve` computes them and corrects a wrong status.
    """

    q: Array  # (n, dof), within the limits
    status: npt.NDArray[np.int64]
    iterations: npt.NDArray[np.int64]
    seconds: Array
    traced: int = 0  # rows of the trace that were filled
    columns: dict[str, Array] = field(default_factory=dict)  # further numbers of each traced row, by name
    links: dict[str, Array] = field(default_factory=dict)  # virtual links of each traced row, see `Trace`
    # Position and angle errors, if the method computed them exactly and set the status accordingly.
    errors: tuple[Array, Array] | None = None
    interpreted: bool = False  # whether the kernels that were timed were interpreted

    @classmethod
    def empty(cls, problem: Problem[Any]) -> Outcome:
        """Return an outcome of uninitialised arrays for a problem."""
        n = len(problem.targets)
        return cls(
            np.empty((n, problem.robot.dof)), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64)
        )


# Single solves skip numba's overload resolution, which can take longer than the solve itself.
_entry = functools.cache(settled)
# Shared to save time: some solves take under a microsecond.
_NOT_TRACED = np.zeros(1, np.int64), np.empty((0, 0))


def run_kernel(
    problem: Problem[Any],
    kernel: Callable[..., Any],
    *arguments: Any,
    max_steps: int,
    default_start: Callable[[Any], Array] = operator.attrgetter("neutral"),
    columns: tuple[str, ...] = (),
    smallest: int = SMALLEST_PIECE,
) -> Outcome:
    """Call `kernel(start, stop, *arguments, task, answers)` over all targets of a problem; return its outcome.

    `max_steps` and `default_start`, a function of the robot, apply if the problem has no iteration limit or start.
    `columns` names further numbers that the kernel writes for each traced row; a thread gets at least `smallest` rows.
    The types of `arguments` must be the same in every call with this kernel.
    """
    n, capacity = len(problem.targets), len(problem.trace)
    first = default_start(problem.robot) if problem.start is None else problem.start
    q = np.array(first, np.float64, order="C", ndmin=2)
    if len(q) != n:
        q = np.repeat(q, n, axis=0)
    outcome = Outcome(q, np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n))
    task = problem.task(1, max_steps, judged=False)
    traced, values = (np.zeros(1, np.int64), np.full((capacity, len(columns)), np.nan)) if capacity else _NOT_TRACED
    answers = Answers(q, outcome.status, outcome.iterations, outcome.seconds, traced, values)
    if n == 1:
        calls = _interpreter.calls
        _entry(kernel, problem.max_time == math.inf)(0, 1, *arguments, task, answers)
        outcome.interpreted = _interpreter.calls != calls
    else:
        spread(kernel, n, *arguments, task, answers, threads=problem.threads, smallest=smallest)
    if capacity:
        outcome.traced = int(traced[0])
        outcome.columns = dict(zip(columns, values.T, strict=True))
    return outcome


@dataclass(frozen=True)
class Method:
    """A method of inverse kinematics and the robots and targets it accepts."""

    name: str
    summary: str
    source: str  # key of the bibliography
    run: Callable[[Problem[Any]], Outcome]
    # Optional fast path for one target without trace or scene, from robot, target, start, settings and preference;
    # returns errors and status.
    solve_one: Callable[[Any, Targets, Array | None, Settings, Preference | None], Solution] | None = None
    elements: frozenset[str] = ALL_ELEMENTS
    targets: frozenset[str] = ALL_TARGETS
    variants: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    # Further condition: returns why a robot is not accepted, or None.
    refuses: Callable[[Robot], str | None] = lambda _: None
    # Whether it avoids obstacles; solutions of other methods are only checked for collision.
    avoids: bool = False
    # Whether it also accepts a `SymbolicRobot`.
    symbolic: bool = False

    def refusal(self, robot: Robot | SymbolicRobot, kind: str | None = None) -> str | None:
        """Return why the method does not accept this robot, or targets of this kind; None if it does."""
        if not isinstance(robot, Robot):
            if not self.symbolic:
                return "it needs a chain of elements, but the robot is given as a matrix"
            return self._target_refusal(kind)
        unsupported = sorted({element.kind for element in robot.elements} - self.elements)
        if unsupported:
            return f"it accepts {', '.join(sorted(self.elements))}, but the robot has a {unsupported[0]}"
        if self.name != "auto" and any(isinstance(element, HeldSection) for element in robot.elements):
            return "it cannot hold a section; method 'auto' can"
        if robot.dof == 0:
            return "the robot has no moving elements"
        return self._target_refusal(kind) or self.refuses(robot)

    def _target_refusal(self, kind: str | None) -> str | None:
        if kind is None or kind in self.targets:
            return None
        return f"it accepts targets of kind {', '.join(sorted(self.targets))}, not {kind}"

    def check_options(self, options: Iterable[str], advice: Callable[[str], str] = lambda _: "") -> None:
        """Raise MethodError for an option that the method does not know; `advice` on it ends the message."""
        for option in options:
            if option not in self.options:
                known = ", ".join(sorted(self.options)) or "none"
                refused = f"method '{self.name}' has no option '{option}'; as options it accepts: {known}"
                raise MethodError(refused + advice(option))


_methods: dict[str, Method] = {}
# User methods loaded for one command: found by name, not listed.
_unlisted: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Register a method under its name."""
    # So that a name of this library is refused before its module has been imported.
    _load(method.name)
    if method.name in _methods:
        raise MethodError(f"method '{method.name}' is registered already; give another name")
    _methods[method.name] = method
    return method


def unregister(name: str) -> None:
    """Remove a registered method, for example to register another one under its name."""
    find_method(name)  # raises MethodError for an unknown name
    for known in (_methods, _unlisted):
        known.pop(name, None)


def adopt(method: Method) -> Method:
    """Register a method that `find_method` finds and `methods` does not list."""
    known = {**methods(), **_unlisted}.get(method.name, method)
    if known is not method:
        raise MethodError(f"the name '{method.name}' is already used by another method; choose another")
    _unlisted[method.name] = method
    return method


def methods() -> dict[str, Method]:
    """Return all methods by name, `auto` first."""
    for name in MODULES:
        _load(name)
    return dict(sorted(_methods.items(), key=lambda item: (item[0] != "auto", item[0])))


def find_method(name: str) -> Method:
    """Return the method of that name."""
    if isinstance(name, str):
        if name not in _methods:
            _load(name)
        for known in (_methods, _unlisted):
            if name in known:
                return known[name]
    own = "; register an arcreach.Method, then give its name" if isinstance(name, Method) or callable(name) else ""
    own = own or suggestion(name, methods())
    raise MethodError(f"method = {shown(name)} is not known; give one of {', '.join(methods())}{own}")


def _load(name: str) -> None:
    """Import the module of a method of this library, which registers it."""
    if name in MODULES:
        importlib.import_module(f"arcreach.ik.methods.{MODULES[name]}")


def markdown_table() -> str:
    """Return the methods as a Markdown table."""
    lines = ["| method | what it is | elements | targets | variants | source |", "|---|---|---|---|---|---|"]
    for method in methods().values():
        elements = "all" if method.elements == ALL_ELEMENTS else ", ".join(sorted(method.elements))
        source = "arcreach" if method.source == "derived" else f"[{method.source}]"
        cells = (
            f"`{method.name}`",
            method.summary,
            elements,
            ", ".join(sorted(method.targets)),
            ", ".join(method.variants),
            source,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
