"""Follow the leader: three curves and 120 random ones of their classes, on a free base, slide and roll, and a UR5.

    python benchmarks/follow_the_leader.py

Seconds are those of the processor, so that other programs on the machine do not count. Errors are computed anew from
the forward kinematics. The deviation is the mean over the inserted part of the body of the distance from the curve,
divided by the length of the robot: the metric of the planner whose curves these are, which prints 1.9 % for three
sections on a free base.
"""

import argparse
import math
import platform
import time

import numpy as np

import arcreach as ar
from arcreach.scenes.tubes import tube_mesh

CLASSES = {
    "bezier": [(0.0, 0.0, 0.0), (0.0, 0.0, 1.6), (2.0, 0.0, 1.3)],
    "S": [(0.0, 0.0, 0.0), (-0.575, 0.0, 0.9), (-1.725, 0.0, -0.1), (-2.3, 0.0, 0.8)],
    # Not printed by the source: a cubic of similar length that turns one way.
    "C": [(0.0, 0.0, 0.0), (-1.3, 0.0, 0.2), (-1.3, 0.0, 1.6), (0.0, 0.0, 1.8)],
}
# Random curves move every control point but the first by up to this much in each direction.
SPREAD = 0.3
SECTIONS = 3
# Points of the body at which the distance from the curve is measured.
MEASURED = 121


def bezier(control, points=200):
    """Return points of a Bézier curve."""
    last = len(control) - 1
    t = np.linspace(0.0, 1.0, points)[:, None]
    weights = [math.comb(last, i) * t**i * (1.0 - t) ** (last - i) for i in range(last + 1)]
    return sum(weight * np.asarray(point) for weight, point in zip(weights, control, strict=True))


def random_curves(per_class, seed=0):
    """Return random curves by class."""
    rng = np.random.default_rng(seed)
    curves = []
    for name, control in CLASSES.items():
        for _ in range(per_class):
            moved = np.array(control) + rng.uniform(-SPREAD, SPREAD, (len(control), 3))
            curves.append((name, bezier(moved - moved[0])))
    return curves


def robots():
    """Return robots of three equal sections by name, with their scale."""
    sections = [ar.Section(1.0, np.pi)] * SECTIONS
    small = [ar.Section(0.1, np.pi)] * SECTIONS
    roll = ar.Revolute(lower=-math.inf, upper=math.inf, name="roll")
    return {
        "free base": (ar.Robot([*ar.free_base(8.0), *sections]), 1.0),
        "slide and roll": (ar.Robot([ar.Prismatic(-4.0, 4.0, name="insertion"), roll, *sections]), 1.0),
        "UR5": (ar.Robot([*ar.load_robot("ur5").elements, *small]), 0.1),
    }


def placed(name, scale, curve):
    """Return a curve where a robot can follow it: turned to start along z for a slide, in front of an arm."""
    if name == "free base":
        return curve
    turned = curve @ turn_to_z(curve[1] - curve[0]).T
    if name == "slide and roll":
        return turned
    # Along x, away from the arm.
    return scale * turned[:, [2, 1, 0]] * [1.0, 1.0, -1.0] + [0.45, 0.1, 0.3]


def turn_to_z(direction):
    """Return the smallest rotation that takes a direction to z."""
    x, y, z = direction / np.linalg.norm(direction)
    v = np.array([[0.0, 0.0, -x], [0.0, 0.0, -y], [x, y, 0.0]])
    return np.eye(3) + v + v @ v / (1.0 + z)


def distances(points, curve):
    """Return the distances of points from a polyline, by brute force."""
    sides = np.diff(curve, axis=0)
    away = points[:, None] - curve[:-1]
    shares = np.clip((away * sides).sum(2) / (sides**2).sum(1), 0.0, 1.0)
    return np.linalg.norm(away - shares[..., None] * sides, axis=2).min(axis=1)


def judged(path, curve, scale):
    """Return the largest error of the tip, the mean deviation as a share, and whether the limits are kept."""
    robot, length = path.robot, SECTIONS * scale
    tips = robot.tip_pose(path.q)[:, :3, 3]
    tail = ar.Robot(robot.elements[-SECTIONS:])
    means = []
    for q, depth in zip(path.q, path.depth, strict=True):
        frame = robot.frames(q)[-1 - SECTIONS]
        body = tail.backbone(q[-tail.dof :], MEASURED) @ frame[:3, :3].T + frame[:3, 3]
        before = np.linspace(length, 0.0, MEASURED)
        means.append(distances(body[before <= depth + 1e-12], curve).mean())
    arc_lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    wanted = np.stack([np.interp(path.depth, arc_lengths, column) for column in curve.T], axis=1)
    return np.linalg.norm(tips - wanted, axis=1).max(), np.mean(means) / length, bool(robot.within_limits(path.q).all())


