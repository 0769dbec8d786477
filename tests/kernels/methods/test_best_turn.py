"""The best value of one joint, against a search over a fine grid and against forward kinematics."""

import math

import numpy as np
import pytest
from tests import reference

import arcreach as ar
from arcreach.kernels.chain.layout import PARALLELOGRAM, PRISMATIC, REVOLUTE
from arcreach.kernels.methods import best_turn as kernels

KINDS = {REVOLUTE: ar.Revolute, PRISMATIC: ar.Prismatic, PARALLELOGRAM: ar.Parallelogram}


def rigid_robot(rng):
    """A random chain without sections that has a joint."""
    while True:
        elements = [reference.random_element(rng) for _ in range(int(rng.integers(1, 9)))]
        rigid = [element for element in elements if not isinstance(element, ar.Section)]
        if any(element.coordinates for element in rigid):
            return ar.Robot(rigid)


def narrowed(robot, rng):
    """The same chain; half of its parallelograms with narrow limits, which the reference leaves wide."""
    elements = [
        ar.Parallelogram(element.link, element.axis, *np.sort(rng.uniform(-3, 3, 2)))
        if isinstance(element, ar.Parallelogram) and rng.random() < 0.5
        else element
        for element in robot.elements
    ]
    return ar.Robot(elements)


def row_of(robot, k):
    return next(row for row in range(len(robot.packed)) if robot.packed[row].kind and robot.packed[row].coordinate == k)


def best_coordinate(robot, q, k, target):
    """The coordinate k that the closed form gives."""
    vectors = np.empty((robot.dof, kernels.VECTORS))
    tip = kernels.joint_vectors(robot.packed, q, vectors)
    joint = kernels.load_joint(robot.packed, row_of(robot, k), vectors)
    row = np.zeros(12)
    row[9:] = target
    return kernels.best_value(joint, q[k], (tip[3], tip[7], tip[11]), row, kernels.NOISE)


def check_against_grid(robot, rng, points):
    q = robot.sample(1, rng)[0]
    k = int(rng.integers(robot.dof))
    target = robot.tip_pose(q)[:3, 3] + rng.normal(size=3) * rng.choice([1e-3, 0.1, 3.0])
    value = best_coordinate(robot, q, k, target)
    assert robot.lower[k] <= value <= robot.upper[k]
    grid = np.tile(q, (points + 1, 1))
    grid[:-1, k] = np.linspace(robot.lower[k], robot.upper[k], points)
    grid[-1, k] = value
    distance = np.linalg.norm(robot.tip_pose(grid)[:, :3, 3] - target, axis=1)
    assert distance[-1] <= distance.min() + 1e-12
    return robot.packed[row_of(robot, k)].kind


def test_position_step_is_never_worse_than_a_few_values():
    rng = np.random.default_rng(5)
    for _ in range(30):
        check_against_grid(narrowed(rigid_robot(rng), rng), rng, 9)


@pytest.mark.compiled
def test_position_step_is_never_worse_than_a_grid():
    rng = np.random.default_rng(6)
    met = [check_against_grid(narrowed(rigid_robot(rng), rng), rng, 500) for _ in range(1000)]
    assert min(met.count(kind) for kind in KINDS) > 200


@pytest.mark.parametrize("endless", [False, True])
def test_best_turn_is_never_worse_than_a_grid(endless):
    rng = np.random.default_rng(7)
    for _ in range(1000):
        a, b = rng.normal(size=2)
        lower, upper = (-math.inf, math.inf) if endless else np.sort(rng.uniform(-7, 7, 2))
        value = rng.uniform(-7, 7) if endless else rng.uniform(lower, upper)
        found = kernels.best_turn(a, b, kernels.NOISE, value, lower, upper)
        assert lower <= found <= upper
        grid = np.linspace(max(lower, -7), min(upper, 7), 300) - value
        best = (a * np.cos(grid) + b * np.sin(grid)).max()
        assert a * math.cos(found - value) + b * math.sin(found - value) >= best - 1e-12


@pytest.mark.parametrize(
    ("a", "b", "value", "found"),
    [
        (1.0, 0.0, 0.3, 0.3),  # already there
        (-1.0, 0.0, 0.0, math.pi),  # as far away as it can be: half a turn, not none
        (-1.0, 0.0, 3.0, 3.0 - math.pi),  # the half turn that is inside
        (0.0, 0.0, 0.4, 0.4),  # on the axis: nothing to choose
        (1e-16, -1e-16, 0.4, 0.4),  # rounding of nothing
        (math.cos(0.5), -math.sin(0.5), -3.0, 2 * math.pi - 3.5),  # the other way round
    ],
)
def test_best_turn_at_special_values(a, b, value, found):
    assert kernels.best_turn(a, b, kernels.NOISE, value, -math.pi, math.pi) == pytest.approx(found, abs=1e-15)


def test_best_turn_takes_the_better_end():
    # Wanted at 3.1, which is also -3.18: the lower end is nearer to it, though a clamp would go to the upper one.
    assert kernels.best_turn(math.cos(3.1), math.sin(3.1), kernels.NOISE, 0.0, -2.0, 0.5) == -2.0
    assert kernels.best_turn(math.cos(2.0), math.sin(2.0), kernels.NOISE, 0.0, -0.1, 0.5) == 0.5


def test_vectors_are_those_of_the_frames():
    rng = np.random.default_rng(8)
    for _ in range(50):
        robot = rigid_robot(rng)
        q = robot.sample(1, rng)[0]
        vectors = np.empty((robot.dof, kernels.VECTORS))
        tip = kernels.joint_vectors(robot.packed, q, vectors)
        frames = robot.frames(q)
        np.testing.assert_array_equal(np.reshape(tip, (3, 4)), frames[-1][:3])
        for i, (element, k) in enumerate(robot.indexed_elements()):
            if isinstance(element, ar.Link):
                continue
            joint = kernels.load_joint(robot.packed, row_of(robot, k), vectors)
            np.testing.assert_array_equal(joint.point, frames[i][:3, 3])
            np.testing.assert_allclose(joint.axis, frames[i][:3, :3] @ element.axis, atol=1e-15)
            if isinstance(element, ar.Parallelogram):
                np.testing.assert_allclose(joint.arm, frames[i + 1][:3, 3] - frames[i][:3, 3], atol=1e-14)


def test_motion_after_a_joint_agrees_with_forward_kinematics():
    rng = np.random.default_rng(9)
    for _ in range(50):
        robot = rigid_robot(rng)
        q, other = robot.sample(2, rng)
        k = int(rng.integers(robot.dof))
        vectors = np.empty((robot.dof, kernels.VECTORS))
        kernels.joint_vectors(robot.packed, q, vectors)
        joint = kernels.load_joint(robot.packed, row_of(robot, k), vectors)
        motion = np.eye(4)
        motion[:3] = np.reshape(kernels.motion_after(joint, other[k] - q[k]), (3, 4))
        moved = q.copy()
        moved[k] = other[k]
        np.testing.assert_allclose(motion @ robot.tip_pose(q), robot.tip_pose(moved), atol=1e-13)
