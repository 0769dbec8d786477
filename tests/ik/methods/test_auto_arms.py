"""`auto` on chains of joints: whole poses to a micrometre, long chains, full turns, steps of a path."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.kernels.chain.limits import unwind

ARMS = ["puma-560", "ur5", "iiwa-14", "panda", "era-like", "rail-iiwa-14", "arm-8r", "ur5-bending-tool"]


def long_chain(n):
    """n joints about z and y in turn over one metre, each of ±90°."""
    elements = []
    for i in range(n):
        elements.append(ar.Revolute(axis=(0, 1, 0) if i % 2 else (0, 0, 1), lower=-np.pi / 2, upper=np.pi / 2))
        elements.append(ar.Link(translation=(1.0 / n, 0, 0)))
    return ar.Robot(elements, name=f"chain-{n}")


def misses(robot, n, start=None):
    poses = robot.tip_pose(robot.sample(n, seed=11))
    found = ar.solve_batch(
        robot, poses[:, :3, 3], rotations=poses[:, :3, :3], start=start, position_tol=1e-6, angle_tol=1e-6
    )
    again = robot.tip_pose(found.q)
    near = np.linalg.norm(again[:, :3, 3] - poses[:, :3, 3], axis=1) <= 1e-6
    turned = np.linalg.norm(again[:, :3, :3] - poses[:, :3, :3], axis=(1, 2)) <= 1e-6 * np.sqrt(2.0) + 1e-12
    return int((~(near & turned & robot.within_limits(found.q))).sum())


@pytest.mark.compiled
@pytest.mark.parametrize("name", ARMS)
def test_whole_poses_of_arms(name):
    robot = ar.load_robot(name)
    assert misses(robot, 500) == 0
    assert misses(robot, 500, start=robot.sample(500, seed=12)) == 0


@pytest.mark.compiled
@pytest.mark.parametrize("joints", [10, 20, 60, 100, 200])
def test_long_chains(joints):
    robot = long_chain(joints)
    assert misses(robot, 100, start=robot.sample(100, seed=12)) == 0


@pytest.mark.parametrize("endless", [False, True])
def test_full_turns_are_taken_towards_the_start(endless):
    lower, upper = (-np.inf, np.inf) if endless else (-3 * np.pi, 3 * np.pi)
    robot = ar.Robot(
        [
            ar.Revolute(axis=(0, 0, 1), lower=lower, upper=upper),
            ar.Link(translation=(1, 0, 0)),
            ar.Revolute(axis=(0, 0, 1), lower=lower, upper=upper),
            ar.Link(translation=(0.5, 0, 0)),
        ]
    )
    q = np.array([0.5, 1.0])
    target = ar.Target.from_pose(robot.tip_pose(q))
    for turns in ([0, 0], [1, -1], [-1, 1]):
        wanted = q + 2 * np.pi * np.array(turns)
        found = ar.solve(robot, target, start=wanted + 0.3)
        assert found.reached
        np.testing.assert_allclose(found.q, wanted, atol=1e-3)
    far = ar.solve(robot, target, start=q + 2 * np.pi * np.array([1, -1]) + 3.0)
    assert np.abs(far.q - (q + 2 * np.pi * np.array([1, -1]) + 3.0)).max() <= np.pi + 3.0
    assert np.abs(ar.solve(robot, target).q).max() <= np.pi


def test_unwind_stays_within_the_limits():
    robot = ar.Robot([ar.Revolute(axis=(0, 0, 1), lower=-4.0, upper=4.0), ar.Link(translation=(1, 0, 0))])
    for value, near, wanted in [
        (3.0, -4.0, 3.0 - 2 * np.pi),
        (3.0, 3.9, 3.0),
        (1.0, -4.0, 1.0),
        (-3.5, 4.0, 2 * np.pi - 3.5),
    ]:
        q = np.array([value])
        unwind(robot.packed, np.array([near]), q)
        assert q[0] == pytest.approx(wanted)
        assert robot.within_limits(q)


def wave(robot, n, share, seed):
    """A smooth path of configurations, each coordinate a sine over a share of its range."""
    rng = np.random.default_rng(seed)
    middle, span = 0.5 * (robot.lower + robot.upper), robot.upper - robot.lower
    phase = rng.uniform(0, 2 * np.pi, robot.dof) + np.linspace(0, 3, n)[:, None] * rng.uniform(0.5, 1.5, robot.dof)
    return middle + share * span * np.sin(phase)


def track(robot, poses, q):
    found = []
    for pose in poses:
        found.append(ar.solve(robot, ar.Target.from_pose(pose), start=q, angle_tol=1e-6))
        q = found[-1].q
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(4))
def test_a_warm_start_follows_a_path_of_2000_points(seed):
    robot = ar.load_robot("panda")
    path = wave(robot, 2000, 0.2, seed)
    found = track(robot, robot.tip_pose(path), path[0])
    assert all(solution.reached for solution in found)
    q = np.array([solution.q for solution in found])
    assert np.abs(np.diff(q, axis=0)).max() < 0.2


@pytest.mark.compiled
def test_a_warm_start_jumps_only_where_nothing_is_near():
    """A wide path through singularities: where the answer jumps, a dense search around the start finds no nearer."""
    robot = ar.load_robot("puma-560")
    path = wave(robot, 1500, 0.25, 3)
    poses = robot.tip_pose(path)
    found = track(robot, poses, path[0])
    assert all(solution.reached for solution in found)
    q = np.array([solution.q for solution in found])
    rng = np.random.default_rng(0)
    for i in np.flatnonzero(np.abs(np.diff(q, axis=0)).max(axis=1) > 0.3):
        starts = robot.clip(q[i] + rng.normal(0.0, 0.06, (500, robot.dof)))
        pose = np.tile(poses[i + 1], (500, 1, 1))
        near = ar.solve_batch(
            robot, pose[:, :3, 3], rotations=pose[:, :3, :3], start=starts, angle_tol=1e-6, max_iterations=100
        )
        moved = np.abs(near.q[near.reached] - q[i]).max(axis=1)
        assert moved.size == 0 or moved.min() > 0.15


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["puma-560", "ur5", "panda", "iiwa-14", "era-like", "arm-8r"])
def test_a_target_next_to_the_start_is_reached_nearby(name):
    robot = ar.load_robot(name)
    start = robot.sample(1000, seed=1)
    moved = robot.clip(start + np.random.default_rng(3).uniform(-0.1, 0.1, start.shape))
    poses = robot.tip_pose(moved)
    found = ar.solve_batch(robot, poses[:, :3, 3], rotations=poses[:, :3, :3], start=start, angle_tol=1e-6)
    assert found.reached.all()
    # One in three thousand is far: next to a singular configuration.
    assert (np.abs(found.q - start).max(axis=1) > 1.0).sum() <= 2
