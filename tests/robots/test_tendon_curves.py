"""Points along tendons against their lengths, and the discs they pass."""

import dataclasses

import numpy as np
import pytest
from tests.robots.test_actuation import driven_robot, random_robot

import arcreach as ar
from arcreach.robots.tendon_curves import dashes, discs_of, tendon_points, with_cores


def lengths(robot, q, step):
    return np.array([np.linalg.norm(np.diff(curve, axis=0), axis=1).sum() for curve in tendon_points(robot, q, step)])


@pytest.mark.parametrize("seed", range(8))
def test_the_polygons_of_the_points_tend_to_the_lengths(seed):
    robot = random_robot(np.random.default_rng(seed))
    q = robot.sample(1, seed=seed)[0]
    errors = [lengths(robot, robot.neutral, step) - lengths(robot, q, step) - robot.pulls(q) for step in (0.1, 0.02)]
    coarse, fine = np.abs(errors) / robot.reach
    assert (fine < 5e-5).all()
    assert (fine <= 0.1 * coarse + 1e-12).all()


def test_between_discs_the_points_are_exact():
    robot = driven_robot(discs=5)
    q = robot.sample(1, seed=3)[0]
    found = lengths(robot, robot.neutral, 0.1) - lengths(robot, q, 0.1)
    assert np.allclose(found, robot.pulls(q), rtol=0, atol=1e-15)


@pytest.mark.parametrize("weights", [(0, 1, 0), (1, 0, 1), (1, 0, 0)])
def test_points_at_discs_are_exact_where_a_section_bends_at_points(weights):
    tendons = [ar.Tendon(0.005, angle, discs=4) for angle in (0.0, 2.0, 4.0)]
    robot = ar.Robot([ar.Section(0.05, 1.5, length_weights=weights, bend_weights=(1, 2, 3), tendons=tendons)])
    q = np.array([1.2, 0.3])
    found = lengths(robot, robot.neutral, 0.1) - lengths(robot, q, 0.1)
    assert np.allclose(found, robot.pulls(q), rtol=0, atol=1e-15)


def test_points_lie_around_the_backbone_and_end_at_their_sections():
    robot = driven_robot(stretch=0.02)
    q = robot.sample(1, seed=1)[0]
    curves, frames = tendon_points(robot, q), robot.frames(q)
    assert len(curves) == 9
    for j, curve in enumerate(curves):
        tendon = robot.elements[j // 3].tendons[j % 3]
        hole = 0.0045 * np.array([np.cos(tendon.angle), np.sin(tendon.angle), 0.0])
        end = frames[j // 3 + 1]
        assert np.allclose(curve[-1], end[:3, :3] @ hole + end[:3, 3], atol=1e-12)
        assert curve[0] == pytest.approx(hole)
        assert len(curve) == len(tendon_points(robot, robot.neutral)[j])


def test_discs_stand_at_equal_steps_and_at_the_ends_of_sections():
    robot = driven_robot(discs=4)
    q = robot.sample(1, seed=2)[0]
    discs, frames = discs_of(robot, q), robot.frames(q)
    assert len(discs.poses) == 13
    assert np.allclose(discs.poses[::4], frames, atol=1e-12)
    assert np.allclose(discs.radii, 1.2 * 0.0045)
    assert discs.elements.tolist() == [0] * 5 + [1] * 4 + [2] * 4
    # Holes of discs are the points of tendons.
    hole = discs.poses[1, :3, :3] @ (0.0045, 0.0, 0.0) + discs.poses[1, :3, 3]
    assert np.allclose(tendon_points(robot, q)[0][1], hole, atol=1e-12)
    # Tendons in channels have no discs between the ends.
    assert len(discs_of(driven_robot(), q).poses) == 4
    assert len(discs_of(ar.load_robot("three-section"), np.zeros(6)).poses) == 0


def test_cores_are_thinner_than_what_is_around_them():
    robot = driven_robot()
    thick = ar.Robot([dataclasses.replace(section, radius=0.006) for section in robot.elements])
    assert [section.radius for section in with_cores(thick).elements] == pytest.approx([0.4 * 0.0045] * 3)
    assert discs_of(thick, thick.neutral).radii == pytest.approx(np.full(4, 0.006))
    bare = ar.load_robot("three-section")
    assert with_cores(bare) == bare


def test_dashes_cover_half_of_a_line():
    line = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1.0)])
    pieces = dashes(line, 0.125)
    assert np.linalg.norm(pieces[:, 1] - pieces[:, 0], axis=1) == pytest.approx(np.full(8, 0.125))
    assert np.allclose(pieces[1], [(0, 0, 0.25), (0, 0, 0.375)])
    with pytest.raises(ar.ConfigurationError, match="one configuration"):
        tendon_points(driven_robot(), np.zeros((2, 6)))
