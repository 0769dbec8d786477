"""`SymbolicRobot`: a robot given as a 4 x 4 SymPy matrix of its coordinates, in place of a chain of elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach._checks import not_negative, uniform, whole
from arcreach._extras import require
from arcreach._jit import compile_source
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.elements import ANGLE, LENGTH, Coordinate
from arcreach.errors import ConfigurationError, RobotError
from arcreach.robots._configurations import ConfigurationSpace
from arcreach.robots._symbolic_source import jacobian_source, normalised, pose_source
from arcreach.robots.robot import Robot

OWNER = "symbolic robot"
# Largest deviation of a matrix from a rotation, which allows for rounding in long expressions.
ROTATION_TOLERANCE = 1e-9
# Number of random configurations, besides rest, at which the matrix is checked when the robot is built.
TRIALS = 5


class SymbolicRobot(ConfigurationSpace):
    """A robot whose tip pose is a user's own 4 x 4 matrix of SymPy expressions.

    `matrix` is a SymPy matrix or nested list, `coordinates` its symbols in the order of a configuration, `lower` and
    `upper` their limits. `quantities` says "angle" or "length" for each, all angles by default. The matrix and its
    derivative are compiled at first use. The body between base and tip is unknown: `frames` gives these two,
    `backbone` is the straight line between them, and `reach` is infinite.
    """

    elements: tuple[()] = ()
    matrix: Any
    symbols: tuple[Any, ...]
    _sources: tuple[str, str]

    def __init__(
        self,
        matrix: Any,
        coordinates: Sequence[Any],
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        quantities: Sequence[str] | None = None,
        name: str = "",
        source: str = "",
    ) -> None:
        self._set_name(OWNER, name, source)
        sympy = require("sympy")
        entries = _entries(matrix)
        symbols = _symbols(coordinates)
        self._set_coordinates(_coordinates(symbols, lower, upper, quantities))
        # SymPy does not limit the depth of expressions; Python's recursion limit stops it.
        try:
            names = {symbol.name: symbol for symbol in symbols}
            built = sympy.ImmutableMatrix(4, 4, [normalised(sympy.sympify(entry), names) for entry in entries])
            self._set(matrix=built, symbols=symbols)
            self._set(_sources=(pose_source(built, symbols), jacobian_source(built, symbols)))
            self._try_matrix()
        except RobotError:
            raise
        except (RecursionError, MemoryError):
            raise RobotError(f"{OWNER}: matrix is nested too deeply; give shorter formulas") from None
        except (ArithmeticError, TypeError, ValueError, SyntaxError) as error:
            reason = checks.shown(str(error))
            raise RobotError(f"{OWNER}: matrix cannot be evaluated ({reason}); give real and finite formulas") from None

    def __repr__(self) -> str:
        return f"<SymbolicRobot {self.name or 'unnamed'}: {', '.join(self.coordinates)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SymbolicRobot):
            return NotImplemented
        mine = (self.name, self.matrix, self.symbols, self._coordinates)
        return mine == (other.name, other.matrix, other.symbols, other._coordinates)

    def __hash__(self) -> int:
        return hash((self.name, self.matrix, self.symbols))

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled functions cannot be pickled; the receiver compiles them again.
        given = (self.matrix, self.symbols, self.lower, self.upper, self.quantities, self.name, self.source)
        return type(self), given

    @property
    def pull_limits(self) -> None:
        """None: a matrix has no tendons."""

    @property
    def moving_reach(self) -> float:
        """The same as `reach`: the first moving element of a matrix is not known."""
        return self.reach

    @property
    def reach(self) -> float:
        """Infinite: no bound of the distance between base and tip is known."""
        return math.inf

    def sample(self, n: int, seed: int | np.random.Generator | None = None) -> Array:
        """Draw n random configurations (n, dof), each coordinate uniform between its limits."""
        shares = uniform(n, self.dof, seed)
        return np.clip(self.lower + shares * (self.upper - self.lower), self.lower, self.upper)

    def within_limits(self, q: npt.ArrayLike, tolerance: float = 1e-9) -> Any:
        """Return whether q lies inside the limits, each widened by the share `tolerance` of its size."""
        values = self.checked(q)
        share = not_negative("tolerance", tolerance, "a finite number", ConfigurationError)
        with np.errstate(over="ignore"):
            slack = share * np.maximum(abs(self.lower), abs(self.upper))
            inside = ((values >= self.lower - slack) & (values <= self.upper + slack)).all(axis=-1)
        return bool(inside) if values.ndim == 1 else inside

    def clip(self, q: npt.ArrayLike) -> Array:
        """Return the nearest configuration inside the limits."""
        return np.clip(self.checked(q), self.lower, self.upper)

    def tip_pose(self, q: npt.ArrayLike) -> Array:
        """Return the pose T_base_tip (4, 4) of the tip."""
        return self._run(self._pose_kernel, q, (4, 4))

    def frames(self, q: npt.ArrayLike) -> Array:
        """Return the base frame and the tip frame (2, 4, 4)."""
        tip = self.tip_pose(q)
        return np.stack([np.broadcast_to(np.eye(4), tip.shape), tip], axis=-3)

    def backbone(self, q: npt.ArrayLike, points: int = 60) -> Array:
        """Return points (points, 3) on the straight line from base to tip."""
        share = np.linspace(0.0, 1.0, whole("points", points, 2, ConfigurationError))
        return share[:, None] * self.tip_pose(q)[..., None, :3, 3]

    def jacobian(self, q: npt.ArrayLike) -> Array:
        """Return the Jacobian (6, dof) by symbolic differentiation: linear, then angular rows, in the base frame."""
        return self._run(self._jacobian_kernel, q, (6, self.dof))

    @cached_property
    def _pose_kernel(self) -> Callable[..., Any]:
        return _kernel(self._sources[0], "symbolic_poses")

    @cached_property
    def _jacobian_kernel(self) -> Callable[..., Any]:
        return _kernel(self._sources[1], "symbolic_jacobians")

    def _run(self, kernel: Callable[..., Any], q: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
        values = self.checked(q)
        rows = np.atleast_2d(values)
        out = np.zeros((len(rows), *shape))
        spread(kernel, len(rows), rows, out)
        return out[0] if values.ndim == 1 else out

    def _try_matrix(self) -> None:
        """Raise RobotError for a matrix that is not a rigid transform at some configuration."""
        rows = np.vstack([self.neutral, self.sample(TRIALS, seed=0)])
        poses = np.zeros((len(rows), 4, 4))
        _kernel(self._sources[0], "symbolic_poses", interpreted=True)(0, len(rows), rows, poses)
        for q, pose in zip(rows, poses, strict=True):
            named = [f"{name} = {value:.4g}" for name, value in zip(self.coordinates, q, strict=True)]
            where = ", ".join(named[:6]) + (", ..." if len(named) > 6 else "")
            if not np.isfinite(pose).all():
                raise RobotError(f"{OWNER}: matrix is not finite at {where}; give narrower limits")
            if not np.allclose(pose[3], (0.0, 0.0, 0.0, 1.0), rtol=0.0, atol=ROTATION_TOLERANCE):
                raise RobotError(f"{OWNER}: matrix[3] = {pose[3].tolist()} at {where}; give the row 0, 0, 0, 1")
            turn = pose[:3, :3]
            with np.errstate(over="ignore", invalid="ignore"):
                defect = abs(turn @ turn.T - np.eye(3)).max()
            if not defect <= ROTATION_TOLERANCE or not np.linalg.det(turn) > 0.0:
                raise RobotError(
                    f"{OWNER}: matrix[0:3, 0:3] is not a rotation at {where}; give orthogonal columns of unit "
                    "length with determinant +1"
                )


def _kernel(source: str, name: str, interpreted: bool = False) -> Callable[..., Any]:
    """Return the kernel of a source; as plain Python it runs without NumPy's warnings, as compiled code does."""
    function = compile_source(source, name, interpreted)
    if hasattr(function, "py_func"):
        return function

    def quiet(*arguments: Any) -> None:
        with np.errstate(all="ignore"):
            function(*arguments)

    return quiet


