"""Plain NumPy bodies and obstacles, written for the tests only: dense points, and the distance of points."""

import numpy as np
from tests.reference import element_pose, frames, random_rotation

import arcreach as ar


def section_points(element, q, shares):
    """Points of a section at shares of its length, in the frame before it."""
    bend, direction = q[0], q[1]
    length = q[2] if element.stretch else element.length
    lengths = np.array(element.length_weights) / sum(element.length_weights) * length
    bends = np.array(element.bend_weights) / sum(element.bend_weights) * bend
    starts = np.concatenate([[0.0], np.cumsum(lengths)])
    s = shares * length
    points = np.zeros((len(s), 2))
    origin, angle = np.zeros(2), 0.0
    for start, part, turn in zip(starts, lengths, bends, strict=False):
        here = np.clip(s - start, 0.0, part)
        half = 0.5 * turn * here / part
        chord = here * np.sinc(half / np.pi)
        local = np.stack([chord * np.sin(angle + half), chord * np.cos(angle + half)], axis=1)
        inside = s >= start
        points[inside] = origin + local[inside]
        u = 0.5 * turn
        origin = origin + part * np.sinc(u / np.pi) * np.array([np.sin(angle + u), np.cos(angle + u)])
        angle += turn
    x, z = points.T
    return np.stack([x * np.cos(direction), x * np.sin(direction), z], axis=1)


def body(robot, q, count=2001):
    """Every element that has a line: its index, points (count, 3) in the base frame, radius, length."""
    shares = np.linspace(0.0, 1.0, count)
    poses = frames(robot, q)
    found = []
    k = 0
    for i, element in enumerate(robot.elements):
        n = len(element.coordinates)
        own = q[k : k + n]
        k += n
        if isinstance(element, ar.Revolute):
            continue
        if isinstance(element, ar.Section):
            local = section_points(element, own, shares)
            length = own[2] if element.stretch else element.length
        else:
            end = element_pose(element, own)[:3, 3]
            local = shares[:, None] * end
            length = np.linalg.norm(end)
        found.append((i, local @ poses[i, :3, :3].T + poses[i, :3, 3], element.radius, length))
    return found


def distance(shape, points):
    """Signed distance of points (n, 3) to an obstacle, its margin taken off."""
    match shape:
        case ar.Sphere():
            d = np.linalg.norm(points - shape.centre, axis=1) - shape.radius
        case ar.Capsule():
            a, way = np.array(shape.a), np.subtract(shape.b, shape.a)
            share = np.clip((points - a) @ way / max(way @ way, 1e-300), 0.0, 1.0)
            d = np.linalg.norm(points - a - share[:, None] * way, axis=1) - shape.radius
        case ar.HalfSpace():
            d = (points - shape.point) @ np.array(shape.normal)
        case ar.Box():
            over = np.abs((points - shape.centre) @ np.array(shape.rotation)) - 0.5 * np.array(shape.size)
            d = np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0)
    return d - shape.margin


def clearance(robot, q, shapes, count=2001):
    """The least distance by dense points, and how far that may be off: half of the largest step between them."""
    least, off = np.inf, 0.0
    for _, points, radius, length in body(robot, q, count):
        least = min(least, *((distance(shape, points) - radius).min() for shape in shapes))
        off = max(off, 0.5 * length / (count - 1))
    return least, off


def random_shape(kind, rng, spread=0.12):
    centre = rng.uniform(-spread, spread, 3)
    margin = rng.choice([0.0, 0.002])
    if kind == "sphere":
        return ar.Sphere(centre, rng.uniform(0.0, 0.02), margin)
    if kind == "capsule":
        return ar.Capsule(centre, centre + rng.normal(size=3) * 0.05, rng.uniform(0.0, 0.02), margin)
    if kind == "box":
        return ar.Box(rng.uniform(0.005, 0.08, 3), centre, random_rotation(rng), margin)
    if kind == "half-space":
        return ar.HalfSpace(rng.normal(size=3), centre, margin)
    raise ValueError(f"no random shape of the kind {kind!r}")


SHAPES = ("sphere", "capsule", "box", "half-space")

MIXED = ar.Robot(
    [
        ar.Prismatic(0.0, 0.05, radius=0.001),
        ar.Section(0.05, 2 * np.pi, stretch=0.05, radius=0.004),
        ar.Link((0.01, 0.0, 0.02), radius=0.003),
        ar.Revolute((0, 1, 0)),
        ar.Section(0.05, np.pi, radius=0.003, length_weights=(1, 2), bend_weights=(3, 1), twist=True),
        ar.Parallelogram((0.03, 0, 0), (0, 1, 0), radius=0.002),
    ]
)
