"""Hints at degrees and millimetres given for radians and metres."""

import math
import warnings

import pytest

import arcreach as ar
from arcreach.robots.hints import angle_hint, reach_hint


@pytest.mark.parametrize(("lower", "upper"), [(-170, 170), (-90.0, 22.5), (0.0, 360.0)])
def test_limits_in_degrees_get_a_warning(lower, upper):
    with pytest.warns(UserWarning, match=r"revolute: hint: limits .* were degrees meant") as warned:
        joint = ar.Revolute((0.0, 0.0, 1.0), lower=lower, upper=upper)
    assert (joint.lower, joint.upper) == (lower, upper)
    assert warned[0].filename == __file__


@pytest.mark.parametrize("turns", [1.0, 4.0, 27.0])
def test_wrists_of_several_turns_get_none(turns):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ar.Revolute((0.0, 0.0, 1.0), lower=-turns * math.tau, upper=turns * math.tau)
        ar.Revolute((0.0, 0.0, 1.0), lower=-10.0, upper=10.0)
        ar.Revolute((0.0, 0.0, 1.0), lower=-math.inf, upper=math.inf)


def test_narrower_limits_in_degrees_get_a_hint():
    arm = ar.load_robot("iiwa-14")
    with pytest.raises(ar.TargetError, match=r"beyond the robot's own.*; hint: a1 = -20 .*were degrees meant"):
        ar.solve(arm, [0.3, 0.3, 0.6], limits={"a1": (-20, 20)})
    with pytest.raises(ar.TargetError, match=r"give narrower ones$"):
        ar.solve(arm, [0.3, 0.3, 0.6], limits={"a1": (-3, 3)})


def test_pulls_in_millimetres_get_a_hint():
    arm = ar.load_robot("tendon-driven")
    found = arm.from_pulls([3.0, -1.5, -1.5, 0, 0, 0, 0, 0, 0])
    assert str(found).endswith("pulls are metres: were millimetres meant?")
    assert arm.from_pulls([[0.003, -0.0015, -0.0015, 0, 0, 0, 0, 0, 0]] * 2).hint == ""


def test_a_section_in_millimetres_beside_others_gets_a_hint():
    arm = ar.Robot([ar.Section(0.065, 1.5), ar.Section(35.0, 1.5), ar.Section(0.05, 1.5)])
    assert reach_hint(arm).startswith("hint: section-2 is 35 m long, 700 times as long as section-3")
    assert reach_hint(ar.Robot([ar.Section(0.065, 1.5), ar.Section(0.65, 1.5)])) == ""
    assert reach_hint(ar.Robot([ar.Section(0.0, 1.5, stretch=0.1), ar.Link((0.0, 0.0, 30.0))])) == ""


@pytest.mark.parametrize("degrees", [45.0, 90.0, 200.0, 360.0])
def test_degrees_beyond_the_limits_get_a_hint_too(degrees):
    robot = ar.load_robot("three-section")
    assert "were degrees meant" in angle_hint(robot, [degrees, 0, 0, 0, 0, 0])
    assert angle_hint(robot, [1.2, 3.0, 0, 0, 0, 0]) == ""


def test_lengths_and_radii_in_millimetres_get_a_hint():
    assert "reach is 50 m" in reach_hint(ar.Robot([ar.Section(50.0, 1.0)]))
    assert "section-1 has a radius of 4 m" in reach_hint(ar.Robot([ar.Section(0.05, 1.0, radius=4.0)]))
    assert reach_hint(ar.load_robot("ur5-bending-tool")) == ""
