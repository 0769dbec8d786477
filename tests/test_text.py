import math

import pytest

from arcreach import _text


@pytest.mark.parametrize(
    ("metres", "text"),
    [
        (0.0, "0 mm"),
        (174.2, "174 m"),
        (1739.9, "1.74 km"),
        (1e12, "1000000000 km"),
        (0.15, "150 mm"),
        (0.99996e-3, "1 mm"),
        (1e-6, "1 µm"),
        (3.2e-7, "320 nm"),
        (-0.005, "-5 mm"),
        (1e-9, "1 nm"),
        (9.9e-10, "below 1 nm"),
        (-1e-17, "below 1 nm"),
        (math.inf, "infinite"),
        (math.nan, "nan mm"),
    ],
)
def test_lengths(metres, text):
    assert _text.length(metres) == text


@pytest.mark.parametrize(
    ("radians", "text"),
    [(0.0, "0°"), (math.pi, "180°"), (0.02, "1.15°"), (1e-3, "1 mrad"), (-4e-7, "-400 nrad"), (1e9, "57300000000°")],
)
def test_angles(radians, text):
    assert _text.angle(radians) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 s"), (5.4e-6, "5.4 µs"), (1e-9, "1 ns"), (0.0123, "12.3 ms"), (75.0, "75 s"), (130.4, "2 min 10 s")],
)
def test_seconds(seconds, text):
    assert _text.seconds(seconds) == text


def test_no_number_has_an_exponent():
    for power in range(-12, 13):
        for digits in (1, 3, 6):
            for value in (0.99999999, 1.0, 9.9949, 123.456789):
                text = _text.number(value * 10.0**power, digits)
                assert "e" not in text
                assert float(text) == pytest.approx(value * 10.0**power, rel=10.0 ** (1 - digits))


def test_counts_and_coordinates():
    assert _text.count(1, "start") == "1 start"
    assert _text.count(0, "start") == "0 starts"
    assert _text.count(2, "branch", "branches") == "2 branches"
    assert _text.coordinate(math.radians(30.0), "angle") == "30°"
    assert _text.coordinate(-1e-17, "angle") == "0°"
    assert _text.coordinate(math.radians(-3.34e-7), "angle") == "0°"
    assert _text.coordinate(0.0333, "length") == "33.3 mm"
    assert _text.coordinate(math.inf, "length") == "no limit"


def test_angle_errors_have_one_family_of_units():
    assert _text.errors(1e-3, 1.37e-3) == "1 mm, 1.37 mrad"
    assert _text.errors(1e-3, 0.0293) == "1 mm, 29.3 mrad"
    assert _text.errors(1e-3, 1.05) == "1 mm, 1.05 rad"
    assert _text.errors(1e-3, 0.0) == "1 mm"


def test_a_column_is_aligned_at_the_decimal_point():
    assert _text.aligned([2.374481, -1.158694, 0.4280561]) == ["2.37448", "-1.15869", "0.42806"]
    assert _text.aligned([3.0, -1.5, -0.0]) == ["3.0", "-1.5", "0.0"]
    assert _text.aligned([0.0, -1e-12]) == ["0", "0"]
    assert _text.aligned([123456.7, 1.0]) == ["123457", "1"]
    assert _text.aligned([]) == []
