"""Count the targets of the published cases that `auto` misses, checked by forward kinematics and limits.

    python benchmarks/continuum_misses.py [targets per row, default 100000]

Targets are drawn by forward kinematics within the authors' limits, so every one can be reached. By default the rows of
table 3.9 share a million targets.
"""

import itertools
import sys
import time

import numpy as np

import arcreach as ar
from arcreach.experiments.tables.mixed_sections import cases

CHUNK = 100_000


def failures(robot, Q, kind, position_tol, angle_tol):
    poses = robot.tip_pose(Q)
    orientation = {"axis": {"axes": poses[:, :3, 2]}, "rotation": {"rotations": poses[:, :3, :3]}}.get(kind, {})
    found = ar.solve_batch(robot, poses[:, :3, 3], **orientation, position_tol=position_tol, angle_tol=angle_tol)
    return int((~(found.reached & robot.within_limits(found.q))).sum()), float(found.seconds.max())


def report(label, robot, n, kind, position_tol, angle_tol, generator=None, draw=None):
    generator = generator or robot
    missed, slowest = 0, 0.0
    began = time.perf_counter()
    for block, first in enumerate(range(0, n, CHUNK)):
        count = min(CHUNK, n - first)
        Q = draw(generator, count, block) if draw else generator.sample(count, seed=1000 + block)
        few, slow = failures(robot, Q, kind, position_tol, angle_tol)
        missed, slowest = missed + few, max(slowest, slow)
    seconds = time.perf_counter() - began
    print(f"{label:44} {missed:3} missed of {n:8}, {seconds:6.1f} s, slowest {slowest * 1e3:6.2f} ms", flush=True)
    return missed


def corners(robot, n, block):
    """Draw configurations with every bend and length at one of its limits and every direction random."""
    rng = np.random.default_rng(77 + block)
    q = robot.sample(n, rng)
    for section, k in robot.indexed_elements():
        bent = rng.integers(0, 2, n)
        if section.stretch:
            out = rng.integers(0, 2, n)
            q[:, k + 2] = section.length + out * section.stretch
            bent = bent * out
        q[:, k] = bent * section.bend_max
    return robot.clip(q)


def mixed_sections(n):
    missed, each = 0, -(-10 * n // 540)
    began = time.perf_counter()
    for case in cases():
        Q = case.robot.sample(each, seed=case.labels["bend"])
        missed += failures(case.robot, Q, "axis", 1e-6, 1e-3)[0]
    total = 540 * each
    seconds = time.perf_counter() - began
    print(f"{'table 3.9, 540 cases':44} {missed:3} missed of {total:8}, {seconds:6.1f} s", flush=True)


def main(n):
    mixed_sections(n)
    for name, kind in itertools.product(("two", "three", "five", "ten"), ("position", "axis")):
        report(f"tables 3.3, 3.4: {name} sections, {kind}", ar.load_robot(f"{name}-section"), n, kind, 1e-4, 0.1)
    for count in (3, 5, 10):
        robot = ar.Robot([ar.Section(0.05, np.pi / count)] * count)
        report(f"table 3.6: {count} sections", robot, n, "axis", 1e-5, 1e-2)
    for k in range(1, 7):
        report(f"table 3.11: robot {k}", ar.load_robot(f"variable-curvature-{k}"), n, "axis", 1e-5, np.radians(0.01))
    for count, bend, wide in itertools.product((3, 5, 10), (30, 60, 90, 120, 180), (False, True)):
        generator = ar.Robot([ar.Section(0.1, np.radians(bend))] * count)
        robot = ar.Robot([ar.Section(0.1, 2 * np.pi)] * count) if wide else generator
        label = f"article: {count} sections, {bend} deg, limit {360 if wide else bend}"
        report(label, robot, n, "axis", 1e-6, 1e-3, generator)
    for name in ("three-section", "fixed-sections", "telescopic-sections", "extensible-sections"):
        report(f"1 nm, 1e-9 rad: {name}", ar.load_robot(name), n, "axis", 1e-9, 1e-9)
    for count, bend in ((3, 180), (3, 90), (4, 180), (5, 90), (10, 90)):
        robot = ar.Robot([ar.Section(1.0, np.radians(bend))] * count)
        report(f"whole poses: {count} unit sections, {bend} deg", robot, n, "rotation", 1e-6, 1e-6)
    for name in ("two", "three", "five", "ten"):
        robot = ar.load_robot(f"{name}-section")
        report(f"corners: {name} fixed sections", robot, n // 5, "axis", 1e-6, 1e-3, draw=corners)
    for name in ("telescopic", "extensible"):
        report(f"corners: three {name}", ar.load_robot(f"{name}-sections"), n // 5, "axis", 1e-6, 1e-3, draw=corners)
    report("UR5 with a bending tool, whole poses", ar.load_robot("ur5-bending-tool"), n // 10, "rotation", 1e-6, 1e-6)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
