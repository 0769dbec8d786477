"""Errata of the FABRIK methods in docs/errata.md: the printed form fails, what arcreach does is right."""

import math

import numpy as np
import pytest
from tests.reference import arc, rot_z, shift

import arcreach as ar
from arcreach.ik.fabrik_chain import arm_of
from arcreach.ik.method import Problem, run_kernel
from arcreach.ik.methods.fabrikc import METHOD as FABRIKC
from arcreach.ik.solve import solve_batch
from arcreach.ik.target import Targets
from arcreach.kernels.chain import layout, section_inverse
from arcreach.kernels.chain.section import planar_tip
from arcreach.kernels.methods import chords, fabrikc, fabrikx


def frame(bend, direction, length):
    return rot_z(direction) @ arc(bend, length) @ rot_z(-direction)


def motion(matrix):
    return tuple(float(value) for value in matrix[:3].ravel())


def printed_tangent(bend, length):
    """Equation 1.21 without its link."""
    return length / bend * math.tan(bend / 2)


def angle_between(a, b):
    return math.atan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b))


def test_k22_1_20_has_the_wrong_sign():
    bend, length = 1.2, 0.1
    end = frame(bend, 0.5, length)
    tangent = printed_tangent(bend, length)
    by_1_19 = end[:3, 3] - tangent * end[:3, 2]
    start = np.eye(4)
    printed = start[:3, 3] - tangent * start[:3, 2]
    assert np.linalg.norm(printed - by_1_19) == pytest.approx(2 * tangent)
    # arcreach puts the joint on the tangent in front of the section.
    one = arm_of(ar.Robot([ar.Section(length, 2.0)]))
    work = fabrikx.make_work(2, 1)
    work.q[:] = bend, 0.5
    fabrikx.place_robot(one, work)
    np.testing.assert_allclose(work.joints[0], by_1_19, atol=1e-15)


def test_k22_1_20_cannot_serve_step_5():
    # Pulled to a target, the section gets the bend between the base axis and the wanted axis. Its joint lies one
    # tangent before the target (1.19). Its start is found from the joint by 1.24, a step later: 1.20 only knows the
    # start of the iteration before, and that puts the joint elsewhere.
    length = 0.1
    one = arm_of(ar.Robot([ar.Section(length, 3.0)]))
    work = fabrikx.make_work(2, 1)
    end = frame(1.0, 0.5, length)
    work.target[:3] = end[:3, 3] + [0.01, 0.0, 0.0]
    work.target[3:] = end[:3, 2]
    fabrikx.place_robot(one, work)
    fabrikc.forward_reaching(one, work)
    tangent = printed_tangent(1.0, length)
    np.testing.assert_allclose(work.joints[0], work.target[:3] - tangent * work.target[3:], atol=1e-15)
    by_1_20 = tangent * np.array([0.0, 0.0, 1.0])
    assert np.linalg.norm(by_1_20 - work.joints[0]) > 0.009


def test_k22_1_21_ends_at_pi():
    length = 0.1
    assert printed_tangent(math.pi, length) > 1e14
    assert printed_tangent(4.0, length) < 0.0
    one = arm_of(ar.Robot([ar.Section(length, 2 * math.pi)]))
    for bend in (math.pi - 1e-9, math.pi, math.pi + 1e-9, 4.0, 2 * math.pi):
        first, second = fabrikc.tangents_at(one.chain, 0, bend, 0.5)
        assert 0.0 <= min(first, second) <= max(first, second) < 100.0
    for bend in (0.5, 2.0, 3.0):
        expected = printed_tangent(bend, length)
        np.testing.assert_allclose(fabrikc.tangents_at(one.chain, 0, bend, 0.5), expected, rtol=1e-12)


