"""Method `fabrikx` and the geometry of one section that it stands on."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError
from arcreach.ik.fabrik_chain import arm_of
from arcreach.ik.methods import chords, fabrikc, fabrikx
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target
from arcreach.kernels.chain import layout, section_inverse

RIGHT = math.radians(90)
QUARTER_TURN = ((0, -1, 0), (1, 0, 0), (0, 0, 1))
TABLE_3_11 = {"position_tol": 1e-5, "angle_tol": math.radians(0.01)}


def arm(n=3, **fields):
    return ar.Robot([ar.Section(0.05, RIGHT, **fields)] * n)


ROBOTS = {
    "one": arm(1),
    "fixed": arm(),
    "telescopic": ar.Robot([ar.Section(0.0, RIGHT, stretch=0.05)] * 3),
    "extensible": arm(stretch=0.05),
    "varying": ar.load_robot("variable-curvature-1"),
    "twist": arm(twist=True),
    "links": ar.Robot(
        [
            ar.Section(0.05, RIGHT),
            ar.Link((0, 0, 0.02), QUARTER_TURN),
            ar.Section(0.04, RIGHT),
            ar.Section(0.06, RIGHT),
            ar.Link((0, 0, 0.03)),
        ]
    ),
    "base": ar.Robot(
        [
            ar.Link((0.1, 0.2, 0.3), ((0, 0, 1), (0, 1, 0), (-1, 0, 0))),
            ar.Prismatic(0.0, 0.1),
            ar.Revolute(),
            *arm().elements,
        ]
    ),
}
VARIANTS = ("iterative", "polynomial")


def targets(robot, n, seed=3):
    poses = robot.tip_pose(robot.sample(n, seed=seed))
    return poses[:, :3, 3], poses[:, :3, 2]


def easy_targets(robot, n=6, seed=5):
    """Poses with every bend between a quarter and three quarters of its limit, sections drawn out."""
    q = robot.sample(n, seed=seed)
    for k, coordinate in enumerate(robot.coordinates):
        if coordinate.endswith("bend"):
            q[:, k] = 0.25 * robot.upper[k] + 0.5 * q[:, k]
        elif coordinate.endswith("length"):
            q[:, k] = robot.upper[k]
    poses = robot.tip_pose(q)
    return poses[:, :3, 3], poses[:, :3, 2]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ROBOTS)
def test_reaches_and_keeps_limits(name, variant):
    robot = ROBOTS[name]
    positions, axes = easy_targets(robot)
    for given in (axes, None):
        found = solve_batch(robot, positions, given, method="fabrikx", variant=variant)
        assert robot.within_limits(found.q, 0.0).all()
        # A baseline, not a sure method: it leaves short sections short, and insertion may push bends to their limits.
        assert found.reached.mean() >= (0.3 if "length" in str(robot.coordinates) else 0.5)
        poses = robot.tip_pose(found.q)
        off = np.linalg.norm(poses[:, :3, 3] - positions, axis=1)
        assert (off[found.reached] <= 1e-6).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_and_best_for_what_it_does_not_reach(name):
    robot = ROBOTS[name]
    far = np.array([[0.3, 0.2, 2.0], [2.0, 0.0, 0.1]])
    found = solve_batch(robot, far, method="fabrikx")
    assert (found.status == Status.OUT_OF_REACH).all()
    assert robot.within_limits(found.q, 0.0).all()
    start = robot.neutral
    at_start = np.linalg.norm(robot.tip_pose(start)[:3, 3] - far, axis=1)
    again = solve_batch(robot, far, method="fabrikx", start=start)
    assert (again.position_error <= at_start + 1e-12).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["fixed", "varying", "links"])
def test_straight_target(name, variant):
    robot = ROBOTS[name]
    pose = robot.tip_pose(np.zeros(robot.dof))
    found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), "fabrikx", variant=variant)
    assert found.reached
    assert found.iterations == 0
    np.testing.assert_array_equal(found.q, 0.0)
    bent = np.tile([0.4, 1.0], robot.dof // 2)
    found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), "fabrikx", start=bent, variant=variant)
    assert robot.within_limits(found.q, 0.0)
    assert found.position_error < 0.1 * np.linalg.norm(robot.tip_pose(bent)[:3, 3] - pose[:3, 3])


@pytest.mark.parametrize("method", [module.METHOD.name for module in (fabrikx, fabrikc, chords)])
def test_target_on_the_axis_of_a_straight_robot_gives_a_status(method):
    # All points lie on one line, and nothing pulls them off it: the published rule has no answer.
    found = solve(arm(), Target([0, 0, 0.1], [0, 0, 1]), method)
    assert not found.reached
    assert arm().within_limits(found.q, 0.0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_same_answer_twice_and_in_a_batch(variant):
    robot = ROBOTS["varying"]
    positions, axes = targets(robot, 5)
    first = solve_batch(robot, positions, axes, method="fabrikx", variant=variant, max_iterations=20)
    again = solve_batch(robot, positions, axes, method="fabrikx", variant=variant, max_iterations=20)
    np.testing.assert_array_equal(first.q, again.q)
    for i in range(5):
        one = solve(robot, Target(positions[i], axes[i]), "fabrikx", variant=variant, max_iterations=20)
        np.testing.assert_array_equal(one.q, first.q[i])
        assert one.iterations == first.iterations[i]


def test_inputs_stay_untouched():
    robot = ROBOTS["base"]
    positions, axes = targets(robot, 3)
    start = robot.sample(3, seed=1)
    kept = positions.copy(), axes.copy(), start.copy()
    solve_batch(robot, positions, axes, method="fabrikx", start=start, max_iterations=5)
    for before, after in zip(kept, (positions, axes, start), strict=True):
        np.testing.assert_array_equal(before, after)


def test_trace_has_a_row_per_iteration():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    found = solve(robot, Target(positions[0], axes[0]), "fabrikx", trace=True)
    assert found.reached
    assert len(found.trace) == found.iterations > 1
    np.testing.assert_array_equal(found.trace.q[-1], found.q)
    assert robot.within_limits(found.trace.q, 0.0).all()
    assert found.trace.position_error[-1] == found.position_error


def test_iteration_and_time_limits():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    target = Target(positions[0], axes[0])
    few = solve(robot, target, "fabrikx", max_iterations=2, position_tol=1e-12)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 2)
    short = solve(robot, target, "fabrikx", max_time=1e-9, position_tol=1e-12)
    assert (short.status, short.iterations) == (Status.TIME_LIMIT, 1)
    assert short.seconds > 0.0


def test_base_roll_is_kept_and_insertion_used():
    robot = ROBOTS["base"]
    q = np.array([0.06, 0.4, 0.3, 0.2, 0.4, -1.0, 0.3, 2.0])
    pose = robot.tip_pose(q)
    start = q + np.array([-0.02, 0.0, 0.1, 0.1, -0.1, 0.1, 0.1, -0.1])
    found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), "fabrikx", start=start)
    assert found.reached
    assert found.q[1] == 0.4
    assert found.q[0] != pytest.approx(0.04)


def test_section_tol_follows_the_wanted_position():
    robot = ROBOTS["varying"]
    positions, axes = easy_targets(robot)
    fine = solve_batch(robot, positions, axes, method="fabrikx", position_tol=1e-9, angle_tol=1e-6)
    coarse = solve_batch(robot, positions, axes, method="fabrikx", position_tol=1e-9, angle_tol=1e-6, section_tol=1e-2)
    assert fine.reached.sum() > coarse.reached.sum()


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, "small", True])
def test_refuses_a_section_tol(value):
    with pytest.raises(MethodError, match="section_tol"):
        solve(arm(), Target([0, 0, 0.1]), "fabrikx", section_tol=value)


@pytest.mark.parametrize(
    ("elements", "reason"),
    [
        ([ar.Revolute()], "at least one section"),
        ([ar.Prismatic(0, 1), ar.Prismatic(0, 1), *arm().elements], "one prismatic base"),
        ([ar.Revolute((1, 0, 0)), *arm().elements], "along z"),
        ([ar.Revolute(), ar.Link((0.1, 0, 0)), *arm().elements], "along z"),
        ([*arm().elements, ar.Revolute()], "behind"),
        ([*arm().elements, ar.Link((0.1, 0, 0))], "straight along z"),
        ([ar.Section(0.1, 1.0, length_weights=(1, 0), bend_weights=(0, 1))], "very end"),
        ([ar.Parallelogram((0, 0, 1)), *arm().elements], "parallelogram"),
    ],
)
def test_says_why_it_refuses(elements, reason):
    assert reason in fabrikx.METHOD.refusal(ar.Robot(elements))


def test_refuses_a_whole_rotation():
    assert "axis, position" in fabrikx.METHOD.refusal(arm(), layout.ROTATION)


# The geometry of one section.

WEIGHTS = {
    "single": ((1,), (1,)),
    "front": ((20, 40, 10), (1, 0.001, 3)),
    "back": ((1, 2, 4), (3, 2, 1)),
    "humped": ((1, 2, 4), (1, 2, 10)),
}


def section(name, bend_max=RIGHT):
    lengths, bends = WEIGHTS[name]
    return arm_of(ar.Robot([ar.Section(0.1, bend_max, length_weights=lengths, bend_weights=bends)]))


def test_critical_bend_of_the_printed_section():
    one = section("humped", 2 * math.pi)
    assert math.degrees(one.table[0, section_inverse.BEND_CRITICAL]) == pytest.approx(253.3, abs=0.05)
    assert math.degrees(one.table[0, section_inverse.ANGLE_MAX]) == pytest.approx(80.9, abs=0.05)
    assert section("humped").table[0, section_inverse.BEND_CRITICAL] == RIGHT


@pytest.mark.parametrize("name", WEIGHTS)
def test_bend_comes_back_from_its_chord(name):
    one = section(name)
    for bend in (0.0, 1e-9, 1e-4, 0.3, 1.0, 1.5):
        alpha = section_inverse.chord_angle(one.chain, 0, bend)
        iterated = section_inverse.bend_iterative(one.chain, 0, alpha, RIGHT, 1e-9)
        assert iterated == pytest.approx(bend, rel=1e-8, abs=1e-300)
        assert section_inverse.bend_polynomial(one.table[0], alpha) == pytest.approx(bend, rel=1e-6, abs=1e-9)
    assert section_inverse.bend_iterative(one.chain, 0, 3.0, RIGHT, 1e-9) == RIGHT
    assert section_inverse.bend_polynomial(one.table[0], 3.0) == pytest.approx(RIGHT)


def tangents(one, bend):
    x, z = section_inverse.planar_tip(one.chain, 0, bend)
    ratio = one.table[0, section_inverse.REST_RATIO]
    return section_inverse.tangent_lengths(bend, x, z, math.sin(bend), math.cos(bend), ratio)


@pytest.mark.parametrize("name", WEIGHTS)
def test_tangents_meet(name):
    one = section(name, 2 * math.pi)
    for bend in (1e-7, 0.1, 1.0, 2.0, 3.0):
        first, second = tangents(one, bend)
        x, z = section_inverse.planar_tip(one.chain, 0, bend)
        assert second * math.sin(bend) == pytest.approx(x, rel=1e-12)
        assert first + second * math.cos(bend) == pytest.approx(z, rel=1e-12)


@pytest.mark.parametrize("name", WEIGHTS)
def test_tangents_are_continuous_at_rest_and_bounded_at_pi(name):
    one = section(name, 2 * math.pi)
    at_rest = tangents(one, 0.0)
    assert sum(at_rest) == pytest.approx(1.0)
    for bend in (1e-12, 0.99 * section_inverse.STRAIGHT, 1.01 * section_inverse.STRAIGHT, 1e-6):
        np.testing.assert_allclose(tangents(one, bend), at_rest, atol=1e-11)
    edge = math.pi - math.asin(section_inverse.SMALLEST_SINE)
    np.testing.assert_allclose(tangents(one, edge - 1e-12), tangents(one, edge + 1e-12), rtol=1e-6)
    for bend in (edge + 1e-12, math.pi, math.pi + 1e-9, 4.0, 6.0, 2 * math.pi):
        first, second = tangents(one, bend)
        assert 0.0 <= first < 2.0 / section_inverse.SMALLEST_SINE
        assert 0.0 <= second < 2.0 / section_inverse.SMALLEST_SINE


@pytest.mark.parametrize("bend_max", [math.pi, 2 * math.pi])
@pytest.mark.parametrize("name", ["single", "humped"])
def test_wide_bends_stay_finite(name, bend_max):
    lengths, bends = WEIGHTS[name]
    robot = ar.Robot([ar.Section(0.05, bend_max, length_weights=lengths, bend_weights=bends)] * 3)
    positions, axes = targets(robot, 8)
    for variant in VARIANTS:
        found = solve_batch(robot, positions, axes, method="fabrikx", variant=variant, max_iterations=30)
        assert np.isfinite(found.q).all()
        assert robot.within_limits(found.q, 0.0).all()


# Table 3.11, as many iterations as 30 ms were in the source (time of an iteration there from the same table).


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("number", "variant", "printed", "iterations"),
    [
        (1, "iterative", 92.8, 106),
        (1, "polynomial", 93.8, 154),
        (2, "iterative", 92.4, 96),
        (2, "polynomial", 93.6, 150),
        (3, "iterative", 86.7, 89),
        (3, "polynomial", 88.5, 142),
        (4, "iterative", 82.8, 85),
        (4, "polynomial", 84.9, 143),
        (5, "iterative", 69.3, 62),
        (5, "polynomial", 70.7, 95),
        (6, "iterative", 58.9, 48),
        (6, "polynomial", 60.4, 72),
    ],
)
def test_table_3_11(number, variant, printed, iterations):
    robot = ar.load_robot(f"variable-curvature-{number}")
    positions, axes = targets(robot, 4000, seed=100 + number)
    found = solve_batch(
        robot, positions, axes, method="fabrikx", variant=variant, max_iterations=iterations, **TABLE_3_11
    )
    assert robot.within_limits(found.q, 0.0).all()
    assert 100 * found.reached.mean() == pytest.approx(printed, abs=4.0)
