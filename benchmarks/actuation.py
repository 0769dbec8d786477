"""Judge pulls, their Jacobian and the configurations that pulls produce on random robots, and measure their speed.

    python benchmarks/actuation.py [robots, default 1000]

Random robots have straight, helical and disc routing, coupled tendons, sections of variable length and of several arcs,
links and slides. Pulls are compared with polygons of the routed curves, extrapolated to zero step; the Jacobian with
central differences; equilibria with SciPy's `least_squares` on the same energy. Times are per configuration of three
sections with three tendons each, of processor time in batches on one core, beside forward kinematics in the same run.
"""

import math
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
from scipy.optimize import least_squares
from tests.robots.test_actuation import integrated_pulls, random_robot

import arcreach as ar

# A configuration counts as determined by its pulls if their smallest singular value is above this share of the largest.
DETERMINED = 0.02
BATCH = 100_000
ROUNDS = 7


def sections_of(robot):
    return [(element, k) for element, k in robot.indexed_elements() if isinstance(element, ar.Section)]


def smooth(robot, q):
    """Return bend vectors in radians, and lengths in units of a tendon's radius, of the sections."""
    found = []
    for section, k in sections_of(robot):
        found += [q[k] * math.cos(q[k + 1]), q[k] * math.sin(q[k + 1])]
        found += [q[k + 2] / 0.004] if section.stretch else []
    return np.array(found)


def coordinates(robot, v, q):
    """Return q with the sections at the smooth variables v."""
    q = q.copy()
    i = 0
    for section, k in sections_of(robot):
        q[k], q[k + 1] = math.hypot(v[i], v[i + 1]), math.atan2(v[i + 1], v[i])
        if section.stretch:
            q[k + 2] = v[i + 2] * 0.004
        i += 3 if section.stretch else 2
    return q


def differences(function, x, h=1e-6):
    return np.transpose([(function(x + h * unit) - function(x - h * unit)) / (2 * h) for unit in np.eye(len(x))])


def judge_pulls(count):
    """Compare pulls with integrated curves, and their Jacobian with differences."""
    worst_pull = worst_slope = 0.0
    routes = dict.fromkeys(("straight", "helical", "discs", "slide"), 0)
    for seed in range(count):
        robot = random_robot(np.random.default_rng(seed))
        q = robot.sample(1, seed=seed)[0]
        worst_pull = max(worst_pull, np.abs(robot.pulls(q) - integrated_pulls(robot, q)).max() / robot.reach)
        slope = differences(robot.pulls, q)
        worst_slope = max(worst_slope, np.abs(robot.pull_jacobian(q) - slope).max())
        for name, kind in zip(routes, range(4), strict=True):
            routes[name] += int((robot.routes["kind"] == kind).sum())
    passed = ", ".join(f"{n} {name}" for name, n in routes.items())
    print(f"{count} random robots, routes: {passed}")
    print(f"pulls against integrated curves: worst {worst_pull:.1e} of the length")
    print(f"Jacobian against differences: worst {worst_slope:.1e} m/rad")


def judge_inverse(count):
    """Compare the configurations of rigid tendons with those that made the pulls."""
    worst, determined, missed, others = 0.0, 0, 0, 0
    for seed in range(count):
        robot = random_robot(np.random.default_rng(10_000 + seed), fewest=3)
        q = robot.sample(1, seed=seed)[0]
        v = smooth(robot, q)
        slopes = differences(lambda v, robot=robot, q=q: robot.pulls(coordinates(robot, v, q)), v)
        values = np.linalg.svd(slopes, compute_uv=False)
        if slopes.shape[0] < slopes.shape[1] or values[-1] < DETERMINED * values[0]:
            continue
        determined += 1
        found = robot.from_pulls(robot.pulls(q), q=q)
        error = np.abs(smooth(robot, found.q) - v).max()
        if error <= 1e-9:
            worst = max(worst, error)
        elif np.abs(found.residual).max() < 1e-12:
            # Another configuration with the same pulls.
            others += 1
        else:
            missed += 1
    print(
        f"from_pulls(pulls(q)): {determined} of {count} robots determine q; worst {worst:.1e} rad, "
        f"{others} have a second configuration with equal pulls, {missed} missed"
    )


