import math
import subprocess
import sys

import numpy as np
import pytest

import arcreach as ar

pytest.importorskip("matplotlib")

from arcreach.figures import iterations, joint_steps, save
from arcreach.figures.drawing import theme
from arcreach.figures.iterations import settling

ARM = ar.load_robot("librergm3")


@pytest.fixture(scope="module")
def traced():
    return ar.solve(
        ARM,
        ar.Target((0.2, 0.05, 1.06)),
        "hierarchical",
        start=(0, 0, math.pi / 4),
        order=("q0", "q2", "q1"),
        position_tol=1e-5,
        trace=True,
    )


def test_settling_is_the_last_time_it_comes_in():
    values = [0.0, 8.0, 9.6, 8.0, 9.2, 9.96, 10.0]
    assert settling(values, 0.10) == 4
    assert settling(values, 0.05) == 5
    assert settling(values, 0.001) == 6
    assert settling([1.0, 1.0, 1.0], 0.05) == 0
    # From a last value that is the first one, the largest excursion counts.
    assert settling([1.0, 3.0, 1.05, 1.0], 0.05) == 2


def test_panels_show_the_trace(traced):
    figure = iterations(ARM, traced)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["q0 (°)", "q1 (mm)", "q2 (°)", "position\nerror (mm)"]
    kept = traced.trace.columns["kept"] > 0
    line = next(line for line in figure.axes[1].lines if line.get_label() == "accepted")
    np.testing.assert_array_equal(line.get_xdata(), np.flatnonzero(kept))
    np.testing.assert_allclose(line.get_ydata(), 1e3 * traced.trace.q[kept, 1])
    largest = figure.axes[-1].lines[0]
    np.testing.assert_allclose(largest.get_ydata(), 1e3 * traced.trace.columns["largest_error"][kept])
    # Four dashed lines in every panel of a coordinate.
    for axes in figure.axes[:3]:
        assert sum(line.get_linestyle() == "--" for line in axes.lines) == 4


def test_settling_marks_stand_where_the_coordinate_settles(traced):
    figure = iterations(ARM, traced, coordinates=["q1"], shares=[0.05])
    mark = next(line for line in figure.axes[0].lines if line.get_linestyle() == "--").get_xdata()[0]
    trace = traced.trace
    way = abs(trace.q[:, 1] - traced.q[1])[trace.columns["kept"] > 0] / abs(traced.q[1])
    rows = np.flatnonzero(trace.columns["kept"] > 0)
    assert (way[rows >= mark] <= 0.05).all()
    assert way[np.flatnonzero(rows == mark)[0] - 1] > 0.05


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("robot", "to", "method"),
    [
        ("three-section", (0.02, 0.01, 0.092), "hierarchical"),
        ("three-section", (0.02, 0.01, 0.092), "fabrikx"),
        ("librergm3", (0.2, 0.05, 1.06), "hierarchical"),
        ("ur5", (0.4, 0.2, 0.3), "auto"),
    ],
)
@pytest.mark.parametrize("width", [theme.ONE_COLUMN, theme.TWO_COLUMNS])
def test_no_text_stands_on_another(robot, to, method, width):
    chain = ar.load_robot(robot)
    figure = iterations(chain, ar.solve(chain, ar.Target(to), method, trace=True), width=width)
    figure.draw_without_rendering()
    texts = [text for axes in figure.axes for text in (*axes.texts, axes.yaxis.label)]
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    boxes = [text.get_window_extent() for text in texts if text.get_visible() and text.get_text()]
    inside = figure.bbox
    for i, box in enumerate(boxes):
        assert inside.x0 <= box.x0 + 1.0
        assert box.x1 - 1.0 <= inside.x1
        for other in boxes[:i]:
            apart = box.x0 >= other.x1 or box.x1 <= other.x0 or box.y0 >= other.y1 - 1.0 or box.y1 <= other.y0 + 1.0
            assert apart, (i, box, other)


def test_a_direction_is_drawn_without_a_jump_and_a_constant_without_marks():
    from types import SimpleNamespace

    robot = ar.Robot([ar.Section(0.1, 2.0), ar.Revolute()])
    n = 30
    q = np.stack([np.full(n, 0.5), np.remainder(np.linspace(3.0, 4.0, n) + np.pi, 2 * np.pi) - np.pi, np.zeros(n)], 1)
    q[:, 2] += 1e-15 * np.arange(n)
    trace = SimpleNamespace(q=q, columns={}, position_error=np.full(n, 1e-3), angle_error=np.zeros(n))
    trace = type("Traced", (SimpleNamespace,), {"__len__": lambda self: n})(**vars(trace))
    figure = iterations(robot, SimpleNamespace(trace=trace, robot=robot))
    direction, still = (figure.axes[k].lines[0].get_ydata() for k in (1, 2))
    assert np.abs(np.diff(direction)).max() < 3.0
    assert np.ptp(still) == 0.0
    assert figure.axes[1].texts
    assert not figure.axes[2].texts


