"""`solve_batch(device="cuda")` against the CPU, in the simulator or on a GPU."""

import os

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import ConfigurationError, DeviceError, MethodError, TargetError
from arcreach.gpu import batch, driver, streams
from arcreach.gpu.contexts import Targets
from arcreach.ik.device_batch import batch_of, task_of
from arcreach.ik.target import KINDS
from arcreach.kernels.chain.layout import AXIS, ROTATION

pytestmark = pytest.mark.device

PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
FEW = 2 if PLAIN else 7
ROBOTS = ["three-section", "inserted-three-section", "ur5", "ur5-bending-tool"]
GOALS = ["position", "axis", "rotation"]


def targets(robot, n, goal, seed=1):
    poses = robot.tip_pose(robot.sample(n, seed=seed))
    turned = {"axis": {"axes": poses[:, :3, 2]}, "rotation": {"rotations": poses[:, :3, :3]}}.get(goal, {})
    return {"targets": poses[:, :3, 3], **turned}


def assert_alike(there, here):
    np.testing.assert_array_equal(there.status, here.status)
    np.testing.assert_allclose(there.q, here.q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(there.position_error, here.position_error, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(there.angle_error, here.angle_error, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("specialised", [False, True])
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("name", ROBOTS[:1] if PLAIN else ROBOTS)
def test_answers_are_those_of_the_cpu(name, goal, specialised):
    robot = ar.load_robot(name)
    asked = targets(robot, FEW, goal)
    there = ar.solve_batch(robot, **asked, device="cuda", specialised=specialised)
    here = ar.solve_batch(robot, **asked)
    assert here.reached.all()
    assert_alike(there, here)
    np.testing.assert_array_equal(there.iterations, here.iterations)


@pytest.mark.parametrize("kind", KINDS)
def test_targets_are_kept_with_the_answers(kind):
    robot = ar.load_robot("ur5")
    given = ar.Targets.from_poses(robot.tip_pose(robot.sample(FEW, seed=1)), kind)
    there = ar.solve_batch(robot, given, device="cuda")
    assert_alike(there, ar.solve_batch(robot, given))
    assert there[1].target == given[1]
    np.testing.assert_array_equal(there.check().position_error, there.position_error)


@pytest.mark.parametrize("goal", GOALS[1:])
@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("name", ROBOTS[2:3] if PLAIN else ROBOTS)
def test_starts_lead_to_the_answers_of_the_cpu(name, near, goal):
    robot = ar.load_robot(name)
    asked = targets(robot, FEW, goal)
    configurations = robot.sample(FEW, seed=1)
    start = robot.clip(configurations + 0.04) if near else robot.sample(FEW, seed=9)
    assert_alike(
        ar.solve_batch(robot, **asked, start=start, device="cuda"), ar.solve_batch(robot, **asked, start=start)
    )


@pytest.mark.compiled
def test_hard_and_impossible_targets_end_as_on_the_cpu():
    robot = ar.load_robot("three-section")
    good = targets(robot, 3, "axis")
    # At the edge of the workspace, a little past it, far past it, and pointing where the tip cannot point.
    edge = robot.tip_pose(np.zeros(6))[:3, 3]
    positions = np.vstack([good["targets"], edge, 0.999 * edge, 1.2 * edge, good["targets"][0]])
    axes = np.vstack([good["axes"], [0, 0, 1], [0, 0, 1], [0, 0, 1], -good["axes"][0]])
    there = ar.solve_batch(robot, positions, axes, device="cuda")
    here = ar.solve_batch(robot, positions, axes)
    assert set(here.status) >= {int(ar.Status.REACHED), int(ar.Status.STALLED), int(ar.Status.OUT_OF_REACH)}
    assert_alike(there, here)


@pytest.mark.compiled
def test_pieces_cover_the_batch_and_report_progress(monkeypatch):
    robot = ar.load_robot("three-section")
    asked = targets(robot, 11, "axis")
    monkeypatch.setattr(streams, "LARGEST_PIECE", 4 * 128)
    told = []
    there = ar.solve_batch(robot, **asked, device="cuda", progress=told.append)
    assert len(told) == 3
    assert sum(told) == 11
    assert_alike(there, ar.solve_batch(robot, **asked))


def test_a_limit_of_iterations_is_kept():
    robot = ar.load_robot("three-section")
    asked = targets(robot, FEW, "axis")
    needed = ar.solve_batch(robot, **asked).iterations
    most = int(needed.max()) - 1
    there = ar.solve_batch(robot, **asked, max_iterations=most, device="cuda")
    np.testing.assert_array_equal(there.status, ar.solve_batch(robot, **asked, max_iterations=most).status)
    assert not there.reached.all()


def test_targets_on_the_device_stay_there():
    cuda = driver.load()
    robot = ar.load_robot("three-section")
    asked = targets(robot, FEW, "axis")
    told = []
    rows = [cuda.to_device(np.ascontiguousarray(part)) for part in asked.values()]
    there = ar.solve_batch(robot, *rows, device="cuda", progress=told.append)
    here = ar.solve_batch(robot, **asked)
    assert hasattr(there.q, "copy_to_host")
    assert there.reached.all()
    assert told == [FEW]
    with pytest.raises(TargetError, match="axes are on the host and positions on the device"):
        ar.solve_batch(robot, rows[0], asked["axes"], device="cuda")
    with pytest.raises(ConfigurationError, match="start"):
        ar.solve_batch(robot, *rows, start=cuda.to_device(np.full((FEW, robot.dof), np.nan)), device="cuda")
    np.testing.assert_allclose(there.q.copy_to_host(), here.q, rtol=0.0, atol=1e-9)


def test_robots_alike_share_a_launch():
    robots = [ar.Robot([ar.Section(0.05, bend), ar.Section(0.02, bend, 0.03)]) for bend in (0.5, 1.5)]
    one, other = (batch.alike(robot.model.model_and_table(AXIS, 512)) for robot in robots)
    assert one == other
    asked = [targets(robot, FEW, "axis") for robot in robots]
    rows = (np.vstack([one[name] for one in asked]) for name in ("targets", "axes"))
    together = batch_of(robots, task_of(AXIS, 1e-6, 1e-3), len(robots) * FEW)
    answer = together.solve(Targets(*rows, None), lambda _: None)
    for k, robot in enumerate(robots):
        here = ar.solve_batch(robot, **asked[k])
        np.testing.assert_allclose(answer.q[k * FEW : (k + 1) * FEW], here.q, rtol=0.0, atol=1e-9)


def test_an_empty_batch_is_answered():
    robot = ar.load_robot("three-section")
    empty = ar.solve_batch(robot, np.empty((0, 3)), np.empty((0, 3)), device="cuda")
    assert empty.q.shape == (0, robot.dof)
    assert len(empty.reached) == 0
    few, none = (
        ar.solve_batch(robot, driver.load().to_device(np.tile([0.02, 0.0, 0.14], (n, 1))), device="cuda")
        for n in (2, 0)
    )
    for name in ("q", "status", "iterations", "position_error"):
        assert getattr(none, name).dtype == getattr(few, name).dtype


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"targets": (1, 2, np.nan)}, r"positions\[1, 2\]"),
        ({"axes": (0, 1, np.inf)}, r"axes\[0, 1\]"),
        ({"axes": (1, slice(None), 0.0)}, "axis of target 1 is zero"),
    ],
)
def test_a_bad_target_is_named(change, words):
    robot = ar.load_robot("three-section")
    asked = targets(robot, 2, "axis")
    ((name, (row, column, value)),) = change.items()
    asked[name] = asked[name].copy()
    asked[name][row, column] = value
    with pytest.raises(TargetError, match=words):
        ar.solve_batch(robot, **asked, device="cuda")


