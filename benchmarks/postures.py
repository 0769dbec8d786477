"""Measure postures: the default posture, the optimum of `prefer`, and that no target is lost.

    python benchmarks/postures.py rest [--before CHECKOUT]     default posture against that from the neutral start
    python benchmarks/postures.py prefer [targets] [seed]      `prefer` against SciPy's SLSQP
    python benchmarks/postures.py lost [targets per robot]     failures on the 540 robots of [K22] table 3.9

`--before` names another checkout of arcreach, whose times are taken in turn with those of this one. Success is judged
by the robot's forward kinematics and limits.

`prefer` is compared with SLSQP twice, in the solver's variables, on the same cost with its exact gradient:
- from the solution of `solve`, whose time is not counted: it descends to the minimum beside that solution. The
  derivatives of the tip are central differences, in one compiled batch. The times beside it are those of `solve` and
  `solve_batch` with `start=solution`, which do the same; `call` and `batch` also have to find a solution.
- on its own, as without arcreach's solver: from the neutral pose, then from random configurations until it reaches the
  target, with SciPy's default settings, the compiled `tip_pose` and `jacobian`, and exact derivatives of the limits.
  All of its starts are counted, for a quarter of the targets.
Times are those of the processor, medians over the targets. They are the best of five for calls of `solve`, for
`solve_batch` on one thread, per target, and for SLSQP from a solution; SLSQP on its own runs once.
"""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import arcreach as ar

KINDS = ("position", "axis", "rotation")
TARGETS = 500
ROUNDS = 5
# Starts after which SLSQP on its own is given up.
MOST_STARTS = 20


def slide_roll_sections():
    """Return a slide, a roll joint and three sections."""
    joints = [ar.Prismatic(lower=0.0, upper=0.1), ar.Revolute(lower=-math.pi, upper=math.pi)]
    return ar.Robot([*joints, *(ar.Section(0.1, math.pi / 2) for _ in range(3))], name="slide-roll-3-sections")


def total_bend(robot, Q):
    """Return the sum of the bends and of the joints' angles away from rest, in degrees."""
    used = [k for k, name in enumerate(robot.coordinates) if not name.endswith((".direction", ".length"))]
    used = [k for k in used if robot.quantities[k] == "angle"]
    return np.degrees(np.abs(Q - robot.neutral)[:, used].sum(axis=1))


def missed(robot, targets, Q):
    """Return how many answers (n, dof) miss their targets or break a limit."""
    T = robot.tip_pose(Q)
    bad = ~robot.within_limits(Q) | (np.linalg.norm(T[:, :3, 3] - targets.positions, axis=1) > 1e-6)
    if targets.rotations is not None:
        cosine = 0.5 * (np.einsum("nij,nij->n", T[:, :3, :3], targets.rotations) - 1.0)
        bad |= np.arccos(np.clip(cosine, -1.0, 1.0)) > 1.001e-3
    elif targets.axes is not None:
        bad |= np.linalg.norm(np.cross(T[:, :3, 2], targets.axes), axis=1) > 1.001e-3
    return int(bad.sum())


def robots():
    return slide_roll_sections(), ar.load_robot("panda")


def drawn(robot, n, kind, seed=1):
    return ar.Targets.from_poses(robot.tip_pose(robot.sample(n, seed=seed)), kind)


def time_batches():
    """Print the microseconds per target of every robot and kind, the best of a few batches on one thread."""
    times = {}
    for robot in robots():
        for kind in KINDS:
            targets = drawn(robot, TARGETS, kind)
            ar.solve_batch(robot, targets, threads=1)
            took = []
            for _ in range(20):
                began = time.perf_counter()
                ar.solve_batch(robot, targets, threads=1)
                took.append(time.perf_counter() - began)
            times[f"{robot.name}, {kind}"] = min(took) / TARGETS * 1e6
    print(json.dumps(times))


def times_of(checkout):
    environment = {**os.environ, "PYTHONPATH": str(Path(checkout) / "src")}
    command = [sys.executable, __file__, "times"]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


def rest(before=None):
    here = Path(__file__).parents[1]
    rounds = [(times_of(here), times_of(before)) for _ in range(ROUNDS)] if before else []
    print(f"{'robot, target':38} {'lost':>5} {'bend':>7} {'neutral start':>14} {'ratio':>6} {'time':>6}")
    for robot in robots():
        for kind in KINDS:
            targets, name = drawn(robot, TARGETS, kind), f"{robot.name}, {kind}"
            found = ar.solve_batch(robot, targets)
            neutral = ar.solve_batch(robot, targets, start=robot.neutral)
            bends = total_bend(robot, found.q).mean(), total_bend(robot, neutral.q).mean()
            slower = min(now[name] for now, _ in rounds) / min(then[name] for _, then in rounds) if before else math.nan
            lost = missed(robot, targets, found.q)
            print(f"{name:38} {lost:5} {bends[0]:6.1f}° {bends[1]:13.1f}° {bends[0] / bends[1]:6.2f} {slower:6.2f}")


