"""The row of the elastic rod below contact plans, drawn from made-up shapes: no rod is computed."""

from types import SimpleNamespace

import numpy as np
import pytest

from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import ONE_COLUMN, contact
from arcreach.scenes.planar import Disc

WAY = np.array([[0.0, 0.0], [0.0, 0.05], [0.02, 0.1]])
ROD = WAY + np.array([0.003, 0.004])
TARGET = (0.02, 0.1)


class Found(list):
    """A list of plans that knows its scene."""

    surroundings = SimpleNamespace(obstacles=[Disc((0.05, 0.05), 0.01)])
    target = TARGET
    balls = ()
    edges = ()
    body = SimpleNamespace(radius=0.002)


def plan(rod_converged, repaired):
    def shape(line, converged):
        return SimpleNamespace(
            line=line, converged=converged, deviation=lambda target: float(np.hypot(*(line[-1] - target)))
        )

    return SimpleNamespace(
        line=lambda: WAY, arcs=[None], target=TARGET, rod=shape(ROD, rod_converged), repair=shape(WAY, repaired)
    )


def lines_of(panel):
    return [line for line in panel.get_lines() if len(line.get_xdata()) == len(WAY)]


def test_the_rod_says_how_far_off_it_is():
    figure = contact({"a": Found([plan(True, True)]), "b": Found([plan(False, False)])})
    panels = figure.axes
    assert [panel.get_title(loc="left") for panel in panels] == [
        "a: 1 solution",
        "b: 1 solution",
        "rod 5 mm off",
        "no equilibrium of the rod",
    ]
    # The plan, the rod, and the repaired rod where there is one.
    assert [len(lines_of(panel)) for panel in panels[2:]] == [3, 2]
    np.testing.assert_allclose(lines_of(panels[2])[1].get_xydata(), 1e3 * ROD)


def test_a_scene_without_a_path_stays_empty_and_one_column_is_wide_enough():
    figure = contact({"a": Found([plan(True, True)]), "none": Found()}, width=ONE_COLUMN)
    assert not lines_of(figure.axes[3])
    assert figure.axes[1].get_title(loc="left") == "none: 0 solutions"
    (legend,) = figure.legends
    assert "elastic rod, repaired" in [text.get_text() for text in legend.get_texts()]


def test_no_scene_is_refused():
    with pytest.raises(MethodError, match="plans is empty"):
        contact({})
