"""Measure global plans in clutter and follow-the-leader motions: success, time, length and clearance.

    python benchmarks/planning.py
    python benchmarks/planning.py --against FOLDER --compared 20

In each scene a hundred pairs of free configurations are drawn between which the straight motion is in collision. The
certificate of every path is compared with samples, 500 per segment. With --against the same problems are also solved by
another checkout of arcreach, in a process of its own and in turn with this one; of robots with joints, which take long
there, --compared problems. Times are those of whole calls, this version's the best of three; in parentheses the time of
the processor, which other programs on the machine lengthen less.
"""

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

import arcreach as ar

ROBOTS = ("three-section", "five-section", "ur5", "ur5-bending-tool")
SCENES = ("clutter-20", "clutter-60")
PROBLEMS = 100
SEED = 1000
# Smallest clearance of the drawn configurations, in metres; samples per segment; seconds for shortening.
SPARE = 0.0015
SAMPLES = 500
SHORTEN = 0.05


def variables(robot, Q):
    return robot.model.to_variables(Q)


def blocked_pairs(robot, scene, count):
    """Return pairs of free configurations between which the straight motion is in collision."""
    rng = np.random.default_rng(SEED)
    pairs = []
    while len(pairs) < count:
        Q = robot.sample(400, seed=int(rng.integers(1 << 31)))
        Q = Q[ar.clearance(robot, Q, scene).distance > SPARE]
        for a, b in zip(Q[::2], Q[1::2], strict=False):
            if dense_clearance(robot, scene, [a, b]) < 0.0 and len(pairs) < count:
                pairs.append((a, b))
    return pairs


def dense_clearance(robot, scene, q):
    """Return the smallest clearance of many samples of every segment of a path."""
    V = variables(robot, q)
    shares = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    samples = np.concatenate([a + shares * (b - a) for a, b in itertools.pairwise(V)])
    return float(ar.clearance(robot, robot.model.to_coordinates(samples), scene).distance.min())


def solve(robot, scene, start, goal, seed, **options):
    """Return path, certificate, seconds of the call and of the processor; the path is None if there is none."""
    began, busy = time.perf_counter(), time.process_time()
    plan = ar.plan(robot, start, scene=scene, goal=goal, seed=seed, **options)
    seconds = time.perf_counter() - began, time.process_time() - busy
    return (plan.q if plan.reached else None), plan.clearance, *seconds


def serve():
    """Solve problems from the standard input, for another version."""
    load_robot, load_scene = cache(ar.load_robot), cache(ar.load_scene)
    for line in sys.stdin:
        name, place, *problem = json.loads(line)
        q, *rest = solve(load_robot(name), load_scene(place), *problem)
        print(json.dumps([None if q is None else q.tolist(), *rest]), flush=True)


class Other:
    """Another checkout of arcreach in a process of its own."""

    def __init__(self, folder):
        paths = {**os.environ, "PYTHONPATH": str(Path(folder) / "src")}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"], env=paths, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def solve(self, *problem):
        """Return what `solve` returns there."""
        print(json.dumps(problem, default=np.ndarray.tolist), file=self.process.stdin, flush=True)
        q, *rest = json.loads(self.process.stdout.readline())
        return None if q is None else np.array(q), *rest


def best(calls):
    """Return the answer of calls that all give the same, with the least times."""
    return *calls[0][:2], min(call[2] for call in calls), min(call[3] for call in calls)


def length(robot, q):
    return float(np.linalg.norm(np.diff(variables(robot, q), axis=0), axis=1).sum())


def row(label, robot, scene, answers):
    """Print one line of the table."""
    good = [answer for answer in answers if answer[0] is not None]
    wrong = sum(dense_clearance(robot, scene, answer[0]) < answer[1] for answer in good)
    wall, busy = (1e3 * np.array([answer[k] for answer in answers]) for k in (2, 3))
    print(
        f"| {label} | {len(good)} of {len(answers)} | {np.median(wall):.2f} ({np.median(busy):.2f}) "
        f"| {np.percentile(wall, 95):.2f} ({np.percentile(busy, 95):.2f}) "
        f"| {np.mean([length(robot, answer[0]) for answer in good]):.2f} "
        f"| {1e3 * np.median([answer[1] for answer in good]):.3f} | {wrong} |",
        flush=True,
    )
    return np.median(busy)