class Rival:
    """SLSQP on the cost of prefer="rest", in the solver variables of a robot."""

    def __init__(self, robot):
        self.robot, self.model = robot, robot.model
        self.rest = self.model.to_variables(robot.neutral[None])[0]
        self.weights = np.ones(self.model.variables)
        for element in self.model.moving:
            if element["stroke"]:
                self.weights[element["variable"]] = self.model.weight**-2
            if element["stretch"] > 0.0:
                self.weights[element["variable"] + element["width"] - 1] = (element["stretch"] / self.model.weight) ** 2

    def cost(self, v):
        return float(self.weights @ (v - self.rest) ** 2)

    def residual(self, V, target):
        T = self.robot.tip_pose(self.model.to_coordinates(V))
        parts = [(T[:, :3, 3] - target.position) / self.model.weight]
        if target.rotation is not None:
            R = T[:, :3, :3] @ target.rotation.T
            parts.append(0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], 1))
        elif target.axis is not None:
            across = np.linalg.svd(target.axis[None])[2][1:]
            parts.append(T[:, :3, 2] @ across.T)
        return np.concatenate(parts, axis=1)

    def bounds_left(self, v):
        """Return what is left of every section's limit, squared."""
        left = []
        for element in self.model.moving:
            if element["bend_max"] > 0.0:
                k, stretch = element["variable"], element["stretch"] > 0.0
                limit = element["bend_max"] * (
                    v[k + element["width"] - 1] if stretch and element["slope"] > 0.0 else 1.0
                )
                left.append(limit**2 - v[k] ** 2 - v[k + 1] ** 2)
        return np.array(left)

    def limit_slopes(self, v):
        """Return the derivatives of `bounds_left`."""
        rows = []
        for element in self.model.moving:
            if element["bend_max"] > 0.0:
                k, share = element["variable"], element["variable"] + element["width"] - 1
                rows.append(np.zeros(len(v)))
                rows[-1][k : k + 2] = -2.0 * v[k : k + 2]
                if element["stretch"] > 0.0 and element["slope"] > 0.0:
                    rows[-1][share] = 2.0 * element["bend_max"] ** 2 * v[share]
        return np.array(rows)

    def differences(self, v, target):
        """Return the derivatives of the residual by central differences."""
        shifts = 1e-6 * np.eye(len(v))
        rows = self.residual(np.vstack([v + shifts, v - shifts]), target)
        return (rows[: len(v)] - rows[len(v) :]).T / 2e-6

    def derivatives(self, v, target):
        """Return the derivatives of the residual by the robot's Jacobian."""
        q = self.model.to_coordinates(v[None])[0]
        for element in self.model.moving:
            if element["bend_max"] > 0.0:
                # The direction of a straight section is arbitrary, its Jacobian is not.
                q[element["coordinate"]] = max(q[element["coordinate"]], 1e-7)
        T, J = self.robot.tip_pose(q), self.robot.jacobian(q)
        J = J if len(q) == len(v) and not (self.model.moving["bend_max"] > 0.0).any() else self.by_variables(q, J)
        parts = [J[:3] / self.model.weight]
        if target.rotation is not None:
            R = T[:3, :3] @ target.rotation.T
            parts.append(0.5 * (np.trace(R) * np.eye(3) - R) @ J[3:])
        elif target.axis is not None:
            across = np.linalg.svd(target.axis[None])[2][1:]
            parts.append(across @ np.cross(J[3:].T, T[:3, 2]).T)
        return np.concatenate(parts)

    def by_variables(self, q, J):
        """Return the columns of a Jacobian by coordinates as columns by solver variables."""
        columns = np.empty((6, self.model.variables))
        for element in self.model.moving:
            k, c = element["variable"], element["coordinate"]
            columns[:, k] = J[:, c]
            if element["bend_max"] > 0.0:
                cosine, sine = math.cos(q[c + 1]), math.sin(q[c + 1])
                columns[:, k] = cosine * J[:, c] - sine * J[:, c + 1] / q[c]
                columns[:, k + 1] = sine * J[:, c] + cosine * J[:, c + 1] / q[c]
                if element["stretch"] > 0.0:
                    columns[:, k + 2] = element["stretch"] * J[:, c + 2]
        return columns

    def descend(self, target, v, slopes, limit_slopes=None, options=None):
        """Return what SLSQP finds from v: its cost, infinite if it misses the target, and the seconds."""
        from scipy.optimize import minimize

        low, high = self.model.bounds()
        constraints = [
            {"type": "eq", "fun": lambda v: self.residual(v[None], target)[0], "jac": lambda v: slopes(v, target)}
        ]
        if len(self.bounds_left(v)):
            constraints.append({"type": "ineq", "fun": self.bounds_left, "jac": limit_slopes})
        began = time.thread_time()
        found = minimize(
            self.cost,
            v,
            jac=lambda v: 2.0 * self.weights * (v - self.rest),
            method="SLSQP",
            bounds=list(zip(low, high, strict=True)),
            constraints=constraints,
            options=options,
        )
        took = time.thread_time() - began
        v = np.clip(found.x, low, high)
        good = np.abs(self.residual(v[None], target)).max() < 1e-4 and (self.bounds_left(v) > -1e-6).all()
        return (self.cost(v) if good else math.inf), took

    def alone(self, target, seed):
        """Return the cost that SLSQP finds without a solution, the seconds of all of its starts, and their number."""
        starts = np.vstack([self.robot.neutral, self.robot.sample(MOST_STARTS - 1, seed=seed)])
        seconds, number = 0.0, 0
        for v in self.model.to_variables(starts):
            number += 1
            cost, took = self.descend(target, v, self.derivatives, self.limit_slopes)
            seconds += took
            if cost < math.inf:
                break
        return cost, seconds, number


