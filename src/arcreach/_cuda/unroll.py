"""Write out the loops of a kernel whose number of turns is known.

On a GPU a small array lives in registers only if every index into it is known when it is compiled, and the compiler
does not unroll a loop as large as a solver's step. A loop on a CPU must stay a loop, compiled once for all robots. So
the one source of a kernel is taken here and its loops over a robot's elements and variables are written out.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def unrolled(function: Any, turns: Mapping[str, Any], replaced: Mapping[str, Any]) -> Callable[..., Any]:
    """The Python function behind a kernel, with the loops named in `turns` written out.

    `turns["n"] = 3` writes out each `for … in range(n)`; `turns["row < n"] = (0, 2)` each `while row < n` that ends by
    moving `row` on, once for every row given. `replaced` are the functions it calls that were treated the same way, by
    name. A loop with a `break` or `continue` of its own stays as it is.
    """
    plain: Any = getattr(function, "py_func", function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    _Loops(turns).visit(tree)
    namespace = {**plain.__globals__, **replaced}
    # The source is this library's own.
    exec(compile(ast.fix_missing_locations(tree), f"<unrolled {plain.__name__}>", "exec"), namespace)  # noqa: S102
    written: Callable[..., Any] = namespace[plain.__name__]
    return written


class _Loops(ast.NodeTransformer):
    """Replaces loops by their turns."""

    def __init__(self, turns: Mapping[str, Any]) -> None:
        self.turns = turns

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        is_range = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"
        if not is_range or len(node.iter.args) != 1:  # type: ignore[attr-defined]
            return node
        count = self.turns.get(ast.unparse(node.iter.args[0]))  # type: ignore[attr-defined]
        if count is None or _leaves(node.body):
            return node
        assert isinstance(node.target, ast.Name)
        return _written_out(node.body, node.target.id, range(count))

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        rows = self.turns.get(ast.unparse(node.test))
        if rows is None or _leaves(node.body):
            return node
        moved = node.body[-1]
        assert isinstance(moved, ast.AugAssign)
        assert isinstance(moved.target, ast.Name)
        return _written_out(node.body[:-1], moved.target.id, rows)


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a loop is left, or a turn cut short, from inside."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        inner = (getattr(statement, part, []) for part in ("body", "orelse"))
        if not isinstance(statement, (ast.For, ast.While)) and any(_leaves(part) for part in inner):
            return True
    return False


def _written_out(body: list[ast.stmt], name: str, values: Iterable[int]) -> list[ast.stmt]:
    return [_Index(name, value).visit(copy.deepcopy(statement)) for value in values for statement in body]


class _Index(ast.NodeTransformer):
    """Puts a number in place of the loop's variable."""

    def __init__(self, name: str, value: int) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == self.name and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Constant(self.value), node)
        return node
