"""The functions of libreRGM3 under Python names."""

import csv
import io
import math

import numpy as np
import pytest
from tests.reference import rot_x, rot_y, rot_z

import arcreach as ar
from arcreach.ik import hierarchical as tools

Q = (0.3, 0.05, 1.2)


@pytest.fixture(scope="module", params=["librergm3", "librergm3-matrix"])
def arm(request):
    if request.param == "librergm3-matrix":
        pytest.importorskip("sympy")
    return ar.load_robot(request.param)


def test_steps(arm):
    assert tools.step_from_limits(arm, "q1", 100) == pytest.approx(0.006)
    assert tools.step_from_limits(arm, 2, 50) == pytest.approx(math.radians(6))
    assert tools.step_from_range(0.5, 4) == 0.125
    endless = ar.Robot([ar.Revolute(lower=-math.inf, upper=math.inf)])
    with pytest.raises(ar.ConfigurationError, match="has no limits; give a range to step_from_range"):
        tools.step_from_limits(endless, 0, 10)


def test_position_step_goes_up_or_down_or_stays(arm):
    for wanted in (0.35, 0.25):
        goal = ar.Target(arm.tip_pose((wanted, *Q[1:]))[:3, 3])
        moved = tools.position_step(arm, Q, goal, "q0", 0.02)
        np.testing.assert_allclose(moved, (0.3 + math.copysign(0.02, wanted - 0.3), *Q[1:]))
    np.testing.assert_array_equal(tools.position_step(arm, Q, ar.Target(arm.tip_pose(Q)[:3, 3]), "q0", 0.02), Q)


def test_orientation_step_looks_at_the_orientation(arm):
    # The target lies lower, but is turned the other way.
    pose = arm.tip_pose((Q[0], Q[1], Q[2] + 0.1))
    pose[2, 3] = arm.tip_pose((Q[0], Q[1], Q[2] - 0.1))[2, 3]
    pose[:2, 3] = arm.tip_pose((Q[0], Q[1], Q[2] - 0.1))[:2, 3]
    assert tools.orientation_step(arm, Q, pose, "q2", 0.02)[2] == pytest.approx(Q[2] + 0.02)
    assert tools.position_step(arm, Q, pose, "q2", 0.02)[2] == pytest.approx(Q[2] - 0.02)
    # q1 does not turn the tip: upwards a step that changes nothing is kept.
    assert tools.orientation_step(arm, Q, pose, "q1", 0.02)[1] == pytest.approx(Q[1] + 0.02)


def test_a_step_stays_inside(arm):
    at_end = (0.0, 0.299, 1.0)
    goal = ar.Target(arm.tip_pose((0.0, 0.3, 1.0))[:3, 3] + (0, 0, 1.0))
    np.testing.assert_array_equal(tools.position_step(arm, at_end, goal, "q1", 0.01), at_end)


def test_a_direction_steps_over_the_half_turn():
    section = ar.Robot([ar.Section(0.1, 2.0)])
    goal = ar.Target(section.tip_pose((1.0, -3.0))[:3, 3])
    moved = tools.position_step(section, (1.0, 3.1), goal, "section-1.direction", 0.1)
    np.testing.assert_allclose(moved, (1.0, 3.2 - 2 * math.pi))


def test_limit_reached(arm):
    assert not tools.limit_reached(arm, Q, "q1")
    assert not tools.limit_reached(arm, (0, 0.3, 0), "q1")
    assert tools.limit_reached(arm, (0, 0.31, 0), "q1")
    assert tools.limit_reached(arm, (0, -0.31, 0), "q1")


