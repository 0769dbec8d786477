import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arcreach as ar
from arcreach.errors import MethodError
from arcreach.ik.method import find_method
from arcreach.ik.methods import single_section as method
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target
from arcreach.kernels.chain import section as section_kernels
from arcreach.kernels.chain import section_inverse
from arcreach.kernels.chain.layout import POSITION
from arcreach.kernels.methods import single_section as kernels
from arcreach.kernels.methods import single_section_limits as limits_kernels
from arcreach.kernels.solver.contexts import Task

VARIANTS = ("newton", "iterative", "polynomial", "jacobian")
CHORD_VARIANTS = VARIANTS[:3]

WEIGHTS = {"length_weights": (1, 2, 4), "bend_weights": (3, 2, 1)}
SECTIONS = {
    "one arc": ar.Section(0.1, math.pi),
    "fixed": ar.Section(0.1, math.pi, **WEIGHTS),
    "telescopic": ar.Section(0.0, math.pi, stretch=0.1, **WEIGHTS),
    "extensible": ar.Section(0.05, math.pi, stretch=0.07, **WEIGHTS),
    "twisting": ar.Section(0.05, math.pi, stretch=0.07, twist=True, **WEIGHTS),
}


@pytest.fixture(params=SECTIONS)
def robot(request):
    return ar.Robot([SECTIONS[request.param]])


@pytest.fixture(params=[name for name in SECTIONS if name != "one arc"])
def sliding(request):
    return ar.Robot([ar.Prismatic(-0.03, 0.05), SECTIONS[request.param]])


def tips(robot, q):
    return robot.tip_pose(q)[..., :3, 3]


def single(robot, position, variant="newton", **options):
    return solve(robot, Target(position), "single-section", variant=variant, **options)


def batch(robot, positions, variant="newton", **options):
    return solve_batch(robot, positions, method="single-section", variant=variant, **options)


def random_section(rng, kind, arcs):
    """A section of table 3.1."""
    weights = {"length_weights": rng.uniform(1, 10, arcs), "bend_weights": rng.uniform(1, 10, arcs)}
    length, stretch = {
        "fixed": (rng.uniform(1e-3, 0.1), 0.0),
        "telescopic": (0.0, rng.uniform(1e-3, 0.1)),
        "extensible": (constant := rng.uniform(1e-3, 0.05), 0.1 - constant),
    }[kind]
    widest = ar.Robot([ar.Section(length, 2 * math.pi, stretch, **weights)])
    bend_max = min(math.pi, section_inverse.critical_bend(widest.packed, 0))
    return ar.Robot([ar.Section(length, bend_max, stretch, **weights)])


def test_variants_are_declared():
    declared = find_method("single-section")
    assert declared.variants == VARIANTS
    assert declared.targets == {"position"}


# The kernels of the chord


def test_critical_bend_of_figure_2_3():
    robot = ar.Robot([ar.Section(0.1, math.pi, length_weights=(1, 2, 4), bend_weights=(1, 2, 10))])
    c0, critical, largest = method.constants(robot)
    assert math.degrees(critical) == pytest.approx(253.3, abs=0.05)
    assert math.degrees(largest) == pytest.approx(80.9, abs=0.05)
    step = 1e-6
    alpha = section_inverse.angle_of_chord(*section_kernels.planar_tip(robot.packed, 0, step))
    assert alpha / step == pytest.approx(c0)
    for theta in np.linspace(0.0, 2 * math.pi, 200)[1:]:
        assert section_inverse.angle_of_chord(*section_kernels.planar_tip(robot.packed, 0, theta)) <= largest + 1e-12


def test_alpha_of_one_arc_rises_to_the_closed_ring():
    one_arc = ar.Robot([ar.Section(0.1, 1.0)])
    np.testing.assert_allclose(method.constants(one_arc), (0.5, 2 * math.pi, math.pi), rtol=1e-7)


def test_a_bend_at_the_very_end_moves_nothing():
    robot = ar.Robot([ar.Section(0.1, 1.0, length_weights=(1, 0), bend_weights=(0, 1))])
    np.testing.assert_allclose(method.constants(robot), (0.0, 0.0, 0.0))
    for variant in CHORD_VARIANTS:
        assert single(robot, (0, 0, 0.1), variant).reached
        assert single(robot, (0.05, 0, 0.05), variant).status == Status.OUT_OF_REACH
    assert single(robot, (0.05, 0, 0.05), "jacobian").status == Status.STALLED


