"""Solve inverse kinematics among spheres: success rate and time of `auto`, compared with a slow reference.

    python benchmarks/avoidance.py [problems per case] [problems of each case for the reference]

Every target is the tip position of a random configuration; one to three spheres are centred on that configuration's
backbone. The reference runs SciPy's `least_squares` on tip error and missing clearance from 64 random starts, and
counts a result if it reaches the target without collision. Every solution that `auto` reports as reached is checked by
sampling the body. The reference needs SciPy, which comes with the extra `plan`.
"""

import sys
import time

import numpy as np
from scipy.optimize import least_squares

import arcreach as ar

STARTS = 64


def problems(robot, count, balls, seed):
    """Return targets, each with spheres on the configuration that reaches it."""
    rng = np.random.default_rng(seed)
    made = []
    while len(made) < count:
        q = robot.sample(1, seed=rng)[0]
        tip, line = robot.tip_pose(q)[:3, 3], robot.backbone(q, 200)
        scene = [ar.Sphere(line[rng.integers(60, 170)], rng.uniform(0.03, 0.08) * robot.reach) for _ in range(balls)]
        room = 0.01 * robot.reach + 0.003
        if all(min(np.linalg.norm(tip - b.centre), np.linalg.norm(b.centre)) > b.radius + room for b in scene):
            made.append((tip, ar.Scene(scene)))
    return made


def is_free(robot, q, scene):
    """Tell whether samples of the centre line are clear of the scene."""
    line = robot.backbone(q, 1500)
    radius = max(element.radius for element in robot.elements)
    return all(np.linalg.norm(line - b.centre, axis=1).min() - b.radius - radius > -1e-6 for b in scene)


def reference(robot, tip, scene):
    """Tell whether a general optimiser reaches the target without collision from one of 64 starts."""
    turning = [name.endswith(".direction") for name in robot.coordinates]
    lower = np.where(turning, -np.inf, robot.lower)
    upper = np.where(turning, np.inf, robot.upper)

    def residual(q):
        inside = robot.clip(q)
        missing = np.maximum(1e-4 - ar.clearance(robot, inside, scene, per_element=True).distance, 0.0)
        return np.concatenate([robot.tip_pose(inside)[:3, 3] - tip, missing, inside[~np.array(turning)] * 0.0])

    for start in robot.sample(STARTS, seed=1):
        found = least_squares(residual, np.clip(start, lower + 1e-9, upper - 1e-9), bounds=(lower, upper), max_nfev=60)
        q = robot.clip(found.x)
        if np.linalg.norm(robot.tip_pose(q)[:3, 3] - tip) <= 1e-5 and ar.clearance(robot, q, scene) >= 0.0:
            return True
    return False


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    few = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print(f"{'robot':22} balls {'solved':>9} {'not free':>9} {'median ms':>10} {'p90 ms':>8}  first: auto, reference")
    for name in ("three-section", "extensible-sections"):
        robot = ar.load_robot(name)
        for balls in (1, 2, 3):
            made = problems(robot, count, balls, seed=balls)
            ar.solve(robot, ar.Target(made[0][0]), scene=made[0][1])
            answers = [ar.solve(robot, ar.Target(tip), scene=scene) for tip, scene in made]
            wrong = sum(a.reached and not is_free(robot, a.q, s) for a, (_, s) in zip(answers, made, strict=True))
            seconds = np.array([answer.seconds for answer in answers]) * 1e3
            began = time.perf_counter()
            slow = sum(reference(robot, *problem) for problem in made[:few])
            took = (time.perf_counter() - began) / few
            solved, first = sum(a.reached for a in answers), sum(a.reached for a in answers[:few])
            print(
                f"{name:22} {balls:5d} {solved:4d}/{count} {wrong:9d} {np.median(seconds):10.3f} "
                f"{np.percentile(seconds, 90):8.2f} {first:9d}/{few} {slow:4d}/{few} ({took:.1f} s each)",
                flush=True,
            )
