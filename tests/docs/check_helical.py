"""Robots with the helical joint of CONTRIBUTING.md; run by test_new_element.py in a copied package."""

import itertools
import math
import sys

import numpy as np
import pytest
from arcreach.elements.helical import Helical

import arcreach as ar
from arcreach.cli import main
from arcreach.errors import MethodError, RobotError
from arcreach.files import openscad_text, write_urdf
from arcreach.ik.method import methods
from arcreach.kernels.chain.layout import ROTATION
from arcreach.kernels.clearance.gradient import Contact, point_gradient
from arcreach.kernels.solver.contexts import Goal
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.planning.motion.motion_check import MotionCheck, VariableSpace
from arcreach.robots.body_mesh import body_mesh

ROBOT = ar.Robot(
    [
        Helical(0.01, -5.0, 5.0, radius=0.012, name="screw"),
        ar.Link((0.0, 0.02, 0.10), radius=0.01),
        ar.Revolute((0.0, 1.0, 0.0), -2.0, 2.0),
        ar.Link((0.0, 0.0, 0.12), radius=0.01),
        Helical(-0.02, -3.0, 4.0, axis=(1.0, 0.0, 1.0), radius=0.01),
        ar.Section(0.10, 1.5, stretch=0.05, radius=0.008),
        ar.Link((0.0, 0.0, 0.03)),
    ],
    name="screws",
)
Q = ROBOT.sample(12, seed=3)


def screw(joint, angle):
    """The motion of a helical joint by the exponential series of its twist."""
    x, y, z = joint.axis
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    twist[:3, 3] = joint.pitch * np.array(joint.axis)
    term = motion = np.eye(4)
    for k in range(1, 60):
        term = term @ twist * (angle / k)
        motion = motion + term
    return motion


def test_fields_are_checked():
    with pytest.raises(RobotError, match="pitch = 'steep' is not accepted"):
        Helical("steep", 0.0, 1.0)
    with pytest.raises(RobotError, match="lower"):
        Helical(0.01, -math.inf, math.inf)


def test_pose():
    for q in Q:
        frames = ROBOT.frames(q)
        np.testing.assert_allclose(frames[1], screw(ROBOT.elements[0], q[0]), atol=1e-12)
        np.testing.assert_allclose(np.linalg.inv(frames[4]) @ frames[5], screw(ROBOT.elements[4], q[2]), atol=1e-12)
    np.testing.assert_array_equal(ROBOT.tip_pose(Q), [ROBOT.tip_pose(q) for q in Q])
    np.testing.assert_array_equal(ROBOT.frames(Q), [ROBOT.frames(q) for q in Q])
    line = ROBOT.backbone(Q[0], 200)
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).max() < 1.01 * ROBOT.reach / 199


def test_jacobian():
    step = 1e-6
    for q in Q[:4]:
        J = ROBOT.jacobian(q)
        R = ROBOT.tip_pose(q)[:3, :3]
        for k in range(ROBOT.dof):
            aside = step * np.eye(ROBOT.dof)[k]
            slope = (ROBOT.tip_pose(q + aside) - ROBOT.tip_pose(q - aside)) / (2.0 * step)
            spin = slope[:3, :3] @ R.T
            expected = [*slope[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]]
            np.testing.assert_allclose(J[:, k], expected, atol=1e-8)


@pytest.mark.parametrize("mode", ["position", "axis", "rotation"])
def test_auto_solves(mode):
    for q in Q[:6]:
        T = ROBOT.tip_pose(q)
        asked = {"axis": T[:3, 2]} if mode == "axis" else {"rotation": T[:3, :3]} if mode == "rotation" else {}
        answer = ar.solve(ROBOT, ar.Target(T[:3, 3], **asked))
        assert answer.reached
        assert ROBOT.within_limits(answer.q)
        pose = ROBOT.tip_pose(answer.q)
        assert np.linalg.norm(pose[:3, 3] - T[:3, 3]) <= 1e-6
    far = ar.solve(ROBOT, ar.Target((1.0, 0.0, 0.0)))
    assert not far.reached
    assert ROBOT.within_limits(far.q)


