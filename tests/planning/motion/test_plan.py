import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import ConfigurationError, MethodError, SceneError, TargetError
from arcreach.planning.motion.motion_check import MotionCheck, VariableSpace
from arcreach.planning.motion.path_search import weights_and_branch


@pytest.fixture(scope="module")
def arm():
    return ar.load_robot("three-section")


@pytest.fixture(scope="module")
def clutter():
    return ar.load_scene("clutter-20")


def free_configurations(robot, scene, count, seed):
    Q = robot.sample(40 * count, seed=seed)
    return Q[ar.clearance(robot, Q, scene).distance > 0.01 * robot.reach][:count]


def check_plan(plan, start, target, scene):
    """Recompute the claims of a plan: its ends, its limits, and its clearance at many samples."""
    robot = plan.robot
    assert plan.reached
    np.testing.assert_allclose(robot.tip_pose(plan.q[0]), robot.tip_pose(start), atol=1e-9)
    error = np.linalg.norm(robot.tip_pose(plan.q[-1])[:3, 3] - target.position)
    assert error <= 1e-6
    assert plan.position_error == pytest.approx(error, abs=1e-12)
    motion = plan.sampled(3000)
    assert robot.within_limits(motion).all()
    found = ar.clearance(robot, motion, scene).distance.min()
    assert plan.margin < plan.clearance <= found
    np.testing.assert_allclose(motion[0], plan.q[0], atol=1e-12)


@pytest.mark.compiled
def test_a_plan_ends_in_the_preferred_posture(arm, clutter):
    start, goal = free_configurations(arm, clutter, 2, seed=8)
    target = ar.Target(arm.tip_pose(goal)[:3, 3])
    scene = ar.Scene([ar.Sphere((0.0, 0.0, -1.0), 0.1)])
    plan = ar.plan(arm, start, target, scene, prefer="rest")
    check_plan(plan, start, target, scene)
    wanted = ar.solve(arm, target, prefer="rest")
    assert bends(plan.q[-1]) <= 1.01 * bends(wanted.q)
    assert bends(ar.plan(arm, start, target, scene).q[-1]) > 1.1 * bends(wanted.q)
    # Where that posture is not free, another one is taken.
    blocked = ar.Scene([ar.Sphere(arm.backbone(wanted.q, 21)[12], 0.004)])
    other = ar.plan(arm, start, target, blocked, prefer="rest")
    check_plan(other, start, target, blocked)
    assert bends(other.q[-1]) > 1.01 * bends(wanted.q)
    with pytest.raises(MethodError, match="prefer has no meaning with goal="):
        ar.plan(arm, start, None, scene, goal=goal, prefer="rest")


def bends(q):
    return np.sum(q[::2] ** 2)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["fixed-sections", "extensible-sections", "telescopic-sections"])
@pytest.mark.parametrize("scene_name", ["clutter-20", "clutter-60"])
def test_paths_in_clutter_are_free_all_along(name, scene_name):
    robot, scene = ar.load_robot(name), ar.load_scene(scene_name)
    Q = free_configurations(robot, scene, 6, seed=1)
    corners = 0
    for i in range(3):
        target = ar.Target(robot.tip_pose(Q[2 * i + 1])[:3, 3])
        plan = ar.plan(robot, Q[2 * i], target, scene, seed=i)
        check_plan(plan, Q[2 * i], target, scene)
        assert "certified clearance" in str(plan)
        corners += len(plan)
    assert corners >= 6


@pytest.mark.compiled
def test_the_same_seed_gives_the_same_path(arm, clutter):
    target = ar.Target([-0.048, -0.0193, 0.079])
    first, second, other = (ar.plan(arm, arm.neutral, target, clutter, seed=seed) for seed in (3, 3, 4))
    assert len(first) > 2
    np.testing.assert_array_equal(first.q, second.q)
    assert first.clearance == second.clearance
    assert len(other) != len(first) or not np.array_equal(first.q, other.q)


@pytest.mark.compiled
def test_a_margin_is_kept_and_an_axis_is_met(arm, clutter):
    Q = free_configurations(arm, clutter, 40, seed=5)
    pose = arm.tip_pose(Q[7])
    target = ar.Target(pose[:3, 3], axis=pose[:3, 2])
    plan = ar.plan(arm, arm.neutral, target, clutter, margin=0.0005)
    check_plan(plan, arm.neutral, target, clutter)
    assert plan.clearance > 0.0005
    assert plan.angle_error <= 1e-3


