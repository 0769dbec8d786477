"""Measure global plans in clutter and follow-the-leader motions: success, time and clearance.

    python benchmarks/planning.py

In each scene twenty pairs of free configurations are drawn between which the straight motion is in collision; the tip
position of the second is the target. The certificate of every path is compared with a thousand samples per segment.
"""

import platform
import time

import numpy as np

import arcreach as ar
from arcreach.planning.motion.motion_check import MotionCheck, SmoothSpace

ROBOTS = ("fixed-sections", "extensible-sections")
SCENES = ("clutter-20", "clutter-60")
SEEDS = 20
# Smallest clearance of the drawn configurations, in metres.
SPARE = 0.0015


def blocked_pair(robot, scene, seed):
    """Return two free configurations between which the straight motion is in collision."""
    space = SmoothSpace(robot)
    check = MotionCheck(space, scene, 0.0)
    Q = robot.sample(400, seed=seed)
    Q = Q[ar.clearance(robot, Q, scene).distance > SPARE]
    for a, b in zip(Q[::2], Q[1::2], strict=False):
        V = space.variables([a, b])
        if not check.free(V[:1].copy(), V[1:].copy()):
            return a, b
    raise RuntimeError(f"no blocked pair for seed {seed}")


def dense_clearance(plan, points=1000):
    """Return the smallest clearance of many samples along a path."""
    samples = plan.sampled(points * max(len(plan) - 1, 1))
    return float(ar.clearance(plan.robot, samples, plan.scene).distance.min())


def plans():
    print(
        "| robot | scene | solved | median ms | worst ms | least certified mm | least sampled mm | straight at once |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in ROBOTS:
        robot = ar.load_robot(name)
        for scene_name in SCENES:
            scene = ar.load_scene(scene_name)
            found = []
            for seed in range(SEEDS):
                start, goal = blocked_pair(robot, scene, seed)
                target = ar.Target(robot.tip_pose(goal)[:3, 3])
                began = time.perf_counter()
                plan = ar.plan(robot, start, target, scene, seed=seed)
                found.append((time.perf_counter() - began, plan))
            seconds = 1e3 * np.array([entry[0] for entry in found])
            good = [plan for _, plan in found if plan.reached]
            certified = min(plan.clearance for plan in good)
            sampled = [dense_clearance(plan) for plan in good]
            assert all(plan.clearance <= least for plan, least in zip(good, sampled, strict=True))
            straight = sum(len(plan) == 2 for plan in good)
            print(
                f"| {name} | {scene_name} | {len(good)} of {SEEDS} | {np.median(seconds):.0f} | {seconds.max():.0f} "
                f"| {certified * 1e3:.3f} | {min(sampled) * 1e3:.3f} | {straight} |"
            )


def arcs(*parts):
    """Return points, 1 mm apart, of a planar curve of arcs given by curvature (1/m) and length (m)."""
    end, angle, rows = np.zeros(3), 0.0, [np.zeros((1, 3))]
    for curvature, length in parts:
        s = np.linspace(0.0, length, round(length * 1e3) + 1)[1:]
        bend = angle + curvature * s
        chord = s * np.sinc(0.5 * curvature * s / np.pi)
        x, z = chord * np.sin(angle + 0.5 * curvature * s), chord * np.cos(angle + 0.5 * curvature * s)
        rows.append(end + np.stack([x, 0.0 * x, z], axis=1))
        end, angle = rows[-1][-1], bend[-1]
    return np.vstack(rows)


def leaders():
    curves = {
        "C": arcs((10.0, 0.1)),
        "J": arcs((0.0, 0.05), (15.0, 0.05)),
        "S": arcs((12.0, 0.05), (-12.0, 0.05)),
    }
    slide = ar.Prismatic(-0.15, 0.05, name="insertion")
    robots = {
        "extensible, inserted": ar.Robot([slide, *ar.load_robot("extensible-sections").elements]),
        "fixed, inserted": ar.Robot([slide, *ar.load_robot("fixed-sections").elements]),
        "telescopic": ar.load_robot("telescopic-sections"),
    }
    print("\n| three sections | curve of 100 mm | worst body deviation mm | tip µm | points reached | s |")
    print("|---|---|---|---|---|---|")
    for name, robot in robots.items():
        for letter, curve in curves.items():
            path = ar.follow_the_leader(robot, curve)
            print(
                f"| {name} | {letter} | {path.worst_body_deviation * 1e3:.3f} | {path.deviation[0] * 1e6:.2f} "
                f"| {int(path.reached_points.sum())} of {len(path)} | {path.seconds:.2f} |"
            )


def main():
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    robot = ar.load_robot("three-section")
    ar.plan(robot, robot.neutral, scene=ar.load_scene("clutter-20"), goal=robot.neutral)
    plans()
    leaders()


if __name__ == "__main__":
    main()