def test_a_batch_solves_as_single_calls_do():
    T = ROBOT.tip_pose(Q[:4])
    batch = ar.solve_batch(ROBOT, T[:, :3, 3], rotations=T[:, :3, :3])
    single = [ar.solve(ROBOT, ar.Target(pose[:3, 3], rotation=pose[:3, :3])).q for pose in T]
    np.testing.assert_array_equal(batch.q, single)


def test_full_turns_are_other_solutions():
    for pitch, expected in ((0.0, [1.0 - math.tau, 1.0]), (0.01, [1.0])):
        robot = ar.Robot([Helical(pitch, -7.0, 7.0), ar.Link((0.1, 0.0, 0.0))])
        found = ar.solve_all(robot, ar.Target(robot.tip_pose([1.0])[:3, 3]), position_tol=1e-9)
        assert sorted(answer.q[0] for answer in found) == pytest.approx(expected, abs=1e-6)


def test_the_solver_s_own_kinematics_agree():
    model = ROBOT.model.for_kernels(ROTATION)
    tip = ROBOT.tip_pose(Q[0])
    e, J = np.zeros(6), np.zeros((ROBOT.dof, 6))
    goal = Goal(np.concatenate([tip[:3, :3].ravel(), tip[:3, 3]]), ROTATION, 0.0, 0.0)
    evaluate(model, goal, ROBOT.model.to_variables(Q[:1])[0], e, J)
    np.testing.assert_allclose(e, 0.0, atol=1e-12)
    for k in (0, 1, 2):
        exact = ROBOT.jacobian(Q[0])[:, k]
        np.testing.assert_allclose(J[k, :3], tip[:3, :3].T @ exact[:3], atol=1e-10)
        np.testing.assert_allclose(J[k, 3:] / model.weight, tip[:3, :3].T @ exact[3:], atol=1e-10)


@pytest.mark.parametrize("name", [name for name in methods() if name != "auto"])
def test_other_methods_serve_or_refuse_it(name):
    joints = ar.Robot([element for element in ROBOT.elements if not isinstance(element, ar.Section)])
    for robot in (joints, ROBOT):
        target = ar.Target(robot.tip_pose(robot.sample(1, seed=1)[0])[:3, 3])
        if "helical" not in methods()[name].elements:
            with pytest.raises(MethodError, match="the robot has a helical"):
                ar.solve(robot, target, method=name)
        elif methods()[name].refusal(robot, 0) is None:
            assert robot.within_limits(ar.solve(robot, target, method=name, max_iterations=5).q)


def test_clearance():
    scene = ar.Scene([ar.Sphere((0.05, 0.0, 0.02), 0.01)])
    for q in Q[:4]:
        line = np.linspace(0.0, 1.0, 2001)[:, None] * ROBOT.frames(q)[1, :3, 3]
        near = np.linalg.norm(line - (0.05, 0.0, 0.02), axis=1).min() - 0.01 - 0.012
        assert ar.clearance(ar.Robot(ROBOT.elements[:1]), q[:1], scene) == pytest.approx(near, abs=1e-6)


@pytest.mark.parametrize("element", [0, 1, 3, 4, 6])
def test_gradient_of_a_clearance(element):
    share, towards, step = 0.7, np.array([0.6, -0.48, 0.64]), 1e-6

    def along(q):
        start, end = ROBOT.frames(q)[element : element + 2, :3, 3]
        return towards @ (start + share * (end - start))

    for q in Q[:3]:
        start, end = ROBOT.frames(q)[element : element + 2, :3, 3]
        found = np.zeros(ROBOT.dof)
        contact = Contact(tuple(start + share * (end - start)), tuple(towards))
        point_gradient(ROBOT.packed, q, element, share, contact, found)
        expected = [(along(q + aside) - along(q - aside)) / (2.0 * step) for aside in step * np.eye(ROBOT.dof)]
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_obstacles_are_avoided():
    # The ball lies where the arm is without it.
    target = ar.Target(ROBOT.tip_pose(Q[0])[:3, 3])
    straight = ar.solve(ROBOT, target)
    scene = ar.Scene([ar.Sphere(ROBOT.frames(straight.q)[3, :3, 3], 0.02)])
    answer = ar.solve(ROBOT, target, scene=scene, margin=0.002)
    assert answer.reached
    assert ROBOT.within_limits(answer.q)
    assert ar.clearance(ROBOT, answer.q, scene) >= 0.002 - 1e-9


