import math
import pickle

import numpy as np
import pytest
from tests.reference import random_rotation

import arcreach as ar

trimesh = pytest.importorskip("trimesh")
pytest.importorskip("igl")
pytest.importorskip("embreex")

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
THREE = ar.Robot([ar.Section(0.05, 2.0, radius=0.004)] * 3)


def box_mesh(size, **fields):
    box = trimesh.creation.box(size)
    return ar.Mesh(vertices=box.vertices, faces=box.faces, **fields)


def pair(rng, **fields):
    """A box, and the same as a mesh."""
    size, centre, rotation = rng.uniform(0.01, 0.05, 3), rng.uniform(-0.08, 0.12, 3), random_rotation(rng)
    return ar.Box(size, centre, rotation), box_mesh(size, position=centre, rotation=rotation, **fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"vertices": np.empty((0, 3)), "faces": FACES}, ["vertices", "empty"]),
        ({"vertices": CORNERS, "faces": np.empty((0, 3))}, ["faces", "empty"]),
        ({"vertices": CORNERS * 0, "faces": FACES}, ["empty"]),
        ({"vertices": CORNERS, "faces": FACES[:3]}, ["open", "closed surface"]),
        ({"vertices": CORNERS, "faces": [[0, 1, 9]]}, ["faces", "0 to 3"]),
        ({"vertices": CORNERS, "faces": [[0, 1, -1]]}, ["faces", "0 to 3"]),
        ({"vertices": CORNERS, "faces": [[0, 1, math.nan]]}, ["faces", "whole numbers"]),
        ({"vertices": CORNERS * math.nan, "faces": FACES}, ["vertices", "finite"]),
        ({"vertices": CORNERS}, ["faces = None", "both"]),
        ({}, ["path = ''", "vertices and faces"]),
        ({"path": "part.stl", "vertices": CORNERS, "faces": FACES}, ["path = 'part.stl'", "in place of it"]),
        ({"path": "missing.stl"}, ["path = 'missing.stl'", "existing file"]),
        ({"path": 3}, ["path = 3"]),
        ({"vertices": CORNERS, "faces": FACES, "scale": 0.0}, ["scale = 0.0", "above 0"]),
        ({"vertices": CORNERS, "faces": FACES, "cells": 2}, ["cells = 2", "whole number"]),
        ({"vertices": CORNERS, "faces": FACES, "margin": -1}, ["margin = -1"]),
    ],
)
def test_bad_meshes_are_refused(fields, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ar.SceneError) as caught:
        ar.Mesh(**fields)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("text", ["", "solid nothing\nendsolid nothing\n", "not a mesh"])
def test_files_without_a_mesh_are_refused(text, tmp_path):
    path = tmp_path / "part.stl"
    path.write_text(text)
    with pytest.raises(ar.SceneError, match=r"part\.stl"):
        ar.Mesh(path)


def test_a_mesh_is_read_from_a_file(tmp_path):
    trimesh.creation.box((0.02, 0.04, 0.06)).export(tmp_path / "part.stl")
    mesh = ar.Mesh(tmp_path / "part.stl", scale=2.0, position=(1, 0, 0))
    vertices, faces = mesh.surface
    assert vertices.shape == (8, 3)
    assert len(faces) == 12
    np.testing.assert_allclose(np.ptp(vertices, axis=0), (0.04, 0.08, 0.12), rtol=1e-6)
    assert mesh == pickle.loads(pickle.dumps(mesh))
    assert mesh != ar.Mesh(tmp_path / "part.stl")
    assert hash(mesh) == hash(ar.Mesh(tmp_path / "part.stl", scale=2.0, position=(1, 0, 0)))


def test_triangles_seen_from_inside_are_turned():
    mesh = ar.Mesh(vertices=CORNERS, faces=FACES[:, ::-1])
    assert mesh.signed_distance([(0.1, 0.1, 0.1)])[0] == pytest.approx(-0.1)
    assert mesh.signed_distance([(0.1, 0.1, -0.5)])[0] == pytest.approx(0.5)


def test_signed_distance_is_that_of_the_box():
    rng = np.random.default_rng(0)
    for _ in range(5):
        box, mesh = pair(rng, margin=0.001)
        points = np.array(box.centre) + rng.uniform(-0.05, 0.05, (200, 3))
        over = np.abs((points - box.centre) @ np.array(box.rotation)) - 0.5 * np.array(box.size)
        exact = np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0) - 0.001
        distance, normal = mesh.signed_distance(points)
        np.testing.assert_allclose(distance, exact, atol=1e-12)
        ahead, _ = mesh.signed_distance(points + 1e-7 * normal)
        assert np.median(np.abs(ahead - distance - 1e-7)) < 1e-10


