import math
import os
import pickle

import numpy as np
import pytest
from tests.scenes import bodies

import arcreach as ar
from arcreach.kernels.clearance.obstacle_clearance import Obstacles, point_clearance
from arcreach.scenes.scene import SHAPE_TYPES

NAN = math.nan
COMPILED = os.environ.get("NUMBA_DISABLE_JIT") != "1"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ar.Sphere((0, 0, 0), -0.1), ["sphere", "radius = -0.1", "0 or more"]),
        (lambda: ar.Sphere((0, 0, NAN), 0.1), ["sphere", "centre[2] = nan"]),
        (lambda: ar.Sphere((0, 0), 0.1), ["centre = (0, 0)", "three"]),
        (lambda: ar.Sphere("abc", 0.1), ["centre = 'abc'"]),
        (lambda: ar.Sphere((0, 0, 0), "5 mm"), ["radius = '5 mm'", "metres"]),
        (lambda: ar.Sphere((0, 0, 0), math.inf), ["radius = inf"]),
        (lambda: ar.Sphere((0, 0, 0), 0.1, margin=-1), ["margin = -1", "0 or more"]),
        (lambda: ar.Sphere((0, 0, 0), 0.1, name="a,b"), ["name = 'a,b'"]),
        (lambda: ar.Sphere((0, 0, 0), -0.1, name="ball"), ["sphere 'ball'", "radius"]),
        (lambda: ar.Capsule((0, 0, 0), (0, 0, 1), -1), ["capsule", "radius = -1"]),
        (lambda: ar.Capsule((0, 0, 0), None, 0.1), ["b = None"]),
        (lambda: ar.Box((1, 1, 0)), ["box", "size", "above 0"]),
        (lambda: ar.Box((1, 1, -1)), ["size", "above 0"]),
        (lambda: ar.Box((1, 1, 1), rotation=np.eye(3) * 2), ["rotation", "rotation matrix"]),
        (lambda: ar.HalfSpace((0, 0, 0)), ["half-space", "normal = (0, 0, 0)", "not zero"]),
        (lambda: ar.HalfSpace((0, 0, NAN)), ["normal[2] = nan"]),
        (lambda: ar.HalfSpace((0, 0, 1), (0, 0)), ["point = (0, 0)"]),
        # Squares of these lengths leave the range of floats, and the obstacle would count for nothing.
        (lambda: ar.Sphere((0, 0, 0), 1e160), ["radius = 1e+160", "1e-50 to 1e+50 m"]),
        (lambda: ar.Sphere((0, 0, 0), 1e-170), ["radius = 1e-170", "0 or lengths from"]),
        (lambda: ar.Sphere((0, 1e160, 0), 1), ["centre = ", "up to 1e+50 m"]),
        (lambda: ar.Sphere((0, 0, 0), 1, margin=1e200), ["margin = 1e+200"]),
        (lambda: ar.Capsule((0, 0, -1e160), (0, 0, 1), 1), ["a = ", "up to 1e+50 m"]),
        (lambda: ar.Capsule((0, 0, 0), (0, 0, 1e160), 1), ["b = ", "up to 1e+50 m"]),
        (lambda: ar.Box((1, 1e160, 1)), ["size = ", "1e-50 to 1e+50 m"]),
        (lambda: ar.Box((1, 1e-160, 1)), ["size = ", "1e-50 to 1e+50 m"]),
        (lambda: ar.Box((1, 1, 1), (1e160, 0, 0)), ["centre = "]),
        (lambda: ar.HalfSpace((0, 0, 1), (0, 0, 1e160)), ["point = "]),
        (lambda: ar.Disc((0, 1e160), 1), ["centre = ", "up to 1e+50 m"]),
        (lambda: ar.Disc((0, 1), 1e160), ["radius = 1e+160"]),
        (lambda: ar.Polygon([(0, 0), (1e160, 0), (0, 1)]), ["points[1] = ", "up to 1e+50 m"]),
        (lambda: ar.Polygon([(0, 0), (1e-160, 0), (0, 1e-160)]), ["the polygon is only 1e-160 m across"]),
    ],
)
def test_bad_fields_are_named(make, words):
    with pytest.raises(ar.SceneError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value)


