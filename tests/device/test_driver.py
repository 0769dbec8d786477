"""What is said where there is no GPU, and that nobody pays for it."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import arcreach as ar
from arcreach._cuda import driver
from arcreach._cuda.unroll import unrolled
from arcreach.errors import DeviceError


@pytest.fixture
def no_package(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "_numba_cuda_redirector" else found(name)
    )
    driver.load.cache_clear()
    yield
    driver.load.cache_clear()


def test_without_the_package_one_sentence_says_what_to_install(no_package):
    robot = ar.load_robot("three-section")
    with pytest.raises(DeviceError, match=r"device 'cuda' needs numba-cuda, .* pip install 'arcreach\[gpu\]'"):
        ar.solve_batch(robot, [[0, 0, 0.1]], device="cuda")
    with pytest.raises(DeviceError, match="numba-cuda"):
        robot.tip_pose(np.zeros((1, 6)), device="cuda")


def test_without_the_package_auto_is_the_cpu(no_package):
    robot = ar.load_robot("three-section")
    q = robot.sample(3, seed=0)
    poses = robot.tip_pose(q, device="auto")
    solved = ar.solve_batch(robot, poses[:, :3, 3], poses[:, :3, 2], device="auto")
    assert solved.reached.all()


def test_an_unknown_device_is_refused():
    with pytest.raises(DeviceError, match="device = 'tpu' is not accepted; give 'cpu', 'cuda' or 'auto'"):
        ar.solve_batch(ar.load_robot("three-section"), [[0, 0, 0.1]], device="tpu")


def test_importing_the_library_does_not_import_the_driver():
    code = "import sys, arcreach; print(any(name.split('.')[0] in ('numba_cuda', 'cuda') for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def _sum_of_rows(rows, n):
    total = 0.0
    for i in range(n):
        total += (i + 1) * rows[i]
        for j in range(rows.shape[0]):
            if rows[j] > 100.0:
                break
            total += rows[j]
    row = 0
    while row < rows.shape[0]:
        total *= 1.0 + rows[row]
        row += 2
    return total


def test_loops_are_written_out():
    rows = np.array([1.0, 2.0, 3.0])
    written = unrolled(_sum_of_rows, {"n": 3, "rows.shape[0]": 3, "row < rows.shape[0]": (0, 2)}, {})
    assert written(rows, 3) == _sum_of_rows(rows, 3)
    # The loops that were written out no longer look at their ends; the one with a `break` still does.
    assert written(np.array([1.0, 2.0, 3.0, 1000.0, 5.0]), 1) == pytest.approx(
        (1 + 2 * 2 + 3 * 3 + 3 * (1 + 2 + 3)) * 2 * 4
    )
    assert unrolled(_sum_of_rows, {}, {})(rows, 2) == _sum_of_rows(rows, 2)
