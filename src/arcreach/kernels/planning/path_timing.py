"""The fastest run along a curve from rest to rest: two passes over a grid of the path parameter.

The unknowns are the squared rates of the path parameter at the grid points, linear in between. A row (slope, width,
curvature) of an interval limits the squared rate y at its end by the one at its start, x:
|y - slope x| <= width sqrt(1 - curvature x²). A row is an acceleration limit: of a scalar if the curvature is 0, of the
norm of a pair otherwise. The allowed (x, y) are a convex set that holds (0, 0), so a run always exists.
"""

import math

from arcreach._jit import kernel
from arcreach._typing import Array

# Rounding of a squared rate, as a share.
_ROUNDING = 1e-11
# Newton's method needs three to eight steps; halving alone needs forty.
_MOST_STEPS = 60
# Least value of the square root by which the slope of a norm's limit is divided.
_SMALLEST_ROOT = 1e-6


@kernel
def next_range(x: float, ceiling: float, rows: Array) -> tuple[float, float, float]:
    """Return the allowed range of the squared rate after x, at most a ceiling, and the slope of its width.

    Source: derived.
    """
    low, high, low_slope, high_slope = 0.0, ceiling, 0.0, 0.0
    for r in range(rows.shape[0]):
        slope, width, curvature = rows[r, 0], rows[r, 1], rows[r, 2]
        root = math.sqrt(max(1.0 - curvature * x * x, 0.0))
        centre, half = slope * x, width * root
        narrowing = width * curvature * x / max(root, _SMALLEST_ROOT)
        if centre + half < high:
            high, high_slope = centre + half, slope - narrowing
        if centre - half > low:
            low, low_slope = centre - half, slope + narrowing
    return low, high, high_slope - low_slope


@kernel
def controllable(cap: float, ceiling: float, rows: Array) -> float:
    """Return the largest squared rate, at most a cap, from which the next one can stay below a ceiling.

    The width of the allowed range is concave, so Newton's method approaches its zero from above. Source: derived.
    """
    feasible, limit, x = 0.0, cap, cap
    for _ in range(_MOST_STEPS):
        low, high, slope = next_range(x, ceiling, rows)
        width = high - low
        if width >= -_ROUNDING * (x + ceiling):
            feasible = x
        else:
            limit = x
        at_zero = slope < 0.0 and abs(width) <= _ROUNDING * (x + ceiling)
        if at_zero or limit - feasible <= _ROUNDING * limit:
            break
        step = x - width / slope if slope < 0.0 else 0.0
        x = step if feasible < step < limit else 0.5 * (feasible + limit)
    return feasible


@kernel
def fastest(caps: Array, rows: Array, squares: Array) -> None:
    """Write the largest squared rates (n,) below caps (n,) that rows (n - 1, m, 3) allow, at rest at both ends.

    Source: [PP18] alg. 1.
    """
    last = squares.shape[0] - 1
    squares[last] = 0.0
    for i in range(last - 1, -1, -1):
        squares[i] = controllable(caps[i], squares[i + 1], rows[i])
    squares[0] = 0.0
    for i in range(last):
        low, high, _ = next_range(squares[i], squares[i + 1], rows[i])
        # Where the path has to stop, the allowed range is 0 alone, and rounding may place it below 0.
        squares[i + 1] = max(high, 0.5 * (low + high), 0.0)


@kernel
def solve_tridiagonal(lower: Array, diagonal: Array, upper: Array, right: Array) -> None:
    """Solve n equations with a tridiagonal matrix for several right-hand sides (n, m), in place.

    `diagonal` is overwritten. No pivots: the matrix must be diagonally dominant. Source: [GVL13] sect. 4.3.
    """
    n = diagonal.shape[0]
    for i in range(1, n):
        share = lower[i] / diagonal[i - 1]
        diagonal[i] -= share * upper[i - 1]
        for k in range(right.shape[1]):
            right[i, k] -= share * right[i - 1, k]
    for i in range(n - 1, -1, -1):
        for k in range(right.shape[1]):
            if i < n - 1:
                right[i, k] -= upper[i] * right[i + 1, k]
            right[i, k] /= diagonal[i]
