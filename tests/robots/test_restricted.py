"""`hold` and `limits` of one call, and targets of a tool."""

import math

import numpy as np
import pytest

import arcreach as ar

ROBOT = ar.Robot(
    [
        ar.Prismatic(lower=0.0, upper=0.1),
        ar.Revolute(lower=-math.pi, upper=math.pi),
        ar.Section(0.05, math.pi / 2, stretch=0.05),
        ar.Section(0.1, math.pi / 2),
        ar.Section(0.1, math.pi / 2, twist=True),
    ]
)
HELD = (["revolute-1"], "section-1", ["prismatic-1", "section-2"], "section-3", np.arange(9) == 1)


def held_columns(hold):
    names = [hold] if isinstance(hold, str) else hold
    if isinstance(names, np.ndarray):
        return np.flatnonzero(names)
    return [k for k, name in enumerate(ROBOT.coordinates) if name.split(".")[0] in names]


@pytest.mark.parametrize("hold", HELD, ids=str)
def test_held_coordinates_keep_the_value_of_the_start_and_the_target_is_reached(hold):
    columns = held_columns(hold)
    Q = ROBOT.sample(6, seed=1)
    Q[:, columns] = Q[0, columns]
    targets = ar.Targets(ROBOT.tip_pose(Q)[:, :3, 3])
    found = ar.solve_batch(ROBOT, targets, start=Q[0], hold=hold)
    assert found.reached.all()
    assert found.robot is ROBOT
    assert np.linalg.norm(ROBOT.tip_pose(found.q)[:, :3, 3] - targets.positions, axis=1).max() < 1e-6
    assert (found.q[:, columns] == Q[0, columns]).all()
    assert ROBOT.within_limits(found.q).all()
    assert np.array_equal(ar.solve(ROBOT, targets[2], start=Q[0], hold=hold).q, found.q[2])


def test_without_a_start_rest_is_held():
    target = ar.Target(ROBOT.tip_pose(ROBOT.neutral)[:3, 3] - [0.0, 0.0, 0.02])
    solution = ar.solve(ROBOT, target, hold=["section-2", "section-3", "revolute-1"])
    assert solution.reached
    assert (solution.q[[1, 5, 6, 7, 8]] == ROBOT.neutral[[1, 5, 6, 7, 8]]).all()


def test_limits_are_kept_by_all_that_take_them():
    limits = {"revolute-1": (-0.2, 0.3), "section-2.bend": (0.0, 0.5)}
    q = np.array([0.05, 0.1, 0.3, 1.0, 0.08, 0.4, -1.0, 0.3, 0.5])
    target = ar.Target(ROBOT.tip_pose(q)[:3, 3])
    points = target.position + np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.001]])
    path = ar.follow(ROBOT, points, start=q, limits=limits)
    answers = [ar.solve(ROBOT, target, limits=limits), ar.solve(ROBOT, target, limits=limits, prefer="rest")]
    answers += ar.solve_all(ROBOT, target, limits=limits, most=3)
    assert all(answer.reached for answer in answers)
    assert path.reached
    Q = np.vstack([*(answer.q for answer in answers), path.q])
    assert ((Q[:, 1] >= -0.2) & (Q[:, 1] <= 0.3) & (Q[:, 5] <= 0.5)).all()


def test_a_path_holds_and_prefers():
    q = np.array([0.05, 0.1, 0.3, 1.0, 0.08, 0.4, -1.0, 0.3, 0.5])
    first = ROBOT.tip_pose(q)[:3, 3]
    points = first + np.linspace(0.0, 0.01, 4)[:, None] * [1.0, 0.0, 0.0]
    path = ar.follow(ROBOT, points, start=q, hold=["section-1"], prefer="rest")
    assert path.reached
    assert path.robot is ROBOT
    assert (path.q[:, 2:5] == q[2:5]).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hold": ["elbow"]}, "give names, of prismatic-1"),
        ({"hold": 3}, "is not accepted; give names"),
        ({"hold": {"revolute-1": 0.5}}, "is not accepted; give names"),
        ({"hold": ["section-2.bend"]}, "hold all of it: section-2.bend, section-2.direction"),
        ({"hold": [True] * 9}, "leave at least one free"),
        ({"hold": ["section-2"], "method": "dls"}, "cannot hold a section"),
        ({"hold": ["revolute-1"], "limits": {"revolute-1": (0.5, 1.0)}}, "outside limits"),
        ({"limits": {"revolute-1": (-9.0, 9.0)}}, "beyond the robot's own"),
        ({"limits": {"elbow": (0.0, 1.0)}}, "limits names 'elbow'"),
        ({"limits": {"revolute-1": (1.0, 0.0)}}, r"give \(lower, upper\)"),
        ({"limits": {"section-1.bend": (0.0, 1.0)}}, "are coupled; hold all of it"),
        ({"limits": {"section-2.direction": (0.0, 1.0)}}, "bend that begin at 0"),
        ({"limits": {"section-2.bend": (0.0, 0.0)}}, "has no width; hold the whole section"),
        ({"limits": 3}, "mapping"),
    ],
)
def test_bad_restrictions_are_refused(given, message):
    with pytest.raises(ar.ArcreachError, match=message):
        ar.solve(ROBOT, [0.0, 0.1, 0.2], **given)


