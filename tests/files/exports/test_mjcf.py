"""MJCF files in MuJoCo: the frames of a robot, and shapes that pulls produce."""

import math

import numpy as np
import pytest
from tests.robots.test_actuation import driven_robot

import arcreach as ar
from arcreach.files.exports.mjcf import mjcf_text

mujoco = pytest.importorskip("mujoco")


def loaded(robot, links=6):
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot, links))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    return model, data


def tip_at_rest(model, data, seconds=1.2):
    # By a number of steps: MuJoCo sets the time back when a simulation is unstable.
    mujoco.mj_step(model, data, nstep=round(seconds / model.opt.timestep))
    return data.site("tip").xpos


@pytest.mark.parametrize("name", ["ur5-bending-tool", "mixed-sections", "tendon-driven", "rail-iiwa-14"])
def test_the_rest_pose_is_ours(name):
    robot = ar.load_robot(name)
    model, data = loaded(robot)
    mujoco.mj_forward(model, data)
    tip = robot.tip_pose(robot.neutral)
    assert np.allclose(data.site("tip").xpos, tip[:3, 3], atol=1e-5 * robot.reach)
    assert np.allclose(data.site("tip").xmat.reshape(3, 3), tip[:3, :3], atol=1e-5)


def test_joints_go_where_they_are_sent():
    robot = ar.load_robot("ur5")
    model, data = loaded(robot)
    q = robot.sample(1, seed=1)[0]
    data.ctrl[:] = q
    assert np.allclose(tip_at_rest(model, data), robot.tip_pose(q)[:3, 3], atol=1e-3 * robot.reach)
    assert np.allclose(model.actuator("base").ctrlrange, (robot.lower[0], robot.upper[0]))


def test_pulls_bend_the_model_as_they_bend_ours():
    robot = ar.load_robot("tendon-driven")
    model, data = loaded(robot, links=12)
    found = robot.from_pulls(robot.pulls(robot.sample(1, seed=4)[0]), elastic=True)
    data.ctrl[:] = robot.pulls(found.q) + found.residual
    tip = tip_at_rest(model, data)
    assert np.linalg.norm(tip - robot.tip_pose(found.q)[:3, 3]) < 0.005 * robot.reach
    # Forces that shorten a tendon are negative in MuJoCo.
    assert np.allclose(-data.actuator_force, found.tensions, atol=0.05 * found.tensions.max())


def test_a_section_without_load_takes_its_rest_bend():
    arcs = {"length_weights": (1, 2), "bend_weights": (3, 1), "bending_stiffness": 0.01}
    robot = ar.Robot([ar.Section(0.1, 2.0, rest_bend=(0.6, -0.8), **arcs)])
    model, data = loaded(robot, links=12)
    bent = robot.tip_pose([1.0, math.atan2(-0.8, 0.6)])[:3, 3]
    assert np.linalg.norm(tip_at_rest(model, data) - bent) < 0.005 * robot.reach


@pytest.mark.parametrize(("lengths", "bends"), [((0, 1), (1, 3)), ((1, 0, 1), (1, 2, 1)), ((1, 0), (3, 1))])
def test_a_sub_arc_without_length_is_a_kink(lengths, bends):
    section = ar.Section(0.1, 2.0, length_weights=lengths, bend_weights=bends, bending_stiffness=0.01)
    rest = ar.Section(0.1, 2.0, length_weights=lengths, bend_weights=bends, bending_stiffness=0.01, rest_bend=(1.0, 0))
    tip = tip_at_rest(*loaded(ar.Robot([rest]), links=24))
    assert np.linalg.norm(tip - ar.Robot([section]).tip_pose([1.0, 0.0])[:3, 3]) < 5e-5


@pytest.mark.parametrize("stretch", [0.0, 0.02])
def test_a_twisting_section_turns_at_its_base(stretch):
    robot = ar.Robot([ar.Section(0.08, 2.0, stretch, radius=0.01, twist=True), ar.Section(0.05, 1.0, radius=0.01)])
    model, data = loaded(robot, links=24)
    q = robot.neutral.copy()
    q[:2] = 0.9, 0.7
    data.joint("section-1").qpos = q[1]
    for k in range(25):
        data.joint(f"section-1:{k}:y").qpos = q[0] / 24 * (0.5 if k in {0, 24} else 1.0)
    mujoco.mj_forward(model, data)
    tip = robot.tip_pose(q)
    assert np.linalg.norm(data.site("tip").xpos - tip[:3, 3]) < 1e-3 * robot.reach
    assert np.allclose(data.site("tip").xmat.reshape(3, 3), tip[:3, :3], atol=1e-9)


def test_limits_and_kinds_of_tendons_are_those_of_the_actuators():
    limits = {"pull_min": -0.01, "pull_max": 0.02, "force_max": 30.0, "stiffness": 4e3}
    model, _ = loaded(driven_robot(discs=4, **limits))
    first = model.actuator("section-1.tendon-1")
    assert first.ctrlrange.tolist() == [-0.01, 0.02]
    assert first.forcerange.tolist() == [-30.0, 0.0]
    # Four pieces per section, and the straight piece between two sections.
    assert model.tendon_num[[0, 3]].tolist() == [5, 10]
    assert loaded(driven_robot(transmits="both", force_max=7.0))[0].actuator(0).forcerange.tolist() == [-7.0, 7.0]


def test_what_mujoco_has_no_joint_for_is_refused(tmp_path):
    with pytest.raises(ar.RobotError, match="is a parallelogram"):
        ar.export_mjcf(ar.Robot([ar.Parallelogram((0, 0, 0.1), (0, 1, 0), -1, 1)]), tmp_path / "robot.xml")
    with pytest.raises(ar.RobotError, match="links = 0"):
        ar.export_mjcf(driven_robot(), tmp_path / "robot.xml", links=0)
    with pytest.raises(ar.FileError, match=r"\.xml"):
        ar.export_mjcf(driven_robot(), tmp_path / "robot.mjcf")
    for robot in (ar.Robot([ar.Section(0.002, 1.0, radius=5e-5)]), ar.Robot([ar.Revolute(name="world")])):
        with pytest.raises(ar.RobotError, match="is refused by MuJoCo: Error: "):
            ar.export_mjcf(robot, tmp_path / "robot.xml")
    assert not list(tmp_path.iterdir())
