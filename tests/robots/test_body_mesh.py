import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import ConfigurationError, RobotError
from arcreach.robots.body_mesh import JOINT, LINK, SECTION, body_mesh, check_chain, section_frames

MIXED = ar.Robot(
    [
        ar.Link((0, 0, 0.1)),
        ar.Revolute((0, 0, 1)),
        ar.Link((0, 0, 0.2), radius=0.01),
        ar.Revolute((0, 1, 0)),
        ar.Parallelogram((0.1, 0, 0.1), (0, 1, 0), radius=0.01),
        ar.Prismatic(-0.05, 0.05, radius=0.008),
        ar.Section(0.05, 2.0, radius=0.004, twist=True),
        ar.Section(0.02, 1.5, stretch=0.03, radius=0.004, length_weights=(1, 0, 2), bend_weights=(2, 1, 1)),
        ar.Section(0.04, 3.0, radius=0.003),
    ]
)
SECTIONS = (6, 7, 8)


def edges_of(faces):
    """How often every edge is run through in each direction."""
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    forward, counts = np.unique(pairs, axis=0, return_counts=True)
    return {tuple(pair): count for pair, count in zip(forward.tolist(), counts.tolist(), strict=True)}


def volume_of(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum()) / 6.0


@pytest.mark.parametrize("joined", [False, True])
def test_every_part_is_closed_and_has_its_inside_within(joined):
    for q in (MIXED.neutral, *MIXED.sample(3, seed=2)):
        for part in body_mesh(MIXED, q, joined=joined).parts:
            edges = edges_of(part.faces)
            assert set(edges.values()) == {1}
            assert all((b, a) in edges for a, b in edges)
            assert volume_of(part.vertices, part.faces) > 0.0


def test_faces_are_the_same_at_every_configuration():
    first, *others = (body_mesh(MIXED, q) for q in MIXED.sample(4, seed=0))
    for other in others:
        assert np.array_equal(first.faces, other.faces)
        assert not np.array_equal(first.vertices, other.vertices)
        assert len(first.elements) == len(first.faces)


def test_parts_say_what_they_belong_to():
    mesh = body_mesh(MIXED, MIXED.neutral)
    assert [part.element for part in mesh.parts] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    kinds = [part.kind for part in mesh.parts]
    assert kinds == [LINK, JOINT, LINK, JOINT, LINK, LINK, SECTION, SECTION, SECTION]
    assert set(mesh.elements.tolist()) == set(range(9))
    assert [part.element for part in body_mesh(MIXED, MIXED.neutral, joints=False).parts] == [0, 2, 4, 5, 6, 7, 8]
    assert len(body_mesh(MIXED, MIXED.neutral, joined=True).parts) == 7


def test_a_link_that_places_the_base_far_away_is_no_body():
    arm = [ar.Revolute(), ar.Link((0.3, 0, 0))]
    drawn = [
        [part.element for part in body_mesh(ar.Robot([ar.Link((0, 0, away), radius=radius), *arm]), [0.0]).parts]
        for away, radius in ((0.2, 0.0), (5.0, 0.0), (5.0, 0.01))
    ]
    assert drawn == [[0, 1, 2], [1, 2], [0, 1, 2]]


@pytest.mark.parametrize("joined", [False, True])
def test_tubes_lie_around_the_backbone(joined):
    # Every vertex of a section is a radius away from the middle of its ring, and rings run from frame to frame.
    for q in MIXED.sample(5, seed=1):
        frames = MIXED.frames(q)
        parts = [part for part in body_mesh(MIXED, q, joined=joined).parts if part.kind == SECTION]
        first, last = parts[0].vertices[0], parts[-1].vertices[-1]
        np.testing.assert_allclose(first, frames[6, :3, 3], atol=1e-15)
        np.testing.assert_allclose(last, frames[9, :3, 3], atol=1e-15)
        if not joined:
            for part in parts:
                radius = MIXED.elements[part.element].radius
                rings = part.vertices[1:-1].reshape(-1, 24, 3)[1:-1]
                away = np.linalg.norm(rings - rings.mean(axis=1, keepdims=True), axis=2)
                np.testing.assert_allclose(away, radius, rtol=1e-12)


def test_sections_that_follow_each_other_share_a_ring():
    # Also where the first one twists, which rolls the frame of the second one.
    for q in MIXED.sample(5, seed=1):
        first, second = (part.vertices[1:-1].reshape(-1, 24, 3) for part in body_mesh(MIXED, q).parts[6:8])
        np.testing.assert_allclose(first[-2], second[1], atol=1e-15)


