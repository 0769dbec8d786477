import numpy as np
import pytest

from arcreach.files import load_planar_scene
from arcreach.studio.stage.contact import SIDES, slab, triangles, tube_along


def area(outline):
    x, y = outline.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


@pytest.mark.parametrize("name", ["pocket", "slalom", "wedge", "clutter"])
def test_the_triangles_fill_the_polygon(name):
    for shape in load_planar_scene(name).obstacles:
        if not hasattr(shape, "points"):
            continue
        outline = np.array(shape.points)
        cut = triangles(outline)
        assert len(cut) == len(outline) - 2
        areas = [area(outline[list(corner)]) for corner in cut]
        assert min(areas) > 0.0
        assert sum(areas) == pytest.approx(area(outline))


def test_a_slab_has_its_volume():
    outline = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 0.4], [0.0, 1.0]])
    points, faces = slab(outline, 0.5)
    corners = points[faces]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert abs(volume) == pytest.approx(area(outline) * 1.0)
    assert volume > 0.0


def test_corners_on_one_line():
    assert triangles(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]))


def test_a_tube_along_a_line():
    x, z = np.sin(np.linspace(0, 1, 30)), np.linspace(0, 1, 30)
    line = np.stack([x, np.zeros(30), z], axis=1)
    points = tube_along(line, 0.1)
    rings = points[1:-1].reshape(30, SIDES, 3)
    assert np.allclose(np.linalg.norm(rings - line[:, None], axis=2), 0.1)
    assert np.allclose(points[[0, -1]], line[[0, -1]])
