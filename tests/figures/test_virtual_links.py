import itertools

import numpy as np
import pytest
from tests.ik.test_links import solved

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import virtual_links

METHODS = ("fabrikc", "chords")


@pytest.mark.parametrize(("name", "method"), [("two-section", "fabrikc"), ("three-section", "chords")])
def test_a_panel_for_every_section_and_stage(name, method):
    robot, target, solution = solved(name, method, trace=True)
    n = len(robot.elements)
    figure = virtual_links(solution, iteration=2)
    titles = [panel.get_title(loc="left") for panel in figure.get_axes() if panel.get_title(loc="left")]
    expected = ["iteration 1", *(f"forward: section {i}" for i in range(n, 0, -1))]
    expected += [f"backward: section {i}" for i in range(1, n + 1)]
    assert titles == [*expected, *(["points rotated"] if method == "chords" else [])]
    # The last panel of forward reaching has its end at the target, in height at least.
    panel = figure.get_axes()[n]
    heights = np.concatenate([line.get_ydata() for line in panel.get_lines()])
    assert np.nanmin(np.abs(heights - 1e3 * target.position[2])) < 1e-9


def styles_of(figure):
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    return dict(zip(names, [line.get_linestyle() for line in legend.get_lines()], strict=True))


def test_the_legend_shows_lines_as_they_are_drawn():
    drawn = {method: styles_of(virtual_links(solved("three-section", method, trace=True)[2])) for method in METHODS}
    assert drawn["chords"]["not yet moved in this stage"] == drawn["chords"]["chord"] == "--"
    assert drawn["fabrikc"]["not yet moved in this stage"] == drawn["fabrikc"]["tangent"] == "-"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", ["column", "page"])
def test_the_lowest_panel_of_every_column_has_numbers_and_a_name(method, width):
    figure = virtual_links(solved("three-section", method, trace=True)[2], width=width)
    figure.draw_without_rendering()
    rows = np.array(figure.get_axes()).reshape(2, -1)
    for column in rows.T:
        *above, lowest = [panel for panel in column if panel.axison]
        assert [label.get_text() for label in lowest.get_xticklabels() if label.get_visible()]
        assert lowest.get_xlabel()
        assert not any(panel.get_xlabel() for panel in above)
    names = [panel.xaxis.label.get_window_extent() for panel in rows[-1] if panel.axison]
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(names))


def test_many_sections_are_drawn_stage_by_stage():
    _, _, solution = solved("ten-section", "chords", trace=True)
    titles = [panel.get_title(loc="left") for panel in virtual_links(solution).get_axes()]
    assert titles == ["start", "forward", "backward", "points rotated"]


def test_what_has_no_links_is_refused():
    robot, _, solution = solved("three-section", "chords", trace=True)
    with pytest.raises(MethodError, match="iteration = 0 is not accepted; give 1 to"):
        virtual_links(solution, iteration=0)
    with pytest.raises(MethodError, match="no virtual links"):
        virtual_links(ar.solve(robot, [0.01, 0.0, 0.09], "jacobian", trace=True))
