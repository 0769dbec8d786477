"""The chord and the tangents of one section, as the FABRIK kernels use them."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.ik.fabrik_chain import arm_of
from arcreach.kernels.chain import section_inverse

RIGHT = math.radians(90)
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
