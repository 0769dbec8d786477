"""Check values that users give: return plain numbers and arrays, or raise an error that says what is accepted."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import math
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from arcreach._typing import Array, Matrix3, Vector
from arcreach.errors import ArcreachError, ConfigurationError, RobotError, SceneError, TargetError

# Largest error of R R^T - 1; smaller ones, as from printing few digits, are corrected, larger ones refused.
ROTATION_TOLERANCE = 1e-5
# Matrices with a smaller error are kept bit by bit, so that files read and written again do not change.
EXACT_ROTATION = 1e-14
# The same for the error of an axis's length.
EXACT_UNIT = 1e-15
# Largest limit of a revolute joint in radians; at larger angles rounding would show in the pose of the tip.
LARGEST_LIMIT = 1e6
# Largest number of names compared for a suggestion.
MOST_NAMES = 1000
# Accepted reach in metres: solvers square lengths, some of them in single precision.
SMALLEST_REACH, LARGEST_REACH = 1e-15, 1e12
# Largest whole number accepted: kernels use 64-bit integers.
MOST_WHOLE = 10**18

# Placeholder for a field that was already refused, so that the other fields are still checked.
UNKNOWN: Any = object()

# Characters of a user's value that a message repeats.
LONGEST_SHOWN = 60


def warn(hint: str) -> None:
    """Warn at the line outside this package that called it, where Python prints an equal warning only once."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("arcreach."):
        level, frame = level + 1, frame.f_back
    warnings.warn(hint, stacklevel=level)


def shown(value: Any) -> str:
    """Return the value as text for a message: on one line, printable, cut to a readable length."""
    try:
        text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
    except ValueError:
        # Python refuses to write integers of thousands of digits.
        text = f"{type(value).__name__} with too many digits to print"
    if len(text) > LONGEST_SHOWN:
        text = text[: LONGEST_SHOWN - 3] + "..."
    return "".join(character if character.isprintable() else " " for character in text)


@contextlib.contextmanager
def gathered(problems: list[str], prefix: str = "") -> Iterator[None]:
    """Append the problems of an error raised in the block to a list, so that all of them are reported at once."""
    try:
        yield
    except (RobotError, SceneError) as error:
        problems += [prefix + problem for problem in error.problems]


def raise_any(problems: list[str], error: type[RobotError | SceneError] = RobotError) -> None:
    """Raise all gathered problems as one error, if there are any."""
    if problems:
        raise error(problems[0], tuple(problems))


def refuse(owner: str, field: str, value: Any, accepted: str) -> RobotError:
    """Return the error for a field: its owner, its name, the value given and what is accepted."""
    who = f"{owner}: " if owner else ""
    return RobotError(f"{who}{field} = {shown(value)} is not accepted; give {accepted}")


_FLOAT = np.dtype(np.float64)


def real_array(value: Any) -> Array | None:
    """Return the value as a C-contiguous array of floats; None for anything but real numbers."""
    if type(value) is np.ndarray and value.dtype is _FLOAT and value.flags.c_contiguous:
        return value
    try:
        given = np.asarray(value)
        # NumPy would convert texts, times and booleans to numbers, and drop imaginary parts and masks.
        if given.dtype.kind in "bcmMSU" or isinstance(value, np.ma.MaskedArray):
            return None
        return np.asarray(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        return None


def array_of(field: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """Return the value as a contiguous, writable array of this shape, in which None accepts any length."""
    values = real_array(value)
    if values is None:
        raise TargetError(f"{field} = {shown(value)} is not accepted; give numbers of shape {_shape_text(shape)}")
    if values.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, values.shape, strict=True)):
        raise TargetError(f"{field} has the shape {values.shape}; give numbers of shape {_shape_text(shape)}")
    # Kernels are compiled for arrays that are writable and aligned.
    return values if values.flags.behaved else values.copy()


def _shape_text(shape: tuple[int | None, ...]) -> str:
    letters = iter("nm")
    return "(" + ", ".join(next(letters) if size is None else str(size) for size in shape) + ")"


