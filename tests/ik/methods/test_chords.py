"""Method `chords`: options, and what the article says of its figures."""

import math

import numpy as np
import pytest
from tests.ik.test_fabrik_chain import ROBOTS, arm, easy_targets, targets

import arcreach as ar
from arcreach.errors import MethodError
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target


def test_options_change_the_iterations():
    robot = ROBOTS["fixed"]
    positions, axes = easy_targets(robot)
    target = Target(positions[0], axes[0])
    plain = solve(robot, target, "chords", trace=True)
    same = solve(robot, target, "chords", A=10, C=25, trace=True)
    np.testing.assert_array_equal(plain.trace.q, same.trace.q)
    for options in ({"A": 3}, {"C": 1}, {"C": 1, "shake": "full"}):
        other = solve(robot, target, "chords", trace=True, **options)
        assert not np.array_equal(plain.trace.q[:3], other.trace.q[:3])


@pytest.mark.parametrize(
    "options",
    [
        {"A": 0.5},
        {"A": math.nan},
        {"A": "3"},
        {"C": 0},
        {"C": 2.5},
        {"C": True},
        {"A": True},
        {"shake": "half"},
        {"shake": np.array(["part", "full"])},
        {"position_period": -1},
        {"position_period": 1.5},
    ],
)
def test_refuses_options(options):
    with pytest.raises(MethodError, match=f"{next(iter(options))} = "):
        solve(arm(), Target([0, 0, 0.1]), "chords", **options)


@pytest.mark.compiled
def test_a_quarter_turn_frees_chains_that_are_stuck_in_a_plane():
    robot = ar.load_robot("three-section")
    positions = robot.tip_pose(robot.sample(300, seed=3))[:, :3, 3]
    options = {"method": "chords", "position_tol": 1e-4, "max_iterations": 300}
    stuck = ~solve_batch(robot, positions, **options).reached
    freed = solve_batch(robot, positions, position_period=100, **options).reached
    assert stuck.sum() > 20
    assert freed[stuck].mean() > 0.5
    assert freed[~stuck].mean() > 0.98


# Claims of the article's text on its figures, at 1 um and 1 mrad: targets from bends up to 90 degrees.


def article(sections, bend_max, method):
    source = ar.Robot([ar.Section(0.1, math.radians(90))] * sections)
    positions, axes = targets(source, 2000, seed=1)
    robot = ar.Robot([ar.Section(0.1, math.radians(bend_max))] * sections)
    return 100 * solve_batch(robot, positions, axes, method=method).reached.mean()


@pytest.mark.compiled
def test_article_without_limits():
    # Three sections: chords ahead of tangents. More: tangents come to 100 %, chords stay at about 85 %.
    assert article(3, 360, "chords") > article(3, 360, "fabrikc")
    assert article(5, 360, "chords") == pytest.approx(85, abs=5)
    assert article(10, 360, "chords") == pytest.approx(85, abs=6)
    assert article(5, 360, "fabrikc") > 98
    assert article(10, 360, "fabrikc") > 99.5


@pytest.mark.compiled
@pytest.mark.parametrize("sections", [3, 5, 10])
def test_article_within_limits(sections):
    # With limits chords find more, by up to 30 points.
    ahead = article(sections, 90, "chords") - article(sections, 90, "fabrikc")
    assert 3 < ahead < 33
