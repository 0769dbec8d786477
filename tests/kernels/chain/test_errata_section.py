"""Errata of sections in docs/errata.md: the printed form fails, the corrected one is right."""

import math

import numpy as np
import pytest
from tests.reference import arc, rot_y, rot_z, shift

import arcreach as ar


def printed_2_1(bend, length):
    """Equation 2.1 as printed."""
    matrix = rot_y(bend)
    matrix[0, 3] = length * (1 - np.cos(bend)) / bend
    matrix[2, 3] = length * np.sin(bend) / bend
    return matrix


def test_k22_2_1_is_undefined_when_straight():
    with np.errstate(invalid="ignore"):
        assert np.isnan(printed_2_1(np.float64(0.0), 0.1)[:3, 3]).any()
    # Near zero the printed quotient has lost all digits.
    bend = 1e-9
    robot = ar.Robot([ar.Section(0.1, 1.0)])
    exact = 0.1 * bend / 2
    assert abs(printed_2_1(bend, 0.1)[0, 3] - exact) > 0.9 * exact
    assert robot.tip_pose([bend, 0.0])[0, 3] == pytest.approx(exact, rel=1e-15)
    np.testing.assert_allclose(robot.tip_pose([0.0, 0.0]), shift((0, 0, 0.1)), atol=1e-17)
    assert np.isfinite(robot.jacobian([0.0, 0.0])).all()


def test_k22_2_5_needs_a_stretch():
    def printed_limit(section, length):
        return section.bend_max * np.float64(length - section.length) / np.float64(section.stretch)

    fixed = ar.Section(0.1, 1.0)
    with np.errstate(invalid="ignore"):
        assert math.isnan(printed_limit(fixed, 0.1))
    assert ar.Robot([fixed]).within_limits([1.0, 0.0])
    extensible = ar.Section(0.1, 1.0, stretch=0.1)
    assert printed_limit(extensible, 0.15) == pytest.approx(0.5)
    assert ar.Robot([extensible]).within_limits([0.5, 0.0, 0.15])
    assert not ar.Robot([extensible]).within_limits([0.51, 0.0, 0.15])


def printed_2_6(bend, length, phi, omega):
    """Equation 2.6 for one sub-arc, its base left out."""
    return rot_z(phi) @ rot_z(omega) @ arc(bend, length) @ rot_z(-omega)


def test_k22_2_6_turns_twice():
    bend, length, direction = 1.0, 0.1, 0.6
    towards = lambda pose: math.atan2(pose[1, 3], pose[0, 3])  # noqa: E731
    # 2.9 sets both angles to the direction of the target: the tip ends up at twice that direction.
    assert towards(printed_2_6(bend, length, direction, direction)) == pytest.approx(2 * direction)
    plain = ar.Robot([ar.Section(length, 2.0)]).tip_pose([bend, direction])
    twisting = ar.Robot([ar.Section(length, 2.0, twist=True)]).tip_pose([bend, direction])
    assert towards(plain) == pytest.approx(direction)
    assert towards(twisting) == pytest.approx(direction)
    np.testing.assert_allclose(plain, printed_2_6(bend, length, 0.0, direction), atol=1e-16)
    np.testing.assert_allclose(twisting, printed_2_6(bend, length, direction, 0.0), atol=1e-16)


def test_k22_2_7_counts_the_base_twice():
    base = shift((0, 0, 0.2)) @ rot_y(0.3)
    body = rot_z(0.4) @ arc(1.0, 0.1) @ rot_z(-0.4)
    # T_0 of 2.7 and T_{1,0} inside B_1 of 2.6 are the same frame.
    printed = base @ (base @ body)
    robot = ar.Robot([ar.Link.from_matrix(base), ar.Section(0.1, 2.0)])
    np.testing.assert_allclose(robot.tip_pose([1.0, 0.4]), base @ body, atol=1e-15)
    assert np.linalg.norm(printed[:3, 3] - (base @ body)[:3, 3]) > 0.1


def test_k22_2_41_is_not_the_middle():
    robot = ar.Robot([ar.Section(0.1, 3.0)])
    bend = 2.0
    middle = robot.backbone([bend, 0.0], points=3)[1]
    printed = 2 * 0.1 * np.array([1 - math.cos(bend / 4), 0.0, math.sin(bend / 4)]) / bend
    right = 0.1 * np.array([1 - math.cos(bend / 2), 0.0, math.sin(bend / 2)]) / bend
    np.testing.assert_allclose(middle, right, atol=1e-16)
    assert np.linalg.norm(printed - middle) > 0.01