def test_a_continuous_joint_has_no_limit_at_one_side_only():
    arm = ar.Robot([ar.Revolute((0.0, 1.0, 0.0), lower=-math.inf, upper=math.inf), ar.Link((0.0, 0.0, 0.1))])
    with pytest.raises(ar.TargetError, match=r"limits\['revolute-1'\] = .* give two finite numbers"):
        ar.solve(arm, [0.0, 0.0, 0.1], limits={"revolute-1": (-math.inf, 1.0)})


def test_a_batch_without_targets_may_hold():
    assert len(ar.solve_batch(ROBOT, np.empty((0, 3)), start=np.empty((0, ROBOT.dof)), hold=["revolute-1"])) == 0
    assert len(ar.solve_batch(ROBOT, np.empty((0, 3)), hold=[], limits={})) == 0


def test_starts_that_differ_in_a_held_coordinate_are_refused():
    with pytest.raises(ar.ConfigurationError, match="different values of a held coordinate"):
        ar.solve_batch(ROBOT, np.full((2, 3), 0.1), start=ROBOT.sample(2, seed=0), hold=["revolute-1"])


def turned(axis, angle):
    """Return the rotation about a coordinate axis."""
    i, j = [k for k in range(3) if k != axis]
    R = np.eye(3)
    R[i, i] = R[j, j] = math.cos(angle)
    R[i, j], R[j, i] = -math.sin(angle), math.sin(angle)
    return R


@pytest.mark.parametrize("kind", ["position", "axis", "rotation"])
def test_a_target_of_a_tool_is_reached_by_the_tool(kind):
    arm = ar.load_robot("panda")
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = turned(0, 0.4) @ turned(2, 1.0), (0.02, -0.03, 0.1)
    T = arm.tip_pose(arm.sample(1, seed=2)[0]) @ tool
    asked = {"position": {}, "axis": {"axis": T[:3, 1], "tool_axis": [0, 2, 0]}, "rotation": {"rotation": T[:3, :3]}}
    target = ar.Target(T[:3, 3], **asked[kind], tool=tool)
    solution = ar.solve(arm, target)
    reached = arm.tip_pose(solution.q) @ tool
    assert np.linalg.norm(reached[:3, 3] - T[:3, 3]) < 1e-6
    if kind == "axis":
        assert np.linalg.norm(reached[:3, 1] - T[:3, 1]) < 1.1e-3
    if kind == "rotation":
        assert np.abs(reached[:3, :3] - T[:3, :3]).max() < 1.1e-3
    assert solution.check().reached
    batch = ar.solve_batch(arm, [target, target])
    assert np.array_equal(batch.q, [solution.q] * 2)
    for prefer in (None, "rest"):
        every = ar.solve_all(arm, target, most=2, prefer=prefer)
        assert all(np.linalg.norm((arm.tip_pose(one.q) @ tool)[:3, 3] - T[:3, 3]) < 1e-6 for one in every)
        assert every[0].check().reached
    assert ar.follow(arm, batch.targets, start=solution.q).reached
    plan = ar.plan(arm, arm.neutral, target, ar.Scene([]))
    assert plan.reached
    assert np.linalg.norm((arm.tip_pose(plan.q[-1]) @ tool)[:3, 3] - T[:3, 3]) < 1e-6


def test_a_branch_found_by_solve_alone_is_reached_by_the_tool(monkeypatch):
    # No branch is found by the search itself, as for hard targets.
    monkeypatch.setattr("arcreach.ik.solve_all.find_branches", lambda *_: None)
    tool = np.array([0.0, 0.0, 0.02])
    target = ar.Target([0.0, 0.05, 0.3], tool=tool)
    [only] = ar.solve_all(ROBOT, target)
    tip = ROBOT.tip_pose(only.q)
    assert np.linalg.norm(tip[:3, :3] @ tool + tip[:3, 3] - target.position) < 1e-6
    assert only.target == target


