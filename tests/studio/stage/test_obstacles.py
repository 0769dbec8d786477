import numpy as np
import pytest

import arcreach as ar
from arcreach.studio.stage.obstacles import mesh_of

SHAPES = [
    ar.Sphere((0.1, 0.2, 0.3), 0.05),
    ar.Capsule((0.0, 0.0, 0.0), (0.0, 0.0, 0.4), 0.05),
    ar.Box((0.1, 0.2, 0.3), (0.1, 0.0, 0.2)),
    ar.HalfSpace((0.0, 0.0, 1.0), (0.0, 0.0, -0.1)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_the_mesh_is_the_surface(shape):
    points, faces = mesh_of(shape, 1.0)
    assert faces.max() == len(points) - 1
    corners = points[faces]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert volume > 0.0
    if isinstance(shape, ar.Sphere):
        assert np.allclose(np.linalg.norm(points, axis=1), 0.05)
    if isinstance(shape, ar.Box):
        assert volume == pytest.approx(0.1 * 0.2 * 0.3)
    if isinstance(shape, ar.HalfSpace):
        assert points[:, 2].max() == pytest.approx(0.0)


def test_a_margin_is_drawn():
    points, _ = mesh_of(ar.Sphere((0.0, 0.0, 0.0), 0.05, margin=0.01), 1.0)
    assert np.allclose(np.linalg.norm(points, axis=1), 0.06)