def run(name, robot, scale, curve, **options):
    """Return a path, what it is judged by, and its time."""
    line = placed(name, scale, curve)
    began = time.process_time()
    path = ar.follow_the_leader(robot, line, **options)
    seconds = time.process_time() - began
    return path, *judged(path, line, scale), seconds


def three_curves():
    print("\n| base | curve | reached | tip nm | deviation % | largest base step | limits | s |")
    print("|---|---|---|---|---|---|---|---|")
    bounded = [0.05] * 3 + [0.1] * 3 + [0.3] * (2 * SECTIONS)
    for name, (robot, scale) in robots().items():
        run(name, robot, scale, bezier(CLASSES["C"]))
        for options in ({}, {"max_step": bounded}) if name == "free base" else ({},):
            for letter, control in CLASSES.items():
                path, tip, deviation, inside, seconds = run(name, robot, scale, bezier(control), **options)
                steps = np.abs(path.steps[:, : robot.dof - 2 * SECTIONS]).max(axis=0)
                lengths = np.equal(robot.quantities[: len(steps)], "length")
                turn = np.degrees(steps[~lengths].max(initial=0.0))
                base = f"{steps[lengths].max(initial=0.0) * 1e3:.0f} mm, {turn:.1f}°"
                bound = ", bounded steps" if options else ""
                print(
                    f"| {name}{bound} | {letter} | {int(path.reached_points.sum())} of {len(path)} | {tip * 1e9:.0f} "
                    f"| {100 * deviation:.3f} | {base} | {'kept' if inside else 'broken'} | {seconds:.2f} |"
                )


def random_paths(per_class):
    print("\n| base | class | curves | tip to 1 µm and limits kept | deviation %: median, largest ", end="")
    print("| s: median, largest |")
    print("|---|---|---|---|---|---|")
    curves = random_curves(per_class)
    for name, (robot, scale) in robots().items():
        for letter in CLASSES:
            rows = [run(name, robot, scale, curve)[1:] for chosen, curve in curves if chosen == letter]
            tip, deviation, inside, seconds = map(np.array, zip(*rows, strict=True))
            good = int(((tip <= 1e-6) & inside).sum())
            print(
                f"| {name} | {letter} | {len(rows)} | {good} | {100 * np.median(deviation):.3f}, "
                f"{100 * deviation.max():.3f} | {np.median(seconds):.2f}, {seconds.max():.2f} |",
                flush=True,
            )


def bent_tube():
    """Insert a body of 4 mm into a tube of 14 mm, along the centre line of its mesh."""
    angle = np.linspace(0.0, 0.5 * np.pi, 30)
    bend = 0.06 * np.stack([1.0 - np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1)
    walls = tube_mesh([*bend, [0.09, 0.0, 0.06]], inner_radius=0.007, wall=0.002)
    slide = ar.Prismatic(-0.15, 0.12, radius=0.002, name="insertion")
    robot = ar.Robot([slide, *[ar.Section(0.04, 1.6, radius=0.002)] * SECTIONS])
    seconds = []
    for _ in range(4):
        began = time.process_time()
        line = ar.centre_line(walls, [0.0, 0.0, 0.0], length=0.12)
        found = time.process_time()
        path = ar.follow_the_leader(robot, line, scene=walls)
        seconds.append((time.process_time() - began, found - began))
    total, finding = min(seconds[1:])
    dense = ar.clearance(robot, path.sampled(1000), walls).distance.min()
    print(f"\na bent tube of 14 mm, a body of 4 mm: {int(path.reached_points.sum())} of {len(path)} points reached")
    print(f"certified {path.clearance.min() * 1e3:.2f} mm, least of 1000 samples {dense * 1e3:.2f} mm")
    print(f"{total:.2f} s, of which {finding:.2f} s for the centre line")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", type=int, default=40, help="random curves of each class")
    chosen = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    three_curves()
    bent_tube()
    random_paths(chosen.curves)


if __name__ == "__main__":
    main()