@pytest.mark.parametrize("coordinate", [0, 1, 2])
@pytest.mark.parametrize("nearest", [False, True])
def test_jumps_choose_among_three(arm, coordinate, nearest):
    goal = ar.Target.from_pose(arm.tip_pose((1.0, 0.2, -1.5)))
    lower, upper = arm.lower[coordinate], arm.upper[coordinate]
    trials = np.tile(Q, (3, 1))
    trials[:, coordinate] = lower, 0.5 * (lower + upper), upper
    poses = arm.tip_pose(trials)
    distances = np.linalg.norm(poses[:, :3, 3] - goal.position, axis=1)
    turns = np.arccos(np.clip(0.5 * (np.einsum("nij,ij->n", poses[:, :3, :3], goal.rotation) - 1.0), -1, 1))
    for jump, errors in ((tools.position_jump, distances), (tools.orientation_jump, turns)):
        landed = jump(arm, Q, goal, coordinate, nearest=nearest)
        assert landed[coordinate] in trials[:, coordinate]
        place = list(trials[:, coordinate]).index(landed[coordinate])
        assert errors[place] == pytest.approx(errors.min() if nearest else errors.max(), abs=1e-9)


def test_a_jump_keeps_coupled_limits():
    section = ar.Robot([ar.Section(0.02, 2.0, stretch=0.05)])
    q = (1.0, 0.0, 0.05)
    # At its shortest it must be straight, so that value is not allowed.
    landed = tools.position_jump(section, q, ar.Target((0, 0, 0.5)), "section-1.length")
    assert section.within_limits(landed, 0.0)


def test_error_matrices(arm):
    pose, wanted = arm.tip_pose(Q), arm.tip_pose((0.5, -0.1, 0.9))
    errors = tools.absolute_errors(pose, wanted)
    np.testing.assert_array_equal(errors, wanted - pose)
    np.testing.assert_array_equal(errors, tools.absolute_errors(pose, ar.Target.from_pose(wanted)))
    relative, absolute = tools.relative_errors(pose, wanted)
    assert np.isfinite(relative).all()
    np.testing.assert_array_equal(absolute, wanted == 0.0)
    np.testing.assert_allclose((relative / 100 * wanted)[~absolute], errors[~absolute], atol=1e-15)
    np.testing.assert_array_equal(relative[absolute], errors[absolute])


def test_what_a_target_does_not_ask_for_has_no_error(arm):
    pose, wanted = arm.tip_pose(Q), arm.tip_pose((0.5, -0.1, 0.9))
    for target, columns in ((ar.Target(wanted[:3, 3]), 3), (ar.Target(wanted[:3, 3], axis=wanted[:3, 2]), 2)):
        errors = tools.absolute_errors(pose, target)
        assert (errors[:3, :columns] == 0).all()
        np.testing.assert_allclose(errors[:3, columns:], (wanted - pose)[:3, columns:], atol=1e-15)
        assert np.isnan(tools.target_matrix(target)[:3, :columns]).all()
        assert np.isfinite(tools.relative_errors(pose, target)[0]).all()


def test_angles_between_axes(arm):
    pose = arm.tip_pose(Q)
    turned = tools.angles(pose)
    np.testing.assert_allclose(np.cos(turned[:3, :3]), pose[:3, :3], atol=1e-15)
    np.testing.assert_array_equal(turned[:, 3], pose[:, 3])
    # The angles may be compared as matrices too.
    assert tools.absolute_errors(turned, tools.angles(pose)).any() == np.False_
    beyond = np.eye(4)
    beyond[0, 0] = 1 + 1e-15
    assert np.isfinite(tools.angles(beyond)).all()


def test_largest_and_mean_errors():
    errors = np.zeros((4, 4))
    errors[:3, 3] = 0.003, -0.006, 0.0
    errors[1, 2] = -0.9
    assert tools.largest_position_error(errors) == 0.006
    assert tools.mean_position_error(errors) == pytest.approx(0.003)
    assert tools.largest_orientation_error(errors) == 0.9
    assert tools.mean_orientation_error(errors) == pytest.approx(0.1)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 3.0, math.pi])
