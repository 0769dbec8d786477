import os

from hypothesis import settings

# Kernels compile inside the first example, and pure Python ones are slow: no deadline. CI draws the same examples
# every time, so a red run can be repeated. Plain Python computes what compiled kernels compute: a few examples show it.
EXAMPLES = 5 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 100
settings.register_profile("default", deadline=None, max_examples=EXAMPLES)
settings.register_profile("ci", deadline=None, max_examples=EXAMPLES, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
# Tests that read stderr must not see the line about compiling.
os.environ.setdefault("ARCREACH_QUIET", "1")
# Batches and single calls are compared bit by bit, and interpreted kernels round differently.
os.environ.setdefault("ARCREACH_INTERPRET", "0")
