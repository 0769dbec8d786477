"""Tendons, discs and the ellipsoid of the tip in figures of poses."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from tests.robots.test_actuation import driven_robot

from arcreach.figures import pose
from arcreach.figures.drawing.canvas import rgb_of
from arcreach.figures.drawing.theme import INK, VERMILION
from arcreach.robots.tendon_curves import tendon_points

ELASTIC = driven_robot(discs=3, stiffness=5e3, pretension=1.0)
BENT = np.array([0.9, 0.3, 0.8, 2.6, 0.9, -1.4])


def pieces_of(figure, colour):
    """The polygons of one colour."""
    body = next(one for one in figure.axes[0].collections if one.get_zorder() == 2)
    chosen = np.all(np.isclose(body.get_facecolors()[:, :3], rgb_of(colour)), axis=1)
    return [path.vertices for path, mine in zip(body.get_paths(), chosen, strict=True) if mine]


def test_tendons_are_drawn_where_they_are():
    # Seen along x the paper shows y and z in millimetres.
    drawn = np.concatenate(pieces_of(pose(ELASTIC, BENT, view=(0.0, 0.0)), INK))
    curves = 1e3 * np.concatenate(tendon_points(ELASTIC, BENT))[:, 1:]
    np.testing.assert_allclose(drawn.min(axis=0), curves.min(axis=0), atol=0.3)
    np.testing.assert_allclose(drawn.max(axis=0), curves.max(axis=0), atol=0.3)
    assert not pieces_of(pose(ELASTIC, BENT, tendons=False), INK)


def test_slack_tendons_are_dashed():
    found = ELASTIC.from_pulls(ELASTIC.pulls(BENT), elastic=True)
    assert 0 < found.slack.sum() < 9
    figure = pose(ELASTIC, found)
    assert pieces_of(figure, INK)
    loose = sum(np.linalg.norm(np.ptp(piece, axis=0)) for piece in pieces_of(figure, VERMILION))
    taut = sum(np.linalg.norm(np.ptp(piece, axis=0)) for piece in pieces_of(pose(ELASTIC, found.q), INK))
    assert 0.0 < loose < taut * found.slack.sum() / 9
    assert not pieces_of(pose(ELASTIC, found.q), VERMILION)


def test_the_ellipsoid_has_its_outline():
    axes = np.diag([0.03, 0.02, 0.01])
    figure = pose(ELASTIC, BENT, view=(0.0, 0.0), uncertainty=axes)
    outline = figure.axes[0].patches[0].get_xy()
    tip = 1e3 * ELASTIC.tip_pose(BENT)[1:3, 3]
    np.testing.assert_allclose(outline.max(axis=0) - tip, (20.0, 10.0), rtol=1e-3)
    np.testing.assert_allclose(tip - outline.min(axis=0), (20.0, 10.0), rtol=1e-3)
    covariance = ar.tip_covariance(ELASTIC, BENT, pulls=np.full(9, 1e-3))
    assert pose(ELASTIC, BENT, uncertainty=covariance).axes[0].patches
    for bad in (np.eye(2), [[np.nan] * 3] * 3, "large"):
        with pytest.raises(MethodError, match=r"semi-axes in metres"):
            pose(ELASTIC, BENT, uncertainty=bad)
