"""The meshes of a robot against forward kinematics and the geometry of tubes."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.robots.body_mesh import tube_faces
from arcreach.studio.stage import colours
from arcreach.studio.stage.body import SIDES, Body, pieces_of

MIXED = ar.Robot([ar.Revolute(), ar.Link((0.2, 0.0, 0.1)), ar.Prismatic(0.0, 0.1), ar.Section(0.1, 2.0, radius=0.01)])


def colours_of(robot):
    return [piece.colour for piece in pieces_of(robot)]


def volume_of(points, faces):
    """The volume by the divergence theorem, positive if the normals point outwards."""
    corners = points[faces]
    return np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0


@pytest.mark.parametrize("name", ["three-section", "telescopic-sections", "variable-curvature-5"])
def test_every_point_of_a_tube_is_a_radius_away_from_the_backbone(name):
    robot = ar.load_robot(name)
    q = robot.sample(1, seed=4)[0]
    line, frames = robot.backbone(q, 2000), robot.frames(q)
    for piece in pieces_of(robot)[:-1]:
        if piece.colour in colours.SECTIONS:
            points = piece.points(frames, q)[1:-1]
            distance = np.linalg.norm(points[:, None] - line[None], axis=2).min(axis=1)
            assert np.allclose(distance, piece.radius, atol=0.01 * piece.radius)


def test_a_mixed_chain_has_hubs_bars_and_tubes():
    base, hub, bar, (first, second, third, *_) = colours.BASE, colours.JOINT, colours.LINK, colours.SECTIONS
    assert colours_of(MIXED) == [base, hub, bar, bar, first]
    # The links between sections are collars.
    assert colours_of(ar.load_robot("three-section")) == [base, first, bar, second, bar, third]
    assert Body(MIXED).tip_radius == 0.01


def test_a_bar_spans_its_element():
    q = np.array([0.3, 0.05, 1.0, 0.5])
    frames = MIXED.frames(q)
    for piece, element, beyond in ((pieces_of(MIXED)[2], 1, 1.0), (pieces_of(MIXED)[3], 2, 0.0)):
        start, end = frames[element, :3, 3], frames[element + 1, :3, 3]
        length = np.linalg.norm(end - start)
        along = (piece.points(frames, q) - start) @ (end - start) / length
        assert along.min() == pytest.approx(-piece.radius)
        # The end before a section is flat.
        assert along.max() == pytest.approx(length + beyond * piece.radius)


def test_the_tip_is_rounded():
    q = np.array([0.3, 0.05, 1.0, 0.5])
    tip = MIXED.tip_pose(q)
    assert np.allclose(Body(MIXED).vertices(q)[-1][-1], tip[:3, 3] + 0.01 * tip[:3, 2])


@pytest.mark.parametrize("name", ["three-section", "ur5", "ur5-bending-tool", "librergm3", "inserted-three-section"])
def test_faces_join_points_that_exist_and_face_outwards(name):
    body = Body(ar.load_robot(name))
    places = body.vertices(body.robot.neutral)
    assert len(places) == len(body.faces) == len(body.colours)
    for points, faces in zip(places, body.faces, strict=True):
        assert faces.max() == len(points) - 1
        assert np.isfinite(points).all()
        assert volume_of(points, faces) > 0.0
    assert body.colours[0] == colours.BASE


def test_the_volume_of_a_tube():
    robot = ar.Robot([ar.Section(0.1, 3.0, radius=0.01), ar.Link((0.0, 0.0, 0.05))])
    q = np.array([2.0, 0.4])
    points = pieces_of(robot)[1].points(robot.frames(q), q)
    # Pappus: the length of the line times the area of a polygon of as many sides.
    area = 0.5 * SIDES * 0.01**2 * np.sin(2.0 * np.pi / SIDES)
    assert volume_of(points, tube_faces(points, SIDES)) == pytest.approx(0.1 * area, rel=5e-3)


def test_colours_start_again():
    assert colours.of_section(0) == colours.rgb("#0072B2") == (0, 114, 178)
    assert colours.of_section(6) == colours.of_section(0)
