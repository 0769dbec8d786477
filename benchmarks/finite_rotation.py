"""Compare `finite-rotation` with `ccd`: success and time from one random start, for arms and for long chains.

    python benchmarks/finite_rotation.py [poses per row, default 2000]

Poses are drawn by forward kinematics within the limits, so each can be reached. Forward kinematics decides success,
within 1 mm and 0.01 rad. Times are medians over the reached poses, on one core.
"""

import dataclasses
import math
import sys

import numpy as np

import arcreach as ar
from arcreach.experiments.tables.finite_rotation import JOINTS, chain

METHODS = {
    "corrected": {"method": "finite-rotation"},
    "float32": {"method": "finite-rotation", "precision": "float32"},
    "published": {"method": "finite-rotation", "variant": "published"},
    "ccd": {"method": "ccd"},
}


def half_turns(robot):
    """Return the same arm with joint limits of ±180 degrees."""
    elements = [
        dataclasses.replace(element, lower=-math.pi, upper=math.pi) if isinstance(element, ar.Revolute) else element
        for element in robot.elements
    ]
    return ar.Robot(elements, name=f"{robot.name} half turns")


def row(robot, n, call):
    poses = robot.tip_pose(robot.sample(n, seed=11))
    found = ar.solve_batch(
        robot,
        poses[:, :3, 3],
        rotations=poses[:, :3, :3],
        start=robot.sample(n, seed=12),
        position_tol=1e-3,
        angle_tol=1e-2,
        threads=1,
        **call,
    )
    reached = found.reached & robot.within_limits(found.q)
    seconds, iterations = found.seconds[reached], found.iterations[reached]
    return f"{100 * reached.mean():5.1f} % {np.median(seconds) * 1e6:7.0f} µs {np.median(iterations):5.0f} iterations"


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    arms = [ar.load_robot(name) for name in ("ur5", "iiwa-14", "arm-8r", "puma-560")]
    for name, call in METHODS.items():
        print(f"{name}: reached, median time and iterations, of {n} poses")
        for robot in (arms[0], half_turns(arms[0]), *arms[1:]):
            print(f"  {robot.name:16} {row(robot, n, call)}", flush=True)
        for joints in JOINTS:
            # The published form rotates all vectors distal to a joint, so a sweep has quadratic cost.
            count = n // 20 if name == "published" else n // 4
            print(f"  {joints:3} joints       {row(chain(joints), count, call)}  ({count} poses)", flush=True)


if __name__ == "__main__":
    main()
