"""The figure of least and largest times, from given efforts."""

import numpy as np
import pytest

from arcreach.experiments.tables.scaling import time_ranges


def test_times_have_their_ends_by_number_of_iterations():
    pytest.importorskip("matplotlib")
    iterations, seconds = np.array([2, 5, 2, 2]), np.array([3e-6, 9e-6, 1e-6, 2e-6])
    [panel] = time_ranges({"2 sections": (iterations, seconds)}).axes
    largest, least = panel.lines
    assert list(largest.get_xdata()) == list(least.get_xdata()) == [2, 5]
    assert list(largest.get_ydata()) == pytest.approx([3.0, 9.0])
    assert list(least.get_ydata()) == pytest.approx([1.0, 9.0])
