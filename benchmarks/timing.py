"""Time motions within limits: durations and computing times beside toppra, and limits checked by dense sampling.

    python benchmarks/timing.py [plans of each robot]

Every path is timed here and by toppra, on a cubic spline through the same configurations in the same variables: joints,
lengths, and for sections the bend vector bend * (cos direction, sin direction). toppra limits the norm of a bend
vector's rate in 40 directions. Paths: a Lissajous curve of two joints, tips on Lissajous curves and a circle, and plans
among obstacles, whose motions are certified as well. The spline of toppra may touch obstacles; the ratio is also given
for plans whose spline is free. Limits are checked at 20 000 samples of the motion, by the returned speeds and
accelerations and by differences of the returned positions. Times are the shortest of several calls.
"""

import statistics
import sys
import time

import numpy as np
import toppra
import toppra.algorithm
import toppra.constraint

import arcreach as ar
from arcreach.planning.motion.motion_check import MotionCheck, VariableSpace
from arcreach.planning.timing.smooth_curve import distinct, smooth_curves
from arcreach.planning.timing.timed import timed

SPEED, ACCELERATION, JERK = 1.0, 2.0, 10.0
DIRECTIONS = 40
SAMPLES = 20_000
REPEATS = 5


class Rows:
    """Configurations of a robot, as `timed` takes them."""

    def __init__(self, robot, q):
        self.robot, self.q = robot, np.asarray(q)


def lissajous(n=200):
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    return np.stack([np.sin(angle), np.sin(2.0 * angle)], axis=1)


def tip_path(name, centre, size, rotation=None):
    """Return the path of a tip on a Lissajous curve in a horizontal plane."""
    positions = np.add(size * np.pad(lissajous(), ((0, 0), (0, 1))), centre)
    rotations = None if rotation is None else np.tile(rotation, (len(positions), 1, 1))
    path = ar.follow(ar.load_robot(name), positions, rotations=rotations)
    assert path.reached
    return path


def panda_circle():
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = np.stack([0.45 + 0.1 * np.cos(angle), 0.1 * np.sin(angle), np.full(200, 0.4)], axis=1)
    down = np.tile(np.diag([1.0, -1.0, -1.0]), (200, 1, 1))
    return ar.follow(ar.load_robot("panda"), circle, rotations=down)


def plans(name, scene, count):
    """Return plans between random free configurations whose straight motion is blocked."""
    robot, obstacles = ar.load_robot(name), ar.load_scene(scene)
    space, rng = VariableSpace(robot), np.random.default_rng(7)
    check, found = MotionCheck(space, obstacles, 0.0), []
    while len(found) < count:
        q = robot.sample(2, seed=int(rng.integers(1 << 30)))
        if (ar.clearance(robot, q, obstacles).distance <= 0.0).any() or check.keeps(space.variables(q), 0.0).all():
            continue
        plan = ar.plan(robot, q[0], scene=obstacles, goal=q[1], max_time=2.0)
        if plan.reached and len(plan) > 2:
            found.append(plan)
    return found


def rates(robot, values):
    """Return sizes (n, groups) of rates of the smooth variables (n, dof): norms of bend vectors, other values alone."""
    columns, taken = [], set()
    for element, k in robot.indexed_elements():
        if isinstance(element, ar.Section) and not element.twist:
            columns.append(np.hypot(values[:, k], values[:, k + 1]))
            taken |= {k, k + 1}
    columns += [np.abs(values[:, k]) for k in range(robot.dof) if k not in taken]
    return np.stack(columns, axis=1)


def projections(path):
    """Return the points of a path (n, m), with every bend vector projected onto directions."""
    robot, q = path.robot, path.q
    V = distinct(VariableSpace(robot).variables(q))
    q = robot.model.to_coordinates(V)
    columns, taken = [], set()
    for element, k in robot.indexed_elements():
        if isinstance(element, ar.Section) and not element.twist:
            pair = q[:, k, None] * np.stack([np.cos(q[:, k + 1]), np.sin(q[:, k + 1])], axis=1)
            angle = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
            columns += list((pair @ np.array([np.cos(angle), np.sin(angle)])).T)
            taken |= {k, k + 1}
    columns += [np.unwrap(q[:, k]) if np.isinf(robot.upper[k]) else q[:, k] for k in range(robot.dof) if k not in taken]
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(V, axis=0), axis=1))]), np.stack(columns, axis=1)


