import math
import pickle

import numpy as np
import pytest
from tests.reference import random_rotation

import arcreach as ar

trimesh = pytest.importorskip("trimesh")

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
        ({"vertices": CORNERS, "faces": [[0, 1, math.inf]]}, ["faces", "whole numbers"]),
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
    shapes, field = ar.Scene([mesh]).packed
    from arcreach.kernels.clearance.shapes import shape_distance

    points = np.array(mesh.position) + rng.uniform(-0.04, 0.04, (300, 3))
    exact, _ = mesh.signed_distance(points)
    taken = np.array([shape_distance(shapes, 0, field, point)[0] for point in points])
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
def test_a_certificate_is_never_above_the_clearance():
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


def test_bodies_of_a_robot_without_rigid_elements_are_refused():
    with pytest.raises(ar.SceneError, match="leave bodies out"):
        ar.clearance(THREE, THREE.neutral, [], bodies={"hand": box_mesh((0.01, 0.01, 0.01))})


def test_only_a_file_needs_the_extra(monkeypatch, tmp_path):
    import sys

    path = tmp_path / "part.stl"
    path.write_text("solid nothing\nendsolid nothing\n")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ar.MissingExtraError, match=r"arcreach\[plan\]"):
        ar.Mesh(path)
    assert ar.Mesh(vertices=CORNERS, faces=FACES).length > 1.0


def boxes(*parts):
    """One mesh of several boxes, each (size, centre, whether it is turned inside out)."""
    vertices, faces = [], []
    for size, centre, inverted in parts:
        box = trimesh.creation.box(size)
        faces.append(box.faces[:, ::-1] if inverted else box.faces)
        faces[-1] = faces[-1] + 8 * len(vertices)
        vertices.append(box.vertices + centre)
    return {"vertices": np.concatenate(vertices), "faces": np.concatenate(faces)}


OUTER = ((0.4, 0.4, 0.4), (0.0, 0.0, 0.2), False)
INNER = ((0.2, 0.2, 0.3), (0.0, 0.0, 0.2), False)
CAVITY = ((0.2, 0.2, 0.3), (0.0, 0.0, 0.2), True)


@pytest.mark.compiled
def test_the_inside_of_overlapping_parts_is_not_free():
    """Rays to the nearest triangle called the middle of a box in a box free by the distance to the inner walls."""
    robot = ar.Robot([ar.Link((0.0, 0.0, 0.15)), ar.Section(0.05, 1.0, radius=0.002)])
    for parts in ([OUTER, INNER], [OUTER, INNER, ((0.2, 0.2, 0.2), (0.05, 0.05, 0.2), False)]):
        mesh = ar.Mesh(**boxes(*parts), cells=16)
        q = robot.neutral
        assert ar.clearance(robot, q, mesh) < -0.05
        assert ar.clearance(robot, q, mesh, grid=True) < -0.05
        assert ar.certified_clearance(robot, q, mesh) < 0.0
    hollow = ar.Mesh(**boxes(OUTER, CAVITY), cells=16)
    assert ar.clearance(robot, q, hollow) == pytest.approx(0.1 - 0.002, abs=1e-9)
    assert 0.09 < ar.certified_clearance(robot, q, hollow) <= 0.098


def test_parts_turned_inside_out_are_solids_or_hollows_or_refused():
    beside = ((0.1, 0.1, 0.1), (1.0, 0.0, 0.0), True)
    apart = ar.Mesh(**boxes(OUTER, beside))
    distance, _ = apart.signed_distance([(0.0, 0.0, 0.2), (1.0, 0.0, 0.0), (0.5, 0.0, 0.0)])
    np.testing.assert_allclose(distance, [-0.2, -0.05, 0.3], atol=1e-12)
    inverted = [(size, centre, not turned) for size, centre, turned in (OUTER, CAVITY)]
    distance, _ = ar.Mesh(**boxes(*inverted)).signed_distance([(0.0, 0.0, 0.2), (0.0, 0.15, 0.2)])
    np.testing.assert_allclose(distance, [0.1, -0.05], atol=1e-12)
    with pytest.raises(ar.SceneError, match="neither a solid nor a cavity"):
        ar.Mesh(**boxes(OUTER, ((0.1, 0.1, 0.1), (0.2, 0.0, 0.2), True)))


