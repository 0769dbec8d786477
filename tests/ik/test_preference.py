"""`prefer`: the posture of least cost among those that reach a target."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import arcreach as ar
from arcreach.ik.preference import preference_of
from arcreach.robots.restricted import restricted

ROBOT = ar.Robot(
    [
        ar.Prismatic(lower=0.0, upper=0.1),
        ar.Revolute(lower=-math.pi, upper=math.pi),
        ar.Section(0.05, math.pi / 2, stretch=0.05),
        ar.Section(0.1, math.pi / 2),
    ]
)


def targets_of(robot, n, kind):
    return ar.Targets.from_poses(robot.tip_pose(robot.sample(n, seed=3)), kind)


def cost(robot, q, wanted, weights=1.0):
    """Return the cost of a posture from the coordinates: joints, bend vectors, and lengths in weights."""
    total = 0.0
    factors = np.broadcast_to(weights, robot.dof)
    for k, name in enumerate(robot.coordinates):
        if name.endswith(".bend"):
            away = q[k] * np.exp(1j * q[k + 1]) - wanted[k] * np.exp(1j * wanted[k + 1])
        elif name.endswith(".direction"):
            continue
        else:
            away = (q[k] - wanted[k]) / (robot.model.weight if robot.quantities[k] == "length" else 1.0)
        total += factors[k] * abs(away) ** 2
    return total


def least_by_slsqp(robot, target, first, wanted):
    """Return the cost that SLSQP finds from a solution, in coordinates."""

    def residual(q):
        T = robot.tip_pose(robot.clip(q))
        parts = [(T[:3, 3] - target.position) / robot.model.weight]
        if target.axis is not None:
            parts.append(np.linalg.svd(target.axis[None])[2][1:] @ T[:3, 2])
        return np.concatenate(parts)

    def inside(q):
        return np.concatenate([robot.clip(q) - q, q - robot.clip(q)])

    limits = list(zip(robot.lower, robot.upper, strict=True))
    constraints = [{"type": "eq", "fun": residual}, {"type": "ineq", "fun": lambda q: 1e-6 - abs(inside(q)).max()}]
    found = minimize(lambda q: cost(robot, q, wanted), first, method="SLSQP", bounds=limits, constraints=constraints)
    good = found.success and abs(residual(found.x)).max() < 1e-5
    return found.fun if good else math.inf


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["position", "axis"])
def test_no_other_optimiser_finds_a_better_posture(kind):
    targets = targets_of(ROBOT, 12, kind)
    first, found = ar.solve_batch(ROBOT, targets), ar.solve_batch(ROBOT, targets, prefer="rest")
    assert found.reached.all()
    assert ROBOT.within_limits(found.q).all()
    for i, target in enumerate(targets):
        rival = least_by_slsqp(ROBOT, target, first.q[i], ROBOT.neutral)
        assert cost(ROBOT, found.q[i], ROBOT.neutral) <= 1.01 * rival + 1e-9


@pytest.mark.parametrize("prefer", ["rest", "middle", "limits"])
def test_every_named_posture_reaches_the_target_within_the_limits(prefer):
    targets = targets_of(ROBOT, 3, "axis")
    found = ar.solve_batch(ROBOT, targets, prefer=prefer)
    assert found.reached.all()
    assert ROBOT.within_limits(found.q).all()
    assert np.array_equal(ar.solve(ROBOT, targets[1], prefer=prefer).q, found.q[1])


@pytest.mark.compiled
def test_a_descent_does_not_end_at_a_saddle():
    robot = ar.load_robot("rail-iiwa-14")
    target = ar.Target.from_pose(robot.tip_pose(robot.sample(200, seed=5)[161]))
    found = ar.solve(robot, target, prefer="rest")
    others = [ar.solve(robot, target, prefer="rest", start=q) for q in robot.sample(8, seed=6)]
    least = min(cost(robot, other.q, robot.neutral) for other in others if other.reached)
    assert found.reached
    assert cost(robot, found.q, robot.neutral) < 1.01 * least


def test_away_from_limits_leaves_more_room_than_rest():
    arm = ar.load_robot("panda")
    targets = targets_of(arm, 5, "axis")
    half = 0.5 * (arm.upper - arm.lower)
    used = {
        prefer: np.abs((ar.solve_batch(arm, targets, prefer=prefer).q - arm.neutral) / half).max(axis=1).mean()
        for prefer in ("rest", "limits")
    }
    assert used["limits"] < used["rest"]


@pytest.mark.compiled
def test_large_weights_do_not_push_joints_to_their_limits():
    arm = ar.load_robot("panda")
    half = 0.5 * (arm.upper - arm.lower)
    weights = np.array([1.0, 1.0, 30.0, 1.0, 1.0, 1.0, 1.0])
    targets = targets_of(arm, 20, "axis")

    def cost_of(q):
        s = ((q - arm.neutral) / half) ** 2
        return np.sum(weights * s / (1.0 - 0.99 * s), axis=1)

    plain, found = (ar.solve_batch(arm, targets, prefer="limits", weights=w) for w in (None, weights))
    assert (cost_of(found.q) <= 1.01 * cost_of(plain.q)).mean() > 0.9
    assert np.abs(found.q[:, 2]).mean() < 0.5 * np.abs(plain.q[:, 2]).mean()


def test_a_weight_of_zero_has_no_barrier():
    weights = np.ones(ROBOT.dof)
    weights[[0, 4]] = 0.0, 1e-320
    assert ar.solve_batch(ROBOT, targets_of(ROBOT, 3, "position"), prefer="limits", weights=weights).reached.all()


def test_a_configuration_that_reaches_the_target_is_its_own_optimum():
    arm = ar.load_robot("iiwa-14")
    for q in arm.sample(3, seed=4):
        target = ar.Target(arm.tip_pose(q)[:3, 3])
        assert cost(arm, ar.solve(arm, target, prefer=q).q, q) < 1e-6


def test_weights_move_less_what_weighs_more():
    target = targets_of(ROBOT, 1, "position")[0]
    light = ar.solve(ROBOT, target, prefer="rest")
    heavy = ar.solve(ROBOT, target, prefer="rest", weights={"section-2.bend": 100.0})
    assert heavy.q[-2] < light.q[-2]
    as_array = ar.solve(ROBOT, target, prefer="rest", weights=[1, 1, 1, 1, 1, 100.0, 1])
    assert np.array_equal(as_array.q, heavy.q)


def test_a_start_keeps_the_posture_beside_it():
    arm = ar.load_robot("panda")
    q = arm.sample(1, seed=1)[0]
    near = ar.solve(arm, ar.Target.from_pose(arm.tip_pose(q)), start=q, prefer="rest")
    again = ar.solve(arm, near.target, start=near.q, prefer="rest")
    assert near.reached
    assert np.abs(again.q - near.q).max() < 0.05


@pytest.mark.compiled
@pytest.mark.parametrize("prefer", ["rest", "middle", "limits"])
def test_a_path_around_the_base_has_no_full_turns(prefer):
    arm = ar.load_robot("ur5")
    angles = np.linspace(0.0, 1.5 * np.pi, 40)
    q = [ar.solve(arm, [0.45, 0.0, 0.3], prefer=prefer).q]
    for a in angles[1:]:
        found = ar.solve(arm, [0.45 * np.cos(a), 0.45 * np.sin(a), 0.3], start=q[-1], prefer=prefer)
        assert found.reached
        q.append(found.q)
    assert np.abs(np.diff(q, axis=0)).max() < 0.3


def test_without_a_start_joints_turn_towards_the_preferred_ones():
    arm = ar.load_robot("ur5")
    preferred = np.array([3.0, -1.5, 1.5, 3.0, 3.0, 3.0])
    target = ar.Target.from_pose(arm.tip_pose([0.3, -1.2, 1.4, -0.5, -0.4, 0.2]))
    postures = [ar.solve(arm, target, prefer=preferred), *ar.solve_all(arm, target, prefer=preferred)]
    for one in postures:
        assert np.abs(one.q - preferred).max() < np.pi + 1e-9


@pytest.mark.compiled
def test_all_solutions_are_postures_of_least_cost_and_the_least_is_first():
    target = targets_of(ROBOT, 4, "axis")[3]
    found = ar.solve_all(ROBOT, target, prefer="rest")
    costs = [cost(ROBOT, one.q, ROBOT.neutral) for one in found]
    assert costs == sorted(costs)
    assert costs[0] <= 1.01 * cost(ROBOT, ar.solve(ROBOT, target, prefer="rest").q, ROBOT.neutral)
    # A posture that cannot be improved from where it is.
    for one in found:
        assert one.check().reached
        again = ar.solve(ROBOT, target, start=one.q, prefer="rest")
        assert cost(ROBOT, again.q, ROBOT.neutral) > 0.98 * cost(ROBOT, one.q, ROBOT.neutral)
    assert sum(one.hits for one in found) >= len(ar.solve_all(ROBOT, target))


@pytest.mark.compiled
def test_among_obstacles_the_preferred_posture_is_taken_where_it_is_free():
    targets = targets_of(ROBOT, 5, "position")
    wanted = ar.solve_batch(ROBOT, targets, prefer="rest").q
    far = ar.Scene([ar.Sphere((1.0, 1.0, 1.0), 0.1)])
    found = ar.solve_batch(ROBOT, targets, prefer="rest", scene=far)
    np.testing.assert_allclose(found.q, wanted, atol=1e-9)
    assert np.array_equal(ar.solve(ROBOT, targets[2], prefer="rest", scene=far).q, found.q[2])
    # A ball in the middle of the body, whose answer stays beside the posture.
    ball = ar.Scene([ar.Sphere(ROBOT.backbone(wanted[2], 41)[28], 0.003)])
    beside = ar.solve(ROBOT, targets[2], prefer="rest", scene=ball)
    assert beside.reached
    assert ar.clearance(ROBOT, beside.q, ball) > 0.0
    assert cost(ROBOT, beside.q, wanted[2]) < 0.5
    port = ar.Port(ROBOT.backbone(wanted[1], 41)[30])
    assert np.allclose(ar.solve(ROBOT, targets[1], prefer="rest", through=port).q, wanted[1], atol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("prefer", ["rest", [-1.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0]])
def test_limits_that_allow_the_best_posture_do_not_change_it(prefer):
    arm = ar.load_robot("panda")
    target = ar.Target([0.4, 0.2, 0.3], axis=[0, 0, -1])
    wanted = arm.neutral if prefer == "rest" else np.array(prefer)
    free = ar.solve(arm, target, prefer=prefer)
    # The preferred first joint is outside.
    limits = {"joint1": (free.q[0] - 0.02, 2.0)}
    one = ar.solve(arm, target, prefer=prefer, limits=limits)
    many = ar.solve_batch(arm, [target, target], prefer=prefer, limits=limits)
    best = ar.solve_all(arm, target, prefer=prefer, limits=limits)[0]
    for q in (one.q, *many.q, best.q):
        assert cost(arm, q, wanted) < 1.001 * cost(arm, free.q, wanted)


def test_distances_from_rest_are_those_of_the_robot_without_narrower_limits():
    narrow = restricted(ROBOT, None, {"prismatic-1": (0.06, 0.1)})
    preference = preference_of(narrow, "rest", None)
    np.testing.assert_allclose((preference.wanted[0], preference.near[0]), (0.05, 0.06))
    # What is held costs nothing.
    held = restricted(ROBOT, ["prismatic-1"], None, [0.09, *ROBOT.neutral[1:]])
    assert preference_of(held, "rest", None).wanted[0] == 0.09


def test_a_narrower_stretch_leaves_the_preferred_length():
    robot = ar.Robot([ar.Prismatic(lower=0.0, upper=0.1), ar.Section(0.05, 1.5, stretch=0.05, coupled=False)])
    limits = {"section-1.length": (0.07, 0.1)}
    # Stroke and length share what is missing from 60 mm.
    for narrower in (None, limits):
        found = ar.solve(robot, [0.0, 0.0, 0.1], prefer=[0.0, 0.0, 0.0, 0.06], limits=narrower)
        np.testing.assert_allclose(found.q[[0, 3]], (0.02, 0.08), atol=1e-5)


@pytest.mark.compiled
@pytest.mark.parametrize("most", [2, 5, 10, 40])
def test_the_step_budget_covers_the_search_for_the_posture(most):
    arm = ar.load_robot("panda")
    targets = targets_of(arm, 100, "position")
    found, plain = (ar.solve_batch(arm, targets, max_iterations=most, prefer=p) for p in ("rest", None))
    assert found.iterations.max() <= most
    # A target that is reached without a preference stays reached, at no greater cost.
    assert np.array_equal(found.reached, plain.reached)
    for q, first in zip(found.q[found.reached], plain.q[plain.reached], strict=True):
        assert cost(arm, q, arm.neutral) <= cost(arm, first, arm.neutral) + 1e-9
    ball = ar.Scene([ar.Sphere((2.0, 2.0, 2.0), 0.1)])
    beside = ar.solve_batch(arm, targets, max_iterations=most, prefer="rest", scene=ball)
    assert beside.iterations[beside.reached].max(initial=0) <= most


@pytest.mark.compiled
@pytest.mark.skipif("sys.platform == 'win32'", reason="no clock in kernels")
def test_a_deadline_that_has_passed_ends_the_search_for_the_posture():
    arm = ar.load_robot("panda")
    targets = targets_of(arm, 20, "axis")
    first = ar.solve_batch(arm, targets)
    late = ar.solve_batch(arm, targets, start=first.q, prefer="rest", max_time=1e-9)
    assert late.reached.all()
    assert not late.iterations.any()
    np.testing.assert_allclose(late.q, first.q, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prefer": "straight"}, "rest, middle, limits"),
        ({"prefer": [1.0, 2.0]}, "prefer has the shape"),
        ({"prefer": [[1.0, 2.0], [3.0]]}, "prefer = "),
        ({"weights": [1.0] * 7}, "weights has no meaning without prefer"),
        ({"prefer": "rest", "weights": {"elbow": 1.0}}, "weights names 'elbow'"),
        ({"prefer": "rest", "weights": [-1.0] * 7}, "0 or more"),
        ({"prefer": "rest", "method": "dls"}, "method 'auto'"),
    ],
)
def test_bad_preferences_are_refused(given, message):
    with pytest.raises(ar.ArcreachError, match=message):
        ar.solve(ROBOT, [0.0, 0.1, 0.2], **given)


def test_a_batch_of_postures_is_refused_after_one_with_the_same_numbers_too():
    ar.solve(ROBOT, [0.0, 0.1, 0.2], prefer=ROBOT.neutral)
    with pytest.raises(ar.ConfigurationError, match="give one configuration"):
        ar.solve(ROBOT, [0.0, 0.1, 0.2], prefer=[ROBOT.neutral])


@pytest.mark.compiled
def test_a_path_prefers_the_rest_of_the_robot_without_narrower_limits():
    arm = ar.load_robot("panda")
    target = ar.Target([0.4, 0.2, 0.3], axis=[0, 0, -1])
    free = ar.solve(arm, target, prefer="rest")
    limits = {"joint1": (free.q[0] - 0.05, 2.0)}
    path = ar.follow(arm, [target], start=free.q, prefer="rest", limits=limits)
    assert ((path.q[0] - arm.neutral) ** 2).sum() < 1.001 * ((free.q - arm.neutral) ** 2).sum()
