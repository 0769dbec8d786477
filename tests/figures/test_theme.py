"""The width of a figure, names that are kept apart, and ticks at whole numbers."""

import inspect
import warnings

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach import figures
from arcreach.figures.drawing import theme

FUNCTIONS = [name for name in figures.__all__ if inspect.isfunction(getattr(figures, name))]
DRAWN = [name for name in FUNCTIONS if "width" in inspect.signature(getattr(figures, name)).parameters]


def required(draw):
    """Return an empty value for every argument without a default."""
    parameters = inspect.signature(draw).parameters.values()
    positional = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    keywords = [one.name for one in parameters if one.default is one.empty and one.kind is one.KEYWORD_ONLY]
    return [{} for _ in positional], {name: {} for name in keywords}


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_refuses_a_width_before_it_draws(name):
    draw = getattr(figures, name)
    given, keywords = required(draw)
    for width in ("broad", -1.0, 10.0, 0, 1e4, np.nan, [80.0], True):
        with pytest.raises(MethodError, match=r"^width = .* give 'column', 'page', or millimetres from 60 to 1000$"):
            draw(*given, width=width, **keywords)


def test_widths_have_names_and_whole_numbers():
    assert len(DRAWN) > 15
    assert theme.millimetres("column") == theme.millimetres(None) == theme.ONE_COLUMN
    assert theme.millimetres("page") == theme.millimetres(None, 2) == theme.TWO_COLUMNS
    assert theme.millimetres(60) == 60.0
    robot = ar.load_robot("two-section")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for width, drawn in (("column", theme.ONE_COLUMN), ("page", theme.TWO_COLUMNS), (60, 60.0)):
            figure = figures.pose(robot, robot.neutral, width=width)
            assert figure.get_figwidth() * 25.4 == pytest.approx(drawn)


def test_the_first_text_of_a_group_that_overlaps_nothing_is_kept():
    with theme.drawing(80.0, 40.0) as figure:
        panel = figure.subplots()
        panel.text(0.2, 0.5, "there")
        first = [panel.text(0.2, 0.5, "hidden"), panel.text(0.6, 0.5, "kept")]
        second = [panel.text(0.6, 0.5, "over it"), panel.text(0.2, 0.5, "over the other")]
        theme.keep_apart(figure, panel, [first, second])
    assert [text.get_text() for text in panel.texts] == ["there", "kept"]
