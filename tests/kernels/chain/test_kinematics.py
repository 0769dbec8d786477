"""Poses, frames, backbone and Jacobian of random chains against plain NumPy."""

import math

import numpy as np
import pytest
from tests import reference

import arcreach as ar

CHAINS = 1000
SPECIAL_BENDS = [0.0, 1e-9, -1e-9, 1e-12, math.pi, math.pi * (1 - 1e-12), 2 * math.pi, 1e-300]


def chains(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        robot = reference.random_robot(rng)
        yield robot, robot.sample(1, rng)[0]


def special_chains():
    """Chains whose bends are at values where a formula could break."""
    rng = np.random.default_rng(1)
    for bend in SPECIAL_BENDS:
        for _ in range(8):
            robot = ar.Robot([reference.random_element(rng) for _ in range(4)] + [ar.Section(0.1, 2 * math.pi)])
            q = robot.sample(1, rng)[0]
            q[reference.bend_indices(robot)] = bend
            yield robot, q


def test_tip_pose_of_random_chains():
    for robot, q in chains(CHAINS):
        np.testing.assert_allclose(robot.tip_pose(q), reference.tip_pose(robot, q), rtol=0, atol=1e-12)


def test_tip_pose_at_special_bends():
    for robot, q in special_chains():
        np.testing.assert_allclose(robot.tip_pose(q), reference.tip_pose(robot, q), rtol=0, atol=1e-12)


def test_jacobian_of_random_chains():
    for robot, q in chains(CHAINS, seed=2):
        np.testing.assert_allclose(robot.jacobian(q), reference.difference_jacobian(robot, q), rtol=0, atol=1e-6)


def test_jacobian_at_special_bends():
    for robot, q in special_chains():
        np.testing.assert_allclose(robot.jacobian(q), reference.difference_jacobian(robot, q), rtol=0, atol=1e-6)


def test_frames_of_random_chains_end_at_the_tip():
    for robot, q in chains(100, seed=3):
        frames = robot.frames(q)
        np.testing.assert_allclose(frames, reference.frames(robot, q), rtol=0, atol=1e-12)
        np.testing.assert_array_equal(frames[-1], robot.tip_pose(q))


def test_rotations_stay_orthogonal_over_a_long_chain():
    robot = ar.Robot([ar.Section(0.01, math.pi)] * 100)
    turn = robot.tip_pose(robot.sample(1, seed=0)[0])[:3, :3]
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-13)


@pytest.mark.parametrize(
    ("bend", "position"),
    [
        (0.0, (0.0, 0.0, 1.0)),
        (math.pi / 2, (2 / math.pi, 0.0, 2 / math.pi)),
        (math.pi, (2 / math.pi, 0.0, 0.0)),
        (2 * math.pi, (0.0, 0.0, 0.0)),
    ],
)
def test_one_arc_ends_where_geometry_says(bend, position):
    robot = ar.Robot([ar.Section(1.0, 2 * math.pi)])
    np.testing.assert_allclose(robot.tip_pose([bend, 0.0])[:3, 3], position, atol=2e-16)


def test_direction_turns_the_plane_and_twist_keeps_the_turn():
    plain = ar.Robot([ar.Section(1.0, math.pi)]).tip_pose([1.0, 0.7])
    twisted = ar.Robot([ar.Section(1.0, math.pi, twist=True)]).tip_pose([1.0, 0.7])
    np.testing.assert_allclose(twisted[:3, 3], plain[:3, 3], atol=1e-15)
    np.testing.assert_allclose(twisted, plain @ reference.rot_z(0.7), atol=1e-15)


def test_a_straight_section_without_twist_does_not_turn_whatever_its_direction():
    robot = ar.Robot([ar.Section(0.3, math.pi)])
    for direction in (-3.0, 0.5, 2.0):
        np.testing.assert_allclose(robot.tip_pose([0.0, direction]), reference.shift((0, 0, 0.3)), atol=1e-16)


def test_a_parallelogram_keeps_its_orientation():
    robot = ar.Robot([ar.Parallelogram((0.2, 0, 0), (0, 0, 1))])
    pose = robot.tip_pose([math.pi / 2])
    np.testing.assert_allclose(pose, reference.shift((0, 0.2, 0)), atol=1e-16)
    np.testing.assert_allclose(robot.jacobian([math.pi / 2])[:, 0], (-0.2, 0, 0, 0, 0, 0), atol=1e-16)


def test_backbone_runs_from_base_to_tip_in_equal_steps():
    for robot, q in chains(100, seed=4):
        curve = robot.backbone(q, points=400)
        np.testing.assert_array_equal(curve[0], np.zeros(3))
        np.testing.assert_array_equal(curve[-1], robot.tip_pose(q)[:3, 3])
        steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
        # A chord is never longer than its part of the line.
        assert steps.max() <= reference_length(robot, q) / 399 * (1 + 1e-9)


def reference_length(robot, q):
    total = 0.0
    for element, k in robot.indexed_elements():
        match element:
            case ar.Section():
                total += q[k + 2] if element.stretch else element.length
            case ar.Prismatic():
                total += abs(q[k])
            case ar.Link() | ar.Parallelogram():
                total += element.reach
    return total


def test_backbone_of_one_arc_lies_on_its_circle():
    robot = ar.Robot([ar.Section(1.0, 2 * math.pi)])
    bend = 2.5
    curve = robot.backbone([bend, 0.4], points=50)
    centre = np.array([math.cos(0.4), math.sin(0.4), 0.0]) / bend
    np.testing.assert_allclose(np.linalg.norm(curve - centre, axis=1), 1 / bend, atol=1e-15)
    middle = robot.backbone([bend, 0.4], points=3)[1]
    half = ar.Robot([ar.Section(0.5, 2 * math.pi)]).tip_pose([bend / 2, 0.4])[:3, 3]
    np.testing.assert_allclose(middle, half, atol=1e-15)


def test_backbone_of_sub_arcs_passes_through_their_ends():
    element = ar.Section(1.0, math.pi, length_weights=(1, 2, 1), bend_weights=(1, 0, 3))
    robot = ar.Robot([element])
    curve = robot.backbone([1.2, 0.0], points=5)
    first = reference.arc(0.3, 0.25)
    second = first @ reference.arc(0.0, 0.5)
    np.testing.assert_allclose(curve[1], first[:3, 3], atol=1e-15)
    np.testing.assert_allclose(curve[3], second[:3, 3], atol=1e-15)


def test_backbone_of_a_robot_without_length_stays_at_the_base():
    robot = ar.Robot([ar.Revolute()])
    np.testing.assert_array_equal(robot.backbone([0.3], points=3), np.zeros((3, 3)))
