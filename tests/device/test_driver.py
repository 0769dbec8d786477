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


@pytest.mark.parametrize("name", ["three-section", "ur5-bending-tool"])
def test_the_functions_of_specialised_kernels_compute_the_same(name):
    """What CUDA compiles for one robot, run as plain Python beside the functions it was written from."""
    from arcreach.kernels import chain, limits
    from arcreach.kernels.layout import ARC

    robot = ar.load_robot(name)
    rows = [row for row, record in enumerate(robot._chain) if record.kind != ARC]
    turns = {"row < chain.shape[0]": rows}
    q = robot.sample(1, seed=2)[0]
    assert unrolled(chain.tip_motion, turns, {})(robot._chain, q) == chain.tip_motion(robot._chain, q)
    wide, here, there = 3.0 * q, np.empty_like(q), np.empty_like(q)
    limits.clip(robot._chain, wide, here)
    unrolled(limits.clip, turns, {})(robot._chain, wide, there)
    np.testing.assert_array_equal(here, there)


def test_slots_are_served_by_threads(monkeypatch):
    """Several pieces at once, with arrays of the host in place of a device's."""
    from types import SimpleNamespace

    from arcreach._cuda import slots

    class Rows(np.ndarray):
        def copy_to_device(self, host, stream):
            self[...] = host

        def copy_to_host(self, host, stream):
            host[...] = self

    def array(shape, dtype):
        return np.zeros(shape, dtype).view(Rows)

    stream = SimpleNamespace(synchronize=lambda: None)
    fake = SimpleNamespace(
        jit=SimpleNamespace(__module__="numba.cuda"), pinned_array=np.zeros, device_array=array, stream=lambda: stream,
        get_current_device=lambda: SimpleNamespace(id=0), select_device=lambda _: None,
    )  # fmt: skip
    monkeypatch.setattr(slots, "load", lambda: fake)
    monkeypatch.setattr(slots, "_kept", type(slots._kept)())
    layout = slots.Layout((((2,), float),), (((), float),))
    given, found, told = np.arange(2000.0).reshape(1000, 2), np.empty(1000), []

    def launch(slot, start, stop):
        n = stop - start
        slot.outputs[0][:n] = slot.inputs[0][:n].sum(axis=1)

    pieces = [(first, min(first + 64, 1000)) for first in range(0, 1000, 64)]
    slots.stream_pieces(layout, 64, pieces, [given], [found], launch, told.append)
    np.testing.assert_array_equal(found, given.sum(axis=1))
    assert sum(told) == 1000
    assert len(slots._kept[layout, 64]) == slots.SLOTS
