"""Count the targets that `auto` misses on random robots, by class of robot.

    python benchmarks/random_robots.py [targets per class, default 50000] [class ...]

Every target is the tip of a random configuration within the limits, so it can be reached. The NumPy kinematics of this
file and the limits decide success. The tolerance is the smaller of 1 um and a hundred-thousandth of the moving reach;
for distant bases it is the resolution of double precision.
"""

import sys
import time

import numpy as np

import arcreach as ar

TARGETS_PER_ROBOT = 50
ANGLE_TOL = 1e-3
KINDS = ("position", "axis", "rotation")


def unit(rng):
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def turned(axis, angle):
    """Return the rotation about a unit axis, by Rodrigues' formula."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def section(rng, size=0.05, bends=(0.2, 3.0), stretch=None, twist=None, arcs=1):
    length = size * rng.uniform(0.3, 1.5)
    varying = rng.random() < 0.4 if stretch is None else stretch
    weights = {}
    if arcs > 1:
        weights = {"length_weights": tuple(rng.uniform(0.2, 1, arcs)), "bend_weights": tuple(rng.uniform(0.2, 1, arcs))}
    return ar.Section(
        length * rng.integers(0, 2) if varying else length,
        np.exp(rng.uniform(*np.log(bends))),
        stretch=length * rng.uniform(0.2, 1.0) if varying else 0.0,
        twist=bool(rng.random() < 0.3) if twist is None else twist,
        **weights,
    )


def joint(rng, size, scatter=1.0):
    """Return a random joint and the link after it."""
    pick = rng.random()
    length = size * np.exp(rng.uniform(-scatter, scatter))
    if pick < 0.75:
        width = rng.uniform(0.5, np.pi)
        low = -np.pi if rng.random() < 0.3 else rng.uniform(-np.pi, 0)
        moving = ar.Revolute(unit(rng), lower=low, upper=low + 2 * width)
    elif pick < 0.9:
        moving = ar.Prismatic(lower=0.0, upper=length, axis=unit(rng))
    else:
        moving = ar.Parallelogram(length * unit(rng), axis=unit(rng), lower=-1.0, upper=1.5)
    return [moving, ar.Link(length * unit(rng), turned(unit(rng), rng.uniform(0, np.pi)))]


def sections(rng, **keywords):
    return [section(rng, **keywords) for _ in range(rng.integers(2, 7))]


def arm(rng, size=0.3, scatter=1.0):
    return [piece for _ in range(rng.integers(5, 9)) for piece in joint(rng, size, scatter)]


def base(rng, distance):
    return ar.Link(distance * unit(rng), turned(unit(rng), rng.uniform(0, np.pi)))


def either(rng, distance):
    return [base(rng, distance), *(sections(rng) if rng.random() < 0.6 else arm(rng))]


CLASSES = {
    "sections": lambda rng: sections(rng, stretch=False, twist=False),
    "variable length": lambda rng: sections(rng, stretch=True, twist=False),
    "twist": lambda rng: sections(rng, stretch=False, twist=True),
    "twist and stretch": lambda rng: sections(rng, stretch=True, twist=True),
    "twist, stretch, small bends": lambda rng: sections(rng, bends=(0.02, 0.2), stretch=True, twist=True),
    "small bends": lambda rng: sections(rng, bends=(0.01, 0.2)),
    "tiny bends": lambda rng: sections(rng, bends=(1e-4, 0.01)),
    "several arcs": lambda rng: sections(rng, arcs=3),
    "mixed scales": lambda rng: [section(rng, size=0.05 * 10 ** rng.uniform(-2, 2)) for _ in range(rng.integers(2, 7))],
    "any section": sections,
    "arms": arm,
    "arms of mixed scales": lambda rng: arm(rng, scatter=4.0),
    "rail and sections": lambda rng: [ar.Prismatic(0.0, rng.uniform(0.05, 1.0)), *sections(rng)],
    "arm with bending tool": lambda rng: [*arm(rng), *sections(rng)],
    "long chains": lambda rng: [section(rng) for _ in range(rng.integers(10, 20))],
    "micrometres": lambda rng: sections(rng, size=1e-5),
    "micrometre arms": lambda rng: arm(rng, size=1e-5),
    "kilometres": lambda rng: sections(rng, size=300.0),
    "kilometre arms": lambda rng: arm(rng, size=1000.0),
    "base at 1 m": lambda rng: either(rng, 1.0),
    "base at 100 m": lambda rng: either(rng, 100.0),
    "base at 10 km": lambda rng: either(rng, 1e4),
    "base at 1000 km": lambda rng: either(rng, 1e6),
    "tool of 10 m": lambda rng: [*either(rng, 0.0), base(rng, 10.0)],
    "corners": sections,
    "corners of arms": arm,
}


def corners(robot, q, rng):
    """Move half of the coordinates to one of their limits."""
    lower, upper = np.maximum(robot.lower, -np.pi), np.minimum(robot.upper, np.pi)
    lower, upper = (
        np.where(np.isfinite(robot.lower), robot.lower, lower),
        np.where(np.isfinite(robot.upper), robot.upper, upper),
    )
    at = np.where(rng.random(q.shape) < 0.5, lower, upper)
    return robot.clip(np.where(rng.random(q.shape) < 0.5, at, q))


def tips(robot, Q):
    """Return tip poses (n, 4, 4) by plain NumPy, one element after another."""
    n = len(Q)
    T = np.tile(np.eye(4), (n, 1, 1))
    k = 0
    for element in robot.elements:
        step = np.tile(np.eye(4), (n, 1, 1))
        kind = element.kind
        if kind == "link":
            step[:, :3, :3], step[:, :3, 3] = element.rotation, element.translation
        elif kind == "revolute":
            step[:, :3, :3] = [turned(np.array(element.axis), angle) for angle in Q[:, k]]
        elif kind == "prismatic":
            step[:, :3, 3] = Q[:, k, None] * np.array(element.axis)
        elif kind == "parallelogram":
            step[:, :3, 3] = [turned(np.array(element.axis), angle) @ element.link for angle in Q[:, k]]
        else:
            step = section_poses(element, Q[:, k : k + len(element.coordinates)])
        T = T @ step
        k += len(element.coordinates)
    return T


def section_poses(element, q):
    """Return the transforms of a section: rotate to the bending plane, chain the arcs, rotate back unless it twists."""
    n = len(q)
    bend, direction = q[:, 0], q[:, 1]
    length = q[:, 2] if element.stretch else np.full(n, element.length)
    shares = np.divide(element.length_weights, sum(element.length_weights))
    bends = np.divide(element.bend_weights, sum(element.bend_weights))
    x, z, angle = np.zeros(n), np.zeros(n), np.zeros(n)
    for share, part in zip(shares, bends, strict=True):
        half = 0.5 * part * bend
        chord = share * length * np.sinc(half / np.pi)
        x += chord * np.sin(angle + half)
        z += chord * np.cos(angle + half)
        angle += part * bend
    T = np.tile(np.eye(4), (n, 1, 1))
    c, s = np.cos(direction), np.sin(direction)
    T[:, :3, 3] = np.stack([c * x, s * x, z], axis=1)
    for i in range(n):
        turn = turned(np.array([0, 0, 1.0]), direction[i])
        T[i, :3, :3] = turn @ turned(np.array([0, 1.0, 0]), angle[i])
        if not element.twist:
            T[i, :3, :3] = T[i, :3, :3] @ turn.T
    return T


def moving_size(robot):
    elements = list(robot.elements)
    while elements and elements[0].kind == "link":
        elements.pop(0)
    return sum(element.reach for element in elements)


def run_class(name, make, n, seed):
    missed = wrong = solved = 0
    seconds, slowest = 0.0, 0.0
    examples = []
    rng = np.random.default_rng([seed, sum(map(ord, name))])
    while solved < n:
        robot = ar.Robot(make(rng))
        q = robot.sample(TARGETS_PER_ROBOT, rng)
        if name.startswith("corners"):
            q = corners(robot, q, rng)
        poses = tips(robot, q)
        distance = np.abs(poses[:, :3, 3]).max()
        tol = max(min(1e-6, 1e-5 * moving_size(robot)), 1e-14 * distance)
        kind = KINDS[rng.integers(3)]
        asked = {"axis": {"axes": poses[:, :3, 2]}, "rotation": {"rotations": poses[:, :3, :3]}}.get(kind, {})
        began = time.perf_counter()
        found = ar.solve_batch(robot, poses[:, :3, 3], **asked, position_tol=tol, angle_tol=ANGLE_TOL, threads=1)
        seconds += time.perf_counter() - began
        slowest = max(slowest, found.seconds.max())
        reached = found.reached
        away = np.linalg.norm(tips(robot, found.q)[:, :3, 3] - poses[:, :3, 3], axis=1)
        slack = 1e-14 * (distance + robot.reach)
        wrong += int((reached & ((away > tol + slack) | ~robot.within_limits(found.q))).sum())
        missed += int((~reached).sum())
        if not reached.all() and len(examples) < 3:
            examples.append((kind, robot.elements, found.position_error[~reached][0] / moving_size(robot)))
        solved += len(q)
    return solved, missed, wrong, seconds / solved, slowest, examples


def main(arguments):
    n = int(arguments[0]) if arguments else 50_000
    names = arguments[1:] or list(CLASSES)
    ar.solve(ar.Robot([ar.Section(0.1, 1.0)]), ar.Target([0, 0, 0.1]))
    print(f"{'class':28} {'targets':>8} {'missed':>7} {'1 in':>8} {'false':>6} {'us each':>8} {'slowest ms':>10}")
    for name in names:
        solved, missed, wrong, each, slowest, examples = run_class(name, CLASSES[name], n, 0)
        rare = f"{solved / missed:.0f}" if missed else "-"
        print(
            f"{name:28} {solved:8} {missed:7} {rare:>8} {wrong:6} {each * 1e6:8.1f} {slowest * 1e3:10.1f}", flush=True
        )
        if "-v" in sys.argv:
            for example in examples:
                print("   ", *example)


if __name__ == "__main__":
    main([argument for argument in sys.argv[1:] if argument != "-v"])