def _entries(matrix: Any) -> list[Any]:
    """Return the sixteen entries of a matrix. Text is refused: SymPy would run it as Python code."""
    sympy = require("sympy")
    accepted = "a 4 x 4 matrix of SymPy expressions and numbers"
    try:
        rows = [list(row) for row in (matrix.tolist() if hasattr(matrix, "tolist") else matrix)]
    except TypeError:
        raise checks.refuse(OWNER, "matrix", matrix, accepted) from None
    for row in rows:
        for entry in row:
            if isinstance(entry, bool) or not isinstance(entry, (sympy.Expr, int, float, np.number)):
                raise checks.refuse(OWNER, "matrix entry", entry, accepted)
    if len(rows) != 4 or any(len(row) != 4 for row in rows):
        raise checks.refuse(OWNER, "matrix", matrix, accepted)
    return [entry for row in rows for entry in row]


def _symbols(coordinates: Any) -> tuple[Any, ...]:
    """Return the coordinates as plain symbols, distinguished by name alone."""
    sympy = require("sympy")
    accepted = "a list of SymPy symbols or their names, at least one"
    if isinstance(coordinates, (str, bytes)) or not isinstance(coordinates, Iterable):
        raise checks.refuse(OWNER, "coordinates", coordinates, accepted)
    symbols = []
    for i, given in enumerate(coordinates):
        if not isinstance(given, (str, sympy.Symbol)) or isinstance(given, sympy.Dummy):
            raise checks.refuse(OWNER, f"coordinates[{i}]", given, "a SymPy symbol or its name")
        name = checks.name(f"{OWNER}, coordinates[{i}]", str(given))
        if not name:
            raise checks.refuse(OWNER, f"coordinates[{i}]", name, "a name that is not empty")
        symbols.append(sympy.Symbol(name))
    if not symbols:
        raise checks.refuse(OWNER, "coordinates", symbols, accepted)
    if len(set(symbols)) != len(symbols):
        raise checks.refuse(OWNER, "coordinates", [symbol.name for symbol in symbols], "every symbol once")
    return tuple(symbols)