def test_a_refused_target_reads_no_uninitialised_memory(monkeypatch):
    if not driver.is_simulated(driver.load()):
        pytest.skip("only the simulator's memory can be filled")
    local = pytest.importorskip("numba.cuda.simulator.kernelapi").FakeCUDALocal
    allocate = local.array

    def filled(self, shape, dtype):
        array = allocate(self, shape, dtype)
        if array.dtype == np.float64:
            array.fill(-2e223)  # too large for single precision
        return array

    monkeypatch.setattr(local, "array", filled)
    asked = targets(ar.load_robot("three-section"), 3, "axis")
    axes = asked["axes"].copy()
    axes[1] = 0.0
    refusing = batch_of([ar.load_robot("three-section")], task_of(AXIS, 1e-6, 1e-3), 3)
    answer = refusing.solve(Targets(asked["targets"], axes, None), lambda _: None)
    assert [int(status) != 0 for status in answer.status] == [False, True, False]


def test_a_refused_target_is_left_out_and_the_others_are_solved():
    robot = ar.load_robot("three-section")
    asked = targets(robot, 3, "axis")
    axes = asked["axes"].copy()
    axes[1] = 0.0
    refusing = batch_of([robot], task_of(AXIS, 1e-6, 1e-3), 3)
    answer = refusing.solve(Targets(asked["targets"], axes, None), lambda _: None)
    assert refusing.fault == 1
    assert answer.iterations[1] == 0
    assert (answer.iterations[[0, 2]] > 0).all()
    assert (answer.position_error[[0, 2]] <= 1e-6).all()


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(TargetError, match="positions = "):
        ar.solve_batch(ar.load_robot("ur5"), [[0.3, 0.2, 0.4], [0.1]], device="cuda")