def test_all_bad_fields_are_named():
    with pytest.raises(ar.SceneError) as caught:
        ar.Capsule((0, 0), (0, NAN, 0), -1, margin=True)
    assert len(caught.value.problems) == 4


def test_fields_become_plain_floats():
    ball = ar.Sphere(np.array([1, 2, 3]), np.float32(0.5))
    assert ball == ar.Sphere((1.0, 2.0, 3.0), 0.5)
    assert ball.centre == (1.0, 2.0, 3.0)
    assert hash(ball) == hash(ar.Sphere([1, 2, 3], 0.5))
    assert ar.HalfSpace((0, 0, 2)).normal == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("kind", SHAPE_TYPES)
def test_points_of_an_obstacle_lie_in_its_bounding_sphere(kind):
    rng = np.random.default_rng(1)
    corners = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    found = 0
    # Plain Python takes seconds for the grid of a mesh.
    for _ in range(20 if COMPILED else 5):
        position, turn = rng.uniform(-0.1, 0.1, 3), bodies.random_rotation(rng)
        if kind is ar.Mesh:
            shape = ar.Mesh(vertices=corners, faces=faces, position=position, rotation=turn, margin=0.002, cells=8)
        else:
            shape = bodies.random_shape(kind.kind, rng)
        centre, radius = shape.bounding_sphere
        reach = min(radius, 0.3)
        points = centre + rng.uniform(-1.5 * reach, 1.5 * reach, (2000, 3))
        obstacles = Obstacles(*ar.Scene([shape]).packed, 0.0, 0.0)
        inside = np.array([point_clearance(obstacles, *point) <= 0.0 for point in points])
        found += inside.sum()
        assert (np.linalg.norm(points[inside] - centre, axis=1) <= radius).all()
    assert found > 5


def test_scene_holds_obstacles_in_order():
    shapes = [ar.Sphere((0, 0, 1), 0.1), ar.Box((1, 1, 1), name="crate"), ar.Sphere((0, 0, 2), 0.1)]
    scene = ar.Scene(shapes, name="three")
    assert list(scene) == shapes
    assert len(scene) == 3
    assert scene[1] is shapes[1]
    assert scene.shape_names == ("sphere-1", "crate", "sphere-2")
    assert "2 spheres" in repr(scene)
    assert scene == ar.Scene(iter(shapes), name="three")
    assert hash(scene) == hash(ar.Scene(shapes, name="three"))
    assert scene != ar.Scene(shapes[:2], name="three")
    assert scene != 3
    assert pickle.loads(pickle.dumps(scene)) == scene
    np.testing.assert_array_equal(scene.balls, [(0, 0, 1, 0.1), (0, 0, 2, 0.1)])
    assert not scene.planar


def test_scene_does_not_change():
    scene = ar.Scene()
    with pytest.raises(AttributeError, match="does not change"):
        scene.name = "other"
    with pytest.raises(AttributeError, match="does not change"):
        del scene.shapes
    assert scene.balls.shape == (0, 4)
    assert "empty" in repr(scene)
    box = ar.Box((1, 1, 1))
    assert repr(ar.Scene([box, box, ar.Sphere((0, 0, 0), 1)])) == "<Scene unnamed: 2 boxes, 1 sphere>"


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (3, ["shapes = 3", "Sphere"]),
        ("abc", ["shapes = 'abc'", "load_scene('abc')"]),
        ([ar.Sphere((0, 0, 0), 1), "ball"], ["shapes[1] = 'ball'"]),
        ([ar.Section(0.1, 1.0)], ["shapes[0]", "Sphere"]),
        ([ar.Sphere((0, 0, 0), 1, name="a"), ar.Box((1, 1, 1), name="a")], ["name = 'a'", "2 obstacles"]),
        ([ar.Sphere((0, 0, 0), 1), ar.Disc((0, 0), 1)], ["planar", "do not mix"]),
    ],
)
def test_bad_scenes_are_refused(shapes, words):
    with pytest.raises(ar.SceneError) as caught:
        ar.Scene(shapes)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(("name", "source"), [(3, ""), ("", 3)])
def test_names_and_sources_are_text(name, source):
    with pytest.raises(ar.SceneError, match="= 3 is not accepted"):
        ar.Scene((), name, source)