def random_driven(rng, linear):
    """Return three sections with tendons of random stiffness, and random pulls."""
    sections = []
    for _ in range(3):
        offset = rng.uniform(0, 6)
        tendons = [
            ar.Tendon(
                rng.uniform(0.003, 0.006),
                (offset + 2.1 * k) % 6.2,
                discs=0 if linear else int(rng.integers(4, 12)),
                stiffness=10 ** rng.uniform(3, 4.5),
                pretension=rng.uniform(0, 4),
                transmits=str(rng.choice(["pull", "pull", "push", "both"])),
            )
            for k in range(3)
        ]
        sections.append(
            ar.Section(
                rng.uniform(0.04, 0.1),
                2.0,
                bending_stiffness=10 ** rng.uniform(-3, -2),
                tendons=tendons,
                rest_bend=tuple(rng.normal(0, 0.1, 2)),
            )
        )
    robot = ar.Robot(sections)
    return robot, robot.pulls(robot.sample(1, seed=int(rng.integers(2**31)))[0]) + rng.normal(0, 1e-3, 9)


def judge_equilibria(count):
    """Compare elastic equilibria with SciPy on the same energy: sections and tendons as springs."""
    for linear in (True, False):
        worst, worse, slack = 0.0, 0, 0
        for seed in range(count // 2):
            robot, pulled = random_driven(np.random.default_rng(20_000 + seed), linear)
            tendons = [tendon for section in robot.elements for tendon in section.tendons]
            bends = np.repeat([s.bending_stiffness / s.length for s in robot.elements], 2)
            rest = np.concatenate([s.rest_bend for s in robot.elements])
            stiffness = np.array([tendon.stiffness for tendon in tendons])
            free = np.array([tendon.pretension / tendon.stiffness for tendon in tendons])
            low = np.array([0.0 if tendon.transmits == "pull" else -np.inf for tendon in tendons])
            high = np.array([0.0 if tendon.transmits == "push" else np.inf for tendon in tendons])

            def roots(v, robot=robot, pulled=pulled, bends=bends, rest=rest, s=stiffness, f=free, low=low, high=high):
                pulls = robot.pulls(coordinates(robot, v, robot.neutral))
                stretched = np.clip(pulled + f - pulls, low, high)
                return np.concatenate([np.sqrt(bends) * (v - rest), np.sqrt(s) * stretched])

            found = robot.from_pulls(pulled, elastic=True)
            ours = smooth(robot, found.q)
            best = least_squares(roots, rest, jac="3-point", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000)
            energy = (roots(ours) ** 2).sum()
            if energy > 2.0 * best.cost * (1 + 1e-9):
                worse += 1
            worst = max(worst, np.abs(ours - best.x).max() if abs(energy - 2 * best.cost) < 1e-9 * energy else 0.0)
            slack += bool(found.slack.any())
        routing = "straight tendons" if linear else "tendons between discs"
        print(
            f"elastic equilibria of {count // 2} robots, {routing}: {worse} with more energy than SciPy's, "
            f"worst difference of a bend {worst:.1e} rad; {slack} with slack tendons"
        )


def per_row(function, rows):
    function(rows[:1000])
    times = []
    for _ in range(ROUNDS):
        # CPU time of this process: other load on the machine does not count.
        start = time.process_time()
        function(rows)
        times.append(time.process_time() - start)
    return np.median(times) / len(rows) * 1e6


def changed(robot, name, section=None, **tendon):
    """Return the robot with other fields of its sections and tendons."""
    sections = [
        replace(s, tendons=tuple(replace(t, **tendon) for t in s.tendons), **(section or {})) for s in robot.elements
    ]
    return ar.Robot(sections, f"{robot.name} {name}")


def measure():
    driven = ar.load_robot("tendon-driven")
    arcs = {"length_weights": (1.0, 2.0, 1.0), "bend_weights": (1.0, 1.0, 2.0)}
    for robot in (
        changed(driven, "without discs", discs=0),
        driven,
        changed(driven, "helical", discs=0, rate=math.pi / 0.06),
        changed(driven, "helical between discs", rate=math.pi / 0.06),
        changed(driven, "with three arcs per section", arcs),
    ):
        Q = robot.sample(BATCH, seed=0)
        P = robot.pulls(Q[:5000])
        for name, function, rows in (
            ("tip_pose", robot.tip_pose, Q),
            ("pulls", robot.pulls, Q),
            ("pull_jacobian", robot.pull_jacobian, Q),
            ("from_pulls, rigid", robot.from_pulls, P),
            ("from_pulls, elastic", lambda P, robot=robot: robot.from_pulls(P, elastic=True), P),
        ):
            print(f"{robot.name}, {name}: {per_row(function, rows):.3f} us per configuration")


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    measure()
    judge_inverse(wanted)
    judge_equilibria(wanted)
    judge_pulls(wanted)
