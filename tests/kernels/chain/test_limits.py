import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import reference

import arcreach as ar
from arcreach.kernels.chain.limits import nearest_in_cone, wrap_angle

numbers = st.floats(-1e3, 1e3)


def smooth(section, q):
    """A section's coordinates as solver variables, in which `clip` measures distances."""
    bend = [q[0] * math.cos(q[1]), q[0] * math.sin(q[1])]
    return np.array([*bend, (q[2] - section.length) / section.stretch] if section.stretch else bend)


@given(angle=st.floats(-1e12, 1e12))
def test_wrap_angle_stays_the_same_direction(angle):
    wrapped = wrap_angle(angle)
    assert -math.pi < wrapped <= math.pi
    slack = 1e-15 + abs(angle) * 1e-15
    assert abs(math.remainder(angle - wrapped, 2 * math.pi)) <= slack


@pytest.mark.parametrize(("angle", "wrapped"), [(math.pi, math.pi), (-math.pi, math.pi), (0.0, 0.0), (1e300, 0.0)])
def test_wrap_angle_at_its_ends(angle, wrapped):
    assert wrap_angle(angle) == wrapped


@given(bend=st.floats(0, 20), share=st.floats(-3, 3), bend_max=st.floats(0.01, 6.28))
def test_nearest_in_cone_is_inside_and_no_grid_point_is_nearer(bend, share, bend_max):
    b, s = nearest_in_cone(bend, share, bend_max)
    assert -1e-12 <= b <= bend_max * s + 1e-12
    assert -1e-12 <= s <= 1 + 1e-12
    found = math.hypot(b - bend, s - share)
    shares = np.linspace(0, 1, 60)[:, None]
    bends = bend_max * shares * np.linspace(0, 1, 60)
    assert found <= np.hypot(bends - bend, shares - share).min() + 1e-9


@given(seed=st.integers(0, 10_000), scale=st.floats(0, 10))
def test_clip_is_inside_and_keeps_a_configuration_that_is(seed, scale):
    rng = np.random.default_rng(seed)
    robot = reference.random_robot(rng)
    clipped = robot.clip(rng.normal(size=robot.dof) * scale)
    assert robot.within_limits(clipped, tolerance=1e-15)
    np.testing.assert_array_equal(robot.clip(clipped), clipped)
    inside = robot.sample(1, rng)[0]
    np.testing.assert_array_equal(robot.clip(inside), inside)


@given(q=st.tuples(numbers, st.floats(-3, 3), st.floats(-0.3, 0.3)), seed=st.integers(0, 1000))
def test_clip_of_a_variable_section_is_nearer_than_every_sample(q, seed):
    section = ar.Section(0.05, 2.0, stretch=0.08)
    robot = ar.Robot([section])
    found = np.linalg.norm(smooth(section, robot.clip(q)) - smooth(section, q))
    for other in robot.sample(50, seed):
        assert found <= np.linalg.norm(smooth(section, other) - smooth(section, q)) + 1e-12


def test_clip_of_a_negative_bend_keeps_the_pose():
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    q = [-1.0, 0.5]
    clipped = robot.clip(q)
    np.testing.assert_allclose(clipped, [1.0, 0.5 - math.pi], atol=1e-15)
    np.testing.assert_allclose(robot.tip_pose(clipped), robot.tip_pose(q), atol=1e-15)


def test_clip_of_a_negative_bend_straightens_a_twisting_section():
    robot = ar.Robot([ar.Section(0.1, 2.0, twist=True)])
    np.testing.assert_array_equal(robot.clip([-1.0, 0.5]), [0.0, 0.5])


def test_a_continuous_joint_is_neither_clipped_nor_outside():
    robot = ar.Robot([ar.Revolute(lower=-math.inf, upper=math.inf)])
    assert robot.within_limits([100.0])
    np.testing.assert_array_equal(robot.clip([100.0]), [100.0])


def test_the_bend_limit_shrinks_with_the_length():
    robot = ar.Robot([ar.Section(0.02, 2.0, stretch=0.04)])
    assert robot.within_limits([1.0, 0.0, 0.04])
    assert not robot.within_limits([1.01, 0.0, 0.04])
    assert robot.within_limits([0.0, 0.0, 0.02])
    assert not robot.within_limits([0.01, 0.0, 0.02])
    assert not robot.within_limits([0.0, 0.0, 0.019])
    assert not robot.within_limits([0.0, 0.0, 0.061])


@pytest.mark.parametrize("q", [[-0.1, 0.0], [2.1, 0.0], [1.0, 3.2], [1.0, -3.2]])
def test_outside_a_fixed_section(q):
    assert not ar.Robot([ar.Section(0.1, 2.0)]).within_limits(q)


def test_tolerance_widens_the_limits():
    robot = ar.Robot([ar.Prismatic(0.0, 1.0)])
    assert not robot.within_limits([1.01])
    assert robot.within_limits([1.01], tolerance=0.02)
