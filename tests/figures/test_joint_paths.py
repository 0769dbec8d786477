import numpy as np
import pytest
from tests.planning.motion.test_follow import planar_arm

import arcreach as ar
from arcreach.errors import MethodError

pytest.importorskip("matplotlib")

from arcreach.figures import joint_paths, save


@pytest.fixture(scope="module")
def paths():
    robot = planar_arm()
    points = np.array([[1.5, 0.1, 0], [1.2, 0.8, 0], [1.5, 1.0, 0]])
    return {
        "plain": ar.follow(robot, points, start=[0.5, -1.0]),
        "small steps": ar.follow(robot, points, start=[0.5, -1.0], max_step=0.1),
    }


def test_a_column_per_path_and_a_line_per_coordinate(paths, tmp_path):
    figure = joint_paths(paths)
    axes = figure.get_axes()
    assert [panel.get_title() for panel in axes[:2]] == list(paths)
    for panel, path in zip(axes[:2], paths.values(), strict=True):
        assert len(panel.get_lines()) == 2
        for k, line in enumerate(panel.get_lines()):
            np.testing.assert_allclose(line.get_ydata(), np.degrees(path.q[:, k]))
            assert line.get_xdata()[0] == 0.0
            assert line.get_xdata()[-1] == 2.0
    written = [panel.texts[0].get_text() for panel in axes[2:]]
    assert written == [str(path).split("largest step ")[1].split(",")[0] for path in paths.values()]
    save(figure, tmp_path / "paths.png")
    assert (tmp_path / "paths.png").stat().st_size > 10_000


def test_some_coordinates(paths):
    figure = joint_paths(paths, coordinates=["revolute-2"])
    assert len(figure.get_axes()[0].get_lines()) == 1
    with pytest.raises(MethodError, match="elbow"):
        joint_paths(paths, coordinates=["elbow"])
    with pytest.raises(MethodError, match="paths is empty"):
        joint_paths({})


def ring():
    """A section that turns once around, past half a turn, and bends a little more meanwhile."""
    robot = ar.Robot([ar.Section(0.1, 2.0)])
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    q = np.stack([np.linspace(0.5, 0.52, 73), np.remainder(angle + 2.0 + np.pi, 2.0 * np.pi) - np.pi], axis=1)
    return ar.follow(robot, robot.tip_pose(q)[:, :3, 3], start=q[0])


def test_a_direction_does_not_jump_at_half_a_turn():
    path = ring()
    assert np.abs(np.diff(path.q[:, 1])).max() > 6.0
    bend, direction = joint_paths({"ring": path}).get_axes()[0].get_lines()
    assert np.abs(np.diff(direction.get_ydata())).max() == pytest.approx(5.0, abs=0.1)
    np.testing.assert_allclose(bend.get_ydata(), np.degrees(path.q[:, 0]))


def test_the_step_in_the_figure_is_the_step_that_is_printed():
    path = ring()
    # A step of 5° in direction moves a section bent by half a radian as a bend by 2.5° would.
    assert path.largest_step == pytest.approx(0.52 * np.radians(5.0), rel=0.02)
    panel = joint_paths({"ring": path}).get_axes()[1]
    np.testing.assert_allclose(panel.get_lines()[0].get_ydata(), np.degrees(path.step_sizes))
    assert panel.texts[0].get_text() in str(path)


def test_a_robot_of_lengths_has_steps_of_lengths():
    robot = ar.Robot([ar.Prismatic(0.0, 0.5), ar.Prismatic(0.0, 0.5, axis=(1, 0, 0))])
    path = ar.follow(robot, [[0.1, 0.0, 0.1], [0.2, 0.0, 0.1]], start=[0.1, 0.1])
    assert path.largest_step == pytest.approx(0.1)
    panel = joint_paths({"slides": path}).get_axes()[1]
    assert panel.get_ylabel() == "largest step (mm)"
    assert panel.texts[0].get_text() == "100 mm"
