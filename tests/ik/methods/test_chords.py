"""Method `chords`: one link per section, the axis met by turning."""

import math

import numpy as np
import pytest
from tests.ik.methods.test_fabrikx import ROBOTS, arm, easy_targets, targets

import arcreach as ar
from arcreach.errors import MethodError
from arcreach.ik.methods.chords import METHOD
from arcreach.ik.methods.fabrikc import METHOD as FABRIKC
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target

ACCEPTED = [name for name, robot in ROBOTS.items() if METHOD.refusal(robot) is None]
VARIANTS = ("always", "on-arrival")


def test_refuses_links_between_sections():
    assert set(ROBOTS) - set(ACCEPTED) == {"links"}
    assert "rigid link" in METHOD.refusal(ROBOTS["links"])


@pytest.mark.parametrize("name", ACCEPTED)
def test_reaches_and_keeps_limits(name):
    robot = ROBOTS[name]
    positions, axes = easy_targets(robot)
    for given in (axes, None):
        found = solve_batch(robot, positions, given, method="chords")
        assert robot.within_limits(found.q, 0.0).all()
        assert found.reached.mean() >= 0.3
        poses = robot.tip_pose(found.q)
        off = np.linalg.norm(poses[:, :3, 3] - positions, axis=1)
        assert (off[found.reached] <= 1e-6).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_unreachable_target(variant):
    robot = ROBOTS["fixed"]
    far = np.array([[0.3, 0.2, 2.0], [2.0, 0.0, 0.1]])
    axes = np.array([[0.0, 0, 1], [1, 0, 0]])
    found = solve_batch(robot, far, axes, method="chords", variant=variant, max_iterations=60)
    assert (found.status == Status.OUT_OF_REACH).all()
    assert robot.within_limits(found.q, 0.0).all()


def test_straight_target():
    robot = ROBOTS["fixed"]
    found = solve(robot, Target([0, 0, 0.15], [0, 0, 1]), "chords")
    assert found.reached
    np.testing.assert_array_equal(found.q, 0.0)


def test_closed_circles_and_opposite_axes_stay_finite():
    robot = ar.Robot([ar.Section(0.05, 2 * math.pi)] * 3)
    start = np.tile([2 * math.pi, 0.0], 3)
    found = solve_batch(
        robot, [[0, 0, 0.1], [0, 0, 0]], [[0, 0, -1], [0, 0, 1]], method="chords", start=start, max_iterations=30
    )
    assert np.isfinite(found.q).all()
    assert robot.within_limits(found.q, 0.0).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_same_answer_twice_and_in_a_batch(variant):
    robot = ROBOTS["varying"]
    positions, axes = targets(robot, 5)
    batch = solve_batch(robot, positions, axes, method="chords", variant=variant, max_iterations=30)
    for i in range(5):
        one = solve(robot, Target(positions[i], axes[i]), "chords", variant=variant, max_iterations=30)
        np.testing.assert_array_equal(one.q, batch.q[i])
        again = solve(robot, Target(positions[i], axes[i]), "chords", variant=variant, max_iterations=30)
        np.testing.assert_array_equal(one.q, again.q)


def test_trace_has_a_row_per_iteration():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    found = solve(robot, Target(positions[0], axes[0]), "chords", trace=True)
    assert found.reached
    assert len(found.trace) == found.iterations > 1
    np.testing.assert_array_equal(found.trace.q[-1], found.q)


def test_iteration_and_time_limits():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    target = Target(positions[0], axes[0])
    few = solve(robot, target, "chords", max_iterations=2, position_tol=1e-12)
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 2)
    short = solve(robot, target, "chords", max_time=1e-9, position_tol=1e-12)
    assert (short.status, short.iterations) == (Status.TIME_LIMIT, 1)


def test_options_change_the_way():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    target = Target(positions[0], axes[0])
    plain = solve(robot, target, "chords", trace=True)
    same = solve(robot, target, "chords", A=10, C=25, trace=True)
    np.testing.assert_array_equal(plain.trace.q, same.trace.q)
    for options in ({"A": 3}, {"C": 1}):
        other = solve(robot, target, "chords", trace=True, **options)
        assert not np.array_equal(plain.trace.q[:3], other.trace.q[:3])


@pytest.mark.parametrize(
    "options", [{"A": 0.5}, {"A": math.nan}, {"A": "3"}, {"C": 0}, {"C": 2.5}, {"C": True}, {"A": True}]
)
def test_refuses_options(options):
    with pytest.raises(MethodError, match=f"{next(iter(options))} = "):
        solve(arm(), Target([0, 0, 0.1]), "chords", **options)


# What the article's text says of its figures, at 1 um and 1 mrad: targets from bends up to 90 degrees.


def article(sections, bend_max, method):
    source = ar.Robot([ar.Section(0.1, math.radians(90))] * sections)
    positions, axes = targets(source, 2000, seed=1)
    robot = ar.Robot([ar.Section(0.1, math.radians(bend_max))] * sections)
    return 100 * solve_batch(robot, positions, axes, method=method).reached.mean()


@pytest.mark.compiled
def test_article_without_limits():
    # Three sections: chords ahead of tangents. More: tangents come to 100 %, chords stay at about 85 %.
    assert article(3, 360, METHOD.name) > article(3, 360, FABRIKC.name)
    assert article(5, 360, METHOD.name) == pytest.approx(85, abs=5)
    assert article(10, 360, METHOD.name) == pytest.approx(85, abs=6)
    assert article(5, 360, FABRIKC.name) > 98
    assert article(10, 360, FABRIKC.name) > 99.5


@pytest.mark.compiled
@pytest.mark.parametrize("sections", [3, 5, 10])
def test_article_within_limits(sections):
    # With limits chords find more, by up to 30 points.
    ahead = article(sections, 90, METHOD.name) - article(sections, 90, FABRIKC.name)
    assert 3 < ahead < 33
