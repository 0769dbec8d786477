"""Limits of pulls are limits of every answer: solve, batches, branches, obstacles, paths and plans keep them."""

import math
import os

import numpy as np
import pytest
from benchmarks.pull_limits import make_robot, make_targets, pulls_by_numpy, violations

import arcreach as ar
from arcreach.errors import DeviceError, RobotError

COMPILED = os.environ.get("NUMBA_DISABLE_JIT") != "1"
ROUTINGS = {"parallel": {}, "extensible": {"stretch": 0.03, "limits": (0.012, 0.02, 0.028)}}
if COMPILED:
    # As plain Python their seeds take long.
    ROUTINGS |= {"helical": {"rate": 15.0}, "discs": {"discs": 4}}
COUNT = 200 if COMPILED else 4


def bent(robot, count=COUNT):
    """Configurations beyond the limits of bends, most of which break limits of pulls too."""
    q = make_robot(limited=False, stretch=robot.elements[0].stretch).sample(count, seed=3)
    q[:, [name.endswith("bend") for name in robot.coordinates]] *= 1.3
    return q


def small_robot(**limits):
    """Two sections with two tendons each."""
    tendons = [ar.Tendon(0.005, angle, **limits) for angle in (0.0, math.pi / 2)]
    return ar.Robot([ar.Section(0.06, 2.0, tendons=tendons), ar.Section(0.06, 2.0, tendons=tendons)])


@pytest.mark.compiled
@pytest.mark.parametrize("routing", ROUTINGS)
def test_answers_keep_limits_that_couple_sections(routing):
    robot = make_robot(**ROUTINGS[routing])
    free = make_robot(limited=False, **ROUTINGS[routing])
    targets = make_targets(robot, "edge", COUNT, seed=5)
    found = ar.solve_batch(robot, targets)
    assert found.reached.mean() >= 0.97
    assert violations(robot, found.q)[0] == 0
    # Without limits many answers for such targets break them.
    ignored = ar.solve_batch(free, make_targets(free, "position", COUNT, seed=5))
    assert violations(robot, ignored.q)[0] > 0.2 * COUNT
    # Targets that need more than the limits allow.
    beyond = ar.Targets(free.tip_pose(free.sample(3, seed=3))[:, :3, 3])
    assert violations(robot, ar.solve_batch(robot, beyond, max_iterations=300).q)[0] == 0


@pytest.mark.parametrize("routing", ROUTINGS)
def test_samples_and_clipped_configurations_keep_limits(routing):
    robot = make_robot(**ROUTINGS[routing])
    q = bent(robot)
    assert not robot.within_limits(q).all()
    assert violations(robot, robot.sample(COUNT, seed=1))[0] == 0
    clipped = robot.clip(q)
    assert robot.within_limits(clipped).all()
    assert violations(robot, clipped)[0] == 0
    np.testing.assert_array_equal(robot.clip(clipped), clipped)
    np.testing.assert_array_equal(robot.clip(q[0]), clipped[0])


def test_clip_is_the_nearest_configuration_for_parallel_tendons():
    minimize = pytest.importorskip("scipy.optimize").minimize
    robot = make_robot()
    low, high = robot.pull_limits[:2]
    slopes = robot.pulls(robot.model.to_coordinates(np.eye(6))).T
    rooms = [
        {"type": "ineq", "fun": lambda x: np.concatenate([slopes @ x - low, high - slopes @ x]) / 0.005},
        {"type": "ineq", "fun": lambda x: 2.5**2 - (x.reshape(3, 2) ** 2).sum(axis=1)},
    ]
    for q in bent(robot, 3):
        v = robot.model.to_variables(q[None])[0]
        best = minimize(lambda x, v=v: ((x - v) ** 2).sum(), np.zeros(6), constraints=rooms, options={"ftol": 1e-14})
        distance = np.linalg.norm(robot.model.to_variables(robot.clip(q)[None])[0] - v)
        assert distance == pytest.approx(math.sqrt(best.fun), abs=1e-5)


def test_rest_alone_is_left_where_limits_allow_nothing_else():
    robot = small_robot(pull_min=0.0, pull_max=0.0)
    found = ar.solve(robot, (0.03, 0.0, 0.1), max_iterations=50)
    assert not found.reached
    np.testing.assert_allclose(robot.pulls(found.q), 0.0, atol=1e-13)