def test_inconsistently_oriented_triangles_are_refused():
    faces = FACES.copy()
    faces[0] = faces[0, ::-1]
    with pytest.raises(ar.SceneError, match="inconsistently"):
        ar.Mesh(vertices=CORNERS, faces=faces)


def test_boxes_that_share_an_edge_are_closed():
    mesh = ar.Mesh(**boxes(((1, 1, 1), (0, 0, 0), False), ((1, 1, 1), (1, 1, 0), False)))
    distance, _ = mesh.signed_distance([(0, 0, 0), (1, 1, 0), (1, 0, 0), (0.75, 0.25, 0)])
    np.testing.assert_allclose(distance, [-0.5, -0.5, 0.5, 0.25], atol=1e-12)


def test_rays_through_edges_and_corners_decide_as_others_do():
    mesh = box_mesh((2.0, 2.0, 2.0))
    axis = np.arange(-2.0, 2.5, 0.5)
    points = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    over = np.abs(points) - 1.0
    exact = np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0)
    distance, _ = mesh.signed_distance(points)
    np.testing.assert_allclose(distance, exact, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-9, 1e-5, 1e3])
def test_a_mesh_has_the_same_shape_at_every_scale(scale):
    mesh = ar.Mesh(vertices=CORNERS * scale, faces=FACES, cells=4)
    distance, normal = mesh.signed_distance(np.array([(0.1, 0.2, 0.3), (0.5, 0.2, -1.0), (2.0, 2.0, 2.0)]) * scale)
    np.testing.assert_allclose(distance / scale, [-0.1, 1.0, 5 / math.sqrt(3.0)], rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0)


@pytest.mark.parametrize("scale", [1e-60, 1e60, 1e308])
def test_a_mesh_that_floats_cannot_hold_is_refused(scale):
    with pytest.raises(ar.SceneError, match=r"coordinates go up to .* 1e-50 to 1e\+50 m"):
        ar.Mesh(vertices=CORNERS, faces=FACES, scale=scale)


@pytest.mark.compiled
def test_a_mesh_a_hundred_times_the_robot_hints_at_millimetres(tmp_path):
    trimesh.creation.box((40.0, 30.0, 20.0)).export(tmp_path / "part.stl")
    for position in ((100.0, 0.0, 0.0), (0.0, 0.0, 0.0)):
        mesh = ar.Mesh(tmp_path / "part.stl", position=position, cells=8)
        with pytest.warns(UserWarning, match=r"53.9 m across, 360 times .* 150 mm.*scale=0\.001"):
            ar.clearance(THREE, THREE.neutral, mesh)
    with pytest.raises(ar.SceneError, match=r"contains the base .*hint: mesh 'mesh-1'.*scale=0\.001"):
        ar.solve(THREE, ar.Target((0.0, 0.0, 0.1)), scene=mesh)
    ar.clearance(THREE, THREE.neutral, ar.Mesh(tmp_path / "part.stl", scale=0.001, position=(1, 0, 0)))


def test_a_text_named_stl_is_said_to_be_none(tmp_path):
    pytest.importorskip("trimesh")
    path = tmp_path / "m.stl"
    path.write_text("no triangles at all")
    with pytest.raises(ar.SceneError, match="it is not an STL file"):
        ar.Mesh(str(path))
    for empty in (b"solid a\nendsolid a\n", bytes(84)):
        path.write_bytes(empty)
        with pytest.raises(ar.SceneError, match="the mesh is empty"):
            ar.Mesh(str(path))


def test_a_scene_far_away_hints_at_millimetres():
    far = [ar.Sphere((30.0, 5.0, 110.0), 10.0)]
    with pytest.warns(UserWarning, match=r"nearest obstacle is 104 m away.*were millimetres meant") as warned:
        ar.solve(THREE, [0.0, 0.03, 0.12], scene=far)
    assert warned[0].filename == __file__
    near = [ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -50.0)), ar.Sphere((5, 0, 0), 1)]
    ar.solve(THREE, [0.0, 0.03, 0.12], scene=near)
