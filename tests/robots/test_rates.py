"""Speeds for a velocity of the tip: least squares as SciPy's, limits, held coordinates, singular and straight poses."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import TargetError
from arcreach.robots.rates import bounded_least_squares, columns


def test_the_least_squares_are_those_of_scipy():
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(4)
    for _ in range(200):
        m, n = (3, 6)[rng.integers(2)], rng.integers(1, 13)
        A, b = rng.normal(size=(m, n)), 2.0 * rng.normal(size=m)
        lower, upper = -rng.random(n), rng.random(n)
        lower[rng.random(n) < 0.2] = 0.0
        upper[rng.random(n) < 0.1] = np.inf
        damping = 10.0 ** rng.uniform(-6, 0)
        whole = np.vstack([A, math.sqrt(damping) * np.eye(n)]), np.append(b, np.zeros(n))
        found = bounded_least_squares(A, b, lower, upper, damping * np.eye(n))
        # SciPy's bounds must differ.
        theirs = optimize.lsq_linear(*whole, (lower, np.maximum(upper, lower + 1e-12)), method="bvls", tol=1e-14)
        cost = 0.5 * np.sum((whole[0] @ found - whole[1]) ** 2)
        assert (found >= lower).all()
        assert (found <= upper).all()
        assert cost <= theirs.cost * (1.0 + 1e-9) + 1e-12
        np.testing.assert_allclose(found, theirs.x, atol=1e-6)


@pytest.mark.parametrize("name", ["panda", "ur5-bending-tool", "extensible-sections", "inserted-three-section"])
@pytest.mark.parametrize("size", [3, 6])
def test_the_tip_moves_as_asked(name, size):
    robot, rng = ar.load_robot(name), np.random.default_rng(1)
    moved = 0
    for q in robot.sample(10, seed=3):
        asked = np.append(0.1 * robot.reach * rng.normal(size=3), rng.normal(size=3))[:size]
        found = robot.rates(q, asked, damping=0.0)
        np.testing.assert_allclose(robot.jacobian(q)[:size] @ found.speeds, found.velocity, atol=1e-9)
        if not found.reached:
            continue
        moved += 1
        before, after = robot.tip_pose(q), robot.tip_pose(found.after(1e-6))
        np.testing.assert_allclose((after - before)[:3, 3] / 1e-6, asked[:3], atol=1e-3 * np.abs(asked).max())
    assert moved >= 6


@pytest.mark.parametrize("name", ["panda", "ur5-bending-tool"])
def test_of_equal_answers_the_smallest_is_taken(name):
    robot = ar.load_robot(name)
    for q in robot.sample(5, seed=0):
        asked = robot.reach * np.array([0.1, 0.05, -0.02])
        found = robot.rates(q, asked, damping=0.0)
        for k in robot.bend_vector_indices():
            found.speeds[k + 1] *= q[k]
        smallest = np.linalg.pinv(columns(robot, q)[:3]) @ asked
        np.testing.assert_allclose(found.speeds, smallest, atol=1e-7 * np.abs(smallest).max())


def test_speeds_are_bounded_and_the_direction_is_kept_if_asked():
    robot = ar.load_robot("panda")
    q = robot.sample(1, seed=2)[0]
    free = robot.rates(q, [0.5, 0.0, 0.3])
    bounded = robot.rates(q, [0.5, 0.0, 0.3], max_speed=0.2)
    slowed = robot.rates(q, [0.5, 0.0, 0.3], max_speed=0.2, keep_direction=True)
    assert free.reached
    assert np.abs(free.speeds).max() > 0.2
    assert np.abs(bounded.speeds).max() <= 0.2
    assert bounded.limited.any()
    assert np.abs(slowed.speeds).max() == pytest.approx(0.2)
    np.testing.assert_allclose(np.cross(slowed.velocity, [0.5, 0.0, 0.3]), 0.0, atol=1e-12)
    assert np.linalg.norm(bounded.velocity - free.asked) <= np.linalg.norm(slowed.velocity - free.asked) + 1e-12


def test_no_coordinate_leaves_its_limits_and_held_ones_stay():
    robot = ar.load_robot("panda")
    q = robot.sample(1, seed=5)[0]
    q[1], q[3] = robot.upper[1], robot.lower[3]
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        speeds = robot.rates(q, axis, hold=["joint1"]).speeds
        assert speeds[0] == 0.0
        assert speeds[1] <= 0.0
        assert speeds[3] >= 0.0
        assert robot.within_limits(robot.rates(q, axis).after(0.01))
    mask = np.zeros(7, bool)
    mask[0] = True
    np.testing.assert_array_equal(
        robot.rates(q, [1, 0, 0], hold=mask).speeds, robot.rates(q, [1, 0, 0], hold="joint1").speeds
    )


def test_a_straight_section_bends_any_way():
    robot = ar.load_robot("three-section")
    for velocity in ([0.01, 0.0, 0.0], [0.0, -0.01, 0.0], [0.006, 0.008, 0.0]):
        found = robot.rates(robot.neutral, velocity)
        tip = robot.tip_pose(found.after(0.01))[:3, 3] - robot.tip_pose(robot.neutral)[:3, 3]
        np.testing.assert_allclose(tip[:2], 0.01 * np.array(velocity[:2]), atol=1e-7)
    # Along a straight robot no section moves: nothing happens, and nothing is not finite.
    stuck = robot.rates(robot.neutral, [0.0, 0.0, 0.01])
    assert not stuck.reached
    assert np.abs(stuck.speeds).max() < 1e-3


def test_speeds_stay_small_near_a_singular_pose():
    hinge = ar.Revolute(axis=[0, 1, 0], lower=-3, upper=3)
    robot = ar.Robot([hinge, ar.Link([0.0, 0.0, 0.5]), hinge, ar.Link([0.0, 0.0, 0.5])])
    q = np.array([0.0, 1e-6])
    damped, exact = robot.rates(q, [0.0, 0.0, -0.1]), robot.rates(q, [0.0, 0.0, -0.1], damping=0.0)
    assert np.abs(damped.speeds).max() < 1.0
    assert np.abs(exact.speeds).max() > 1e3
    # Across the arm nothing is singular, and nothing is damped.
    assert robot.rates(q, [0.1, 0.0, 0.0]).reached


def test_a_batch_is_its_rows():
    robot, rng = ar.load_robot("ur5-bending-tool"), np.random.default_rng(2)
    q, asked = robot.sample(4, seed=6), 0.2 * rng.normal(size=(4, 6))
    q[1, 6] = 0.0
    options = {"max_speed": 0.5, "hold": ["base"]}
    for velocity in (asked, asked[0]):
        found = robot.rates(q, velocity, **options)
        for k, row in enumerate(q):
            alone = robot.rates(row, asked[k] if velocity.ndim == 2 else velocity, **options)
            np.testing.assert_allclose(found.speeds[k], alone.speeds, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found.after(0.1)[k], alone.after(0.1), rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(found.limited[k], alone.limited)
            assert found.reached[k] == alone.reached
    # Several velocities at one configuration, and none at all.
    np.testing.assert_allclose(robot.rates(q[0], asked, **options).velocity[0], found.velocity[0], atol=1e-12)
    assert robot.rates(q[:0], asked[0]).reached.shape == (0,)


def test_manipulability_is_that_of_the_jacobian():
    robot = ar.load_robot("panda")
    q = robot.sample(5, seed=1)
    found = robot.manipulability(q)
    for row, volume, condition in zip(q, found.translation.volume, found.translation.inverse_condition, strict=True):
        J = robot.jacobian(row)[:3]
        assert volume == pytest.approx(math.sqrt(np.linalg.det(J @ J.T)))
        assert condition == pytest.approx(1.0 / np.linalg.cond(J))
    alone = robot.manipulability(q[0])
    assert alone.pose.volume == pytest.approx(found.pose.volume[0])
    assert 0.0 < alone.rotation.inverse_condition <= 1.0
    # Straight sections move the tip sideways: singular by translation along z only.
    straight = ar.load_robot("three-section")
    assert straight.manipulability(straight.neutral).translation.inverse_condition < 1e-6
    assert straight.manipulability(straight.neutral).rotation.inverse_condition < 1e-6


def test_a_section_without_length_turns_at_its_base():
    robot = ar.Robot([ar.Section(0.0, 1.0, stretch=0.1, twist=True)])
    found = robot.rates([0.0, 0.3, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    assert found.reached
    assert found.speeds == pytest.approx([0.0, 1.0, 0.0])


def test_a_negative_bend_moves_like_a_bend_in_the_opposite_direction():
    robot = ar.load_robot("three-section")
    q = np.array([-0.5, 0.3, 0.4, 1.0, 0.2, 2.0])
    same = robot.clip(q)
    found, other = robot.rates(q, [0.01, 0.02, 0.0]), robot.rates(same, [0.01, 0.02, 0.0])
    assert found.speeds * [-1, 1, 1, 1, 1, 1] == pytest.approx(other.speeds)
    assert found.velocity == pytest.approx(robot.jacobian(q)[:3] @ found.speeds)
    assert found.after(0.01) == pytest.approx(other.after(0.01))
    measure, wanted = robot.manipulability(q).pose, robot.manipulability(same).pose
    assert measure.volume == pytest.approx(wanted.volume)
    assert measure.inverse_condition == pytest.approx(wanted.inverse_condition)


def test_a_robot_of_links_does_not_move():
    robot = ar.Robot([ar.Link((0.0, 0.0, 0.1))])
    found = robot.rates([], [0.0, 0.0, 1.0])
    assert found.speeds.shape == (0,)
    assert not found.reached
    assert robot.manipulability(np.empty((2, 0))).pose.volume.tolist() == [0.0, 0.0]


def test_elements_are_held_by_name():
    robot = ar.load_robot("ur5-bending-tool")
    q = robot.sample(1, seed=1)[0]
    name = robot.coordinates[-1].split(".")[0]
    speeds = robot.rates(q, [0.1, 0.0, 0.0], hold=name).speeds
    assert (speeds[[coordinate.startswith(f"{name}.") for coordinate in robot.coordinates]] == 0.0).all()
    assert np.abs(speeds).max() > 0.0


def test_bad_input_is_refused():
    robot = ar.load_robot("panda")
    q = robot.neutral
    with pytest.raises(TargetError, match="velocity"):
        robot.rates(q, [0.0, 1.0])
    with pytest.raises(TargetError, match="velocity"):
        robot.rates(q, [0.0, math.nan, 0.0])
    with pytest.raises(TargetError, match="max_speed"):
        robot.rates(q, [0.0, 0.0, 1.0], max_speed=-1.0)
    with pytest.raises(TargetError, match="hold"):
        robot.rates(q, [0.0, 0.0, 1.0], hold=["elbow"])
    with pytest.raises(TargetError, match="hold"):
        robot.rates(q, [0.0, 0.0, 1.0], hold=[robot.coordinates[0], [robot.coordinates[1]]])
    with pytest.raises(TargetError, match="damping"):
        robot.rates(q, [0.0, 0.0, 1.0], damping=-0.1)
    with pytest.raises(TargetError, match="velocity has 3 rows and q has 2"):
        robot.rates(np.tile(q, (2, 1)), np.ones((3, 3)))