def test_held_sections_and_equal_limits_are_told_apart():
    robot = ar.Robot(ROBOT.elements)
    ar.solve(robot, [0.0, 0.1, 0.2], hold=["section-2"])
    with pytest.raises(ar.TargetError, match="has no width"):
        ar.solve(robot, [0.0, 0.1, 0.2], limits={"section-2.bend": (0.0, 0.0), "section-2.direction": (0.0, 0.0)})


SLIDING = ar.Robot(
    [
        ar.Section(0.05, 1.0),
        ar.Prismatic(0.0, 0.1),
        ar.Section(0.05, 1.0, 0.05, coupled=False, tendons=[ar.Tendon(0.01, 0.0, pull_min=-0.01, pull_max=0.01)]),
    ]
)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"limits": {"prismatic-1": (0.0, 0.02)}}, "prismatic-1"),
        ({"limits": {"section-2.length": (0.05, 0.06), "section-2.bend": (0.0, 0.5)}}, "section-2.length"),
        ({"hold": "prismatic-1", "start": [0.0, 0.0, 0.055, 0.0, 0.0, 0.075]}, "prismatic-1"),
    ],
)
def test_limits_of_pulls_stay_where_they_are_measured_from(given, name):
    with pytest.raises(ar.MethodError, match=f"measured from rest; give {name} limits with the same middle"):
        ar.solve(SLIDING, [0.0, 0.0, 0.15], **given)


def test_limits_around_rest_keep_the_limits_of_pulls():
    limits = {"prismatic-1": (0.03, 0.07), "section-2.length": (0.06, 0.09), "section-1.bend": (0.0, 0.5)}
    for given in ({"limits": limits}, {"hold": "prismatic-1"}):
        solution = ar.solve(SLIDING, [0.0, 0.0, 0.17], **given)
        assert solution.reached
        assert SLIDING.within_limits(solution.q)


@pytest.mark.parametrize("name", ["link-1", "tool-1"])
def test_a_tool_has_a_name_of_its_own(name):
    robot = ar.Robot([ar.Revolute(name=name), ar.Section(0.1, 1.5)])
    assert ar.solve(robot, ar.Target([0.0, 0.0, 0.12], tool=[0.0, 0.0, 0.02])).reached


def test_an_offset_alone_is_a_tool():
    target = ar.Target([0.0, 0.05, 0.3], tool=[0.0, 0.0, 0.02])
    tip = ROBOT.tip_pose(ar.solve(ROBOT, target).q)
    assert np.linalg.norm(tip[:3, 3] + 0.02 * tip[:3, 2] - target.position) < 1e-6
    assert target != ar.Target([0.0, 0.05, 0.3])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tool": [1.0, 2.0]}, "offset"),
        ({"tool": 2.0 * np.eye(4)}, "not a frame"),
        ({"tool_axis": [1.0, 0.0, 0.0]}, "tool_axis has no meaning without axis"),
        ({"axis": [0, 0, 1], "tool_axis": [0.0, 0.0, 0.0]}, "give a direction"),
    ],
)
def test_bad_tools_are_refused(given, message):
    with pytest.raises(ar.TargetError, match=message):
        ar.Target([0.0, 0.0, 0.3], **given)


def test_targets_of_a_list_have_one_tool():
    with pytest.raises(ar.TargetError, match="another tool"):
        ar.Targets.from_list([ar.Target([0, 0, 1.0]), ar.Target([0, 0, 1.0], tool=[0, 0, 0.1])])


@pytest.mark.compiled
def test_a_plan_holds_joints():
    hold = ["prismatic-1", "revolute-1"]
    q = np.array([0.05, 0.1, 0.3, 1.0, 0.08, 0.4, -1.0, 0.3, 0.5])
    goal = q.copy()
    goal[-4:] = (1.0, 1.0, 0.6, -0.5)
    target = ar.Target(ROBOT.tip_pose(goal)[:3, 3])
    path = ar.plan(ROBOT, q, target, [ar.Sphere((0.3, 0.3, 0.1), 0.02)], hold=hold)
    columns = held_columns(hold)
    assert path.reached
    assert path.robot is ROBOT
    assert (path.q[:, columns] == q[columns]).all()
    with pytest.raises(ar.MethodError, match=r"hold names section-1, a section; .* give joints only"):
        ar.plan(ROBOT, q, target, [ar.Sphere((0.3, 0.3, 0.1), 0.02)], hold=["section-1"])
