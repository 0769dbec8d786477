import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcreach.errors import FileError
from arcreach.files.units import parse


@pytest.mark.parametrize(
    ("text", "metres"),
    [
        ("33.3 mm", 0.0333),
        ("33.3mm", 0.0333),
        (" 5 cm ", 0.05),
        ("2 m", 2.0),
        ("-3 um", -3e-6),
        ("3 µm", 3e-6),
        ("3 μm", 3e-6),
        ("7nm", 7e-9),
        ("26.45 in", 0.67183),
        ("1e-3 m", 1e-3),
        ("0.25", 0.25),
        (0.25, 0.25),
        (3, 3.0),
    ],
)
def test_lengths_are_the_nearest_float(text, metres):
    assert parse(text, "length") == metres


@pytest.mark.parametrize(
    ("text", "radians"),
    [
        ("90 deg", math.pi / 2),
        ("180deg", math.pi),
        ("-360 deg", -2 * math.pi),
        ("60°", math.pi / 3),
        ("0.5 turn", math.pi),
        ("1.5 rad", 1.5),
        ("60 arcmin", math.pi / 180),
        ("3600 arcsec", math.pi / 180),
        ("inf", math.inf),
        ("-inf rad", -math.inf),
    ],
)
def test_angles(text, radians):
    assert parse(text, "angle") == radians


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_survives_as_text(value):
    assert parse(repr(value), "length") == value


@pytest.mark.parametrize(
    ("text", "quantity", "words"),
    [
        ("60 grad", "angle", "unknown unit 'grad'"),
        ("60 mm", "angle", "unknown unit 'mm'"),
        ("1 deg", "length", "unknown unit 'deg'"),
        ("1 MM", "length", "unknown unit 'MM'"),
        ("", "length", "not a valid length"),
        ("mm", "length", "not a valid length"),
        ("1,5 mm", "length", "not a valid length"),
        ("1 mm 2", "length", "not a valid length"),
        ("nan", "angle", "not a valid angle"),
        ("1e999", "length", "too large"),
        ("1e9999999", "length", "not a valid length"),
        ("9" * 400, "length", "has 400 characters"),
        ("9" * 5000, "angle", "has 5000 characters"),
        (" " * 10**6 + "x", "length", "characters"),
        ("1\nmm", "angle", "'1\\nmm' has the unknown unit"),
        (10**400, "length", "too large"),
        ("x" * 1000, "length", "..."),
    ],
    ids=lambda given: str(given)[:30].strip(),
)
def test_bad_texts(text, quantity, words):
    with pytest.raises(FileError) as caught:
        parse(text, quantity)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 200
