"""Configurations from sensed points, with noise and outliers."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.calibration.places import backbone_points, element_lengths, places_at


def sensed(robot, seed, count=60, noise=0.002, outliers=0.1):
    rng = np.random.default_rng(seed)
    q = robot.sample(1, rng)[0]
    total = element_lengths(robot, robot.neutral)[1].sum()
    arcs = np.sort(rng.uniform(0.0, total, count))
    points = backbone_points(robot, q[None], *places_at(robot, robot.neutral, arcs))[0][0]
    points += noise * total * rng.normal(size=points.shape)
    spoilt = rng.random(count) < outliers
    points[spoilt] += rng.uniform(-0.5, 0.5, (spoilt.sum(), 3)) * total
    return q, arcs, points, spoilt, total


@pytest.mark.parametrize("known", [True, False], ids=["arc lengths", "no arc lengths"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tip_of_random_poses(known, seed):
    robot = ar.load_robot("three-section")
    q, arcs, points, spoilt, total = sensed(robot, seed)
    found = ar.fit_shape(robot, points, arcs if known else None)
    tip = robot.tip_pose(q)[:3, 3]
    assert np.linalg.norm(found.tip.position - tip) < 0.01 * total
    assert robot.within_limits(found.q)
    # Without arc lengths an outlier may lie near another part of the backbone.
    assert (found.outliers & spoilt).sum() >= 0.7 * spoilt.sum()
    assert found.noise == pytest.approx(0.002 * total, rel=0.5)


@pytest.mark.parametrize("outliers", [0.0, 0.1])
def test_distal_sections_are_not_taken_for_outliers(outliers):
    """A good fit of the proximal sections does not end the search: few poses end far from the best fit."""
    robot = ar.load_robot("mixed-sections")
    wrong = 0
    for seed in range(12):
        q, arcs, points, _, total = sensed(robot, seed, count=30, outliers=outliers)
        found, best = ar.fit_shape(robot, points, arcs), ar.fit_shape(robot, points, arcs, start=q)
        off, least = (np.linalg.norm(fit.tip.position - robot.tip_pose(q)[:3, 3]) for fit in (found, best))
        wrong += off > 5.0 * max(least, 0.002 * total)
    assert wrong <= 1


@pytest.mark.parametrize("known", [True, False], ids=["arc lengths", "no arc lengths"])
def test_points_that_are_no_outliers_count_in_full(known):
    """No information is lost to outliers: the fit is the least-squares fit of the other points."""
    robot = ar.Robot([ar.Section(0.1, 2.0), ar.Section(0.1, 2.0)])
    q, arcs, points, _, total = sensed(robot, 4, noise=0.01, outliers=0.0)
    points[::9] += 0.5 * total
    found = ar.fit_shape(robot, points, arcs if known else None, start=q)
    others = ~found.outliers
    assert np.array_equal(np.flatnonzero(found.outliers), np.arange(60)[::9])

    def cost(d):
        """Sum of the squared distances of the other points, at bend vectors changed by d."""
        x, y = found.q[::2] * np.cos(found.q[1::2]) + d[::2], found.q[::2] * np.sin(found.q[1::2]) + d[1::2]
        near = np.ravel([np.hypot(x, y), np.arctan2(y, x)], order="F")
        if known:
            at = backbone_points(robot, near[None], *places_at(robot, near, arcs[others]))[0][0]
            return ((at - points[others]) ** 2).sum()
        line = robot.backbone(near, 4000)
        return sum(((line - point) ** 2).sum(axis=1).min() for point in points[others])

    h = 1e-3
    for unit in h * np.eye(4):
        slope, curvature = cost(unit) - cost(-unit), cost(unit) - 2.0 * cost(0.0 * unit) + cost(-unit)
        # The minimum along each variable, by a parabola, is here.
        assert abs(0.5 * h * slope / curvature) < 1e-4


@pytest.mark.parametrize("name", ["extensible-sections", "ur5-bending-tool"])
def test_extensible_and_mixed_chains(name):
    robot = ar.load_robot(name)
    _, arcs, points, _, total = sensed(robot, 0, count=120, noise=0.0, outliers=0.0)
    found = ar.fit_shape(robot, points, arcs)
    assert found.residuals.max() < 1e-4 * total


def test_a_start_is_used_and_exact_points_are_met():
    robot = ar.load_robot("five-section")
    q, arcs, points, _, total = sensed(robot, 3, noise=0.0, outliers=0.0)
    found = ar.fit_shape(robot, points, arcs, start=q + 0.05)
    assert found.residuals.max() < 1e-6 * total
    np.testing.assert_allclose(robot.tip_pose(found.q), robot.tip_pose(q), atol=1e-5)


@pytest.mark.parametrize("seed", [30, 52])
def test_outliers_near_the_robot_do_not_lead_away_from_a_good_start(seed):
    robot = ar.load_robot("mixed-sections")
    q, arcs, points, _, total = sensed(robot, seed, count=30, outliers=0.0)
    rng = np.random.default_rng(seed)
    spoilt = rng.random(30) < 0.2
    points[spoilt] += 0.1 * total * rng.normal(size=(spoilt.sum(), 3))
    found = ar.fit_shape(robot, points, arcs, start=q)
    assert np.linalg.norm(found.tip.position - robot.tip_pose(q)[:3, 3]) < 5.0 * 0.002 * total


def test_the_uncertainty_is_that_of_repeated_measurements():
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    q, arcs = np.array([1.0, 0.4]), np.linspace(0.0, 0.1, 40)
    exact = backbone_points(robot, q[None], *places_at(robot, q, arcs))[0][0]
    rng = np.random.default_rng(0)
    found = [ar.fit_shape(robot, exact + 1e-3 * rng.normal(size=exact.shape), arcs, start=q) for _ in range(30)]
    spread = np.std([one.q for one in found], axis=0)
    stated = np.mean([np.sqrt(np.diag(one.covariance)) for one in found], axis=0)
    np.testing.assert_allclose(stated, spread, rtol=0.4)
    tips = np.cov(np.array([one.tip.position for one in found]).T)
    assert np.trace(found[0].tip.matrix) == pytest.approx(np.trace(tips), rel=0.6)


@pytest.mark.parametrize(
    ("points", "arcs", "words"),
    [
        ([[0, 0, np.nan]] * 5, None, r"points\[0\] is not finite"),
        ([[0, 0, 0.05]], None, "1 point cannot determine 6"),
        ([[0, 0]] * 5, None, r"give numbers of shape \(n, 3\)"),
        (np.ones((9, 3)) * 50, None, "farther from the base than twice the reach"),
        (np.linspace([0, 0, 0], [0, 0, 90], 30), None, "give metres"),
        (np.ones((9, 3)) * 0.01, [0.1], "give 9 lengths"),
        (np.ones((9, 3)) * 0.01, np.ones(9), "beyond the tip"),
    ],
)
def test_refused(points, arcs, words):
    with pytest.raises(ar.TargetError, match=words):
        ar.fit_shape(ar.load_robot("three-section"), points, arcs)


def test_a_robot_that_does_not_move_has_no_shape_to_find():
    with pytest.raises(ar.RobotError, match="robot 'rod' has no coordinates to find"):
        ar.fit_shape(ar.Robot([ar.Link((0, 0, 1.0))], "rod"), np.ones((3, 3)))