@given(theta=st.floats(0, 2 * math.pi), seed=st.integers(0, 1000))
def test_tip_and_slope_is_planar_tip_and_planar_slope(theta, seed):
    rng = np.random.default_rng(seed)
    length_weights, bend_weights = rng.integers(0, 9, (2, 4))
    length_weights[0] += 1
    bend_weights[2] += 1
    chain = ar.Robot([ar.Section(0.1, 1.0, length_weights=length_weights, bend_weights=bend_weights)]).packed
    x, z, dx, dz = section_inverse.tip_and_slope(chain, 0, theta)
    np.testing.assert_allclose((x, z), section_kernels.planar_tip(chain, 0, theta), atol=2e-15)
    np.testing.assert_allclose((dx, dz), section_kernels.planar_slope(chain, 0, theta), atol=1e-13)


@given(share=st.floats(0, 1), seed=st.integers(0, 1000))
def test_newton_inverts_the_chord_angle_up_to_the_critical_bend(share, seed):
    robot = random_section(np.random.default_rng(seed), "fixed", 4)
    constants = method.constants(robot)
    theta = share * constants[1]
    alpha = section_inverse.angle_of_chord(*section_kernels.planar_tip(robot.packed, 0, theta))
    found = section_inverse.newton_bend(robot.packed, 0, alpha, constants)
    # Where alpha is flat, at theta_crit and at the closed ring, half of the digits are lost.
    assert found == pytest.approx(theta, abs=1e-11 if share < 0.9 else 1e-6)


@given(
    x=st.floats(-1, 1),
    z=st.floats(-1, 1),
    r=st.floats(-1, 1),
    height=st.floats(-1, 1),
    shortest=st.floats(0, 1),
    more=st.floats(0, 1),
    lower=st.floats(-1, 0),
    upper=st.floats(0, 1),
)
def test_best_extent_is_nearer_than_a_grid(x, z, r, height, shortest, more, lower, upper):
    s, h, d = limits_kernels.best_extent(x, z, r, height, shortest, shortest + more, lower, upper)
    assert shortest <= s <= shortest + more
    assert lower <= h <= upper
    lengths = np.linspace(shortest, shortest + more, 40)[:, None]
    travels = np.linspace(lower, upper, 40)
    assert d <= ((lengths * x - r) ** 2 + (lengths * z + travels - height) ** 2).min() + 1e-12


def test_distance_slope_is_the_slope_of_the_distance():
    robot = ar.Robot([ar.Prismatic(-0.02, 0.02), SECTIONS["extensible"]])
    for r, z in ((0.2, 0.1), (0.01, 0.01), (0.05, -0.1), (0.02, 0.03)):
        for theta in np.linspace(0.05, 3.1, 23):
            after = limits_kernels.best_at(robot.packed, 1, theta + 1e-6, r, z)[2]
            before = limits_kernels.best_at(robot.packed, 1, theta - 1e-6, r, z)[2]
            slope = limits_kernels.distance_slope(robot.packed, 1, theta, r, z)
            assert slope == pytest.approx(0.5 * (after - before) / 2e-6, abs=1e-8)


# Requirements on every variant


@pytest.mark.parametrize("variant", CHORD_VARIANTS)
def test_reaches_what_forward_kinematics_gives(robot, variant):
    q = robot.sample(20, seed=1)
    found = batch(robot, tips(robot, q), variant)
    assert found.reached.all()
    assert robot.within_limits(found.q, tolerance=1e-12).all()
    # One bend and one length lead to a target, so the configuration is the one it was made from.
    np.testing.assert_allclose(found.q, q, atol=1e-3)


@pytest.mark.parametrize("variant", CHORD_VARIANTS)
def test_reaches_with_a_sliding_base(sliding, variant):
    q = sliding.sample(20, seed=2)
    found = batch(sliding, tips(sliding, q), variant)
    assert found.reached.all()
    assert sliding.within_limits(found.q, tolerance=1e-12).all()


