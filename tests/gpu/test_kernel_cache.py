"""Compiled GPU kernels are found again by another process, by their cache key. No GPU is needed."""

import importlib.util
import os
import subprocess
import sys

import pytest

# The programs are compiled even where NUMBA_DISABLE_JIT=1: a second time they would show nothing new.
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="needs the extra gpu"),
]

# Two kernels of the same source that differ in their cache key only.
PROGRAM = """
import sys
import _numba_cuda_redirector
from numba import cuda
from arcreach.gpu import driver, kernel_cache
from arcreach._jit import on_compile

driver.load = kernel_cache.load = lambda: cuda

def made(number):
    helper = cuda.jit(lambda x: number * x, device=True)
    @cuda.jit
    def double(row):
        row[0] = helper(row[0])
    return double

kernels = [made(2), made(2), made(3)]
for kernel, number in zip(kernels, (2, 2, 3)):
    kernel_cache.attach_cache([kernel], "double", number, bytes([number]))

class Codegen:
    def magic_tuple(self):
        return "a GPU"

class Context:
    def codegen(self):
        return Codegen()
    def refresh(self):
        pass

class Compiled:
    codegen = Codegen()
    def __init__(self, number):
        self.number = number
    def _reduce_states(self):
        return {"number": self.number}
    def bind(self):
        self.bound = True

shelves = [kernel._cache for kernel in kernels]
for shelf in shelves:
    shelf._impl.rebuild = lambda context, data: Compiled(**data)
wanted = "float64[:]", Context()
told = []
with on_compile(lambda: told.append("compiling")):
    before = [shelf.load_overload(*wanted) for shelf in shelves]
shelves[0].save_overload("float64[:]", Compiled(2))
shelves[2].save_overload("float64[:]", Compiled(3))
found = [shelf.load_overload(*wanted) for shelf in shelves]
assert all(kernel.bound for kernel in found)
assert shelves[0].load_overload("float32[:]", Context()) is None
# A cache that cannot be written is not an error.
shelves[0].save_overload("float32[:]", None)
print(shelves[0].cache_path)
print([kernel and kernel.number for kernel in before], len(told), [kernel.number for kernel in found])
"""


def run(program, folder):
    """Return the output of the program, its kernels cached under the folder or in temporary files beside it."""
    program.write_text(PROGRAM)
    temporary = program.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    surroundings = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
    surroundings["ARCREACH_CACHE_DIR"] = str(folder)
    surroundings |= {"NUMBA_DISABLE_JIT": "0", "TMPDIR": str(temporary)}
    return subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=True, env=surroundings
    ).stdout.splitlines()


def test_a_kernel_is_found_again_by_its_cache_key(tmp_path):
    program, cache = tmp_path / "program.py", tmp_path / "cache"
    path, found = run(program, cache)
    assert path.startswith(str(cache))
    assert found == "[None, None, None] 3 [2, 2, 3]"
    assert run(program, cache) == [path, "[2, 2, 3] 0 [2, 2, 3]"]
    for file in cache.rglob("*.nbc"):
        file.write_bytes(b"cut off")
    assert run(program, cache) == [path, found]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    path, _ = run(tmp_path / "program.py", tmp_path / "file" / "cache")
    assert path.startswith(str(tmp_path / "temporary"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX modes")
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    path, _ = run(tmp_path / "program.py", tmp_path / "cache")
    assert path.startswith(str(tmp_path / "temporary"))
