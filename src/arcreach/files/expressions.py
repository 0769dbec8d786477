"""Read and write the formulas of a symbolic robot's file.

A formula from a file is never evaluated as Python: it is parsed into a syntax tree, and each node must be on a short
list, from which the SymPy expression is built step by step.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from arcreach.errors import FileError
from arcreach.robots._symbolic_source import FUNCTIONS
from arcreach.robots.symbolic import import_sympy

# Longer than any matrix entry of a real arm, short enough that nothing explodes.
LONGEST_FORMULA = 20_000
# 9 ** 9 ** 9 would fill the memory with digits.
LARGEST_EXPONENT = 16
LARGEST_INTEGER = 10**15

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def parse_formula(text: str, symbols: Mapping[str, Any]) -> Any:
    """The SymPy expression of a formula in the given symbols."""
    if len(text) > LONGEST_FORMULA:
        raise FileError(f"the formula has {len(text)} characters; at most {LONGEST_FORMULA} are accepted")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _build(tree.body, symbols)
    except (SyntaxError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"'{_short(text)}' is no formula; give something like cos(q0)*sin(q1) + 0.25") from None
    except (RecursionError, MemoryError):
        raise FileError(f"'{_short(text)}' is nested too deeply") from None


def _build(node: ast.expr, symbols: Mapping[str, Any]) -> Any:
    sympy = import_sympy()
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(value)) if abs(value) <= LARGEST_INTEGER:
            return sympy.Integer(value)
        case ast.Constant(value=float(value)):
            return sympy.Float(value)
        case ast.Name(id="pi"):
            return sympy.pi
        case ast.Name(id=name) if name in symbols:
            return symbols[name]
        case ast.Name(id=name):
            raise FileError(f"'{name}' is no coordinate; the coordinates are {', '.join(symbols)}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_build(operand, symbols)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _build(operand, symbols)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            exponent = _build(right, symbols)
            if not exponent.is_number or abs(exponent) > LARGEST_EXPONENT:
                raise FileError(f"the exponent {_short(ast.unparse(right))} is not a number up to {LARGEST_EXPONENT}")
            return _build(left, symbols) ** exponent
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_build(left, symbols), _build(right, symbols))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in (*FUNCTIONS, "sqrt"):
            if len(args) != (2 if name == "atan2" else 1):
                raise FileError(f"{name} takes {'two arguments' if name == 'atan2' else 'one argument'}")
            return getattr(sympy, name)(*(_build(argument, symbols) for argument in args))
    raise FileError(
        f"'{_short(ast.unparse(node))}' is not accepted in a formula; use numbers, coordinates, + - * / **, pi, sqrt, "
        + ", ".join(FUNCTIONS)
    )


def write_formula(expression: Any) -> str:
    """The text of a SymPy expression that `parse_formula` reads back as the same expression."""
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc]
        def _print_Float(self, value: Any) -> str:  # noqa: N802
            return repr(float(value))

    return str(Printer().doprint(expression))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
