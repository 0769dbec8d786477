import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from arcreach.figures import calibration


@pytest.fixture(scope="module")
def fitted():
    def robot(radius):
        return ar.Robot([ar.Section(0.08, 3.0, tendons=[ar.Tendon(radius, a) for a in np.radians([0, 120, 240])])])

    rng = np.random.default_rng(0)
    pulls = rng.uniform(-3e-3, 6e-3, (20, 3))
    built = robot(0.0045)
    tips = built.tip_pose(built.from_pulls(pulls).q)[:, :3, 3] + 1e-4 * rng.normal(size=(20, 3))
    return ar.fit(robot(0.005), ar.Measurements(pulls, tips), ["radii"])


def test_a_prediction_does_not_cover_what_was_measured(fitted):
    figure = calibration(fitted)
    for panel, axes in zip(figure.axes[:2], ([0, 1], [0, 2]), strict=True):
        lines = {line.get_label(): line for line in panel.get_lines()}
        measured, predicted = lines["measured"], lines["predicted"]
        held_out = fitted.held_out
        np.testing.assert_allclose(measured.get_xydata(), 1e3 * fitted.data.positions[held_out][:, axes])
        np.testing.assert_allclose(predicted.get_xydata(), 1e3 * fitted.predicted[held_out][:, axes])
        assert measured.get_markerfacecolor() == "none"
        assert measured.get_markersize() > 1.5 * predicted.get_markersize()


def test_the_legend_names_every_line(fitted):
    figure = calibration(fitted)
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["measured", "predicted", "rows fitted", "rows held out", "mean"]
    shares = 100.0 * fitted.tip_errors / fitted.length
    means = [shares[~fitted.held_out].mean(), shares[fitted.held_out].mean()]
    np.testing.assert_allclose([line.get_xdata()[0] for line in figure.axes[2].get_lines()], means)
    with pytest.raises(MethodError, match="give a Fit"):
        calibration(None)