def test_parts_of_a_straight_chain_share_no_vertices_of_rings():
    robot = ar.Robot(
        [
            ar.Link((0, 0, 0.05), radius=0.004),
            ar.Section(0.05, 1.0, radius=0.004),
            ar.Revolute(),
            ar.Section(0.05, 1.0, radius=0.004),
            ar.Link((0, 0, 0.05), radius=0.004),
        ]
    )
    for roll in (0.0, 0.1, -0.1, -0.2, math.pi / 2):
        rings = [part.vertices[1:-1] for part in body_mesh(robot, [0.0, 0.0, roll, 0.0, 0.0]).parts]
        for a, first in enumerate(rings):
            for second in rings[a + 1 :]:
                assert np.linalg.norm(first[:, None] - second, axis=2).min() > 1e-6


@pytest.mark.parametrize("bend", [0.0, 1e-9, 0.7, math.pi, 2.0 * math.pi])
@pytest.mark.parametrize("weights", [((1,), (1,)), ((1, 2), (3, 1)), ((1, 0, 1), (1, 1, 0))])
def test_a_section_ends_where_forward_kinematics_has_it(bend, weights):
    section = ar.Section(0.05, 2.0 * math.pi, stretch=0.02, length_weights=weights[0], bend_weights=weights[1])
    q = np.array([bend, 0.8, 0.07])
    places, turns = section_frames(section, q)
    pose = ar.Robot([section]).tip_pose(q)
    np.testing.assert_allclose(places[0], 0.0)
    np.testing.assert_allclose(places[-1], pose[:3, 3], atol=1e-15)
    np.testing.assert_allclose(turns[-1], pose[:3, :3], atol=1e-14)


def test_a_straight_section_is_a_cylinder_and_half_a_turn_a_half_ring():
    robot = ar.Robot([ar.Section(0.1, math.pi, radius=0.01)])
    polygon = 0.5 * 200 * 0.01**2 * math.sin(2 * math.pi / 200)
    straight = body_mesh(robot, [0.0, 0.3], sides=200)
    assert volume_of(straight.vertices, straight.faces) == pytest.approx(0.1 * polygon, rel=1e-9)
    np.testing.assert_allclose(straight.vertices.max(axis=0)[2], 0.1)
    # Pappus: the area times the path of its centroid; chords in place of arcs take a little away.
    bent = body_mesh(robot, [math.pi, 0.0], sides=200)
    assert volume_of(bent.vertices, bent.faces) == pytest.approx(0.1 * polygon, rel=2e-3)
    low, high = bent.vertices.min(axis=0), bent.vertices.max(axis=0)
    np.testing.assert_allclose(low, (-0.01, -0.01, 0.0), atol=1e-12)
    np.testing.assert_allclose(high[:2], (2 * 0.1 / math.pi + 0.01, 0.01), atol=1e-12)


def test_a_slide_may_stand_at_zero_and_go_backwards():
    robot = ar.Robot([ar.Prismatic(-0.1, 0.1, radius=0.02)])
    for stroke, low, high in ((0.1, -0.02, 0.12), (0.0, -0.02, 0.02), (-0.1, -0.12, 0.02)):
        z = body_mesh(robot, [stroke]).vertices[:, 2]
        np.testing.assert_allclose((z.min(), z.max()), (low, high))


def test_what_has_no_radius_is_drawn_thin():
    robot = ar.Robot([ar.Revolute(), ar.Link((1.0, 0, 0))])
    default = body_mesh(robot, [0.0], joints=False).vertices
    chosen = body_mesh(robot, [0.0], joints=False, bare_radius=0.1).vertices
    assert 0.0 < default[:, 2].max() < 0.05
    np.testing.assert_allclose(chosen[:, 2].max(), 0.1, rtol=0.02)
    # Nothing but a joint: there is no body beside it to take the width from.
    alone = body_mesh(ar.Robot([ar.Revolute()]), [0.0], bare_radius=0.1)
    assert [part.kind for part in alone.parts] == [JOINT]


def test_a_robot_without_a_body_has_no_parts():
    mesh = body_mesh(ar.Robot([ar.Link(), ar.Revolute()]), [0.0], joints=False)
    assert (mesh.parts, mesh.vertices.shape, mesh.faces.shape) == ((), (0, 3), (0, 3))


def test_bad_input_is_named():
    with pytest.raises(ConfigurationError, match="one configuration"):
        body_mesh(MIXED, MIXED.sample(2, seed=0))
    for sides in (2, 5.0, True):
        with pytest.raises(RobotError, match="sides = "):
            body_mesh(MIXED, MIXED.neutral, sides=sides)
    for radius in (0.0, -1.0, math.nan):
        with pytest.raises(RobotError, match="bare_radius = "):
            body_mesh(MIXED, MIXED.neutral, bare_radius=radius)
    with pytest.raises(RobotError, match=r"robot 'librergm3-matrix' has no body to make tubes from"):
        body_mesh(pytest.importorskip("sympy") and ar.load_robot("librergm3-matrix"), [0.0, 0.0, 0.0])
    with pytest.raises(RobotError, match="robot 3 has no body"):
        check_chain(3, "tubes")
