"""Figures that compare methods: times, convergence, success, workspaces; and what is measured for them."""

import importlib.util
import math
from types import SimpleNamespace

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, RobotError

pytest.importorskip("matplotlib")

from arcreach import figures
from arcreach.figures.measure import chosen_methods
from arcreach.figures.success import wilson
from arcreach.ik.methods.single_section import constants

TWO = ar.load_robot("two-section")


def legend_of(figure):
    legend = figure.legends[0] if figure.legends else figure.axes[0].get_legend()
    return [text.get_text() for text in legend.get_texts()]


def test_wilson_intervals_solve_their_equation():
    # The ends of the interval are the shares p for which the observed one is 1.96 standard deviations away.
    reached, count = np.array([1, 7, 50, 99]), np.array([10, 10, 100, 100])
    for end in wilson(reached, count):
        distance = np.abs(reached / count - end) / np.sqrt(end * (1 - end) / count)
        np.testing.assert_allclose(distance, 1.959963984540054, rtol=1e-12)
    low, high = wilson([0, 20, 0], [20, 20, 0])
    assert (low[0], high[1]) == (0.0, 1.0)
    assert low[1] < 1.0
    assert high[0] > 0.0
    assert (low[2], high[2]) == (0.0, 1.0)


def test_success_shows_shares_with_their_bands():
    counts = {"auto": ([30, 60], [100, 100], [100, 100]), "fabrikx": ([30, 60], [80, 60], [100, 100])}
    panel = figures.success(counts).axes[0]
    for line, (_, reached, count) in zip(panel.get_lines(), counts.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), 100.0 * np.array(reached) / np.array(count))
    band = panel.collections[1].get_paths()[0].vertices[:, 1]
    low, high = wilson([80, 60], [100, 100])
    np.testing.assert_allclose((band.min(), band.max()), (100 * low.min(), 100 * high.max()))
    assert len({line.get_marker() for line in panel.get_lines()}) == 2
    many = figures.success({f"method {k}": ([30, 60], [k, k], [9, 9]) for k in range(7)}, label="joints")
    assert len(legend_of(many)) == 7
    with pytest.raises(MethodError, match="counts is empty"):
        figures.success({})


def test_error_bands_count_every_solve_to_the_end():
    median, band = figures.error_bands([[4.0, 2.0, 1.0], [3.0], [8.0, 6.0], []])
    np.testing.assert_allclose(median, [4.0, 3.0, 3.0])
    np.testing.assert_allclose(band[:, 0], [3.5, 6.0])
    with pytest.raises(MethodError, match="errors is empty"):
        figures.error_bands([[]])


def test_convergence_draws_medians_in_millimetres():
    bands = figures.error_bands([[1e-2, 1e-4, 0.0], [1e-2, 1e-4, 0.0]])
    figure = figures.convergence({"": {"auto": bands}})
    (line,) = figure.axes[0].get_lines()
    np.testing.assert_allclose(line.get_ydata(), [10.0, 0.1, 1e-9])
    np.testing.assert_array_equal(line.get_xdata(), [0, 1, 2])
    assert figure.get_figwidth() * 25.4 == pytest.approx(figures.ONE_COLUMN)
    several = figures.convergence({f"case {k}": {"auto": bands, "lm": bands} for k in range(4)})
    assert [panel.get_visible() for panel in several.axes] == [True] * 4 + [False] * 2
    assert legend_of(several) == ["auto", "lm"]
    with pytest.raises(MethodError, match="cases is empty"):
        figures.convergence({"": {}})


def test_the_tolerance_is_a_line_with_a_name():
    bands = {"auto": figures.error_bands([[1e-2, 1e-4, 1e-7]])}
    figure = figures.convergence({"a": bands, "b": bands}, tolerance=1e-6)
    assert legend_of(figure) == ["auto", "tolerance"]
    for panel in figure.axes:
        np.testing.assert_allclose(panel.get_lines()[1].get_ydata(), 1e-3)
    with pytest.raises(MethodError, match=r"tolerance = 0 is not accepted; give a length in metres above 0"):
        figures.convergence({"a": bands}, tolerance=0)


def test_histograms_count_every_time():
    seconds = np.geomspace(2e-6, 5e-5, 100)
    figure = figures.solve_times({"auto": (seconds, 100), "none": ([], 50)})
    panel = figure.axes[0]
    low, high = panel.get_xlim()
    assert low <= 2.0
    assert high >= 50.0
    median = panel.get_lines()[0].get_xdata()
    np.testing.assert_allclose(median, 1e6 * np.median(seconds))
    late = panel.get_lines()[1].get_xdata()
    np.testing.assert_allclose(late, 1e6 * np.quantile(seconds, 0.99))
    assert panel.texts[0].get_text() == "10 µs\n100 %"
    assert figure.axes[1].texts[0].get_text() == "0 %"
    assert [axes.get_ylabel() for axes in figure.axes] == ["auto", "none"]
    assert figures.solve_times({"none": ([], 0)}).axes
    with pytest.raises(MethodError, match="times is empty"):
        figures.solve_times({})