def chosen_rows(index: Any) -> Any:
    """Return the index of rows as an int, a slice, a mask or an array of indices."""
    if isinstance(index, slice):
        return index
    if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
        return int(index)
    rows = np.asarray(index)
    if rows.ndim == 1 and not rows.size:
        return rows.astype(np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iub":
        raise TypeError(f"index {shown(index)} is not accepted; give a whole number, a slice, a mask or indices (m,)")
    return rows


def positive(field: str, value: Any, unit: str, error: type[ArcreachError] = TargetError) -> float:
    """Return a number above zero as a float; numba would compile again for another type."""
    if type(value) is float and 0.0 < value < math.inf:
        return value
    if _is_number(value) and 0.0 < value <= sys.float_info.max:
        return float(value)
    raise error(f"{field} = {shown(value)} is not accepted; give {unit} above 0")


def not_negative(field: str, value: Any, unit: str, error: type[ArcreachError] = TargetError) -> float:
    """Return a finite number of at least zero as a float."""
    if _is_number(value) and 0.0 <= value <= sys.float_info.max:
        return float(value)
    raise error(f"{field} = {shown(value)} is not accepted; give {unit}, 0 or more")


def whole(field: str, value: Any, least: int, error: type[ArcreachError] = TargetError) -> int:
    """Return a whole number of at least `least`."""
    if type(value) is int and least <= value <= MOST_WHOLE:
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value <= MOST_WHOLE:
        return int(value)
    raise error(f"{field} = {shown(value)} is not accepted; give a whole number from {least} to {MOST_WHOLE:g}")


def suggestion(name: Any, known: Iterable[str]) -> str:
    """Return `did you mean ...` if a known name is spelt nearly alike, else an empty text."""
    if not isinstance(name, str):
        return ""
    names = {other.casefold(): other for other in itertools.islice(known, MOST_NAMES)}
    # Truncate the name: the time grows with the product of both lengths, and no known name is this long.
    near = difflib.get_close_matches(name[:100].casefold(), names, n=1, cutoff=0.6)
    return f"; did you mean {shown(names[near[0]])}?" if near else ""


def choice(field: str, value: Any, accepted: Collection[str], error: type[ArcreachError] = TargetError) -> str:
    """Return the value if it is one of the accepted texts; there are at least two."""
    if isinstance(value, str) and value in accepted:
        return value
    *others, last = map(repr, accepted)
    known = f"{', '.join(others)} or {last}{suggestion(value, accepted)}"
    raise error(f"{field} = {shown(value)} is not accepted; give {known}")


def thread_count(threads: Any) -> int | None:
    """Return a number of threads; None, for as many as there are cores, stays None."""
    return None if threads is None else whole("threads", threads, 1)


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """Return a random generator from a seed, or the caller's own."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ConfigurationError(f"seed = {shown(seed)} is not accepted; give a whole number of at least 0") from None


def uniform(n: int, dof: int, seed: int | np.random.Generator | None) -> Array:
    """Return random numbers (n, dof), uniform from 0 to 1, for n configurations."""
    n = whole("n", n, 0, ConfigurationError)
    rng = generator(seed)
    try:
        return rng.random((n, dof))
    except (MemoryError, ValueError):
        raise ConfigurationError(f"n = {n} configurations do not fit into memory; give fewer") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def number(owner: str, field: str, value: Any, accepted: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite float from low to high."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise refuse(owner, field, value, accepted)
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise refuse(owner, field, value, accepted) from None
    if not math.isfinite(result) or not low <= result <= high:
        raise refuse(owner, field, value, accepted)
    return result


def numbers(owner: str, field: str, values: Any, accepted: str, low: float = -math.inf) -> tuple[float, ...]:
    """Return a tuple of finite floats, none below low."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise refuse(owner, field, values, accepted)
    return tuple(number(owner, f"{field}[{i}]", value, accepted, low) for i, value in enumerate(values))


def vector(owner: str, field: str, value: Any) -> Vector:
    """Return three finite floats."""
    accepted = "three finite numbers (x, y, z)"
    result = numbers(owner, field, value, accepted)
    if len(result) != 3:
        raise refuse(owner, field, value, accepted)
    return result[0], result[1], result[2]


def unit_vector(owner: str, field: str, value: Any) -> Vector:
    """Return the unit vector in a direction that is not zero."""
    x, y, z = vector(owner, field, value)
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        raise refuse(owner, field, value, "a direction (x, y, z) that is not zero")
    norm = math.hypot(x, y, z)
    if abs(norm - 1.0) <= EXACT_UNIT:
        return x, y, z
    # Scaled first: the norm of a very small or very large vector would lose digits or overflow.
    x, y, z = x / largest, y / largest, z / largest
    norm = math.hypot(x, y, z)
    return x / norm, y / norm, z / norm


def rotation(owner: str, field: str, value: Any) -> Matrix3:
    """Return a 3 x 3 rotation matrix as rows of floats."""
    accepted = "a 3 x 3 rotation matrix (orthogonal rows of unit length, determinant +1)"
    matrix = real_array(value)
    # A matrix with numbers above 2 is not a rotation, and their products might overflow.
    if matrix is None or matrix.shape != (3, 3) or not (np.abs(matrix) <= 2.0).all():
        raise refuse(owner, field, value, accepted)
    error = float(np.abs(matrix @ matrix.T - np.eye(3)).max())
    if error > ROTATION_TOLERANCE or np.linalg.det(matrix) < 0.0:
        raise refuse(owner, field, value, accepted)
    if error > EXACT_ROTATION:
        left, _, right = np.linalg.svd(matrix)
        matrix = left @ right
    rows = [(float(row[0]), float(row[1]), float(row[2])) for row in matrix]
    return rows[0], rows[1], rows[2]


def limits(owner: str, lower: Any, upper: Any, unit: str, continuous: bool = False) -> tuple[float, float]:
    """Return a pair lower <= upper; `continuous` also allows -inf, inf for a joint without limits."""
    if continuous and _is_infinite(lower, -math.inf) and _is_infinite(upper, math.inf):
        return -math.inf, math.inf
    accepted, largest = f"a finite number of {unit}", math.inf
    if continuous:
        largest = LARGEST_LIMIT
        accepted = f"{unit} from {-largest:g} to {largest:g}, or -inf and inf as lower and upper for a continuous joint"
    problems: list[str] = []
    low = high = 0.0
    with gathered(problems):
        low = number(owner, "lower", lower, accepted, -largest, largest)
    with gathered(problems):
        high = number(owner, "upper", upper, accepted, -largest, largest)
    raise_any(problems)
    if low > high:
        raise refuse(owner, "lower", lower, f"a lower limit that is not above upper = {high!r}")
    return low, high


def reach(robot_name: str, metres: float) -> None:
    """Raise RobotError for a reach outside SMALLEST_REACH to LARGEST_REACH; 0 is accepted."""
    if metres and not SMALLEST_REACH <= metres <= LARGEST_REACH:
        who = f"robot '{robot_name}'" if robot_name else "robot"
        low, high = SMALLEST_REACH, LARGEST_REACH
        raise RobotError(f"{who} reaches {metres:.4g} m; give lengths in metres that add up to {low:g} to {high:g}")


def _is_infinite(value: Any, infinity: float) -> bool:
    return isinstance(value, (float, np.floating)) and float(value) == infinity


def name(owner: str, value: Any) -> str:
    """Return a name that is valid in a CSV header and in `name.bend`; if empty, kind and number replace it."""
    accepted = "text of letters, digits, spaces, '-' and '_' (at most 64 characters)"
    if not isinstance(value, str) or len(value) > 64:
        raise refuse(owner, "name", value, accepted)
    if not all(character.isalnum() or character in " -_" for character in value) or value != value.strip():
        raise refuse(owner, "name", value, accepted)
    return value


def source(owner: str, value: Any) -> str:
    """Return the text that says where a robot's numbers come from."""
    if not isinstance(value, str):
        raise refuse(owner, "source", value, "text that says where the numbers come from")
    return value


def flag(owner: str, field: str, value: Any) -> bool:
    """Return a bool; 0 and 1 are not accepted."""
    if not isinstance(value, (bool, np.bool_)):
        raise refuse(owner, field, value, "true or false")
    return bool(value)