def test_a_slide_counts_as_length():
    tendons = [ar.Tendon(0.005, angle, pull_min=-0.004, pull_max=0.004) for angle in (0.0, 2.1, 4.2)]
    robot = ar.Robot(
        [ar.Section(0.05, 2.0), ar.Prismatic(0.0, 0.04, (0, 0, 1)), ar.Section(0.05, 2.0, tendons=tendons)]
    )
    q = robot.sample(5, seed=0)
    found = ar.solve_batch(robot, robot.tip_pose(q)[:, :3, 3])
    assert found.reached.all()
    assert np.abs(robot.pulls(found.q)).max() <= 0.004 + 1e-13
    assert np.abs(robot.pulls(robot.clip([0.1, 0.0, 0.04, 0.1, 0.0]))).max() <= 0.004 + 1e-13


def test_published_methods_do_not_call_a_broken_limit_reached():
    robot, free = small_robot(pull_min=-0.003, pull_max=0.003), small_robot()
    targets = ar.Targets(free.tip_pose(free.sample(12, seed=2))[:, :3, 3])
    found = ar.solve_batch(robot, targets, method="fabrikx")
    assert ar.solve_batch(free, targets, method="fabrikx").reached.sum() > found.reached.sum()
    assert robot.pulls_within(found.q[found.reached]).all()


@pytest.mark.skipif(COMPILED, reason="its kernels take long to compile, and plain Python tests what they compute")
def test_branches_and_obstacles_keep_limits():
    robot = small_robot(pull_min=-0.005, pull_max=0.005)
    pose = robot.tip_pose(robot.sample(1, seed=4)[0])
    branches = ar.solve_all(robot, ar.Target(pose[:3, 3]), most=3, without_new=3)
    assert branches
    assert all(robot.within_limits(branch.q) for branch in branches)
    scene = ar.Scene([ar.Sphere(0.5 * pose[:3, 3] + (0.02, 0.0, 0.0), 0.01)])
    found = ar.solve(robot, ar.Target(pose[:3, 3]), scene=scene)
    assert found.reached
    assert robot.within_limits(found.q)


@pytest.mark.compiled
def test_paths_keep_limits_of_pulls_and_their_speeds():
    robot = small_robot(pull_min=-0.006, pull_max=0.006, speed_max=0.002)
    ends = robot.clip([[1.9, 0.2, 0.5, -0.4], [1.9, 2.0, 1.0, 0.5]])
    tips = robot.tip_pose(ends)[:, :3, 3]
    path = ar.follow(robot, np.linspace(tips[0], tips[1], 4), start=ends[0], max_step=0.4)
    assert robot.within_limits(path.q).all()
    timed = path.timed(100.0, 1000.0, rate=50.0)
    pulls = robot.pulls(timed.q)
    assert np.abs(pulls).max() <= 0.006 + 1e-12
    speeds = np.abs(np.diff(pulls, axis=0)) * 50.0
    assert 0.0015 < speeds.max() <= 0.002


@pytest.mark.compiled
def test_plans_keep_limits():
    robot = make_robot(rate=15.0)
    start, goal = robot.clip([[2.0, 0.0, 0.5, 0.0, 0.3, 0.0], [2.0, 2.0, 0.5, 1.0, 0.3, 2.0]])
    scene = ar.Scene([ar.Sphere((0.06, 0.05, 0.12), 0.015)])
    found = ar.plan(robot, start, scene=scene, goal=goal)
    assert found.reached
    assert violations(robot, found.sampled(200))[0] == 0


def test_what_cannot_keep_limits_refuses(tmp_path, monkeypatch):
    robot = small_robot(pull_max=0.003)
    # As with a GPU.
    monkeypatch.setattr("arcreach.ik.solve.chosen_device", str)
    with pytest.raises(DeviceError, match=r"limits of pulls.*device='cpu'"):
        ar.solve_batch(robot, [[0.0, 0.0, 0.1]], device="cuda")
    with pytest.raises(RobotError, match="limits of pulls"):
        ar.export_c(robot, tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_the_benchmark_computes_the_pulls_of_the_library():
    for routing in ({}, {"rate": 15.0}, {"discs": 4}, {"stretch": 0.03}):
        robot = make_robot(limited=False, **routing)
        q = robot.sample(5, seed=7)
        np.testing.assert_allclose(pulls_by_numpy(robot, q), robot.pulls(q), rtol=0.0, atol=1e-15)