@pytest.mark.parametrize("slide", [False, True])
@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_jacobian_reaches_most(section, slide):
    robot = ar.Robot([ar.Prismatic(-0.03, 0.05), section] if slide else [section])
    q = robot.sample(20, seed=3)
    found = batch(robot, tips(robot, q), "jacobian")
    assert found.reached.mean() >= 0.7
    assert robot.within_limits(found.q, tolerance=1e-12).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_limits_and_status_hold_for_any_target(sliding, variant):
    positions = np.random.default_rng(4).normal(size=(12, 3)) * 0.12
    found = batch(sliding, positions, variant)
    assert sliding.within_limits(found.q, tolerance=1e-12).all()
    errors = np.linalg.norm(tips(sliding, found.q) - positions, axis=1)
    np.testing.assert_allclose(found.position_error, errors, atol=1e-15)
    np.testing.assert_array_equal(found.reached, errors <= 1e-6)
    assert (found.q[:, 1] >= 0.0).all()
    assert ((-math.pi < found.q[:, 2]) & (found.q[:, 2] <= math.pi)).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_straight(robot, variant):
    found = single(robot, tips(robot, robot.neutral), variant)
    assert found.reached
    assert found.q[0] <= 1e-3


@pytest.mark.parametrize("variant", CHORD_VARIANTS)
@pytest.mark.parametrize("bend", [1e-9, 1e-3, math.pi - 1e-9, math.pi])
def test_at_the_ends_of_the_bend(robot, variant, bend):
    q = robot.upper.copy()
    q[0] = bend
    found = single(robot, tips(robot, q), variant)
    assert found.reached
    np.testing.assert_allclose(found.q[0], bend, atol=2e-5)


@pytest.mark.parametrize("variant", CHORD_VARIANTS)
@pytest.mark.parametrize("bend", [5.0, 2 * math.pi - 1e-6, 2 * math.pi])
def test_up_to_a_full_turn(variant, bend):
    for section in (ar.Section(0.1, 2 * math.pi), ar.Section(0.1, 2 * math.pi, stretch=0.05, **WEIGHTS)):
        robot = ar.Robot([section])
        q = robot.upper.copy()
        q[0] = bend
        found = single(robot, tips(robot, q), variant)
        assert found.reached
        assert robot.within_limits(found.q)


def test_a_bend_beyond_the_critical_one_is_found_where_the_length_is_fixed():
    robot = ar.Robot([ar.Section(0.1, 2 * math.pi, length_weights=(1, 2, 4), bend_weights=(1, 2, 10))])
    for bend in (4.0, 4.5, 5.0, 5.9):
        for variant in CHORD_VARIANTS:
            found = single(robot, tips(robot, [bend, 0.3]), variant)
            assert found.reached
            assert found.q[0] == pytest.approx(bend, abs=1e-3)


@pytest.mark.parametrize("variant", VARIANTS)
def test_target_at_the_base(variant):
    telescopic = single(ar.Robot([SECTIONS["telescopic"]]), (0, 0, 0), variant)
    assert telescopic.reached
    # A polynomial is not exactly 0 at 0; the Jacobian stops as soon as it is within the tolerance.
    np.testing.assert_allclose(telescopic.q[[0, 2]], 0.0, atol=0.0 if variant in ("newton", "iterative") else 1e-6)
    fixed = single(ar.Robot([SECTIONS["fixed"]]), (0, 0, 0), variant)
    assert not fixed.reached
    # Straight above its target a section has no better direction to bend in; the Jacobian stays there.
    assert fixed.position_error <= 0.1 if variant == "jacobian" else fixed.position_error < 0.08