@pytest.mark.compiled
def test_simplifying_shortens(arm, clutter):
    target = ar.Target([-0.048, -0.0193, 0.079])
    rough, smooth = (
        ar.plan(arm, arm.neutral, target, clutter, seed=1, simplify=simplify) for simplify in (False, True)
    )
    ways = [
        np.linalg.norm(np.diff(arm.tip_pose(plan.sampled(500))[:, :3, 3], axis=0), axis=1).sum()
        for plan in (rough, smooth)
    ]
    assert ways[1] < ways[0]
    check_plan(rough, arm.neutral, target, clutter)


@pytest.mark.compiled
def test_an_arm_with_a_continuous_joint_among_boxes_and_capsules():
    robot = ar.Robot(
        [
            ar.Revolute(lower=-np.inf, upper=np.inf),
            ar.Link((0, 0, 0.3), radius=0.03),
            ar.Revolute((0, 1, 0), -2.0, 2.0),
            ar.Link((0, 0, 0.3), radius=0.03),
            ar.Section(0.2, 1.5, radius=0.02, twist=True),
        ]
    )
    wall = ar.Scene([ar.Box((0.05, 1.0, 1.0), (0.35, 0.0, 0.2)), ar.Capsule((-0.4, -0.1, 0), (-0.4, -0.1, 0.6), 0.05)])
    start, goal = np.array([0.6, 0.5, 0.3, 0.2]), np.array([-2.7, 0.6, 0.5, -1.0])
    # The short way round passes through the wall; the long one is free.
    start[0], start[1], goal[0], goal[1] = 1.4, 1.2, -1.4, 1.2
    plan = ar.plan(robot, start, scene=wall, goal=goal)
    check_plan(plan, start, ar.Target(robot.tip_pose(goal)[:3, 3]), wall)
    np.testing.assert_allclose(robot.tip_pose(plan.q[-1]), robot.tip_pose(goal), atol=1e-9)


@pytest.mark.compiled
def test_nothing_in_the_way_is_one_straight_motion(arm):
    target = ar.Target(arm.tip_pose([0.5, 0.1, 0.4, 1.0, 0.3, 2.0])[:3, 3])
    plan = ar.plan(arm, arm.neutral, target, ar.Scene([ar.Sphere((0, 0, -1), 0.1)]))
    assert len(plan) == 2
    check_plan(plan, arm.neutral, target, plan.scene)


@pytest.mark.compiled
def test_no_path_is_reported_after_the_given_time():
    robot = ar.Robot([ar.Section(0.05, 2.5, radius=0.001)])
    # A ring that the tip cannot pass: the goal lies outside of it.
    ring = [robot.tip_pose([1.0, angle])[:3, 3] for angle in np.linspace(-np.pi, np.pi, 60)]
    scene = ar.Scene([ar.Sphere(centre, 0.003) for centre in ring])
    plan = ar.plan(robot, [0.0, 0.0], scene=scene, goal=[2.0, 0.3], max_time=0.3)
    assert plan.status == ar.Status.TIME_LIMIT
    assert "no path found in 300 ms to 1 configuration at the target" in str(plan)
    np.testing.assert_array_equal(plan.q, [[0.0, 0.0]])


@pytest.mark.compiled
def test_targets_that_cannot_be_reached_freely():
    robot = ar.Robot([ar.Section(0.05, 2.5, radius=0.002)])
    far = ar.plan(robot, [0.0, 0.0], ar.Target([0.0, 0.0, 0.2]), [ar.Sphere((0.1, 0, 0), 0.01)])
    assert far.status == ar.Status.OUT_OF_REACH
    assert "out of reach" in str(far)
    # One configuration reaches that point, and its middle lies in a ball.
    q = np.array([1.5, 0.4])
    ball = ar.Sphere(robot.backbone(q, 3)[1], 0.004)
    blocked = ar.plan(robot, [1.5, -2.0], ar.Target(robot.tip_pose(q)[:3, 3]), [ball])
    assert blocked.status == ar.Status.COLLISION
    assert "only by touching" in str(blocked)


