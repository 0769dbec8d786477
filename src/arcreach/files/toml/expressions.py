"""Read and write the formulas of a symbolic robot's file.

A formula is never evaluated as Python: it is parsed into a syntax tree, and a SymPy expression is built from the few
kinds of nodes that are accepted.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

from arcreach._checks import shown
from arcreach._extras import require
from arcreach._text import count, listed
from arcreach.errors import FileError
from arcreach.files.toml.sizes import DEEPEST_FORMULA, LONGEST_FORMULA, nesting
from arcreach.robots._symbolic_source import FUNCTIONS, LARGEST_INTEGER, too_large

# A larger exponent, as in 9 ** 9 ** 9, could fill the memory.
LARGEST_EXPONENT = 16


def parse_formula(text: str, symbols: Mapping[str, Any]) -> Any:
    """Return the SymPy expression of a formula in the given symbols."""
    if len(text) > LONGEST_FORMULA:
        raise FileError(f"the formula has {len(text)} characters; at most {LONGEST_FORMULA} are accepted")
    if nesting(text, "([{", ")]}") > DEEPEST_FORMULA:
        raise FileError(f"{shown(text)} is nested too deeply; give a formula of at most {DEEPEST_FORMULA} levels")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _build(tree.body, symbols)
    except FileError:
        raise
    except (RecursionError, MemoryError):
        raise FileError(f"{shown(text)} is nested too deeply; give a shorter formula") from None
    except (SyntaxError, ValueError, TypeError, ArithmeticError):
        raise FileError(f"{shown(text)} is not a formula; give something like cos(q0)*sin(q1) + 0.25") from None


def _build(node: ast.expr, symbols: Mapping[str, Any]) -> Any:
    sympy = require("sympy")
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(value)):
            return _real(sympy.Integer(value), node)
        case ast.Constant(value=float(value)):
            return _real(sympy.Float(value), node)
        case ast.Name(id="pi"):
            return sympy.pi
        case ast.Name(id=name) if name in symbols:
            return symbols[name]
        case ast.Name(id=name):
            raise FileError(f"{shown(name)} is not a coordinate; the coordinates are {listed(list(symbols), 8)}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_build(operand, symbols)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _build(operand, symbols)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            exponent = _build(right, symbols)
            if not exponent.is_number or not abs(float(exponent)) <= LARGEST_EXPONENT:
                limits = f"{-LARGEST_EXPONENT} to {LARGEST_EXPONENT}"
                raise FileError(f"the exponent {_source(right)} is not accepted; give a number from {limits}")
            return _evaluated(_build(left, symbols) ** exponent, node)
        case ast.BinOp(op=ast.Mult() | ast.Div()):
            # Multiply all factors at once: one by one, SymPy would turn 2*(x + y)*z into (2*x + 2*y)*z.
            return _real(sympy.Mul(*_factors(node, symbols)), node)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _real(_build(left, symbols) + _build(right, symbols), node)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _real(_build(left, symbols) - _build(right, symbols), node)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in (*FUNCTIONS, "sqrt"):
            taken = 2 if name == "atan2" else 1
            if len(args) != taken:
                raise FileError(f"{_source(node)} has {count(len(args), 'argument')}; {name} takes {taken}")
            return _evaluated(getattr(sympy, name)(*(_build(argument, symbols) for argument in args)), node)
    raise FileError(
        f"{_source(node)} is not accepted in a formula; use numbers, coordinates, + - * / **, pi, sqrt, "
        + ", ".join(FUNCTIONS)
    )


def _factors(node: ast.expr, symbols: Mapping[str, Any]) -> list[Any]:
    """Return the factors of a product; a divisor d is the factor d**-1."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return [*_factors(left, symbols), *_factors(right, symbols)]
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return [*_factors(left, symbols), *(_real(factor**-1, node) for factor in _factors(right, symbols))]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [require("sympy").Integer(-1), *_factors(operand, symbols)]
    return [_build(node, symbols)]


def _real(result: Any, node: ast.expr) -> Any:
    """Return a result; refuse one that is not real, is infinite, or has a huge integer factor."""
    if too_large(result.as_coeff_Mul()[0]):
        raise FileError(f"{_source(node)} has a whole number above {LARGEST_INTEGER}; write it as a float, like 1e20")
    known = result.is_Symbol or result.is_Rational or result.is_NumberSymbol
    if result.is_Atom and not known and not (result.is_Float and math.isfinite(float(result))):
        raise _not_real(node)
    return result


def _evaluated(result: Any, node: ast.expr) -> Any:
    """Return `_real` of a result that may be complex or infinite once evaluated: (-2)**(1/3), asin(2)."""
    if result.is_number and not result.is_Rational:
        value = complex(result)
        if value.imag != 0.0 or not math.isfinite(value.real):
            raise _not_real(node)
    return _real(result, node)


def _not_real(node: ast.expr) -> FileError:
    return FileError(f"{_source(node)} is not a finite real number; give a formula that has a value")


def write_formula(expression: Any) -> str:
    """Return the text of a SymPy expression; `parse_formula` reads it back as the same expression."""
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc]
        def _print_Float(self, value: Any) -> str:  # noqa: N802
            return repr(float(value))

        def _print_Exp1(self, value: Any) -> str:  # noqa: N802
            return "exp(1)"

    return str(Printer().doprint(expression))


def _source(node: ast.expr) -> str:
    return shown(ast.unparse(node))
