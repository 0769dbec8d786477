"""Compare certified clearances with an independent reference, in random scenes of five scales and far from the origin.

    python benchmarks/certificates.py --scenes 100000 --workers 2

Each scene has a random robot, a random configuration and one or two obstacles that almost touch it. Half of the scenes
are moved by up to a million times their size, and half of the meshes have vertices far from their own origin. The
reference is the smallest distance of densely sampled body points, in NumPy: forward kinematics in extended precision,
closed forms, and all triangles of a mesh with the sum of their solid angles. Sampling can only overestimate the true
distance, so a certificate above the reference is wrong. The program prints for each scale the number of certificates
above the reference, of clearances above it by more than their tolerance, and of colliding bodies certified as free; and
by how much the certificates of free bodies lie below the clearance, relative to the size.
"""

import argparse
import concurrent.futures
import sys
from collections import Counter

import numpy as np

import arcreach as ar
from arcreach.scenes.clearance import tolerance_of

SCALES = (1e-5, 1e-3, 1e-1, 1e1, 1e3)
KINDS = ("sphere", "capsule", "box", "half-space", "mesh")
MESHES = ("box", "star", "torus", "nested", "cavity", "overlapping", "sliver")
# Sample points per element.
POINTS = 160
LONG = np.longdouble


def rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def random_robot(rng, size, offset):
    """Return a robot of one to four elements of the given size on a fixed link."""
    elements = [ar.Link(offset)] if offset.any() else []
    for _ in range(rng.integers(1, 5)):
        radius = size * rng.choice([0.0, 0.01, 0.05])
        kind = rng.integers(5)
        if kind == 0:
            elements.append(ar.Link(size * rng.normal(size=3), rotation(rng), radius=radius))
        elif kind == 1:
            elements += [ar.Revolute(rng.normal(size=3)), ar.Link(size * rng.normal(size=3), radius=radius)]
        elif kind == 2:
            elements.append(ar.Prismatic(0.0, size, rng.normal(size=3), radius=radius))
        else:
            stretch = size * rng.choice([0.0, 0.5])
            arcs = int(rng.integers(1, 4))
            weights = rng.uniform(0.2, 1.0, (2, arcs))
            bend = rng.choice([1e-9, 0.5, 3.0, 6.28])
            elements.append(
                ar.Section(size, bend, stretch, radius, tuple(weights[0]), tuple(weights[1]), bool(rng.integers(2)))
            )
    return ar.Robot(elements)


def turn(axis, angle):
    x, y, z = np.array(axis, dtype=LONG)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=LONG)
    return np.eye(3, dtype=LONG) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def arc_points(bend, length, s):
    """Return points (n, 3) of an arc in its plane at arc lengths s."""
    half = 0.5 * bend / length * s
    chord = s * np.where(half == 0, LONG(1), np.sin(half) / np.where(half == 0, LONG(1), half))
    return np.stack([chord * np.sin(half), np.zeros_like(s), chord * np.cos(half)], axis=1)


def body_points(robot, q):
    """Return points (n, 3) of every element with a body, in extended precision, and the radius at each point (n,)."""
    R, p = np.eye(3, dtype=LONG), np.zeros(3, dtype=LONG)
    shares = np.linspace(0, 1, POINTS).astype(LONG)
    points, radii, k, moved = [], [], 0, False
    for element in robot.elements:
        own = q[k : k + len(element.coordinates)].astype(LONG)
        k += len(own)
        end, step = np.zeros(3, dtype=LONG), np.eye(3, dtype=LONG)
        if isinstance(element, ar.Link):
            end, step = np.array(element.translation, dtype=LONG), np.array(element.rotation, dtype=LONG)
        elif isinstance(element, ar.Revolute):
            step = turn(element.axis, own[0])
        elif isinstance(element, ar.Prismatic):
            end = np.array(element.axis, dtype=LONG) * own[0]
        local = shares[:, None] * end
        if isinstance(element, ar.Section):
            bend, direction = own[0], own[1]
            length = own[2] if element.stretch else LONG(element.length)
            plane = turn((0, 0, 1), direction)
            step, parts = np.eye(3, dtype=LONG), []
            lengths = np.array(element.length_weights, dtype=LONG)
            bends = np.array(element.bend_weights, dtype=LONG)
            for part, angle in zip(lengths / lengths.sum() * length, bends / bends.sum() * bend, strict=True):
                parts.append(arc_points(angle, part, shares * part) @ step.T + end)
                end, step = parts[-1][-1], step @ turn((0, 1, 0), angle)
            local, end = np.concatenate(parts) @ plane.T, plane @ end
            step = plane @ step if element.twist else plane @ step @ plane.T
        if not isinstance(element, ar.Revolute) and (moved or element.radius > 0 or not isinstance(element, ar.Link)):
            points.append(local @ R.T + p)
            radii.append(np.full(len(local), element.radius))
        moved = moved or not isinstance(element, ar.Link)
        R, p = R @ step, R @ end + p
    return np.concatenate(points), np.concatenate(radii)