def test_positions_in_millimetres_get_a_hint():
    found = ar.solve_batch(ar.load_robot("ur5"), [[300.0, 200.0, 400.0], [0.3, 0.2, 0.4]], device="cuda")
    assert found.hint.endswith("positions are metres: were millimetres meant?")
    assert found[1:].hint == ""


def test_a_matrix_that_is_not_a_rotation_is_refused():
    robot = ar.load_robot("ur5")
    with pytest.raises(TargetError, match="rotation"):
        ar.solve_batch(robot, [[0.3, 0.2, 0.4]], rotations=[np.eye(3) * 1.1], device="cuda")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"method": "fabrikx"}, "serves method 'auto'"),
        ({"max_time": 0.1}, "max_time is not served"),
        ({"scene": ar.Scene([ar.Sphere([0.1, 0, 0], 0.01)])}, "scene is not served"),
    ],
)
def test_what_is_not_served_is_refused_and_left_to_the_cpu(more, words):
    robot = ar.load_robot("three-section")
    asked = targets(robot, 1, "axis")
    with pytest.raises(DeviceError, match=words):
        ar.solve_batch(robot, **asked, **more, device="cuda")
    np.testing.assert_array_equal(
        ar.solve_batch(robot, **asked, **more, device="auto").status, ar.solve_batch(robot, **asked, **more).status
    )


@pytest.mark.parametrize(("device", "error"), [("cuda", DeviceError), ("auto", MethodError)])
def test_weights_without_a_preference_are_refused(device, error):
    robot = ar.load_robot("three-section")
    with pytest.raises(error, match="weights"):
        ar.solve_batch(robot, **targets(robot, 1, "axis"), weights=[1.0] * 6, device=device)


def test_a_robot_too_large_is_refused():
    robot = ar.Robot([ar.Revolute([0, 0, 1], -1, 1), ar.Link([0.01, 0, 0])] * 70, name="snake")
    with pytest.raises(DeviceError, match="robot 'snake' is too large for device 'cuda': its 70"):
        ar.solve_batch(robot, [[0.3, 0.0, 0.0]], device="cuda")


def test_a_full_device_is_an_error(monkeypatch):
    robot = ar.load_robot("three-section")
    monkeypatch.setattr(streams, "free_memory", lambda: 1000)
    monkeypatch.setattr(streams, "_kept", type(streams._kept)())
    with pytest.raises(DeviceError, match="the GPU has 0 MiB free"):
        ar.solve_batch(robot, **targets(robot, 2, "axis"), device="cuda")


