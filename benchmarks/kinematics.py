"""Measure the speed of forward kinematics, as ratios within one run.

    python benchmarks/kinematics.py

The program compares a million tip poses of a three-section robot with vectorised NumPy, and one call from Python with
the kernel alone. It times a new process from its start to its first pose with a warm cache.
"""

import subprocess
import sys
import time
import timeit

import numpy as np

import arcreach as ar
from arcreach.kernels.chain import kinematics as chain

CONFIGURATIONS = 1_000_000
ROUNDS = 9


def numpy_tip_poses(robot, Q):
    """Return tip poses for sections of one arc, by vectorised NumPy as a careful user would write it."""
    poses = np.broadcast_to(np.eye(4), (len(Q), 4, 4))
    for i, section in enumerate(robot.elements):
        half = 0.5 * Q[:, 2 * i]
        sin_half, cos_half = np.sin(half), np.cos(half)
        c, s = np.cos(Q[:, 2 * i + 1]), np.sin(Q[:, 2 * i + 1])
        chord = section.length * np.sinc(half / np.pi)
        sin_bend, v = 2 * sin_half * cos_half, 2 * sin_half**2
        step = np.zeros((len(Q), 4, 4))
        step[:, 0, 0], step[:, 0, 1], step[:, 0, 2] = 1 - v * c * c, -v * c * s, sin_bend * c
        step[:, 1, 0], step[:, 1, 1], step[:, 1, 2] = -v * c * s, 1 - v * s * s, sin_bend * s
        step[:, 2, 0], step[:, 2, 1], step[:, 2, 2] = -sin_bend * c, -sin_bend * s, 1 - v
        step[:, 0, 3], step[:, 1, 3] = chord * sin_half * c, chord * sin_half * s
        step[:, 2, 3] = chord * cos_half
        step[:, 3, 3] = 1
        poses = poses @ step
    return poses


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def batch(robot):
    Q = robot.sample(CONFIGURATIONS, seed=0)
    robot.tip_pose(Q)
    ours, theirs = [], []
    # Alternate, so that other load on the machine slows both.
    for _ in range(ROUNDS):
        time_ours, poses = seconds(lambda: robot.tip_pose(Q))
        time_theirs, reference = seconds(lambda: numpy_tip_poses(robot, Q))
        ours.append(time_ours)
        theirs.append(time_theirs)
    error = abs(poses - reference).max()
    ratio = np.median(theirs) / np.median(ours)
    print(
        f"{CONFIGURATIONS:,} tip poses: {np.median(ours) * 1e3:.0f} ms, NumPy {np.median(theirs) * 1e3:.0f} ms, ",
        end="",
    )
    print(f"ratio {ratio:.1f} (worst round {min(np.divide(theirs, ours)):.1f}); largest difference {error:.1e}")


def single(robot):
    q = robot.sample(1, seed=0)[0]
    pose = np.empty((4, 4))
    number = 20_000

    def best(function):
        function()
        return min(timeit.repeat(function, number=number, repeat=9)) / number * 1e6

    kernel = best(lambda: chain.tip_pose(robot.packed, q, pose))
    public = best(lambda: robot.tip_pose(q))
    print(f"one tip_pose: {public:.2f} us from Python, {kernel:.2f} us the kernel: {public - kernel:.2f} us more")


def first_pose():
    program = "import arcreach as ar; ar.load_robot('three-section').tip_pose([0.1] * 6)"
    times = [seconds(lambda: subprocess.run([sys.executable, "-c", program], check=True))[0] for _ in range(5)]
    print(f"a new process to its first pose, warm cache: {np.median(times):.2f} s (slowest {max(times):.2f} s)")


if __name__ == "__main__":
    three = ar.load_robot("three-section")
    ar.warm_up()
    batch(three)
    single(three)
    first_pose()