def test_a_slow_method_with_few_solves_is_inside_the_figure():
    few = figures.solve_times({"fast": (np.full(100_000, 1e-5), 100_000), "slow": (np.full(50, 1.0), 50)})
    low, high = few.axes[0].get_xlim()
    assert low <= 10.0
    assert high >= 1e6


def test_distributions_end_at_the_share_reached():
    figure = figures.time_distributions({"one": {"auto": ([1e-6, 2e-6, 3e-6], 4), "none": ([], 4)}})
    (line,) = figure.axes[0].get_lines()
    np.testing.assert_allclose(line.get_ydata(), [25.0, 50.0, 75.0])
    np.testing.assert_allclose(line.get_xdata(), [1.0, 2.0, 3.0])
    assert legend_of(figure) == ["auto", "none"]
    with pytest.raises(MethodError, match="cases is empty"):
        figures.time_distributions({})
    with pytest.raises(MethodError, match="methods lacks none of the cases"):
        figures.time_distributions({"one": {"auto": ([1e-6], 1), "none": ([], 4)}}, methods=["auto"])


def test_cells_may_begin_off_the_multiples_of_their_size():
    figure = figures.workspace({"": ([[0.0005, 0.0], [0.0015, 0.0]], [1.0, 2.0])}, cell=0.001, label="value")
    (image,) = figure.axes[0].get_images()
    np.testing.assert_array_equal(image.get_array(), [[1.0, 2.0]])
    np.testing.assert_allclose(image.get_extent(), [0.5, 2.5, 0.0, 1.0])
    off = [[0.0, 0.0], [0.0015, 0.0]]
    with pytest.raises(MethodError, match=r"map 'a' has the corners .*0\.0015.* give corners on one grid"):
        figures.workspace({"a": (off, [1.0, 2.0])}, cell=0.001, label="value")
    with pytest.raises(MethodError, match=r"map 'a' .* give corners on one grid"):
        figures.workspace_cells({"a": {"ours": off[:1], "theirs": off[1:]}}, cell=0.001)


def test_a_map_has_values_where_cells_are():
    corners = np.array([[0.0, 0.0], [0.002, 0.001], [0.001, -0.001]])
    figure = figures.workspace({"": (corners, [1.0, 2.0, 3.0])}, cell=0.001, label="value")
    panel, bar = figure.axes
    (image,) = panel.get_images()
    np.testing.assert_array_equal(
        np.asarray(image.get_array().filled(np.nan)), [[np.nan, 3, np.nan], [1, np.nan, np.nan], [np.nan, np.nan, 2]]
    )
    np.testing.assert_allclose(image.get_extent(), [0, 3, -1, 2])
    assert bar.get_ylabel() == "value"
    titled = figures.workspace(
        {"a": (corners, [1.0, 2.0, 3.0]), "b": (corners[:1], [5.0]), "c": (np.empty((0, 2)), [])},
        cell=0.001,
        label="value",
        logarithmic=True,
        limits=(2.0, 4.0),
    )
    assert [panel.get_title() for panel in titled.axes[:3]] == ["a", "b", "c"]
    with pytest.raises(MethodError, match="maps is empty"):
        figures.workspace({}, cell=0.001, label="value")
    with pytest.raises(MethodError, match=r"map 'a' has corners of the shape \(3,\)"):
        figures.workspace({"a": ([1.0, 2.0, 3.0], [1.0])}, cell=0.001, label="value")


def test_groups_of_cells_have_their_colours():
    maps = {"a": {"both": [[0.0, 0.0]], "ours": [[0.001, 0.0]]}, "b": {"both": [[0.0, 0.0]], "ours": []}}
    figure = figures.workspace_cells(maps, cell=0.001)
    assert legend_of(figure) == ["both", "ours"]
    assert [len(panel.get_images()) for panel in figure.axes] == [2, 1]
    with pytest.raises(MethodError, match="maps is empty"):
        figures.workspace_cells({}, cell=0.001)
    with pytest.raises(MethodError, match="has 2 groups; give as many colours"):
        figures.workspace_cells(maps, cell=0.001, colours=("#000000",))


def test_directions_of_the_tip():
    # A section that never bends much points up, at one height: one band of directions, seen from all around.
    stiff = ar.Robot([ar.Section(0.1, 0.3)])
    corners, shares, cell = figures.tip_directions(stiff, samples=2000, cell=0.01)
    assert cell == 0.01
    assert (shares <= 1.0 / 96.0 * 2.0).all()
    assert corners[:, 1].min() >= 0.09 - 1e-12
    # A wrist on a post points everywhere from its single position.
    wrist = ar.Robot([ar.Link((0, 0, 0.1)), ar.Revolute((0, 0, 1)), ar.Revolute((0, 1, 0)), ar.Link((0.0, 0, 0))])
    _, everywhere, _ = figures.tip_directions(wrist, samples=5000, cell=0.01)
    np.testing.assert_allclose(everywhere, [1.0])
    again = figures.tip_directions(stiff, samples=2000, cell=0.01)
    np.testing.assert_array_equal(again[1], shares)
    _, _, size = figures.tip_directions(TWO, samples=500)
    assert 0.0 < size < 0.01