def _coordinates(
    symbols: tuple[Any, ...], lower: npt.ArrayLike, upper: npt.ArrayLike, quantities: Sequence[str] | None
) -> tuple[Coordinate, ...]:
    """Return the checked coordinates of a symbolic robot."""
    n = len(symbols)
    lows = checks.numbers(OWNER, "lower", lower, "one finite number per coordinate")
    highs = checks.numbers(OWNER, "upper", upper, "one finite number per coordinate")
    accepted = f"{n} entries, one per coordinate"
    if isinstance(quantities, str) or not isinstance(quantities, Iterable | None):
        raise checks.refuse(OWNER, "quantities", quantities, accepted)
    kinds = (ANGLE,) * n if quantities is None else tuple(quantities)
    for field, values in (("lower", lows), ("upper", highs), ("quantities", kinds)):
        if len(values) != n:
            raise checks.refuse(OWNER, field, values, accepted)
    problems: list[str] = []
    result = []
    for symbol, low, high, kind in zip(symbols, lows, highs, kinds, strict=True):
        owner = f"{OWNER}, coordinate '{symbol.name}'"
        with checks.gathered(problems):
            if kind not in (ANGLE, LENGTH):
                raise checks.refuse(owner, "quantity", kind, "'angle' or 'length'")
            checks.limits(owner, low, high, "radians or metres")
        result.append(Coordinate(symbol.name, kind, low, high, 0.5 * low + 0.5 * high))
    checks.raise_any(problems)
    return tuple(result)


AnyRobot: TypeAlias = Robot | SymbolicRobot
