"""Solve targets through an entry point: success rate, time, and the distance from the port by dense sampling.

    python benchmarks/entry_point.py [targets per row]

Every target is the tip of a random configuration, and its port lies beside the body of that configuration, so that a
solution exists: up to 0.9 of the radius off the centre line and, with an axis, up to half the tolerance off its
tangent. Ports of arms lie on the tool. A target counts as reached if its `Solution` says so, the exact forward
kinematics agree, and a line through 1000 points of the body passes the port within its radius; with an axis 20000
points, and a segment within the radius also keeps the axis. `follow` is judged alike at 2000 configurations of its
motion.
"""

import math
import sys
import time

import numpy as np

import arcreach as ar

RADIUS = 2e-3
AXIS_TOL = math.radians(5.0)
POINTS = 1000
AXIS_POINTS = 20_000


def panda_with_tool():
    """Return the Panda arm with a shaft and two bending sections."""
    shaft = ar.Link([0.0, 0.0, 0.15], radius=0.004, name="shaft")
    tool = [ar.Section(length=0.05, bend_max=math.pi / 2, radius=0.004) for _ in range(2)]
    return ar.Robot([*ar.load_robot("panda").elements, shaft, *tool], name="panda with a bending tool")


def inserted():
    """Return a slide, a roll joint and three sections."""
    slide = ar.Prismatic(lower=0.0, upper=0.1, axis=[0, 0, 1])
    roll = ar.Revolute(lower=-math.pi, upper=math.pi, axis=[0, 0, 1])
    sections = [ar.Section(length=0.03, bend_max=math.pi / 2, radius=0.002) for _ in range(3)]
    return ar.Robot([slide, roll, *sections], name="slide roll and sections")


def problems(robot, count, share, seed):
    """Return poses of the tip, points of ports and axes; ports lie beyond `share` of the length of the body."""
    rng = np.random.default_rng(seed)
    q = robot.sample(count, seed=seed)
    lines = robot.backbone(q, POINTS)
    picked = rng.integers(int(share * (POINTS - 1)), POINTS - 1, count)
    rows = np.arange(count)
    tangents = lines[rows, picked + 1] - lines[rows, picked]
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    off = rng.normal(size=(count, 3))
    off *= 0.9 * RADIUS * rng.random((count, 1)) ** (1 / 3) / np.linalg.norm(off, axis=1, keepdims=True)
    across = np.cross(tangents, rng.normal(size=(count, 3)))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    tilt = 0.5 * AXIS_TOL * rng.random((count, 1))
    return robot.tip_pose(q), lines[rows, picked] + off, np.cos(tilt) * tangents + np.sin(tilt) * across


def passes(line, port):
    """Tell whether the segments of a line (n, 3) pass a port, and return the distance of the nearest."""
    steps = np.diff(line, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    first, steps, lengths = line[:-1][lengths > 0.0], steps[lengths > 0.0], lengths[lengths > 0.0]
    at = np.clip(((port.point - first) * steps).sum(axis=1) / lengths**2, 0.0, 1.0)
    away = np.linalg.norm(first + at[:, None] * steps - port.point, axis=1)
    near = away <= port.radius
    if port.axis is not None:
        # The direction of a segment differs from the tangent by up to half its bend, below a milliradian.
        angles = np.arccos(np.clip(steps @ port.axis / lengths, -1.0, 1.0))
        near &= angles <= port.axis_tol + 1e-3
    return bool(near.any()), float(away.min())


def measure(robot, kind, count, share, with_axis):
    """Print one row of the table."""
    poses, points, axes = problems(robot, count, share, seed=7)
    reached = 0
    seconds, distances = [], []
    for pose, point, axis in zip(poses, points, axes, strict=True):
        port = ar.Port(point, axis if with_axis else None, radius=RADIUS, axis_tol=AXIS_TOL)
        target = ar.Targets.from_poses(pose[None], kind)[0]
        began = time.perf_counter()
        found = ar.solve(robot, target, through=port)
        seconds.append(time.perf_counter() - began)
        kept, away = passes(robot.backbone(found.q, AXIS_POINTS if with_axis else POINTS), port)
        if found.check().reached and kept and robot.within_limits(found.q):
            reached += 1
            distances.append(away)
        elif found.reached:
            print(f"  claimed, but not confirmed: {found}")
    times = np.array(seconds) * 1e3
    row = f"{robot.name:26} {kind:9} {'axis' if with_axis else '-':5} {reached:5} of {count}"
    print(
        f"{row} ({100 * reached / count:.2f} %)  largest distance {max(distances) * 1e3:.3f} mm  "
        f"median {np.median(times):.2f} ms, mean {times.mean():.2f} ms",
        flush=True,
    )


def measure_follow(robot, share, paths=20, waypoints=12):
    """Print how many short paths are followed through a port, and the largest distance between their points."""
    rng = np.random.default_rng(3)
    poses, points, _ = problems(robot, paths, share, seed=11)
    followed, largest, bound = 0, 0.0, 0.0
    began = time.perf_counter()
    for pose, point in zip(poses, points, strict=True):
        port = ar.Port(point, radius=RADIUS)
        if not (first := ar.solve(robot, pose[:3, 3], through=port)).reached:
            continue
        end = pose[:3, 3] + 0.05 * robot.reach * rng.normal(size=3) / math.sqrt(3.0)
        line = np.linspace(pose[:3, 3], end, waypoints)
        # The far end may be out of reach: a path counts where every waypoint has an answer of its own.
        if not ar.solve_batch(robot, line, start=first.q, through=port).reached.all():
            continue
        path = ar.follow(robot, line, start=first.q, through=port)
        if path.reached:
            followed += 1
            bound = max(bound, path.port_distance.max())
            for row in robot.backbone(path.sampled(2000), POINTS):
                largest = max(largest, passes(row, port)[1])
    print(
        f"{robot.name:26} follow: {followed} paths of {waypoints} waypoints, largest distance {largest * 1e3:.3f} mm "
        f"at 2000 configurations, bound {bound * 1e3:.3f} mm; {time.perf_counter() - began:.1f} s",
        flush=True,
    )


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    # The share of the length of the body before the tool, or before the first section.
    cases = [
        (panda_with_tool(), 0.85),
        (ar.load_robot("ur5-bending-tool"), 0.9),
        (inserted(), 0.1),
        (ar.load_robot("inserted-three-section"), 0.1),
    ]
    for robot, share in cases:
        ar.solve(robot, robot.tip_pose(robot.neutral), through=ar.Port([0, 0, 0], [0, 0, 1], radius=1.0))
        for with_axis in (False, True):
            for kind in ("position", "axis", "rotation"):
                measure(robot, kind, count, share, with_axis)
        measure_follow(robot, share)


if __name__ == "__main__":
    main()
