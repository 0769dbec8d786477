"""Sections of variable length whose bend does not shrink with the length."""

import math

import numpy as np
import pytest

import arcreach as ar

SECTION = ar.Section(0.03, 1.5, stretch=0.02, coupled=False)
ROBOTS = {
    "alone": ar.Robot([SECTION]),
    "three": ar.Robot([SECTION, ar.Section(0.0, 2.5, stretch=0.05, coupled=False), SECTION]),
    "mixed": ar.Robot([SECTION, ar.Section(0.02, 1.0, stretch=0.03), ar.Section(0.03, 1.0), SECTION]),
    "twisted": ar.Robot([ar.Section(0.03, 1.5, stretch=0.02, coupled=False, twist=True)] * 3),
}


def test_a_short_section_bends_fully_and_no_further():
    robot = ROBOTS["alone"]
    assert robot.within_limits([1.5, 0.0, 0.03])
    assert not robot.within_limits([1.6, 0.0, 0.05])
    assert not robot.within_limits([1.0, 0.0, 0.06])
    assert not ar.Robot([ar.Section(0.03, 1.5, stretch=0.02)]).within_limits([1.5, 0.0, 0.03])
    assert np.allclose(robot.clip([2.0, 0.3, 0.01]), [1.5, 0.3, 0.03])
    assert np.allclose(robot.clip([-2.0, 0.3, 0.09]), [1.5, 0.3 - math.pi, 0.05])
    q = robot.sample(2000, seed=0)
    assert robot.within_limits(q, 0.0).all()
    short = q[:, 2] < 0.035
    assert q[short, 0].max() > 1.4


@pytest.mark.parametrize("kind", ["position", "axis", "rotation"])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_target_is_reached_within_the_limits(name, kind):
    robot = ROBOTS[name]
    q = robot.sample(60, seed=1)
    # Corners of the limits: shortest and longest, straight and fully bent.
    for element, k in robot.indexed_elements():
        rows = np.random.default_rng(2).integers(0, 2, (20, 2))
        q[:20, k] = rows[:, 0] * element.bend_max
        if element.stretch and not element.coupled:
            q[:20, k + 2] = element.length + rows[:, 1] * element.stretch
    q = robot.clip(q)
    found = ar.solve_batch(robot, ar.Targets.from_poses(robot.tip_pose(q), kind))
    assert found.reached.all()
    assert robot.within_limits(found.q, 1e-12).all()


@pytest.mark.parametrize("method", ["single-section", "fabrikx", "chords", "jacobian"])
def test_published_methods_use_the_whole_range(method):
    robot = ROBOTS["alone"]
    # Fully bent at the shortest length: out of reach if bend and length were coupled.
    target = ar.Target(robot.tip_pose([1.4, 0.5, 0.031])[:3, 3])
    assert ar.solve(robot, target, method, position_tol=1e-6).reached
    coupled = ar.Robot([ar.Section(0.03, 1.5, stretch=0.02)])
    assert not ar.solve(coupled, target, method, position_tol=1e-6).reached


def test_the_field_is_kept_in_files(tmp_path):
    ar.save_robot(ROBOTS["mixed"], tmp_path / "robot.toml")
    assert ar.load_robot(tmp_path / "robot.toml") == ROBOTS["mixed"]
    with pytest.raises(ar.RobotError, match="coupled = 1 is not accepted"):
        ar.Section(0.03, 1.5, stretch=0.02, coupled=1)


@pytest.mark.compiled
def test_a_path_is_followed_by_its_leader():
    robot = ar.Robot([ar.Prismatic(0.0, 0.2, (0, 0, 1)), SECTION, SECTION])
    angles = np.linspace(0.0, 1.2, 30)
    curve = np.stack([0.08 * (1 - np.cos(angles)), 0 * angles, 0.08 * np.sin(angles)], axis=1)
    path = ar.follow_the_leader(robot, curve)
    assert robot.within_limits(path.q).all()