def plans(against, compared):
    print("| robot, scene | solved | median ms | p95 ms | mean length | median clearance mm | samples below it |")
    print("|---|---|---|---|---|---|---|")
    other = None if against is None else Other(against)
    for name in ROBOTS:
        robot = ar.load_robot(name)
        jointed = any(isinstance(element, ar.Revolute) for element in robot.elements)
        for place in SCENES:
            scene = ar.load_scene(place)
            new, old, longer = [], [], []
            for i, (start, goal) in enumerate(blocked_pairs(robot, scene, PROBLEMS)):
                new.append(best([solve(robot, scene, start, goal, i) for _ in range(3)]))
                if other is not None and (i < compared or not jointed):
                    old.append(other.solve(name, place, start, goal, i))
                if jointed:
                    longer.append(solve(robot, scene, start, goal, i, shorten_time=SHORTEN))
            label = f"{name}, {place}"
            row(label, robot, scene, new)
            if jointed:
                row(f"{label}, {1e3 * SHORTEN:.0f} ms more", robot, scene, longer)
            if old:
                before = row(f"{label}, the other", robot, scene, old)
                now = row(f"{label}, the same {len(old)}", robot, scene, new[: len(old)])
                if jointed:
                    row(f"{label}, the same {len(old)}, {1e3 * SHORTEN:.0f} ms more", robot, scene, longer[: len(old)])
                print(f"| {label}: {before / now:.0f} times as fast | | | | | | |", flush=True)
    if other is not None:
        other.process.kill()


def limits():
    """Print how well `max_time` is kept where there is no path, and while a path is shortened."""
    arm = ar.load_robot("ur5-bending-tool")
    scene = ar.load_scene("clutter-60")
    start, goal = blocked_pairs(arm, scene, 1)[0]
    section = ar.Robot([ar.Section(0.05, 2.5, radius=0.001)])
    ring = [section.tip_pose([1.0, angle])[:3, 3] for angle in np.linspace(-np.pi, np.pi, 60)]
    closed = ar.Scene([ar.Sphere(centre, 0.003) for centre in ring])
    bars = [ar.Capsule((-5, y, -0.0102), (5, y, -0.0102), 0.01) for y in np.linspace(-4, 4, 60)]
    flat = ar.Robot([ar.Revolute(lower=-3, upper=3), ar.Link((1, 0, 0))] * 3)
    pole = ar.Capsule((0.4, 0.6, -1), (0.4, 0.6, 1), 0.05)
    cases = {
        "no path": (section, [0.0, 0.0], closed, [2.0, 0.3], {}),
        "grazing bars": (flat, [0.0, 0.1, 0.2], ar.Scene([*bars, pole]), [2.0, -0.5, 0.4], {}),
        "shortening": (arm, start, scene, goal, {"shorten_time": np.inf}),
    }
    print("\n| case | max_time s | seconds |\n|---|---|---|")
    for label, (robot, q, around, end, options) in cases.items():
        for max_time in (0.1, 0.5, 2.0):
            plan = min(
                (ar.plan(robot, q, scene=around, goal=end, max_time=max_time, **options) for _ in range(3)),
                key=lambda plan: plan.seconds,
            )
            print(f"| {label} | {max_time} | {plan.seconds:.4f} |", flush=True)


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
    # Compiled or loaded before the first one is timed.
    ar.follow_the_leader(robots["telescopic"], curves["C"])
    for name, robot in robots.items():
        for letter, curve in curves.items():
            path = ar.follow_the_leader(robot, curve)
            print(
                f"| {name} | {letter} | {path.worst_body_deviation * 1e3:.3f} | {path.deviation[0] * 1e6:.2f} "
                f"| {int(path.reached_points.sum())} of {len(path)} | {path.seconds:.2f} |"
            )


def measure(given):
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    robot = ar.load_robot("three-section")
    ar.plan(robot, robot.neutral, scene=ar.load_scene("clutter-20"), goal=robot.neutral)
    plans(given.against, given.compared)
    limits()
    leaders()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--against", metavar="FOLDER", help="another checkout of arcreach")
    options.add_argument("--compared", type=int, default=20, help="problems of robots with joints solved by the other")
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    serve() if given.serve else measure(given)


if __name__ == "__main__":
    main()
