"""Measure the speed of clearance, as ratios within one run.

    python benchmarks/clearance.py

The program compares three arcs and twenty spheres in one kernel call with vectorised NumPy of the same closed form,
singly and in a batch. It then times the other kinds of obstacle and, with the extra `plan`, a mesh by its grid and
exactly.
"""

import timeit

import numpy as np

import arcreach as ar
from arcreach._jit import settled
from arcreach.kernels.clearance import body
from arcreach.kernels.clearance import obstacle_clearance as clearance

ROUNDS = 9


def numpy_clearance(robot, q, centres, radii):
    """Return the clearance by NumPy code of a careful user: forward kinematics per section, all spheres at once."""
    pose = np.eye(4)
    least = np.inf
    for i, section in enumerate(robot.elements):
        bend, direction, length = q[2 * i], q[2 * i + 1], section.length
        c, s = np.cos(direction), np.sin(direction)
        local = (centres - pose[:3, 3]) @ pose[:3, :3]
        x = local[:, 0] * c + local[:, 1] * s
        h = local[:, 1] * c - local[:, 0] * s
        z = local[:, 2]
        rho = length / bend
        angle = np.arctan2(z, rho - x)
        angle = np.where((angle < 0.0) & (bend > np.pi), angle + 2 * np.pi, angle)
        beside = np.hypot(np.hypot(x - rho, z) - rho, h)
        end_x, end_z = rho * (1 - np.cos(bend)), rho * np.sin(bend)
        ends = np.minimum(np.sqrt(x * x + h * h + z * z), np.sqrt((x - end_x) ** 2 + h * h + (z - end_z) ** 2))
        gap = np.where((angle >= 0.0) & (angle <= bend), beside, ends) - radii - section.radius
        least = min(least, gap.min())
        sb, v = np.sin(bend), 1 - np.cos(bend)
        step = np.array(
            [
                [1 - v * c * c, -v * c * s, sb * c, end_x * c],
                [-v * c * s, 1 - v * s * s, sb * s, end_x * s],
                [-sb * c, -sb * s, 1 - v, end_z],
                [0, 0, 0, 1],
            ]
        )
        pose = pose @ step
    return least


def numpy_clearances(robot, Q, centres, radii):
    """Return clearances of a batch by NumPy: all configurations and all spheres at once."""
    poses = np.broadcast_to(np.eye(4), (len(Q), 4, 4))
    least = np.full(len(Q), np.inf)
    for i, section in enumerate(robot.elements):
        bend, direction = Q[:, 2 * i], Q[:, 2 * i + 1]
        c, s = np.cos(direction), np.sin(direction)
        local = (centres - poses[:, None, :3, 3]) @ poses[:, :3, :3]
        x = local[..., 0] * c[:, None] + local[..., 1] * s[:, None]
        h = local[..., 1] * c[:, None] - local[..., 0] * s[:, None]
        z = local[..., 2]
        rho = (section.length / bend)[:, None]
        angle = np.arctan2(z, rho - x)
        angle = np.where((angle < 0.0) & (bend[:, None] > np.pi), angle + 2 * np.pi, angle)
        beside = np.hypot(np.hypot(x - rho, z) - rho, h)
        end_x, end_z = rho[:, 0] * (1 - np.cos(bend)), rho[:, 0] * np.sin(bend)
        last = np.sqrt((x - end_x[:, None]) ** 2 + h * h + (z - end_z[:, None]) ** 2)
        ends = np.minimum(np.sqrt(x * x + h * h + z * z), last)
        gap = np.where((angle >= 0.0) & (angle <= bend[:, None]), beside, ends) - radii - section.radius
        least = np.minimum(least, gap.min(axis=1))
        sb, v = np.sin(bend), 1 - np.cos(bend)
        step = np.zeros((len(Q), 4, 4))
        step[:, 0] = np.stack([1 - v * c * c, -v * c * s, sb * c, end_x * c], axis=1)
        step[:, 1] = np.stack([-v * c * s, 1 - v * s * s, sb * s, end_x * s], axis=1)
        step[:, 2] = np.stack([-sb * c, -sb * s, 1 - v, end_z], axis=1)
        step[:, 3, 3] = 1
        poses = poses @ step
    return least


def best(function, number):
    function()
    return min(timeit.repeat(function, number=number, repeat=ROUNDS)) / number * 1e6


