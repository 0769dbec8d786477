"""Planes of reach maps: values and extent of the cells, the layer that is chosen, maps that are no grid."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, TargetError

pytest.importorskip("matplotlib")

from arcreach import figures

X, Y, Z = np.array([-0.02, 0.0, 0.02]), np.array([-0.03, 0.01]), np.array([0.05, 0.07])
GRID = np.stack(np.meshgrid(X, Y, Z, indexing="ij"), axis=-1).reshape(-1, 3)


def map_of(positions):
    """A map in which the right half is reached in one of two directions, farther up with more dexterity."""
    reached = np.stack([positions[:, 0] > -0.01, np.zeros(len(positions), bool)], axis=1)
    return ar.ReachMap(None, positions, np.eye(2, 3), reached, reached * 10.0 * positions[:, 2:])


def images(figure):
    return [panel.get_images()[0] for panel in figure.axes[:2]]


def test_cells_have_the_values_of_the_layer_nearest_to_the_base():
    figure = figures.reach_map(map_of(GRID))
    share, dexterity = images(figure)
    np.testing.assert_array_equal(share.get_array().filled(-1), [[-1, 50, 50], [-1, 50, 50]])
    np.testing.assert_allclose(dexterity.get_array().filled(-1), [[-1, 0.5, 0.5], [-1, 0.7, 0.7]])
    np.testing.assert_allclose(share.get_extent(), [-30, 30, 40, 80])
    assert figure.get_suptitle() == "y = 10 mm"
    assert [bar.get_xlabel() for bar in figure.axes[2:]] == ["reached of 2 directions (%)", "mean dexterity (–)"]
    assert figure.get_figwidth() * 25.4 == pytest.approx(figures.ONE_COLUMN)


def test_a_layer_is_chosen_by_its_axis():
    share, dexterity = images(figures.reach_map(map_of(GRID), layer=("z", 0.078)))
    np.testing.assert_allclose(share.get_extent(), [-30, 30, -50, 30])
    np.testing.assert_allclose(dexterity.get_array().filled(-1), [[-1, 0.7, 0.7]] * 2)
    # A map of one layer is drawn in its own plane; the order of the positions does not matter.
    alone = figures.reach_map(map_of(GRID[GRID[:, 0] == 0.02][::-1]))
    assert alone.get_suptitle() == "x = 20 mm"
    np.testing.assert_allclose(images(alone)[1].get_array(), [[0.5, 0.5], [0.7, 0.7]])


def test_a_map_of_positions_says_so():
    reached = np.ones((len(GRID), 1), bool)
    alone = figures.reach_map(ar.ReachMap(None, GRID, np.empty((0, 3)), reached, 0.5 * reached))
    assert alone.axes[2].get_xlabel() == "position reached (%)"


def test_a_layer_outside_of_the_map_is_refused_by_its_value():
    for at in (0.0401, 0.0799):
        figures.reach_map(map_of(GRID), layer=("z", at))
    with pytest.raises(MethodError, match=r"^layer z = 81 mm is outside .* from 50 mm to 70 mm; .* are metres$"):
        figures.reach_map(map_of(GRID), layer=("z", 0.081))
    with pytest.raises(MethodError, match=r"^layer z = 60 m is outside .* metres: were millimetres meant\?$"):
        figures.reach_map(map_of(GRID), layer=("z", 60))
    with pytest.raises(MethodError, match=r"layer y = 2 mm is outside of the map"):
        figures.reach_map(map_of(GRID[GRID[:, 1] == 0.01]), layer=("y", 0.002))


def test_bad_maps_are_refused():
    with pytest.raises(MethodError, match="give a ReachMap"):
        figures.reach_map(GRID)
    with pytest.raises(TargetError, match="layer"):
        figures.reach_map(map_of(GRID), layer=("w", 0.0))
    with pytest.raises(MethodError, match="layer x = -20 mm has no position that is reached in any of 2 directions"):
        figures.reach_map(map_of(GRID), layer=("x", -0.02))
    with pytest.raises(MethodError, match="single position"):
        figures.reach_map(map_of(GRID[-1:]))
    with pytest.raises(MethodError, match="not on a grid"):
        figures.reach_map(map_of(np.array([[0.0, 0.0, 0.05], [0.02, 0.0, 0.05], [0.05, 0.0, 0.07]])))
