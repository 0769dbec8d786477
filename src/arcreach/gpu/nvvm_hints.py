"""Optimisation hints in the LLVM IR that numba-cuda passes to NVVM.

Loops: a small array stays in registers only if all its indices are compile-time constants, and NVVM does not
unroll loops as large as a solver step on its own. On a CPU the loop must stay a loop, compiled once for all robots.
Functions take their trip counts from `kernels.solver.loops`. Kernels compiled for one robot call `unrolled_rows` and
`unrolled_variables` instead, and all loops of a function that calls these get `llvm.loop.unroll.full`.

Addresses: numba computes element addresses by integer arithmetic, which hides the address space from NVVM. Rewritten as
`getelementptr` they show that the Jacobian lies in shared memory.

Neither hint changes results.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable
from typing import Any

# Substrings of mangled names: this library's functions, and the functions whose callers are unrolled.
OWN = "8arcreach"
MARKER = "unrolled"

_DEFINITION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r'^"?([^\s":]+)"?:')
_BRANCH_TARGET = re.compile(r'label %"?([^\s",]+)"?')
_METADATA = re.compile(r"^!(\d+) =", re.MULTILINE)
_ADDRESS = re.compile(
    r"^  (\S+) = ptrtoint (\S+) (\S+) to i64\n  (\S+) = add i64 \1, (\S+)\n  (\S+) = inttoptr i64 \4 to \2$",
    re.MULTILINE,
)
_AS_POINTER = r"  \1 = bitcast \2 \3 to i8*\n  \4 = getelementptr i8, i8* \1, i64 \5\n  \6 = bitcast i8* \4 to \2"


def with_hints(ir: str) -> str:
    """Return LLVM IR with hints, if it contains functions of this library."""
    return with_marked_loops(_ADDRESS.sub(_AS_POINTER, ir)) if OWN in ir else ir


def with_marked_loops(ir: str) -> str:
    """Return LLVM IR with full unrolling requested in functions that call a marker."""
    numbers = itertools.count(max((int(number) for number in _METADATA.findall(ir)), default=-1) + 1)
    whole = next(numbers)
    added = [f'!{whole} = !{{!"llvm.loop.unroll.full"}}']

    def marked(definition: re.Match[str]) -> str:
        text = definition[0]
        # Skip the first line: it names the function itself.
        if MARKER not in text[text.index("\n") :]:
            return text
        lines, before = [], set()
        for line in text.split("\n"):
            lines.append(line)
            if label := _LABEL.match(line):
                before.add(label[1])
            elif line.lstrip().startswith("br ") and before.intersection(_BRANCH_TARGET.findall(line)):
                # A branch to an earlier block closes a loop; on other branches LLVM ignores the metadata.
                number = next(numbers)
                added.append(f"!{number} = distinct !{{!{number}, !{whole}}}")
                lines[-1] += f", !llvm.loop !{number}"
        return "\n".join(lines)

    text = _DEFINITION.sub(marked, ir)
    return "\n".join([text, *added, ""]) if len(added) > 1 else ir


def unrolled_rows(model: Any) -> int:
    """Return the number of moving elements; marks the caller's loops for full unrolling."""
    return model.moving.shape[0]  # type: ignore[no-any-return]


def unrolled_variables(array: Any) -> int:
    """Return the number of solver variables, the rows of `array`; marks the caller's loops for full unrolling."""
    return array.shape[0]  # type: ignore[no-any-return]


def install_hints() -> None:
    """Install the hints in numba-cuda; code of other libraries is not changed."""
    # If numba-cuda has moved `nvvm.compile_ir`, kernels are slower but correct.
    with contextlib.suppress(Exception):
        from numba.cuda.cudadrv import nvvm

        if not hasattr(nvvm.compile_ir, "plain"):
            nvvm.compile_ir = _hinting(nvvm.compile_ir)


def _hinting(plain: Callable[..., Any]) -> Callable[..., Any]:
    def compile_ir(llvmir: Any, **options: Any) -> Any:
        texts = [llvmir] if isinstance(llvmir, str) else llvmir
        return plain([with_hints(text) for text in texts], **options)

    compile_ir.plain = plain  # type: ignore[attr-defined]
    return compile_ir
