"""Measure inverse kinematics of arms by `auto`: misses, microseconds per solve, and growth with the number of joints.

    python benchmarks/serial.py [targets per arm]

Targets are whole poses of random configurations, solved to 1e-6 m and 1e-6 rad by one call of `solve` each from a
random start. The robot's forward kinematics and limits decide success. Times are thread times, with call overhead and
misses; `kernel` is the time without call overhead.
"""

import sys
import time

import numpy as np

import arcreach as ar

ARMS = ("puma-560", "ur5", "iiwa-14", "panda", "era-like", "rail-iiwa-14", "arm-8r")
JOINTS = (10, 20, 60, 100, 200)
TOLERANCE = 1e-6


def long_chain(joints):
    """Return a chain of one metre with alternating z and y axes of ±90°."""
    elements = []
    for i in range(joints):
        elements.append(ar.Revolute(axis=(0, 1, 0) if i % 2 else (0, 0, 1), lower=-np.pi / 2, upper=np.pi / 2))
        elements.append(ar.Link(translation=(1.0 / joints, 0, 0)))
    return ar.Robot(elements, name=f"chain of {joints}")


def is_reached(robot, q, pose):
    found = robot.tip_pose(q)
    turn = found[:3, :3].T @ pose[:3, :3]
    axial = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    angle = np.arctan2(np.linalg.norm(axial), np.trace(turn) - 1.0)
    distance = np.linalg.norm(found[:3, 3] - pose[:3, 3])
    return distance <= TOLERANCE and angle <= TOLERANCE and robot.within_limits(q)


def measure(robot, n):
    """Return the number of misses, and microseconds of each call and each kernel."""
    poses, starts = robot.tip_pose(robot.sample(n, seed=77)), robot.sample(n, seed=78)
    targets = [ar.Target.from_pose(pose) for pose in poses]
    options = {"position_tol": TOLERANCE, "angle_tol": TOLERANCE}
    ar.solve(robot, targets[0], start=starts[0], **options)
    misses, calls, kernels = 0, np.empty(n), np.empty(n)
    for i, (target, start) in enumerate(zip(targets, starts, strict=True)):
        began = time.thread_time_ns()
        found = ar.solve(robot, target, start=start, **options)
        calls[i] = (time.thread_time_ns() - began) / 1e3
        kernels[i] = found.seconds * 1e6
        misses += not is_reached(robot, found.q, poses[i])
    return misses, calls, kernels


def show(robot, n):
    misses, calls, kernels = measure(robot, n)
    median, p99 = np.percentile(calls, (50, 99))
    print(
        f"{robot.name:14} {misses:4d} of {n:5d} {median:8.1f} {calls.mean():8.1f} {p99:8.1f} {np.median(kernels):9.1f}",
        flush=True,
    )
    return misses, np.median(kernels)


if __name__ == "__main__":
    targets = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"{'':14} {'missed':>13} {'median':>8} {'mean':>8} {'p99':>8} {'kernel':>9}   us")
    missed = sum(show(ar.load_robot(name), targets)[0] for name in ARMS)
    print(f"missed in all: {missed}\n")
    medians = [show(long_chain(joints), targets // 2)[1] for joints in JOINTS]
    exponent = np.polyfit(np.log(JOINTS), np.log(medians), 1)[0]
    print(f"the kernel's median grows as joints^{exponent:.2f}")
