"""Robots that nobody tuned the solver for: far bases, long tools, small bends, other scales, huge limits."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import RobotError
from arcreach.ik.solution import Status
from arcreach.kernels.chain.limits import unwind

KINDS = ("position", "axis", "rotation")


def goals(poses, kind):
    return {"axis": {"axes": poses[:, :3, 2]}, "rotation": {"rotations": poses[:, :3, :3]}}.get(kind, {})


def missed(robot, n, kind, position_tol=1e-6, seed=0):
    poses = robot.tip_pose(robot.sample(n, seed=seed))
    found = ar.solve_batch(robot, poses[:, :3, 3], **goals(poses, kind), position_tol=position_tol)
    away = np.linalg.norm(robot.tip_pose(found.q)[:, :3, 3] - poses[:, :3, 3], axis=1)
    assert (away[found.reached] <= position_tol).all()
    assert robot.within_limits(found.q).all()
    return int((~found.reached).sum())


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["three-section", "ur5"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_base_far_away_costs_nothing(name, kind):
    """The same targets, seen from the base, take the same steps wherever the base stands."""
    robot = ar.load_robot(name)
    poses = robot.tip_pose(robot.sample(30, seed=3))
    near = ar.solve_batch(robot, poses[:, :3, 3], **goals(poses, kind))
    turn = ar.Target(np.zeros(3), axis=[1.0, 2.0, 2.0])
    z = turn.axis
    x = np.cross(z, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(z, [0.0, 0.0, 1.0]))
    base = np.eye(4)
    base[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    for distance in (1.0, 1e3, 1e6):
        base[:3, 3] = distance * np.array([0.6, -0.48, 0.64])
        moved = ar.Robot([ar.Link.from_matrix(base), *robot.elements])
        there = base @ poses
        far = ar.solve_batch(moved, there[:, :3, 3], **goals(there, kind))
        assert far.reached.all()
        # A target at 1000 km has lost ten digits: a few descents take other steps.
        assert (far.iterations != near.iterations).mean() <= 0.1
        assert moved.moving_reach == pytest.approx(robot.moving_reach)


def test_out_of_reach_is_measured_from_the_first_moving_element():
    robot = ar.Robot([ar.Link((100.0, 0.0, 0.0)), *ar.load_robot("three-section").elements])
    beside = ar.solve(robot, ar.Target([100.0, 0.0, 0.3]))
    assert beside.status == Status.OUT_OF_REACH
    batch = ar.solve_batch(robot, [[100.0, 0.0, 0.3]], method="jacobian")
    assert Status(batch.status[0]) == Status.OUT_OF_REACH


@pytest.mark.compiled
def test_a_tool_longer_than_the_robot():
    """Whole poses are solved where the tool is held: at its tip the robot's own motion is lost beside its turns."""
    tool = ar.Link((3.0, -8.0, 5.0), np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    robot = ar.Robot([*[ar.Section(0.05, 2.0)] * 3, tool])
    poses = robot.tip_pose(robot.sample(1000, seed=0))
    found = ar.solve_batch(robot, poses[:, :3, 3], rotations=poses[:, :3, :3])
    assert found.reached.all()
    # As few steps as without it: at its tip it took thousands, and one target in a hundred was missed.
    bare = ar.Robot(robot.elements[:3])
    poses = bare.tip_pose(bare.sample(1000, seed=0))
    assert (
        found.iterations.mean()
        < 2.0 * ar.solve_batch(bare, poses[:, :3, 3], rotations=poses[:, :3, :3]).iterations.mean()
    )
    assert missed(robot, 1000, "position") == 0


@pytest.mark.compiled
@pytest.mark.parametrize(
    "elements",
    [
        [ar.Section(0.2, 0.03, stretch=0.1, twist=True)] * 5,
        [ar.Section(0.05, 0.4, stretch=0.02, twist=True)] * 4,
        [
            ar.Section(0.05, 0.002),
            ar.Section(0.05, 1e-4, twist=True),
            ar.Section(0.02, 0.004, stretch=0.03, twist=True),
        ],
        [ar.Section(0.0005, 1.0), ar.Section(5.0, 1.5), ar.Section(0.05, 2.0, stretch=0.03)],
        [ar.Prismatic(0.0, 0.1), *[ar.Section(0.03, 1.0)] * 3],
    ],
    ids=["twist, stretch, small", "twist, stretch", "tiny bends", "mixed scales", "slide"],
)
def test_small_bends_and_mixed_scales(elements):
    robot = ar.Robot(elements)
    for kind in KINDS:
        assert missed(robot, 1500, kind) == 0


@pytest.mark.compiled
@pytest.mark.parametrize("scale", [1e-5, 1e3])
def test_other_scales(scale):
    """A robot of micrometres or of kilometres is solved as its model of ordinary size is."""
    joints = ar.load_robot("ur5").elements
    scaled = [ar.Link(np.multiply(scale, e.translation), e.rotation) if e.kind == "link" else e for e in joints]
    for robot in (ar.Robot(scaled), ar.Robot([ar.Section(0.05 * scale, 1.5, stretch=0.02 * scale)] * 3)):
        for kind in KINDS:
            assert missed(robot, 1000, kind, position_tol=1e-6 * scale) == 0


@pytest.mark.compiled
def test_corners_of_the_limits_of_an_arm():
    """Every joint at one of its limits: false minima are many, and only some starts arrive."""
    robot = ar.load_robot("panda")
    rng = np.random.default_rng(5)
    q = np.where(rng.random((1000, robot.dof)) < 0.5, robot.lower, robot.upper)
    poses = robot.tip_pose(q)
    assert ar.solve_batch(robot, poses[:, :3, 3], poses[:, :3, 2]).reached.all()


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1e20), (-1e18, 1e18), (1e308, 1.7e308)])
def test_limits_that_no_angle_can_use_are_refused(lower, upper):
    with pytest.raises(RobotError, match=r"give radians from -1e\+06 to 1e\+06, or -inf and inf"):
        ar.Revolute(lower=lower, upper=upper)