def by_toppra(path):
    """Return toppra's duration for the spline through the points of a path, and seconds of computing."""
    places, points = projections(path)
    m = points.shape[1]
    kinds = (toppra.constraint.JointVelocityConstraint, toppra.constraint.JointAccelerationConstraint)
    limits = [kind(np.tile([-x, x], (m, 1))) for kind, x in zip(kinds, (SPEED, ACCELERATION), strict=True)]
    pieces = max(4, -(-800 // (len(places) - 1)))
    shares = np.arange(pieces) / pieces
    grid = np.append((places[:-1, None] + shares * np.diff(places)[:, None]).ravel(), places[-1])
    begin = time.perf_counter()
    curve = toppra.SplineInterpolator(places, points, bc_type="natural")
    rates = toppra.algorithm.TOPPRA(limits, curve, gridpoints=grid).compute_parameterization(0.0, 0.0)[1]
    seconds = time.perf_counter() - begin
    return float((2.0 * np.diff(grid) / (rates[:-1] + rates[1:])).sum()), seconds


def largest_shares(motion):
    """Return the largest shares of the limits of speed and acceleration, and of speed by differences of positions."""
    step = motion.times[1]
    speeds = [motion.smooth_speed, np.diff(motion.smooth, axis=0) / step]
    speed, differences = (rates(motion.robot, values).max() / SPEED for values in speeds)
    return speed, rates(motion.robot, motion.smooth_acceleration).max() / ACCELERATION, differences


def is_free(path):
    """Return whether the natural spline through a plan keeps its margin."""
    space = VariableSpace(path.robot)
    [curve] = smooth_curves(space, distinct(space.variables(path.q)), None, False)
    return MotionCheck(space, path.scene, path.margin).keeps(curve.spline(curve.grid), path.margin).all()


def seconds_of(call):
    """Return the shortest of several runs, after one that compiles and loads."""
    call()
    taken = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def measure(path):
    dense = timed(path, SPEED, ACCELERATION, samples=SAMPLES)
    reference, _ = by_toppra(path)
    ours = seconds_of(lambda: timed(path, SPEED, ACCELERATION))
    theirs = min(by_toppra(path)[1] for _ in range(REPEATS))
    jerk = timed(path, SPEED, ACCELERATION, max_jerk=JERK).duration
    return len(path.q), dense.duration, reference, *largest_shares(dense), 1e3 * ours, 1e3 * theirs, jerk, dense.stops


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    toppra.setup_logging("ERROR")
    two = ar.Robot([ar.Revolute(), ar.Link((0.5, 0, 0)), ar.Revolute(), ar.Link((0.4, 0, 0))])
    down = np.diag([1.0, -1.0, -1.0])
    paths = {
        "two joints, Lissajous": Rows(two, lissajous()),
        "three-section, Lissajous of the tip": tip_path("three-section", (0.02, 0.015, 0.09), 0.01),
        "three-section, along a limit": tip_path("three-section", (0.02, 0.015, 0.085), 0.015),
        "inserted-three-section, Lissajous": tip_path("inserted-three-section", (0.02, 0.015, 0.085), 0.02),
        "panda, circle of the whole pose": panda_circle(),
        "panda, Lissajous of the tip": tip_path("panda", (0.45, 0.0, 0.4), 0.1),
        "ur5, Lissajous of the tip": tip_path("ur5", (0.4, 0.1, 0.3), 0.1),
        "ur5, Lissajous of the whole pose": tip_path("ur5", (0.4, 0.1, 0.3), 0.1, down),
    }
    print(f"{SPEED:g} rad/s and m/s, {ACCELERATION:g} rad/s2 and m/s2; with jerk {JERK:g} rad/s3 and m/s3")
    print("beyond the limits: speed, acceleration, speed by differences of positions")
    print(f"{'path':36} points  seconds  toppra  ratio  beyond the limits             ms  toppra ms  with jerk")
    for name, path in paths.items():
        n, ours, theirs, *shares, ms, toppra_ms, jerk, _ = measure(path)
        beyond = "  ".join(f"{share - 1.0:+.0e}" for share in shares)
        row = f"{name:36} {n:6d} {ours:8.3f} {theirs:7.3f} {ours / theirs:6.3f}  {beyond}"
        print(f"{row} {ms:7.1f} {toppra_ms:10.1f} {jerk:8.3f} s")
    for name in ("three-section", "inserted-three-section", "ur5"):
        found = plans(name, "clutter-20", count)
        rows = [measure(plan) for plan in found]
        ratios = np.array([row[1] / row[2] for row in rows])
        free = np.array([is_free(plan) for plan in found])
        ms, toppra_ms = (statistics.median(row[k] for row in rows) for k in (6, 7))
        print(
            f"{name} in clutter-20: {len(rows)} plans, {free.sum()} with a free spline; ratio to toppra: median "
            f"{np.median(ratios):.3f}, largest {ratios.max():.3f}, free {ratios[free].max(initial=0.0):.3f}; "
            f"beyond the limits {max(max(row[3:5]) for row in rows) - 1.0:+.0e}; {sum(row[9] for row in rows)} stops; "
            f"{ms:.1f} ms with the certificate, toppra alone {toppra_ms:.1f} ms"
        )


if __name__ == "__main__":
    main()