@pytest.mark.parametrize("variant", CHORD_VARIANTS)
def test_a_ring_closes_at_the_base(variant):
    robot = ar.Robot([ar.Section(0.1, 2 * math.pi)])
    found = single(robot, (0, 0, 0), variant)
    assert found.reached
    assert found.q[0] == pytest.approx(2 * math.pi, abs=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_too_far_is_out_of_reach(robot, variant):
    found = single(robot, (0.3, 0.4, 1.0), variant)
    assert found.status == Status.OUT_OF_REACH
    assert robot.within_limits(found.q)


@pytest.mark.parametrize("name", ["fixed", "telescopic", "extensible"])
@pytest.mark.parametrize("base", [False, True])
def test_unreachable_gives_the_nearest_pose(name, base):
    front = [ar.Prismatic(0.01, 0.02)] if base else []
    robot = ar.Robot([*front, SECTIONS[name]])
    many = robot.sample(4000, seed=5)
    corner = np.random.default_rng(5).random(many.shape) < 0.5
    many[:2000] = robot.clip(np.where(corner, robot.upper, many)[:2000])
    reached = tips(robot, many)
    # Samples of every direction, turned into the plane of the target.
    plane = np.column_stack([np.hypot(reached[:, 0], reached[:, 1]), reached[:, 2]])
    for position in ((0.2, 0.0, -0.1), (0.03, 0.0, 0.0), (0.0, -0.15, 0.05), (0.0, 0.0, -0.2)):
        nearest = np.hypot(plane[:, 0] - math.hypot(*position[:2]), plane[:, 1] - position[2]).min()
        for variant in CHORD_VARIANTS:
            found = single(robot, position, variant)
            if not found.reached:
                assert found.status == Status.OUT_OF_REACH
            assert found.position_error <= nearest + 1e-12, variant


def test_base_travels_no_more_than_needed(sliding):
    q = sliding.sample(30, seed=6)
    found = batch(sliding, tips(sliding, q))
    assert (np.abs(found.q[:, 0]) <= np.abs(q[:, 0]) + 1e-9).all()


def test_base_stays_where_the_section_reaches_alone():
    section = SECTIONS["extensible"]
    robot = ar.Robot([ar.Prismatic(-0.1, 0.1), section])
    q = ar.Robot([section]).sample(20, seed=7)
    found = batch(robot, tips(ar.Robot([section]), q))
    np.testing.assert_allclose(found.q[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.q[:, 1:], q, atol=1e-9)


def test_base_that_cannot_rest_at_zero_stays_near_it():
    robot = ar.Robot([ar.Prismatic(0.02, 0.05), SECTIONS["telescopic"]])
    found = single(robot, tips(robot, [0.04, 0.5, 0.0, 0.06]))
    assert found.reached
    assert found.q[0] == pytest.approx(0.02)


@pytest.mark.compiled
@pytest.mark.parametrize("variant", VARIANTS)
def test_batch_is_a_loop_of_singles_and_repeats(sliding, variant):
    positions = np.vstack([tips(sliding, sliding.sample(6, seed=8)), [[1, 1, 1], [0, 0, 0]]])
    before = positions.copy()
    first = batch(sliding, positions, variant)
    second = batch(sliding, positions, variant, threads=2)
    np.testing.assert_array_equal(first.q, second.q)
    np.testing.assert_array_equal(positions, before)
    for i, position in enumerate(positions):
        alone = single(sliding, position, variant)
        np.testing.assert_array_equal(alone.q, first.q[i])
        assert (alone.status, alone.iterations) == (first.status[i], first.iterations[i])


@pytest.mark.parametrize("variant", VARIANTS)
def test_trace_ends_at_the_answer(sliding, variant):
    for position in (tips(sliding, sliding.sample(1, seed=9)[0]), (0.0, 0.1, -0.1), (1.0, 1.0, 1.0)):
        found = single(sliding, position, variant, trace=True)
        assert len(found.trace) == found.iterations + 1 > 1
        np.testing.assert_array_equal(found.trace.q[0], sliding.neutral)
        np.testing.assert_array_equal(found.trace.q[-1], found.q)
        assert found.trace.position_error[-1] == found.position_error
        assert sliding.within_limits(found.trace.q).all()
        np.testing.assert_array_equal(found.q, single(sliding, position, variant).q)


@pytest.mark.parametrize("variant", ["iterative", "jacobian"])
def test_iteration_limit(robot, variant):
    q = robot.upper * (0.7, *[1.0] * (robot.dof - 1))
    found = single(robot, tips(robot, q), variant, max_iterations=1)
    assert found.iterations == 1
    assert found.status in (Status.ITERATION_LIMIT, Status.REACHED)
    assert robot.within_limits(found.q)
    assert single(ar.Robot([SECTIONS["fixed"]]), (0.05, 0, 0.05), "newton", max_iterations=2).iterations <= 2


@pytest.mark.parametrize("variant", ["newton", "iterative", "jacobian"])
def test_time_limit(variant):
    robot = ar.Robot([SECTIONS["fixed"]])
    found = single(robot, (0.05, 0, 0.05), variant, max_time=1e-12)
    assert found.status == Status.TIME_LIMIT
    assert robot.within_limits(found.q)


def test_jacobian_begins_at_the_given_start():
    robot = ar.Robot([SECTIONS["extensible"]])
    q = robot.sample(1, seed=10)[0]
    assert single(robot, tips(robot, q), "jacobian", start=q).iterations == 0


@pytest.mark.parametrize(
    ("elements", "word"),
    [
        ([ar.Section(0.1, 1.0)] * 2, "one section"),
        ([ar.Section(0.1, 1.0), ar.Prismatic(0, 0.1)], "one section"),
        ([ar.Prismatic(0, 0.1, axis=(1, 0, 0)), ar.Section(0.1, 1.0)], "along z"),
        ([ar.Revolute(), ar.Section(0.1, 1.0)], "revolute"),
    ],
)
def test_refuses_other_robots(elements, word):
    with pytest.raises(MethodError, match=word):
        single(ar.Robot(elements), (0, 0, 0.1))


def test_refuses_an_axis():
    with pytest.raises(MethodError, match="axis"):
        solve(ar.Robot([ar.Section(0.1, 1.0)]), Target((0, 0, 0.1), axis=(0, 0, 1)), "single-section")


# Table 3.1, in small


@pytest.mark.compiled
@pytest.mark.parametrize("arcs", [3, 6, 9])
@pytest.mark.parametrize("kind", ["fixed", "telescopic", "extensible"])
def test_table_3_1(kind, arcs):
    rng = np.random.default_rng(arcs)
    for _ in range(4):
        robot = random_section(rng, kind, arcs)
        positions = tips(robot, robot.sample(500, rng))
        for variant in CHORD_VARIANTS:
            found = batch(robot, positions, variant)
            assert found.reached.all()
            assert robot.within_limits(found.q, tolerance=1e-12).all()
            # The limit of the table is 0.5 ms; the median is safe from whatever else the machine does.
            assert np.median(found.seconds) < 5e-5


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["fixed", "telescopic", "extensible"])
def test_the_iteration_needs_no_second_stage(kind):
    rng = np.random.default_rng(11)
    for _ in range(4):
        robot = random_section(rng, kind, 6)
        arm = limits_kernels.SlidingSection(robot.packed, 0, kernels.ITERATIVE, method.constants(robot), np.zeros(12))
        work = limits_kernels.Work(np.empty((2, robot.dof)), np.zeros(2, np.int64))
        for position in tips(robot, robot.sample(100, rng)):
            row = ar.Target(position).batch.packed[1][0]
            r, direction = math.hypot(*position[:2]), math.atan2(position[1], position[0])
            task = Task(row[None], POSITION, 1e-6, 1e-3, 1, 100, math.inf, False, False, np.empty((0, robot.dof)))
            aim = limits_kernels.Aim(row, r, position[2], direction, 0.0)
            pose, used, _ = kernels.approach_iterative(arm, aim, 0.0, task, work)
            q = [pose.theta, direction, pose.length][: robot.dof]
            assert used < 50
            assert np.linalg.norm(tips(robot, q) - position) <= 1.001e-6


def test_the_largest_travel_of_the_base_can_be_chosen():
    robot = ar.Robot([ar.Prismatic(lower=0, upper=0.2), ar.Section(0.05, 2.0, stretch=0.03)])
    target = [0.03, 0.01, 0.15]
    for largest in (0.001, 0.01):
        found = ar.solve(robot, target, "single-section", variant="iterative", max_travel=largest, trace=True)
        assert found.reached
        # Row 0 is the neutral configuration; the method begins from no travel.
        assert np.abs(np.diff(found.trace.q[1:-1, 0])).max() == pytest.approx(largest)
    with pytest.raises(MethodError, match="max_travel is for variant iterative"):
        ar.solve(robot, target, "single-section", max_travel=0.01)
    with pytest.raises(MethodError, match="max_travel is for variant iterative"):
        ar.solve(robot, target, "single-section", variant="jacobian", max_travel=0.01)
    with pytest.raises(MethodError, match="scaled = 'stretch' is for variant iterative"):
        ar.solve(robot, target, "single-section", variant="jacobian", scaled="stretch")
    with pytest.raises(MethodError, match="max_travel"):
        ar.solve(robot, target, "single-section", variant="iterative", max_travel=-1)
