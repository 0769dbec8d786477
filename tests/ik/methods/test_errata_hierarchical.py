"""The errata of [RGM3] that concern its library: the printed form fails, what arcreach does is right."""

import math

import numpy as np
import pytest
from tests.reference import rot_x, rot_y, rot_z

import arcreach as ar
from arcreach.ik import hierarchical as tools

ARM = ar.load_robot("librergm3")


def test_rgm3_in_range_is_true_of_everything():
    def printed(q, lower, upper):
        """Return what is_limit_reached answers: 1 beyond a limit, 0 inside; the same value may give both."""
        return {answer for answer, holds in ((1, q > upper or q < lower), (0, q < upper or q > lower)) if holds}

    lower, upper = ARM.lower[1], ARM.upper[1]
    for q, beyond in ((-0.5, True), (0.0, False), (0.5, True)):
        # 0 is always among the answers, so beyond a limit it contradicts the 1.
        assert 0 in printed(q, lower, upper)
        assert (1 in printed(q, lower, upper)) == beyond
        assert tools.limit_reached(ARM, (0, q, 0), "q1") == beyond


def test_rgm3_relative_errors_divide_by_zero():
    wanted, pose = ARM.tip_pose((0.0, 0.0, math.pi / 2)), ARM.tip_pose((0.1, 0.0, 1.5))
    # The first point of the article's own line has y = 0, and its matrix a zero in its last row.
    assert wanted[1, 3] == 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        printed = (wanted - pose) / wanted * 100
    assert not np.isfinite(printed).all()
    values, absolute = tools.relative_errors(pose, wanted)
    assert np.isfinite(values).all()
    assert absolute[1, 3]
    assert values[1, 3] == wanted[1, 3] - pose[1, 3]
    np.testing.assert_allclose(values[~absolute], printed[~absolute])


def test_rgm3_angles_between_axes_are_no_rotation():
    def printed(pose, wanted):
        return abs(tools.angles(wanted)[:3, :3] - tools.angles(pose)[:3, :3]).max()

    # About one axis it is right; about a diagonal 120 degrees become 90.
    assert printed(np.eye(4), rot_x(0.3)) == pytest.approx(0.3)
    swap = np.eye(4)[[2, 0, 1, 3]]
    assert printed(np.eye(4), swap) == pytest.approx(math.pi / 2)
    assert tools.rotation_angle(np.eye(4), swap) == pytest.approx(2 * math.pi / 3)
    # And it depends on the frame in which it is read.
    frame = rot_z(0.7) @ rot_y(0.5)
    assert printed(frame, frame @ rot_x(0.3)) < 0.29
    assert tools.rotation_angle(frame, frame @ rot_x(0.3)) == pytest.approx(0.3)


@pytest.mark.compiled
def test_rgm3_cap_on_cycles_is_missing():
    # Out of reach, the largest error stays above any tolerance, and the printed loop ends by its tolerance alone.
    target = ar.Target((0.3, 0.0, 1.1))
    start = (0.0, 0.0, math.pi / 4)
    lengths = {}
    for cycles in (10, 20, 40):
        solution = ar.solve(ARM, target, "hierarchical", start=start, order=("q0", "q2", "q1"), cycles=cycles)
        assert solution.position_error > 0.049
        lengths[cycles] = solution.iterations
    assert lengths[10] < lengths[20] < lengths[40]
    ended = ar.solve(ARM, target, "hierarchical", start=start)
    assert ended.status in (ar.Status.STALLED, ar.Status.ITERATION_LIMIT)


def test_rgm3_both_needs_a_rule():
    # One step of q2 brings the tip nearer and turns it away: of the two checks one holds and one fails, either way.
    q = np.array([0.2, 0.0, 1.2])
    pose = ARM.tip_pose((0.2, 0.0, 1.1))
    pose[:3, :3] = ARM.tip_pose((0.2, 0.0, 1.3))[:3, :3]
    target = ar.Target.from_pose(pose)
    before = ARM.tip_pose(q)
    for step in (0.02, -0.02):
        after = ARM.tip_pose((q[0], q[1], q[2] + step))
        nearer = math.dist(after[:3, 3], pose[:3, 3]) < math.dist(before[:3, 3], pose[:3, 3])
        turned = tools.rotation_angle(after, pose) < tools.rotation_angle(before, pose)
        assert nearer != turned
    # The sum says which weighs more; its scale turns the answer round.
    moved = {}
    for scale in (0.05, 5.0):
        call = {"start": q, "order": ["q2"], "roles": "both", "cycles": 1, "scale": scale}
        moved[scale] = ar.solve(ARM, target, "hierarchical", trace=True, **call).trace.q[-1, 2] - q[2]
    assert moved[0.05] < 0.0 < moved[5.0]


def test_rgm3_jump_is_measured_from_the_tip():
    def printed(q, k):
        """The corner whose orientation differs most from the present one; the target is not asked."""
        here = ARM.tip_pose(q)
        corners = np.tile(q, (3, 1))
        corners[:, k] = ARM.lower[k], 0.5 * (ARM.lower[k] + ARM.upper[k]), ARM.upper[k]
        return max(corners, key=lambda corner: tools.rotation_angle(here, ARM.tip_pose(corner)))

    q = np.array([0.0, 0.0, ARM.upper[2]])
    target = ARM.tip_pose((0.0, 0.0, 0.0))
    # As printed the jump lands on the wanted orientation itself, though it is to be the farthest from it.
    assert tools.rotation_angle(ARM.tip_pose(printed(q, 2)), target) == pytest.approx(0.0, abs=1e-12)
    far = tools.orientation_jump(ARM, q, target, "q2")
    assert tools.rotation_angle(ARM.tip_pose(far), target) == pytest.approx(5 * math.pi / 6)


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