def test_bad_input_is_named_before_anything_is_searched(arm, clutter):
    target = ar.Target([0.03, 0.02, 0.08])
    inside = np.array(clutter[0].centre)
    with pytest.raises(TargetError, match="inside obstacle 'sphere-1'"):
        ar.plan(arm, arm.neutral, ar.Target(inside), clutter)
    with pytest.raises(TargetError, match=r"keeps a margin of 5 mm, so the target is .* lower the margin"):
        ar.plan(arm, arm.neutral, target, [ar.Sphere((0.045, 0.02, 0.08), 0.01)], margin=0.005)
    with pytest.raises(SceneError, match="contains the base"):
        ar.plan(arm, arm.neutral, target, [ar.Sphere((0, 0, 0.005), 0.02)])
    with pytest.raises(SceneError, match=r"start is not free: 'section-2' is .* inside 'ball'"):
        ar.plan(arm, arm.neutral, target, [ar.Sphere((0, 0, 0.05), 0.01, name="ball")])
    with pytest.raises(SceneError, match="margin is 5 mm"):
        ar.plan(arm, arm.neutral, target, [ar.Sphere((0.016, 0, 0.05), 0.01)], margin=0.005)
    with pytest.raises(TargetError, match="outside the robot's limits"):
        ar.plan(arm, [9.0, 0, 0, 0, 0, 0], target, clutter)
    with pytest.raises(ConfigurationError, match="start"):
        ar.plan(arm, [0.0, 0.0], target, clutter)
    with pytest.raises(TargetError, match="target = 'there'"):
        ar.plan(arm, arm.neutral, "there", clutter)
    with pytest.raises(TargetError, match="margin = -1"):
        ar.plan(arm, arm.neutral, target, clutter, margin=-1)
    with pytest.raises(TargetError, match="max_time"):
        ar.plan(arm, arm.neutral, target, clutter, max_time=0)
    with pytest.raises(TargetError, match="goals"):
        ar.plan(arm, arm.neutral, target, clutter, goals=0)
    with pytest.raises(MethodError, match="robot"):
        ar.plan("arm", arm.neutral, target, clutter)
    with pytest.raises(SceneError, match="planar"):
        ar.plan(arm, arm.neutral, target, [ar.Disc((0, 0.1), 0.02)])


def three_joints():
    link = ar.Link((0.3, 0, 0), radius=0.01)
    return ar.Robot([ar.Revolute((0, 0, 1), -2, 2), link, *(ar.Revolute((0, 1, 0), -2, 2), link) * 2])


def test_three_numbers_on_a_robot_of_three_coordinates_are_refused():
    robot, scene = three_joints(), [ar.Sphere((0, 0, 2.0), 0.1)]
    q0, q = [0.0, 0.0, 0.0], [0.5, 0.2, 0.1]
    words = r"may be a position or a configuration, since the robot has 3 coordinates; give target=arcreach.Target"
    for scene_arguments in ((q, scene), (np.array(q), scene)):
        with pytest.raises(TargetError, match=words):
            ar.plan(robot, q0, *scene_arguments)
    with pytest.raises(TargetError, match=words):
        ar.plan(robot, q0, target=q, scene=scene)


@pytest.mark.compiled
def test_a_configuration_is_a_goal_and_numbers_are_a_position():
    robot, scene = three_joints(), [ar.Sphere((0, 0, 2.0), 0.1)]
    q0, q = [0.0, 0.0, 0.0], [0.5, 0.2, 0.1]
    np.testing.assert_allclose(ar.plan(robot, q0, scene=scene, goal=q).q[-1], q, atol=1e-12)
    place = robot.tip_pose(q)[:3, 3]
    assert ar.plan(robot, q0, ar.Target(place), scene).reached


@pytest.mark.compiled
def test_the_old_spelling_of_a_goal_warns_where_it_is_clear(arm, clutter):
    goal = free_configurations(arm, clutter, 1, seed=3)[0]
    with pytest.warns(DeprecationWarning, match="give goal=configuration") as caught:
        plan = ar.plan(arm, arm.neutral, goal, clutter)
    assert caught[0].filename == __file__
    np.testing.assert_allclose(arm.tip_pose(plan.q[-1]), arm.tip_pose(goal), atol=1e-9)
    pose = arm.tip_pose(goal)
    for given, target in ((pose[:3, 3].tolist(), ar.Target(pose[:3, 3])), (pose, ar.Target.from_pose(pose))):
        plan = ar.plan(arm, arm.neutral, given, clutter)
        check_plan(plan, arm.neutral, target, clutter)