def segment_distance(points, a, b):
    span = b - a
    square = np.sum(span * span, axis=-1)
    share = np.clip(np.sum((points - a) * span, axis=-1) / np.where(square > 0, square, 1), 0, 1)
    return np.linalg.norm(points - a - share[..., None] * span, axis=-1)


def mesh_distance(points, corners):
    """Return signed distances of points (n, 3) from triangles (m, 3, 3): edges, planes, and the sum of solid angles."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    x = points[:, None]
    distance = np.minimum.reduce([segment_distance(x, *edge) for edge in ((a, b), (b, c), (c, a))])
    normal = np.cross(b - a, c - a)
    inner = np.ones(distance.shape, dtype=bool)
    for first, last in ((a, b), (b, c), (c, a)):
        inner &= np.einsum("nmi,mi->nm", x - first, np.cross(normal, last - first)) > 0
    height = np.abs(np.einsum("nmi,mi->nm", x - a, normal)) / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
    distance = np.where(inner, height, distance).min(axis=1)
    u, v, w = a - x, b - x, c - x
    lu, lv, lw = (np.linalg.norm(side, axis=2) for side in (u, v, w))
    above = np.einsum("nmi,nmi->nm", u, np.cross(v, w))
    below = lu * lv * lw + lu * np.einsum("nmi,nmi->nm", v, w)
    below += lv * np.einsum("nmi,nmi->nm", w, u) + lw * np.einsum("nmi,nmi->nm", u, v)
    winding = np.arctan2(above, below).sum(axis=1) / (2 * np.pi)
    return np.where(np.abs(winding) > 0.5, -distance, distance)


def truth(points, radii, shapes):
    """Return the smallest distance of the sampled body from the obstacles."""
    least = np.inf
    for shape in shapes:
        if isinstance(shape, ar.Mesh):
            # Scale, rotate and translate the given mesh in extended precision.
            centre = np.asarray(shape.vertices).mean(axis=0).astype(LONG)
            turned = np.array(shape.rotation, dtype=LONG)
            middle = turned @ (centre * LONG(shape.scale)) + np.array(shape.position, dtype=LONG)
            local = ((points - middle) @ turned).astype(float)
            vertices = ((np.asarray(shape.vertices).astype(LONG) - centre) * LONG(shape.scale)).astype(float)
            # Points farther from the bounding sphere of the mesh than another point is from a vertex are not nearest.
            away = np.linalg.norm(local, axis=1) - np.linalg.norm(vertices, axis=1).max() - radii
            near = away <= (np.linalg.norm(local - vertices[0], axis=1) - radii).min()
            distance = np.full(len(local), np.inf)
            distance[near] = mesh_distance(local[near], vertices[np.asarray(shape.faces)])
        elif isinstance(shape, ar.Sphere):
            distance = np.linalg.norm((points - np.array(shape.centre, dtype=LONG)).astype(float), axis=1)
            distance = distance - shape.radius
        elif isinstance(shape, ar.Capsule):
            a = np.array(shape.a, dtype=LONG)
            span = (np.array(shape.b, dtype=LONG) - a).astype(float)
            distance = segment_distance((points - a).astype(float), np.zeros(3), span) - shape.radius
        elif isinstance(shape, ar.HalfSpace):
            distance = (points - np.array(shape.point, dtype=LONG)).astype(float) @ np.array(shape.normal)
        else:
            local = (points - np.array(shape.centre, dtype=LONG)).astype(float) @ np.array(shape.rotation)
            over = np.abs(local) - 0.5 * np.array(shape.size)
            distance = np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0)
        least = min(least, (distance - shape.margin - radii).min())
    return least


BOX_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
BOX_FACES = np.array(
    [
        (0, 1, 3),
        (0, 3, 2),
        (4, 7, 5),
        (4, 6, 7),
        (0, 5, 1),
        (0, 4, 5),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 7, 3),
        (1, 5, 7),
    ]
)


def lattice(rows, columns):
    """Return the triangles of a closed lattice of rows and columns."""
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    a, b = i * columns + j, i * columns + (j + 1) % columns
    c, d = (i + 1) % rows * columns + (j + 1) % columns, (i + 1) % rows * columns + j
    return np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]).reshape(-1, 3)


def mesh_surface(rng, kind):
    """Return vertices and faces of a closed surface of about unit size."""
    half = 0.5 * rng.uniform(0.2, 1.0, 3)
    box = BOX_CORNERS * half
    if kind == "box":
        return box, BOX_FACES
    if kind == "sliver":
        return BOX_CORNERS * (0.5, 1e-4, 0.3), BOX_FACES
    if kind == "torus":
        u, v = np.meshgrid(2 * np.pi * np.arange(9) / 9, 2 * np.pi * np.arange(6) / 6, indexing="ij")
        ring = 0.35 + 0.12 * np.cos(v)
        return np.stack([ring * np.cos(u), ring * np.sin(u), 0.12 * np.sin(v)], axis=-1).reshape(-1, 3), lattice(9, 6)
    if kind == "star":
        # Split every edge of a box at its midpoint, and move every vertex to a random distance.
        vertices, faces = [tuple(corner) for corner in BOX_CORNERS], []
        for a, b, c in BOX_FACES:
            ab, bc, ca = (tuple(0.5 * (BOX_CORNERS[m] + BOX_CORNERS[n])) for m, n in ((a, b), (b, c), (c, a)))
            for corner in (ab, bc, ca):
                if corner not in vertices:
                    vertices.append(corner)
            ab, bc, ca = vertices.index(ab), vertices.index(bc), vertices.index(ca)
            faces += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        points = np.array(vertices)
        points *= (rng.uniform(0.1, 0.5, len(points)) / np.linalg.norm(points, axis=1))[:, None]
        return points, np.array(faces)
    other = 0.6 * box if kind in ("nested", "cavity") else 0.7 * box + half * (0.6, 0.5, 0.1)
    inner = BOX_FACES[:, ::-1] if kind == "cavity" else BOX_FACES
    return np.concatenate([box, other]), np.concatenate([BOX_FACES, inner + 8])


def random_shape(rng, size, points, radii):
    """Return an obstacle close to a sampled point of a body; the gap may be as small as a billionth of the size."""
    kind = KINDS[rng.integers(len(KINDS))]
    i = rng.integers(len(points))
    point, radius = points[i].astype(float), radii[i]
    # Perpendicular to the body, which would otherwise run through most obstacles.
    along = (points[min(i + 1, len(points) - 1)] - points[max(i - 1, 0)]).astype(float)
    out = np.cross(along / max(np.linalg.norm(along), 1e-300), rng.normal(size=3)) + 1e-3 * rng.normal(size=3)
    out /= np.linalg.norm(out)
    gap = size * 10.0 ** rng.uniform(-9, 0) * rng.choice([1.0, 1.0, -0.1])
    margin = size * rng.choice([0.0, 0.02])
    width = size * 10.0 ** rng.uniform(-2.5, 0)
    if kind == "sphere":
        return ar.Sphere(point + out * (width + radius + margin + gap), width, margin)
    if kind == "capsule":
        a = point + out * (width + radius + margin + gap)
        return ar.Capsule(a, a + size * rng.normal(size=3) * rng.integers(2), width, margin)
    if kind == "half-space":
        return ar.HalfSpace(-out, point + out * (radius + margin + gap), margin)
    # Put a random boundary point where a sphere's surface would be.
    turned = rotation(rng)
    if kind == "box":
        sides = width * rng.uniform(0.2, 1.0, 3)
        corner = 0.5 * sides * rng.choice([-1.0, 1.0], 3) * rng.choice([0.0, 1.0], 3, p=[0.3, 0.7])
        return ar.Box(2.0 * sides, point + out * (radius + margin + gap) - turned @ corner, turned, margin)
    vertices, faces = mesh_surface(rng, MESHES[rng.integers(len(MESHES))])
    far = rng.normal(size=3) * rng.choice([0.0, 1e5])
    corner = vertices[rng.integers(len(vertices))]
    vertices = vertices + far
    position = point + out * (radius + margin + gap) - turned @ (width * (corner + far))
    return ar.Mesh(
        vertices=vertices, faces=faces, scale=width, position=position, rotation=turned, margin=margin, cells=6
    )


def one_scene(seed):
    """Return the results for one scene, or None if the robot has no body."""
    rng = np.random.default_rng(seed)
    size = SCALES[seed % len(SCALES)]
    offset = size * 10.0 ** rng.uniform(0, 6) * rng.normal(size=3) * rng.integers(2)
    robot = random_robot(rng, size, offset)
    q = robot.sample(1, seed=seed)[0]
    if not has_body(robot):
        return None
    points, radii = body_points(robot, q)
    # Try a few times for a free body: only there a certificate is informative.
    for _ in range(rng.choice([1, 4], p=[0.2, 0.8])):
        shapes = [random_shape(rng, size, points, radii) for _ in range(rng.choice([1, 2], p=[0.8, 0.2]))]
        exact = truth(points, radii, shapes)
        if exact > 0.0:
            break
    bound = ar.certified_clearance(robot, q, shapes)
    found = float(ar.clearance(robot, q, shapes))
    coarse = float(ar.clearance(robot, q, shapes, grid=True)) if seed % 16 == 0 else -np.inf
    rounding = 1e-13 * (robot.reach + sum(np.abs(bounds(shape)).max() for shape in shapes))
    return {
        "scale": size,
        "above": bound > exact,
        "clearance above": max(found, coarse) - tolerance_of(robot) - rounding > exact,
        "inside called free": exact < 0.0 and bound > 0.0,
        "touches": exact < 0.0,
        "mesh": any(isinstance(shape, ar.Mesh) for shape in shapes),
        "far": bool(offset.any()),
        "below": (found - bound) / size,
        "seed": seed,
    }


def bounds(shape):
    """Return bounds of an obstacle's coordinates."""
    if isinstance(shape, ar.Mesh):
        return np.abs(np.asarray(shape.vertices)).max() * shape.scale + np.abs(shape.position)
    return np.concatenate([np.ravel(getattr(shape, name, 0.0)) for name in ("centre", "a", "b", "point")])