def test_k22_1_21_has_a_link_on_one_side():
    # A link l' in front of section 2 lies on its start tangent. Added to both tangents it moves the end of the section.
    length, link, bend = 0.1, 0.03, 1.0
    start = shift((0, 0, link))
    end = start @ frame(bend, 0.0, length)
    tangent = printed_tangent(bend, length)
    joint = (tangent + link) * np.array([0.0, 0.0, 1.0])
    printed_end = joint + (tangent + link) * end[:3, 2]
    assert np.linalg.norm(printed_end - end[:3, 3]) == pytest.approx(link)
    np.testing.assert_allclose(joint + tangent * end[:3, 2], end[:3, 3], atol=1e-15)
    robot = ar.Robot([ar.Section(0.05, 2.0), ar.Link((0, 0, link)), ar.Section(length, 2.0)])
    one = arm_of(robot)
    np.testing.assert_array_equal(one.gaps, [link, 0.0])
    work = fabrikx.make_work(4, 2)
    work.q[:] = 0.0, 0.0, bend, 0.0
    fabrikx.place_robot(one, work)
    np.testing.assert_allclose(work.joints[1], joint + np.array([0, 0, 0.05]), atol=1e-15)
    np.testing.assert_allclose(work.tangents[1], tangent, rtol=1e-12)


def test_k22_1_25_names_the_wrong_vector():
    # Section 1 of two: the difference of the joints is the tangent at its end, Z_1, not Z_0, which the base fixes.
    one = arm_of(ar.Robot([ar.Section(0.1, 2.0), ar.Section(0.1, 2.0)]))
    work = fabrikx.make_work(4, 2)
    work.q[:] = 0.8, 0.3, 1.1, -1.0
    fabrikx.place_robot(one, work)
    first = frame(0.8, 0.3, 0.1)
    difference = work.joints[1] - work.joints[0]
    difference /= np.linalg.norm(difference)
    np.testing.assert_allclose(difference, first[:3, 2], atol=1e-15)
    assert angle_between(difference, (0, 0, 1)) == pytest.approx(0.8)
    np.testing.assert_allclose(
        fabrikc.end_tangent(0, motion(np.eye(4)), work.target, work.tangents, work.joints), first[:3, 2], atol=1e-15
    )


def test_k22_1_26_is_the_bend_of_the_next_section():
    tangents = [np.array([0.0, 0.0, 1.0])]
    pose = np.eye(4)
    for bend, direction in ((0.8, 0.3), (1.1, -1.0)):
        pose = pose @ frame(bend, direction, 0.1)
        tangents.append(pose[:3, 2])
    printed = angle_between(tangents[2], tangents[1])
    assert printed == pytest.approx(1.1)
    assert angle_between(tangents[0], tangents[1]) == pytest.approx(0.8)
    # The arc cosine of a scalar product near 1 has no digits left.
    slight = frame(1e-9, 0.3, 0.1)
    assert np.arccos(np.dot((0, 0, 1), slight[:3, 2])) == 0.0
    bend, _, _ = fabrikc.bend_towards(motion(np.eye(4)), *slight[:3, 2])
    assert bend == pytest.approx(1e-9, rel=1e-12)


def test_k22_1_27_swaps_its_arguments():
    before = frame(0.7, 2.0, 0.1)
    end = before @ frame(1.0, 0.6, 0.1)
    local = np.linalg.inv(before) @ end
    assert math.atan2(local[0, 3], local[1, 3]) == pytest.approx(math.pi / 2 - 0.6)
    # In the frame at its own end the point is the origin, which has no direction.
    own = np.linalg.inv(end) @ end[:, 3]
    np.testing.assert_allclose(own[:2], 0.0, atol=1e-15)
    _, s, c = fabrikc.bend_towards(motion(before), *end[:3, 2])
    assert math.atan2(s, c) == pytest.approx(0.6)


def test_k22_1_3_2_finds_bends_outside_the_limits():
    robot = ar.load_robot("variable-curvature-6")
    poses = robot.tip_pose(robot.sample(40, seed=2))
    tolerances = {"position_tol": 1e-5, "angle_tol": math.radians(0.01), "max_iterations": 60}
    free = ar.Robot(
        [
            ar.Section(s.length, math.pi, length_weights=s.length_weights, bend_weights=s.bend_weights)
            for s in robot.elements
        ]
    )
    arrived = solve_batch(free, poses[:, :3, 3], poses[:, :3, 2], method=FABRIKC.name, **tolerances)
    outside = arrived.reached & ~robot.within_limits(arrived.q)
    assert outside.mean() > 0.2
    limited = solve_batch(robot, poses[:, :3, 3], poses[:, :3, 2], method=FABRIKC.name, **tolerances)
    assert robot.within_limits(limited.q, 0.0).all()
    assert not (limited.reached & outside).any()


