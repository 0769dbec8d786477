import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import section_bodies

SECTION = ar.Section(0.07, math.radians(100.0), length_weights=(2, 4, 1), bend_weights=(1, 0.001, 3))


def test_bodies_at_every_bend_end_on_the_curve_of_the_tip():
    figure = section_bodies({"first": SECTION, "second": ar.Section(0.05, 2.0)})
    panel = figure.get_axes()[0]
    bodies = [line.get_xydata() for line in panel.get_lines() if len(line.get_xdata()) == 240]
    (curve,) = (line.get_xydata() for line in panel.get_lines() if len(line.get_xdata()) == 201)
    assert len(bodies) == 11
    for k, body in enumerate(bodies):
        tip = ar.Robot([SECTION]).tip_pose([math.radians(10.0 * k), 0.0])[[0, 2], 3] * 1e3
        np.testing.assert_allclose(body[-1], tip, atol=1e-9)
        assert np.hypot(*(curve - tip).T).min() < 1e-9
        assert np.hypot(*np.diff(body, axis=0).T).sum() == pytest.approx(70.0, rel=1e-3)


def test_bends_beyond_the_limit_are_refused():
    with pytest.raises(MethodError, match="'first'; give 0 < step <= largest"):
        section_bodies({"first": SECTION}, largest=2.0)
    with pytest.raises(MethodError, match="sections is empty"):
        section_bodies({})
