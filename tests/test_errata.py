"""Each erratum of docs/errata.md: the printed form fails, what arcreach does is right."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.kernels.clearance.body import PIECE_SIZE
from arcreach.kernels.clearance.forbidden_bends import MOVED, Balls, nearest_free_bend
from arcreach.kernels.published.avoidance import published_bend
from tests.reference import arc, rot_y, rot_z, shift


def printed_2_1(bend, length):
    """Equation 2.1 as it stands."""
    matrix = rot_y(bend)
    matrix[0, 3] = length * (1 - np.cos(bend)) / bend
    matrix[2, 3] = length * np.sin(bend) / bend
    return matrix


def test_k22_2_1_is_undefined_when_straight():
    with np.errstate(invalid="ignore"):
        assert np.isnan(printed_2_1(np.float64(0.0), 0.1)[:3, 3]).any()
    # Just beside it the printed quotient has lost all digits: it is wrong by its whole size.
    bend = 1e-9
    robot = ar.Robot([ar.Section(0.1, 1.0)])
    exact = 0.1 * bend / 2
    assert abs(printed_2_1(bend, 0.1)[0, 3] - exact) > 0.9 * exact
    assert robot.tip_pose([bend, 0.0])[0, 3] == pytest.approx(exact, rel=1e-15)
    np.testing.assert_allclose(robot.tip_pose([0.0, 0.0]), shift((0, 0, 0.1)), atol=1e-17)
    assert np.isfinite(robot.jacobian([0.0, 0.0])).all()


def test_k22_2_5_needs_a_stretch():
    def printed_limit(section, length):
        return section.bend_max * np.float64(length - section.length) / np.float64(section.stretch)

    fixed = ar.Section(0.1, 1.0)
    with np.errstate(invalid="ignore"):
        assert math.isnan(printed_limit(fixed, 0.1))
    assert ar.Robot([fixed]).within_limits([1.0, 0.0])
    extensible = ar.Section(0.1, 1.0, stretch=0.1)
    assert printed_limit(extensible, 0.15) == pytest.approx(0.5)
    assert ar.Robot([extensible]).within_limits([0.5, 0.0, 0.15])
    assert not ar.Robot([extensible]).within_limits([0.51, 0.0, 0.15])


def printed_2_6(bend, length, phi, omega):
    """Equation 2.6 for one sub-arc, its base left out."""
    return rot_z(phi) @ rot_z(omega) @ arc(bend, length) @ rot_z(-omega)


def test_k22_2_6_turns_twice():
    bend, length, direction = 1.0, 0.1, 0.6
    towards = lambda pose: math.atan2(pose[1, 3], pose[0, 3])  # noqa: E731
    # 2.9 sets both angles to the direction of the target: the tip ends up at twice that direction.
    assert towards(printed_2_6(bend, length, direction, direction)) == pytest.approx(2 * direction)
    plain = ar.Robot([ar.Section(length, 2.0)]).tip_pose([bend, direction])
    twisting = ar.Robot([ar.Section(length, 2.0, twist=True)]).tip_pose([bend, direction])
    assert towards(plain) == pytest.approx(direction)
    assert towards(twisting) == pytest.approx(direction)
    np.testing.assert_allclose(plain, printed_2_6(bend, length, 0.0, direction), atol=1e-16)
    np.testing.assert_allclose(twisting, printed_2_6(bend, length, direction, 0.0), atol=1e-16)


def test_k22_2_7_counts_the_base_twice():
    base = shift((0, 0, 0.2)) @ rot_y(0.3)
    body = rot_z(0.4) @ arc(1.0, 0.1) @ rot_z(-0.4)
    # T_0 of 2.7 and T_{1,0} inside B_1 of 2.6 are the same frame.
    printed = base @ (base @ body)
    robot = ar.Robot([ar.Link.from_matrix(base), ar.Section(0.1, 2.0)])
    np.testing.assert_allclose(robot.tip_pose([1.0, 0.4]), base @ body, atol=1e-15)
    assert np.linalg.norm(printed[:3, 3] - (base @ body)[:3, 3]) > 0.1


def test_k22_2_41_is_not_the_middle():
    robot = ar.Robot([ar.Section(0.1, 3.0)])
    bend = 2.0
    middle = robot.backbone([bend, 0.0], points=3)[1]
    printed = 2 * 0.1 * np.array([1 - math.cos(bend / 4), 0.0, math.sin(bend / 4)]) / bend
    right = 0.1 * np.array([1 - math.cos(bend / 2), 0.0, math.sin(bend / 2)]) / bend
    np.testing.assert_allclose(middle, right, atol=1e-16)
    assert np.linalg.norm(printed - middle) > 0.01


def printed_touch(bend, length, obstacle, size, radius):
    """Equations 2.43 to 2.47 in the plane, with the true centre of the arc."""
    gap = length / bend - math.dist(obstacle, (length / bend, 0.0))
    if abs(gap) < radius or abs(gap - size) < radius or abs(gap + size) < radius:
        return True
    return gap - size < 0 if gap > 0 else gap + size > 0


def free_distance(bend, length, obstacle):
    """Distance from the arc to a point of its plane, by dense sampling."""
    curve = ar.Robot([ar.Section(length, 6.0)]).backbone([bend, 0.0], points=400)[:, [0, 2]]
    return np.linalg.norm(curve - obstacle, axis=1).min()


def test_k22_2_43_sees_the_whole_circle():
    bend, length = 1.0, 0.1
    far_side = (2 * length / bend, 0.0)
    assert free_distance(bend, length, far_side) > 0.1
    assert printed_touch(bend, length, far_side, 0.01, 0.003)


def test_k22_2_48_moves_the_centre():
    rng = np.random.default_rng(0)
    length, size, radius = 0.1, 0.01, 0.003
    touching = freed = 0
    for _ in range(300):
        bend = rng.uniform(0.3, 2.5)
        obstacle = rng.uniform((-0.02, 0.03), (0.08, 0.11))
        if free_distance(bend, length, obstacle) > size + radius:
            continue
        touching += 1
        away = math.dist(obstacle, (length / bend, 0.0))
        gap = length / bend - away
        new = length / (away + size + radius) if gap > 0 else length / max(away - size - radius, 1e-3)
        freed += free_distance(min(new, 2 * math.pi), length, obstacle) > size + radius
    assert touching > 30
    assert freed < 0.5 * touching


def test_k22_2_48_frees_less_than_the_nearest_free_bend():
    rng = np.random.default_rng(0)
    length, size, radius = 0.1, 0.01, 0.003
    identity = tuple(np.eye(4)[:3].ravel())
    scratch = (*np.empty((3, 1)), np.empty(PIECE_SIZE))
    touching = by_print = moved = 0
    for _ in range(300):
        bend = rng.uniform(0.3, 2.5)
        obstacle = rng.uniform((-0.02, 0.03), (0.08, 0.11))
        if free_distance(bend, length, obstacle) > size + radius:
            continue
        touching += 1
        ball = np.array([[obstacle[0], 0.0, obstacle[1], size]])
        printed = published_bend(identity, 0.0, length, bend, radius, ball)
        by_print += 0.0 <= printed <= 6.0 and free_distance(printed, length, obstacle) > size + radius
        code, free = nearest_free_bend(identity, 0.0, length, bend, 6.0, radius, Balls(ball, *scratch))
        assert code == MOVED
        away = obstacle if free >= 0.0 else obstacle * (-1.0, 1.0)
        moved += free_distance(abs(free), length, away) > size + radius
    assert touching > 30
    assert moved == touching
    assert by_print < 0.5 * touching


def test_rgm3_matrix_has_25_for_250():
    # Row 0 of table 5: q = (0, 0, pi/2) reaches (250, 0, 1100) mm. With the printed 25 it would stop 225 mm short.
    q = [0.0, 0.0, math.pi / 2]
    for name in ("librergm3", "librergm3-matrix"):
        np.testing.assert_allclose(ar.load_robot(name).tip_pose(q)[:3, 3], (0.25, 0, 1.1), atol=1e-15)
    printed_x = 0.025 * math.cos(q[0]) * math.sin(q[2])
    assert abs(printed_x - 0.25) == pytest.approx(0.225)


def stepwise(target, half_range):
    """The article's search in millimetres: step q0, q2, q1 in turn, each while the tip comes nearer."""
    ranges = (half_range, 300.0, 5 * math.pi / 6)
    q = [0.0, 0.0, math.pi / 4]
    divisor = 100

    def tip(q):
        reach = 250 * math.sin(q[2])
        return reach * math.cos(q[0]), reach * math.sin(q[0]), 250 * math.cos(q[2]) + q[1] + 1100

    while max(abs(a - b) for a, b in zip(tip(q), target, strict=True)) > 0.01:
        for joint in (0, 2, 1):
            for sign in (1, -1):
                moved = False
                while True:
                    trial = list(q)
                    trial[joint] += sign * 2 * ranges[joint] / divisor
                    nearer = math.dist(tip(trial), target) - math.dist(tip(q), target)
                    if abs(trial[joint]) > ranges[joint] or nearer > 0 or (nearer == 0 and sign < 0):
                        break
                    q, moved = trial, True
                if moved:
                    break
        divisor = int(1.25 * divisor)
    return [round(value, 4) for value in q]


def test_rgm3_range_of_q0():
    # Rows 1 to 3 of table 5.
    printed = {
        (225, 25, 1080): [0.1107, 86.0446, 2.0089],
        (200, 50, 1060): [0.2450, 101.4052, 2.1720],
        (175, 75, 1040): [0.4050, 102.0207, 2.2759],
    }
    for target, row in printed.items():
        assert stepwise(target, math.pi) == row
    assert stepwise((200, 50, 1060), 2 * math.pi) != printed[200, 50, 1060]
    robot = ar.load_robot("librergm3")
    assert robot.upper[0] == -robot.lower[0] == math.pi
