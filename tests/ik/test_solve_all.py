import numpy as np
import pytest

import arcreach as ar
from arcreach.ik.solve_all import free_directions, solve_all
from arcreach.ik.target import Target

pytestmark = pytest.mark.compiled

ARM = ar.Robot([ar.Section(0.05, np.pi)] * 3)


def variables(q):
    return ARM.model.to_variables([q])[0]


def test_the_generating_configuration_is_among_the_branches_and_comes_first():
    for q in ARM.sample(40, seed=0):
        found = solve_all(ARM, Target.from_pose(ARM.tip_pose(q)), start=q)
        assert all(solution.reached and ARM.within_limits(solution.q) for solution in found)
        assert np.abs(variables(found[0].q) - variables(q)).max() < 1e-3
        distances = [np.linalg.norm(variables(solution.q) - variables(q)) for solution in found]
        assert distances == sorted(distances)


def test_directions_are_compared_by_the_shorter_turn():
    robot = ar.Robot([ar.Section(0.05, np.pi, twist=True)] * 3)
    for q in robot.sample(10, seed=3):
        q[1] = 3.1
        start = q.copy()
        start[1] = -3.1
        found = solve_all(robot, Target.from_pose(robot.tip_pose(q)), start=start)
        np.testing.assert_allclose(
            robot.model.difference(robot.model.to_variables([found[0].q]), robot.model.to_variables([q])),
            0.0,
            atol=1e-3,
        )


def test_no_branch_is_listed_twice():
    for q in ARM.sample(20, seed=1):
        found = [variables(solution.q) for solution in solve_all(ARM, Target.from_pose(ARM.tip_pose(q)))]
        for i, one in enumerate(found):
            assert all(np.abs(one - other).max() > 1e-3 for other in found[:i])


def test_an_arm_of_six_joints_has_eight_solutions_whatever_turns_its_limits_allow():
    robot = ar.load_robot("ur5")
    target = Target([0.4, 0.1, 0.3], rotation=np.diag([1.0, -1.0, -1.0]))
    assert len(solve_all(robot, target)) == 8


def test_hits_count_the_starts_and_out_of_reach_has_no_branch():
    q = ARM.sample(1, seed=2)[0]
    found = solve_all(ARM, Target.from_pose(ARM.tip_pose(q)))
    assert sum(solution.hits for solution in found) >= 64
    assert solve_all(ARM, Target([0, 0, 1.0])) == []


def test_more_branches_than_there_are_starts_are_asked_for():
    pose = ARM.tip_pose(ARM.sample(1, seed=2)[0])
    found = [solve_all(ARM, pose, most=most) for most in (64, 10**18)]
    assert [len(one) for one in found] == [len(found[0])] * 2


def test_a_loose_tolerance_of_angles_does_not_multiply_branches():
    robot = ar.load_robot("ur5")
    target = Target([0.4, 0.1, 0.3], rotation=np.diag([1.0, -1.0, -1.0]))
    assert len(solve_all(robot, target, angle_tol=0.1)) == 8


def test_the_tolerance_of_angles_does_not_change_the_branches():
    for q in ARM.sample(10, seed=3):
        found = [solve_all(ARM, ARM.tip_pose(q), angle_tol=tolerance) for tolerance in (1e-6, 1e-3)]
        assert len(found[0]) == len(found[1]) > 0
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one.q, other.q)


@pytest.mark.parametrize(
    ("name", "position", "axis", "pose"),
    [
        ("ur5", 3, 1, 0),
        ("iiwa-14", 4, 2, 1),
        ("two-section", 1, 0, 0),
        ("three-section", 3, 1, 0),
        ("librergm3", 0, 0, 0),
    ],
)
def test_free_directions(name, position, axis, pose):
    robot = ar.load_robot(name)
    T = robot.tip_pose(robot.sample(1, seed=0)[0])
    targets = Target(T[:3, 3]), Target(T[:3, 3], axis=T[:3, 2]), Target.from_pose(T)
    assert [free_directions(robot, target) for target in targets] == [position, axis, pose]


def test_free_directions_do_not_depend_on_the_size_of_a_robot():
    for size in (1e-5, 1.0, 1e5):
        lift = ar.Prismatic(0.0, size)
        sections = [ar.Section(0.5 * size, 1.0), ar.Section(0.5 * size, 1.0)]
        assert free_directions(ar.Robot([lift, *sections]), Target([0.0, 0.0, size])) == 2


def test_free_directions_are_those_of_the_tool():
    # A SCARA keeps its z axis upright: only a target for another axis of the tool takes away a motion.
    joints = [ar.Revolute(), ar.Link((0.3, 0.0, 0.0)), ar.Revolute(), ar.Link((0.2, 0.0, 0.0)), ar.Prismatic(-0.1, 0.0)]
    robot = ar.Robot([*joints, ar.Revolute()])
    upright = Target([0.3, 0.1, 0.0], axis=[0, 0, 1])
    ahead = Target([0.3, 0.1, 0.0], axis=[1, 0, 0], tool_axis=[1, 0, 0])
    assert [free_directions(robot, target) for target in (upright, ahead)] == [1, 0]


def test_free_directions_of_a_robot_without_length():
    assert free_directions(ar.Robot([ar.Revolute()]), Target([0.0, 0.0, 0.0])) == 1