def test_motions_are_certified():
    space = VariableSpace(ROBOT)
    V = space.variables(Q)
    for a, b in itertools.pairwise(V):
        along = ROBOT.frames(space.coordinates(a + np.linspace(0.0, 1.0, 101)[:, None] * (b - a)))[:, :, :3, 3]
        moved = np.linalg.norm(np.diff(along, axis=0), axis=2).sum(axis=0).max()
        assert moved <= space.travels(a, b) * (1.0 + 1e-12)
    alone = VariableSpace(ar.Robot(ROBOT.elements[:1]))
    assert alone.travels(np.array([-1.0]), np.array([2.0])) == pytest.approx(0.03)
    scene = ar.Scene([ar.Sphere((0.16, 0.16, 0.05), 0.03)])
    check = MotionCheck(space, scene, 0.0)
    near = V[0] + 0.2 * (V - V[0])
    free, certified = check.certify(near)
    for i in np.flatnonzero(free):
        dense = space.coordinates(near[i] + np.linspace(0.0, 1.0, 40)[:, None] * (near[i + 1] - near[i]))
        assert certified[i] <= min(ar.clearance(ROBOT, q, scene) for q in dense) + 1e-9
    assert free.any()


def test_paths_are_followed():
    line = np.linspace(ROBOT.tip_pose(Q[0])[:3, 3], ROBOT.tip_pose(ROBOT.clip(Q[0] + 0.05))[:3, 3], 4)
    path = ar.follow(ROBOT, line, max_step=0.3)
    assert path.position_error.max() <= 1e-6
    assert path.largest_step <= 0.3 + 1e-9


def test_plans_are_made():
    scene = ar.Scene([ar.Sphere((0.3, 0.3, 0.3), 0.02)])
    path = ar.plan(ROBOT, Q[0], goal=ROBOT.clip(Q[0] + 0.2), scene=scene, max_time=20.0)
    assert path.status.name == "REACHED"


def test_files(tmp_path):
    ar.save_robot(ROBOT, tmp_path / "screws.toml")
    again = ar.load_robot(tmp_path / "screws.toml")
    assert again == ROBOT
    np.testing.assert_array_equal(again.tip_pose(Q), ROBOT.tip_pose(Q))
    with pytest.raises(RobotError, match="'screw' is a helical, which URDF has no joint for"):
        write_urdf(ROBOT, tmp_path / "screws.urdf")
    assert not (tmp_path / "screws.urdf").exists()


def test_info(tmp_path, capsys, monkeypatch):
    ar.save_robot(ROBOT, tmp_path / "screws.toml")
    monkeypatch.setattr(sys, "argv", ["arcreach", "info", str(tmp_path / "screws.toml")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    shown = capsys.readouterr().out
    assert "helical" in shown
    assert "pitch 10 mm, axis (0, 0, 1)" in shown


def test_drawings(tmp_path):
    mesh = body_mesh(ROBOT, Q[0])
    part = next(part for part in mesh.parts if part.element == 0)
    end = ROBOT.frames(Q[0])[1, :3, 3]
    radius = 0.012
    assert np.linalg.norm(part.vertices, axis=1).max() == pytest.approx(np.linalg.norm(end) + radius, rel=1e-6)
    assert len(body_mesh(ROBOT, Q[1]).vertices) == len(mesh.vertices)
    text = openscad_text(ROBOT, Q[:2])
    line = next(line for line in text.splitlines() if line.endswith("// screw"))
    shifts = line.split("link(")[1].split("][step]")[0]
    assert [float(z) for z in shifts.replace("[", "").replace("]", "").split(", ")][2::3] == pytest.approx(
        1e3 * ROBOT.frames(Q[:2])[:, 1, 2, 3]
    )
    pytest.importorskip("matplotlib")
    figures = pytest.importorskip("arcreach.figures")
    figures.pose(ROBOT, Q[0]).savefig(tmp_path / "pose.png")
    assert (tmp_path / "pose.png").stat().st_size > 10_000


def test_studio():
    pytest.importorskip("viser")
    from arcreach.studio.panels.sliders import slider_groups
    from arcreach.studio.stage.body import Body

    body = Body(ROBOT)
    assert all(np.isfinite(vertices).all() for vertices in body.vertices(Q[0]))
    assert "screw °" in [spec.label for _, specs in slider_groups(ROBOT) for spec in specs]
