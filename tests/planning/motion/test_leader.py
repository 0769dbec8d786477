import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, TargetError


def curve(*parts, points=80):
    """A planar curve from the base on: arcs by curvature and length, one after another."""
    place, angle, rows = np.zeros(3), 0.0, [np.zeros((1, 3))]
    for curvature, length in parts:
        s = np.linspace(0.0, length, points)[1:]
        bend = angle + curvature * s
        if curvature:
            x, z = (np.cos(angle) - np.cos(bend)) / curvature, (np.sin(bend) - np.sin(angle)) / curvature
        else:
            x, z = s * np.sin(angle), s * np.cos(angle)
        rows.append(place + np.stack([x, 0.0 * x, z], axis=1))
        place, angle = rows[-1][-1], bend[-1]
    return np.vstack(rows)


# At a scale of 100 mm.
CURVES = {
    "C": curve((10.0, 0.1)),
    "J": curve((0.0, 0.05), (15.0, 0.05)),
    "S": curve((12.0, 0.05), (-12.0, 0.05)),
}


def inserted():
    """Three extensible sections on a slide: retracted they wait behind the first point of the curve."""
    sections = ar.load_robot("extensible-sections").elements
    return ar.Robot([ar.Prismatic(-0.15, 0.05, name="insertion"), *sections], name="inserted")


def distance_to_curve(points, line):
    """From points to a polygon that goes on along -z, by brute force over its sides."""
    line = np.vstack([[0.0, 0.0, -1.0], line])
    sides = np.diff(line, axis=0)
    away = points[:, None] - line[:-1]
    shares = np.clip((away * sides).sum(2) / (sides**2).sum(1), 0.0, 1.0)
    return np.linalg.norm(away - shares[..., None] * sides, axis=2).min(axis=1)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "robot", "most"),
    [
        ("C", "inserted", 1e-3),
        ("J", "inserted", 1e-3),
        ("S", "inserted", 3e-3),
        ("C", "telescopic-sections", 1e-4),
        ("J", "telescopic-sections", 1e-4),
        ("S", "telescopic-sections", 1e-3),
    ],
)
def test_the_body_stays_where_the_tip_has_been(name, robot, most):
    robot = inserted() if robot == "inserted" else ar.load_robot(robot)
    line = CURVES[name]
    path = ar.follow_the_leader(robot, line, points=25)
    assert path.reached
    assert robot.within_limits(path.q).all()
    worst = [distance_to_curve(body, line).max() for body in robot.backbone(path.q, 300)]
    np.testing.assert_allclose(path.body_deviation, worst, atol=2e-5)
    assert max(worst) < most
    tips = robot.tip_pose(path.q)[:, :3, 3]
    assert distance_to_curve(tips, line).max() < 1e-5
    np.testing.assert_allclose(tips[-1], line[-1], atol=1e-5)
    assert (np.diff(path.depth) > 0.0).all()


@pytest.mark.compiled
def test_in_space_and_by_insertion_alone():
    turn = np.linspace(0.0, 1.2, 120)
    line = np.stack([0.05 * (1 - np.cos(turn)), 0.02 * (turn - np.sin(turn)), 0.06 * np.sin(turn)], axis=1)
    robot = ar.Robot([ar.Prismatic(-0.2, 0.0), *ar.load_robot("fixed-sections").elements])
    path = ar.follow_the_leader(robot, line, points=20)
    assert path.reached
    assert path.worst_body_deviation < 2e-3
    assert "off the curve" in str(path)


@pytest.mark.compiled
def test_a_robot_that_cannot_shorten_says_how_far_it_is_off():
    # Extensible sections alone are 75 mm long at least, and straight then: no C can be followed from its beginning.
    path = ar.follow_the_leader(ar.load_robot("extensible-sections"), CURVES["C"], points=8)
    assert path.depth[0] == pytest.approx(0.075)
    assert path.worst_body_deviation > 1e-3


def test_what_cannot_be_followed_is_named():
    with pytest.raises(MethodError, match="slide along z"):
        ar.follow_the_leader(ar.load_robot("three-section"), CURVES["C"])
    with pytest.raises(MethodError, match="cannot follow its tip"):
        ar.follow_the_leader(ar.load_robot("ur5"), CURVES["C"])
    robot = ar.load_robot("extensible-sections")
    with pytest.raises(TargetError, match="enters 150 mm at most"):
        ar.follow_the_leader(robot, curve((0.0, 0.2)))
    with pytest.raises(TargetError, match="75 mm long at least"):
        ar.follow_the_leader(robot, curve((0.0, 0.05)))
    with pytest.raises(TargetError, match="away from the base"):
        ar.follow_the_leader(robot, CURVES["C"] + [0.01, 0, 0])
    with pytest.raises(TargetError, match="curve"):
        ar.follow_the_leader(robot, [[0, 0, 0]])
    with pytest.raises(TargetError, match="not finite"):
        ar.follow_the_leader(robot, [[0, 0, 0], [0, 0, np.nan]])
    with pytest.raises(TargetError, match="no length"):
        ar.follow_the_leader(robot, np.zeros((3, 3)))