def test_the_grid_is_never_more_than_its_error_off():
    rng = np.random.default_rng(1)
    _, mesh = pair(rng, cells=16)
    grid = mesh.grid
    assert grid.values.shape[0] > 16
    shapes, field = ar.Scene([mesh])._packed
    from arcreach.kernels.shapes import shape_distance

    points = np.array(mesh.position) + rng.uniform(-0.04, 0.04, (300, 3))
    exact, _ = mesh.signed_distance(points)
    taken = np.array([shape_distance(shapes, 0, field, *point)[0] for point in points])
    # The error is taken off: a distance by the grid is never too much, nor by more than twice the error too little.
    size = np.abs((points - mesh.position) @ np.array(mesh.rotation))
    inside = (size < 0.5 * np.ptp(mesh._vertices, axis=0) + 7 * grid.spacing).all(axis=1)
    assert inside.sum() > 50
    assert (taken <= exact).all()
    assert (taken[inside] >= exact[inside] - 2 * grid.error).all()


@pytest.mark.compiled
def test_clearance_from_a_mesh_is_that_from_the_box():
    rng = np.random.default_rng(2)
    tolerance = 1e-6
    for seed in range(4):
        box, mesh = pair(rng, cells=16)
        Q = THREE.sample(8, seed=seed)
        exact = ar.clearance(THREE, Q, box, tolerance=1e-9)
        found = ar.clearance(THREE, Q, mesh, tolerance=tolerance)
        np.testing.assert_allclose(found.distance, exact.distance, atol=tolerance)
        met, _ = mesh.signed_distance(found.point)
        np.testing.assert_allclose(met - 0.004, found.distance, atol=1e-12)
        coarse = ar.clearance(THREE, Q, mesh, grid=True)
        assert (coarse.distance <= exact.distance + 1e-12).all()


@pytest.mark.compiled
def test_meshes_keep_their_index_among_other_obstacles():
    _, mesh = pair(np.random.default_rng(3), cells=8)
    q = THREE.neutral
    near = ar.Sphere((0.02, 0, 0.05), 0.01)
    far = ar.Sphere((5, 0, 0), 0.01)
    mesh = ar.Mesh(vertices=mesh._vertices, faces=mesh._faces, position=(1, 0, 0), cells=8)
    assert ar.clearance(THREE, q, [far, mesh, near]).obstacle == 2
    assert ar.clearance(THREE, q, [far, mesh]).obstacle == 1
    each = ar.clearance(THREE, q, [far, mesh, near], per_element=True)
    assert each.obstacle.tolist() == [2, 2, 2]


@pytest.mark.compiled
def test_gradient_of_a_mesh_against_differences():
    rng = np.random.default_rng(4)
    step, off = 1e-6, []
    for q in THREE.sample(4, seed=5):
        _, mesh = pair(rng, cells=8)
        value, gradient = ar.clearance_gradient(THREE, q, mesh)
        if value < 0.0:
            continue
        differences = [
            (ar.clearance(THREE, q + d, mesh) - ar.clearance(THREE, q - d, mesh)) / (2 * step) for d in step * np.eye(6)
        ]
        off.append(np.abs(gradient - differences).max())
    assert len(off) > 1
    assert np.median(off) < 1e-6


@pytest.mark.compiled
def test_coal_never_finds_more():
    pytest.importorskip("coal")
    rng = np.random.default_rng(6)
    box, mesh = pair(rng, cells=8)
    others = [ar.Sphere((0.04, 0, 0.05), 0.01, 0.001), ar.Capsule((0.04, 0, 0.05), (0.02, 0.05, 0.06), 0.01)]
    Q = THREE.sample(12, seed=7)
    for shape in (box, mesh, *others, ar.HalfSpace((0, 1, 0), (0, -0.02, 0))):
        found = ar.clearance(THREE, Q, shape).distance
        bound = ar.certified_clearance(THREE, Q, shape, capsules=16)
        assert (bound <= found).all()
        # A sixteenth of an arc of 50 mm and 2 rad leaves its chord by 49 um.
        free = found > 0.0
        assert (bound[free] >= found[free] - 6e-5).all()
    assert isinstance(ar.certified_clearance(THREE, Q[0], box), float)
    with pytest.raises(ar.SceneError, match="capsules = 0"):
        ar.certified_clearance(THREE, Q, box, capsules=0)


