"""Solving among obstacles: free by sampling, honest statuses, and as often as a slow search of many starts."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, SceneError, TargetError
from arcreach.ik.method import Outcome
from arcreach.ik.methods import auto
from arcreach.ik.solution import Status
from arcreach.kernels.math.linalg import solve_positive


def sampled(robot, q, balls, points=1500):
    """The least distance of the body from balls, by sampling its line."""
    line = robot.backbone(q, points)
    radius = max(element.radius for element in robot.elements)
    return min(np.linalg.norm(line - ball.centre, axis=1).min() - ball.radius for ball in balls) - radius


def problems(robot, count, balls, seed):
    """Targets with balls on the configuration that gave them."""
    rng = np.random.default_rng(seed)
    made = []
    while len(made) < count:
        q = robot.sample(1, seed=rng)[0]
        pose, line = robot.tip_pose(q), robot.backbone(q, 200)
        scene = [ar.Sphere(line[rng.integers(60, 170)], rng.uniform(0.03, 0.08) * robot.reach) for _ in range(balls)]
        room = 0.01 * robot.reach + 0.003
        if all(min(np.linalg.norm(pose[:3, 3] - b.centre), np.linalg.norm(b.centre)) > b.radius + room for b in scene):
            made.append((pose, scene))
    return made


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["three-section", "extensible-sections"])
@pytest.mark.parametrize("balls", [1, 2, 3])
def test_as_often_as_the_best_of_64_starts(name, balls):
    """The slow search: `auto` without obstacles from 64 starts, whatever is free counts."""
    robot = ar.load_robot(name)
    ours = theirs = 0
    for pose, scene in problems(robot, 60, balls, seed=balls):
        target = ar.Target(pose[:3, 3])
        found = ar.solve(robot, target, scene=scene)
        if found.reached:
            ours += 1
            assert found.position_error <= 1e-6
            assert robot.within_limits(found.q)
            assert sampled(robot, found.q, scene) > -1e-6
            assert found.clearance >= 0.0
        starts = robot.sample(64, seed=1)
        many = ar.solve_batch(robot, np.tile(pose[:3, 3], (64, 1)), start=starts, method="jacobian")
        theirs += bool((many.reached & (np.asarray(ar.clearance(robot, many.q, scene)) >= 0.0)).any())
    assert ours >= theirs
    assert ours > 0


@pytest.mark.compiled
def test_all_kinds_of_obstacles():
    robot = ar.load_robot("three-section")
    q = robot.sample(1, seed=4)[0]
    middle = robot.backbone(q, 101)[50]
    pose = robot.tip_pose(q)
    across = np.array([0.0, 0.05, 0.0])
    for shape in (
        ar.Sphere(middle, 0.012),
        ar.Capsule(middle - across, middle + across, 0.005),
        ar.Box((0.02, 0.02, 0.02), middle),
    ):
        found = ar.solve(robot, ar.Target(pose[:3, 3]), scene=[shape])
        assert found.reached
        assert float(ar.clearance(robot, found.q, [shape])) == pytest.approx(found.clearance)
        assert found.clearance >= 0.0


@pytest.mark.compiled
def test_an_arm_keeps_off_the_floor():
    ur5 = ar.load_robot("ur5")
    elements = [ar.Link(e.translation, e.rotation, radius=0.03) if isinstance(e, ar.Link) else e for e in ur5.elements]
    arm = ar.Robot(elements, name="ur5 with a body")
    floor = ar.HalfSpace((0, 0, 1), (0, 0, -0.2))
    pose = arm.tip_pose([0.3, -1.0, 1.2, -1.5, -1.5, 0.2])
    found = ar.solve(arm, ar.Target.from_pose(pose), scene=[floor])
    assert found.reached
    assert arm.frames(found.q)[:, 2, 3].min() > -0.2


@pytest.mark.compiled
def test_a_batch_gives_what_single_solves_give():
    robot = ar.load_robot("three-section")
    scene = [ar.Sphere((0.02, 0, 0.05), 0.01)]
    points = robot.tip_pose(robot.sample(40, seed=1))[:, :3, 3]
    many = ar.solve_batch(robot, points, scene=scene, margin=0.001)
    assert (many.clearance[many.reached] >= 0.001).all()
    for i in range(0, 40, 7):
        one = ar.solve(robot, ar.Target(points[i]), scene=scene, margin=0.001)
        np.testing.assert_array_equal(one.q, many.q[i])
        assert one.status == many.status[i]
        assert many[i].clearance == one.clearance


def test_a_target_behind_a_wall_is_a_collision():
    """A straight robot of one section, and a ball on the only path of its tip."""
    robot = ar.Robot([ar.Section(0.1, 0.5, radius=0.002)])
    target = ar.Target(robot.tip_pose([0.3, 0.0])[:3, 3])
    ball = ar.Sphere(robot.backbone([0.3, 0.0], 3)[1], 0.01)
    found = ar.solve(robot, target, scene=[ball])
    assert found.status == Status.COLLISION
    assert found.clearance < 0.0
    assert found.position_error <= 1e-6
    assert "an obstacle is in the way" in str(found)
    inside = ar.solve(robot, target, scene=[ar.Sphere(target.position, 0.01)])
    assert inside.status == Status.COLLISION


def test_other_methods_are_judged():
    robot = ar.Robot([ar.Section(0.1, 1.0)] * 2)
    q = np.array([0.6, 0.2, 0.5, 1.0])
    target = ar.Target(robot.tip_pose(q)[:3, 3])
    plain = ar.solve(robot, target, "jacobian")
    ball = ar.Sphere(robot.backbone(plain.q, 5)[2], 0.01)
    judged = ar.solve(robot, target, "jacobian", scene=[ball])
    np.testing.assert_array_equal(judged.q, plain.q)
    assert judged.status == Status.COLLISION


def test_the_second_solve_gets_the_time_that_the_first_has_left(monkeypatch):
    limits = []
    robot = ar.Robot([ar.Section(0.05, np.pi / 2)] * 2)
    plain = auto.run

    def stall(problem):
        return Outcome(robot.neutral[None].copy(), np.array([Status.STALLED]), np.array([1]), np.array([0.75]))

    def run(problem):
        limits.append(problem.max_time)
        return plain(problem)

    monkeypatch.setattr(auto, "run_free", stall)
    monkeypatch.setattr(auto, "run", run)
    for max_time in (None, 1.0):
        ar.solve(robot, [0.0, 0.0, -0.09], scene=[ar.Sphere((1, 0, 0), 0.1)], max_time=max_time)
    assert limits == [np.inf, 0.25]


def test_the_answers_of_a_portfolio_are_only_checked():
    robot = ar.Robot([ar.Section(0.05, np.pi / 2, radius=0.004)] * 3)
    target = ar.Target([0.05, 0.0, 0.11])
    plain = ar.solve(robot, target, "portfolio")
    crate = ar.Box((0.01, 0.01, 0.01), robot.backbone(plain.q)[40])
    judged = ar.solve(robot, target, "portfolio", scene=[crate])
    np.testing.assert_array_equal(judged.q, plain.q)
    assert judged.status == Status.COLLISION


@pytest.mark.compiled
def test_fabrikx_bends_around_balls():
    robot = ar.load_robot("three-section")
    free = {"corrected": 0, "published": 0, "": 0}
    for pose, scene in problems(robot, 80, 1, seed=5):
        target = ar.Target(pose[:3, 3])
        for avoidance in free:
            if avoidance:
                found = ar.solve(robot, target, "fabrikx", scene=scene, avoidance=avoidance)
            else:
                found = ar.solve(robot, target, "fabrikx")
                found.clearance = float(ar.clearance(robot, found.q, scene))
            free[avoidance] += found.status == Status.REACHED and found.clearance >= 0.0
    assert free["corrected"] >= free[""]
    assert free["corrected"] > free["published"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"scene": [ar.Sphere((0, 0, 0), 0.01)]}, SceneError, "obstacle 'sphere-1' contains the base"),
        ({"scene": "wall"}, SceneError, "'wall'"),
        ({"margin": -0.1}, TargetError, "margin = -0.1"),
        ({"margin": True}, TargetError, "margin = True"),
        ({"method": "fabrikx", "scene": [ar.Box((1, 1, 1), (5, 0, 0), name="crate")]}, MethodError, "'crate'"),
        ({"method": "fabrikx", "avoidance": "magic"}, MethodError, "avoidance = 'magic'"),
        ({"method": "jacobian", "avoidance": "published"}, MethodError, "option 'avoidance'"),
    ],
)
def test_bad_input(change, error, words):
    robot = ar.Robot([ar.Section(0.1, 1.0)] * 2)
    call = {"scene": [ar.Sphere((1, 0, 0), 0.1)]} | change
    with pytest.raises(error) as caught:
        ar.solve(robot, ar.Target([0.05, 0.0, 0.15]), **call)
    assert words in str(caught.value)


def test_a_slide_moves_a_thick_section_away_from_an_obstacle_at_the_base():
    robot = ar.Robot([ar.Prismatic(-0.1, 0.1), ar.Section(0.1, 1.5, radius=0.02)])
    scene = [ar.Sphere((0.015, 0.0, 0.0), 0.005)]
    found = ar.solve(robot, ar.Target([0.0, 0.0, 0.2]), scene=scene)
    assert found.reached
    assert found.clearance > 0.0
    with pytest.raises(SceneError, match="contains the base"):
        ar.solve(robot, ar.Target([0.0, 0.0, 0.2]), scene=[ar.Sphere((0.001, 0.0, 0.0), 0.005)])


def test_positive_definite_equations():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 9):
        root = rng.normal(size=(n, n + 2))
        A, x = root @ root.T, rng.normal(size=n)
        b = A @ x
        padded = np.zeros((12, 12))
        padded[:n, :n] = np.tril(A)
        solve_positive(padded, n, b)
        np.testing.assert_allclose(b, x, rtol=1e-7)


def test_a_trace_among_obstacles_leads_to_the_answer():
    robot = ar.Robot([ar.Section(0.05, np.pi / 2, radius=0.004)] * 3)
    ball = ar.Sphere([0.03, 0.0, 0.09], 0.01)
    found = ar.solve(robot, ar.Target([0.05, 0.0, 0.11]), scene=[ball], margin=0.001, trace=True)
    assert found.reached
    assert len(found.trace) > 1
    np.testing.assert_array_equal(found.trace.q[-1], found.q)
    assert found.trace.position_error[-1] <= 1e-6 < found.trace.position_error[0]
    assert robot.within_limits(found.trace.q).all()


@pytest.mark.compiled
def test_the_trace_of_a_solve_that_ends_in_collision_leads_to_the_answer():
    robot = ar.Robot([ar.Section(0.05, np.pi / 2, radius=0.004)] * 2)
    # Only a straight robot reaches this target, and it touches the ball.
    call = {"target": ar.Target([0.0, 0.0, 0.1]), "scene": [ar.Sphere([0.0, 0.008, 0.05], 0.005)]}
    found = ar.solve(robot, trace=True, **call)
    assert found.status == ar.Status.COLLISION
    np.testing.assert_array_equal(found.trace.q[-1], found.q)
    assert found.trace.position_error[-1] == found.position_error
    np.testing.assert_array_equal(ar.solve(robot, **call).q, found.q)


def test_a_margin_too_large_for_a_float_is_refused_by_name():
    with pytest.raises(TargetError, match=r"margin = .* is not accepted"):
        ar.solve(
            ar.load_robot("three-section"), [0.0, 0.0, 0.1], scene=[ar.Sphere((1.0, 0.0, 0.0), 0.1)], margin=10**400
        )
