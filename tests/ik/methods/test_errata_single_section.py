"""The errata of docs/errata.md that concern one section: the printed form fails, what arcreach does is right."""

import math
from dataclasses import replace

import numpy as np
import pytest

import arcreach as ar
from arcreach.ik.methods import single_section  # noqa: F401
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve
from arcreach.ik.target import Target
from arcreach.kernels.chain.section_inverse import angle_of_chord, critical_bend
from arcreach.kernels.methods.single_section import first_guess, length_excess, travel_step

TOLERANCE = 1e-6
WEIGHTS = {"length_weights": (1, 2, 4), "bend_weights": (3, 2, 1)}
EXTENSIBLE = ar.Section(0.04, math.pi, stretch=0.06, **WEIGHTS)
FIXED = ar.Section(0.08, math.pi, **WEIGHTS)
TELESCOPIC = ar.Section(0.0, math.pi, stretch=0.09, **WEIGHTS)


def planar(section, bend, length):
    """The tip (x, z) in the bending plane for any length, also one outside the limits."""
    unit = ar.Robot([replace(section, length=1.0, stretch=0.0, bend_max=2 * math.pi)])
    return unit.tip_pose([bend, 0.0])[[0, 2], 3] * length


def printed_alpha(x, z):
    """Equation 2.10 as it stands."""
    return math.acos(z / math.hypot(x, z))


def printed_length(distance, bend, constant):
    """Equation 2.12 as it stands: the variable part."""
    return distance * bend / (2 * math.sin(bend / 2)) - constant


def published(section, target, length_rule, goes_on=True, recomputes=True, steps=60):
    """Steps 2 to 9 and 16 for a base that does not travel; returns bend and variable part of the length.

    `length_rule(distance, reached, variable)` is equation 2.15; `goes_on` sends step 9 to step 16, and not to the end;
    `recomputes` sends step 16 to step 5, and not to step 7.
    """
    distance = math.hypot(*target)
    alpha = printed_alpha(*target)
    bend = 2 * alpha
    variable = printed_length(distance, bend, section.length)
    tip = planar(section, bend, section.length + variable)
    now = printed_alpha(*tip)
    for _ in range(steps):
        miss, angle = math.dist(target, tip), abs(alpha - now)
        bend = bend / now * alpha
        variable = length_rule(distance, math.hypot(*tip), variable)
        if not goes_on or (miss <= TOLERANCE and angle <= 1e-3) or bend > 2 * math.pi:
            break
        if recomputes:
            tip = planar(section, bend, section.length + variable)
            now = printed_alpha(*tip)
    return bend, variable


def success(section, length_rule, **flow):
    """How many of the targets are reached."""
    robot = ar.Robot([section])
    q = robot.sample(60, seed=1)
    q[:, 1] = 0.0
    targets = robot.tip_pose(q)[:, [0, 2], 3]
    reached = 0
    for target in targets:
        bend, variable = published(section, target, length_rule, **flow)
        length = section.length + min(max(variable, 0.0), section.stretch)
        reached += math.dist(planar(section, min(bend, math.pi), length), target) <= TOLERANCE
    return reached / len(targets)


def printed_2_15(constant):
    return lambda distance, reached, variable: variable * distance / reached - constant


def corrected_2_15(constant):
    return lambda distance, reached, variable: (constant + variable) * distance / reached - constant


def test_k22_2_10_loses_small_angles():
    with pytest.raises(ZeroDivisionError):
        printed_alpha(0.0, 0.0)
    assert printed_alpha(1e-9, 0.1) == 0.0
    assert angle_of_chord(1e-9, 0.1) == pytest.approx(1e-8, rel=1e-15)
    assert angle_of_chord(0.0, 0.0) == 0.0
    # A chord that has turned past pi: the printed angle falls again.
    assert printed_alpha(-0.01, -0.1) < math.pi < angle_of_chord(-0.01, -0.1)


def test_k22_2_12_divides_by_zero():
    with pytest.raises(ZeroDivisionError):
        printed_length(0.1, 0.0, 0.04)
    # The sine of pi is not quite zero in floating point: the length is astronomical instead.
    assert printed_length(0.1, 2 * math.pi, 0.04) > 1e12
    assert first_guess(0.1, 0.0, math.pi) == (0.0, 0.1)
    # At the full turn, where any length would do, theta_crit of this section comes first.
    curling = ar.Robot([ar.Section(0.1, 1.0, length_weights=(1, 2, 4), bend_weights=(1, 2, 10))])
    critical = critical_bend(curling.packed, 0)
    bend, length = first_guess(0.1, math.pi, critical)
    assert bend == critical
    assert 0.1 < length < 1.0
    for section in (FIXED, TELESCOPIC, EXTENSIBLE):
        robot = ar.Robot([section])
        straight = solve(robot, Target([0, 0, section.length + section.stretch]), "single-section", variant="iterative")
        assert straight.reached
        behind = solve(robot, Target([0, 0, -0.05]), "single-section", variant="iterative")
        assert np.isfinite(behind.q).all()