ARM = ar.Robot(
    [ar.Revolute((0, 0, 1)), ar.Link((0.1, 0, 0)), ar.Revolute((0, 1, 0)), ar.Link((0, 0, 0.1), name="hand")]
)


@pytest.mark.compiled
def test_a_link_as_a_mesh_is_as_far_as_its_corners_and_faces_are():
    pytest.importorskip("coal")
    size = (0.02, 0.03, 0.04)
    hand = {"hand": box_mesh(size)}
    rng = np.random.default_rng(8)
    for q in ARM.sample(6, seed=9):
        pose = ARM.tip_pose(q)
        box = ar.Box(size, pose[:3, 3], pose[:3, :3])
        point = pose[:3, 3] + rng.choice([-1, 1], 3) * rng.uniform(0.03, 0.06, 3)
        over = np.abs((point - box.centre) @ np.array(box.rotation)) - 0.5 * np.array(size)
        exact = np.linalg.norm(np.maximum(over, 0.0)) + min(over.max(), 0.0)
        lines = float(ar.clearance(ARM, q, ar.Sphere(point, 0.0)))
        found = ar.clearance(ARM, q, ar.Sphere(point, 0.01, 0.001), bodies=hand)
        assert found == pytest.approx(min(exact, lines) - 0.011, abs=1e-9)
        # A short capsule and a small box there are as far as the ball, but for their size.
        tiny = 1e-7
        for other in (ar.Capsule(point, np.add(point, (tiny, 0, 0)), 0.0), ar.Box([tiny] * 3, point)):
            assert ar.clearance(ARM, q, other, bodies=hand) == pytest.approx(min(exact, lines), abs=2e-6)
        floor = ar.HalfSpace((0, 0, 1), (0, 0, -0.5))
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5 * np.array(size)
        lowest = (corners @ pose[:3, :3].T + pose[:3, 3])[:, 2].min()
        assert ar.clearance(ARM, q, floor, bodies=hand) == pytest.approx(min(lowest, 0.0) + 0.5, abs=1e-9)


@pytest.mark.compiled
def test_gradient_of_a_link_as_a_mesh_against_differences():
    hand = {"hand": box_mesh((0.02, 0.03, 0.04))}
    ball = ar.Sphere((0.12, 0.07, 0.13), 0.01)
    step, off = 1e-6, []
    for q in ARM.sample(6, seed=10):
        _, gradient = ar.clearance_gradient(ARM, q, ball, bodies=hand)
        differences = [
            (ar.clearance(ARM, q + d, ball, bodies=hand) - ar.clearance(ARM, q - d, ball, bodies=hand)) / (2 * step)
            for d in step * np.eye(2)
        ]
        off.append(np.abs(gradient - differences).max())
    assert np.median(off) < 1e-6


@pytest.mark.compiled
def test_overlapping_meshes_are_below_zero():
    pytest.importorskip("coal")
    hand = {"hand": box_mesh((0.02, 0.03, 0.04))}
    q = ARM.neutral
    place = ARM.tip_pose(q)[:3, 3]
    for other in (
        ar.Box((0.1, 0.1, 0.1), np.add(place, (0.05, 0, 0))),
        box_mesh((0.1, 0.1, 0.1), position=place, cells=8),
    ):
        assert ar.clearance(ARM, q, other, bodies=hand) < 0.0
    apart = box_mesh((0.01, 0.01, 0.01), position=np.add(place, (0.1, 0.0, 0.05)), cells=8)
    found = ar.clearance(ARM, q, apart, bodies=hand)
    assert found == pytest.approx(math.hypot(0.085, 0.025), abs=1e-6)
    assert found.element == 3


@pytest.mark.parametrize(
    ("bodies", "words"),
    [(3, ["bodies = 3"]), ({"arm": None}, ["'arm'", "link-1, revolute-2, hand"]), ({"hand": 3}, ["'hand'", "a Mesh"])],
)
def test_bad_bodies_are_refused(bodies, words):
    with pytest.raises(ar.SceneError) as caught:
        ar.clearance(ARM, ARM.neutral, [], bodies=bodies)
    for word in words:
        assert word in str(caught.value)


def test_a_mesh_without_the_extra_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ar.MissingExtraError, match=r"arcreach\[plan\]"):
        ar.Mesh(vertices=CORNERS, faces=FACES)
