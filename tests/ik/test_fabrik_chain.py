"""The methods on chains of sections, FABRIK and its kin: what all three must do."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.ik import find_method
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target

RIGHT = math.radians(90)
QUARTER_TURN = ((0, -1, 0), (1, 0, 0), (0, 0, 1))
TABLE_3_11 = {"position_tol": 1e-5, "angle_tol": math.radians(0.01)}


def arm(n=3, **fields):
    return ar.Robot([ar.Section(0.05, RIGHT, **fields)] * n)


ROBOTS = {
    "one": arm(1),
    "fixed": arm(),
    "telescopic": ar.Robot([ar.Section(0.0, RIGHT, stretch=0.05)] * 3),
    "extensible": arm(stretch=0.05),
    "varying": ar.load_robot("variable-curvature-1"),
    "twist": arm(twist=True),
    "links": ar.Robot(
        [
            ar.Section(0.05, RIGHT),
            ar.Link((0, 0, 0.02), QUARTER_TURN),
            ar.Section(0.04, RIGHT),
            ar.Section(0.06, RIGHT),
            ar.Link((0, 0, 0.03)),
        ]
    ),
    "base": ar.Robot(
        [
            ar.Link((0.1, 0.2, 0.3), ((0, 0, 1), (0, 1, 0), (-1, 0, 0))),
            ar.Prismatic(0.0, 0.1),
            ar.Revolute(),
            *arm().elements,
        ]
    ),
}
CALLS = [
    (name, variant) for name in ("fabrikx", "fabrikc", "chords") for variant in find_method(name).variants or (None,)
]
METHODS = ("fabrikx", "fabrikc", "chords")
# The least share of easy targets that each reaches. They are baselines: short sections stay short, and insertion may
# push bends to their limits.
REACHED = {"fabrikx": 0.5, "fabrikc": 0.6, "chords": 0.3}


def targets(robot, n, seed=3):
    poses = robot.tip_pose(robot.sample(n, seed=seed))
    return poses[:, :3, 3], poses[:, :3, 2]


def easy_targets(robot, n=6, seed=5):
    """Poses with every bend between a quarter and three quarters of its limit, sections drawn out."""
    q = robot.sample(n, seed=seed)
    for k, coordinate in enumerate(robot.coordinates):
        if coordinate.endswith("bend"):
            q[:, k] = 0.25 * robot.upper[k] + 0.5 * q[:, k]
        elif coordinate.endswith("length"):
            q[:, k] = robot.upper[k]
    poses = robot.tip_pose(q)
    return poses[:, :3, 3], poses[:, :3, 2]


def accepted(method):
    return [name for name, robot in ROBOTS.items() if find_method(method).refusal(robot) is None]


@pytest.mark.parametrize(("method", "name"), [(method, name) for method in METHODS for name in accepted(method)])
def test_reaches_and_keeps_limits(method, name):
    robot = ROBOTS[name]
    positions, axes = easy_targets(robot)
    share = 0.3 if "length" in str(robot.coordinates) else REACHED[method]
    for given in (axes, None) if "position" in find_method(method).targets else (axes,):
        for variant in find_method(method).variants[:2] if method == "fabrikx" else (None,):
            found = solve_batch(robot, positions, given, method=method, variant=variant)
            assert robot.within_limits(found.q, 0.0).all()
            assert found.reached.mean() >= share
            off = np.linalg.norm(robot.tip_pose(found.q)[:, :3, 3] - positions, axis=1)
            assert (off[found.reached] <= 1e-6).all()


@pytest.mark.parametrize(("method", "name"), [(method, name) for method in METHODS for name in accepted(method)])
def test_unreachable_targets_keep_limits(method, name):
    robot = ROBOTS[name]
    far, axes = np.array([[0.3, 0.2, 2.0], [2.0, 0.0, 0.1]]), np.array([[0.0, 0, 1], [1, 0, 0]])
    for start in (None, robot.sample(2, seed=8)):
        found = solve_batch(robot, far, axes, method=method, start=start, max_iterations=60)
        assert (found.status == Status.OUT_OF_REACH).all()
        assert robot.within_limits(found.q, 0.0).all()


@pytest.mark.parametrize(("method", "variant"), CALLS)
def test_straight_target(method, variant):
    for name in {"fixed", "varying", "links"} & set(accepted(method)):
        robot = ROBOTS[name]
        pose = robot.tip_pose(np.zeros(robot.dof))
        found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), method, variant=variant)
        assert found.reached
        np.testing.assert_array_equal(found.q, 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_target_on_the_axis_of_a_straight_robot_gives_a_status(method):
    # All points lie on one line, and nothing pulls them off it: the published rule has no answer.
    found = solve(arm(), Target([0, 0, 0.1], [0, 0, 1]), method)
    assert not found.reached
    assert arm().within_limits(found.q, 0.0)


@pytest.mark.parametrize("bend_max", [math.pi, 2 * math.pi])
@pytest.mark.parametrize(("method", "variant"), CALLS)
def test_wide_bends_and_opposite_axes_stay_finite(method, variant, bend_max):
    for weights in ({}, {"length_weights": (1, 2, 4), "bend_weights": (1, 2, 10)}):
        robot = ar.Robot([ar.Section(0.05, bend_max, **weights)] * 3)
        positions, axes = targets(robot, 8)
        # Opposite tangents of the last section, and the base itself.
        positions = np.vstack([positions, [[0, 0, 0.1], [0.03, 0, 0.1], [0, 0, 0]]])
        axes = np.vstack([axes, [[0, 0, -1], [0, 0, -1], [0, 0, 1]]])
        for start in (None, np.tile([bend_max, 0.0], 3)):
            found = solve_batch(robot, positions, axes, method=method, variant=variant, start=start, max_iterations=30)
            assert np.isfinite(found.q).all()
            assert robot.within_limits(found.q, 0.0).all()


@pytest.mark.parametrize("method", METHODS)
def test_trace_has_the_start_and_a_row_per_iteration(method):
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    found = solve(robot, Target(positions[0], axes[0]), method, trace=True)
    assert found.reached
    assert len(found.trace) == found.iterations + 1 > 2
    # The published start: straight.
    np.testing.assert_array_equal(found.trace.q[0], np.zeros(robot.dof))
    np.testing.assert_array_equal(found.trace.q[-1], found.q)
    assert found.trace.position_error[-1] == found.position_error
    there = solve(robot, Target(positions[0], axes[0]), method, start=found.q, trace=True)
    assert (there.iterations, len(there.trace)) == (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_iteration_and_time_limits(method):
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    target = Target(positions[0], axes[0])
    few = solve(robot, target, method, max_iterations=2, position_tol=1e-12)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 2)
    short = solve(robot, target, method, max_time=1e-9, position_tol=1e-12)
    assert (short.status, short.iterations) == (Status.TIME_LIMIT, 1)
    assert short.seconds > 0.0


@pytest.mark.parametrize("method", ["fabrikx", "fabrikc"])
def test_base_roll_is_kept_and_insertion_used(method):
    robot = ROBOTS["base"]
    q = np.array([0.06, 0.4, 0.3, 0.2, 0.4, -1.0, 0.3, 2.0])
    pose = robot.tip_pose(q)
    start = q + np.array([-0.02, 0.0, 0.1, 0.1, -0.1, 0.1, 0.1, -0.1])
    found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), method, start=start)
    assert found.reached
    assert found.q[1] == 0.4
    assert found.q[0] != pytest.approx(0.04)


@pytest.mark.parametrize(
    ("elements", "reason"),
    [
        ([ar.Revolute()], "at least one section"),
        ([ar.Prismatic(0, 1), ar.Prismatic(0, 1), *arm().elements], "one prismatic base"),
        ([ar.Revolute((1, 0, 0)), *arm().elements], "along z"),
        ([ar.Revolute(), ar.Link((0.1, 0, 0)), *arm().elements], "along z"),
        ([*arm().elements, ar.Revolute()], "after one"),
        ([*arm().elements, ar.Link((0.1, 0, 0))], "straight along z"),
        ([ar.Section(0.1, 1.0, length_weights=(1, 0), bend_weights=(0, 1))], "very end"),
        ([ar.Parallelogram((0, 0, 1)), *arm().elements], "parallelogram"),
    ],
)
def test_says_why_it_refuses(elements, reason):
    assert reason in find_method("fabrikx").refusal(ar.Robot(elements))


@pytest.mark.parametrize(
    ("method", "refused", "kind", "reason"),
    [
        ("fabrikx", set(), "rotation", "axis, position"),
        ("fabrikc", {"telescopic", "extensible"}, "position", "targets of kind axis"),
        ("chords", {"links"}, "rotation", "axis, position"),
    ],
)
def test_accepted_robots_and_targets(method, refused, kind, reason):
    assert set(ROBOTS) - set(accepted(method)) == refused
    assert reason in find_method(method).refusal(arm(), kind)
