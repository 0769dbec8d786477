"""Write a kernel, and all kernels it calls, out for one robot.

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
from dataclasses import dataclass, field
from typing import Any

# Where functions that kernels call come from, and the thread of a block as they ask for it.
KERNELS = "arcreach.kernels."
THREAD = "cuda.threadIdx.x"


@dataclass
class Writer:
    """Writes kernels out and compiles them, each once.

    `turns["n"] = 3` writes out each `for … in range(n)`; `turns["row < n"] = (0, 2)` each `while row < n` that ends by
    moving `row` on, once for every row given. A loop with a `break` or `continue` of its own stays as it is.
    `exchanged` are kernels in whose place another one is called. Arrays named in `by_thread` are indexed by one number
    more, the thread's: many threads then share one array, and each has its own column of it.
    """

    turns: Mapping[str, Any]
    compiled: Callable[[Callable[..., Any]], Any]
    names: Mapping[str, Any] = field(default_factory=dict)  # what a name stands for, whatever it was
    exchanged: Mapping[Any, Any] = field(default_factory=dict)
    by_thread: frozenset[str] = frozenset()
    _written: dict[Any, Any] = field(default_factory=dict)

    def write(self, kernel: Any) -> Any:
        """The kernel, compiled from its source for this robot."""
        kernel = self.exchanged.get(kernel, kernel)
        if kernel not in self._written:
            self._written[kernel] = self.compiled(self._source(kernel))
        return self._written[kernel]

    def _source(self, kernel: Any) -> Callable[..., Any]:
        plain: Any = getattr(kernel, "py_func", kernel)
        tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
        definition = tree.body[0]
        assert isinstance(definition, ast.FunctionDef)
        definition.decorator_list = []
        _Loops(self.turns).visit(tree)
        _Columns(self.by_thread).visit(tree)
        used = {name: plain.__globals__.get(name) for name in plain.__code__.co_names}
        called = {name: self.write(value) for name, value in used.items() if _is_kernel(value)}
        namespace = {**plain.__globals__, **called, **self.names}
        # The source is this library's own.
        exec(compile(ast.fix_missing_locations(tree), f"<unrolled {plain.__name__}>", "exec"), namespace)  # noqa: S102
        written: Callable[..., Any] = namespace[plain.__name__]
        return written


def _is_kernel(value: Any) -> bool:
    """Whether a global name of a kernel stands for another kernel."""
    plain = getattr(value, "py_func", value)
    return inspect.isfunction(plain) and plain.__module__.startswith(KERNELS)


class _Columns(ast.NodeTransformer):
    """Adds the thread to the indices into some arrays."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.names and isinstance(node.slice, ast.Tuple):
            node.slice.elts.append(ast.parse(THREAD, mode="eval").body)
        return node


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
