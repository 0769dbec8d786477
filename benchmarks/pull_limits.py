"""Solve with limits of pulls: violations, share reached beside SciPy, and time beside the same robots without limits.

    python benchmarks/pull_limits.py [solves] [targets of the comparison] [robot ...]

Four robots of three sections with three tendons each, whose limits couple the sections. Targets are tips of
configurations within the limits (position, position and axis, whole pose where the robot has more than six
coordinates), tips of configurations at the limits, and, one in four hundred, random positions, of which most are out of
reach. Pulls are computed here again by NumPy, from the curves of the tendons. The comparison runs SciPy's SLSQP, with
the pulls as constraints, from 64 random starts within the limits until one reaches the target.
"""

import math
import sys
import time
from collections import Counter

import numpy as np
from scipy.optimize import minimize

import arcreach as ar

RADIUS = 0.0045
LENGTH = 0.06
OFFSETS = (0.0, 0.7, 1.4)
STARTS = 64
# Share of the length of a tendon beyond which a pull violates its limit.
ROUNDING = 1e-12
# A target is random once in so many: most of them cost a whole search.
RANDOM = 400
ROWS = 20_000


def make_robot(limited=True, stretch=0.0, limits=(0.006, 0.007, 0.008), **routing):
    """Return three sections with three tendons each, whose pulls lie within plus and minus `limits`."""
    sections = []
    for offset, limit in zip(OFFSETS, limits, strict=True):
        bounds = {"pull_min": -limit, "pull_max": limit} if limited else {}
        tendons = [ar.Tendon(RADIUS, math.radians(a) + offset, **routing, **bounds) for a in (0, 120, 240)]
        sections.append(ar.Section(LENGTH, 2.5, stretch, tendons=tendons))
    return ar.Robot(sections)


# Share of all solves for each robot: those with pulls that are not linear in the bend vectors take longer.
SHARES = {"parallel": 0.4, "extensible": 0.4, "helical": 0.1, "discs": 0.1}
ROBOTS = {
    "parallel": {},
    "extensible": {"stretch": 0.03, "limits": (0.012, 0.02, 0.028)},
    "helical": {"rate": 15.0},
    "discs": {"discs": 6},
}


def tendon_length(tendon, angle, turn, bend, direction, length):
    """Return the length of a tendon in sections of one arc with given coordinates (n,), from its curve."""
    radius = tendon.radius
    if tendon.discs:
        n = tendon.discs
        gap, part = bend / n, length / n
        # From hole to hole in the plane of the bend: the near disc lies at 0, the far one is turned by `gap`.
        chord = part * np.sinc(gap / (2.0 * np.pi))
        total = 0.0
        for i in range(n):
            near, far = angle + turn * i / n - direction, angle + turn * (i + 1) / n - direction
            x = chord * np.sin(0.5 * gap) + radius * (np.cos(far) * np.cos(gap) - np.cos(near))
            y = radius * (np.sin(far) - np.sin(near))
            z = chord * np.cos(0.5 * gap) - radius * np.cos(far) * np.sin(gap)
            total = total + np.sqrt(x * x + y * y + z * z)
        return total
    nodes, weights = np.polynomial.legendre.leggauss(40)
    share = 0.5 * (nodes[:, None] + 1.0)
    along = length - radius * bend * np.cos(direction - angle - turn * share)
    return 0.5 * weights @ np.sqrt(along**2 + (radius * turn) ** 2)


def pulls_by_numpy(robot, Q):
    """Return the pulls (n, tendons) of robots of this page."""
    varies = robot.elements[0].stretch > 0.0
    width = 3 if varies else 2
    rest = LENGTH + 0.5 * robot.elements[0].stretch
    found = []
    for end, element in enumerate(robot.elements):
        for tendon in element.tendons:
            pull = 0.0
            turn = tendon.rate * rest
            for i in range(end + 1):
                bend, direction = Q[:, width * i], Q[:, width * i + 1]
                length = Q[:, width * i + 2] if varies else np.full(len(Q), LENGTH)
                place = tendon, tendon.angle - (end - i) * turn, turn
                at_rest = tendon_length(*place, np.zeros(1), np.zeros(1), np.full(1, rest))
                pull = pull + at_rest - tendon_length(*place, bend, direction, length)
            found.append(pull)
    return np.transpose(found)