def test_rotation_angle(angle):
    base = rot_z(0.4) @ rot_y(0.7)
    assert tools.rotation_angle(base, base @ rot_x(angle)) == pytest.approx(angle, abs=1e-15, rel=1e-9)


def test_texts(arm):
    assert tools.matrix_text([[1, -2.5], [10, 0]], digits=2) == " 1.00  -2.50\n10.00   0.00"
    assert tools.coordinates_text(arm, Q, 7) == "7: q0 = 0.3000 rad, q1 = 50.0000 mm, q2 = 1.2000 rad"
    pose = np.eye(4)
    pose[:3, 3] = 0.001, 0.0, -0.002
    assert tools.errors_text(pose, ar.Target((0, 0, 0))) == "position: largest 2.0000 mm, mean 1.0000 mm"
    text = tools.errors_text(pose, rot_x(math.pi / 2))
    assert text.splitlines()[1].startswith("orientation: largest 1.000000, mean 0.444444 (cosines)")
    assert text.endswith("turned by 90.0000°")


def test_csv_log(arm):
    solution = ar.solve(
        arm, ar.Target(arm.tip_pose((0.5, -0.1, 0.9))[:3, 3]), "hierarchical", start=Q, trace=True, cycles=3
    )
    rows = list(csv.DictReader(io.StringIO(tools.csv_log(arm, solution.trace))))
    assert len(rows) == solution.iterations + 1
    assert [int(row["iteration"]) for row in rows] == list(range(len(rows)))
    for name in (*arm.coordinates, *solution.trace.columns):
        values = solution.trace.q[:, arm.coordinates.index(name)] if name in arm.coordinates else None
        expected = solution.trace.columns[name] if values is None else values
        np.testing.assert_array_equal([float(row[name]) for row in rows], expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda arm: tools.position_step(arm, Q, np.eye(4), "q9", 0.1), "coordinate = 'q9' is not accepted"),
        (lambda arm: tools.position_step(arm, Q, np.eye(4), 3, 0.1), "coordinate = 3 is not accepted"),
        (lambda arm: tools.position_step(arm, Q, np.eye(4), 0, 0.0), "step = 0.0 is not accepted"),
        (lambda arm: tools.position_step(arm, [Q, Q], np.eye(4), 0, 0.1), "give one configuration of 3 numbers"),
        (lambda arm: tools.position_step(arm, Q, np.diag([2, 1, 1, 1]), 0, 0.1), "rotation"),
        (lambda arm: tools.absolute_errors(np.eye(3), np.eye(4)), "pose = "),
        (lambda arm: tools.absolute_errors(np.eye(4), "x"), "target = 'x' is not accepted; give a 4 x 4 matrix"),
        (lambda arm: tools.step_from_range(-1.0, 10), "span = -1.0"),
        (lambda arm: tools.step_from_range(1.0, 0), "divisions = 0"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ar.ArcreachError) as caught:
        call(ar.load_robot("librergm3"))
    assert words in str(caught.value)


def test_a_continuous_joint_has_no_corner_to_jump_to():
    endless = ar.Robot([ar.Revolute(lower=-math.inf, upper=math.inf), ar.Link((0.1, 0, 0))])
    with pytest.raises(ar.ConfigurationError, match="has no limits; give one that has"):
        tools.position_jump(endless, [0.0], ar.Target((0.1, 0, 0)), 0)


def test_steps_and_jumps_bring_the_tool_of_a_target_nearer():
    arm = ar.Robot([ar.Revolute(lower=-2.0, upper=2.0), ar.Link((0.1, 0.0, 0.0))])
    # The tool stands 0.1 m to the left of the tip.
    aim = ar.Target([0.1, 0.1, 0.0], tool=[0.0, 0.1, 0.0])
    assert tools.position_step(arm, [0.5], aim, 0, 0.1)[0] == pytest.approx(0.4)
    assert tools.position_jump(arm, [0.5], aim, 0, nearest=True)[0] == 0.0