def test_unwinding_takes_no_longer_for_wide_limits():
    """The number of turns is computed, not counted down; it was an endless loop."""
    robot = ar.Robot([ar.Revolute(lower=-1e6, upper=1e6), ar.Link((0.1, 0.0, 0.0))])
    q = np.array([0.3])
    unwind(robot.packed, np.array([9.9e5]), q)
    assert abs(q[0] - 9.9e5) <= math.pi
    assert abs(math.remainder(q[0] - 0.3, 2.0 * math.pi)) < 1e-9
    for near, expected in ((1e300, 1e6), (-1e300, -1e6)):
        q = np.array([0.3])
        unwind(robot.packed, np.array([near]), q)
        assert 0.0 <= (expected - q[0]) * np.sign(expected) < 2.0 * math.pi
    solution = ar.solve(robot, ar.Target([0.0, 0.1, 0.0]), start=[9e5])
    assert solution.reached
    assert abs(solution.q[0] - 9e5) <= 2.0 * math.pi


@pytest.mark.parametrize("length", [1e-200, 1e-16, 1e13, 1e200])
def test_sizes_that_arithmetic_cannot_square_are_refused(length):
    with pytest.raises(RobotError, match=r"give lengths in metres that add up to 1e-15 to 1e\+12"):
        ar.Robot([ar.Section(length, 1.0)])


@pytest.mark.compiled
def test_solve_all_finds_what_solve_finds():
    """Starts of `solve_all` are left early; where none arrives it is as patient as `solve`."""
    robot = ar.Robot([ar.Section(0.05, 0.002), ar.Section(0.05, 1e-4, twist=True), ar.Section(0.02, 0.004, twist=True)])
    poses = robot.tip_pose(robot.sample(20, seed=0))
    for pose in poses:
        target = ar.Target(pose[:3, 3], axis=pose[:3, 2])
        assert bool(ar.solve_all(robot, target)) == ar.solve(robot, target).reached
