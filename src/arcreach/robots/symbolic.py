"""`SymbolicRobot`: a robot given as a 4 x 4 SymPy matrix of its coordinates, in place of a chain of elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._jit import compile_source
from arcreach._threads import spread
from arcreach.errors import MissingExtraError, RobotError
from arcreach.robots import checks
from arcreach.robots._configurations import Array, ConfigurationSpace, check_count, generator
from arcreach.robots._symbolic_source import jacobian_source, pose_source
from arcreach.robots.elements import ANGLE, LENGTH, Coordinate

# How far a matrix may be from a rotation, after rounding in long expressions.
ROTATION_TOLERANCE = 1e-9
# Configurations at which the matrix is tried when the robot is built.
TRIALS = 5


class SymbolicRobot(ConfigurationSpace):
    """A robot whose tip pose is a user's own 4 x 4 matrix of SymPy expressions.

    `matrix` is a SymPy matrix or nested list, `coordinates` its symbols in the order of a configuration, `lower` and
    `upper` their limits. `quantities` says "angle" or "length" for each, all angles by default. The matrix and its
    derivative are compiled at first use. What lies between base and tip is not known: `frames` are these two,
    `backbone` is the straight line between them, and `reach` is infinite.
    """

    elements: tuple[()] = ()

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
        sympy = import_sympy()
        owner = "symbolic robot"
        self.name = checks.name(owner, name)
        self.source = source
        self.matrix = _matrix(owner, matrix)
        self.symbols = tuple(sympy.Symbol(c) if isinstance(c, str) else c for c in coordinates)
        self._set_coordinates(_coordinates(owner, self.symbols, lower, upper, quantities))
        self._sources = (pose_source(self.matrix, self.symbols), jacobian_source(self.matrix, self.symbols))
        self._try_matrix()

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
        # Compiled functions do not travel to another process; they are made there anew.
        given = (self.matrix, self.symbols, self.lower, self.upper, self.quantities, self.name, self.source)
        return SymbolicRobot, given

    @property
    def reach(self) -> float:
        """Infinite: no bound of the distance between base and tip is known."""
        return math.inf

    def sample(self, n: int, seed: int | np.random.Generator | None = None) -> Array:
        """Draw n random configurations (n, dof), each coordinate uniform between its limits."""
        n = check_count("sample", "n", n, 0)
        return np.clip(
            self.lower + generator(seed).random((n, self.dof)) * (self.upper - self.lower), self.lower, self.upper
        )

    def within_limits(self, q: npt.ArrayLike, tolerance: float = 1e-9) -> Any:
        """Whether q lies inside the limits, each widened by the share `tolerance` of its size."""
        values = self._check(q)
        slack = tolerance * np.maximum(abs(self.lower), abs(self.upper))
        inside = ((values >= self.lower - slack) & (values <= self.upper + slack)).all(axis=-1)
        return bool(inside) if values.ndim == 1 else inside

    def clip(self, q: npt.ArrayLike) -> Array:
        """The nearest configuration inside the limits."""
        return np.clip(self._check(q), self.lower, self.upper)

    def tip_pose(self, q: npt.ArrayLike) -> Array:
        """The pose T_base_tip (4, 4) of the tip."""
        return self._run(self._pose_kernel, q, (4, 4))

    def frames(self, q: npt.ArrayLike) -> Array:
        """The base frame and the tip frame, (2, 4, 4)."""
        tip = self.tip_pose(q)
        return np.stack([np.broadcast_to(np.eye(4), tip.shape), tip], axis=-3)

    def backbone(self, q: npt.ArrayLike, points: int = 60) -> Array:
        """Points (points, 3) on the straight line from base to tip."""
        share = np.linspace(0.0, 1.0, check_count("backbone", "points", points, 2))
        return share[:, None] * self.tip_pose(q)[..., None, :3, 3]

    def jacobian(self, q: npt.ArrayLike) -> Array:
        """The Jacobian (6, dof) by symbolic differentiation: linear rows, then angular, in the base frame."""
        return self._run(self._jacobian_kernel, q, (6, self.dof))

    @cached_property
    def _pose_kernel(self) -> Callable[..., Any]:
        return compile_source(self._sources[0], "symbolic_poses")

    @cached_property
    def _jacobian_kernel(self) -> Callable[..., Any]:
        return compile_source(self._sources[1], "symbolic_jacobians")

    def _run(self, kernel: Callable[..., Any], q: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
        values = self._check(q)
        rows = np.atleast_2d(values)
        out = np.zeros((len(rows), *shape))
        spread(kernel, len(rows), rows, out)
        return out[0] if values.ndim == 1 else out

    def _try_matrix(self) -> None:
        """Refuse a matrix that is no rigid transform at some configuration."""
        rows = np.vstack([self.neutral, self.sample(TRIALS, seed=0)])
        poses = np.zeros((len(rows), 4, 4))
        try:
            with np.errstate(all="ignore"):
                compile_source(self._sources[0], "symbolic_poses", interpreted=True)(0, len(rows), rows, poses)
        except (ArithmeticError, ValueError) as error:
            raise RobotError(f"symbolic robot: matrix cannot be evaluated within the limits: {error}") from None
        for q, pose in zip(rows, poses, strict=True):
            where = ", ".join(f"{name} = {value:.4g}" for name, value in zip(self.coordinates, q, strict=True))
            if not np.isfinite(pose).all():
                raise RobotError(f"symbolic robot: matrix is not finite at {where}; give narrower limits")
            if not np.allclose(pose[3], (0.0, 0.0, 0.0, 1.0), rtol=0.0, atol=ROTATION_TOLERANCE):
                raise RobotError(f"symbolic robot: matrix[3] = {pose[3].tolist()} at {where}; give the row 0, 0, 0, 1")
            turn = pose[:3, :3]
            defect = abs(turn @ turn.T - np.eye(3)).max()
            if not defect <= ROTATION_TOLERANCE or not np.linalg.det(turn) > 0.0:
                raise RobotError(
                    f"symbolic robot: matrix[0:3, 0:3] is no rotation at {where}; give orthogonal columns of unit "
                    "length with determinant +1"
                )


def import_sympy() -> Any:
    """SymPy, or an error that names the extra it comes with."""
    try:
        import sympy
    except ImportError:
        raise MissingExtraError("SymPy", "symbolic", "a robot given as a symbolic matrix") from None
    return sympy


def _matrix(owner: str, matrix: Any) -> Any:
    """The matrix as a SymPy one. Text is refused: SymPy would run it as Python code."""
    sympy = import_sympy()
    accepted = "a 4 x 4 matrix of SymPy expressions and numbers"
    rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    try:
        entries = [entry for row in rows for entry in row]
    except TypeError:
        raise checks.refuse(owner, "matrix", matrix, accepted) from None
    for entry in entries:
        if not isinstance(entry, (sympy.Expr, int, float, np.number)):
            raise checks.refuse(owner, "matrix entry", entry, accepted)
    if len(entries) != 16 or any(len(row) != 4 for row in rows):
        raise checks.refuse(owner, "matrix", matrix, accepted)
    return sympy.ImmutableMatrix(4, 4, entries)


def _coordinates(
    owner: str, symbols: tuple[Any, ...], lower: npt.ArrayLike, upper: npt.ArrayLike, quantities: Sequence[str] | None
) -> tuple[Coordinate, ...]:
    """The coordinates of a symbolic robot, each field checked."""
    n = len(symbols)
    lows = checks.numbers(owner, "lower", lower, "one finite number per coordinate")
    highs = checks.numbers(owner, "upper", upper, "one finite number per coordinate")
    kinds = (ANGLE,) * n if quantities is None else tuple(quantities)
    for field, values in (("lower", lows), ("upper", highs), ("quantities", kinds)):
        if len(values) != n:
            raise checks.refuse(owner, field, values, f"{n} entries, one per coordinate")
    if n == 0:
        raise checks.refuse(owner, "coordinates", symbols, "at least one symbol of the matrix")
    names = [checks.name(owner, str(symbol)) for symbol in symbols]
    if len(set(names)) != n:
        raise checks.refuse(owner, "coordinates", names, "every symbol once")
    result = []
    for name, low, high, kind in zip(names, lows, highs, kinds, strict=True):
        if kind not in (ANGLE, LENGTH):
            raise checks.refuse(f"{owner}, coordinate '{name}'", "quantity", kind, "'angle' or 'length'")
        checks.limits(f"{owner}, coordinate '{name}'", low, high, "radians or metres")
        result.append(Coordinate(name, kind, low, high, 0.5 * low + 0.5 * high))
    return tuple(result)
