"""Write SymPy expressions as the source of a batch kernel.

Only a fixed set of functions is accepted and all symbols are renamed, so the source contains no text from the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arcreach._checks import shown
from arcreach.errors import RobotError

# Accepted functions; each prints as a call of Python's math module, Abs as the builtin abs.
FUNCTIONS = (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "Abs",
)  # fmt: skip
# Larger integers may not be exact as floats, and their powers would fill the memory.
LARGEST_INTEGER = 10**15


def normalised(expression: Any, symbols: dict[str, Any]) -> Any:
    """Return the expression rebuilt from its parts, with the given symbols in place of those with the same names.

    Unevaluated products are evaluated, symbols lose their assumptions and floats their extra digits, so that equal
    formulas give equal expressions.
    """
    import sympy

    if isinstance(expression, sympy.Symbol) and not isinstance(expression, sympy.Dummy):
        return symbols.get(expression.name, expression)
    if isinstance(expression, sympy.Float):
        return sympy.Float(float(expression))
    if not expression.args:
        return expression
    return expression.func(*(normalised(part, symbols) for part in expression.args))


def too_large(number: Any) -> bool:
    """Return whether a SymPy number is a rational whose numerator or denominator exceeds LARGEST_INTEGER."""
    return bool(number.is_Rational) and (abs(number.p) > LARGEST_INTEGER or number.q > LARGEST_INTEGER)


def pose_source(matrix: Any, symbols: Sequence[Any]) -> str:
    """Return the source of `symbolic_poses(start, stop, Q, out)`: out (n, 4, 4)."""
    matrix, symbols = _renamed(matrix, symbols)
    entries = {f"out[i, {r}, {c}]": matrix[r, c] for r in range(4) for c in range(4)}
    return _kernel_source("symbolic_poses", entries, symbols)


def jacobian_source(matrix: Any, symbols: Sequence[Any]) -> str:
    """Return the source of `symbolic_jacobians(start, stop, Q, out)`: out (n, 6, dof).

    The angular rows are the axial vector of dR/dq R^T. The kernel multiplies these matrices numerically, because their
    symbolic product is many times larger.
    """
    matrix, symbols = _renamed(matrix, symbols)
    entries: dict[str, Any] = {f"r{r}{c}": matrix[r, c] for r in range(3) for c in range(3)}
    closing = []
    for k, symbol in enumerate(symbols):
        for r in range(3):
            entries[f"out[i, {r}, {k}]"] = matrix[r, 3].diff(symbol)
            entries.update({f"d{r}{c}_{k}": matrix[r, c].diff(symbol) for c in range(3)})
        for row, (a, b) in enumerate(((2, 1), (0, 2), (1, 0)), start=3):
            terms = " + ".join(f"d{a}{c}_{k} * r{b}{c}" for c in range(3))
            closing.append(f"out[i, {row}, {k}] = {terms}")
    return _kernel_source("symbolic_jacobians", entries, symbols, closing)


def _renamed(matrix: Any, symbols: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Check the matrix; return it with its coordinates replaced by real symbols q0, q1, ..., and these symbols."""
    import sympy

    names = [sympy.Symbol(f"q{k}", real=True) for k in range(len(symbols))]
    renamed = matrix.xreplace(dict(zip(symbols, names, strict=True)))
    for expression in renamed:
        _check(expression, set(names))
    return renamed, names


def _kernel_source(function: str, entries: dict[str, Any], symbols: Sequence[Any], closing: Sequence[str] = ()) -> str:
    import sympy
    from sympy.printing.pycode import PythonCodePrinter

    printer = PythonCodePrinter()
    shared, reduced = sympy.cse(list(entries.values()), symbols=sympy.numbered_symbols("t"))
    # NumPy has these functions under the names of math and, like compiled code, returns nan or inf where math raises.
    lines = ["import numpy as math", f"def {function}(start, stop, Q, out):", "    for i in range(start, stop):"]
    body = [f"{symbol} = Q[i, {k}]" for k, symbol in enumerate(symbols)]
    body += [f"{symbol} = {printer.doprint(value)}" for symbol, value in shared]
    body += [f"{name} = {printer.doprint(value)}" for name, value in zip(entries, reduced, strict=True)]
    return "\n".join(lines + ["        " + line for line in [*body, *closing]]) + "\n"


def _check(expression: Any, allowed: set[Any]) -> None:
    """Raise RobotError for an expression that cannot be compiled."""
    import sympy

    unknown = sorted(str(symbol) for symbol in expression.free_symbols - allowed)
    if unknown:
        raise RobotError(
            f"symbolic robot: matrix uses {shown(unknown[0])}, which is not a coordinate; list it in coordinates or "
            "put a number in its place"
        )
    numbers = (sympy.Integer, sympy.Rational, sympy.Float, sympy.core.numbers.Pi, sympy.core.numbers.Exp1)
    for node in sympy.preorder_traversal(expression):
        if too_large(node):
            raise RobotError(
                f"symbolic robot: matrix uses the whole number {shown(max(abs(node.p), node.q))}; "
                f"give whole numbers up to {LARGEST_INTEGER}, or a float"
            )
        if node.is_number and node.is_Pow and node.is_extended_real is False:
            raise RobotError(
                f"symbolic robot: matrix uses {shown(str(node))}, which is not real; give a formula with real values"
            )
        known = isinstance(node, (sympy.Symbol, sympy.Add, sympy.Mul, sympy.Pow, *numbers))
        if known or type(node).__name__ in FUNCTIONS:
            continue
        raise RobotError(
            f"symbolic robot: matrix uses {shown(type(node).__name__)}, which is not accepted; "
            f"give expressions of + - * / **, sqrt, pi, {', '.join(FUNCTIONS)}"
        )