def has_body(robot):
    """Tell whether a robot has a body; revolute joints and leading links without a radius have none."""
    moved = False
    for element in robot.elements:
        if not isinstance(element, ar.Revolute) and (moved or element.radius > 0 or not isinstance(element, ar.Link)):
            return True
        moved = moved or not isinstance(element, ar.Link)
    return False


def count(seeds):
    """Return result counts per scale, the gaps between clearances and certificates, and the seeds of wrong scenes."""
    table = {size: Counter() for size in SCALES}
    below, wrong = {size: [] for size in SCALES}, []
    for seed in seeds:
        row = one_scene(seed)
        if row is None:
            continue
        counter = table[row["scale"]]
        counter["scenes"] += 1
        for name in ("above", "clearance above", "inside called free", "touches", "mesh", "far"):
            counter[name] += bool(row[name])
        if not row["touches"]:
            below[row["scale"]].append(row["below"])
        if row["above"] or row["clearance above"] or row["inside called free"]:
            wrong.append(seed)
    return table, below, wrong


def run(scenes, workers=1, first=0):
    """Yield the cumulative results of scenes `first` to `scenes` after every few hundred."""
    pieces = [range(start, min(start + 500, scenes)) for start in range(first, scenes, 500)]
    table, below = {size: Counter() for size in SCALES}, {size: np.empty(0) for size in SCALES}
    wrong = []
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        for part in pool.map(count, pieces) if workers > 1 else map(count, pieces):
            for size in SCALES:
                table[size] += part[0][size]
                below[size] = np.append(below[size], part[1][size])
            wrong += part[2]
            yield table, below, wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scenes", type=int, default=100_000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--first", type=int, default=0, help="number of the first scene")
    given = options.parse_args()
    for table, below, wrong in run(given.scenes, given.workers, given.first):  # noqa: B007
        done = sum(counter["scenes"] for counter in table.values())
        print(f"\r{done} scenes, {len(wrong)} wrong", end="", file=sys.stderr)
    columns = ("scenes", "mesh", "far", "touches", "above", "clearance above", "inside called free")
    print(file=sys.stderr)
    print(f"{'size':>8}", *(f"{column:>18}" for column in columns), f"{'median below':>14}", f"{'largest':>10}")
    for size in SCALES:
        sharp = f"{np.median(below[size]):14.1e} {np.max(below[size]):10.1e}" if len(below[size]) else ""
        print(f"{size:6g} m", *(f"{table[size][column]:18d}" for column in columns), sharp)
    print("wrong scenes:", wrong[:50] or "none")


if __name__ == "__main__":
    main()
