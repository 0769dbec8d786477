"""Measure inverse kinematics of continuum robots: success and microseconds per target of every method, in one run.

    python benchmarks/continuum.py [targets per case]

Targets have position and axis and are drawn by forward kinematics; batches run on one thread. The robot's forward
kinematics and limits decide success. Mean times include failures.
"""

import sys
import time
import timeit

import numpy as np

import arcreach as ar
from arcreach._jit import settled
from arcreach.experiments.tables import mixed_sections
from arcreach.ik.method import no_rows
from arcreach.kernels.chain.layout import AXIS, REPORT_SIZE
from arcreach.kernels.solver import search
from arcreach.kernels.solver.contexts import Task


def cases():
    """Return the cases of the published tables: robot and tolerances."""
    for k in range(1, 7):
        yield ar.load_robot(f"variable-curvature-{k}"), 1e-5, np.radians(0.01)
    for n in (3, 5, 10):
        yield ar.Robot([ar.Section(0.05, np.pi / n)] * n, name=f"table 3-6 {n} sections"), 1e-5, 1e-2
    for case in mixed_sections.cases():
        kinds, bend = case.labels["kinds"], case.labels["bend"]
        if kinds in ("FFF", "TTT", "EEE", "FET") and bend in (18, 90, 180):
            yield ar.Robot(case.robot.elements, name=f"table 3-9 {kinds} {bend} deg"), 1e-6, 1e-3


def measure(robot, n, method, position_tol, angle_tol, variant=None):
    """Return the share of targets reached within limits, and microseconds of this thread per target."""
    poses = robot.tip_pose(robot.sample(n, seed=1))
    positions, axes = poses[:, :3, 3].copy(), poses[:, :3, 2].copy()
    options = {"method": method, "variant": variant, "position_tol": position_tol, "angle_tol": angle_tol, "threads": 1}
    ar.solve_batch(robot, positions[:2], axes[:2], **options)
    began = time.thread_time()
    found = ar.solve_batch(robot, positions, axes, **options)
    microseconds = (time.thread_time() - began) / n * 1e6
    return (found.reached & robot.within_limits(found.q)).mean(), microseconds, found


def all_cases(n):
    print(f"{'auto':26} {'reached':>10} {'mean us':>8} {'median':>7} {'p99':>7} {'steps':>6}")
    for robot, position_tol, angle_tol in cases():
        share, mean, found = measure(robot, n, "auto", position_tol, angle_tol)
        median, p99 = np.percentile(found.seconds, (50, 99)) * 1e6
        steps = found.iterations.mean()
        print(f"{robot.name:26} {100 * share:9.4f}% {mean:8.2f} {median:7.2f} {p99:7.1f} {steps:6.1f}", flush=True)


def by_method(n):
    print(f"\n{'table 3.10':22} {'method':24} {'reached':>9} {'mean us':>9} {'times auto':>10}")
    for k in range(1, 7):
        robot = ar.load_robot(f"variable-curvature-{k}")
        baseline = None
        for method in ar.methods().values():
            if method.refusal(robot, "axis") is not None:
                continue
            for variant in method.variants or (None,):
                few = n if method.name == "auto" else max(n // 10, 100)
                share, mean, _ = measure(robot, few, method.name, 1e-5, np.radians(0.01), variant)
                baseline = baseline or mean
                label = f"{method.name} {variant or ''}"
                print(f"{robot.name:22} {label:24} {100 * share:8.2f}% {mean:9.2f} {mean / baseline:10.1f}", flush=True)


def single_call():
    robot = ar.load_robot("three-section")
    pose = robot.tip_pose(robot.sample(1, seed=3)[0])
    target = ar.Target(pose[:3, 3], axis=pose[:3, 2])
    ar.solve(robot, target)
    q, report = np.empty((1, robot.dof)), np.empty((1, REPORT_SIZE))
    task = Task(target.batch.packed[1], AXIS, 1e-6, 1e-3, 512, 50_000, np.inf, False, True, no_rows(robot.dof))
    arguments = 0, 1, *robot.model.model_and_table(AXIS, 512), None, task, q, report

    def best(function):
        function()
        return min(timeit.repeat(function, number=3000, repeat=15)) / 3000 * 1e6

    call = settled(search.auto)
    kernel, public = best(lambda: call(*arguments)), best(lambda: ar.solve(robot, target))
    inside = min(ar.solve(robot, target).seconds for _ in range(3000)) * 1e6
    print(
        f"\none solve: {public:.2f} us from Python; its kernel {kernel:.2f} us called by numba, {inside:.2f} us inside"
    )


if __name__ == "__main__":
    targets = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    all_cases(targets)
    by_method(targets)
    single_call()