def test_k22_2_12_is_undefined_when_straight_and_when_closed():
    def printed(distance, bend, constant):
        return distance * bend / (2 * np.sin(np.float64(bend) / 2)) - constant

    with np.errstate(invalid="ignore"):
        assert math.isnan(printed(0.07, 0.0, 0.05))
    assert abs(printed(0.07, 2 * math.pi, 0.05)) > 1e14
    robot = ar.Robot([ar.Section(0.05, 2 * math.pi, stretch=0.05)])
    bend, length = fabrikx.limited_section(robot.packed, 0, 0.0, 0.07)
    assert (bend, length) == (0.0, pytest.approx(0.07))
    bend, length = fabrikx.limited_section(robot.packed, 0, 1.0, 0.07)
    assert length - 0.05 == pytest.approx(printed(0.07, 1.0, 0.05))
    for nearly in (2 * math.pi - 1e-9, 2 * math.pi):
        assert fabrikx.limited_section(robot.packed, 0, nearly, 0.07) == (nearly, 0.1)


def test_k22_2_15_shortens_a_section_that_fits():
    constant, variable = 0.05, 0.02
    robot = ar.Robot([ar.Section(constant, 2.0, stretch=0.05)])
    bend = 0.3
    x, z = planar_tip(robot.packed, 0, bend)
    distance = (constant + variable) * math.hypot(x, z)
    # The section ends where it should, so nothing may change.
    assert variable * distance / distance - constant == pytest.approx(-0.03)
    assert (constant + variable) * distance / distance - constant == pytest.approx(variable)
    assert fabrikx.limited_section(robot.packed, 0, bend, distance) == (bend, pytest.approx(constant + variable))


def test_k22_2_30_needs_a_stretch_and_a_clamp():
    def printed(distance, sections):
        constant = np.float64(sum(s.length for s in sections))
        return (distance - constant) / np.float64(sum(s.stretch for s in sections))

    fixed = [ar.Section(0.05, 1.0)] * 2
    with np.errstate(divide="ignore", invalid="ignore"):
        assert not math.isfinite(printed(0.07, fixed))
    extensible = [ar.Section(0.05, 1.0, stretch=0.05)] * 2
    assert printed(0.5, extensible) > 1.0
    assert printed(0.05, extensible) < 0.0
    for sections in (fixed, extensible):
        robot = ar.Robot(sections)
        work = fabrikx.make_work(robot.dof, 2)
        for distance in (0.0, 0.05, 0.15, 0.5):
            work.target[2] = distance
            fabrikx.straight_start(arm_of(robot), work.target, work.q)
            assert robot.within_limits(work.q, 0.0)
    work.target[2] = 0.15
    fabrikx.straight_start(arm_of(robot), work.target, work.q)
    assert robot.tip_pose(work.q)[2, 3] == pytest.approx(0.15)


def test_k22_2_31_is_singular_at_pi():
    one = arm_of(ar.Robot([ar.Section(0.1, 2 * math.pi)]))

    def printed(bend):
        x, z = planar_tip(one.chain, 0, bend)
        alpha, chord = math.atan2(x, z), math.hypot(x, z)
        return chord * math.sin(bend - alpha) / math.sin(math.pi - bend), chord * math.sin(alpha) / math.sin(
            math.pi - bend
        )

    def ours(bend):
        x, z = planar_tip(one.chain, 0, bend)
        return section_inverse.tangent_lengths(bend, x, z, math.sin(bend), math.cos(bend), 0.5)

    for bend in (0.1, 1.0, 3.0):
        np.testing.assert_allclose(ours(bend), printed(bend), rtol=1e-12)
    assert printed(math.pi - 1e-9)[0] > 1e8
    assert printed(4.0)[0] < 0.0
    for bend in (math.pi - 1e-9, math.pi, 4.0):
        assert 0.0 <= min(ours(bend)) <= max(ours(bend)) < 1e3