SIX = (
    (slide_roll_sections, "axis"),
    ("three-section", "position"),
    ("mixed-sections", "axis"),
    ("panda", "rotation"),
    ("iiwa-14", "axis"),
    ("rail-iiwa-14", "rotation"),
)


def batch_time(robot, targets, starts=None):
    """Return the seconds per target of `prefer` in a batch on one thread, the best of a few."""
    took = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        ar.solve_batch(robot, targets, prefer="rest", start=starts, threads=1)
        took.append(time.thread_time() - began)
    return min(took) / len(targets)


def timed_calls(robot, targets, starts=None):
    """Return the answers (n, dof) of single calls with `prefer`, and the median of their seconds, the best of a few."""
    answers, took = np.empty((len(targets), robot.dof)), np.empty((ROUNDS, len(targets)))
    for times in took:
        for i, target in enumerate(targets):
            start = None if starts is None else starts[i]
            began = time.thread_time()
            answers[i] = ar.solve(robot, target, prefer="rest", start=start).q
            times[i] = time.thread_time() - began
    return answers, np.median(took.min(axis=0)) - clock_time()


def clock_time():
    """Return the seconds that an interval of the clock shows for nothing."""
    return min(-(time.thread_time() - time.thread_time()) for _ in range(1000))


def prefer(n=200, seed=5):
    header = f"{'within 1 %':>10} {'worst':>7} {'lost':>5} {'call':>8} {'batch':>8}"
    rival_header = f"{'ours':>8} {'within 1 %':>10} {'SLSQP':>8} {'failed':>7} {'faster':>7} {'in batch':>9}"
    print(f"{'robot, target':34} {header}   | {rival_header}   | {rival_header} {'starts':>7}")
    for made, kind in SIX:
        robot = ar.load_robot(made) if isinstance(made, str) else made()
        rival, targets = Rival(robot), drawn(robot, n, kind, seed=seed)
        first = ar.solve_batch(robot, targets).q
        batch, descents_batch = batch_time(robot, targets), batch_time(robot, targets, first)
        answers, call = timed_calls(robot, targets)
        nearest, descent = timed_calls(robot, targets, first)
        tight = {"maxiter": 300, "ftol": 1e-9}
        descents = [
            min(rival.descend(target, v, rival.differences, None, tight) for _ in range(ROUNDS))
            for target, v in zip(targets, robot.model.to_variables(first), strict=True)
        ]
        alone = [rival.alone(target, i) for i, target in enumerate(targets[: n // 4])]
        ours, beside = (np.array([rival.cost(v) for v in robot.model.to_variables(Q)]) for Q in (answers, nearest))
        ratio = ours / np.array(descents)[:, 0]
        line = f"{robot.name + ', ' + kind:34} {100 * (ratio <= 1.01).mean():8.1f} % {ratio.max():7.3f} "
        line += f"{missed(robot, targets, answers):5} {1e6 * call:5.1f} µs {1e6 * batch:5.1f} µs"
        for found, costs, one, many in ((descents, beside, descent, descents_batch), (alone, ours, call, batch)):
            cost, seconds = np.array(found)[:, 0], np.median(np.array(found)[:, 1])
            line += f"   | {1e6 * one:5.1f} µs {100 * (costs[: len(cost)] <= 1.01 * cost).mean():8.1f} %"
            line += f" {1e3 * seconds:5.2f} ms {np.isinf(cost).sum():7} {seconds / one:7.0f}"
            line += f" {seconds / many:9.0f}"
        print(f"{line} {np.mean([starts for _, _, starts in alone]):7.1f}", flush=True)


def lost(n=2000):
    from arcreach.experiments.tables.mixed_sections import cases

    failures = 0
    for i, case in enumerate(cases()):
        targets = drawn(case.robot, n, "axis", seed=i)
        failures += missed(case.robot, targets, ar.solve_batch(case.robot, targets, device=DEVICE).q)
    print(f"{failures} of {540 * n} targets missed")


DEVICE = "auto"

if __name__ == "__main__":
    command, *rest_of_line = sys.argv[1:] or ["rest"]
    if command == "times":
        time_batches()
    elif command == "rest":
        rest(rest_of_line[1] if len(rest_of_line) > 1 else None)
    elif command == "prefer":
        prefer(*map(int, rest_of_line))
    elif command == "lost":
        lost(*map(int, rest_of_line))
    else:
        sys.exit(__doc__)
