import math

import mpmath
import numpy as np
import pytest

from arcreach.kernels.math.trigonometry import (
    LARGEST_ANGLE,
    nearest_integer,
    sinc_derivatives,
    sinc_slope,
    sincos,
    sincos_reduced,
)

QUARTERS = [k * math.pi / 2 + d for k in range(-9, 10) for d in (0.0, 1e-300, 1e-9, -1e-9, 1e-3, -1e-3)]


@pytest.mark.parametrize("function", [sincos, sincos_reduced])
def test_sincos_is_within_one_unit_in_the_last_place_of_one(function):
    rng = np.random.default_rng(0)
    angles = np.concatenate([QUARTERS, rng.uniform(-7, 7, 2000), rng.uniform(-1e6, 1e6, 2000)])
    for angle in angles:
        s, c = function(angle)
        assert abs(s - math.sin(angle)) <= 2.3e-16
        assert abs(c - math.cos(angle)) <= 2.3e-16


def test_sincos_is_exact_at_zero_and_keeps_the_sign_of_tiny_angles():
    assert sincos(0.0) == (0.0, 1.0)
    for tiny in (1e-9, -1e-9, 5e-324, -1e-300):
        assert sincos(tiny) == (tiny, 1.0)


def test_sincos_sees_the_true_distance_from_pi():
    # math.pi is not pi: its sine is the distance, to all digits.
    assert sincos(math.pi)[0] == pytest.approx(1.2246467991473532e-16, rel=1e-12)
    assert sincos(2 * math.pi)[0] == pytest.approx(-2.4492935982947064e-16, rel=1e-12)


def test_sincos_of_huge_angles_falls_back_to_the_platform():
    for angle in (LARGEST_ANGLE * 1.01, 1e15, -1e300):
        assert sincos(angle) == (math.sin(angle), math.cos(angle))


def test_nearest_integer_rounds_half_to_even():
    values = [0.4, 0.5, 0.6, 1.5, 2.5, -0.4, -0.6, -1.5, 1e9 + 0.3]
    assert [nearest_integer(x) for x in values] == [round(x) for x in values]


def slope_by_mpmath(u):
    with mpmath.workdps(60):
        x = mpmath.mpf(u)
        return float((mpmath.cos(x) - mpmath.sin(x) / x) / x)


@pytest.mark.parametrize("u", [1e-300, 1e-9, 1e-3, 0.0999999, 0.1, 0.1000001, 0.5, 1.0, math.pi / 2, math.pi, 6.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_sinc_slope_on_both_sides_of_its_switch(u, sign):
    assert sinc_slope(sign * u) == pytest.approx(sign * slope_by_mpmath(u), rel=1e-13)


def test_sinc_slope_at_zero():
    assert sinc_slope(0.0) == 0.0


@pytest.mark.parametrize("u", [1e-9, 1e-3, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, math.pi / 2, math.pi, 6.0])
def test_derivatives_of_sinc_on_both_sides_of_their_switch(u):
    with mpmath.workdps(60):
        x = mpmath.sqrt(mpmath.mpf(u * u))
        slope = (mpmath.cos(x) - mpmath.sin(x) / x) / x**2
        expected = [mpmath.sin(x) / x, slope, -(3 * slope + mpmath.sin(x) / x) / x**2]
    np.testing.assert_allclose(sinc_derivatives(u * u), np.array(expected, dtype=float), rtol=1e-13, atol=1e-16)


def test_derivatives_of_sinc_at_zero():
    assert sinc_derivatives(0.0) == (1.0, -1 / 3, 1 / 15)
