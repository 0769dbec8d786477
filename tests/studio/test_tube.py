"""The meshes against forward kinematics and against the geometry of tubes."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.robots.robot import Robot
from arcreach.studio import colours
from arcreach.studio.tube import (
    SIDES,
    Bar,
    Bend,
    Body,
    Collar,
    Hub,
    arc_frames,
    arrow_mesh,
    pieces_of,
    ring_faces,
    tip_radius,
)

MIXED = ar.Robot([ar.Revolute(), ar.Link((0.2, 0.0, 0.1)), ar.Prismatic(0.0, 0.1), ar.Section(0.1, 2.0, radius=0.01)])


@pytest.mark.parametrize("bend", [0.0, 1e-9, 0.7, np.pi, 2.0 * np.pi])
@pytest.mark.parametrize("weights", [((1.0,), (1.0,)), ((1.0, 2.0), (3.0, 1.0)), ((1.0, 0.0, 1.0), (1.0, 1.0, 0.0))])
def test_the_end_of_a_section_is_where_the_robot_has_it(bend, weights):
    section = ar.Section(0.05, 2.0 * np.pi, stretch=0.02, length_weights=weights[0], bend_weights=weights[1])
    robot = ar.Robot([section])
    length = 0.07
    points, rotations = arc_frames(section, bend, 0.8, length, np.array([0.0, 0.5, 1.0]))
    end = robot.tip_pose(np.array([bend, 0.8, length]))
    assert np.allclose(points[0], 0.0)
    assert np.allclose(points[2], end[:3, 3], atol=1e-12)
    assert np.allclose(rotations[2], end[:3, :3], atol=1e-9)
    assert np.allclose(rotations @ rotations.transpose(0, 2, 1), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", ["three-section", "telescopic-sections", "variable-curvature-5"])
def test_every_point_of_a_tube_is_a_radius_away_from_the_backbone(name):
    robot = ar.load_robot(name)
    assert isinstance(robot, Robot)
    q = robot.sample(1, seed=4)[0]
    line = robot.backbone(q, 2000)
    frames = robot.frames(q)
    for piece in pieces_of(robot):
        if isinstance(piece, Bend) and not piece.rounded:
            points = piece.vertices(frames, q)[2 * SIDES : -2 * SIDES]
            distance = np.linalg.norm(points[:, None] - line[None], axis=2).min(axis=1)
            assert np.allclose(distance, piece.radius, atol=0.01 * piece.radius)


def test_a_mixed_chain_has_bars_hubs_and_tubes():
    pieces = pieces_of(MIXED)
    assert [type(piece) for piece in pieces[1:]] == [Hub, Bar, Bar, Bend]
    assert [type(piece) for piece in pieces_of(ar.load_robot("three-section"))[1:]] == [
        Bend,
        Collar,
        Bend,
        Collar,
        Bend,
    ]
    assert tip_radius(MIXED) == 0.01


def test_a_bar_spans_its_element():
    q = np.array([0.3, 0.05, 1.0, 0.5])
    frames = MIXED.frames(q)
    points = Bar(1, 0.02).vertices(frames, q)
    ends = frames[1, :3, 3], frames[2, :3, 3]
    axis = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    along = (points - ends[0]) @ axis
    assert along.min() == pytest.approx(-0.02)
    assert along.max() == pytest.approx(np.linalg.norm(ends[1] - ends[0]) + 0.02)
    flat = (Bar(1, 0.02, flat=True).vertices(frames, q) - ends[0]) @ axis
    assert flat.max() == pytest.approx(np.linalg.norm(ends[1] - ends[0]))
    # Before a section, and only there.
    assert [piece.flat for piece in pieces_of(MIXED) if isinstance(piece, Bar)] == [False, True]


@pytest.mark.parametrize("name", ["three-section", "ur5", "ur5-bending-tool", "librergm3", "inserted-three-section"])
def test_faces_join_points_that_exist_and_every_edge_has_two_sides(name):
    body = Body(ar.load_robot(name))
    places = body.vertices(body.robot.neutral)
    assert len(places) == len(body.faces) == len(body.colours)
    for points, faces in zip(places, body.faces, strict=True):
        assert faces.max() == len(points) - 1
        assert np.isfinite(points).all()
    assert body.colours[0] == colours.BASE


def test_triangles_are_seen_from_outside():
    points, faces = arrow_mesh(1.0)
    corners = points[faces]
    # The volume by the divergence theorem is positive where normals point outwards.
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert volume > 0.0


def test_the_volume_of_a_tube():
    robot = ar.Robot([ar.Section(0.1, 3.0, radius=0.01), ar.Link((0.0, 0.0, 0.05))])
    q = np.array([2.0, 0.4])
    piece = next(piece for piece in pieces_of(robot) if isinstance(piece, Bend))
    corners = piece.vertices(robot.frames(q), q)[piece.faces]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    # Pappus: the length of the line times the area, here of a polygon of as many sides.
    area = 0.5 * SIDES * 0.01**2 * np.sin(2.0 * np.pi / SIDES)
    assert volume == pytest.approx(0.1 * area, rel=5e-3)


def test_ring_faces():
    faces = ring_faces(3, 4)
    assert faces.shape == (16, 3)
    assert faces.max() == 11


def test_colours_begin_again():
    assert colours.of_section(0) == colours.rgb("#0072B2") == (0, 114, 178)
    assert colours.of_section(6) == colours.of_section(0)