def test_k22_2_33_holds_for_palindromes_only():
    robot = ar.load_robot("variable-curvature-1")
    one = arm_of(robot)
    row = one.rows[0]
    ratio = one.table[0, section_inverse.REST_RATIO]
    assert ratio == pytest.approx(0.268, abs=5e-4)
    x, z = planar_tip(one.chain, row, 1e-5)
    nearly = section_inverse.tangent_lengths(1e-5, x, z, math.sin(1e-5), math.cos(1e-5), ratio)
    at_rest = section_inverse.tangent_lengths(0.0, 0.0, 1.0, 0.0, 1.0, ratio)
    np.testing.assert_allclose(at_rest, nearly, atol=1e-9)
    np.testing.assert_allclose(at_rest, (0.732, 0.268), atol=5e-4)
    assert abs(at_rest[1] - 0.5) > 0.2
    # Section 3 reads the same from both ends.
    assert one.table[2, section_inverse.REST_RATIO] == pytest.approx(0.5)


@pytest.mark.parametrize("sections", [2, 3])
def test_k22_2_35_numbers_the_wrong_points(sections):
    # Key points P_1 ... P_2N+1: base, joint and end of each section. The tip is P_2N+1, its neighbour P_2N.
    robot = ar.Robot([ar.Section(0.1, 2.0)] * sections)
    work = fabrikx.make_work(robot.dof, sections)
    work.q[:] = np.tile([0.7, 0.4], sections)
    tip = fabrikx.place_robot(arm_of(robot), work)
    ends = robot.frames(work.q)[1:, :3, 3]
    points = np.vstack([np.zeros(3), *zip(work.joints, ends, strict=True)]).reshape(-1, 3)
    assert len(points) == 2 * sections + 1
    np.testing.assert_allclose(points[2 * sections], (tip[3], tip[7], tip[11]), atol=1e-15)
    assert np.linalg.norm(points[sections - 1] - points[2 * sections]) > 0.05
    # After the pull it is the last end that lies on the target, and the last joint that lies on the wanted tangent.
    work.target[:] = 0.03, 0.02, 0.1 * sections, 0.6, 0.0, 0.8
    fabrikx.forward_reaching(arm_of(robot), layout.AXIS, work)
    np.testing.assert_array_equal(work.ends[-1], work.target[:3])
    offset = work.ends[-1] - work.joints[-1]
    np.testing.assert_allclose(offset / np.linalg.norm(offset), work.target[3:], atol=1e-15)


def test_k22_2_39_has_no_direction_between_coincident_points():
    points = np.array([[0.1, 0.2, 0.3]])
    difference = points[0] - points[0]
    with np.errstate(invalid="ignore"):
        assert np.isnan(difference / np.linalg.norm(difference)).all()
    assert fabrikx.unit_towards(points, 0, (0.1, 0.2, 0.3), (0.0, 0.6, -0.8)) == (0.0, 0.6, -0.8)
    assert fabrikx.unit_towards(points, 0, (0.1, 0.2, 0.4), (0.0, 0.6, -0.8)) == pytest.approx((0.0, 0.0, -1.0))


def test_k22a_chord_counts_one_too_far():
    # H_i = |P_i+1 - P_i| is the chord between i and i+1; the pull asks for H_i+1 there, the chord of the next section.
    robot = ar.Robot([ar.Section(0.1, 2.0), ar.Section(0.2, 2.0), ar.Section(0.3, 2.0)])
    line = chords.Line(np.zeros((4, 3)), np.zeros(3))
    points = line.points
    chords.place_chords(arm_of(robot), np.zeros(6), line)
    np.testing.assert_allclose(line.chords, (0.1, 0.2, 0.3))
    printed = [np.linalg.norm(points[i + 1] - points[i]) for i in range(3)]
    between_1_and_2 = np.linalg.norm(points[2] - points[1])
    assert printed[1 + 1] == pytest.approx(0.3)
    assert between_1_and_2 == pytest.approx(0.2)
    chords.forward_reaching(np.array([0.2, 0.1, 0.4, 0.0, 0.0, 1.0]), line)
    np.testing.assert_allclose(np.linalg.norm(np.diff(points, axis=0), axis=1), (0.1, 0.2, 0.3))