def test_k22_2_15_leaves_the_constant_part_out():
    assert success(EXTENSIBLE, printed_2_15(EXTENSIBLE.length)) <= 0.02
    # A fixed section has only the constant part: the printed rule multiplies zero.
    assert printed_2_15(FIXED.length)(0.07, 0.08, 0.0) == -FIXED.length
    for section in (EXTENSIBLE, TELESCOPIC):
        assert success(section, corrected_2_15(section.length)) == 1.0
    # Without a constant part both are the same.
    assert success(TELESCOPIC, printed_2_15(0.0)) == 1.0


def test_k22_steps_9_and_16_do_not_iterate():
    rule = corrected_2_15(EXTENSIBLE.length)
    assert success(EXTENSIBLE, rule, goes_on=False) <= 0.1
    assert success(EXTENSIBLE, rule, recomputes=False) <= 0.1
    assert success(EXTENSIBLE, rule) == 1.0


def printed_excess(section, distance, variable):
    """Equations 2.18 and 2.19 as they stand."""
    variable = variable if 0 < variable < section.stretch else section.stretch
    return distance * (1 - (section.length + section.stretch) / (section.length + variable))


def test_k22_2_19_is_inverted():
    section = EXTENSIBLE
    longest = section.length + section.stretch
    # The straight section and a target 30 mm beyond its tip, 20 mm before its shortest, and one it reaches.
    far, near, fine = longest + 0.03, section.length - 0.02, section.length + 0.03
    assert printed_excess(section, far, far - section.length) == 0.0
    assert printed_excess(section, near, near - section.length) == 0.0
    assert abs(printed_excess(section, fine, fine - section.length)) > 0.02
    assert length_excess(far, far, section.length, longest) == pytest.approx(0.03)
    assert length_excess(near, near, section.length, longest) == pytest.approx(-0.02)
    assert length_excess(fine, fine, section.length, longest) == 0.0


def printed_step(excess, angle, largest):
    """Equations 2.20 and 2.21 as they stand."""
    step = excess / math.cos(angle)
    return math.copysign(largest, step) if largest < step else step


def test_k22_2_21_bounds_one_sign_only():
    largest = 0.02
    assert printed_step(0.5, 0.1, largest) == largest
    assert printed_step(-0.5, 0.1, largest) < -0.4
    # Near a right angle an excess of a millimetre moves the base by kilometres.
    assert printed_step(-1e-3, math.pi / 2 - 1e-8, largest) < -1e4
    for excess in (-0.5, -1e-3, 1e-3, 0.5):
        for angle in (0.0, 0.1, math.pi / 2 - 1e-8, math.pi / 2, math.pi / 2 + 1e-8, math.pi):
            assert abs(travel_step(excess, math.cos(angle), largest)) <= largest
        assert travel_step(excess, 0.0, largest) == math.copysign(largest, excess)
    assert travel_step(0.01, math.cos(0.1), largest) == pytest.approx(0.01 / math.cos(0.1))


def test_k22_step_11_ignores_a_target_that_is_too_near():
    excess = length_excess(0.02, 0.02, 0.04, 0.1)
    assert excess < TOLERANCE  # printed: done
    assert abs(excess) > TOLERANCE
    robot = ar.Robot([ar.Prismatic(-0.05, 0.05), EXTENSIBLE])
    for variant in ("iterative", "newton"):
        found = solve(robot, Target([0, 0, 0.02]), "single-section", variant=variant)
        assert found.reached
        assert found.q[0] == pytest.approx(-0.02, abs=1e-6)


def clipped_in_turn(section, bend, variable, travel, travel_max):
    """Equations 2.24 to 2.27 as they stand."""
    variable = min(max(variable, 0.0), section.stretch)
    local = variable * section.bend_max / section.stretch if section.stretch else section.bend_max
    return min(bend, local), section.length + variable, min(max(travel, 0.0), travel_max)


def test_k22_2_24_clips_without_solving_again():
    section = EXTENSIBLE
    # Reached with the base drawn back by 30 mm. Without travel the length is within its range, so the printed rules see
    # no need to travel, but the bend is more than this length allows.
    robot = ar.Robot([ar.Prismatic(-0.05, 0.05), section])
    target = planar(section, 1.2, 0.065) - (0.0, 0.03)
    bend, variable = published(section, target, corrected_2_15(section.length))
    assert 0 < variable < section.stretch
    assert bend > section.bend_max * variable / section.stretch
    bend, length, travel = clipped_in_turn(section, bend, variable, 0.0, 0.05)
    assert math.dist(planar(section, bend, length), target - np.array([0.0, travel])) > 5e-3
    for variant in ("newton", "iterative"):
        found = solve(robot, Target([target[0], 0, target[1]]), "single-section", variant=variant)
        assert found.reached
        assert robot.within_limits(found.q)
    # Out of reach without travel: clipping in turn ends farther away than the nearest pose.
    still = ar.Robot([section])
    target = planar(section, 2.5, section.length + 0.1 * section.stretch)
    bend, variable = published(section, target, corrected_2_15(section.length))
    bend, length, _ = clipped_in_turn(section, bend, variable, 0.0, 0.0)
    found = solve(still, Target([target[0], 0, target[1]]), "single-section")
    assert found.status == Status.OUT_OF_REACH
    assert found.position_error < 0.8 * math.dist(planar(section, bend, length), target)
