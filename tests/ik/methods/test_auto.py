"""`auto` does not fail: small shares of the published cases, corners, whole poses, mixed chains."""

import itertools

import numpy as np
import pytest

import arcreach as ar
from arcreach.ik.solve import solve_batch

pytestmark = pytest.mark.compiled

KINDS = {"F": (0.05, 0.0), "V": (0.025, 0.025), "T": (0.0, 0.05)}


def failures(robot, Q, kind, position_tol=1e-6, angle_tol=1e-3):
    poses = robot.tip_pose(Q)
    orientation = {"axis": {"axes": poses[:, :3, 2]}, "rotation": {"rotations": poses[:, :3, :3]}}.get(kind, {})
    found = solve_batch(robot, poses[:, :3, 3], **orientation, position_tol=position_tol, angle_tol=angle_tol)
    assert robot.within_limits(found.q).all()
    return int((~found.reached).sum())


def test_every_third_case_of_table_3_9():
    total = 0
    for combination in itertools.product("FVT", repeat=3):
        for bend in range(9, 181, 27):
            robot = ar.Robot([ar.Section(KINDS[kind][0], np.radians(bend), KINDS[kind][1]) for kind in combination])
            total += failures(robot, robot.sample(150, seed=bend), "axis")
    assert total == 0


@pytest.mark.parametrize("kind", ["position", "axis"])
@pytest.mark.parametrize("name", ["two-section", "three-section", "five-section", "ten-section"])
def test_tables_3_3_and_3_4(name, kind):
    robot = ar.load_robot(name)
    assert failures(robot, robot.sample(3000, seed=0), kind, 1e-4, 0.1) == 0


@pytest.mark.parametrize("number", range(1, 7))
def test_table_3_11(number):
    robot = ar.load_robot(f"variable-curvature-{number}")
    assert failures(robot, robot.sample(3000, seed=0), "axis", 1e-5, np.radians(0.01)) == 0


@pytest.mark.parametrize("name", ["three-section", "fixed-sections", "telescopic-sections", "extensible-sections"])
def test_a_nanometre(name):
    robot = ar.load_robot(name)
    assert failures(robot, robot.sample(3000, seed=0), "axis", 1e-9, 1e-9) == 0


@pytest.mark.parametrize(("sections", "bend"), [(3, 180), (3, 90), (4, 180), (5, 90), (10, 90)])
def test_whole_poses(sections, bend):
    robot = ar.Robot([ar.Section(1.0, np.radians(bend))] * sections)
    assert failures(robot, robot.sample(2000, seed=0), "rotation", 1e-6, 1e-6) == 0


def corners(robot, n, seed):
    """Every bend at zero or its largest, every length at an end."""
    rng = np.random.default_rng(seed)
    q = robot.sample(n, rng)
    for section, k in robot.indexed_elements():
        bent = rng.integers(0, 2, n)
        if section.stretch:
            out = rng.integers(0, 2, n)
            q[:, k + 2] = section.length + out * section.stretch
            bent = bent * out
        q[:, k] = bent * section.bend_max
    return robot.clip(q)


@pytest.mark.parametrize(
    "name",
    ["two-section", "three-section", "five-section", "ten-section", "telescopic-sections", "extensible-sections"],
)
def test_corners_of_the_limits(name):
    robot = ar.load_robot(name)
    assert failures(robot, corners(robot, 2000, seed=0), "axis") == 0


@pytest.mark.parametrize("name", ["puma-560", "ur5", "iiwa-14", "panda", "era-like", "arm-8r", "rail-iiwa-14",
                                  "ur5-bending-tool", "librergm3"])  # fmt: skip
def test_arms_and_an_arm_with_a_bending_tool(name):
    robot = ar.load_robot(name)
    kind = "position" if name == "librergm3" else "rotation"
    assert failures(robot, robot.sample(500, seed=0), kind, 1e-6, 1e-6) == 0


def test_insertion_roll_links_twist_and_parallelograms():
    robot = ar.Robot(
        [
            ar.Prismatic(0.0, 0.05),
            ar.Revolute(),
            ar.Section(0.05, 1.5, twist=True),
            ar.Link((0.0, 0.002, 0.01)),
            ar.Section(0.02, 1.5, stretch=0.03, twist=True),
            ar.Parallelogram((0.02, 0.0, 0.01), (0, 1, 0), -1.0, 1.0),
            ar.Section(0.0, 2.0, stretch=0.04),
        ]
    )
    for kind in ("position", "axis", "rotation"):
        assert failures(robot, robot.sample(500, seed=0), kind, 1e-6, 1e-6) == 0


def test_unreachable_targets_end_within_limits_and_are_finite():
    robot = ar.load_robot("mixed-sections")
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(200, 3)) * robot.reach
    found = solve_batch(robot, positions, rng.normal(size=(200, 3)))
    assert np.isfinite(found.q).all()
    assert robot.within_limits(found.q).all()
    assert (~found.reached).sum() > 150