def test_k22a_chord_bend_needs_the_tangent_before():
    # The section is to reach a new point. Its own end tangent still belongs to the old bend.
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    old, wanted = frame(0.2, 0.0, 0.1), frame(1.0, 0.0, 0.1)
    chord = wanted[:3, 3] / np.linalg.norm(wanted[:3, 3])
    assert abs(2 * np.arccos(old[:3, 2] @ chord) - 1.0) > 0.3
    line, q = chords.Line(np.zeros((2, 3)), np.zeros(1)), np.zeros(2)
    line.points[1] = wanted[:3, 3]
    chords.backward_reaching(arm_of(robot), 1e-4, q, line)
    np.testing.assert_allclose(q, (1.0, 0.0), atol=1e-12)


def last_chord_after_turn(part):
    robot = ar.Robot([ar.Section(0.1, 2.0)] * 2)
    q = np.array([0.5, 0.0, 0.5, 0.0])
    line = chords.Line(np.zeros((3, 3)), np.zeros(2))
    points = line.points
    tip = chords.place_chords(arm_of(robot), q, line)
    target = np.zeros(6)
    # The tip looks 1 rad from z in the plane y = 0, the target 1.6 rad.
    target[3:] = math.sin(1.6), 0.0, math.cos(1.6)
    before = points[2] - points[1]
    chords.rotate_points(tip, target, part, 1, points)
    after = points[2] - points[1]
    return math.atan2(after[0], after[2]) - math.atan2(before[0], before[2])


def test_k22a_turn_goes_away():
    # By 0.6 / A towards the target about Z_Q x Z_t; about the printed Z_t x Z_Q it is the same turn backwards.
    assert last_chord_after_turn(1 / 3) == pytest.approx(0.2)
    assert last_chord_after_turn(-1 / 3) == pytest.approx(-0.2)


def chord_success(A, on_arrival=False):
    robot = ar.Robot([ar.Section(0.1, math.pi / 2)] * 3)
    poses = robot.tip_pose(robot.sample(30, seed=1))
    problem = Problem(
        robot, Targets.from_poses(poses, "axis"), None, 1e-6, 1e-3, 150, math.inf, 0, "", 1, np.empty((0, 6))
    )
    settings = chords.Settings(1e-4, A, 25, on_arrival, full=False, position_period=0)
    outcome = run_kernel(problem, chords.chords, arm_of(robot), settings, max_steps=150)
    return (outcome.status == layout.REACHED).mean()


@pytest.mark.compiled
def test_k22a_turn_decides_the_success():
    corrected = chord_success(10.0)
    assert corrected > 0.6
    assert chord_success(-10.0) < 0.1
    # The text turns only after the tip has arrived.
    assert chord_success(10.0, on_arrival=True) < corrected


def test_k22_1_14_redundancy_has_the_other_sign():
    robot = ar.load_robot("fixed-sections")
    coordinates, task = robot.dof, 3
    assert task - coordinates < 1  # the printed r = n - m, with r >= 1
    # The spare degrees move the robot while its tip stays: as many as the Jacobian's kernel has dimensions.
    jacobian = robot.jacobian(robot.sample(1, seed=0)[0])[:3]
    assert coordinates - np.linalg.matrix_rank(jacobian) == coordinates - task == 3


def test_k22_table_3_4_has_the_mean_of_table_3_3():
    table_3_3, table_3_4 = (100, 99.0, 96.6, 97.7), (98.1, 98.0, 96.0, 89.9)
    assert round(np.mean(table_3_3), 1) == 98.3
    assert round(np.mean(table_3_4), 1) == 95.5


@pytest.mark.compiled
def test_k22_short_sections_stay_short():
    robot = ar.load_robot("telescopic-sections")
    poses = robot.tip_pose(robot.sample(300, seed=0))
    start = robot.neutral.copy()
    start[2::3] = 0.02 * robot.upper[2::3]
    call = {"position_tol": 1e-5, "angle_tol": 1e-3, "start": start}
    published = ar.solve_batch(robot, poses[:, :3, 3], poses[:, :3, 2], method="fabrikx", **call)
    ours = ar.solve_batch(robot, poses[:, :3, 3], poses[:, :3, 2], **call)
    assert ours.reached.all()
    missed = published.q[~published.reached]
    assert len(missed) > 60
    # Missed targets end with a section that is nearly retracted.
    assert np.median(missed[:, 2::3].min(axis=1)) < 0.2 * robot.upper[2]