def test_methods_are_those_that_serve_the_robot():
    assert chosen_methods(TWO) == ("auto", "fabrikx", "chords", "jacobian", "lm")
    assert "finite-rotation" in chosen_methods(ar.load_robot("ur5"))
    assert chosen_methods(TWO, ["lm"]) == ("lm",)
    with pytest.raises(MethodError, match="method 'fabrikx' does not accept robot 'ur5'"):
        chosen_methods(ar.load_robot("ur5"), ["auto", "fabrikx"])
    with pytest.raises(MethodError, match="methods is empty"):
        chosen_methods(TWO, [])


def test_times_and_errors_are_measured():
    times = figures.measure_times(TWO, ["auto", "fabrikx"], targets=4)
    assert list(times) == ["auto", "fabrikx"]
    seconds, count = times["auto"]
    assert len(seconds) == count == 4
    assert (seconds > 0.0).all()
    bands = figures.measure_convergence(TWO, ["fabrikx"], targets=2)
    median, band = bands["fabrikx"]
    assert (np.diff(median) <= 0.0).all()
    assert band.shape == (2, len(median))
    arm = figures.measure_convergence(ar.load_robot("ur5"), ["auto"], targets=1)
    assert arm["auto"][0][-1] < 1e-6


def test_success_is_measured_for_every_limit():
    told = []
    counts = figures.measure_success(TWO, ["auto"], limits=(0.5, 1.5), targets=3, progress=told.append)
    places, reached, of = counts["auto"]
    np.testing.assert_allclose(places, np.degrees([0.5, 1.5]))
    assert reached == of == [3, 3]
    assert told == ["auto, 29°", "auto, 86°"]
    with pytest.raises(MethodError, match="robot 'ur5' has no section"):
        figures.measure_success(ar.load_robot("ur5"))


def test_chord_angle_marks_the_critical_bend():
    single = ar.Section(0.1, 2 * math.pi)
    varying = ar.Section(0.1, 2 * math.pi, length_weights=(1, 2, 4), bend_weights=(1, 2, 10))
    ratio, angle = figures.chord_angle({"one arc": single, "three arcs": varying}).axes
    # A single arc has k = 2 at every bend, and no critical bend.
    one, _, dot = ratio.get_lines()
    np.testing.assert_allclose(one.get_ydata(), 2.0, rtol=1e-6)
    critical = np.radians(dot.get_xdata()[0])
    assert abs(critical - constants(ar.Robot([varying]))[1]) < math.radians(0.5)
    largest = angle.get_lines()[1].get_ydata().max()
    assert angle.get_lines()[2].get_ydata()[0] == largest < 90.0
    with pytest.raises(MethodError, match="sections is empty"):
        figures.chord_angle({})


def test_bad_input_of_a_map_is_refused():
    joint = ar.Robot([ar.Revolute(), ar.Link((1.0, 0.0, 0.0))], name="turn")
    with pytest.raises(MethodError, match="'turn' keeps its tip at one distance and height"):
        figures.tip_directions(joint, samples=100)
    with pytest.raises(MethodError, match="samples = 0"):
        figures.tip_directions(joint, samples=0)
    with pytest.raises(MethodError, match=r"cell = 0\.0 is not accepted; give a length in metres above 0"):
        figures.workspace({"": ([[0, 0]], [1.0])}, cell=0.0, label="value")
    with pytest.raises(MethodError, match="smallest value 0 is not on a logarithmic scale"):
        figures.workspace({"": ([[0, 0]], [0.0])}, cell=0.1, label="value", logarithmic=True)


@pytest.mark.skipif(importlib.util.find_spec("sympy") is None, reason="needs the extra symbolic")
def test_a_robot_given_as_a_matrix_is_measured_or_refused():
    robot = ar.load_robot("librergm3-matrix")
    assert list(figures.measure_convergence(robot, targets=1)) == ["hierarchical"]
    path = SimpleNamespace(robot=robot, q=robot.sample(2, seed=0))
    ball = [ar.Sphere((0.0, 0.0, 1.0), 0.1)]
    for draw in (figures.scene, figures.clearance):
        with pytest.raises(RobotError, match="no body to make"):
            draw(path, ball)


def test_a_robot_without_a_body_has_no_clearance():
    path = SimpleNamespace(robot=ar.Robot([ar.Revolute()], name="point"), q=np.array([[0.0], [1.0]]))
    with pytest.raises(MethodError, match="robot 'point' has no body"):
        figures.clearance(path, [ar.Sphere((1.0, 0.0, 0.0), 0.1)])


def test_the_markers_of_the_start_are_whole():
    panel = figures.convergence({"": {"mine": figures.error_bands([[1e-2, 1e-3, 1e-4]])}}).axes[0]
    assert panel.lines[0].get_xdata()[0] == panel.get_xlim()[0] == 0.0
    assert not panel.lines[0].get_clip_on()