def test_kinematics_are_those_of_the_cpu():
    robot = ar.load_robot("ur5-bending-tool")
    q = robot.sample(5, seed=3)
    np.testing.assert_allclose(robot.tip_pose(q, device="cuda"), robot.tip_pose(q), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(robot.jacobian(q, device="cuda"), robot.jacobian(q), rtol=0.0, atol=1e-12)
    there = driver.load().to_device(q)
    np.testing.assert_allclose(robot.tip_pose(there, device="cuda").copy_to_host(), robot.tip_pose(q), atol=1e-12)
    assert robot.tip_pose(q[0], device="cuda").shape == (4, 4)


def test_kernels_are_made_ahead_of_time(monkeypatch):
    from arcreach._warm_up import _warm_gpu

    robot = ar.Robot([ar.Revolute(), ar.Link([0.0, 0.0, 0.1]), ar.Revolute([0.0, 1.0, 0.0]), ar.Link([0.1, 0.0, 0.0])])
    monkeypatch.setattr(batch, "_built", type(batch._built)())
    _warm_gpu(robot, specialised=False)
    assert len(batch._built) == len(GOALS)
    _warm_gpu(robot, specialised=True)
    assert len(batch._built) == 2 * len(GOALS)
    # Equal robots share them.
    again = batch_of([ar.Robot(robot.elements)], task_of(AXIS, 1e-6, 1e-3), 1)
    assert again.kind.robot is not None
    assert again.kernels in batch._built.values()


def test_warm_up_compiles_what_was_asked_for(monkeypatch):
    from arcreach import _warm_up

    made = []
    monkeypatch.setattr(_warm_up, "_cpu_steps", lambda: [lambda: made.append("cpu")])
    monkeypatch.setattr(_warm_up, "_warm_gpu", lambda robot, specialised: made.append((robot.dof, specialised)))
    ar.warm_up()
    ar.warm_up("cuda")
    ar.warm_up("auto", ar.load_robot("ur5"))
    assert made == ["cpu", "cpu", (6, False), "cpu", (6, True)]
    with pytest.raises(DeviceError, match="too large"):
        ar.warm_up("cuda", ar.Robot([ar.Revolute()] * 70))
    assert len(made) == 5


def test_kernels_on_disk_are_keyed_by_the_whole_robot(monkeypatch):
    made_of = []
    monkeypatch.setattr(batch, "attach_cache", lambda kernels, *parts: made_of.append(parts))

    def chain(length=0.1, bend=1.5, limit=2.0):
        return ar.Robot([ar.Revolute([0.0, 0.0, 1.0], -1.0, limit), ar.Section(length, bend), ar.Link([0.0, 0.0, 0.1])])

    robots = [chain(), chain(length=0.2), chain(bend=1.4), chain(limit=2.1)]

    def make(robot, mode=AXIS, started=False):
        monkeypatch.setattr(batch, "_built", type(batch._built)())
        batch_of([robot], task_of(mode, 1e-6, 1e-3, started=started), 1, specialised=True)

    for robot in (*robots, chain()):
        make(robot)
    make(robots[0], started=True)
    make(robots[0], ROTATION)
    assert made_of[4] == made_of[0]
    assert len(set(made_of)) == len(made_of) - 1


@pytest.mark.gpu
@pytest.mark.parametrize("specialised", [False, True])
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("name", ROBOTS)
def test_a_gpu_reaches_what_the_cpu_reaches(name, goal, specialised):
    if driver.is_simulated(driver.load()):
        pytest.skip("a simulated GPU is not one")
    robot = ar.load_robot(name)
    # More than one piece, so that slots and threads are used.
    asked = targets(robot, 600_000, goal)
    there = ar.solve_batch(robot, **asked, device="cuda", specialised=specialised)
    here = ar.solve_batch(robot, **asked)
    assert there.reached.mean() >= 0.9999
    assert (np.abs(there.q - here.q).max(axis=1) <= 1e-9).mean() > 0.999
    assert robot.within_limits(there.q).all()


@pytest.mark.parametrize("rows", [slice(0, 1), [False, True], [1, 0]], ids=["slice", "mask", "indices"])
def test_several_results_of_a_batch_on_the_device(rows):
    robot = ar.load_robot("two-section")
    positions = np.ascontiguousarray(targets(robot, 2, "position")["targets"])
    found = ar.solve_batch(robot, driver.load().to_device(positions), device="cuda")
    chosen = found[rows]
    assert len(chosen) == len(chosen.reached) == (2 if rows == [1, 0] else 1)
    # A slice stays on the device, what a mask or indices choose comes to the host.
    assert hasattr(chosen.q, "copy_to_host") is isinstance(rows, slice)
    whole = found.q.copy_to_host()[rows if isinstance(rows, slice) else np.array(rows)]
    np.testing.assert_array_equal(chosen.q.copy_to_host() if isinstance(rows, slice) else chosen.q, whole)