def violations(robot, Q):
    """Return how many configurations break a limit of their pulls, and the largest violation in metres."""
    low, high = robot.pull_limits[:2]
    lengths = LENGTH * np.repeat([1.0, 2.0, 3.0], 3)
    pulls = pulls_by_numpy(robot, Q)
    over = np.maximum(pulls - high, low - pulls)
    return int((over > ROUNDING * lengths).any(axis=1).sum()), float(over.max())


def kinds_of(robot):
    """Return the kinds of targets that the robot has coordinates for."""
    return ("position", "axis", "rotation", "edge") if robot.dof > 6 else ("position", "axis", "edge")


def make_targets(robot, kind, count, seed):
    """Return targets: tips of configurations within the limits, or at them (`edge`), or random positions."""
    if kind == "random":
        size = 0.7 * robot.reach
        box = (-size, -size, 0.0), (size, size, robot.reach)
        return ar.Targets(np.random.default_rng(seed).uniform(*box, (count, 3)))
    q = robot.sample(count, seed=seed)
    if kind == "edge":
        # Bent half as much again, so that most configurations are moved back to their limits.
        q[:, [name.endswith("bend") for name in robot.coordinates]] *= 1.5
        q, kind = robot.clip(q), kinds_of(robot)[-2]
    poses = robot.tip_pose(q)
    if kind == "rotation":
        return ar.Targets.from_poses(poses)
    return ar.Targets(poses[:, :3, 3], poses[:, :3, 2] if kind == "axis" else None)


