"""Compare shapes in MuJoCo with ours: command pulls, run the exported model to rest, measure the tip.

    python benchmarks/mujoco_shape.py

Without gravity. The pulls are those of 20 random poses of a robot of three sections with nine tendons. Elastic tendons
are compared with the elastic equilibrium of `Robot.from_pulls`, rigid ones with the pose itself. Errors are in percent
of the robot's length.
"""

import dataclasses
import math

import mujoco
import numpy as np

import arcreach as ar
from arcreach.files.exports.mjcf import mjcf_text

POSES = 20
SECONDS = 2.0
LINKS = (6, 12)
LIMIT = 0.015


def rigid(robot, **fields):
    """Return a robot with tendons that do not stretch."""
    fields = {"stiffness": math.inf, "pretension": 0.0, "force_max": math.inf, **fields}
    return ar.Robot(
        [
            dataclasses.replace(one, tendons=[dataclasses.replace(tendon, **fields) for tendon in one.tendons])
            for one in robot.elements
        ],
        robot.name,
    )


def tips(robot, P, links):
    """Return the positions of the tip in MuJoCo for pulls (n, tendons), and the largest speed of a joint at the end."""
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot, links))
    found, speed = [], 0.0
    for pulls in P:
        data = mujoco.MjData(model)
        data.ctrl[:] = pulls
        # By a number of steps: MuJoCo sets the time back when a simulation is unstable.
        mujoco.mj_step(model, data, nstep=round(SECONDS / model.opt.timestep))
        found.append(data.site("tip").xpos.copy())
        speed = max(speed, float(np.abs(data.qvel).max()))
    return np.array(found), speed


def main():
    robot = ar.load_robot("tendon-driven")
    Q = robot.sample(POSES, seed=0)
    cases = {
        "elastic, 6 discs": (robot, True),
        "rigid, 6 discs": (rigid(robot), False),
        "rigid, channels": (rigid(robot, discs=0), False),
        "rigid rods, channels": (rigid(robot, discs=0, transmits="both"), False),
    }
    print(f"MuJoCo {mujoco.__version__}, robot {robot.name}, {POSES} poses, tip error in % of {robot.reach * 1e3:g} mm")
    print(f"{'tendons':22}{'links':>6}{'mean':>8}{'max':>8}{'within 1.5 %':>14}{'rad/s':>10}")
    for name, (one, elastic) in cases.items():
        P = one.pulls(Q)
        wanted = one.tip_pose(one.from_pulls(P, elastic=elastic).q)[:, :3, 3]
        for links in LINKS:
            found, speed = tips(one, P, links)
            errors = np.linalg.norm(found - wanted, axis=1) / one.reach
            share = f"{int((errors <= LIMIT).sum())}/{POSES}"
            print(f"{name:22}{links:6}{100 * errors.mean():8.2f}{100 * errors.max():8.2f}{share:>14}{speed:10.1e}")


if __name__ == "__main__":
    main()
