import math
import os
import subprocess
import sys

import numpy as np
import pytest

from arcreach import _interpreter, _jit
from arcreach._threads import spread
from arcreach.elements import Section
from arcreach.ik import method
from arcreach.ik.methods import auto
from arcreach.ik.solve import solve
from arcreach.kernels.chain import kinematics
from arcreach.robots.robot import Robot

pytestmark = pytest.mark.compiled

# Prints the configuration, the error of the tip, and how many kernels were compiled.
PROGRAM = """
import numpy as np, arcreach as ar
from arcreach import _jit
compiled = []
with _jit.on_compile(lambda: compiled.append(1)):
    arm = ar.Robot([ar.Section(0.05, np.pi / 2, radius=0.004)] * 3)
    for scene in (None, [ar.Sphere([0.03, 0.0, 0.09], 0.01)]):
        found = ar.solve(arm, [0.05, 0.0, 0.11], scene=scene)
        print(*found.q, np.linalg.norm(arm.tip_pose(found.q)[:3, 3] - [0.05, 0.0, 0.11]))
print(len(compiled))
"""


def run(cache, **variables):
    environment = {**os.environ, "ARCREACH_CACHE_DIR": str(cache), "ARCREACH_QUIET": "0", **variables}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=True
    )


@pytest.fixture
def seconds_left(monkeypatch):
    """Sets how long kernels may be interpreted."""

    def allow(seconds):
        monkeypatch.setattr(_interpreter, "_left", seconds)

    return allow


@pytest.fixture
def arm():
    return Robot([Section(0.05, np.pi / 2)] * 3)


def test_first_solves_with_an_empty_cache_compile_nothing_and_reach(tmp_path):
    done = run(tmp_path, ARCREACH_INTERPRET="60")
    *answers, compiled = done.stdout.splitlines()
    assert compiled == "0"
    assert done.stderr == _jit.INTERPRETING_LINE + "\n"
    for answer in answers:
        assert float(answer.split()[-1]) < 1e-6
    arm = Robot([Section(0.05, np.pi / 2, radius=0.004)] * 3)
    assert np.allclose([float(x) for x in answers[0].split()[:-1]], solve(arm, [0.05, 0.0, 0.11]).q, atol=1e-9)


def test_an_interpreted_kernel_computes_what_the_compiled_one_does(arm, seconds_left):
    seconds_left(60.0)
    for q in arm.sample(20, seed=1):
        pose = np.empty((4, 4))
        done, _ = _interpreter.attempt(kinematics.tip_pose, (arm.packed, q, pose))
        assert done
        assert np.allclose(pose, arm.tip_pose(q), rtol=0, atol=1e-15)


def test_a_call_out_of_time_leaves_its_arrays_as_they_were_and_ends_interpretation(arm, seconds_left):
    pose = np.full((4, 4), 7.0)
    seconds_left(1e-9)
    assert _interpreter.attempt(kinematics.tip_pose, (arm.packed, arm.neutral.copy(), pose)) == (False, None)
    assert (pose == 7.0).all()
    seconds_left(60.0)
    _interpreter.stop_interpreting()
    assert _interpreter.attempt(kinematics.tip_pose, (arm.packed, arm.neutral.copy(), pose)) == (False, None)


def test_arrays_inside_named_tuples_are_restored(seconds_left):
    seconds_left(60.0)
    written = auto.Task(np.zeros(3), *range(9))

    class Kernel:
        @staticmethod
        def py_func(task, divisor):
            task.targets[:] = 1.0
            return 1.0 / divisor

    assert _interpreter.attempt(Kernel, (written, 2.0)) == (True, 0.5)
    written.targets[:] = 0.0
    # Compiled code returns infinity.
    assert _interpreter.attempt(Kernel, (written, 0.0)) == (False, None)
    assert not written.targets.any()


@pytest.mark.parametrize(("given", "seconds"), [("0", 0.0), ("0.5", 0.5), ("", 2.0), ("soon", 2.0)])
def test_the_allowance_comes_from_the_environment(monkeypatch, given, seconds):
    monkeypatch.setenv("ARCREACH_INTERPRET", given)
    assert _interpreter._allowance() == seconds


def test_a_copy_calls_the_replacements_of_globals_and_of_closure_variables():
    def inner(x):
        return x + 1

    inner.py_func = inner

    def outer(x):
        return inner(x)

    assert _interpreter.callees(outer) == {"inner": inner}
    assert _interpreter.with_callees(outer, {"inner": lambda x: 10 * x})(2) == 20
    assert outer(2) == 3
    assert _interpreter.callees(kinematics.tip_pose.py_func).keys() <= kinematics.tip_pose.py_func.__globals__.keys()


def test_rows_spread_over_threads_are_compiled(seconds_left):
    seconds_left(60.0)
    spread(lambda start, stop: None, 10, smallest=1)
    assert _interpreter._left == 0.0


def test_a_square_root_that_python_refuses_ends_interpretation(seconds_left):
    class Kernel:
        @staticmethod
        def py_func(x):
            return math.sqrt(x)

    seconds_left(60.0)
    assert _interpreter.attempt(Kernel, (4.0,)) == (True, 2.0)
    # Compiled code returns nan.
    assert _interpreter.attempt(Kernel, (-1.0,)) == (False, None)


def test_a_solve_with_a_time_limit_is_compiled(arm, monkeypatch):
    interpretable = []

    def entry(kernel, given):
        interpretable.append(given)
        return kernel

    monkeypatch.setattr(method, "_entry", entry)
    for max_time in (None, 1.0):
        solve(arm, [0.05, 0.0, 0.11], "jacobian", max_time=max_time)
    assert interpretable == [True, False]
