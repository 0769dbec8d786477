"""Measure success and microseconds per target of every method that accepts serial arms, from one random start.

    python benchmarks/serial_methods.py [targets per arm] [method ...]

Targets are whole poses drawn by forward kinematics within the limits, so a solution exists. The robot's forward
kinematics and limits decide success. Times are measured inside the kernels on one thread and include failures; each is
the shortest of three identical solves, because other load on the machine delays some. `auto` restarts; most other
methods have this one start.
"""

import math
import platform
import sys

import numpy as np

import arcreach as ar
from arcreach.errors import ArcreachError

ARMS = ("puma-560", "ur5", "iiwa-14", "panda", "era-like", "arm-8r", "rail-iiwa-14")
REPEATS = 3
TOLERANCES = {"loose": (1e-3, 1e-2), "tight": (1e-6, 1e-6)}


def reached(robot, q, poses, position_tol, angle_tol):
    """Return which configurations are within the limits and reach their pose."""
    tips = robot.tip_pose(q)
    off = np.linalg.norm(tips[:, :3, 3] - poses[:, :3, 3], axis=1)
    chords = np.linalg.norm(tips[:, :3, :3] - poses[:, :3, :3], axis=(1, 2))
    angles = 2.0 * np.arcsin(np.minimum(chords / math.sqrt(8.0), 1.0))
    return (off <= position_tol) & (angles <= angle_tol) & robot.within_limits(q)


def measure(robot, poses, starts, method, variant, tolerances):
    """Return a row of the table: share reached, then median, mean and 99th percentile in microseconds."""
    position_tol, angle_tol = tolerances

    def solve(rows):
        return ar.solve_batch(
            robot,
            poses[rows, :3, 3],
            rotations=poses[rows, :3, :3],
            method=method,
            variant=variant,
            start=starts[rows],
            position_tol=position_tol,
            angle_tol=angle_tol,
            threads=1,
        )

    solve(slice(0, 2))
    found = solve(slice(None))
    times = np.min([found.seconds, *(solve(slice(None)).seconds for _ in range(REPEATS - 1))], axis=0) * 1e6
    share = 100.0 * reached(robot, found.q, poses, position_tol, angle_tol).mean()
    return f"{share:8.1f}% {np.median(times):8.1f} {times.mean():8.1f} {np.percentile(times, 99):8.1f}"


def table(arm, n, chosen):
    robot = ar.load_robot(arm)
    poses, starts = robot.tip_pose(robot.sample(n, seed=1)), robot.sample(n, seed=2)
    refused = []
    for method in ar.methods().values():
        if chosen and method.name not in chosen:
            continue
        if method.refusal(robot, "rotation") is not None:
            refused.append(method.name)
            continue
        for variant in method.variants or (None,):
            label = f"{method.name} {variant or ''}".strip()
            for word, tolerances in TOLERANCES.items():
                try:
                    line = measure(robot, poses, starts, method.name, variant, tolerances)
                except ArcreachError as error:
                    line = f"failed: {error}"
                print(f"{arm:14} {label:28} {word:6} {line}", flush=True)
    if refused:
        print(f"{arm:14} not accepted by: {', '.join(refused)}")


if __name__ == "__main__":
    targets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, arcreach {ar.__version__}"
    )
    print(f"{'arm':14} {'method':28} {'':6} {'reached':>9} {'median':>8} {'mean':>8} {'p99 us':>8}")
    for name in ARMS:
        table(name, targets, sys.argv[2:])
