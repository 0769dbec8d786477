import math

import numpy as np
import pytest
from tests.reference import random_rotation

from arcreach.kernels.clearance.body import PIECE_SIZE
from arcreach.kernels.methods import fabrikx_obstacles
from arcreach.kernels.published.fabrikx_obstacles import published_bend

LENGTH, RADIUS = 0.1, 0.003


def gap(pose, phi, bend, spheres, count=2001):
    """Distance between an arc's body and the nearest sphere by dense points; a negative bend goes the other way."""
    half = 0.5 * bend * np.linspace(0.0, 1.0, count)
    chord = LENGTH * np.linspace(0.0, 1.0, count) * np.sinc(half / np.pi)
    x, z = chord * np.sin(half), chord * np.cos(half)
    points = np.stack([x * np.cos(phi), x * np.sin(phi), z], axis=1) @ pose[:3, :3].T + pose[:3, 3]
    return (np.linalg.norm(points[:, None] - spheres[:, :3], axis=-1) - spheres[:, 3] - RADIUS).min()


def draw(rng, most):
    """A base pose, a direction, a bend, and spheres that do not contain the base."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = random_rotation(rng), rng.normal(size=3)
    count = int(rng.integers(1, most + 1))
    local = rng.uniform((-0.08, -0.02, -0.02), (0.08, 0.02, 0.12), (count, 3))
    sizes = rng.uniform(0.004, 0.012, count)
    spheres = np.column_stack([local @ pose[:3, :3].T + pose[:3, 3], sizes])
    spheres = spheres[np.linalg.norm(local, axis=1) > sizes + 1.01 * RADIUS]
    return pose, rng.uniform(-np.pi, np.pi), rng.uniform(0.0, 2.5), spheres


def nearest(pose, phi, bend, spheres, bend_max=math.pi):
    near = fabrikx_obstacles.Spheres(spheres, *np.empty((3, len(spheres))), np.empty(PIECE_SIZE))
    motion = tuple(pose[:3].ravel())
    return fabrikx_obstacles.nearest_free_bend(motion, phi, LENGTH, bend, bend_max, RADIUS, near)


def test_curvatures_at_the_edges_are_tangent():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, h, z = rng.uniform(-0.1, 0.1, 3)
        size = rng.uniform(0.005, 0.05)
        low, high = fabrikx_obstacles.forbidden_curvatures(x, z, h, size)
        if abs(h) >= size:
            assert low == high == 0.0
        elif math.hypot(x, h, z) <= size:
            assert (low, high) == (-math.inf, math.inf)
        else:
            for kappa in (low, high):
                # The circle about (1 / kappa, 0) touches the cut of the sphere with its plane.
                cut = math.sqrt(size**2 - h**2)
                off = abs(math.hypot(x - 1 / kappa, z) - abs(1 / kappa))
                assert off == pytest.approx(cut, rel=1e-6)
            assert low < high


@pytest.mark.parametrize("cases", [pytest.param(2000, marks=pytest.mark.compiled), 40])
def test_moved_bends_touch_nothing(cases):
    rng = np.random.default_rng(1)
    free = moved = 0
    for _ in range(cases):
        pose, phi, bend, spheres = draw(rng, 8)
        if len(spheres) == 0:
            continue
        before = gap(pose, phi, bend, spheres)
        found = nearest(pose, phi, bend, spheres)
        assert abs(found) <= math.pi
        if found != bend:
            moved += 1
            assert before < 1e-6
            assert gap(pose, phi, found, spheres) > -1e-12
        elif before > -1e-12:
            free += 1
        else:
            # No bend is free.
            assert max(gap(pose, phi, other, spheres, 501) for other in np.linspace(-math.pi, math.pi, 91)) < 1e-4
    assert free > 0
    assert moved > 0


def test_a_moved_bend_is_the_nearest():
    rng = np.random.default_rng(2)
    moved = 0
    while moved < 10:
        pose, phi, bend, spheres = draw(rng, 1)
        if len(spheres) == 0 or gap(pose, phi, bend, spheres) >= 0.0:
            continue
        free = nearest(pose, phi, bend, spheres)
        if free == bend:
            continue
        moved += 1
        # One sphere forbids one interval: everything nearer touches.
        for share in (0.1, 0.5, 0.9, 0.999):
            assert gap(pose, phi, bend + share * (free - bend), spheres) < 1e-6


def test_a_base_inside_a_sphere_is_blocked():
    spheres = np.array([[0.0, 0.0, 0.001, 0.01]])
    assert nearest(np.eye(4), 0.0, 0.5, spheres) == 0.5


def test_a_straight_arc_bends_around_a_sphere():
    spheres = np.array([[0.001, 0.0, 0.05, 0.01]])
    bend = nearest(np.eye(4), 0.0, 0.0, spheres)
    # The sphere lies towards +x, so the arc passes on the other side.
    assert bend < 0.0
    assert gap(np.eye(4), 0.0, bend, spheres) == pytest.approx(0.0, abs=1e-7)


def test_published_bend_is_what_is_printed():
    theta, phi = 1.2, 0.7
    rho = LENGTH / theta
    # The printed middle (2.41), and the centre (2.42) from it along its x axis.
    middle = 2 * LENGTH / theta * np.array([1 - math.cos(theta / 4), 0.0, math.sin(theta / 4)])
    centre = middle + rho * np.array([math.cos(theta / 2), 0.0, -math.sin(theta / 2)])
    turn = np.array([[math.cos(phi), -math.sin(phi), 0], [math.sin(phi), math.cos(phi), 0], [0, 0, 1]])
    identity = tuple(np.eye(4)[:3].ravel())
    for off in (0.9, 1.1):
        sphere = np.append(turn @ (centre + off * rho * np.array([0.0, 0.0, 1.0])), 0.01)
        away = off * rho
        expected = LENGTH / (away + 0.01 + RADIUS) if off < 1.0 else LENGTH / (away - 0.01 - RADIUS)
        found = published_bend(identity, phi, LENGTH, theta, RADIUS, sphere[None])
        assert found == pytest.approx(expected, rel=1e-12)
    far = np.append(turn @ (centre + np.array([0.0, 0.0, 1.0])), 0.01)
    assert published_bend(identity, phi, LENGTH, theta, RADIUS, far[None]) == theta
    # A straight section has no centre.
    assert published_bend(identity, phi, LENGTH, 0.0, RADIUS, far[None]) == 0.0
