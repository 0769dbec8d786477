"""Small symmetric matrices in place: eigenvalues, eigenvectors, linear equations."""

import math

from arcreach._jit import kernel
from arcreach._typing import Array

# Most sweeps over all pairs: six rows need five or six sweeps, and a NaN never converges.
_MOST_SWEEPS = 20
# Below this share of the diagonal, the sum of the off-diagonal entries is rounding.
_DIAGONAL = 1e-16
# Below this share of its two diagonal entries, an entry is skipped: its rotation would overflow.
_NEGLIGIBLE = 1e-20
# Least pivot, as a share of the diagonal entry: smaller ones are rounding.
_LEAST_PIVOT = 1e-14


@kernel
def copy(source: Array, out: Array) -> None:
    """Write `source` into `out`. Source: derived."""
    for k in range(source.shape[0]):
        out[k] = source[k]


@kernel
def zero_entry(A: Array, V: Array, p: int, r: int) -> None:
    """Zero entry (p, r) of the symmetric A by a rotation, and apply the rotation to V. Source: [GVL13] sect. 8.5."""
    n = A.shape[0]
    ratio = (A[r, r] - A[p, p]) / (2.0 * A[p, r])
    # Sweeps converge only with the smaller of the two rotations.
    tangent = math.copysign(1.0, ratio) / (abs(ratio) + math.sqrt(1.0 + ratio * ratio))
    c = 1.0 / math.sqrt(1.0 + tangent * tangent)
    s = tangent * c
    for k in range(n):
        a, b = A[k, p], A[k, r]
        A[k, p] = c * a - s * b
        A[k, r] = s * a + c * b
        a, b = V[k, p], V[k, r]
        V[k, p] = c * a - s * b
        V[k, r] = s * a + c * b
    for k in range(n):
        a, b = A[p, k], A[r, k]
        A[p, k] = c * a - s * b
        A[r, k] = s * a + c * b
    A[p, r] = 0.0
    A[r, p] = 0.0


@kernel
def is_diagonal(A: Array) -> bool:
    """Return whether a symmetric matrix is diagonal up to rounding. Source: derived."""
    off = 0.0
    diagonal = 0.0
    for p in range(A.shape[0]):
        diagonal += abs(A[p, p])
        for r in range(p):
            off += abs(A[p, r])
    return off <= _DIAGONAL * diagonal


@kernel
def diagonalize(A: Array, V: Array) -> None:
    """Diagonalize the symmetric A (n, n) in place, and write its eigenvectors as columns of V.

    Column i of V belongs to A[i, i]; the eigenvalues are not sorted. The cyclic Jacobi method is exact to rounding for
    repeated and zero eigenvalues too.
    Source: [GVL13] sect. 8.5.
    """
    n = A.shape[0]
    for p in range(n):
        for r in range(n):
            V[p, r] = 1.0 if p == r else 0.0
    for _ in range(_MOST_SWEEPS):
        if is_diagonal(A):
            return
        for p in range(n):
            for r in range(p + 1, n):
                if abs(A[p, r]) > _NEGLIGIBLE * (abs(A[p, p]) + abs(A[r, r])):
                    zero_entry(A, V, p, r)


@kernel
def factor_positive(A: Array, n: int) -> None:
    """Replace the lower triangle of the first n rows of a positive definite A by its Cholesky factor.

    Source: [GVL13] sect. 4.2.
    """
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        # Rounding may make the pivot of a nearly singular row negative.
        root = math.sqrt(pivot) if pivot > 0.0 else math.inf
        A[j, j] = root
        for i in range(j + 1, n):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / root


@kernel
def solve_factored(A: Array, n: int, b: Array) -> None:
    """Solve L L^T x = b in place for the Cholesky factor L in the first n rows of A. Source: [GVL13] sect. 4.2."""
    for i in range(n):
        for k in range(i):
            b[i] -= A[i, k] * b[k]
        b[i] /= A[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= A[k, i] * b[k]
        b[i] /= A[i, i]


@kernel
def solve_positive(A: Array, n: int, b: Array) -> None:
    """Solve A x = b in place for the first n rows of a positive definite A, given by its lower triangle.

    b becomes x, A its Cholesky factor. Source: [GVL13] sect. 4.2.
    """
    factor_positive(A, n)
    solve_factored(A, n, b)


@kernel(fast=True)
def factor_downhill(A: Array, n: int) -> None:
    """Factor the first n rows of a symmetric A, given by its lower triangle, as L |D| L^T.

    D holds the pivots. Their absolute values give Newton's method a direction of descent even if A is not positive
    definite. A becomes L below the diagonal, the reciprocal of |D| on it, and |D| L^T above. Source: [GVL13] sect. 4.1.
    """
    for i in range(n):
        least = _LEAST_PIVOT * A[i, i]
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[k, j]
            A[j, i] = total
            A[i, j] = total * A[j, j]
        pivot = A[i, i]
        for k in range(i):
            pivot -= A[i, k] * A[k, i]
        A[i, i] = 1.0 / max(abs(pivot), least)


@kernel(fast=True)
def solve_downhill(A: Array, n: int, b: Array) -> None:
    """Solve A x = b in place, where `factor_downhill` factored A. Source: [GVL13] sect. 4.1."""
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= A[i, k] * b[k]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i] * A[i, i]
        for k in range(i + 1, n):
            total -= A[k, i] * b[k]
        b[i] = total
