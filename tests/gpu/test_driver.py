"""Errors without a GPU, and that importing the library does not load its driver."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import DeviceError
from arcreach.gpu import driver


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


def test_no_more_blocks_are_started_than_run_at_once(monkeypatch):
    from types import SimpleNamespace

    from arcreach.gpu import driver
    from arcreach.gpu.batch import resident_blocks

    monkeypatch.setattr(driver, "load", lambda: None)
    monkeypatch.setattr(driver, "is_simulated", lambda _: False)
    monkeypatch.setattr(driver, "multiprocessors", lambda: 10)

    def blocks(*a_thread):
        """Return the resident blocks of a kernel whose overloads hold so many threads each."""
        made = [
            SimpleNamespace(max_cooperative_grid_blocks=lambda threads, held=held: held // threads) for held in a_thread
        ]
        return resident_blocks(SimpleNamespace(overloads=dict(enumerate(made))), 32)

    assert blocks(2560) == 80
    assert blocks(2560, 640) == 20
    assert blocks(0) == 1
    # Before the first call.
    assert blocks() == 80


@pytest.mark.parametrize(
    ("shared", "registers"),
    [(0, 128), (6 * 5 * 256, 128), (10 * 5 * 256, 128), (14 * 5 * 256, 168), (20 * 5 * 256, 255), (24 * 6 * 256, 255)],
)
def test_registers_leave_room_for_the_blocks_that_shared_memory_holds(monkeypatch, shared, registers):
    from types import SimpleNamespace

    from arcreach.gpu import driver

    h200 = SimpleNamespace(MAX_REGISTERS_PER_MULTIPROCESSOR=65536, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR=233472)
    cuda = SimpleNamespace(get_current_device=lambda: h200, jit=lambda max_registers: max_registers)
    monkeypatch.setattr(driver, "load", lambda: cuda)
    assert driver.kernel_of_warps(shared) == registers