def test_a_target_or_a_goal_and_a_scene_are_needed(arm, clutter):
    one = "give either a target or goal=, the configuration to end at"
    with pytest.raises(TargetError, match=one):
        ar.plan(arm, arm.neutral, scene=clutter)
    with pytest.raises(TargetError, match=one):
        ar.plan(arm, arm.neutral, ar.Target([0, 0, 0.1]), clutter, goal=arm.neutral)
    with pytest.raises(SceneError, match="scene is missing"):
        ar.plan(arm, arm.neutral, ar.Target([0, 0, 0.1]))
    with pytest.raises(TargetError, match=r"target has the shape \(2,\); give an arcreach.Target, a position"):
        ar.plan(arm, arm.neutral, [0.0, 0.1], clutter)


@pytest.mark.compiled
def test_slips_of_units_get_a_hint(arm, clutter):
    with pytest.raises(TargetError, match=r"section-1.bend = 30 is 4.8 turns; .* were degrees meant\?"):
        ar.plan(arm, [30, 0, 0, 0, 0, 0], ar.Target([0.03, 0.02, 0.08]), clutter)
    plan = ar.plan(arm, arm.neutral, [-48, -19.3, 79], clutter)
    assert plan.status == ar.Status.OUT_OF_REACH
    assert str(plan).endswith("positions are metres: were millimetres meant?")
    assert "e+" not in str(plan)


def test_a_certificate_covers_the_whole_motion():
    """Two points that graze the circle of a tip: a sharper walk that stops at the first says nothing of the second."""
    robot = ar.Robot([ar.Revolute((0, 0, 1), -3, 3), ar.Link((1, 0, 0))])
    gaps = {-0.8212: 2.515e-5, 0.7591: 1.8958e-5}
    balls = [ar.Sphere(((1 + g) * np.cos(a), (1 + g) * np.sin(a), 0.0), 1e-12) for a, g in gaps.items()]
    check = MotionCheck(VariableSpace(robot), ar.Scene(balls), 0.0)
    _, certificates = check.certify(np.array([[-1.0], [1.0]]))
    assert certificates[0] <= min(gaps.values())


@pytest.mark.compiled
def test_a_continuous_joint_does_not_jump():
    endless = ar.Revolute((0, 0, 1), -np.inf, np.inf)
    robot = ar.Robot([endless, ar.Link((0.5, 0, 0), radius=0.01), ar.Revolute((0, 1, 0), -1, 1), ar.Link((0.3, 0, 0))])
    scene = [ar.Sphere((0, 0, 2.0), 0.1)]
    found = ar.plan(robot, np.radians([170.0, 0.0]), scene=scene, goal=np.radians([-170.0, 10.0]))
    assert found.reached
    assert np.abs(np.diff(found.q[:, 0])).max() < 0.5
    start = ar.plan(robot, np.radians([190.0, 0.0]), scene=scene, goal=np.radians([200.0, 10.0]))
    assert start.q[0, 0] == pytest.approx(np.radians(190.0))


@pytest.mark.compiled
def test_a_robot_of_joints_alone():
    robot = ar.Robot([ar.Link((0, 0, 0.1)), ar.Revolute((0, 0, 1), -3, 3), ar.Revolute((0, 1, 0), -1, 1)])
    with pytest.raises(ar.TargetError, match="inside"):
        ar.plan(robot, [0.0, 0.0], ar.Target([0, 0, 0.1]), [ar.Sphere((0, 0, 0.1), 0.01)])


@pytest.mark.compiled
@pytest.mark.parametrize("away", [100.0, 1e4])
def test_fixed_links_in_front_cost_nothing(arm, clutter, away):
    """Room at the goal was a share of the reach, the link in front included: 0.5 m of room at 100 m."""
    far = ar.Robot([ar.Link((away, 0.0, 0.0)), *arm.elements])
    scene = ar.Scene([ar.Sphere(np.add(ball.centre, (away, 0.0, 0.0)), ball.radius) for ball in clutter])
    Q = free_configurations(arm, clutter, 4, seed=1)
    for i in range(2):
        target = ar.Target(far.tip_pose(Q[2 * i + 1])[:3, 3])
        check_plan(ar.plan(far, Q[2 * i], target, scene, seed=i), Q[2 * i], target, scene)


