"""Each erratum of [FRD] in docs/errata.md: the printed form fails, what arcreach does is right."""

import math

import numpy as np
import pytest
from tests.ik.methods.test_ccd import LOOSE
from tests.ik.methods.test_finite_rotation import claims, errors

import arcreach as ar


def by(variant, robot, target, **call):
    return ar.solve(robot, target, "finite-rotation", variant=variant, **call)


def traced(robot, count, variant, **call):
    """Solutions with traces, of random whole poses from random starts."""
    poses, starts = robot.tip_pose(robot.sample(count, 11)), robot.sample(count, 12)
    for pose, start in zip(poses, starts, strict=True):
        yield by(variant, robot, ar.Target.from_pose(pose), start=start, trace=True, **LOOSE, **call)


def drift(solution):
    """By how much the vectors of a method and the forward kinematics of its q disagree about the tip."""
    return np.abs(solution.trace.columns["distance"] - solution.trace.position_error).max()


@pytest.mark.compiled
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_frd_drift_of_turned_vectors(precision):
    robot = ar.load_robot("panda")
    assert max(drift(found) for found in traced(robot, 30, "published", precision=precision)) > 0.01
    assert max(drift(found) for found in traced(robot, 30, "corrected", precision=precision)) < 1e-6


@pytest.mark.compiled
def test_frd_drift_claims_what_is_false():
    robot = ar.load_robot("panda")
    for variant, some in (("published", True), ("corrected", False)):
        claimed, Q, poses = claims(robot, 400, 11, variant, **LOOSE)
        distance, angle = errors(robot, Q, poses)
        false = claimed & ((distance > 1e-3) | (angle > 1e-2))
        assert claimed.sum() > 100
        assert false.any() == some


def swing(lower, upper):
    """An arm of length 1 that turns about z."""
    return ar.Robot([ar.Revolute((0, 0, 1), lower, upper), ar.Link((1, 0, 0))])


def heading(angle):
    return ar.Target([math.cos(angle), math.sin(angle), 0.0])


def test_frd_4_clamps_a_full_turn_away():
    robot = swing(math.radians(-170), math.radians(170))
    # From -150 degrees the target at 165 degrees is 45 degrees away, through the gap that the limits leave.
    target, start = heading(math.radians(165)), [math.radians(-150)]
    printed = by("published", robot, target, start=start)
    np.testing.assert_allclose(np.degrees(printed.q), [-170])
    assert printed.position_error > 0.4
    assert by("corrected", robot, target, start=start).position_error < 1e-12


def test_frd_4_clamps_to_the_wrong_end():
    robot = swing(math.radians(-120), math.radians(10))
    # 175 degrees is 65 degrees beyond the lower end and 165 beyond the upper one, where the clamp stops.
    printed = by("published", robot, heading(math.radians(175)), start=[0.0])
    right = by("corrected", robot, heading(math.radians(175)), start=[0.0])
    np.testing.assert_allclose(np.degrees([printed.q[0], right.q[0]]), [10, -120])
    assert right.position_error < 0.6 * printed.position_error


def test_frd_1_stays_at_the_maximum():
    robot = swing(-math.pi, math.pi)
    printed = by("published", robot, heading(math.pi), start=[0.0])
    assert printed.position_error == pytest.approx(2.0)
    assert by("corrected", robot, heading(math.pi), start=[0.0]).position_error < 1e-12


def test_frd_prismatic_goes_the_wrong_way():
    # The stroke is along the link. Together they measure 0.6 and must grow to 0.8; they are made 0.4.
    robot = ar.Robot([ar.Prismatic(0.0, 1.0, (1, 0, 0)), ar.Link((0.5, 0, 0))])
    target = ar.Target([0.8, 0.0, 0.0])
    printed = by("published", robot, target, start=[0.1], trace=True, max_iterations=1)
    # The vectors say that the tip went away, and every further step goes on from there.
    assert printed.trace.columns["distance"][0] == pytest.approx(0.2)
    assert printed.trace.columns["distance"][1] > 0.2
    assert printed.trace.position_error[1] > 0.1
    right = by("corrected", robot, target, start=[0.1], trace=True)
    np.testing.assert_allclose(right.q, [0.3], atol=1e-15)
    assert right.iterations == 1


def test_frd_prismatic_changes_a_length_that_is_not_along_the_axis():
    # The link is at right angles to the stroke: made shorter or longer, it does not move the tip along the axis.
    robot = ar.Robot([ar.Prismatic(-1.0, 1.0, (0, 0, 1)), ar.Link((0.5, 0, 0))])
    target = ar.Target([0.5, 0.0, 0.3])
    printed = by("published", robot, target, start=[0.0], trace=True, max_iterations=1)
    assert printed.trace.columns["distance"][1] > 0.3
    assert not printed.reached
    assert by("corrected", robot, target, start=[0.0]).position_error < 1e-15


def test_frd_tool_has_no_long_axis():
    # The last link of a PUMA 560 ends where its last joint is, that of an iiwa lies on the last axis.
    for name, has_length in (("puma-560", False), ("iiwa-14", True)):
        robot = ar.load_robot(name)
        frames = robot.frames(robot.sample(1, 0)[0])
        last = max(i for i, element in enumerate(robot.elements) if isinstance(element, ar.Revolute))
        link = frames[-1][:3, 3] - frames[last][:3, 3]
        axis = frames[last][:3, :3] @ robot.elements[last].axis
        # Without a length there is no long axis; along the joint's axis there is no cross axis.
        assert (np.linalg.norm(link) > 0.01) == has_length
        assert np.linalg.norm(np.cross(link, axis)) < 1e-12


@pytest.mark.compiled
def test_frd_statement_4_is_not_how_it_converges():
    robot = ar.load_robot("ur5")
    monotone = []
    for found in traced(robot, 200, "corrected"):
        if found.reached:
            steps = [np.diff(column) for column in found.trace.columns.values()]
            # Below the tolerance an objective is left alone and may be moved by the others.
            monotone.append(all((step <= 1e-9).all() for step in steps))
    assert len(monotone) > 100
    assert np.mean(monotone) < 0.2


@pytest.mark.compiled
def test_frd_statement_4_needs_a_cap():
    # A pose that exists and is not found: thousands of steps bring nothing.
    robot = ar.load_robot("ur5")
    found = [one for one in traced(robot, 60, "corrected") if not one.reached]
    assert found
    assert all(np.isfinite(one.q).all() and one.iterations >= 100 for one in found)
