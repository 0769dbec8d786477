import math

import numpy as np
import pytest

import arcreach as ar

NAN = math.nan
HUGE = 10**400


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ar.Section(-0.1, 1.0), ["section", "length = -0.1", "0 or more"]),
        (lambda: ar.Section(NAN, 1.0), ["length = nan", "metres"]),
        (lambda: ar.Section("50 mm", 1.0), ["length = '50 mm'", "metres"]),
        (lambda: ar.Section(0.0, 1.0), ["length = 0.0", "above 0"]),
        (lambda: ar.Section(0.1, 0.0), ["bend_max = 0.0", "Link"]),
        (lambda: ar.Section(0.1, 7.0), ["bend_max = 7.0", "2 pi"]),
        (lambda: ar.Section(0.1, 1.0, stretch=-1), ["stretch = -1"]),
        (lambda: ar.Section(0.1, 1.0, radius=-1), ["radius = -1"]),
        (lambda: ar.Section(0.1, True), ["bend_max = True"]),
        (lambda: ar.Section(0.1, 1.0, length_weights=(1, 2)), ["bend_weights = (1.0,)", "2 weights"]),
        (lambda: ar.Section(0.1, 1.0, length_weights=(0,)), ["length_weights = (0.0,)", "not all 0"]),
        (lambda: ar.Section(0.1, 1.0, bend_weights=(1, -1), length_weights=(1, 1)), ["bend_weights[1] = -1"]),
        (lambda: ar.Section(0.1, 1.0, bend_weights=3), ["bend_weights = 3"]),
        (lambda: ar.Section(0.1, 1.0, length_weights=()), ["length_weights = ()"]),
        (lambda: ar.Section(0.1, 1.0, twist=1), ["twist = 1", "true or false"]),
        (lambda: ar.Section(0.1, 1.0, name="a,b"), ["name = 'a,b'"]),
        (lambda: ar.Section(0.1, 1.0, name=3), ["name = 3"]),
        (lambda: ar.Section(-0.1, 1.0, name="tail"), ["section 'tail'", "length"]),
        (lambda: ar.Revolute(axis=(0, 0, 0)), ["revolute", "axis = (0, 0, 0)", "not zero"]),
        (lambda: ar.Revolute(axis=(0, 1)), ["axis = (0, 1)", "three"]),
        (lambda: ar.Revolute(axis=(0, 0, NAN)), ["axis[2] = nan"]),
        (lambda: ar.Revolute(axis="z"), ["axis = 'z'"]),
        (lambda: ar.Revolute(lower=1.0, upper=-1.0), ["lower = 1.0", "upper = -1.0"]),
        (lambda: ar.Revolute(lower=-math.inf, upper=1.0), ["lower = -inf", "continuous"]),
        (lambda: ar.Prismatic(0.2, 0.1), ["prismatic", "lower = 0.2"]),
        (lambda: ar.Prismatic(0.0, 0.1, radius=-1), ["prismatic", "radius = -1", "0 or more"]),
        (lambda: ar.Prismatic(-math.inf, math.inf), ["lower = -inf", "finite"]),
        (lambda: ar.Parallelogram((0, NAN, 0)), ["parallelogram", "link[1] = nan"]),
        (lambda: ar.Parallelogram((0, 1, 0), axis=(0, 0, 0)), ["axis"]),
        (lambda: ar.Link(rotation=np.eye(3) * 1.1), ["link", "rotation", "rotation matrix"]),
        (lambda: ar.Link(rotation=np.diag([1, 1, -1])), ["rotation", "determinant"]),
        (lambda: ar.Link(rotation=[[1, 2], [3]]), ["rotation"]),
        (lambda: ar.Link(rotation=np.full((3, 3), NAN)), ["rotation"]),
        (lambda: ar.Link(translation=None), ["translation = None"]),
        (lambda: ar.Link(translation=(1, 2, object())), ["translation[2]"]),
        (lambda: ar.Link.from_matrix(np.eye(3)), ["matrix", "4 x 4"]),
        (lambda: ar.Link.from_matrix("x"), ["matrix = 'x'", "4 x 4"]),
        (lambda: ar.Link.from_matrix(np.eye(4) * 1j), ["matrix", "4 x 4"]),
        (lambda: ar.Link(rotation=[[HUGE, 0, 0], [0, 1, 0], [0, 0, 1]]), ["rotation"]),
        (lambda: ar.Link(rotation=np.full((3, 3), 1e308)), ["rotation"]),
        (lambda: ar.Link(translation=(HUGE, 0, 0)), ["translation[0] = 10000"]),
        (lambda: ar.Link(radius=10**5000), ["radius", "too many digits"]),
        (lambda: ar.Revolute(lower=-HUGE), ["lower = -10000"]),
        (lambda: ar.Revolute(lower=-HUGE, upper=math.inf), ["lower = -10000"]),
        (lambda: ar.Section(HUGE, 1.0), ["length = 10000"]),
        (lambda: ar.Section(0.1, 1.0, length_weights=(HUGE,)), ["length_weights[0] = 10000"]),
        (lambda: ar.Section(0.1, 1.0, length_weights=(1e308, 1e308), bend_weights=(1, 1)), ["finite sum"]),
        (lambda: ar.Section(1.0, 1.0, stretch=1e-17), ["stretch = 1e-17", "0, or a stretch large enough"]),
        (lambda: ar.Section(1e308, 1.0, stretch=1e308), ["stretch = 1e+308", "finite"]),
        (lambda: ar.Section(0.1, 1.0, name="a\nb" * 100), ["name = 'a\\nb"]),
    ],
)
def test_bad_fields_are_named_with_value_and_remedy(make, words):
    with pytest.raises(ar.RobotError) as caught:
        make()
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert "give" in message
    assert "\n" not in message
    assert len(message) < 250
    for word in words:
        assert word in message