def count_violations(name, solves):
    """Solve that many targets with one robot and print violations, shares reached and times."""
    robot, free = make_robot(**ROBOTS[name]), make_robot(limited=False, **ROBOTS[name])
    kinds = (*kinds_of(robot), "random")
    share = Counter({kind: solves // RANDOM if kind == "random" else 0 for kind in kinds})
    for kind in kinds[:-1]:
        share[kind] = (solves - share["random"]) // (len(kinds) - 1)
    broken, worst, total = 0, -math.inf, 0
    for kind in kinds:
        reached = at_limit = 0
        for first in range(0, share[kind], ROWS):
            count = min(ROWS, share[kind] - first)
            targets = make_targets(robot, kind, count, first)
            found = ar.solve_batch(robot, targets)
            bad, over = violations(robot, found.q)
            broken, worst = broken + bad, max(worst, over)
            reached += int(found.reached.sum())
            at_limit += int((np.abs(pulls_by_numpy(robot, found.q)) >= robot.pull_limits[1] - 1e-9).any(axis=1).sum())
        total += share[kind]
        few = targets[:1000]
        times = []
        for one in (robot, free):
            ar.solve_batch(one, few[:10], threads=1)
            began = time.perf_counter()
            ar.solve_batch(one, few, threads=1)
            times.append((time.perf_counter() - began) / len(few) * 1e6)
        print(
            f"{name:11} {kind:9} {share[kind]:8d} solves  reached {reached / share[kind]:8.4%}  at a limit "
            f"{at_limit / share[kind]:6.1%}  {times[0]:9.1f} us each, without limits {times[1]:7.1f} us",
            flush=True,
        )
    print(f"{name:11} violations {broken} in {total} solves; nearest to one {worst:.1e} m", flush=True)
    return broken, total


class Reference:
    """Inverse kinematics by SLSQP in the solver variables, with the limits of blocks and of pulls as constraints."""

    def __init__(self, robot):
        self.robot, self.model = robot, robot.model
        self.starts = self.model.to_variables(robot.sample(STARTS, seed=1))

    def coordinates(self, V):
        """Return configurations without clipping them."""
        Q = np.empty((len(V), self.robot.dof))
        for element in self.model.moving:
            k, c = element["variable"], element["coordinate"]
            Q[:, c], Q[:, c + 1] = np.hypot(V[:, k], V[:, k + 1]), np.arctan2(V[:, k + 1], V[:, k])
            if element["stretch"] > 0.0:
                Q[:, c + 2] = element["length"] + element["stretch"] * V[:, k + 2]
        return Q

    def residuals(self, V, target):
        """Return position errors in millimetres and orientation errors in units of 10 mrad."""
        poses = self.robot.tip_pose(self.coordinates(V))
        e = [(poses[:, :3, 3] - target.position) * 1e3]
        if target.kind == "axis":
            e.append((poses[:, :3, 2] - target.axis) * 1e2)
        elif target.kind == "rotation":
            e.append(((poses[:, :3, :3] - target.rotation) * 1e2).reshape(len(V), 9))
        return np.concatenate(e, axis=1)

    def margins(self, V):
        """Return what must not be negative: the room of every limit."""
        pulls = self.robot.pulls(self.coordinates(V)) / RADIUS
        low, high = self.robot.pull_limits[:2] / RADIUS
        rooms = [pulls - low, high - pulls]
        for element in self.model.moving:
            k = element["variable"]
            share = V[:, k + 2 : k + 3] if element["stretch"] > 0.0 else np.ones((len(V), 1))
            square = (V[:, k : k + 2] ** 2).sum(axis=1, keepdims=True)
            rooms += [(element["bend_max"] * share) ** 2 - square, share, 1.0 - share]
        return np.concatenate(rooms, axis=1)

    @staticmethod
    def slopes(function, v):
        """Return the derivatives of a function of rows, by central differences."""
        h = 1e-6
        steps = h * np.eye(len(v))
        values = function(np.concatenate([v + steps, v - steps]))
        return (values[: len(v)] - values[len(v) :]).T / (2.0 * h)

    def reaches(self, target):
        """Return whether one of the starts leads to the target within the limits."""

        def error(v):
            e = self.residuals(v[None], target)[0]
            return e @ e, 2.0 * self.slopes(lambda V: self.residuals(V, target), v).T @ e

        rooms = {
            "type": "ineq",
            "fun": lambda v: self.margins(v[None])[0],
            "jac": lambda v: self.slopes(self.margins, v),
        }
        for start in self.starts:
            options = {"maxiter": 200, "ftol": 1e-15}
            v = minimize(error, start, jac=True, method="SLSQP", constraints=[rooms], options=options).x
            # Ten times the usual rounding in favour of the reference.
            if np.isfinite(v).all() and self.margins(v[None]).min() > -1e-8 and self.is_near(v, target):
                return True
        return False

    def is_near(self, v, target):
        """Return whether the tip is within the usual tolerances."""
        pose = self.robot.tip_pose(self.coordinates(v[None]))[0]
        angle = 0.0
        if target.kind == "axis":
            angle = math.atan2(np.linalg.norm(np.cross(pose[:3, 2], target.axis)), pose[:3, 2] @ target.axis)
        elif target.kind == "rotation":
            angle = 2.0 * math.asin(min(np.linalg.norm(pose[:3, :3] - target.rotation) / math.sqrt(8.0), 1.0))
        return np.linalg.norm(pose[:3, 3] - target.position) <= 1e-6 and angle <= 1e-3


def compare(name, count):
    """Print how many of `count` targets, half of them at the limits and half random, `auto` and SciPy reach."""
    robot = make_robot(**ROBOTS[name])
    reference = Reference(robot)
    for label in ("edge", "random"):
        targets = make_targets(robot, label, count // 2, seed=99)
        ours = ar.solve_batch(robot, targets).reached
        began = time.perf_counter()
        theirs = np.array([reference.reaches(target) for target in targets])
        took = (time.perf_counter() - began) / len(targets)
        print(
            f"{name:11} {label:9} of {len(targets)} targets auto reaches {ours.sum()}, SciPy {theirs.sum()}; "
            f"only auto {(ours & ~theirs).sum()}, only SciPy {(theirs & ~ours).sum()} (SciPy {took * 1e3:.0f} ms each)",
            flush=True,
        )


if __name__ == "__main__":
    solves = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    targets = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    names = sys.argv[3:] or list(ROBOTS)
    sums = Counter()
    for name in names:
        broken, total = count_violations(name, round(solves * SHARES[name] / sum(SHARES[one] for one in names)))
        sums.update(broken=broken, total=total)
        if targets:
            compare(name, targets)
    print(f"all robots: {sums['broken']} violations in {sums['total']} solves")