def against_spheres(robot, scene):
    q = robot.sample(1, seed=0)[0]
    shapes, field = scene.packed
    centres, radii = scene.balls[:, :3], scene.balls[:, 3]
    obstacles = clearance.Obstacles(shapes, field, 1e-6, 0.0)
    pieces, stack = np.empty((len(robot.packed), body.PIECE_SIZE)), np.empty((clearance.STACK_SIZE, 3))
    scratch, rows = clearance.Scratch(pieces, stack), np.empty((1, clearance.CLEARANCE_SIZE))
    call = settled(clearance.clearance)
    kernel = best(lambda: call(robot.packed, q, obstacles, scratch, rows), 2000)
    public = best(lambda: ar.clearance(robot, q, scene), 2000)
    numpy = best(lambda: numpy_clearance(robot, q, centres, radii), 500)
    error = abs(rows[0, clearance.DISTANCE] - numpy_clearance(robot, q, centres, radii))
    print(f"3 arcs, {len(scene)} spheres: kernel {kernel:.2f} us, ar.clearance {public:.2f} us, NumPy {numpy:.0f} us:")
    print(f"  ratio {numpy / kernel:.0f} for the kernel, {numpy / public:.0f} from Python; difference {error:.1e}")
    Q = robot.sample(10_000, seed=1)
    batch = best(lambda: ar.clearance(robot, Q, scene, threads=1), 1) / len(Q)
    numpy = best(lambda: numpy_clearances(robot, Q, centres, radii), 1) / len(Q)
    error = abs(ar.clearance(robot, Q, scene).distance - numpy_clearances(robot, Q, centres, radii)).max()
    print(
        f"  per configuration of {len(Q)} on one core: {batch:.2f} us, NumPy {numpy:.1f} us: ratio {numpy / batch:.0f}"
    )
    print(f"  largest difference {error:.1e}")
    with_gradient = best(lambda: ar.clearance_gradient(robot, Q, scene, threads=1), 1) / len(Q)
    on_itself = best(lambda: ar.self_clearance(robot, Q, threads=1), 1) / len(Q)
    print(f"  with gradient {with_gradient:.2f} us; self-clearance {on_itself:.2f} us")


def other_obstacles(robot, scene):
    Q = robot.sample(2000, seed=1)
    rng = np.random.default_rng(0)
    spans = rng.normal(size=(len(scene), 3)) * 0.02
    kinds = {
        "capsules": [ar.Capsule(b.centre, np.add(b.centre, w), b.radius) for b, w in zip(scene, spans, strict=True)],
        "boxes": [ar.Box([1.6 * b.radius] * 3, b.centre) for b in scene],
        "half-spaces": [ar.HalfSpace(np.negative(b.centre), b.centre) for b in scene],
    }
    for name, shapes in kinds.items():
        other = ar.Scene(shapes)
        time = best(lambda other=other: ar.clearance(robot, Q, other, threads=1), 1) / len(Q)
        print(f"3 arcs, {len(scene)} {name}: {time:.1f} us per configuration, tolerance 1 um")


def mesh(robot):
    try:
        import trimesh
    except ImportError:
        print("meshes: not measured, the extra `plan` is not installed")
        return
    ball = trimesh.creation.icosphere(4, 0.02)
    obstacle = ar.Mesh(vertices=ball.vertices, faces=ball.faces, position=(0.04, 0.01, 0.06))
    seconds = timeit.timeit(lambda: obstacle.grid, number=1)
    Q = robot.sample(200, seed=1)
    by_grid = best(lambda: ar.clearance(robot, Q, obstacle, grid=True, threads=1), 1) / len(Q)
    exact = best(lambda: ar.clearance(robot, Q, obstacle), 1) / len(Q)
    size = " x ".join(map(str, obstacle.grid.values.shape))
    print(f"a mesh of {len(ball.faces)} triangles: grid of {size} in {seconds:.1f} s, ", end="")
    print(f"error at most {obstacle.grid.error * 1e3:.2f} mm; {by_grid:.0f} us by the grid, {exact:.0f} us exactly")


if __name__ == "__main__":
    three = ar.load_robot("three-section")
    clutter = ar.load_scene("clutter-20")
    against_spheres(three, clutter)
    other_obstacles(three, clutter)
    mesh(three)