def test_every_bad_field_is_reported():
    with pytest.raises(ar.RobotError) as caught:
        ar.Section(-1, 9, stretch=NAN, radius="x", length_weights=(-1,), twist=1, name="a/b")
    assert str(caught.value) == caught.value.problems[0]
    fields = ["name", "length", "stretch", "bend_max", "radius", "length_weights[0]", "twist"]
    assert [problem.split(": ")[1].partition(" =")[0] for problem in caught.value.problems] == fields
    with pytest.raises(ar.RobotError) as caught:
        ar.Revolute(axis=(0, 0, 0), lower=NAN, upper="x")
    assert len(caught.value.problems) == 3


def test_elements_are_frozen_and_compare_by_value():
    section = ar.Section(0.1, 1.0)
    with pytest.raises(AttributeError):
        section.length = 0.2
    assert section == ar.Section(length=0.1, bend_max=1.0)
    assert hash(section) == hash(ar.Section(0.1, 1.0))
    assert section != ar.Section(0.1, 1.1)


def test_arrays_become_plain_floats():
    link = ar.Link(np.array([0, 0, 1], dtype=np.float32))
    assert link.translation == (0.0, 0.0, 1.0)
    assert all(type(x) is float for x in link.translation)


@pytest.mark.parametrize("axis", [(0, 0, 5), (1e-200, 0, 0), (1e200, 1e200, 0), (1, 2, 3)])
def test_axes_are_normalised_once_and_for_all(axis):
    joint = ar.Revolute(axis)
    assert math.hypot(*joint.axis) == pytest.approx(1.0, abs=1e-15)
    assert ar.Revolute(joint.axis).axis == joint.axis


def test_a_rotation_of_six_digits_is_made_exact_and_then_kept():
    angle = 0.3
    printed = np.round([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]], 6)
    link = ar.Link(rotation=printed)
    turn = np.array(link.rotation)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(turn, printed, atol=1e-6)
    assert ar.Link(rotation=link.rotation).rotation == link.rotation


def test_weights_may_be_zero_for_a_stiff_sub_arc():
    section = ar.Section(0.1, 1.0, length_weights=(1, 1), bend_weights=(0, 1))
    robot = ar.Robot([section])
    curve = robot.backbone([1.0, 0.0], points=5)
    np.testing.assert_allclose(curve[2], (0, 0, 0.05), atol=1e-17)