def named(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_dashed_lines_are_explained(traced):
    lines = ["rejected", "accepted", "largest component", "mean component"]
    assert named(iterations(ARM, traced)) == [*lines, "within this share of its change"]
    assert named(iterations(ARM, traced, shares=())) == lines
    figure = iterations(ARM, traced)
    mark = next(line for line in figure.axes[0].lines if line.get_linestyle() == "--")
    assert figure.legends[0].get_lines()[-1].get_linestyle() == mark.get_linestyle()


def test_a_solution_of_another_robot_is_refused(traced):
    with pytest.raises(ar.MethodError, match="the solution is one of robot 'librergm3', not of 'three-section'"):
        iterations(ar.load_robot("three-section"), traced)


@pytest.mark.parametrize("last", [97, 1415])
def test_the_last_number_of_the_iterations_is_whole(last):
    from types import SimpleNamespace

    q = np.linspace(0.0, 1.0, last + 1)[:, None]
    columns = {"kept": np.ones(last + 1), "largest_error": 1.1 - q[:, 0]}
    trace = SimpleNamespace(q=q, columns=columns, position_error=1.1 - q[:, 0], angle_error=0.0 * q[:, 0])
    trace = type("Traced", (SimpleNamespace,), {"__len__": lambda self: last + 1})(**vars(trace))
    figure = iterations(ar.Robot([ar.Revolute()]), SimpleNamespace(trace=trace, robot=None), width="column")
    figure.draw_without_rendering()
    numbers = [label for label in figure.axes[-1].get_xticklabels() if label.get_position()[0] <= last]
    assert max(label.get_window_extent().x1 for label in numbers) <= figure.bbox.x1


def test_a_single_curve_of_errors_has_no_name_and_its_last_dot_is_whole():
    robot = ar.load_robot("three-section")
    solution = ar.solve(robot, ar.Target((0.03, 0.01, 0.08)), "fabrikx", trace=True)
    for width in (theme.ONE_COLUMN, theme.TWO_COLUMNS):
        figure = iterations(robot, solution, width=width)
        assert named(figure) == ["within this share of its change"]
        errors = figure.axes[-1]
        figure.draw_without_rendering()
        last = len(solution.trace) - 1
        x, _ = errors.transData.transform((last, 10.0))
        # Half the size of a dot, 2 points.
        assert x + figure.dpi / 72.0 <= figure.bbox.x1
    # An axis of less than two powers of ten has decimals.
    labels = [text.get_text() for text in errors.get_yticklabels() if text.get_text()]
    assert "10" in labels


def test_poses_and_other_methods():
    puma = ar.load_robot("puma-560")
    target = ar.Target.from_pose(puma.tip_pose(puma.sample(1, seed=0)[0]))
    for method in ("auto", "hierarchical"):
        solution = ar.solve(puma, target, method, trace=True, max_iterations=300)
        figure = iterations(puma, solution, width=theme.ONE_COLUMN)
        assert figure.axes[-1].get_ylabel() == "angle error\n(°)"
        assert figure.get_figwidth() * 25.4 == pytest.approx(3.5 * 25.4)


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_saving_gives_the_same_file_twice(traced, tmp_path, ending):
    for name in ("a", "b"):
        save(iterations(ARM, traced, coordinates=["q0"]), tmp_path / f"{name}.{ending}")
    first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("a", "b"))
    assert len(first) > 1000
    assert first == second


def test_style_leaves_matplotlib_as_it_was(traced):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    iterations(ARM, traced)
    assert dict(mpl.rcParams) == before


def test_refusals(traced, tmp_path, monkeypatch):
    with pytest.raises(ar.ArcreachError, match="solve with trace=True"):
        iterations(ARM, ar.solve(ARM, ar.Target((0.2, 0.05, 1.06))))
    with pytest.raises(ar.ArcreachError, match="coordinate 'q7' is not one of the robot's: q0, q1, q2"):
        iterations(ARM, traced, coordinates=["q7"])
    figure = iterations(ARM, traced)
    with pytest.raises(ar.FileError, match=r"\.pdf, \.png, \.svg"):
        save(figure, tmp_path / "a.gif")
    with pytest.raises(ar.FileError, match="cannot be written"):
        save(figure, tmp_path / "none" / "a.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ar.MissingExtraError, match=r"arcreach\[figures\]"):
        iterations(ARM, traced)


def test_arcreach_does_not_need_matplotlib():
    code = "import sys, arcreach.cli, arcreach.figures; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_joint_steps_draw_coordinates_and_objectives():
    robot = ar.load_robot("ur5")
    target = ar.Target.from_pose(robot.tip_pose(robot.sample(1, seed=0)[0]))
    call = {"start": robot.sample(1, seed=9)[0], "max_iterations": 3, "trace": True}
    solution = ar.solve(robot, target, "finite-rotation", joint_steps=True, **call)
    figure = joint_steps(solution)
    coordinates, distance, angles = figure.axes
    drawn = {line.get_label(): line.get_ydata() for line in coordinates.get_lines()}
    for k, name in enumerate(robot.coordinates):
        np.testing.assert_allclose(drawn[name], np.degrees(solution.trace.q[:, k]), atol=1e-9)
    np.testing.assert_allclose(distance.get_lines()[0].get_ydata(), 1e3 * solution.trace.columns["distance"])
    lines = ["distance", "long axis", "cross axis", "new macro-iteration"]
    assert named(figure) == [*robot.coordinates, *lines]
    assert [line.get_label() for line in angles.get_lines()[:2]] == ["long axis", "cross axis"]
    # An angle of 0 is a gap; all others are drawn as they are.
    angle = solution.trace.columns["long_axis_angle"]
    angle[3:6] = 0.0, 1e-12, 1e-6
    drawn = joint_steps(solution).axes[-1].get_lines()[0].get_ydata()
    assert np.isnan(drawn[3:5]).all()
    np.testing.assert_allclose(np.delete(drawn, [3, 4]), np.degrees(np.delete(angle, [3, 4])))
    with pytest.raises(ar.MethodError, match="no joint steps"):
        joint_steps(ar.solve(robot, target, "finite-rotation", **call))