@pytest.mark.compiled
def test_the_time_is_kept_where_every_motion_grazes():
    """Steps are as long as the clearance allows: beside bars that almost touch, one motion took seconds."""
    robot = ar.Robot([ar.Revolute(lower=-3, upper=3), ar.Link((1, 0, 0))] * 3)
    bars = [ar.Capsule((-5, y, -0.0102), (5, y, -0.0102), 0.01) for y in np.linspace(-4, 4, 60)]
    pole = ar.Capsule((0.4, 0.6, -1), (0.4, 0.6, 1), 0.05)
    start, goal = [0.0, 0.1, 0.2], [2.0, -0.5, 0.4]
    ar.plan(robot, start, scene=pole, goal=goal, max_time=0.1)
    max_time = 0.5
    plan = ar.plan(robot, start, scene=[*bars, pole], goal=goal, max_time=max_time)
    assert plan.status == ar.Status.TIME_LIMIT
    # A motion without a deadline takes more than ten times as long.
    assert plan.seconds < 3 * max_time


def length(plan):
    """Length of a path in the measure of the search."""
    space = VariableSpace(plan.robot)
    return np.sqrt((weights_and_branch(space)[0] * np.diff(space.variables(plan.q), axis=0) ** 2).sum(axis=1)).sum()


@pytest.mark.compiled
def test_more_time_gives_a_shorter_path(arm, clutter):
    Q = free_configurations(arm, clutter, 40, seed=1)
    short, long = [], []
    for i in range(0, 12, 2):
        first, better = (
            ar.plan(arm, Q[i], scene=clutter, goal=Q[i + 1], seed=i, shorten_time=seconds) for seconds in (0.0, 0.05)
        )
        check_plan(better, Q[i], ar.Target(arm.tip_pose(Q[i + 1])[:3, 3]), clutter)
        assert length(better) <= length(first) * (1 + 1e-9)
        short.append(length(better))
        long.append(length(first))
    assert sum(short) < sum(long)
    whole = ar.plan(arm, Q[0], scene=clutter, goal=Q[1], max_time=0.2, shorten_time=np.inf)
    assert whole.reached
    with pytest.raises(TargetError, match="shorten_time = -1"):
        ar.plan(arm, Q[0], scene=clutter, goal=Q[1], shorten_time=-1)


@pytest.mark.compiled
def test_a_robot_keeps_clear_of_itself():
    """The last link lies beside the first and turns to its other side: through it, or lifted over it."""
    first, between, last = (ar.Link(step, radius=0.03) for step in ((0.3, 0, 0), (0, 0.1, 0), (-0.3, 0, 0)))
    turn, lift = ar.Revolute((0, 0, 1), -3, 3), ar.Revolute((0, 1, 0), -1.5, 1.5)
    robot = ar.Robot([first, turn, between, turn, lift, last])
    scene = ar.Scene([ar.Sphere((0, 0, 5.0), 0.1)])
    start, goal = [0.0, -0.3, 0.0], [0.0, 2.5, 0.0]
    through = ar.plan(robot, start, scene=scene, goal=goal)
    assert len(through) == 2
    assert ar.self_clearance(robot, through.sampled(500)).distance.min() < 0.0
    for seed in range(3):
        plan = ar.plan(robot, start, scene=scene, goal=goal, seed=seed, self_collision=True)
        assert plan.reached
        assert 0.0 < plan.clearance <= ar.self_clearance(robot, plan.sampled(2000)).distance.min()
    # The margin is that from obstacles; certificates include the distance of the body from itself.
    for margin in (0.0, 0.2):
        plan = ar.plan(robot, start, scene=scene, goal=goal, margin=margin, self_collision=True)
        motion = plan.timed(1.0, 2.0, samples=2000)
        for path, q in ((plan, plan.sampled(2000)), (motion, motion.q)):
            assert 0.0 < path.clearance <= ar.self_clearance(robot, q).distance.min()
    with pytest.raises(SceneError, match=r"start is not free: 'link-\d' touches 'link-\d'"):
        ar.plan(robot, [0.0, 0.5, 0.0], scene=scene, goal=goal, self_collision=True)


