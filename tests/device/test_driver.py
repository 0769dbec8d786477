"""What is said where there is no GPU, and that nobody pays for it."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import DeviceError
from arcreach.gpu import driver
from arcreach.gpu.unroll import Writer


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
    written = written_out(_sum_of_rows, {"n": 3, "rows.shape[0]": 3, "row < rows.shape[0]": (0, 2)})
    assert written(rows, 3) == _sum_of_rows(rows, 3)
    # The loops that were written out no longer look at their ends; the one with a `break` still does.
    assert written(np.array([1.0, 2.0, 3.0, 1000.0, 5.0]), 1) == pytest.approx(
        (1 + 2 * 2 + 3 * 3 + 3 * (1 + 2 + 3)) * 2 * 4
    )
    assert written_out(_sum_of_rows, {})(rows, 2) == _sum_of_rows(rows, 2)


def written_out(function, turns):
    """The function as CUDA would compile it, to be run as plain Python."""
    return Writer(turns, lambda source: source).write(function)


@pytest.mark.parametrize("name", ["three-section", "ten-section", "ur5-bending-tool", "rail-iiwa-14", "mixed-sections"])
def test_the_functions_of_specialised_kernels_compute_the_same(name):
    """What CUDA compiles for one robot, run as plain Python beside the functions it was written from."""
    from types import SimpleNamespace

    from arcreach.ik.smooth_chain import smooth_chain

    from arcreach.ik.device import writer_for
    from arcreach.kernels import auto_device_steps, chain, limits, seeds, smooth_variables
    from arcreach.kernels.layout import AXIS

    robot = ar.load_robot(name)
    smooth = smooth_chain(robot)
    n = smooth.variables
    a_thread = SimpleNamespace(threadIdx=SimpleNamespace(x=1), threadfence_block=lambda: None)
    writer = writer_for(a_thread, robot, lambda source: source)
    q, aim = robot.sample(2, seed=2)
    target = np.empty(12)
    motion = chain.tip_motion(robot._chain, aim)
    target[:9], target[9:] = np.take(motion, (0, 1, 2, 4, 5, 6, 8, 9, 10)), np.take(motion, (3, 7, 11))

    def some_steps(function, J):
        v, trial, e, y = np.empty(n), np.empty(n), np.zeros(6), np.zeros(6)
        codes = np.zeros(len(smooth.moves), np.int64)
        smooth_variables.to_variables(smooth.moves, q, v)
        trial[:] = v
        state = auto_device_steps.begin()
        for _ in range(6):
            code, *state = function(
                smooth.moves, smooth.shapes, smooth.scale, target, AXIS, smooth.weight, 1e-12, 1e-6, 25, 3, False, v,
                trial, J, e, y, codes, *state,
            )  # fmt: skip
        return np.array([code, *state, *v, *trial])

    # The Jacobians of many threads lie in one array.
    there = some_steps(writer.write(auto_device_steps.advance), np.zeros((n, 6, 2)))
    np.testing.assert_allclose(there, some_steps(auto_device_steps.advance, np.zeros((n, 6))), rtol=1e-6, atol=1e-9)

    assert writer.write(chain.tip_motion)(robot._chain, q) == pytest.approx(motion_of(robot, q), abs=1e-15)
    seed = np.linspace(-0.5, 0.5, n)
    outcomes = []
    for written in (writer.write, lambda function: function):
        placed, turned, found = np.empty(n), 3.0 * q, np.empty(robot.dof)
        written(seeds.place_seed)(smooth.moves, seed, 0.8, 0.6, -1.0, placed)
        written(smooth_variables.to_coordinates)(robot._chain, smooth.moves, placed, np.empty(robot.dof), found)
        written(limits.unwind)(robot._chain, found, turned)
        outcomes.append(np.concatenate([placed, found, turned]))
    np.testing.assert_allclose(outcomes[0], outcomes[1], rtol=0.0, atol=1e-15)


def motion_of(robot, q):
    from arcreach.kernels.chain import tip_motion

    return tip_motion(robot._chain, q)


def test_no_more_blocks_are_started_than_run_at_once(monkeypatch):
    from types import SimpleNamespace

    from arcreach.gpu import driver
    from arcreach.ik.device import resident_blocks

    monkeypatch.setattr(driver, "load", lambda: None)
    monkeypatch.setattr(driver, "is_simulated", lambda _: False)
    monkeypatch.setattr(driver, "multiprocessors", lambda: 10)

    def blocks(*a_thread):
        """Of a kernel compiled for as many signatures, whose blocks hold so many threads together."""
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