@pytest.mark.compiled
def test_a_mesh_is_kept_clear_of(arm):
    corners = np.array(list(np.ndindex(2, 2, 2))) - 0.5
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    mesh = ar.Mesh(vertices=0.03 * corners, faces=faces, position=(0.0, 0.05, 0.07))
    start, goal = np.array([0.9, 0.6, 0.9, 0.6, 0.5, 0.6]), np.array([0.9, 2.5, 0.9, 2.5, 0.5, 2.5])
    plan = ar.plan(arm, start, scene=mesh, goal=goal)
    assert len(plan) > 2
    check_plan(plan, start, ar.Target(arm.tip_pose(goal)[:3, 3]), plan.scene)


@pytest.mark.compiled
def test_limits_of_a_continuous_joint_keep_the_direction_of_its_turn(tmp_path):
    """Between 2.5 and -2.5 the joint turns through 0; the shorter turn passes through a ball and leaves the limits."""
    robot = ar.Robot([ar.Revolute(lower=-np.inf, upper=np.inf, name="turn"), ar.Link((0.1, 0.0, 0.0))])
    ball = ar.Sphere((-0.1, 0.0, 0.0), 0.02)
    plan = ar.plan(robot, [2.5], goal=[-2.5], scene=[ball], limits={"turn": (-3.0, 3.0)})
    plan.to_csv(tmp_path / "plan.csv")
    read = ar.Path.from_csv(tmp_path / "plan.csv", robot)
    for q in (plan.sampled(101), plan.timed(1.0, 1.0).q, read.sampled(101), read.timed(1.0, 1.0).q):
        assert np.abs(q).max() <= 2.5 + 1e-12
        assert np.abs(q).min() < 0.05
        assert 0.0 < plan.clearance <= ar.clearance(robot, q, [ball]).distance.min()


def two_joints():
    return ar.Robot([ar.Revolute(lower=-2, upper=2, name=name) for name in "ab"] + [ar.Link((0.1, 0.0, 0.0))])


@pytest.mark.compiled
def test_later_changes_of_the_given_limits_do_not_change_a_plan():
    limits = {"a": [-1.0, 1.0]}
    plan = ar.plan(two_joints(), [-0.9, 0.2], goal=[0.9, -0.3], scene=[ar.Sphere((0.5, 0.0, 0.0), 0.1)], limits=limits)
    limits["a"][:] = -0.1, 0.1
    limits["c"] = (0.0, 0.0)
    assert plan.limits == {"a": (-1.0, 1.0)}
    np.testing.assert_allclose(plan.timed(1.0, 1.0).q[[0, -1]], plan.q[[0, -1]], atol=1e-12)


@pytest.mark.parametrize(
    ("start", "goal", "change", "words"),
    [
        ([0.0, 0.0], [0.5, 0.5], {"hold": ["a"]}, "goal has a = 0.5, and hold keeps it at 0; change one of them"),
        (
            [0.0, 0.0],
            [0.5, 0.5],
            {"limits": {"a": (-0.1, 0.1)}},
            r"goal has a = 0.5, outside limits\['a'\], -0.1 to 0.1",
        ),
        ([0.5, 0.5], [0.0, 0.0], {"limits": {"b": (-0.1, 0.1)}}, r"start has b = 0.5, outside limits\['b'\]"),
        ([0.0, 0.0], [0.05, 0.0], {"hold": ["a"], "limits": {"a": (-0.1, 0.1)}}, "goal has a = 0.05, and hold keeps"),
        ([0.0, 0.0], [0.0, 9.0], {"limits": {"a": (-0.1, 0.1)}}, "outside the robot's limits"),
    ],
)
def test_a_configuration_outside_narrower_limits_is_named(start, goal, change, words):
    with pytest.raises(TargetError, match=words):
        ar.plan(two_joints(), start, goal=goal, scene=[ar.Sphere((0.5, 0.0, 0.0), 0.1)], **change)


def test_a_robot_that_cannot_move_is_refused():
    robot = ar.Robot([ar.Link((0.0, 0.0, 0.1))], name="pole")
    with pytest.raises(MethodError, match="robot 'pole' cannot be planned for: the robot has no moving elements"):
        ar.plan(robot, [], goal=[], scene=[ar.Sphere((1, 0, 0), 0.1)])
